"""What library machines state of their steps, and that the history they keep is happens-before."""

from __future__ import annotations

import pytest

from thence.dsl import ir
from thence.dsl.load import load
from thence.proofs.prove import prove_specification
from thence.proofs.solving.discharge import Options
from thence.spec.verdict import Level, Result, Verdict


def specification(name: str) -> ir.Specification:
    found = load(name).specification
    assert found is not None
    return found


def proved(name: str, *names: str) -> dict[tuple[str, str], Result]:
    results = prove_specification(specification(name), names, Options())
    return {(result.subject, result.name): result for result in results}


@pytest.mark.long
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
    """Any history of sends, and of deliveries of what was sent, is one of theirs; `closed` is never changed.

    The guards of `causal_send` ask of `closed` only that it holds, which the relation that always holds does.
    """
    found = next(known for known in specification("happens_before").machines if known.name == machine)
    guards = {transition.name: [guard.name for guard in transition.requires] for transition in found.transitions}
    due = ["sent(m)"] if machine == "one_receiver" else ["sent(m) and to(m, p)"]
    assert guards["deliver"] == due and set(guards) == {"causal_send", "deliver"}
    assert len(guards["causal_send"]) == 2
    assert all(guard.endswith(" implies closed(x, m)") for guard in guards["causal_send"])
    assert not any(update.symbol == "closed" for each in found.transitions for update in each.updates)


@pytest.mark.long(but=("hybrid_basic-permits",))
@pytest.mark.parametrize(
    ("name", "machine"),
    [
        ("mf", "buffers"),
        ("hybrid_basic", "permits"),
        ("hybrid_optimal", "permission"),
        ("hybrid_multicast", "multicast_permits"),
    ],
)
def test_neither_starvation_nor_deadlock(name: str, machine: str) -> None:
    results = proved(name, "without starvation network_send", "without deadlock")
    assert len(results) == 2
    for result in results.values():
        assert (result.subject, result.verdict) == (machine, Verdict.PROVED), result.name


def test_mutants_starve_and_get_stuck() -> None:
    """Each by a run; one that starves is causal all the same, as Cykas is."""
    starving, stuck = "waits_for_every_permit", "no_permits"
    results = proved("hybrid_basic", starving, stuck)
    assert results["permits", f"{starving}: without starvation network_send"].verdict is Verdict.REFUTED
    assert results["permits", f"{starving}: causal"].verdict is Verdict.PROVED
    assert results["permits", f"{stuck}: without deadlock"].verdict is Verdict.REFUTED


@pytest.mark.long(but=("fifo-sequence_numbers",))
@pytest.mark.parametrize(
    ("name", "machine"),
    [
        ("mf", "buffers"),
        ("rst", "matrices_between_others"),
        ("hybrid_basic", "permits"),
        ("hybrid_optimal", "permission"),
        ("fifo", "sequence_numbers"),
        ("cbcast", "vector_clocks"),
    ],
)
def test_every_message_is_delivered(name: str, machine: str) -> None:
    """However many processes and messages, and though the application sends for ever."""
    (result,) = proved(name, "delivery").values()
    assert (result.subject, result.verdict, result.level) == (machine, Verdict.PROVED, Level.L3)


@pytest.mark.long
def test_mutants_do_not_deliver_every_message() -> None:
    """Where waiting may grow for ever no run that ends shows it, and it is not proved."""
    starving, stuck = "waits_for_every_permit", "no_permits"
    results = proved("hybrid_basic", starving, stuck)
    assert results["permits", f"{starving}: delivery"].verdict is Verdict.UNKNOWN
    assert results["permits", f"{stuck}: delivery"].verdict is Verdict.REFUTED
