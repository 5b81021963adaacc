"""What leads to what in machines: proved by what is left to do, refuted by a run that ends, else unknown."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from thence.dsl import ir
from thence.proofs.machine.inductive_set import InductiveSet
from thence.proofs.machine.obligations import conjuncts
from thence.proofs.machine.steps.prover import prove_steps
from thence.proofs.solving.assessment import Assessment
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import SolverPool
from thence.spec.verdict import Level, Verdict

Specify = Callable[[str], ir.Specification]

QUEUE = """
machine queue:
  relation posted(m: message)
  relation lost(m: message)
  {symbols}
  transition causal_send(m): pass
  transition post(m):
    require sent(m) and not posted(m)
    require forall a. before(a, m) implies posted(a)
    {post}
    posted(m) := true
  transition deliver(m):
    require posted(m) and not delivered(m)
    {deliver}
  transition lose(m):
    require posted(m) and {lose}
    lost(m) := true
  {more}
  invariant life: forall m. (delivered(m) implies posted(m)) and (posted(m) implies sent(m))
    and (lost(m) implies posted(m))
  eventually delivery(m): {given} leads to {goal} by:
    {steps}
  prove no_creation
"""

STEPS = """post(x) for x while (x = m or before(x, m)) and not posted(x)
    deliver(m)"""


def queue(specify: Specify, **parts: str) -> ir.Machine:
    blank = dict.fromkeys(("symbols", "more"), "")
    true = dict.fromkeys(("post", "deliver"), "require true")
    given = {"given": "sent(m)", "goal": "delivered(m)", "steps": STEPS, "lose": "false"}
    (machine,) = specify(QUEUE.format(**{**blank, **true, **given, **parts})).machines
    return machine


def assessed(pool: SolverPool, machine: ir.Machine) -> Assessment:
    """The invariants are taken as proved: they are the same in all these machines, and true."""
    found = InductiveSet({conjunct.name: () for conjunct in conjuncts(machine)}, {}, {})
    session = ProofSession(pool, Options(timeout_ms=3_000))
    return prove_steps(session, machine, ("delivery",), found)["delivery"]


def test_every_message_of_a_queue_is_delivered(specify: Specify, pool: SolverPool) -> None:
    found = assessed(pool, queue(specify))
    assert (found.verdict, found.level) == (Verdict.PROVED, Level.L3)
    assert "in every run that is weakly fair to post, deliver" in found.text
    assert "a first x of step 1 in hb" in found.text
    assert "a state in which it is pending" in found.text


ASK = """transition ask(p):
    forall q: asked(q) := asked(q) or q = p"""
UNASK = """transition unask(p):
    forall q: asked(q) := asked(q) and q != p"""
ASKED = {"symbols": "relation asked(p: process)", "deliver": "require asked(dst(m))"}

FALSE = {
    # A message may be lost for ever, or wait for what need not come.
    "lost": {"deliver": "require not lost(m)", "lose": "not delivered(m)"},
    "waits for a later one": {"deliver": "require exists b. before(m, b)"},
    "waits for the application": {"deliver": "require exists b. sent(b) and b != m"},
    # Each arrival is enabled again and again, and never for good.
    "in turns": {**ASKED, "more": f"{ASK}\n  {UNASK}"},
    # Nothing is fair to `ask`.
    "not fair": {**ASKED, "more": ASK},
    "another step": {"steps": "post(x) for x while (x = m or before(x, m)) and not posted(x)"},
    "one step of many": {"steps": "post(m) while not posted(m)\n    deliver(m)"},
    "of what was not sent": {"given": "not sent(m)"},
    "too much": {"goal": "delivered(m) and lost(m)"},
    "given by the goal": {"goal": "not sent(m)"},
    "wrong order of steps": {"steps": "deliver(m)\n    post(m) while not posted(m)"},
}


@pytest.mark.parametrize("name", FALSE)
def test_what_is_false_is_not_proved(name: str, specify: Specify, pool: SolverPool) -> None:
    found = assessed(pool, queue(specify, **FALSE[name]))
    assert found.verdict is not Verdict.PROVED
    assert (found.verdict is Verdict.REFUTED) == (name in REFUTED), found.text


REFUTED = (
    "lost", "waits for a later one", "waits for the application", "of what was not sent", "too much",
    "given by the goal",
)  # fmt: skip
"""Where a run may end, and not because of some fairness that the statement does not assume."""


def test_what_never_is_pending_says_nothing(specify: Specify, pool: SolverPool) -> None:
    found = assessed(pool, queue(specify, given="delivered(m) and not posted(m)", steps="deliver(m)"))
    assert found.verdict is Verdict.UNKNOWN
    assert "it may say nothing" in found.text


def test_what_is_left_may_grow_when_something_earlier_shrinks(specify: Specify, pool: SolverPool) -> None:
    post = "post(x) for x while (x = m or before(x, m)) and not posted(x)"
    deliver = "deliver(m) while posted(m) and not delivered(m)"
    assert assessed(pool, queue(specify, steps=f"{post}\n    {deliver}")).verdict is Verdict.PROVED
    turned = assessed(pool, queue(specify, steps=f"{deliver}\n    {post}"))
    assert turned.verdict is Verdict.UNKNOWN
    assert "the rule does not prove it: post adds nothing to step 1 (deliver): a finite countermodel" in turned.text
    assert "in a state that the invariants allow" in turned.text
