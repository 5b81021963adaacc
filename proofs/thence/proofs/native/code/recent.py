"""Code that tells successors that the same thread found a moment ago from others.

Half of all successors and more are found again within a few thousand: by parents that were found side by side. They
are kept in a small table of each thread's own, in full, each in the place of whatever was there before.
"""

from __future__ import annotations

from thence.proofs.native.code.emit import Emitter, Value
from thence.proofs.native.code.hashing import quick_hash_of
from thence.proofs.native.memory import Array

_MOST_WORDS = 1 << 15
"""The table should stay in a processor's own cache."""


def table_of(words: int) -> Array:
    """A table for states of so many words, in which there is none."""
    table = Array(_places(words) * words)
    table[0] = 1  # This one's place is another; in every other place, zeros do not belong.
    return table


def _places(words: int) -> int:
    """A power of two."""
    return 1 << max(_MOST_WORDS // words, 2).bit_length() - 1


def give_if_recent(emit: Emitter, table: Value, words: list[Value]) -> None:
    """Returns from the function at hand if the table has the state; otherwise it has it from now on."""
    place = emit.both(quick_hash_of(emit, words), _places(len(words)) - 1)
    row = emit.place(table, emit.mul(place, len(words)))
    difference: Value = emit.number(0)
    for at, word in enumerate(words):
        difference = emit.either(difference, emit.differing(word, emit.load(row, at)))
    with emit.when(emit.compare(difference, "==", 0)):
        emit.give()
    for at, word in enumerate(words):
        emit.store(word, row, at)
