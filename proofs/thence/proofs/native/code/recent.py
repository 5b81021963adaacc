"""Code of a cache of successors that a thread found recently: these are not looked up again.

More than half of all successors are found again within a few thousand, by parents that were found side by side. Each
thread has a small table of whole states; a state replaces the one before it in its place.
"""

from __future__ import annotations

from thence.proofs.native.code.emit import Emitter, Value
from thence.proofs.native.code.hashing import quick_hash_of
from thence.proofs.native.memory import Array

_MOST_WORDS = 1 << 15
"""The table fits into a processor's own cache."""


def table_of(words: int) -> Array:
    """An empty table for states of so many words."""
    table = Array(_places(words) * words)
    table[0] = 1  # Place 0 is that of the state of zeros, so this word keeps it from being taken for known.
    return table


def _places(words: int) -> int:
    """A power of two."""
    return 1 << max(_MOST_WORDS // words, 2).bit_length() - 1


def give_if_recent(emit: Emitter, table: Value, words: list[Value]) -> None:
    """Returns from the function being written if the table has the state; otherwise enters it."""
    place = emit.both(quick_hash_of(emit, words), _places(len(words)) - 1)
    row = emit.place(table, emit.mul(place, len(words)))
    difference: Value = emit.number(0)
    for at, word in enumerate(words):
        difference = emit.either(difference, emit.differing(word, emit.load(row, at)))
    with emit.when(emit.compare(difference, "==", 0)):
        emit.give()
    for at, word in enumerate(words):
        emit.store(word, row, at)
