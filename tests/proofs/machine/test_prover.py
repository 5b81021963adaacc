"""Machines: the inductive set, what falls out of it and how that is shown, vacuity, refusals."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from thence.dsl import ir
from thence.dsl.ir.machine_builtins import HISTORY
from thence.dsl.ir.types import BOOL, MESSAGE, NAT
from thence.proofs.logic.formula import holds
from thence.proofs.machine.inductive_set import proved_conjuncts
from thence.proofs.machine.prover import prove_machine, statements
from thence.proofs.machine.vacuity import check_vacuity
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import SolverPool
from thence.spec.verdict import Level, Verdict

Library = Callable[[str], ir.Specification]
Specify = Callable[[str], ir.Specification]

RELAY = """
machine relay:
  relation network_sent(m: message)
  relation marked(m: message)
  transition causal_send(m):
    pass
  transition network_send(m):
    require sent(m)
    network_sent(m) := true
  transition mark(a, b):
    require marked(a) and network_sent(b)
    marked(b) := true
  transition deliver(m):
    require network_sent(m) and not delivered(m)
  {invariants}
  prove no_creation, at_most_once
"""


@pytest.mark.parametrize("name", ["mf", "hybrid_basic"])
def test_the_library_machines_are_proved_by_two_solvers(library: Library, pool: SolverPool, name: str) -> None:
    machine = library(name).machines[0]
    findings, inductive = prove_machine(ProofSession(pool), machine)
    assert inductive is not None and not inductive.fallen
    assert tuple(findings) == statements(machine)
    for statement, finding in findings.items():
        assert (finding.verdict, finding.level) == (Verdict.PROVED, Level.L3), (statement, finding.text)
        assert finding.facts["obligations"] > 100


TWICE = {
    "unicast": """
machine once:
  relation gone(m: message)
  transition causal_send(m):
    pass
  transition deliver(m):
    require sent(m) and not gone(m)
    gone(m) := true
  prove at_most_once
""",
    "multicast": """
machine once:
  delivery multicast
  relation gone(m: message, p: process)
  transition causal_send(m):
    pass
  transition deliver(m, p):
    require sent(m) and not gone(m, p)
    gone(m, p) := true
  prove at_most_once
