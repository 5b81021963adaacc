"""The collected history against the full definition: all of every causal past, and the metadata-free oracle.

Three references: the transitive closure over the whole run, `thence.spec.oracle`, and an exploration that
never forgets a delivered message ("raw"), held against the collected one edge by edge.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thence.dsl import ir
from thence.dsl.run.actions import Action, Outcome, State
from thence.dsl.run.causality import Finding, History, delivered, network_sent, sent
from thence.dsl.run.execute import Delivered
from thence.dsl.run.narrate import events_of, narrate
from thence.dsl.run.system import System
from thence.dsl.run.values import Message
from thence.spec.oracle import Oracle

Library: TypeAlias = Callable[[str], ir.Specification]
PROCESSES = 3


@dataclass
class Whole:
    """A run that is kept whole. `log[p]` is what p sent and delivered, in order."""

    log: list[list[tuple[str, Message]]] = field(default_factory=lambda: [[] for _ in range(PROCESSES)])
    sends: list[Message] = field(default_factory=list)
    done: set[tuple[int, Message]] = field(default_factory=set)

    def send(self, message: Message) -> None:
        self.log[message.src].append(("send", message))
        self.sends.append(message)

    def deliver(self, process: int, message: Message) -> None:
        self.log[process].append(("deliver", message))
        self.done.add((process, message))

    def before(self) -> set[tuple[Message, Message]]:
        """Happens-before by the definition: Almeida, section 4.1, closed transitively."""
        pairs = {
            (early, late)
            for log in self.log
            for at, (_, early) in enumerate(log)
            for what, late in log[at + 1 :]
            if what == "send" and early != late
        }
        for middle in self.sends:
            into = [early for early, late in pairs if late == middle]
            out = [late for early, late in pairs if early == middle]
            pairs |= set(product(into, out))
        return pairs

    def overtaken(self, process: int, message: Message) -> set[Message]:
        return {
            early
            for early, late in self.before()
            if late == message and process in early.dsts and early != message and (process, early) not in self.done
        }

    def known_undelivered(self, message: Message) -> set[Message]:
        """What happens before `message`, was sent by others, and is not delivered everywhere."""
        return {
            early
            for early, late in self.before()
            if late == message
            and early.src != message.src
            and any((process, early) not in self.done for process in early.dsts)
        }


def bit(message: Message) -> int:
    return 1 << (message.src * 16 + message.number)


def missing(findings: Sequence[Finding], name: str) -> set[Message | None]:
    return {finding.missing for finding in findings if finding.property == name}


def check_delivery(findings: Sequence[Finding], whole: Whole, oracle: Oracle, process: int, message: Message) -> None:
    """The findings of the history, of the definition and of the oracle are the same."""
    seen = {finding.kind: set(finding.missing) for finding in oracle.deliver(process, message.name)}
    if process not in message.dsts:
        assert [finding.property for finding in findings] == ["no_creation"]
        assert set(seen) == {"phantom"}
        return
    if (process, message) in whole.done:
        assert [finding.property for finding in findings] == ["at_most_once"]
        assert set(seen) == {"duplicate"}
        return
    overtaken = whole.overtaken(process, message)
    assert missing(findings, "causal") == overtaken
    assert missing(findings, "fifo") == {early for early in overtaken if early.src == message.src}
    assert seen.get("causal", set()) == {early.name for early in overtaken}
    assert seen.get("fifo", set()) == {early.name for early in overtaken if early.src == message.src}
    whole.deliver(process, message)


CHOICES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2), st.integers(0, 200)), max_size=40)


@settings(derandomize=True, deadline=None, max_examples=250)
@given(CHOICES)
def test_multicast_runs_against_definition_and_oracle(choices: list[tuple[int, int, int]]) -> None:
    """Any order of sends and deliveries, duplicate and misdirected ones among them."""
    history, whole, oracle = History((0,) * PROCESSES, ()), Whole(), Oracle(PROCESSES)
    for what, process, which in choices:
        if what <= 1 or not whole.sends:
            dsts = tuple(other for other in range(PROCESSES) if (which % 7 + 1) >> other & 1)
            message = Message(process, sum(known.src == process for known in whole.sends), dsts)
            history = sent(history, process, message, bit(message))
            whole.send(message)
            oracle.send(process, message.name, dsts)
            early_ones, findings = whole.known_undelivered(message), network_sent(history, process, message, bit)
            assert missing(findings, "csps") == early_ones
            assert missing(findings, "sps") == {
                early
                for early in early_ones
                if any(destination != early.src for destination in dsts)
                and any(other != process and (other, early) not in whole.done for other in early.dsts)
            }
        else:
            message = whole.sends[which % len(whole.sends)]
            history, findings = delivered(history, process, message, bit)
            check_delivery(findings, whole, oracle, process, message)
        undelivered = {
            known: {other for other in known.dsts if (other, known) not in whole.done} for known in whole.sends
        }
        assert {entry.message: set(entry.due) for entry in history.pending} == {
            known: due for known, due in undelivered.items() if due
        }
    kept = sum(bit(entry.message) for entry in history.pending)
    assert all(not past & ~kept for past in (*history.pasts, *[entry.past for entry in history.pending]))


@pytest.mark.parametrize("name", ["cykas", "mf", "rst", "hybrid_basic"])
def test_random_runs_of_the_library_and_its_mutants(library: Library, name: str) -> None:
    specification = library(name)
    protocol = specification.protocols[0]
    mutants = [mutant.mutated for mutant in specification.mutants if isinstance(mutant.mutated, ir.Protocol)]
    everyone = tuple(tuple(q for q in range(PROCESSES) if q != p) for p in range(PROCESSES))
    workload = ir.Workload(PROCESSES, (3, 3, 3), everyone, 2 if protocol.network.duplicating else 0)
    wrong = 0
    for subject in [protocol, *mutants]:
        system = System(subject, workload)
        for seed in range(12):
            findings = random_run(system, random.Random(seed))
            wrong += findings
            assert findings == 0 or subject is not protocol
    assert wrong > 0, "no mutant did anything wrong: the runs show nothing"


def random_run(system: System, draw: random.Random) -> int:
    """A random run to its end, every delivery checked; the number of causal and FIFO findings."""
    whole, oracle = Whole(), Oracle(PROCESSES)
    state, found = system.initial(), 0
    for _ in range(120):
        choices = [action for action in system.enabled(state) if action.kind != "tick"]
        if not choices:
            break
        action = draw.choice(choices)
        outcome = system.apply(state, action)
        if any(finding.property == "fault" for finding in outcome.findings):
            break
        if outcome.subject is not None:
            whole.send(outcome.subject)
            oracle.send(action.process, outcome.subject.name, outcome.subject.dsts)
        deliveries = [emission.message for emission in outcome.emissions if isinstance(emission, Delivered)]
        for message in deliveries:
            findings = [
                finding
                for finding in outcome.findings
                if finding.message == message and finding.property not in ("csps", "sps")
            ]
            check_delivery(findings, whole, oracle, action.process, message)
            found += len(findings)
        state = outcome.state
    assert {(process, message) for message in whole.sends for process in message.dsts} - whole.done == {
        (process, entry.message) for entry in state.history.pending for process in entry.due
    }
    return found


# --- raw exploration ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Raw:
    """Nothing collected: per process and per message that was ever sent, everything in the causal past."""

    pasts: tuple[frozenset[tuple[int, int]], ...]
    messages: frozenset[tuple[Message, frozenset[tuple[int, int]]]]
    delivered: frozenset[Message]


def raw_step(raw: Raw, action: Action, outcome: Outcome) -> tuple[Raw, set[tuple[str, Message, Message]]]:
    """The raw history after a step of unicast messages, and what it finds."""
    pasts, past_of, done, findings = list(raw.pasts), dict(raw.messages), set(raw.delivered), set()
    if outcome.subject is not None:
        message = outcome.subject
        past_of[message] = pasts[message.src]
        pasts[message.src] |= {message[:2]}
    for emission in outcome.emissions:
        if not isinstance(emission, Delivered):
            continue
        message = emission.message
        if message in done:
            findings.add(("at_most_once", message, message))
            continue
        for early in past_of:
            if early[:2] in past_of[message] and early.dsts == message.dsts and early not in done:
                findings.add(("causal", message, early))
                if early.src == message.src:
                    findings.add(("fifo", message, early))
        pasts[action.process] |= past_of[message] | {message[:2]}
        done.add(message)
    return Raw(tuple(pasts), frozenset(past_of.items()), frozenset(done)), findings


def explore_raw(protocol: ir.Protocol, workload: ir.Workload) -> tuple[int, int, int]:
    """Raw states and transitions, and collected states, with every edge of the two held against one another."""
    system = System(protocol, workload)
    initial = system.initial(), Raw((frozenset(),) * workload.processes, frozenset(), frozenset())
    seen, frontier, collected, transitions = {key(*initial)}, [initial], {initial[0]}, 0
    while frontier:
        following = []
        for state, raw in frontier:
            for action in system.enabled(state):
                outcome = system.apply(state, action)
                if action.kind == "tick" and outcome.state == state:
                    continue
                transitions += 1
                after, findings = raw_step(raw, action, outcome)
                assert findings == {
                    (finding.property, finding.message, finding.missing or finding.message)
                    for finding in outcome.findings
                    if finding.property in ("causal", "fifo", "at_most_once")
                }
                collected.add(outcome.state)
                reached = key(outcome.state, after)
                if reached not in seen:
                    seen.add(reached)
                    following.append((outcome.state, after))
        frontier = following
    return len(seen), transitions, len(collected)


def key(state: State, raw: Raw) -> tuple[object, ...]:
    return state.locals, state.network, state.sends, state.ticks, state.duplicates, state.losses, raw


@pytest.mark.parametrize("name", ["cykas", "mf"])
def test_published_counts_of_one_send_each(library: Library, name: str) -> None:
    """The same verdict on every edge, from 1,063 states and 2,262 transitions raw, and 216 states collected."""
    specification = library(name)
    workload = next(scope.workload for scope in specification.scopes if scope.name == "one")
    assert explore_raw(specification.protocols[0], workload) == (1063, 2262, 216)


@pytest.mark.parametrize(
    ("name", "mutant", "sends"),
    [
        ("cykas", None, (2, 1, 0)),
        ("cykas", "no_secret_mode", (2, 1, 0)),
        ("cykas", "as_printed_for_every_process", (2, 0, 1)),
        ("mf", "posts_at_once", (2, 1, 0)),
        ("rst", None, (1, 1, 1)),
        ("rst", "no_merge", (2, 1, 0)),
        ("hybrid_basic", None, (1, 1, 0)),
        ("hybrid_basic", "never_flags", (2, 1, 0)),
    ],
)
def test_collection_is_exact(library: Library, name: str, mutant: str | None, sends: tuple[int, ...]) -> None:
    specification = library(name)
    subject: ir.Protocol | ir.Machine = specification.protocols[0]
    if mutant is not None:
        subject = next(known.mutated for known in specification.mutants if known.name == mutant)
    assert isinstance(subject, ir.Protocol)
    workload = replace(specification.scopes[0].workload, sends=sends)
    raw, _, collected = explore_raw(subject, workload)
    assert raw > collected


def test_events_are_what_the_oracle_reads(library: Library) -> None:
    specification = library("mf")
    system = System(specification.protocols[0], specification.scopes[0].workload)
    state = system.initial()
    events = []
    while action := next(iter(system.enabled(state)), None):
        outcome = system.apply(state, action)
        events += list(events_of(system, narrate(system, state, action, outcome)))
        state = outcome.state
    oracle = Oracle(PROCESSES)
    assert [finding for event in events for finding in oracle.observe(event)] == []
    assert oracle.at_quiescence() == ()
    assert len(events) == 9
