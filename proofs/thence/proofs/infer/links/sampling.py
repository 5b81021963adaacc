"""States of random runs of a protocol with its machine running along; a run that the link does not allow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from random import Random

from thence.dsl import ir
from thence.dsl.ir.properties import FAULT
from thence.dsl.run.actions import State
from thence.dsl.run.evaluate import Frame
from thence.dsl.run.identity_reuse import system_of
from thence.dsl.run.narrate import narrate
from thence.dsl.run.values import Fault
from thence.proofs.infer.links.rows import SEEN
from thence.proofs.links.link_run import Follower, LinkRun
from thence.proofs.links.witness import followers

STATES = 250
"""Different states that are wanted of a scope."""

RUNS = 120
"""Runs of a scope at most."""

STEPS = 60
"""Steps of a run at most."""

LARGE_SHARE = 0.25
"""This share of the states of a run with more messages is taken: so there are more runs, and later states."""


@dataclass(frozen=True, slots=True)
class Forbidden:
    """A run to an event that the machine refuses, or to a state in which an invariant of the link is false."""

    text: str


@dataclass(slots=True)
class LinkSamples:
    """States of both, by scope."""

    link: ir.Link
    forbidden: Forbidden | None = None
    _states: list[tuple[LinkRun, list[tuple[Follower, State]]]] = field(default_factory=list)

    @property
    def size(self) -> int:
        return sum(len(states) for _, states in self._states)

    def collect(self, seed: int, check: Callable[[], None]) -> None:
        """Draws runs in each scope, until one is forbidden. `check` is called for each run, and may raise."""
        draw, stated = Random(seed), list(followers(self.link))
        for share, scopes in ((1.0, stated), (LARGE_SHARE, [*_larger(self.link, stated)])):
            for follow in scopes:
                self._states.append((follow, []))
                self._states[-1] = follow, self._drawn(follow, draw, check, share)
                if self.forbidden is not None:
                    return

    def _drawn(
        self, follow: LinkRun, draw: Random, check: Callable[[], None], share: float
    ) -> list[tuple[Follower, State]]:
        """Different states of runs in a scope, of each run about this share."""
        states: dict[tuple[object, ...], tuple[Follower, State]] = {}
        for _ in range(RUNS):
            check()
            if len(states) >= STATES or self.forbidden is not None:
                break
            for machine, state in self._run(follow, draw):
                if share == 1.0 or draw.random() < share:
                    states.setdefault((state.locals, state.network, machine.machine), (machine, state))
        return list(states.values())[:STATES]

    def _run(self, follow: LinkRun, draw: Random) -> Iterator[tuple[Follower, State]]:
        system, said = follow.system, list[str]()
        state, machine = system.initial(), follow.initial()
        after = follow.disagreement(machine, state)
        if after is not None:
            self.forbidden = Forbidden(f"  at first: {after}")
            return
        for number in range(1, STEPS + 1):
            yield machine, state
            enabled = list(system.enabled(state))
            if not enabled:
                return
            action = draw.choice(enabled)
            outcome = system.apply(state, action)
            if any(each.property == FAULT for each in outcome.findings):
                return
            said.append(f"  {number}  {narrate(system, state, action, outcome).title}")
            followed = follow.follow(machine, state, action, outcome)
            if not isinstance(followed, Follower):
                self.forbidden = Forbidden("\n".join((*said, f"       {followed}")))
                return
            state, machine = outcome.state, followed

    def true_of_all(self, formulas: Iterable[ir.NamedFormula], check: Callable[[], None]) -> frozenset[str]:
        """The names of the formulas that have a value and are true in all states."""
        left = {each.name: each for each in formulas}
        for follow, states in self._states:
            frames = [follow.frame(machine, state, sees_network=True) for machine, state in states]
            for formula, holds in follow.compiled(left.values()):
                check()
                if not all(_is_true(holds, frame) for frame in frames):
                    del left[formula.name]
        return frozenset(left)

    def seen(self, formula: ir.Expr, check: Callable[[], None]) -> frozenset[tuple[int, ...]] | None:
        """The rows of facts and numbers that a formula gives to `SEEN` in all states; None where one has no value."""
        rows: set[tuple[int, ...]] = set()

        def record(*facts: int) -> bool:
            rows.add(tuple([int(each) for each in facts]))
            return True

        for follow, states in self._states:
            ((_, evaluate),) = follow.compiled((ir.NamedFormula(SEEN, formula),))
            for machine, state in states:
                check()
                frame = follow.frame(machine, state, sees_network=True)
                frame.symbols = {**frame.symbols, SEEN: record}
                try:
                    evaluate(frame)
                except Fault:
                    return None
        return frozenset(rows)


def _larger(link: ir.Link, scopes: Iterable[LinkRun]) -> Iterator[LinkRun]:
    """The link in each of these scopes with twice as many messages and inputs, and timers that fire at any moment."""
    known: set[ir.Workload] = set()
    for follow in scopes:
        workload = follow.system.workload
        inputs = tuple(replace(each, limits=tuple(2 * limit for limit in each.limits)) for each in workload.inputs)
        sends, ticks = tuple(2 * each for each in workload.sends), 2 * (workload.ticks or 1)
        larger = replace(workload, sends=sends, inputs=inputs, ticks=ticks)
        if larger not in known:
            known.add(larger)
            run = LinkRun(link, system_of(follow.system.protocol, larger))
            if not run.broken_axioms():
                yield run


def _is_true(holds: Callable[[Frame], object], frame: Frame) -> bool:
    try:
        return bool(holds(frame))
    except Fault:
        return False