""",
}
"""The guard of `deliver` rules a second delivery out only together with an invariant that is missing."""


@pytest.mark.parametrize(("delivery", "again"), [("unicast", "deliver(m1)"), ("multicast", "deliver(m1, p0)")])
def test_a_second_delivery_that_the_guard_allows_is_shown_as_a_step(
    specify: Specify, pool: SolverPool, delivery: str, again: str
) -> None:
    (machine,) = specify(TWICE[delivery]).machines
    session = ProofSession(pool, Options(timeout_ms=10_000))
    found = prove_machine(session, machine)[0]["at_most_once"]
    assert found.verdict is Verdict.UNKNOWN and "violates it" in found.text
    shown = found.facts["counterexample"]
    assert shown["conjunct"] == "at_most_once" and shown["transition"] == again
    assert again.replace("deliver", "delivered") in shown["before"]
    assert again.replace("deliver", "gone") not in shown["before"]
    assert "delivered is already true before the step for m = m1" in found.text and "<svg" in found.picture


def test_a_conjunct_that_is_not_kept_is_shown_as_a_step(specify: Specify, pool: SolverPool) -> None:
    (machine,) = specify(
        RELAY.format(
            invariants="invariant sent_first: forall m. network_sent(m) implies sent(m)\n"
            "  invariant marked_delivered: forall m. marked(m) implies delivered(m)"
        )
    ).machines
    findings, _ = prove_machine(ProofSession(pool), machine)
    assert findings["sent_first"].verdict is Verdict.PROVED
    lost = findings["marked_delivered"]
    assert lost.verdict is Verdict.UNKNOWN
    shown = lost.facts["counterexample"]
    assert shown["kind"] == "induction"
    assert shown["transition"].startswith("mark(")
    assert shown["changes"] == [f"marked({shown['instance']['m']})"]
    assert "before:" in lost.text and "no run of up to 16 steps" in lost.text


def test_what_rests_on_a_fallen_conjunct_falls_and_says_so(specify: Specify, pool: SolverPool) -> None:
    """`no_creation` needs `sent_first`; without it, nothing says that what is delivered was sent."""
    (machine,) = specify(RELAY.format(invariants="invariant unmarked: forall m. not delivered(m)")).machines
    findings, inductive = prove_machine(ProofSession(pool), machine)
    assert inductive is not None
    assert findings["unmarked"].verdict is Verdict.REFUTED
    assert findings["unmarked"].facts["depth"] == 3
    assert findings["no_creation"].verdict is Verdict.UNKNOWN
    assert findings[HISTORY].verdict is Verdict.UNKNOWN
    assert findings["at_most_once"].verdict is Verdict.PROVED
    later = [fall for fall in inductive.fallen.values() if fall.after]
    assert later, "something falls only after others have"


def test_members_of_the_set_are_inductive_without_what_fell(specify: Specify, pool: SolverPool) -> None:
    invariants = "invariant quiet: forall m. not marked(m)\n  invariant loud: forall m. sent(m) implies delivered(m)"
    (machine,) = specify(RELAY.format(invariants=invariants)).machines
    findings, inductive = prove_machine(ProofSession(pool), machine)
    assert inductive is not None
    assert findings["quiet"].verdict is Verdict.PROVED
    assert findings["loud"].verdict is Verdict.REFUTED
    hypotheses = {
        hypothesis.name
        for discharges in inductive.members.values()
        for discharge in discharges
        for hypothesis in discharge.obligation.hypotheses
    }
    assert not hypotheses & inductive.fallen.keys()


def test_a_guard_that_can_never_hold_is_reported(specify: Specify, pool: SolverPool) -> None:
    (machine,) = specify(RELAY.format(invariants="invariant quiet: forall m. not marked(m)")).machines
    _, inductive = prove_machine(ProofSession(pool), machine)
    assert inductive is not None
    finding = check_vacuity(ProofSession(pool), machine, proved_conjuncts(machine, inductive))
    assert finding.verdict is Verdict.REFUTED
    assert finding.facts["impossible"] == ["mark"]
    assert "the guard of mark can never hold" in finding.text
    assert finding.facts["witnesses"].keys() == {"causal_send", "network_send", "deliver"}


@pytest.mark.long
def test_without_the_invariant_it_is_not_known(specify: Specify, pool: SolverPool) -> None:
    (machine,) = specify(RELAY.format(invariants="invariant trivial: forall m. sent(m) implies sent(m)")).machines
    finding = check_vacuity(ProofSession(pool), machine, ())
    assert finding.verdict is Verdict.UNKNOWN
    assert "mark" in finding.facts["unknown"]


def test_contradictory_axioms_prove_nothing(specify: Specify, pool: SolverPool) -> None:
    text = RELAY.format(invariants="axiom nobody: forall m, k. src(m) != src(k)")
    (machine,) = specify(text).machines
    findings, inductive = prove_machine(ProofSession(pool), machine)
    assert inductive is None
    assert {finding.verdict for finding in findings.values()} == {Verdict.UNKNOWN}
    assert "contradict" in findings["no_creation"].text


def test_a_formula_that_cannot_be_said_is_unknown(specify: Specify, pool: SolverPool) -> None:
    """The language keeps such formulas out; if one came this far, nothing would be proved of it."""
    (machine,) = specify(RELAY.format(invariants="")).machines
    collection = ir.Local(MESSAGE, "some")
    odd = ir.Quantified(BOOL, "forall", (ir.Bound(MESSAGE, "m", collection),), holds("sent", ir.Local(MESSAGE, "m")))
    invariants = (ir.NamedFormula("odd", odd),)
    findings, _ = prove_machine(ProofSession(pool), replace(machine, invariants=invariants))
    assert findings["odd"].verdict is Verdict.UNKNOWN
    assert "ranges over a collection" in findings["odd"].facts["unknown"]


def test_more_messages_than_are_looked_at_leave_it_unknown(specify: Specify, pool: SolverPool) -> None:
    """Refuted with six messages; runs are looked for with four."""
    (machine,) = specify(RELAY.format(invariants="")).machines
    count = ir.Quantified(NAT, "count", (ir.Bound(MESSAGE, "m"),), holds("sent", ir.Local(MESSAGE, "m")))
    few = ir.NamedFormula("few", ir.Comparison(BOOL, "<=", count, ir.Literal_(NAT, 5)))
    findings, _ = prove_machine(ProofSession(pool), replace(machine, invariants=(few,)))
    assert findings["few"].verdict is Verdict.UNKNOWN
    assert "no run of up to 16 steps among 3 processes, 4 messages" in findings["few"].facts["unknown"]


OWN_NAMES = """
machine lock:
  delivery off
  sort client
  relation taken(l: message)
  relation holds(c: client, l: message)
  transition take(c: client, l: message):
    require not taken(l)
    taken(l) := true
    holds(c, l) := true
  transition drop(c: client, l: message):
    require holds(c, l)
    taken(l) := false
  invariant held: forall c, l. holds(c, l) implies taken(l)
  invariant one: forall b, c: client, l. holds(b, l) and holds(c, l) implies b = c
  reachable two: exists b, c: client, l. b != c and holds(b, l) and holds(c, l)
"""


@pytest.mark.parametrize("name", ["sent", "delivered", "hb", "past", "before", "delivered_before", "to", "src", "dst"])
@pytest.mark.parametrize("relation", ["taken", "holds"])
def test_a_machine_without_messages_may_use_their_names(
    specify: Specify, pool: SolverPool, relation: str, name: str
) -> None:
    """Without a history nothing is sent, so a relation of any name has only the meaning that the machine gives it."""
    session = ProofSession(pool, Options(timeout_ms=20_000))
    plain, renamed = (
        prove_machine(session, specify(text).machines[0])[0]
        for text in (OWN_NAMES, re.sub(rf"\b{relation}\b", name, OWN_NAMES))
    )
    assert {key: each.verdict for key, each in plain.items()} == {key: each.verdict for key, each in renamed.items()}
    assert plain["held"].text.replace(relation, name) == renamed["held"].text
