"""The two readings of a transition agree: the weakest precondition before, the formula after."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, NAT, Sort
from thence.proofs.logic.formula import free_locals
from thence.proofs.logic.structure import Structure, Table, Value, evaluate, tuples
from thence.proofs.machine.obligations import conjuncts
from thence.proofs.machine.transitions import (
    actions,
    after,
    axiom_faults,
    complete,
    enabled,
    environment_of,
    initial,
    initially,
    rigid,
    step,
    symbols,
)

Library = Callable[[str], ir.Specification]
Specify = Callable[[str], ir.Specification]

COUNTER = """
machine counter:
  relation linked(p: process, q: process)
  relation ready(m: message)
  function posted(p: process): nat
  function last(p: process): message
  axiom symmetric: forall p, q. linked(p, q) implies linked(q, p)
  transition causal_send(m):
    forall p: posted(p) := if p = src(m) then posted(p) + 1 else posted(p)
    forall p: last(p) := if p = src(m) then m else last(p)
  transition deliver(m):
    require sent(m) and linked(src(m), dst(m))
  transition swap(a, b):
    ready(a) := ready(b)
  invariant counted: forall m. sent(m) implies 0 < posted(src(m))
  invariant last_of: forall x. sent(x) implies src(last(src(x))) = src(x) and not ready(last(src(x)))
  invariant readiness: forall m, a. ready(m) implies exists b. ready(b) and b != a or m = a
  prove no_creation
"""


def random_structure(machine: ir.Machine, seed: int) -> Structure:
    """A structure with arbitrary tables, from a seed."""
    random = st_random(seed)
    universe = {"process": 2, "message": 3}
    tables: dict[str, Table] = {}
    for symbol in symbols(machine):
        table: dict[tuple[int, ...], Value] = {}
        for key in tuples([parameter.type for parameter in symbol.parameters], universe):
            if symbol.result == BOOL:
                table[key] = random(2) == 1
            elif symbol.result == NAT:
                table[key] = random(4)
            else:
                assert isinstance(symbol.result, Sort)
                table[key] = random(universe[symbol.result.name])
        tables[symbol.name] = table
    return Structure(universe, tables)


def st_random(seed: int) -> Callable[[int], int]:
    """Numbers below a bound, from a linear congruence."""
    state = [seed * 2654435761 % 2**32]

    def below(bound: int) -> int:
        state[0] = (state[0] * 1664525 + 1013904223) % 2**32
        return (state[0] >> 16) % bound

    return below


def assert_readings_agree(machine: ir.Machine, seed: int) -> None:
    before = random_structure(machine, seed)
    for action in actions(machine):
        for arguments in tuples([parameter.type for parameter in action.parameters], before.universe):
            then = step(action, arguments, before)
            environment = environment_of(action, arguments)
            for conjunct in conjuncts(machine):
                said = evaluate(after(conjunct.formula.body, action), before, environment)
                assert said == evaluate(conjunct.formula.body, then, {}), (action.name, arguments, conjunct.name)


@settings(derandomize=True, deadline=None, max_examples=12)
@given(st.integers(0, 10_000), st.sampled_from(["mf", "hybrid_basic", "cbcast", "hybrid_multicast"]))
def test_substitution_agrees_with_computing_the_step(library: Library, seed: int, name: str) -> None:
    machine = library(name).machines[0]
    assert_readings_agree(machine, seed)


@settings(derandomize=True, deadline=None, max_examples=25)
@given(st.integers(0, 10_000))
def test_substitution_agrees_where_functions_change_and_names_collide(seed: int) -> None:
    from thence.dsl.check.elaborate import elaborate
    from thence.dsl.text.parse import parse

    tree, _ = parse(COUNTER, "counter.thence")
    assert tree is not None
    specification, diagnostics = elaborate(tree, "counter.thence")
    assert specification is not None, diagnostics
    assert_readings_agree(specification.machines[0], seed)


@pytest.mark.parametrize(("message", "process"), [("x", "p"), ("y", "x"), ("x", "y"), ("b", "a")])
def test_the_names_of_a_delivery_at_one_process_do_not_matter(specify: Specify, message: str, process: str) -> None:
    text = f"""
