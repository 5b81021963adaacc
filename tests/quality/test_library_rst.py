"""RST in its three forms, MF pipelined: what is proved for any number of processes, what the scopes cover."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from functools import cache

import pytest

from thence.dsl import ir
from thence.dsl.load import load
from thence.proofs.engines import explore
from thence.proofs.prove import prove_specification
from thence.proofs.scopes.link import check_link
from thence.proofs.solving.discharge import Options
from thence.spec.verdict import Level, Result, Verdict


@cache
def specification(file: str) -> ir.Specification:
    found = load(file).specification
    assert found is not None
    return found


def machine_of(file: str, name: str) -> ir.Machine:
    return next(machine for machine in specification(file).machines if machine.name == name)


def proved(machine: ir.Machine) -> dict[str, Result]:
    alone = replace(specification("rst"), theorems=(), machines=(machine,), mutants=())
    return {result.name: result for result in prove_specification(alone, options=Options(workers=2))}


INVARIANTS = {
    ("rst", "matrices"): 6,
    ("rst", "to_oneself"): 14,
    ("rst", "matrices_between_others"): 10,
    ("rst_mf", "matrix"): 7,
    ("rst_hunch", "counts_first"): 8,
    ("rst_hunch", "lockstep"): 10,
    ("mf_pipelined", "pipelined"): 14,
    ("mf", "buffers"): 11,
}
PROPERTIES = ("causal", "fifo", "at_most_once", "no_creation")


@pytest.mark.long(but=("rst_hunch-counts_first",))
@pytest.mark.parametrize(("file", "name"), INVARIANTS)
def test_causal_for_any_number_of_processes_and_messages(file: str, name: str) -> None:
    machine = machine_of(file, name)
    assert len(machine.invariants) == INVARIANTS[file, name]
    results = proved(machine)
    for stated in ("history", *(invariant.name for invariant in machine.invariants), *PROPERTIES):
        assert (results[stated].verdict, results[stated].level) == (Verdict.PROVED, Level.L3), stated
    assert [result.name for result in results.values() if not result.expected] == []


# --- is DELIV redundant? -----------------------------------------------------------------------


def redundancy(axioms: bool) -> Result:
    machine = machine_of("rst", "matrices_between_others")
    only = tuple(invariant for invariant in machine.invariants if invariant.name == "deliv_is_redundant")
    assert len(only) == len(machine.axioms) == 1
    alone = replace(machine, invariants=only, prove=(), eventually=(), axioms=machine.axioms if axioms else ())
    return proved(alone)["deliv_is_redundant"]


def test_redundancy_is_inductive_on_its_own() -> None:
    """The article's question needs nothing but that nobody sends to itself."""
    found = redundancy(axioms=True)
    assert (found.verdict, found.level) == (Verdict.PROVED, Level.L3)
    assert found.facts["own_obligations"] == 3


def test_redundancy_is_false_with_messages_to_oneself() -> None:
    found = redundancy(axioms=False)
    assert (found.verdict, found.facts["depth"]) == (Verdict.REFUTED, 1)


# --- the hunch ---------------------------------------------------------------------------------


def renamed(node: object, names: dict[str, str]) -> object:
    """The node with symbols renamed, and without positions and names of guards."""
    if isinstance(node, tuple):
        return tuple(renamed(part, names) for part in node)
    if isinstance(node, ir.NamedFormula):
        return renamed(node.body, names)
    if not is_dataclass(node):
        return node
    values = {part.name: getattr(node, part.name) for part in fields(node) if part.compare}
    changed = {
        name: names.get(value, value) if name == "symbol" else renamed(value, names) for name, value in values.items()
    }
    return (type(node).__name__, tuple(changed.items()))


def transition_of(machine: ir.Machine, name: str) -> ir.Transition:
    return next(transition for transition in machine.transitions if transition.name == name)


def parts(expr: ir.Expr, operator: str) -> Iterator[ir.Expr]:
    if isinstance(expr, ir.Connective) and expr.operator == operator:
        yield from parts(expr.left, operator)
        yield from parts(expr.right, operator)
    else:
        yield expr


VARIANT = {"SENT": "SENT1", "DELIV": "DELIV1", "meta": "meta1"}


