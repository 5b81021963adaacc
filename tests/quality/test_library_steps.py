"""What library machines state of their steps, and that the history they keep is happens-before."""

from __future__ import annotations

import pytest

from whence.dsl import ir
from whence.dsl.load import load
from whence.proofs.discharge import Options
from whence.proofs.prove import prove_specification
from whence.spec.verdict import Level, Result, Verdict


def specification(name: str) -> ir.Specification:
    found = load(name).specification
    assert found is not None
    return found


def proved(name: str, *names: str) -> dict[tuple[str, str], Result]:
    results = prove_specification(specification(name), names, Options())
    return {(result.subject, result.name): result for result in results}


def test_the_history_is_happens_before() -> None:
    """Neither less nor more than the closure of the two base rules, for messages to one process and to several."""
    results = proved("happens_before")
    for machine in ("one_receiver", "several_receivers"):
        for statement in ("history", "not_less", "known_by", "not_more"):
            found = results[machine, statement]
            assert (found.verdict, found.level) == (Verdict.PROVED, Level.L3), (machine, statement)
        assert results[machine, "rules_are_enough"].facts["depth"] == 4
    assert results["one_receiver", "related"].verdict is Verdict.REFUTED
    assert all(result.expected for result in results.values())


@pytest.mark.parametrize("machine", ["one_receiver", "several_receivers"])
def test_the_machines_of_the_history_ask_for_nothing_else(machine: str) -> None:
    """Any history of sends, and of deliveries of what was sent, is one of theirs; `closed` is never changed."""
    found = next(known for known in specification("happens_before").machines if known.name == machine)
    guards = {transition.name: [guard.name for guard in transition.requires] for transition in found.transitions}
    due = ["sent(m)"] if machine == "one_receiver" else ["sent(m) and to(m, p)"]
    assert guards == {"causal_send": [], "deliver": due}
    assert not any(update.symbol == "closed" for each in found.transitions for update in each.updates)


@pytest.mark.parametrize(
    ("name", "machine", "starving", "deadlocking"),
    [
        ("mf", "buffers", None, "never_acknowledged"),
        ("hybrid_basic", "permits", "waits_for_every_permit", "no_permits"),
    ],
)
def test_neither_starvation_nor_deadlock(name: str, machine: str, starving: str | None, deadlocking: str) -> None:
    """Proved of the machine, and refuted by a run of a mutant."""
    step, quiet = "without starvation network_send", "without deadlock"
    results = proved(name, step, quiet, deadlocking, *([starving] if starving else []))
    assert results[machine, step].verdict is Verdict.PROVED
    assert results[machine, quiet].verdict is Verdict.PROVED
    assert results[machine, f"{deadlocking}: {quiet}"].verdict is Verdict.REFUTED
    if starving:
        assert results[machine, f"{starving}: {step}"].verdict is Verdict.REFUTED
        assert results[machine, f"{starving}: causal"].verdict is Verdict.PROVED
