"""A request to explore, and its result. A violation counts once the interpreter has replayed it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, TypeVar

from thence.dsl.run.causality import Finding
from thence.dsl.run.identity_reuse import ReusedIdentities, system_of
from thence.dsl.run.narrate import NarratedStep, run, violated
from thence.dsl.run.system import Action, System

PROGRESS_SECONDS = 0.2

Engine: TypeAlias = Literal["auto", "native", "interpreted", "both"]

Storage: TypeAlias = Literal["exact", "layers"]

STORAGES: dict[Storage, str] = {
    "exact": "every state",
    "layers": "the states that can still be met: exact, for workloads in which every step is progress",
}
"""Which states native code can keep. `layers` is the sweep line, see `native.sweep_line`."""

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

    `shortest` is False where a reduction may have made the run longer, and the search without it would not end.
    """

    finding: Finding
    system: System
    steps: tuple[NarratedStep, ...]
    shortest: bool = True


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
    `order_matters` names a handler of which some step depends on the order in which sets are visited.
    `never` has what no step that was met does: `delivers`, `fires` a timer.
    """

    engine: Literal["native", "interpreted", "both"] = "interpreted"
    reductions: tuple[str, ...] = ()
    refused: dict[str, str] = field(default_factory=dict)
    memory: int = 0
    storage: Storage = "exact"
    unshown: frozenset[str] = frozenset()
    never: frozenset[str] = frozenset()
    order_matters: str | None = None
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
    """The limits of native code: bytes for its store (None: most of the machine's), threads (None: one a processor)."""

    memory: int | None = None
    threads: int | None = None


THE_MACHINE = Resources()
"""No limits but the machine's."""


@dataclass(frozen=True, slots=True)
class Method:
    """How to explore. Verdicts do not depend on it, nor do states, transitions and depth where nothing is reduced.

    Attributes:
        engine: `auto` takes native code for all but small scopes, and the interpreter where native code cannot take
            the scope; `both` compares them.
        reductions: what native code may reduce by: names of REDUCTIONS, or AUTO, which small scopes do without.
        storage: which states native code keeps.
    """

    engine: Engine = "auto"
    resources: Resources = THE_MACHINE
    reductions: Collection[str] = ()
    storage: Storage = "exact"


AS_SUITS = Method()
"""By the engine that suits the scope; nothing is reduced, and every state is kept."""


@dataclass(frozen=True, slots=True)
class ExplorationRequest:
    """A system to be explored, and how far; with `stop_when_refuted`, only to a violation of each property."""

    system: System
    properties: frozenset[str]
    stop_when_refuted: bool = False
    limit: int | None = None
    progress: Callable[[Progress], None] | None = None
    resources: Resources = THE_MACHINE
    reductions: frozenset[str] = frozenset()
    storage: Storage = "exact"


def saturated(system: System) -> bool:
    """Whether messages are sent for ever, and no sender lacked an identity in any state explored."""
    return isinstance(system, ReusedIdentities) and not system.workload.ends and not system.crowded


def replayed(system: System, finding: Finding, actions: list[Action]) -> Violation:
    """Runs the counterexample again in a fresh interpreter; it must show the same finding."""
    again = system_of(system.protocol, system.workload)
    again.adopt_packets(system)
    steps = tuple(run(again, actions))
    assert finding.property in violated(again, steps), (
        f"the interpreter does not confirm the counterexample to {finding.property}"
    )
    return Violation(finding, again, steps)
