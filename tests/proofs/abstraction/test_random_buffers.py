"""Any number of messages, for buffer protocols that nobody wrote: what is claimed, no larger scope refutes.

A protocol keeps messages back in a queue, by flags, counters, sets and letters of other queues. Where the abstraction
says that a property holds, scopes of up to five messages each and long random runs are tried, by the interpreter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import TypeAlias

import pytest

from thence.dsl import ir
from thence.dsl.run import execute
from thence.dsl.run.system import System
from thence.proofs.abstraction.search import SAFETY, explore_abstraction
from thence.proofs.explore.exploration import ExplorationRequest
from thence.proofs.explore.interpreted import Interpretation

Specify: TypeAlias = Callable[[str], ir.Specification]

MOST_ABSTRACT = 250
MOST_STATES = 2_500
RUNS, STEPS_OF_A_RUN = 12, 60

CONDITIONS = ("w", "not w", "f", "n > 0", "n > 1", "n = 0", "S is empty", "Q is empty", "L is none", "Q is not empty")
EFFECTS = (
    "w := true", "w := false", "f := not f", "f := true", "n := n + 1", "n := n + 1", "S.clear()", "L := none",
    "if n > 0: n := n - 1", "w := not w",
)  # fmt: skip
OF_SENDER = (
    "S.add(j)", "Q.push(j)", "L := some(j)", "send ACK() to j", "send ACK() to j", "send FREE(j) to j",
    "if j in S: w := false", "S.remove(j)", "while Q is not empty:\n      send ACK() to Q.first\n      Q.pop()",
)  # fmt: skip
OF_ARRIVAL = (
    "deliver m", "deliver m", "deliver m", "deliver m", "if f: deliver m", "if not w: deliver m", "send ECHO(m) to j",
    "if n = 0: deliver m", "if R.size < 2: R.push(m)",
)  # fmt: skip
OF_ECHO = ("send MSG(m) to j", "post()", "w := false", "send ACK() to j")
WORKLOADS = (
    ((1,), ()), ((1,), (0,)), ((1, 2), (), ()), ((1, 2), (), (1,)), ((1,), (2,), ()), ((2,), (2,), ()),
)  # fmt: skip


@dataclass(slots=True)
class Draw:
    """A protocol, drawn from a seed."""

    seed: int
    random: Random = field(init=False)

    def __post_init__(self) -> None:
        self.random = Random(self.seed)

    def text(self) -> str:
        """The protocol."""
        one = self.random.choice
        lines = [
            "protocol drawn:",
            f"  network reliable, {one(('fifo', 'reordering'))}",
            "  message MSG(m: message) carries m",
            "  message ACK()",
            "  message FREE(p: process)",
            "  message ECHO(m: message)",
            "  state:",
            f"    w: bool = {one(('false', 'false', 'true'))}",
            "    f: bool",
            "    n: nat",
            "    OB: queue of message",
            "    R: queue of message",
            "    Q: queue of process",
            "    S: set of process",
            "    L: option of process",
            "  on causal_send(m):",
            *self._sending(),
            "  procedure post():",
            *([f"    if {one(CONDITIONS)}: return"] if self.random.random() < 0.7 else []),
            f"    {one(('if', 'while'))} OB is not empty:",
            "      send MSG(OB.first) to OB.first.dst",
            "      OB.pop()",
            *(f"      {step}" for step in self._some(("w := true", "f := not f", "S.add(self)", "L := some(self)"), 1)),
            "  on receive MSG(m) from j:",
            *self._block([one(OF_ARRIVAL), *self._some(OF_SENDER, 2), *self._some(OF_ARRIVAL, 1)]),
            "  on receive ACK() from j:",
            *self._block([*self._some(EFFECTS, 2), *self._some(OF_SENDER, 1), "post()"]),
            "  on receive FREE(p) from j:",
            *self._block([*self._some(EFFECTS, 1), one(("post()", "w := false"))]),
            "  on receive ECHO(m) from j:",
            *self._block([*self._some(EFFECTS, 1), one(OF_ECHO)]),
            "  property causal",
            "",
        ]  # fmt: skip
        return "\n".join(lines)

    def _sending(self) -> Iterator[str]:
        condition, kind = self.random.choice(CONDITIONS), self.random.random()
        if kind < 0.5:
            yield from self._block(["OB.push(m)", "post()", *self._some(EFFECTS, 1)])
            return
        yield f"    if {condition}:"
        first = ["OB.push(m)"] if kind < 0.75 else ["send MSG(m) to m.dst", *self._some(EFFECTS, 1)]
        second = ["send MSG(m) to m.dst", *self._some(EFFECTS, 1)] if kind < 0.75 else ["OB.push(m)"]
        if self.random.random() < 0.3:
            second.append("post()")
        yield from (f"      {step}" for step in first)
        yield "    else:"
        yield from (f"      {step}" for step in second)

    def _some(self, menu: tuple[str, ...], most: int) -> list[str]:
        return [self.random.choice(menu) for _ in range(self.random.randint(0, most))]

    def _block(self, steps: list[str]) -> Iterator[str]:
        self.random.shuffle(steps)
        return (f"    {step}" for step in steps or ["pass"])

    def destinations(self) -> tuple[tuple[int, ...], ...]:
        """Who sends to whom."""
        return self.random.choice(WORKLOADS)


@dataclass(slots=True)
class Tally:
    """How many protocols were drawn, about how many something was claimed, and how many claims that were."""

    drawn: int = 0
    claimed: int = 0
    claims: int = 0


def judge(protocol: ir.Protocol, destinations: tuple[tuple[int, ...], ...], tally: Tally, most: int) -> None:
    """Fails where a claim is refuted."""
    tally.drawn += 1
    processes = len(destinations)
    senders = tuple(int(bool(each)) for each in destinations)
    found = explore_abstraction(
        protocol, ir.Workload(processes, senders, destinations, sending=ir.AnyNumber()), SAFETY, limit=MOST_ABSTRACT
    )
    claims = frozenset(name for name in SAFETY if not found.undecided(name) and name not in found.violations)
    tally.claimed += bool(claims)
    tally.claims += len(claims)
    if not claims:
        return
    for sends in range(1, 6):
        numbers = tuple(sends * each for each in senders)
        system = System(protocol, ir.Workload(processes, numbers, destinations))
        explored = Interpretation(ExplorationRequest(system, claims, limit=most)).run()
        assert not explored.violations, (sends, *explored.violations)
    refuted = refutations(System(protocol, ir.Workload(processes, tuple(20 * each for each in senders), destinations)))
    assert not claims & refuted


def refutations(system: System) -> set[str]:
    """What random runs violate."""
    random, found = Random(0), set[str]()
    for _ in range(RUNS):
        state = system.initial()
        for _ in range(STEPS_OF_A_RUN):
            enabled = list(system.enabled(state))
            if not enabled:
                break
            outcome = system.apply(state, random.choice(enabled))
            found |= {finding.property for finding in outcome.findings}
            state = outcome.state
    return found


def drawn(specify: Specify, seed: int) -> tuple[ir.Protocol, tuple[tuple[int, ...], ...]]:
    draw = Draw(seed)
    (protocol,) = specify(draw.text()).protocols
    return protocol, draw.destinations()


@pytest.mark.long(share=2)
@pytest.mark.parametrize("start", range(0, 1_000, 20))
def test_no_claim_is_refuted(specify: Specify, monkeypatch: pytest.MonkeyPatch, start: int) -> None:
    monkeypatch.setattr(execute, "STEP_BUDGET", 200)
    tally = Tally()
    for seed in range(start, start + 20):
        judge(*drawn(specify, seed), tally, MOST_STATES)
    assert tally.claims
