"""Starvation: a fair run of a protocol in which some message is never delivered, as a stem and a cycle.

The reachable states are a finite graph where identities of messages are used again (`whence.dsl.recycling`). Of the
states in which a message waits, those are kept that lie on a cycle which does not deliver it and which is fair; under
strong fairness states are taken away that offer what the cycle never takes, until what is left is fair or nothing.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from whence.dsl import ir
from whence.dsl.narrate import NarratedStep, execution, run, text
from whence.dsl.recycling import Recycling
from whence.dsl.system import Action, State
from whence.dsl.values import Message
from whence.proofs.components import components
from whence.proofs.explore import PROGRESS_SECONDS, Coverage, Progress, path_to, saturated
from whence.proofs.levels.cells import NotLevel
from whence.proofs.levels.number import Lines, TooFar
from whence.proofs.levels.system import Again, Levelled
from whence.proofs.levels.text import is_applicable, mixes_constants
from whence.spec.diagram import draw_svg, draw_text, highlight_of
from whence.spec.oracle import Oracle

Class: TypeAlias = tuple[str, int, int]
"""What fairness is about: (`receive`, 0, packet), (`tick`, process, 0), (`send`, process, 0)."""

Edge: TypeAlias = tuple[Action, int]
"""An action, and the number of the state that it leads to."""

FIRST_LOOK = 2_000
"""So many states are expanded before a lasso is looked for among them, then four times as many, and so on."""

MOST_NEAR = 6
"""Larger distances of growing numbers are not told apart."""

MOST_CYCLES = 400_000
"""How many partial cycles are looked at for a shortest one, from each state on it."""


@dataclass(frozen=True, slots=True)
class Lasso:
    """A run that starves `message`: `stem` leads to a state, `cycle` from there back to it.

    Both are replayed by the interpreter.
    """

    message: Message
    system: Recycling
    stem: tuple[NarratedStep, ...]
    cycle: tuple[NarratedStep, ...]


@dataclass(slots=True)
class Search(Coverage):
    """What was covered, and a lasso if there is one; `refused` says why a reduction that was asked for is not made.

    `levels`: states are counted up to the sizes of growing numbers, see `whence.proofs.levels`.
    """

    lasso: Lasso | None = None
    levels: Lines | None = None
    refused: dict[str, str] = field(default_factory=dict)


def find_lasso(
    protocol: ir.Protocol,
    workload: ir.Workload,
    *,
    limit: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Search:
    """Looks for a fair run in which a message is never delivered.

    What is found among the first states is a lasso whatever the others are. No lasso, and `complete`, means that there
    is none in the workload. Stops at `limit` states, and on
    KeyboardInterrupt, with what was covered.
    """
    started = time.perf_counter()
    lines = lines_for(protocol)
    search = Search()
    while True:
        system = Recycling(protocol, workload) if lines is None else Levelled(protocol, workload, lines)
        graph = _Graph(system, fairness_of(protocol), limit, progress)
        try:
            _look(graph, search)
            if lines is not None and mixes_constants(protocol, lines):
                lines = None
                continue
            break
        except Again:
            assert lines is not None
            lines.changed = False
        except TooFar:
            assert lines is not None
            if lines.near == MOST_NEAR:
                graph.why_incomplete = f"numbers come nearer to others from more than {MOST_NEAR} away"
                break
            lines.near += 1
    search.levels = lines
    search.states, search.transitions, search.depth = len(graph.states), graph.transitions, graph.depth
    search.why_incomplete = graph.why_incomplete
    search.seconds = time.perf_counter() - started
    return search


def lines_for(protocol: ir.Protocol) -> Lines | None:
    """Where numbers are to be kept up to levels: at first, each on a line of its own."""
    try:
        return Lines() if is_applicable(protocol) else None
    except NotLevel:
        return None


def _look(graph: _Graph, search: Search) -> None:
    """Builds the graph until a lasso is found in it, or none is left to be found."""
    search.complete = False
    try:
        expanded = FIRST_LOOK
        while search.lasso is None and not search.complete:
            search.complete = graph.build(expanded)
            search.saturated = search.complete and saturated(graph.system)
            search.lasso = graph.lasso()
            if search.lasso is not None and not _tells_packets_apart(search.lasso):
                graph.why_incomplete = "a lasso is found up to the sizes of numbers, but not whether it is fair"
                search.lasso, search.complete = None, False
            if graph.why_incomplete:
                break
            expanded *= 4
        if search.lasso is not None and not search.complete:
            graph.why_incomplete = "a lasso is found"
    except KeyboardInterrupt:
        graph.why_incomplete = "interrupted"
    except MemoryError:
        graph.why_incomplete = "out of memory"


def _tells_packets_apart(lasso: Lasso) -> bool:
    """Whether no two packets on the cycle differ in numbers only: one of them could be left behind for ever then."""
    for step in lasso.cycle:
        network = step.outcome.state.network
        if len({lasso.system.same_packet(number) for number in network}) < len(set(network)):
            return False
    return True


@dataclass(frozen=True, slots=True)
class Fairness:
    """Which classes of actions are fair: whatever is offered again and again (or, if `weak`, from some moment on) is
    taken again and again.
    """

    receive: frozenset[str]
    tick: bool
    send: bool
    weak: bool

    def class_of(self, system: Recycling, action: Action) -> Class | None:
        """The class of an action; None where nothing is asked of it."""
        match action.kind:
            case "receive":
                asked = system.packet(action.packet).kind in self.receive
                return ("receive", 0, system.same_packet(action.packet)) if asked else None
            case "tick":
                return ("tick", action.process, 0) if self.tick else None
            case "send":
                return ("send", action.process, 0) if self.send else None
            case _:
                return None


def fairness_of(protocol: ir.Protocol) -> Fairness:
    """What the protocol's `eventually ... under fair ...` assumes of the network and the timers.

    Timers are always fair: a `periodically` that stops is none.
    """
    names = set(protocol.fairness)
    kinds = frozenset(kind.name for kind in protocol.packets)
    receive = kinds if "receive" in names else names & kinds
    return Fairness(frozenset(receive), True, "causal_send" in names, protocol.weakly)


@dataclass(slots=True)
class _Graph:
    system: Recycling
    fairness: Fairness
    limit: int | None
    progress: Callable[[Progress], None] | None
    states: list[State] = field(default_factory=list)
    numbers: dict[State, int] = field(default_factory=dict)
    edges: list[list[Edge]] = field(default_factory=list)
    origins: dict[int, tuple[int, Action] | None] = field(default_factory=dict)
    distance: list[int] = field(default_factory=list)
    transitions: int = 0
    depth: int = 0
    expanded: int = 0
    why_incomplete: str = ""
    started: float = field(default_factory=time.perf_counter)
    reported: float = 0.0

    def build(self, until: int) -> bool:
        """Expands reachable states, nearest first, until so many are; whether there is none left."""
        if not self.states:
            self._number(self.system.initial(), None)
        while self.expanded < len(self.states):
            if self.expanded >= until:
                return False
            if self.limit is not None and len(self.states) >= self.limit:
                self.why_incomplete = f"stopped at {self.limit:,} states"
                return False
            at, state = self.expanded, self.states[self.expanded]
            out = self.edges[at]
            for action in self.system.enabled(state):
                outcome = self.system.apply(state, action)
                if action.kind == "tick" and outcome.state == state:
                    continue
                out.append((action, self._number(outcome.state, (at, action))))
            self.transitions += len(out)
            self.expanded += 1
            self._report()
        return True

    def _report(self) -> None:
        now = time.perf_counter()
        if self.progress is not None and now - self.reported >= PROGRESS_SECONDS:
            self.reported = now
            waiting = len(self.states) - self.expanded
            self.progress(Progress(len(self.states), self.transitions, self.depth, waiting, now - self.started))

    def _number(self, state: State, origin: tuple[int, Action] | None) -> int:
        known = self.numbers.get(state)
        if known is None:
            known = self.numbers[state] = len(self.states)
            self.states.append(state)
            self.edges.append([])
            self.origins[known] = origin
            self.distance.append(0 if origin is None else self.distance[origin[0]] + 1)
            self.depth = max(self.depth, self.distance[known])
        return known

    def lasso(self) -> Lasso | None:
        """A lasso with as few steps as the search finds, over all messages that can wait."""
        best: tuple[int, Message, int, list[Edge]] | None = None
        for message, waiting in self._waiting().items():
            for component in self._fair(waiting):
                most = None if best is None else best[0] - 1
                found = self._shortest(component, most)
                if found is not None:
                    start, cycle = found
                    best = (self.distance[start] + len(cycle), message, start, cycle)
        if best is None:
            return None
        _, message, start, cycle = best
        return _replayed(self, message, path_to(self.origins, start), [action for action, _ in cycle])

    def _waiting(self) -> dict[Message, set[int]]:
        """For each message the expanded states in which some destination has not delivered it."""
        found: dict[Message, set[int]] = {}
        for number, state in enumerate(self.states[: self.expanded]):
            for entry in state.ghost.pending:
                found.setdefault(entry.message, set()).add(number)
        return found

    def classes_at(self, number: int) -> frozenset[Class]:
        """The fair classes that a state offers."""
        found = (self.fairness.class_of(self.system, action) for action, _ in self.edges[number])
        return frozenset(each for each in found if each is not None)

    def _fair(self, states: set[int]) -> list[set[int]]:
        """The strongly connected sets of states that a fair run can stay in for ever."""
        found: list[set[int]] = []
        left = [states]
        while left:
            inside = left.pop()
            for component in components(inside, lambda number: [to for _, to in self.edges[number]]):
                taken: set[Class] = set()
                looping = False
                for number in component:
                    for action, to in self.edges[number]:
                        if to in component:
                            looping = True
                            taken.add(self.fairness.class_of(self.system, action) or ("", 0, 0))
                if not looping:
                    continue
                offers = {number: self.classes_at(number) for number in component}
                if self.fairness.weak:
                    if frozenset.intersection(*offers.values()) <= taken:
                        found.append(component)
                    continue
                missed = frozenset().union(*offers.values()) - taken
                if not missed:
                    found.append(component)
                else:
                    left.append({number for number in component if not offers[number] & missed})
        return found

    def _shortest(self, component: set[int], most: int | None) -> tuple[int, list[Edge]] | None:
        """A fair cycle with the shortest way to it, of at most so many steps in all."""
        best: tuple[int, list[Edge]] | None = None
        for start in sorted(component, key=lambda number: self.distance[number]):
            if most is not None and self.distance[start] >= most:
                break
            room = None if most is None else most - self.distance[start]
            cycle = self._cycle(start, component, room)
            if cycle is not None:
                best, most = (start, cycle), self.distance[start] + len(cycle) - 1
        return best

    def _cycle(self, start: int, component: set[int], most: int | None) -> list[Edge] | None:
        """A shortest fair cycle from a state to itself inside the component."""
        offered = self.classes_at(start)
        first = (start, frozenset[Class](), offered)
        origins: dict[_Walk, tuple[_Walk, Edge] | None] = {first: None}
        frontier: deque[tuple[_Walk, int]] = deque([(first, 0)])
        while frontier:
            walk, length = frontier.popleft()
            if (most is not None and length >= most) or len(origins) > MOST_CYCLES:
                return None
            number, taken, offers = walk
            for edge in self.edges[number]:
                action, to = edge
                if to not in component:
                    continue
                own = self.fairness.class_of(self.system, action)
                now = taken if own is None else taken | {own}
                seen = offers & self.classes_at(to) if self.fairness.weak else offers | self.classes_at(to)
                following = (to, now, seen)
                if following in origins:
                    continue
                origins[following] = (walk, edge)
                if to == start and seen <= now:
                    return _walked(origins, following)
                frontier.append((following, length + 1))
        return None


_Walk: TypeAlias = tuple[int, frozenset[Class], frozenset[Class]]


def _walked(origins: Mapping[_Walk, tuple[_Walk, Edge] | None], end: _Walk) -> list[Edge]:
    edges: list[Edge] = []
    walk = end
    while (origin := origins[walk]) is not None:
        walk, edge = origin
        edges.append(edge)
    edges.reverse()
    return edges


def _replayed(graph: _Graph, message: Message, stem: Sequence[Action], cycle: Sequence[Action]) -> Lasso:
    """Runs stem and cycle from nothing in a fresh interpreter; they must show what is claimed of them."""
    again = graph.system.again()
    again.adopt_packets(graph.system)
    steps = tuple(run(again, [*stem, *cycle]))
    states = [again.initial(), *(step.outcome.state for step in steps)]
    turn = states[len(stem) :]
    assert cycle and turn[0] == turn[-1], "the interpreter does not come back to where the cycle starts"
    assert all(message in {entry.message for entry in state.ghost.pending} for state in turn), "it is delivered"
    offered = [
        frozenset(each for action in again.enabled(state) if (each := graph.fairness.class_of(again, action)))
        for state in turn[:-1]
    ]
    idle = _idle(again, turn[:-1])
    taken = {graph.fairness.class_of(again, action) for action in cycle}
    asked = frozenset.intersection(*offered) if graph.fairness.weak else frozenset().union(*offered)
    assert asked - idle <= taken, "the cycle is not fair"
    return Lasso(message, again, steps[: len(stem)], steps[len(stem) :])


def _idle(system: Recycling, states: Iterable[State]) -> frozenset[Class]:
    """Timers that change nothing in any of the states: taking them makes no difference."""
    return frozenset(
        ("tick", process, 0)
        for process in range(system.workload.processes)
        if system.interpreter.has_timer
        and all(system.apply(state, Action("tick", process)).state == state for state in states)
    )


def explain_lasso(lasso: Lasso) -> tuple[str, str]:
    """The lasso for a reader: its steps with a space-time diagram, and the diagram as SVG.

    The metadata-free oracle must see that the message is sent and not delivered.
    """
    steps = (*lasso.stem, *lasso.cycle)
    observed = execution(lasso.system, steps)
    oracle = Oracle(observed.processes)
    for event in observed.events:
        oracle.observe(event)
    waiting = next((each for each in oracle.at_quiescence() if each.message == lasso.message.name), None)
    assert waiting is not None, "the oracle does not confirm that the message is never delivered"
    turn = len(execution(lasso.system, lasso.stem).events)
    drawn = draw_text(observed, highlight_of(waiting), repeats_from=turn)
    numbered = text(steps).splitlines()
    at = next(number for number, line in enumerate(numbered) if line.lstrip().startswith(f"{len(lasso.stem) + 1}  "))
    lines = [
        *numbered[:at],
        "then for ever:",
        *numbered[at:],
        "",
        f"The last {len(lasso.cycle)} steps lead back to where they began: {lasso.message.name} is never delivered.",
        "",
        drawn,
    ]
    return "\n".join(lines), draw_svg(observed, highlight_of(waiting), repeats_from=turn)
