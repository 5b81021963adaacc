"""The checker: a set of states has the initial one, no step leaves it, and nothing in it violates what is claimed.

Let S be the states of the file, and S^ all their renamings by the claim. Checked is, by the interpreter alone:

1. the initial state is in S^;
2. from every state of S^, every step that the scope allows leads into S^;
3. no state of S^, and no step from one, violates a claimed property or is a fault.

So every run stays in S^ (by induction over its steps), and violates nothing that is claimed. That the protocol treats
processes alike is not assumed: steps are taken from all of S^, not from S only. For the same reason nothing depends on
the renamings; they are a shorter way to write S^. S^ may have states that no run reaches. A property of which no run
could show anything, since nothing is delivered, say, is not confirmed: runs are looked for until there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from thence.dsl.ir.observability import OF_DELIVERIES, OF_NETWORK_SENDS
from thence.dsl.ir.properties import FAULT
from thence.dsl.ir.terms import Acted
from thence.dsl.ir.traversal import nodes
from thence.dsl.run.actions import Action, State
from thence.dsl.run.execute import Delivered
from thence.dsl.run.system import System
from thence.proofs.closed.renamed import Names, Renamer
from thence.proofs.set_order import order_matters

MOST_STATES: Final = 10_000_000
"""Limit on the states of S^."""

EVERY: Final = 1_000
"""States after which progress is told."""

Lines: TypeAlias = Callable[[int, int], Iterable[tuple[int, State]]]
"""The states on each n-th line of the file, from line i on, with their lines; i and n are given."""


class Rejected(Exception):
    """The claim is false, or its set of states does not show it; the message says why."""


@dataclass(slots=True)
class Checked:
    """How much was checked: states of the file, states of S^, and steps from them.

    `by_order`: a handler of which some step depends on the order in which loops visit sets and maps. These loops were
    taken in ascending order, and nothing is known of what other orders lead to.
    """

    lines: int = 0
    states: int = 0
    steps: int = 0
    by_order: str | None = None

    def __add__(self, other: Checked) -> Checked:
        """Of two parts of the same set."""
        by_order = self.by_order or other.by_order
        return Checked(self.lines + other.lines, self.states + other.states, self.steps + other.steps, by_order)


@dataclass(slots=True)
class Members:
    """A set of states. Each part of a state has a number, so that a state is one number, and takes little memory."""

    _parts: dict[object, int] = field(default_factory=dict)
    _states: set[int] = field(default_factory=set)

    def __len__(self) -> int:
        return len(self._states)

    def add(self, state: State) -> None:
        parts = self._parts
        number = 0
        for part in (state.locals, state.network, *state.history, state[3:]):
            number = number << 32 | parts.setdefault(part, len(parts))
        self._states.add(number)

    def __contains__(self, state: State) -> bool:
        known = self._parts.get
        number = 0
        for part in (state.locals, state.network, *state.history, state[3:]):
            found = known(part)
            if found is None:
                return False
            number = number << 32 | found
        return number in self._states


@dataclass(slots=True)
class Checker:
    """Checks a claim of a system: `check` does it all; `members` and `part` do it in parts, for several processes."""

    system: System
    properties: Sequence[str]
    renamings: Sequence[Names]
    lines: Lines
    _renamers: list[Renamer] = field(init=False)
    _members: Members = field(init=False, default_factory=Members)
    _collected: bool = field(init=False, default=False)
    _unbroken: set[tuple[int, ...]] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        self._renamers = [Renamer(self.system, names) for names in self.renamings]

    def collect(self, note: Callable[[int], None] = lambda _: None) -> None:
        """Collects S^, once, and looks for the initial state in it. Raises: Rejected."""
        members = self._members
        if self._collected:
            return
        for at, state in self.lines(0, 1):
            for renamed in self._renamed(state):
                members.add(renamed)
            if len(members) > MOST_STATES:
                raise Rejected(f"there are more than {MOST_STATES:,} states, which is more than is checked")
            if not at % EVERY:
                note(at)
        if self.system.initial() not in members:
            raise Rejected("the initial state is not in the set")
        self._collected = True

    def part(self, number: int, of: int, note: Callable[[int], None] = lambda _: None) -> Checked:
        """Checks the states on each `of`-th line, from line `number` on, under all renamings. Raises: Rejected."""
        found = Checked()
        for at, state in self.lines(number, of):
            for renamed in self._renamed(state):
                self._expand(renamed, at, found)
                found.states += 1
            found.lines += 1
            if not found.lines % EVERY:
                note(found.lines)
        found.by_order = order_matters(self.system)
        return found

    def conclude(self) -> None:
        """Looks for runs in which what is claimed could have been violated. Raises: Rejected, where there are none."""
        if not _moves(self.system):
            raise Rejected("no run has a step, so nothing is known")
        for why in untried(self.system, self.properties).values():
            raise Rejected(why)

    def check(self) -> Checked:
        """Checks everything. Raises: Rejected."""
        self.collect()
        found = self.part(0, 1)
        self.conclude()
        return found

    def _renamed(self, state: State) -> Iterator[State]:
        """The state under all renamings, each once."""
        seen = set()
        for renamer in self._renamers:
            renamed = renamer.state(state)
            if renamed not in seen:
                seen.add(renamed)
                yield renamed

    def _expand(self, state: State, line: int, found: Checked) -> None:
        """Takes every step from the state."""
        system, members = self.system, self._members
        try:
            self._judge(state, line)
            for action in system.enabled(state):
                outcome = system.apply(state, action)
                found.steps += 1
                for finding in outcome.findings:
                    if finding.property == FAULT or finding.property in self.properties:
                        raise Rejected(
                            f"state {line}: {_said(action)} violates {finding.property}"
                            f"{f' ({finding.detail})' if finding.detail else ''}"
                        )
                if outcome.state not in members:
                    raise Rejected(f"state {line}: {_said(action)} leads to a state that is not in the set")
        except (Rejected, MemoryError):
            raise
        except Exception as fault:  # whatever a forged state makes of the interpreter
            said = f"{type(fault).__name__}: {fault}"
            raise Rejected(f"state {line}: the interpreter cannot go on from this state ({said[:200]})") from fault

    def _judge(self, state: State, line: int) -> None:
        """Evaluates the invariants in the state."""
        system = self.system
        if not system.protocol.invariants or (not system.sees_network and state.locals in self._unbroken):
            return
        for finding in system.broken(state):
            if finding.property in self.properties:
                raise Rejected(f"state {line}: {finding.property} is not true in this state")
        if not system.sees_network:
            self._unbroken.add(state.locals)


def _moves(system: System) -> bool:
    """Whether some run has a step. A timer that changes nothing is none."""
    start = system.initial()
    return any(each.kind != "tick" or system.apply(start, each).state != start for each in system.enabled(start))


def untried(system: System, properties: Sequence[str]) -> Mapping[str, str]:
    """The properties that no run of the system could violate, since nothing happens that they are about; and why.

    Runs are computed, the shortest first, until each property is tried.
    """
    about: dict[str, tuple[set[tuple[str, str | None]], str]] = {}
    for name in properties:
        if name in (*OF_DELIVERIES, *OF_NETWORK_SENDS):
            about[name] = {("delivers", None)}, f"no step delivers a message, so nothing is known about {name}"
        for formula in system.protocol.invariants:
            named = {(str(node.verb), node.kind) for node in nodes(formula) if isinstance(node, Acted)}
            if formula.name == name and named:
                about[name] = named, f"no step has an action that {name} is about"
    known = {system.initial()}
    frontier = list(known)
    while frontier and about:
        before, frontier = frontier, []
        for state in before:
            for action in system.enabled(state):
                outcome = system.apply(state, action)
                acts = set(system.acts(outcome.state, action, outcome.emissions)) if system.of_steps else set()
                if any(isinstance(each, Delivered) for each in outcome.emissions):
                    acts.add(("delivers", None))
                about = {name: wanted for name, wanted in about.items() if not wanted[0] & acts}
                if outcome.state not in known:
                    known.add(outcome.state)
                    frontier.append(outcome.state)
    return {name: why for name, (_, why) in about.items()}


def _said(action: Action) -> str:
    what = f"`{action.name}`" if action.kind in ("tick", "input") else action.kind
    to = f" to {', '.join(f'p{each}' for each in action.destinations)}" if action.destinations else ""
    return f"a step of p{action.process} ({what}{to}), under some names,"
