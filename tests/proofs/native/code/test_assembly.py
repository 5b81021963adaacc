"""What is written as assembly does what its name says, by drawn terms; and a block ends once."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thence.proofs.native.code.assembly import I32, I64, POINTER, VOID, Module
from thence.proofs.native.code.emit import FALSE, TRUE, Emitter, Value, define
from thence.proofs.native.code.kernel import link, new_module
from thence.proofs.native.memory import Array

WORD: Final = (1 << 64) - 1
GIVEN: Final = 3
"""So many numbers does a drawn function get."""

Term: TypeAlias = "int | str | tuple[Term, ...]"
"""A constant, the name of a number that is given, or the name of an operation with its operands."""

Write: TypeAlias = Callable[..., Value]

OPERATIONS: Final[dict[str, tuple[Callable[[Emitter], Write], Callable[..., int]]]] = {
    "add": (lambda emit: emit.add, lambda one, two: one + two),
    "sub": (lambda emit: emit.sub, lambda one, two: one - two),
    "mul": (lambda emit: emit.mul, lambda one, two: one * two),
    "both": (lambda emit: emit.both, lambda one, two: one & two),
    "either": (lambda emit: emit.either, lambda one, two: one | two),
    "differing": (lambda emit: emit.differing, lambda one, two: one ^ two),
    "inverse": (lambda emit: emit.inverse, lambda one: ~one),
    "ones": (lambda emit: lambda one: emit.ones(emit.number(one)), int.bit_count),
    "up": (lambda emit: lambda one, by: emit.up(one, emit.both(by, 63)), lambda one, by: one << (by & 63)),
    "down": (lambda emit: lambda one, by: emit.down(one, emit.both(by, 63)), lambda one, by: one >> (by & 63)),
    "turn": (
        lambda emit: lambda one, by: emit.turn(emit.number(one), emit.both(by, 63)),
        lambda one, by: one << (by & 63) | one >> (64 - (by & 63)),
    ),
    **{
        operator: (
            lambda emit, operator=operator: lambda *two: emit.word_of_truth(emit.compare(two[0], operator, two[1])),
            lambda one, two, operator=operator: int(eval(f"one {operator} two", {"one": one, "two": two})),
        )
        for operator in ("==", "!=", "<", "<=", ">", ">=")
    },
    "not": (
        lambda emit: lambda one: emit.word_of_truth(emit.builder.not_(emit.nonzero(one))),
        lambda one: int(one == 0),
    ),
    "select": (
        lambda emit: lambda which, one, two: emit.select(emit.nonzero(which), one, two),
        lambda which, one, two: one if which else two,
    ),
    "narrow": (
        lambda emit: lambda one: emit.builder.zext(emit.builder.trunc(emit.number(one), I32), I64),
        lambda one: one & (1 << 32) - 1,
    ),
    "if": (lambda emit: lambda *three: _chosen(emit, *three), lambda which, one, two: one if which else two),
}
_OPERANDS: Final = {"inverse": 1, "ones": 1, "not": 1, "narrow": 1, "select": 3, "if": 3}


def _chosen(emit: Emitter, which: Value, one: Value, two: Value) -> Value:
    """As `select`, by blocks."""
    cell = emit.reserve(1)
    with emit.builder.if_else(emit.nonzero(which)) as (then, otherwise):
        with then:
            emit.store(one, cell)
        with otherwise:
            emit.store(two, cell)
    return emit.load(cell)


def _of(operation: str, terms: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
    return st.tuples(st.just(operation), *[terms] * _OPERANDS.get(operation, 2))


NUMBERS = st.one_of(st.integers(0, 3), st.integers(0, WORD))
LEAVES = st.one_of(NUMBERS, st.sampled_from([f"a{at}" for at in range(GIVEN)]))
TERMS = st.recursive(LEAVES, lambda terms: st.one_of(*[_of(each, terms) for each in OPERATIONS]), max_leaves=12)


def written(emit: Emitter, term: Term, given: Sequence[Value]) -> Value:
    match term:
        case int():
            return emit.number(term)
        case str():
            return given[int(term[1:])]
        case _:
            operation, *operands = term
            assert isinstance(operation, str)
            return OPERATIONS[operation][0](emit)(*[written(emit, each, given) for each in operands])


def meant(term: Term, given: Sequence[int]) -> int:
    match term:
        case int():
            return term
        case str():
            return given[int(term[1:])]
        case _:
            operation, *operands = term
            assert isinstance(operation, str)
            return OPERATIONS[operation][1](*[meant(each, given) for each in operands]) & WORD


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.lists(TERMS, min_size=1, max_size=6), st.tuples(*[NUMBERS] * GIVEN))
def test_terms_have_the_values_that_python_gives_them(terms: list[Term], given_: tuple[int, ...]) -> None:
    module = new_module()
    emit = define(module, "values", [POINTER, *[I64] * GIVEN], VOID, internal=False)
    cells, *given = emit.function.args
    for at, term in enumerate(terms):
        emit.store(written(emit, term, given), cells, at)
    emit.give()
    engine, found = link(module), Array(len(terms))
    kind = ctypes.CFUNCTYPE(None, *[ctypes.c_uint64] * (1 + GIVEN))
    kind(engine.get_function_address("values"))(found.address, *given_)
    assert found.read(0, len(terms)) == tuple(meant(term, given_) for term in terms)


def test_words_change_atomically() -> None:
    """An exchange that is refused changes nothing; each operation gives what was there."""
    module = new_module()
    emit = define(module, "change", [POINTER, POINTER], VOID, internal=False)
    cells, halves = emit.function.args
    builder = emit.builder
    emit.store(builder.atomic_rmw("add", emit.place(cells, 0), emit.number(5), "monotonic"), cells, 1)
    half = emit.place(halves, 0, I32)
    nothing, seven, nine = (builder.trunc(emit.number(each), I32) for each in (0, 7, 9))
    for at, (old, new) in enumerate([(nothing, seven), (nothing, nine)]):
        there, is_changed = builder.cmpxchg(half, old, new, "acq_rel", "acquire")
        emit.store(builder.zext(there, I64), cells, 2 + 2 * at)
        emit.store(emit.word_of_truth(is_changed), cells, 3 + 2 * at)
    emit.store(builder.zext(builder.load_atomic(half, "acquire", 4, I32), I64), cells, 6)
    emit.give()
    engine, words, narrow = link(module), Array(7), Array(1, 4)
    words[0] = 37
    ctypes.CFUNCTYPE(None, *[ctypes.c_uint64] * 2)(engine.get_function_address("change"))(words.address, narrow.address)
    assert words.read(0, 7) == (42, 37, 0, 1, 7, 0, 7)


def _started() -> Emitter:
    return define(Module("", ""), "started", [], VOID, internal=False)


def test_nothing_is_written_behind_the_end_of_a_block() -> None:
    emit = _started()
    emit.give()
    with pytest.raises(AssertionError, match="goes on behind its end"):
        emit.give()


def test_a_block_without_an_end_is_no_text() -> None:
    emit = _started()
    with emit.when(TRUE):
        emit.give()
    with pytest.raises(AssertionError, match="has no end"):
        str(emit.function.module)
    emit.give()
    assert "ret void" in str(emit.function.module)


def test_one_name_has_one_table() -> None:
    emit = _started()
    assert emit.table([1, 2], "both") == emit.table([1, 2], "both")
    with pytest.raises(AssertionError, match="two tables of the name both"):
        emit.table([1], "both")


def test_a_call_has_the_types_of_the_function() -> None:
    emit = _started()
    with pytest.raises(AssertionError, match="started takes"):
        emit.builder.call(emit.function, [FALSE])
