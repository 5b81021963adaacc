"""One obligation for every transition and conjunct, with the guards and all conjuncts as hypotheses."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from thence.dsl import ir
from thence.dsl.check import built_in
from thence.proofs.logic.formula import free_locals
from thence.proofs.machine.obligations import conjuncts, consequence, delivered_once, impossible, preservations
from thence.proofs.machine.transitions import actions

Library = Callable[[str], ir.Specification]


@pytest.fixture(params=["mf", "hybrid_basic"])
def machine(library: Library, request: pytest.FixtureRequest) -> ir.Machine:
    return library(request.param).machines[0]


def test_every_conjunct_meets_the_start_and_every_transition(machine: ir.Machine) -> None:
    everything = conjuncts(machine)
    stated = preservations(machine, everything, everything)
    assert len(stated) == len(everything) * (1 + len(machine.transitions))
    assert len({each.obligation.name for each in stated}) == len(stated)
    for each in stated:
        constants = {constant.name for constant in each.obligation.constants}
        formulas = (*each.obligation.hypotheses, each.obligation.goal)
        assert all(free_locals(formula.body).keys() <= constants for formula in formulas), each.obligation.name


def test_the_history_is_proved_with_the_machine_not_assumed(machine: ir.Machine) -> None:
    names = {conjunct.name for conjunct in conjuncts(machine) if conjunct.origin == "history"}
    assert names == {fact.name for fact in built_in.history_facts("unicast")}


def test_a_transition_that_does_not_touch_a_conjunct_keeps_it_by_frame(machine: ir.Machine) -> None:
    everything = conjuncts(machine)
    framed = [each for each in preservations(machine, everything, everything) if each.obligation.by_frame]
    assert framed
    for each in framed:
        assert each.action is not None
        assert each.obligation.goal.body in {conjunct.formula.body for conjunct in everything}


def test_the_initial_obligation_assumes_the_axioms_only(machine: ir.Machine) -> None:
    everything = conjuncts(machine)
    first = [each for each in preservations(machine, everything, everything) if each.action is None]
    assert all(each.obligation.hypotheses == machine.axioms for each in first)


def test_the_other_obligations_are_closed_too(machine: ir.Machine) -> None:
    everything = conjuncts(machine)
    others = [
        delivered_once(machine, everything),
        consequence(machine, everything[-1], everything[:-1]),
        *(impossible(machine, action, everything) for action in actions(machine)),
    ]
    for obligation in others:
        constants = {constant.name for constant in obligation.constants}
        for formula in (*obligation.hypotheses, obligation.goal):
            assert free_locals(formula.body).keys() <= constants, obligation.name
