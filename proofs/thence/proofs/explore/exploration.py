"""A request to explore, and its result. A violation counts once the interpreter has replayed it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

from thence.dsl.ir.properties import DELIVERED
from thence.dsl.run.actions import Action, State
from thence.dsl.run.causality import Finding
from thence.dsl.run.identity_reuse import ReusedIdentities, system_of
from thence.dsl.run.narrate import NarratedStep, run, violates
from thence.dsl.run.promises import Instance
from thence.dsl.run.system import System
from thence.proofs.explore.crew import Crew
from thence.proofs.fairness.fairness import Fairness, fairness_of, is_fair_turn, timers_of
from thence.proofs.fairness.tails import Owed, Starvation, owed_in
from thence.proofs.links.following import companion_of

PROGRESS_SECONDS = 0.2

Engine: TypeAlias = Literal["auto", "native", "interpreted", "both"]

Storage: TypeAlias = Literal["exact", "layers", "disk"]

STORAGES: dict[Storage, str] = {
    "exact": "every state",
    "layers": "the states that can still be met: exact, for workloads in which every step is progress",
    "disk": "every state, in files: exact, in little memory",
}
"""Which states native code can keep, and where. `layers` is the sweep line, see `native.sweep_line`; `disk` is a search
level by level, see `native.disk_search`."""

Keep: TypeAlias = Callable[[System, Iterable[State], Sequence[tuple[int, ...]]], None]
"""Takes all states that a complete search has visited, and the renamings of processes up to which they are all. A
search that is made again in another way gives its states, too: those of the last one count."""

_Point = TypeVar("_Point")
"""A point of a search: a state, or a state with the machine's side of it."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an exploration has come.

    `memory`: bytes that the store takes. `expected_depth`: an estimate, where there is one.
    """

    states: int
    transitions: int
    depth: int
    frontier: int
    seconds: float
    memory: int = 0
    expected_depth: int | None = None


CUT_SHORT = "a step is a fault (judge `fault` to see it), so runs end before they have done what they were to do"
"""A fault is the end of a run: what the protocol would do after it has no meaning."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A property that fails, and a shortest run that shows it, replayed by the interpreter.

    The last `cycle` steps lead back to the state before them: a fair run repeats them for ever. 0: the run ends.
    `owed` is what never comes.
    """

    finding: Finding
    system: System
    steps: tuple[NarratedStep, ...]
    cycle: int = 0
    owed: Owed | None = None


@dataclass(slots=True)
class Coverage:
    """The extent of a search. `complete`: every reachable state was visited; `depth` counts steps.

    `saturated`: messages are sent for ever, and nobody ever lacked an identity: more identities would change nothing.
    """

    states: int = 0
    transitions: int = 0
    depth: int = 0
    complete: bool = False
    saturated: bool = False
    seconds: float = 0.0
    why_incomplete: str = ""


@dataclass(slots=True)
class Exploration(Coverage):
    """The extent of an exploration, and a shortest violation of each property that fails.

    `reductions` are those that states and transitions are counted up to; `refused` says why one that was asked for
    is not among them. `memory` is what the store took in bytes at most, where that is known. `storage` is what was
    kept. `unshown` are properties that some run violates which could not be found again with the memory that there is.
    `undecided` says of properties that are not violated why that does not mean that they hold.
    `order_matters` names a handler of which some step depends on the order in which sets are visited: of a
    search that is complete, since nobody asks it of others.
    `never` has what no step that was met does: `delivers`, `fires` a timer; and `rests`, where no state was judged in
    which nothing can happen any more; and `gives NAME`, where the left side of a promise's `leads to` was never true;
    and `acts NAME`, where the action of a formula about one was never met.
    `stands_for`: of a complete search by native code with few states, a number of states that there are at least
    without reductions, counted up to a little above FEW_STATES.
    """

    engine: Literal["native", "interpreted", "both"] = "interpreted"
    reductions: tuple[str, ...] = ()
    refused: dict[str, str] = field(default_factory=dict)
    memory: int = 0
    storage: Storage = "exact"
    unshown: frozenset[str] = frozenset()
    undecided: dict[str, str] = field(default_factory=dict)
    never: frozenset[str] = frozenset()
    order_matters: str | None = None
    stands_for: int | None = None
    violations: dict[str, Violation] = field(default_factory=dict)


def path_to(origins: Mapping[_Point, tuple[_Point, Action] | None], reached: _Point) -> list[Action]:
    """The actions from the initial point to `reached`, by the point and action from which each was first reached."""
    actions = []
    while (origin := origins[reached]) is not None:
        reached, action = origin
        actions.append(action)
    actions.reverse()
    return actions


@dataclass(frozen=True, slots=True)
class Resources:
    """The limits of native code: bytes for its store (None: most of the machine's), threads (None: one a processor).

    `folder`: where files of states are made (None: where the system has temporary files). `crew`: who expands states in
    files beside this process; it sees the folder, and `memory` is for each of its tasks.
    """

    memory: int | None = None
    threads: int | None = None
    folder: Path | None = None
    crew: Crew | None = None


THE_MACHINE = Resources()
"""No limits but the machine's."""

ONE_THREAD = Resources(threads=1)
"""Where others are at work beside the search. A violation that one thread meets is not looked for again, either."""


@dataclass(frozen=True, slots=True)
class Method:
    """How to explore. Verdicts do not depend on it, nor do states, transitions and depth where nothing is reduced.

    Attributes:
        engine: `auto` takes native code for all but small scopes, and the interpreter where native code cannot take
            the scope; `both` compares them.
        reductions: what native code may reduce by: names of REDUCTIONS, or AUTO, which small scopes do without.
        storage: which states native code keeps.
        keep: takes the states of a search that is complete, where all are in memory.
    """

    engine: Engine = "auto"
    resources: Resources = THE_MACHINE
    reductions: Collection[str] = ()
    storage: Storage = "exact"
    keep: Keep | None = None


AS_SUITS = Method()
"""By the engine that suits the scope; nothing is reduced, and every state is kept."""


@dataclass(frozen=True, slots=True)
class ExplorationRequest:
    """A system to be explored, and how far; with `stop_when_refuted`, only to a violation of each property.

    `limit`: at most so many states. `limit_beyond`: so many in each search beyond these states, for what may come of a
    state in the end.
    """

    system: System
    properties: frozenset[str]
    stop_when_refuted: bool = False
    limit: int | None = None
    progress: Callable[[Progress], None] | None = None
    resources: Resources = THE_MACHINE
    reductions: frozenset[str] = frozenset()
    storage: Storage = "exact"
    limit_beyond: int | None = None
    keep: Keep | None = None


def saturated(system: System) -> bool:
    """Whether messages are sent for ever, and no sender lacked an identity in any state explored."""
    return isinstance(system, ReusedIdentities) and not system.workload.ends and not system.crowded


def replayed(system: System, finding: Finding, actions: list[Action]) -> Violation:
    """Runs the counterexample again in a fresh interpreter, and machine; it must show the same finding."""
    again, companion = system_of(system.protocol, system.workload), companion_of(system)
    again.adopt_packets(system)
    if companion is not None:
        again.companion = companion.again(again)
    steps = tuple(run(again, actions))
    confirmed = violates(again, steps, finding.property)
    assert confirmed, f"the interpreter does not confirm the counterexample to {finding.property}"
    return Violation(finding, again, steps)


def starving(system: System, actions: list[Action], starvation: Starvation) -> Violation:
    """Runs the actions and the starvation after them in a fresh interpreter, and asserts that a fair run does so.

    A timer that `ticks` counts comes back to the same state once it is counted no more: until then the cycle is
    repeated.
    """
    again = system_of(system.protocol, system.workload)
    again.adopt_packets(system)
    stem, turn = [*actions, *starvation.way], list(starvation.cycle)
    steps = list(run(again, [*stem, *turn]))
    states = [again.initial(), *(step.outcome.state for step in steps)]
    while turn and states[-1] != states[-1 - len(turn)]:
        assert states[-1].ticks != states[-1 - len(turn)].ticks, "the run does not come back to where its cycle starts"
        stem += turn
        steps = list(run(again, [*stem, *turn]))
        states = [again.initial(), *(step.outcome.state for step in steps)]
    around = states[len(stem) :]
    owed = starvation.owed
    name = owed.name if isinstance(owed, Instance) else DELIVERED
    assert all(owed in owed_in(again, state, name) for state in around), "what is owed comes on the way"
    assert _is_possible(again, states, [*stem, *turn]), "a step of the run is not possible"
    fairness, before = fairness_of(again), around[:-1] if turn else around
    idle = _idle_timers(again, around[0], fairness) if not turn else []
    assert is_fair_turn(again, fairness, before, turn or idle), "the run is not fair"
    if isinstance(owed, Instance):
        finding = Finding(name, starvation.process, detail=f"{owed} never comes")
    else:
        finding = Finding(name, starvation.process, owed)
    return Violation(finding, again, tuple(steps), cycle=len(turn), owed=owed)


def _idle_timers(system: System, state: State, fairness: Fairness) -> list[Action]:
    """The fair timers of a run that has come to its end: each can fire for ever without doing anything, by some choice.
    Programs keep some timers from firing."""
    fair = [tick for tick in system.ticks() if fairness.class_of(system, tick) in timers_of(system)]
    if system.workload.programs:
        able = {tick._replace(script=()) for tick in system.late_timers(state)}
        fair = [tick for tick in fair if tick in able]
    found: list[Action] = []
    for tick in fair:
        idle = (
            each for each in system.by_choice(state, tick) if system.apply(state, each).state.locals == state.locals
        )
        found.extend(islice(idle, 1))
    assert len(found) == len(fair), "a timer does something"
    return found


def _is_possible(system: System, states: Sequence[State], actions: Sequence[Action]) -> bool:
    return all(
        action in (*system.enabled(state), *system.late_timers(state))
        for state, action in zip(states, actions, strict=False)
    )
