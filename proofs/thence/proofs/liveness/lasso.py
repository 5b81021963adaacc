"""Starvation: a fair run of a protocol in which some message is never delivered, as a stem and a cycle.

The reachable states form a finite graph, since identities of messages are reused (`run.identity_reuse`). For each
message the search looks for a fair cycle among the states in which the message waits. Under strong fairness it removes
states that offer an action which the cycle never takes, until the rest is fair or empty. Where numbers grow,
`order_rounds` decides whether each packet arrives.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from thence.dsl import ir
from thence.dsl.run.actions import Action, State
from thence.dsl.run.choices import TooManyOutcomes
from thence.dsl.run.execute import Delivered
from thence.dsl.run.identity_reuse import ReusedIdentities
from thence.dsl.run.narrate import NarratedStep, execution, run, text
from thence.dsl.run.promises import Instance
from thence.dsl.run.scoped import in_scope
from thence.dsl.run.system import System
from thence.dsl.run.values import Message
from thence.proofs.explore.exploration import PROGRESS_SECONDS, Coverage, Progress, path_to, saturated
from thence.proofs.fairness.fair_cycles import Class, Edge, FairGraph
from thence.proofs.fairness.fairness import Fairness, fairness_of, is_fair_turn, need_not_happen, timers_of
from thence.proofs.fairness.tails import FAULTY, NEVER_QUIET, Owed
from thence.proofs.liveness.order_cells import MoreThanOrder
from thence.proofs.liveness.order_lines import Lines, TooFar
from thence.proofs.liveness.order_rounds import Rounds, is_fair_to_packets
from thence.proofs.liveness.order_system import Again, OrderAbstractSystem
from thence.proofs.liveness.order_text import is_applicable, mixes_constants
from thence.spec.diagram import Highlight, draw_svg, draw_text, highlight_of
from thence.spec.events import Execution
from thence.spec.oracle import Oracle

FIRST_LOOK = 2_000
"""Number of states expanded before the first search for a lasso; each further search has four times as many."""

MOST_NEAR = 6
"""Larger distances of growing numbers are not told apart."""


@dataclass(frozen=True, slots=True)
class Lasso:
    """A run in which what is `owed`, a message or a promise, never comes.

    `stem` leads to a state, `cycle` leads from there back to it. If the cycle is empty, nothing has to
    happen after the stem. The interpreter replays both.
    """

    owed: Owed
    system: System
    stem: tuple[NarratedStep, ...]
    cycle: tuple[NarratedStep, ...]

    @property
    def said(self) -> str:
        """What never comes, in words."""
        return f"{self.owed} never comes" if isinstance(self.owed, Instance) else f"{self.owed.name} is never delivered"


@dataclass(slots=True)
class LassoSearch(Coverage):
    """The states that were covered, and a lasso if there is one.

    Attributes:
        lines: the order abstraction of growing numbers; None: numbers are kept as they are.
        piles: equal packets count once or more.
        refused: for each reduction that was asked for and is not made, the reason.
        delivers: some step that was met delivers a message.
    """

    lasso: Lasso | None = None
    lines: Lines | None = None
    piles: bool = False
    refused: dict[str, str] = field(default_factory=dict)
    delivers: bool = False


def find_lasso(
    protocol: ir.Protocol,
    workload: ir.Workload,
    *,
    limit: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> LassoSearch:
    """Looks for a fair run in which a message is never delivered.

    A lasso among the first states is a lasso whatever the other states are. A `complete` search without a lasso means
    that the workload has none. Where timers fire at any moment, repeated packets pile up: the search then covers some
    real states first, and after that all states, with equal packets counted once or more. The search stops at `limit`
    states, and on KeyboardInterrupt, and returns the states covered so far. The `ticks` of the workload limit nothing
    here: a timer that stops is none.
    """
    started = time.perf_counter()
    workload = replace(workload, ticks=None, timers=())
    protocol = in_scope(protocol, workload)
    piling = ReusedIdentities(protocol, workload).ticks_at_any_moment
    search = LassoSearch(lines=lines_for(protocol, piling))
    piling = piling and search.lines is not None
    fairness = fairness_of(ReusedIdentities(protocol, workload))
    first = FIRST_LOOK if limit is None else min(limit, FIRST_LOOK)
    graph = _explored(search, protocol, workload, fairness, first if piling else limit, progress)
    if piling and search.lasso is None and not search.complete and graph.why_incomplete not in _ENDED:
        search.piles = True
        graph = _explored(search, protocol, workload, fairness, limit, progress)
    search.states, search.transitions, search.depth = len(graph.states), graph.transitions, graph.depth
    search.why_incomplete = graph.why_incomplete
    search.delivers = graph.delivers()
    search.seconds = time.perf_counter() - started
    return search


_INTERRUPTED, _NO_MEMORY = "interrupted", "out of memory"
_ENDED = frozenset({_INTERRUPTED, _NO_MEMORY})


def _explored(
    search: LassoSearch,
    protocol: ir.Protocol,
    workload: ir.Workload,
    fairness: Fairness,
    limit: int | None,
    progress: Callable[[Progress], None] | None,
) -> _Graph:
    """The part of the graph that the search needs; the result is stored in the search."""
    while True:
        lines = search.lines
        system = (
            ReusedIdentities(protocol, workload)
            if lines is None
            else OrderAbstractSystem(protocol, workload, lines, search.piles)
        )
        graph = _Graph(system, fairness, limit, progress)
        try:
            _look(graph, search)
            if lines is None or not mixes_constants(protocol, lines):
                return graph
            search.lines, search.lasso, search.piles = None, None, False
        except Again:
            assert lines is not None
            lines.changed = False
        except TooFar:
            assert lines is not None
            if lines.near == MOST_NEAR:
                graph.why_incomplete = f"numbers come nearer to others from more than {MOST_NEAR} away"
                return graph
            lines.farther()


def lines_for(protocol: ir.Protocol, piling: bool = False) -> Lines | None:
    """The lines of an order abstraction, at first one for each cell; None where it does not apply.

    `piling`: also for a protocol without numbers, since its packets count once or more.
    """
    try:
        return Lines() if is_applicable(protocol) or piling else None
    except MoreThanOrder:
        return None


def _look(graph: _Graph, search: LassoSearch) -> None:
    """Builds the graph until it has a lasso, or cannot have one."""
    search.complete = False
    try:
        expanded = FIRST_LOOK
        while search.lasso is None and not search.complete and not graph.why_incomplete:
            search.complete = graph.build(expanded)
            search.saturated = search.complete and saturated(graph.system)
            search.lasso = graph.lasso()
            if search.lasso is None and graph.undecided:
                search.complete, graph.why_incomplete = False, graph.undecided
            expanded *= 4
        if search.lasso is not None and not search.complete:
            graph.why_incomplete = "a lasso is found"
    except KeyboardInterrupt:
        search.complete, graph.why_incomplete = False, _INTERRUPTED
    except MemoryError:
        search.complete, graph.why_incomplete = False, _NO_MEMORY
    except TooManyOutcomes as why:
        search.complete, graph.why_incomplete = False, str(why)


@dataclass(slots=True)
class _Graph:
    system: ReusedIdentities
    fairness: Fairness
    limit: int | None
    progress: Callable[[Progress], None] | None
    states: list[State] = field(default_factory=list)
    numbers: dict[State, int] = field(default_factory=dict)
    edges: list[list[Edge]] = field(default_factory=list)
    offers: list[frozenset[Class]] = field(default_factory=list)
    faulty: bool = False
    origins: dict[int, tuple[int, Action] | None] = field(default_factory=dict)
    distance: list[int] = field(default_factory=list)
    undecided: str = ""
    transitions: int = 0
    depth: int = 0
    expanded: int = 0
    why_incomplete: str = ""
    started: float = field(default_factory=time.perf_counter)
    reported: float = 0.0

    def build(self, until: int) -> bool:
        """Expands reachable states, nearest first, until `until` are expanded. Returns whether none is left."""
        if not self.states:
            self._number(self.system.initial(), None)
        while self.expanded < len(self.states):
            if self.expanded >= until:
                return False
            if self.limit is not None and len(self.states) >= self.limit:
                self.why_incomplete = f"stopped at {self.limit:,} states"
                return False
            at, state = self.expanded, self.states[self.expanded]
            out, offered = self.edges[at], set[Class]()
            for action, after in self._moves(state):
                own = self.fairness.class_of(self.system, action)
                classes = frozenset[Class]() if own is None else frozenset({own})
                offered |= classes
                self.transitions += action.kind != "tick" or after != state
                if self.system.is_faulty(state, action):
                    self.faulty = True
                else:
                    out.append((action, self._number(after, (at, action)), classes))
            self.offers[at] = frozenset(offered)
            self.expanded += 1
            self._report()
        return True

    def _moves(self, state: State) -> Iterator[tuple[Action, State]]:
        """The possible actions, each with the state after it. A timer that changes nothing has fired, too."""
        if isinstance(self.system, OrderAbstractSystem):
            for action, after, _ in self.system.moves(state):
                yield action, after
            return
        for action in self.system.enabled(state):
            yield action, self.system.apply(state, action).state

    def delivers(self) -> bool:
        """Whether some step that was met delivers a message.

        Where sends are prompt, steps are computed that no run has, of messages that would not leave promptly.
        """
        if not self.system.workload.prompt or not self.system.steps.delivers():
            return self.system.steps.delivers()
        return any(
            isinstance(emission, Delivered)
            for state, out in zip(self.states, self.edges, strict=True)
            for action, _, _ in out
            for emission in self.system.apply(state, action).emissions
        )

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
            self.offers.append(frozenset())
            self.origins[known] = origin
            self.distance.append(0 if origin is None else self.distance[origin[0]] + 1)
            self.depth = max(self.depth, self.distance[known])
        return known

    def lasso(self) -> Lasso | None:
        """A shortest lasso that the search finds, over all messages that can wait.

        Sets `undecided` if there may be one, though none can be shown.
        """
        self.undecided = ""
        timers = timers_of(self.system)
        best = self._best(timers)
        if best is None and timers and not self.undecided and self._best(frozenset()) is not None:
            self.undecided = NEVER_QUIET.format("a message")
        if best is None:
            self.undecided = self.undecided or (FAULTY if self.faulty else "")
            return None
        _, message, start, cycle = best
        lasso = replayed_lasso(self.system, self.fairness, message, path_to(self.origins, start), cycle)
        if lasso is None:
            self.undecided = "a lasso is found up to how many equal packets there are, but no run that is one"
        return lasso

    def _best(self, timers: frozenset[Class]) -> tuple[int, Message, int, list[Action]] | None:
        """The shortest lasso in which these timers fire: its length, the message, where its cycle starts, the cycle.

        Without timers: a lasso that leads through no state in which one could fire.
        """
        best: tuple[int, Message, int, list[Action]] | None = None
        plain = FairGraph(
            self.edges.__getitem__, self.offers.__getitem__, self.distance.__getitem__, self.fairness.weak, timers
        )
        for message, waiting in self._waiting().items():
            if not timers:
                waiting = {number for number in waiting if self.offers[number].isdisjoint(timers_of(self.system))}
            resting = [number for number in waiting if not self.offers[number]]
            if resting and not timers:
                at = min(resting, key=self.distance.__getitem__)
                if best is None or self.distance[at] < best[0]:
                    best = (self.distance[at], message, at, [])
            for component in plain.fair(waiting):
                most = None if best is None else best[0] - 1
                for graph, inner, state_of in self._precisely(plain, component):
                    found = graph.shortest(inner, most)
                    if found is not None:
                        start, cycle = found
                        most = graph.distance(start) + len(cycle) - 1
                        best = (most + 1, message, state_of(start), cycle)
        if best is not None:
            self.undecided = ""
        return best

    def _precisely(
        self, plain: FairGraph, component: set[int]
    ) -> Iterator[tuple[FairGraph, set[int], Callable[[int], int]]]:
        """The component; under order abstraction its parts in which every packet arrives."""
        if not isinstance(self.system, OrderAbstractSystem):
            yield plain, component, lambda number: number
            return
        rounds = Rounds(self.system, self.states, self.numbers, self.fairness.receive, plain)
        graph = rounds.graph(component, lambda action: self.fairness.class_of(self.system, action))
        if rounds.too_many:
            self.undecided = "a lasso is found up to the sizes of numbers, but not whether it is fair"
            return
        for inner in graph.fair(set(range(len(rounds.nodes)))):
            yield graph, inner, lambda node: rounds.nodes[node][0]

    def _waiting(self) -> dict[Message, set[int]]:
        """For each message the expanded states in which some destination has not delivered it."""
        found: dict[Message, set[int]] = {}
        for number, state in enumerate(self.states[: self.expanded]):
            for entry in state.history.pending:
                found.setdefault(entry.message, set()).add(number)
        return found


def replayed_lasso(
    system: ReusedIdentities, fairness: Fairness, message: Message, stem: Sequence[Action], cycle: Sequence[Action]
) -> Lasso | None:
    """Replays stem and cycle in a fresh interpreter, and asserts that they are a lasso.

    None if the system counts equal packets once or more, and no run with exact counts is such a lasso.
    """
    piles = isinstance(system, OrderAbstractSystem) and system.piles
    again = system.again()
    again.adopt_packets(system)
    if piles and not _is_run(again, [*stem, *cycle]):
        return None
    steps = tuple(run(again, [*stem, *cycle]))
    states = [again.initial(), *(step.outcome.state for step in steps)]
    turn = states[len(stem) :]
    before = turn[:-1] if cycle else turn
    if isinstance(again, OrderAbstractSystem) and cycle and turn[0] == turn[-1]:
        fair = is_fair_turn(again, replace(fairness, receive=frozenset()), before, cycle)
        fair = fair and is_fair_to_packets(again, fairness.receive, turn[0], cycle)
    else:
        fair = is_fair_turn(again, fairness, before, cycle)
    if piles and not (fair and turn[0] == turn[-1]):
        return None
    assert turn[0] == turn[-1], "the interpreter does not come back to where the cycle starts"
    assert all(message in {entry.message for entry in state.history.pending} for state in turn), "it is delivered"
    assert fair, "the cycle is not fair"
    return Lasso(message, again, steps[: len(stem)], steps[len(stem) :])


def _is_run(system: ReusedIdentities, actions: Sequence[Action]) -> bool:
    """Whether the actions are possible one after the other."""
    state = system.initial()
    for action in actions:
        if action not in system.enabled(state):
            return False
        state = system.apply(state, action).state
    return True


def explain_lasso(lasso: Lasso) -> tuple[str, str]:
    """The lasso for a reader: its steps with a space-time diagram, and the diagram as SVG.

    The metadata-free oracle must see that a message is sent and not delivered; of promises it knows nothing.
    """
    steps = (*lasso.stem, *lasso.cycle)
    observed = execution(lasso.system, steps)
    highlight = _waiting(lasso.owed, observed) if isinstance(lasso.owed, Message) else None
    if not lasso.cycle:
        last = steps[-1].outcome.state if steps else lasso.system.initial()
        free = need_not_happen(lasso.system, last) if isinstance(lasso.owed, Instance) else ""
        ending = f"Nothing more has to happen, and {lasso.said}{f': {free}' if free else '.'}"
        seen = observed.events or observed.asides
        parts = [text(steps), ending, draw_text(observed, highlight) if seen else ""]
        return "\n\n".join(part for part in parts if part), draw_svg(observed, highlight)
    turn = len(lasso.stem) + 1
    drawn = draw_text(observed, highlight, repeats_from=turn)
    numbered = text(steps).splitlines()
    at = next(number for number, line in enumerate(numbered) if line.lstrip().startswith(f"{len(lasso.stem) + 1}  "))
    turns = len(lasso.cycle)
    cycle, began = ("The last step leads", "it began") if turns == 1 else (f"The last {turns} steps lead", "they began")
    lines = [
        *numbered[:at],
        "then for ever:",
        *numbered[at:],
        "",
        f"{cycle} back to where {began}: {lasso.said}.",
        "",
        drawn,
    ]
    return "\n".join(lines), draw_svg(observed, highlight, repeats_from=turn)


def _waiting(message: Message, observed: Execution) -> Highlight:
    """Where the oracle sees that the message is never delivered."""
    oracle = Oracle(observed.processes)
    for event in observed.events:
        oracle.observe(event)
    waiting = next((each for each in oracle.at_quiescence() if each.message == message.name), None)
    assert waiting is not None, "the oracle does not confirm that the message is never delivered"
    return highlight_of(waiting)
