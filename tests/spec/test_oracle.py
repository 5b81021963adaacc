"""The oracle against the definition of Almeida, section 4.1, spelled out naively."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thence.spec.events import Deliver, Execution, Receive, Send
from thence.spec.oracle import CHAINS, Finding, Oracle

CHOICES = st.lists(st.tuples(st.integers(0, 10), st.integers(0, 4), st.integers(0, 40)), max_size=45)
Build = Callable[[int, Sequence[tuple[int, int, int]]], Execution]


def naive_relation(execution: Execution) -> set[tuple[str, str]]:
    """Rules 1 and 2 literally, then the transitive closure."""
    direct: set[tuple[str, str]] = set()
    for position, event in enumerate(execution.events):
        if isinstance(event, Send):
            for earlier in execution.events[:position]:
                if earlier.process == event.process and not isinstance(earlier, Receive):
                    direct.add((earlier.message, event.message))
    names = [event.message for event in execution.events if isinstance(event, Send)]
    closure = set(direct)
    for middle in names:
        for first in names:
            for last in names:
                if (first, middle) in closure and (middle, last) in closure:
                    closure.add((first, last))
    return closure


def naive_findings(execution: Execution) -> list[tuple[str, int, str, tuple[str, ...], int]]:
    relation = naive_relation(execution)
    sends: dict[str, Send] = {}
    delivered: set[tuple[int, str]] = set()
    found: list[tuple[str, int, str, tuple[str, ...], int]] = []
    for index, event in enumerate(execution.events):
        if isinstance(event, Send):
            sends[event.message] = event
        elif isinstance(event, Deliver):
            here, name = event.process, event.message
            if (here, name) in delivered:
                found.append(("duplicate", here, name, (), index))
                continue
            missing = [
                x
                for x, send in sends.items()
                if here in send.destinations and (x, name) in relation and (here, x) not in delivered
            ]
            same = [x for x in missing if sends[x].process == sends[name].process]
            found += [("causal", here, name, tuple(missing), index)] * bool(missing)
            found += [("fifo", here, name, tuple(same), index)] * bool(same)
            delivered.add((here, name))
    for name, send in sends.items():
        index = execution.events.index(send)
        found += [
            ("stuck", here, name, (), index) for here in sorted(send.destinations) if (here, name) not in delivered
        ]
    return found


def found_by_oracle(execution: Execution) -> list[Finding]:
    oracle = Oracle(execution.processes)
    findings = [finding for event in execution.events for finding in oracle.observe(event)]
    return findings + list(oracle.at_quiescence())


@settings(derandomize=True, deadline=None, max_examples=300)
@given(processes=st.integers(2, 5), choices=CHOICES)
def test_agrees_with_the_definition(execution_of: Build, processes: int, choices: list[tuple[int, int, int]]) -> None:
    execution = execution_of(processes, choices)
    findings = found_by_oracle(execution)
    assert [(f.kind, f.process, f.message, f.missing, f.event_index) for f in findings] == naive_findings(execution)


@settings(derandomize=True, deadline=None, max_examples=200)
@given(processes=st.integers(2, 5), choices=CHOICES)
def test_chains_are_made_of_direct_steps(
    execution_of: Build, processes: int, choices: list[tuple[int, int, int]]
) -> None:
    execution = execution_of(processes, choices)
    events = execution.events
    violations = [f for f in found_by_oracle(execution) if f.missing]
    for finding in violations[:CHAINS]:
        assert (finding.chain[0], finding.chain[-1]) == (finding.missing[0], finding.message)
        for earlier, later in zip(finding.chain, finding.chain[1:], strict=False):
            send = next(i for i, e in enumerate(events) if isinstance(e, Send) and e.message == later)
            assert any(
                e.message == earlier and e.process == events[send].process and not isinstance(e, Receive)
                for e in events[:send]
            )
    assert all(not finding.chain for finding in violations[CHAINS:])


def test_random_executions_show_every_kind(execution_of: Build) -> None:
    """Reachability: the comparison with the definition is not about executions in which nothing goes wrong."""
    random = Random(1)
    kinds: Counter[str] = Counter()
    for _ in range(50):
        choices = [(random.randint(0, 10), random.randint(0, 4), random.randint(0, 40)) for _ in range(45)]
        kinds.update(finding.kind for finding in found_by_oracle(execution_of(3, choices)))
    assert all(kinds[kind] >= 20 for kind in ("causal", "fifo", "duplicate", "stuck")), kinds


def triangle() -> Oracle:
    """p0 sends a to p2, then b to p1; p1 delivers b and sends c to p2, which delivers c first."""
    oracle = Oracle(3)
    oracle.send(0, "a", (2,))
    oracle.send(0, "b", (1,))
    assert oracle.deliver(1, "b") == ()
    oracle.send(1, "c", (2,))
    return oracle


def test_triangle() -> None:
    oracle = triangle()
    assert oracle.deliver(2, "c") == (Finding("causal", 2, "c", ("a",), 4, ("a", "b", "c")),)
    assert oracle.at_quiescence() == (Finding("stuck", 2, "a", (), 0),)
    assert oracle.deliver(2, "a") == ()
    assert oracle.at_quiescence() == ()
    assert oracle.events == 6


def test_same_sender_is_fifo_too() -> None:
    oracle = Oracle(2)
    oracle.send(0, "a", (1,))
    oracle.send(0, "b", (1,))
    assert [(f.kind, f.chain) for f in oracle.deliver(1, "b")] == [("causal", ("a", "b")), ("fifo", ("a", "b"))]


def test_duplicates_and_phantoms_change_nothing() -> None:
    oracle = triangle()
    assert [f.kind for f in oracle.deliver(1, "b")] == ["duplicate"]
    assert [f.kind for f in oracle.deliver(1, "a")] == ["phantom"]
    assert [f.kind for f in oracle.deliver(1, "never sent")] == ["phantom"]
    oracle.send(1, "d", (0,))
    assert oracle.deliver(2, "a") == ()
    assert oracle.deliver(2, "c") == ()


def test_a_message_to_its_own_sender() -> None:
    oracle = Oracle(2)
    oracle.send(0, "self", (0,))
    oracle.send(0, "b", (0,))
    assert [f.missing for f in oracle.deliver(0, "b")] == [("self",), ("self",)]


def test_what_the_caller_gets_wrong_changes_nothing() -> None:
    oracle = triangle()
    with pytest.raises(ValueError, match="sent a second time"):
        oracle.send(1, "a", (0,))
    with pytest.raises(ValueError, match="no process 3"):
        oracle.send(1, "d", (0, 3))
    with pytest.raises(ValueError, match="no process -1"):
        oracle.deliver(-1, "a")
    with pytest.raises(ValueError, match="at least one process"):
        Oracle(0)
    assert oracle.events == 4
    oracle.send(1, "d", (0,))
    assert oracle.deliver(0, "d") == ()


@pytest.mark.parametrize(
    ("finding", "text"),
    [
        (Finding("causal", 2, "c", ("a",), 4, ("a", "b", "c")), "causal: p2 delivers c before a (a -> b -> c)"),
        (Finding("fifo", 1, "b", ("a",), 4), "fifo: p1 delivers b before a"),
        (Finding("duplicate", 1, "b", (), 4), "duplicate: p1 delivers b again"),
        (Finding("phantom", 1, "b", (), 4), "phantom: p1 delivers b, which nobody sent to it"),
        (Finding("stuck", 1, "b", (), 4), "stuck: p1 never delivers b"),
    ],
)
def test_findings_read_as_sentences(finding: Finding, text: str) -> None:
    assert str(finding) == text


def test_deliverable_is_sent_here_not_delivered_and_nothing_missing() -> None:
    oracle = Oracle(3)
    oracle.send(0, "a", (1,))
    oracle.send(0, "b", (1, 2))
    assert oracle.deliverable(1, "a")
    assert not oracle.deliverable(1, "b")
    assert oracle.deliverable(2, "b")
    assert not oracle.deliverable(2, "a")
    assert not oracle.deliverable(1, "nobody's")
    assert oracle.deliver(1, "a") == ()
    assert not oracle.deliverable(1, "a")
    assert oracle.deliverable(1, "b")
