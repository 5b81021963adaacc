"""Code that hashes the words of a packed state."""

from __future__ import annotations

from thence.proofs.native.code.emit import Emitter, Value

_FACTORS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0xD6E8FEB86659FD93, 0xA0761D6478BD642F, 0xE7037ED1A0B428DB)


def hash_of(emit: Emitter, words: list[Value]) -> Value:
    """A hash whose low bits depend on every bit of the words."""
    mixed: Value = emit.number(0)
    for at, word in enumerate(words):
        mixed = emit.mul(emit.differing(mixed, word), _FACTORS[at % len(_FACTORS)])
        mixed = emit.differing(mixed, emit.down(mixed, 32))
    return emit.differing(mixed, emit.down(emit.mul(mixed, _FACTORS[1]), 29))


def quick_hash_of(emit: Emitter, words: list[Value]) -> Value:
    """A faster hash of 32 bits, for small tables."""
    mixed: Value = emit.number(0)
    for at, word in enumerate(words):
        factor = _FACTORS[at % len(_FACTORS)] + 2 * at
        mixed = emit.add(mixed, emit.mul(emit.differing(word, emit.down(word, 32)), factor))
    return emit.down(mixed, 32)