@pytest.mark.parametrize("name", ["causal_send", "deliver"])
def test_lockstep_is_the_two_protocols_side_by_side(name: str) -> None:
    """What is proved of the machine of the bisimulation is about these two protocols, letter by letter."""
    lockstep = transition_of(machine_of("rst_hunch", "lockstep"), name)
    original = transition_of(machine_of("rst", "matrices"), name)
    variant = transition_of(machine_of("rst_hunch", "counts_first"), name)
    both = [renamed(update, {}) for update in original.updates]
    both += [renamed(update, VARIANT) for update in variant.updates]
    assert sorted(map(repr, both)) == sorted(repr(renamed(update, {})) for update in lockstep.updates)


def test_lockstep_delivers_what_either_protocol_may() -> None:
    lockstep = transition_of(machine_of("rst_hunch", "lockstep"), "deliver")
    original = transition_of(machine_of("rst", "matrices"), "deliver")
    variant = transition_of(machine_of("rst_hunch", "counts_first"), "deliver")
    either = lockstep.requires[-1].body
    assert isinstance(either, ir.Connective) and either.operator == "or"
    assert renamed(either.left, {}) == renamed(original.requires[-1], {})
    conditions = [renamed(guard.body, VARIANT) for guard in variant.requires[1:]]
    assert [renamed(part, {}) for part in parts(either.right, "and")] == conditions
    same = next(one for one in machine_of("rst_hunch", "lockstep").invariants if one.name == "same_condition")
    assert isinstance(same.body, ir.Quantified) and isinstance(same.body.body, ir.Connective)
    equivalence = same.body.body.right
    assert isinstance(equivalence, ir.Connective) and equivalence.operator == "iff"
    assert renamed(equivalence.left, {}) == renamed(either.left, {})
    assert renamed(equivalence.right, {}) == renamed(either.right, {})


# --- scopes ------------------------------------------------------------------------------------

COUNTS = {
    ("rst", "one"): (239, 450),
    ("rst", "two"): (5_160, 13_742),
    ("rst", "links"): (454, 887),
    ("rst_mf", "links"): (824, 1_855),
    ("rst_hunch", "links"): (402, 824),
    ("rst_hunch", "pair"): (158, 308),
    ("mf_pipelined", "relay"): (392, 1_032),
}


@pytest.mark.parametrize(("file", "scope"), COUNTS)
def test_states_of_the_scopes(file: str, scope: str) -> None:
    found = specification(file)
    workload = next(one.workload for one in found.scopes if one.name == scope)
    explored = explore(found.protocols[0], workload, found.protocols[0].properties)
    assert explored.complete
    assert (explored.states, explored.transitions) == COUNTS[file, scope]


def test_original_and_variant_have_equally_many_states() -> None:
    """What the bisimulation says of any number of messages, counted in a scope."""
    for scope in ("one", "two"):
        counts = []
        for file in ("rst", "rst_hunch"):
            found = specification(file)
            workload = next(one.workload for one in found.scopes if one.name == scope)
            explored = explore(found.protocols[0], workload, found.protocols[0].properties)
            counts.append((explored.states, explored.transitions, explored.depth))
        assert counts[0] == counts[1]


LINKS = {
    "rst": {"links": (564, 951)},
    "rst_mf": {"links": (1_279, 2_299), "pair": (203, 345)},
    "rst_hunch": {"links": (502, 885), "pair": (203, 345)},
    "mf_pipelined": {"relay": (1_684, 3_325)},
}


@pytest.mark.parametrize("file", LINKS)
def test_the_protocol_conforms_to_its_machine(file: str) -> None:
    link = specification(file).links[0]
    assert {scope.name for scope in link.scopes} == set(LINKS[file])
    for scope in link.scopes:
        found = check_link(link, link.protocol, scope.workload)
        assert (found.complete, found.broken) == (True, None)
        assert (found.states, found.transitions) == LINKS[file][scope.name]


@pytest.mark.parametrize(("file", "mutant", "transition"), [
    ("rst", "no_merge", "deliver"),
    ("rst_mf", "no_merge_mf", "deliver"),
    ("rst_hunch", "no_condition_hunch", "deliver"),
    ("mf_pipelined", "any_acknowledgement", "network_send"),
])  # fmt: skip
def test_mutants_break_the_link(file: str, mutant: str, transition: str) -> None:
    link = specification(file).links[0]
    mutated = next(known.mutated for known in specification(file).mutants if known.name == mutant)
    assert isinstance(mutated, ir.Protocol)
    broken = check_link(replace(link, invariants=()), mutated, link.scopes[0].workload).broken
    assert broken is not None and broken.refusal.transition == transition
