"""A machine that follows a protocol, for engines: its states, and what it sees of steps, have numbers.

The machine's side of a run is reached again and again, by steps that differ only in what the machine does not see.
What comes of each act in each state is found out once.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from thence.dsl.ir.properties import LINK
from thence.dsl.run.actions import Action, Outcome, State
from thence.dsl.run.causality import Finding
from thence.dsl.run.execute import Emission
from thence.dsl.run.system import System
from thence.dsl.run.values import Fault, Message
from thence.proofs.links.link_run import Broken, Event, Follower, LinkRun


class Act(NamedTuple):
    """What a machine sees of a step: its events; the local state before them, where clauses read it, otherwise 0."""

    process: int
    local: int
    events: tuple[Event, ...]


@dataclass(slots=True)
class Following:
    """The companion of a system, `follow.system`, whose tables it shares."""

    follow: LinkRun
    _reads_locals: bool = field(init=False)
    _followers: list[Follower] = field(init=False)
    _numbers: dict[Follower, int] = field(init=False)
    _acts: list[Act] = field(init=False, default_factory=list)
    _act_numbers: dict[Act, int] = field(init=False, default_factory=dict)
    _after: dict[tuple[int, int], int | Broken | Fault] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._reads_locals = self.follow.reads_locals
        initial = self.follow.initial()
        self._followers, self._numbers = [initial], {initial: 0}

    @property
    def size(self) -> int:
        """How many states have a number."""
        return len(self._followers)

    @property
    def judged_by(self) -> tuple[str, ...]:
        """The fields of a state on which it depends whether protocol and machine agree; none where nothing is asked."""
        if not self.follow.link.invariants:
            return ()
        return ("locals", "follower", *["network"] * self.follow.sees_network)

    def act(self, local: int, action: Action, message: Message | None, emissions: tuple[Emission, ...]) -> int | None:
        """What the machine sees of a step from the local state `local`, in which the process sends `message`, if any;
        None if nothing."""
        events = tuple(filter(self.follow.concerns, self.follow.events(action, message, emissions)))
        if not events:
            return None
        act = Act(action.process, local if self._reads_locals else 0, events)
        number = self._act_numbers.setdefault(act, len(self._acts))
        if number == len(self._acts):
            self._acts.append(act)
        return number

    def step(self, follower: int, act: int) -> int | Broken | Fault:
        """The machine's state after an act in a state, or what keeps it from there."""
        known = self._after.get((follower, act))
        if known is None:
            known = self._after[follower, act] = self._taken(self._followers[follower], self._acts[act])
        return known

    def _taken(self, follower: Follower, act: Act) -> int | Broken | Fault:
        try:
            after = self.follow.take(follower, act.process, self.follow.system.local(act.local), act.events)
        except Fault as fault:
            return fault
        if isinstance(after, Broken):
            return after
        number = self._numbers.setdefault(after, len(self._followers))
        if number == len(self._followers):
            self._followers.append(after)
        return number

    def along(self, state: State, action: Action, outcome: Outcome) -> Outcome:
        """See `Companion`. A refused event leaves the machine as it was."""
        act = self.act(state.locals[action.process], action, outcome.subject, outcome.emissions)
        after = state.follower if act is None else self.step(state.follower, act)
        if isinstance(after, Fault):
            raise after
        if isinstance(after, Broken):
            found = Finding(LINK, action.process, outcome.subject, detail=str(after))
            outcome, after = replace(outcome, findings=(*outcome.findings, found)), state.follower
        if after == outcome.state.follower:
            return outcome
        return replace(outcome, state=outcome.state._replace(follower=after))

    def broken(self, state: State) -> tuple[Finding, ...]:
        """See `Companion`."""
        found = self.follow.disagreement(self._followers[state.follower], state)
        return () if found is None else (Finding(LINK, 0, detail=str(found)),)

    def again(self, system: System) -> Following:
        """A fresh one, for a system of the same protocol."""
        return Following(LinkRun(self.follow.link, system))


def followed(follow: LinkRun) -> System:
    """The system of the link, followed by the machine, with the same tables. Nothing else is asked of it."""
    system = copy(follow.system)
    system.companion = Following(follow)
    return system


def companion_of(system: System) -> Following | None:
    """The machine that follows the system, if any."""
    assert system.companion is None or isinstance(system.companion, Following)
    return system.companion
