"""Which numbers are compared: those that the text compares, or makes one from the other."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import pytest

from thence.dsl import ir
from thence.dsl.find import specification
from thence.dsl.ir.types import NAT
from thence.dsl.load import library
from thence.dsl.write.show import show_expression
from thence.proofs.infer.candidates.vocabulary import sorts_of, templates, vocabulary_of
from thence.proofs.infer.search.goals import about_states, closed, hidden, stated_goals
from thence.proofs.infer.search.inference import infer
from thence.proofs.infer.search.outcome import Limits
from thence.proofs.logic.formula import symbols_of
from thence.proofs.prove import solver_pool
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession

BESIDE = """
machine beside:
  delivery off
  sort thing
  function clock(t: thing): nat
  function seen(t: thing): nat
  function copied(t: thing): nat
  function apart(t: thing): nat
  transition tick(t: thing):
    clock(t) := clock(t) + 1
  transition hear(t: thing, u: thing, k: nat):
    require k <= clock(u)
    seen(t) := if apart(t) = 0 then max(seen(t), k) else seen(t)
  transition copy(t: thing):
    copied(t) := seen(t)
  transition other(t: thing):
    apart(t) := apart(t) + 1
  invariant heard: forall t. copied(t) <= seen(t)
"""


def compared(machine: ir.Machine) -> set[frozenset[str]]:
    """The pairs of functions that an atom over two variables compares."""
    stated = about_states(machine)
    vocabulary = vocabulary_of(stated, [closed(stated, goal) for goal in stated_goals(stated)])
    atoms = [atom for count in (1, 2) for each in templates(vocabulary, sorts_of(stated), count) for atom in each.atoms]
    numbers = [atom for atom in atoms if isinstance(atom, ir.Comparison) and atom.left.type == NAT]
    return {frozenset((one, other)) for atom in numbers for one, other in combinations(sorted(symbols_of(atom)), 2)}


def test_numbers_are_of_one_kind_by_what_a_parameter_carries(specify: Callable[[str], ir.Specification]) -> None:
    """`seen` takes times of clocks by the parameter k; what a condition asks makes no number."""
    (machine,) = specify(BESIDE).machines
    kin = combinations(("clock", "copied", "seen"), 2)
    assert compared(machine) == set(map(frozenset, kin))


@pytest.mark.parametrize(
    ("file", "one", "other", "there"),
    [
        ("client_server", "V", "counts", True),
        ("client_server", "counts", "number", False),
        ("lamport_mutex", "clock", "heard", True),
    ],
)
def test_kinds_in_the_library(file: str, one: str, other: str, there: bool) -> None:
    machine = hidden(specification(file).machines[0], ["all"])
    assert (frozenset((one, other)) in compared(machine)) == there


def test_how_far_a_number_may_be_ahead_is_what_is_to_be_proved() -> None:
    (barrier,) = specification(str(library()[0].parent / "benchmarks" / "reusable_barrier.thence")).machines
    vocabulary = vocabulary_of(barrier, [each.body for each in barrier.invariants])
    atoms = {show_expression(atom) for each in templates(vocabulary, sorts_of(barrier), 1) for atom in each.atoms}
    assert {"open() <= phase(w) + 1", "phase(w) <= open()"} <= atoms
    assert vocabulary_of(barrier, []).ahead == ()


def atoms_of(machine: ir.Machine) -> set[str]:
    """The atoms over one variable and over two, as text."""
    vocabulary = vocabulary_of(machine, [each.body for each in machine.invariants])
    return {
        show_expression(atom)
        for count in (1, 2)
        for each in templates(vocabulary, sorts_of(machine), count)
        for atom in each.atoms
    }


def test_places_of_a_program_are_told_apart_and_not_compared() -> None:
    (dekker,) = specification(str(library()[0].parent / "benchmarks" / "dekker.thence")).machines
    assert {atom for atom in atoms_of(dekker) if "at(t)" in atom} == {f"at(t) = {place}" for place in range(6)}


LEVELS = """
machine levels:
  delivery off
  sort thing
  function level(t: thing): nat
  function state(t: thing): nat
  function stops(): nat
  transition up(t: thing):
    require level(t) < 3 and state(t) = 0
    level(t) := level(t) + 1
  transition stop(t: thing):
    require level(t) = 2
    forall u: state(u) := if u = t then 2 else state(u)
    stops() := stops() + 1
  transition follow(t: thing, u: thing):
    require stops() <= 1
    state(t) := 1
  invariant low: forall t. level(t) <= 3
"""


def test_numbers_that_the_text_names(specify: Callable[[str], ir.Specification]) -> None:
    """Levels are counted, too, and have an order; states are named only. That one stop was counted says nothing new."""
    (machine,) = specify(LEVELS).machines
    atoms = atoms_of(machine)
    assert {"level(t) = 2", "level(t) = 3", "2 <= level(t)", "3 <= level(t)", "level(t) <= level(t2)"} <= atoms
    assert {atom for atom in atoms if "state(t)" in atom} == {f"state(t) = {number}" for number in range(3)}
    assert {atom for atom in atoms if "stops()" in atom} == {"stops() = 0"}


def test_machines_of_the_library_that_count_name_no_numbers() -> None:
    for name in ("cbcast", "fifo", "skeen", "lamport_mutex"):
        for machine in specification(name).machines:
            stated = about_states(machine)
            assert not vocabulary_of(stated, [closed(stated, goal) for goal in stated_goals(stated)]).stages


WINDOW = """
machine window:
  delivery off
  sort client
  constant function width(): nat
  function acked(c: client): nat
  function next(c: client): nat
  relation packet(c: client, n: nat)
  transition send(c: client):
    require next(c) < acked(c) + width()
    next(c) := next(c) + 1
  transition send_again(c: client, n: nat):
    require n < next(c)
    packet(c, n) := true
  transition acknowledge(c: client, n: nat):
    require packet(c, n) and acked(c) <= n and n < next(c)
    acked(c) := n + 1
  invariant limited: forall c, n. packet(c, n) implies n < acked(c) + width()
"""


def test_sums_that_the_text_compares(specify: Callable[[str], ir.Specification]) -> None:
    """A number is compared with a sum of two numbers as the text does it; not with their single parts again."""
    (machine,) = specify(WINDOW).machines
    vocabulary = vocabulary_of(machine, [each.body for each in machine.invariants])
    assert [show_expression(each) for each in vocabulary.sums] == ["acked(c) + width()"]
    atoms = {show_expression(atom) for each in templates(vocabulary, sorts_of(machine), 2) for atom in each.atoms}
    assert {"next(c) <= acked(c) + width()", "i < acked(c) + width()"} <= atoms
    assert not {"acked(c) <= acked(c) + width()", "width() <= acked(c) + width()"} & atoms


def test_what_is_sent_stays_within_a_window(specify: Callable[[str], ir.Specification]) -> None:
    (machine,) = specify(WINDOW).machines
    options = Options(workers=1)
    with solver_pool(options) as pool:
        found = infer(ProofSession(pool, options), machine, Limits(120.0), lambda _: None)
    said = [show_expression(each.formula.body) for each in found.conjuncts]
    assert found.proved and any("next(c) <= acked(c) + width()" in each for each in said), (found.reason, said)
    assert all(each.without for each in found.conjuncts)
