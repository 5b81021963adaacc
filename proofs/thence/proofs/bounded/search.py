"""Bounded search for violations of a protocol's properties in a scope, shortest first; every violation is replayed.

After every step a solver finds the literals of the state that are never true, and the next step is built without them.
So the circuit grows with the reachable states only. A bound that a run can exceed is raised, and everything is built
anew; a bound at its maximum leaves the properties undecided.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from thence.dsl import ir
from thence.dsl.ir.observability import OF_DELIVERIES, OF_NETWORK_SENDS, beyond_states, unobservable
from thence.dsl.ir.properties import DELIVERED, FAULT
from thence.dsl.run.actions import Action, State
from thence.dsl.run.causality import Finding
from thence.dsl.run.execute import Sent
from thence.dsl.run.narrate import run as narrated
from thence.dsl.run.quiescence import stuck
from thence.dsl.run.scoped import in_scope, watching
from thence.dsl.run.system import System
from thence.dsl.run.values import Packet
from thence.proofs.bounded.circuit import FALSE, TRUE, Circuit, Literal
from thence.proofs.bounded.expressions import condition_at
from thence.proofs.bounded.history import JUDGED
from thence.proofs.bounded.network import Origin
from thence.proofs.bounded.operations import Bounds
from thence.proofs.bounded.sat import SatSolver, Solution, SolverLost, Undecided
from thence.proofs.bounded.unfolding import Option, Unfolding
from thence.proofs.explore.exploration import CUT_SHORT, Violation
from thence.proofs.fairness.fairness import is_decided_at_rest
from thence.proofs.logic.formula import Unsupported
from thence.proofs.logic.structure import CrossCheckError
from thence.proofs.scopes.untried import NO_STEP
from thence.spec.words import counted

MOST = Bounds(slots=32, iterations=24, number=48)
"""Bounds are not raised beyond these."""

_NEEDED = {
    "slots": "a queue, a set or a map needs more than {} elements",
    "iterations": "a loop needs more than {} iterations",
    "number": "a number above {} is needed",
}
"""By bound, why a search ends that would need more."""

SWEEP_MS = 4_000
"""Time limit, for each step, of the search for literals that are never true."""


@dataclass(frozen=True, slots=True)
class BoundedProgress:
    """Progress of a search: steps, and the size of the circuit."""

    depth: int
    gates: int
    seconds: float


@dataclass(slots=True)
class Bounded:
    """The result of a search.

    Attributes:
        depth: no property that is not in `violations` or `undecided` is violated within so many steps.
        ended: every run has ended by then, so that nothing is bounded but the scope.
        interrupted: by Ctrl-C.
        undecided: for each undecided property the reason.
    """

    depth: int = 0
    ended: bool = False
    violations: dict[str, Violation] = field(default_factory=dict)
    undecided: dict[str, str] = field(default_factory=dict)
    interrupted: bool = False
    bounds: Bounds = field(default_factory=Bounds)
    gates: int = 0
    seconds: float = 0.0


class _Exceeded(Exception):
    """A run can exceed a bound; the message is its name."""


class _Late(Exception):
    """The time is over, or a solver gave up; the message says which."""


def search(
    protocol: ir.Protocol,
    workload: ir.Workload,
    properties: Collection[str],
    depth: int,
    *,
    timeout_ms: int = 60_000,
    progress: Callable[[BoundedProgress], None] | None = None,
) -> Bounded:
    """Looks for runs of up to `depth` steps that violate the properties. `timeout_ms` is for all of it.

    Raises: CrossCheckError where the interpreter does not confirm a violation.
    """
    started = time.monotonic()
    protocol = watching(in_scope(protocol, workload), properties)
    result = Bounded(bounds=_first_bounds(workload))
    attempt = _DeepeningSearch(protocol, workload, depth, result, started + timeout_ms / 1000, started, progress)
    goals = [name for name in properties if attempt.judges(name)]
    while True:
        try:
            attempt.run(goals)
            _judge_faulty(attempt, goals)
            _judge_idle(attempt, goals)
        except _Exceeded as bound:
            raised = _raised(result.bounds, str(bound))
            if raised is not None:
                result.bounds = raised
                continue
            _give_up(result, goals, _NEEDED[str(bound)].format(getattr(MOST, str(bound))))
        except (_Late, SolverLost, Unsupported) as reason:
            _give_up(result, goals, str(reason))
        except KeyboardInterrupt:
            result.interrupted = True
            _give_up(result, goals, "interrupted")
        result.seconds = time.monotonic() - started
        return result


def _first_bounds(workload: ir.Workload) -> Bounds:
    messages = sum(workload.sends)
    return Bounds(slots=max(2, min(4, messages)), iterations=2, number=messages + 1)


def _raised(bounds: Bounds, name: str) -> Bounds | None:
    before: int = getattr(bounds, name)
    most: int = getattr(MOST, name)
    return replace(bounds, **{name: min(most, before * 2)}) if before < most else None


def _give_up(result: Bounded, goals: Collection[str], reason: str) -> None:
    for name in goals:
        if name not in result.violations:
            result.undecided.setdefault(name, f"{reason}; no violation within {counted(result.depth, 'step')}")


def _judge_faulty(attempt: _DeepeningSearch, goals: Collection[str]) -> None:
    """Where a step is a fault, and runs end there: what no run violates is undecided, but for safety beside `fault`."""
    if attempt.faulty:
        for name in goals:
            if name not in attempt.result.violations and (name == "delivered" or FAULT not in goals):
                attempt.result.undecided[name] = CUT_SHORT


def _judge_idle(attempt: _DeepeningSearch, goals: Collection[str]) -> None:
    """Where no run has a step, everything is undecided; where none delivers a message, what is about deliveries."""
    if attempt.result.ended and attempt.looked < 1:
        for name in goals:
            if name not in attempt.result.violations:
                attempt.result.undecided.setdefault(name, NO_STEP)
    if not attempt.delivers:
        for name in goals:
            if name in (DELIVERED, *OF_DELIVERIES, *OF_NETWORK_SENDS) and name not in attempt.result.violations:
                said = f"no run delivers a message within {counted(attempt.result.depth, 'step')}"
                attempt.result.undecided.setdefault(name, said)


@dataclass(slots=True)
class _DeepeningSearch:
    """One search under fixed bounds, step by step from the initial state. `looked`: the last depth that was checked.

    `faulty`: some step is a fault, so that a run ends there. `delivers`: some step delivers a message.
    """

    protocol: ir.Protocol
    workload: ir.Workload
    depth: int
    result: Bounded
    deadline: float
    started: float
    progress: Callable[[BoundedProgress], None] | None
    looked: int = -1
    faulty: bool = False
    delivers: bool = False

    def judges(self, name: str) -> bool:
        """Whether the property can be judged here; if not, that is noted."""
        if self.workload.prompt or not self.workload.ends:
            said = "messages are sent for ever, or promptly only: thence explore answers that"
            self.result.undecided[name] = said
            return False
        refusal = self._refusal() or unobservable(self.protocol, name)
        if refusal is not None:
            self.result.undecided[name] = refusal
            return False
        if name in self.protocol.witnesses:
            self.result.undecided[name] = "bounded search looks for violations: thence explore finds what is reachable"
            return False
        invariants = {invariant.name: invariant for invariant in self.protocol.invariants}
        unseen = beyond_states(invariants[name]) if name in invariants else None
        if unseen is not None:
            self.result.undecided[name] = f"bounded search does not look at {unseen}: thence explore does"
            return False
        if name == "delivered" and not is_decided_at_rest(System(self.protocol, self.workload)):
            said = "with timers or such fairness, a message is stuck if some fair run never delivers it: thence explore"
            self.result.undecided[name] = said
            return False
        if name in ("fault", "delivered", *JUDGED) or name in invariants:
            return True
        self.result.undecided[name] = f"bounded search does not judge `{name}`: thence explore does"
        return False

    def _refusal(self) -> str | None:
        """The reason why bounded search does not apply to the scope or protocol; None if it does."""
        if self.workload.programs or self.workload.reactive:
            return "the application follows programs, or sends inside deliveries: thence explore answers that"
        return "the network is a tree: thence explore answers that" if self.protocol.network.tree else None

    def run(self, goals: Collection[str]) -> None:
        """Takes steps until all goals are violated or the depth is reached. Raises: _Exceeded, _Late, Unsupported."""
        circuit = Circuit()
        with SatSolver(circuit) as solver:
            unfolding = Unfolding(self.protocol, self.workload, circuit, self.result.bounds, goals)
            self._judge(solver, unfolding, self._state_goals(unfolding, goals), 0)
            for number in range(1, self.depth + 1):
                if all(name in self.result.violations for name in goals):
                    return
                moment = unfolding.advance()
                if self._solve(solver, [], ()) is None:
                    self.result.ended = True
                    self.result.depth = self.depth
                    return
                events = {"fault": moment.fault, **moment.violations}
                sought = {name: where for name, where in events.items() if self._seeks(name, goals)}
                wrong = {*sought.values(), *moment.overflow.values(), moment.fault}
                if self._possible(solver, circuit.disj(wrong)):
                    for bound, where in moment.overflow.items():
                        if self._possible(solver, where):
                            raise _Exceeded(bound)
                    self._judge(solver, unfolding, sought, number)
                    if not self.faulty:
                        self.faulty = self._possible(solver, moment.fault)
                    wrong = {*moment.overflow.values(), moment.fault}
                circuit.learn(sorted(-where for where in wrong))
                self.delivers = self.delivers or self._possible(solver, moment.delivers)
                unfolding.order()
                self._judge(solver, unfolding, self._state_goals(unfolding, goals), number)
                self.looked = max(self.looked, number)
                self.result.depth = max(self.result.depth, self.looked)
                self.result.gates = circuit.gates
                if number < self.depth:
                    self._sweep(solver, unfolding)
                if self.progress is not None:
                    self.progress(BoundedProgress(number, circuit.gates, time.monotonic() - self.started))

    def _seeks(self, name: str, goals: Collection[str]) -> bool:
        return name in goals and name not in self.result.violations

    def _possible(self, solver: SatSolver, literal: Literal) -> bool:
        return literal != FALSE and self._solve(solver, [literal], ()) is not None

    def _judge(self, solver: SatSolver, unfolding: Unfolding, goals: dict[str, Literal], number: int) -> None:
        for name, where in goals.items():
            if where == FALSE or name in self.result.violations or number <= self.looked:
                continue
            found = self._solve(solver, [where], unfolding.choices)
            if found is not None:
                self.result.violations[name] = replayed(unfolding, name, found.true)

    def _state_goals(self, unfolding: Unfolding, goals: Collection[str]) -> dict[str, Literal]:
        """The violations by the state that has been reached."""
        circuit = unfolding.circuit
        found: dict[str, Literal] = {}
        for invariant in self.protocol.invariants:
            if invariant.name not in goals:
                continue
            workshop = unfolding.workshop()  # its own: an invariant without a value says nothing of the others
            frame = unfolding.frame(workshop)
            frame.all_states = unfolding.locals
            broken = -condition_at(invariant.body, frame, TRUE)
            for bound, where in workshop.overflow.items():
                if where != FALSE:
                    raise _Exceeded(bound)
            found[invariant.name] = circuit.disj((broken, workshop.fault))
        if "delivered" in goals:
            waiting = circuit.disj(unfolding.history.due.values())
            found["delivered"] = circuit.conj((unfolding.network.empty, waiting))
        return found

    def _solve(self, solver: SatSolver, literals: list[Literal], wanted: Collection[Literal]) -> Solution | None:
        left_ms = round((self.deadline - time.monotonic()) * 1000)
        if left_ms <= 0:
            raise _Late("the time is over")
        answer = solver.solve(literals, [literal for literal in wanted if literal != TRUE], left_ms)
        if isinstance(answer, Undecided):
            raise _Late(f"Z3 gave up: {answer.reason}")
        return answer

    def _sweep(self, solver: SatSolver, unfolding: Unfolding) -> None:
        """Learns which literals of the state are never true, and which always are."""
        literals = unfolding.literals()
        both = sorted({*literals, *(-literal for literal in literals)}, key=lambda literal: (abs(literal), literal))
        left_ms = round((self.deadline - time.monotonic()) * 1000)
        never = solver.impossible(both, max(1, min(SWEEP_MS, left_ms)))
        unfolding.circuit.learn(sorted(-literal for literal in never))
        unfolding.refine()


# --- replay ------------------------------------------------------------------------------------


def replayed(unfolding: Unfolding, name: str, true: Collection[Literal]) -> Violation:
    """The run of a model, in a fresh system, step by step; the interpreter must find the same violation.

    Where the protocol chooses, one of the runs with these options must show it.

    Raises: CrossCheckError.
    """
    system = System(unfolding.protocol, unfolding.workload)
    state = system.initial()
    chosen = [
        next(option for option in moment.options if option.literal in true or option.literal == TRUE)
        for moment in unfolding.moments
    ]
    found: _Shown | None
    replay = _Replay(system, unfolding, name, true, chosen)
    if not chosen:
        finding = _state_finding(system, state, name)
        found = None if finding is None else _Shown(finding, ())
    else:
        found = replay.run(state, 0, {})
    if found is None:
        raise CrossCheckError(replay.failure)
    again = System(unfolding.protocol, unfolding.workload)
    again.adopt_packets(system)
    return Violation(found.finding, again, tuple(narrated(again, found.actions)))


@dataclass(frozen=True, slots=True)
class _Shown:
    """A violation, and the actions that lead to it from some state on."""

    finding: Finding
    actions: tuple[Action, ...]


@dataclass(slots=True)
class _Replay:
    """The runs of the interpreter that a model may stand for: they differ in what the protocol chooses."""

    system: System
    unfolding: Unfolding
    name: str
    true: Collection[Literal]
    chosen: Sequence[Option]
    failure: str = ""

    def __post_init__(self) -> None:
        self.failure = f"the interpreter does not confirm the violation of {self.name} that Z3 found"

    def run(self, state: State, at: int, packets: Mapping[Origin, Packet]) -> _Shown | None:
        """The rest of a run, from its step `at` on, that ends in the violation."""
        option = self.chosen[at]
        for action in self._actions(state, option, packets):
            outcome = self.system.apply(state, action)
            now = dict(packets)
            if option.kind == "duplicate":
                now[at, -1] = packets[option.origin]
            for position, emission in enumerate(outcome.emissions):
                if isinstance(emission, Sent):
                    now[at, position] = Packet(emission.kind, action.process, emission.to, emission.arguments)
            if at + 1 < len(self.chosen):
                rest = self.run(outcome.state, at + 1, now)
                if rest is not None:
                    return _Shown(rest.finding, (action, *rest.actions))
                continue
            finding = next((each for each in outcome.findings if each.property == self.name), None)
            finding = finding or _state_finding(self.system, outcome.state, self.name)
            if finding is not None:
                return _Shown(finding, (action,))
        return None

    def _actions(self, state: State, option: Option, packets: Mapping[Origin, Packet]) -> Iterator[Action]:
        """The actions that a chosen option may be."""
        packet = None
        if option.kind in ("receive", "duplicate", "lose"):
            packet = packets.get(option.origin)
            if packet is None:
                return
        process = option.subject
        destinations: tuple[int, ...] = ()
        if packet is not None:
            process = packet.dst if option.kind == "receive" else packet.src
        elif option.kind == "send":
            process = self.unfolding.messages.sources[option.subject]
            choices = self.unfolding.messages.destinations[option.subject]
            destinations = next(to for condition, to in choices if condition == TRUE or condition in self.true)
        wanted = (option.kind, process, destinations, option.name, option.arguments, packet)
        none = True
        for action in self.system.enabled(state):
            moved = None if action.packet < 0 else self.system.packet(action.packet)
            if (*action[:3], action.name, action.arguments, moved) == wanted:
                none = False
                yield action
        if none:
            self.failure = f"the interpreter cannot take the step that Z3 takes: {option.kind} {wanted}"


def _state_finding(system: System, state: State, name: str) -> Finding | None:
    if name == "delivered":
        return stuck(system, state)
    return next((finding for finding in system.broken(state) if finding.property == name), None)