machine several:
  delivery multicast
  relation seen(x: message, y: process)
  transition causal_send({message}):
    forall {process}: seen({message}, {process}) := to({message}, {process})
  transition deliver({message}, {process}):
    require sent({message}) and to({message}, {process})
    forall a: seen(a, {process}) := seen(a, {process}) or hb(a, {message})
  invariant known: forall x, y. seen(x, y) implies past(y, x)
  prove causal, total_order, no_creation
"""
    if process == "a":
        text = text.replace(
            "forall a: seen(a, a) := seen(a, a) or hb(a, b)", "forall c: seen(c, a) := seen(c, a) or hb(c, b)"
        )
    (machine,) = specify(text).machines
    for seed in range(6):
        assert_readings_agree(machine, seed)


def test_built_in_updates_are_added(specify: Specify) -> None:
    (machine,) = specify(COUNTER).machines
    by_name = {action.name: action for action in actions(machine)}
    assert by_name["causal_send"].changed == {"hb", "before", "past", "sent", "posted", "last"}
    assert by_name["causal_send"].guards[0].name == "not_sent"
    assert by_name["deliver"].changed == {"delivered_before", "past", "delivered"}
    assert by_name["swap"].changed == {"ready"}
    assert complete(machine.transitions[2], machine.delivery).guards == ()


def test_rigid_symbols_are_parameters_and_the_rest_starts_at_zero(specify: Specify) -> None:
    (machine,) = specify(COUNTER).machines
    assert rigid(machine) == {"src", "dst", "linked"}
    assert axiom_faults(machine) == ()
    invariant = next(each for each in machine.invariants if each.name == "counted")
    start = initially(invariant.body, machine)
    assert not free_locals(start)
    arbitrary = random_structure(machine, 7)
    assert evaluate(start, arbitrary, {}) is True
    given_tables = {name: arbitrary.tables[name] for name in ("src", "dst", "linked", "last")}
    first = initial(machine, arbitrary.universe, given_tables)
    assert not any(first.tables["sent"].values())
    assert first.tables["linked"] == arbitrary.tables["linked"]


def test_an_axiom_about_what_changes_is_a_fault(specify: Specify) -> None:
    (machine,) = specify(COUNTER).machines
    (axiom,) = machine.axioms
    moved = ir.NamedFormula("bad", machine.invariants[0].body)
    wrong = ir.Machine(
        machine.name,
        machine.symbols,
        (axiom, moved),
        machine.transitions,
        machine.invariants,
        machine.prove,
        machine.expects,
    )
    assert any("bad" in fault for fault in axiom_faults(wrong))


def test_enabled_needs_every_guard(specify: Specify) -> None:
    (machine,) = specify(COUNTER).machines
    send = actions(machine)[0]
    structure = random_structure(machine, 3)
    unsent = structure.with_tables({"sent": dict.fromkeys(structure.tables["sent"], False)})
    assert enabled(send, (0,), unsent)
    assert not enabled(send, (0,), step(send, (0,), unsent))


@pytest.mark.parametrize("name", ["mf", "hybrid_basic"])
def test_sending_and_delivering_keep_the_history(library: Library, name: str) -> None:
    machine = library(name).machines[0]
    by_name = {action.name: action for action in actions(machine)}
    universe = {"process": 2, "message": 2}
    ends: dict[str, Table] = {"src": {(0,): 0, (1,): 1}, "dst": {(0,): 1, (1,): 0}}
    start = initial(machine, universe, ends)
    sent = step(by_name["causal_send"], (0,), start)
    assert sent.tables["past"][(0, 0)] and not sent.tables["past"][(1, 0)]
    delivered = step(by_name["deliver"], (0,), sent)
    assert delivered.tables["past"][(1, 0)]
    answered = step(by_name["causal_send"], (1,), delivered)
    assert answered.tables["hb"][(0, 1)] and not answered.tables["hb"][(1, 0)]
    assert not answered.tables["before"][(0, 1)]
