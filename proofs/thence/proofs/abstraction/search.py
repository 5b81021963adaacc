"""The search of the abstract states: every run, with any number of messages, stays in a finite set of them.

The search is breadth first over the counter abstraction (`counter_abstraction`) of prompt sends (`prompt_sends`). It
ends when no step leads to a new abstract state. The set is then closed: a step of any state that it stands for leads
to another such state. A property that no step violates therefore holds for any number of messages. A violation may be
the abstraction's fault. It counts as refuted only if a run with a fixed number of messages shows it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

from thence.dsl import ir
from thence.dsl.run.actions import Action, State
from thence.dsl.run.identity_reuse import ReusedIdentities
from thence.dsl.run.scoped import in_scope
from thence.dsl.run.values import Fault, Message
from thence.proofs.abstraction.balance import Balance, balance_of, residuals
from thence.proofs.abstraction.counter_abstraction import BelowZero, CounterAbstraction, Slack
from thence.proofs.abstraction.discipline import Discipline, NotApplicable, discipline_of
from thence.proofs.abstraction.prompt_sends import PromptSends
from thence.proofs.abstraction.silent_arrivals import NotSilent, SilentArrivals
from thence.proofs.engines import explore
from thence.proofs.explore.exploration import PROGRESS_SECONDS, Coverage, Progress, Violation
from thence.proofs.native.layout import Shape
from thence.proofs.native.symmetry import Asymmetric, Symmetry

SAFETY = frozenset(("causal", "fifo", "csps", "sps", "at_most_once", "no_creation", "fault"))
"""The properties that the search judges: properties of steps that a larger causal past can only violate sooner."""

SAMPLE = 1_500
"""Number of exact states from which balances are guessed."""

MOST_IDENTITIES = 6
"""Largest number of undelivered messages of one process. The search gives up where there can be more."""

CONCRETE_STATES = 300_000
"""Limit on the states of a search for a violating run, with 1, 2, ... messages of each process."""

MOST_CONCRETE = 3
"""Largest number of messages of each process in that search."""

_INTERRUPTED, _NO_MEMORY = "interrupted", "out of memory"
_ENDED = frozenset({_INTERRUPTED, _NO_MEMORY})
"""Reasons for which all of a command ends."""


class _Crowded(Exception):
    """A process had no free identity for a message."""


@dataclass(slots=True)
class AbstractExploration(Coverage):
    """The abstract states that were covered, and the verdicts on the properties.

    Attributes:
        violations: properties that a run violates.
        suspects: properties that the abstraction violates.
        balances: the balances that every step keeps.
        identities: how many undelivered messages of one process have an identity.
        collapsed: kinds of which equal packets count once or more.
        silent: kinds whose packets are taken to arrive at once.
        symmetric: states are counted up to renaming of processes.
        abstract: the closed set of abstract states.
    """

    violations: dict[str, Violation] = field(default_factory=dict)
    suspects: set[str] = field(default_factory=set)
    balances: tuple[Balance, ...] = ()
    discipline: Discipline | None = None
    identities: int = 0
    collapsed: frozenset[str] = frozenset()
    silent: frozenset[str] = frozenset()
    symmetric: bool = False
    abstract: frozenset[State] = frozenset()
    abstraction: CounterAbstraction | None = None

    def undecided(self, name: str) -> str:
        """The reason why the property is neither proved nor refuted; empty if it is."""
        if name in self.violations:
            return ""
        if name not in SAFETY:
            return f"`{name}` is not judged for any number of messages"
        if not self.complete:
            return f"incomplete: {self.why_incomplete} after {self.states:,} abstract states"
        if name in self.suspects:
            return f"the abstraction violates it; no run of up to {MOST_CONCRETE} messages of each process does"
        return ""


def explore_abstraction(
    protocol: ir.Protocol,
    workload: ir.Workload,
    properties: Collection[str],
    *,
    limit: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> AbstractExploration:
    """Judges properties (of SAFETY) for any number of messages.

    The result is `complete` and `saturated` if the set of abstract states is closed. `why_incomplete` names a condition
    of soundness that does not hold. The search stops at `limit` states, and on KeyboardInterrupt.
    """
    started = time.perf_counter()
    assert SAFETY.issuperset(properties)
    result = AbstractExploration()
    protocol = in_scope(protocol, workload)
    try:
        _refuse(protocol, workload)
        result.discipline = discipline_of(protocol)
        for identities in range(1, MOST_IDENTITIES + 1):
            result.identities = identities
            try:
                _search(protocol, workload, frozenset(properties), result, limit, progress)
                break
            except _Crowded:
                continue
        else:
            why = f"a process can have more than {MOST_IDENTITIES} undelivered messages on their way at once"
            raise NotApplicable(why)
    except BelowZero as reason:
        result.suspects |= {"fault"} & set(properties)
        result.complete, result.why_incomplete = False, str(reason)
    except NotApplicable as reason:
        result.complete, result.why_incomplete = False, str(reason)
    except KeyboardInterrupt:
        result.complete, result.why_incomplete = False, _INTERRUPTED
    except MemoryError:
        result.complete, result.why_incomplete = False, _NO_MEMORY
    else:
        result.saturated = result.complete
    if result.suspects and result.why_incomplete not in _ENDED:
        _look_for_runs(protocol, workload, result, limit, progress)
    result.seconds = time.perf_counter() - started
    return result


def _refuse(protocol: ir.Protocol, workload: ir.Workload) -> None:
    if workload.losses or workload.duplicates or workload.ticks or workload.timers:
        raise NotApplicable("losses, duplicates and ticks are for scopes that end")
    if workload.inputs:
        raise NotApplicable("the application has inputs besides causal sends")
    if protocol.chooses:
        raise NotApplicable("a step has several outcomes, by what it chooses")


def _search(
    protocol: ir.Protocol,
    workload: ir.Workload,
    properties: frozenset[str],
    result: AbstractExploration,
    limit: int | None,
    progress: Callable[[Progress], None] | None,
) -> None:
    """One search with a fixed number of identities. Raises: _Crowded, NotApplicable."""
    assert result.discipline is not None
    senders = [bool(workload.choices(process)) for process in range(workload.processes)]
    identities = tuple(result.identities if sends else 0 for sends in senders)
    system = ReusedIdentities(
        protocol, replace(workload, sends=identities, sending=ir.ForEver(identities, prompt=True))
    )
    abstraction = CounterAbstraction(system, result.discipline)
    result.collapsed = abstraction.collapsible
    abstraction.balances = result.balances = _balances(system, abstraction)
    silent, symmetric = abstraction.silenced(), True
    while True:
        abstraction = CounterAbstraction(system, result.discipline, result.balances, silent)
        result.silent, result.abstraction = silent, abstraction
        try:
            symmetry = Symmetry(system, _shape(system)) if symmetric else None
            _AbstractSearch(system, abstraction, properties, result, limit, progress, symmetry).run()
            return
        except Asymmetric:
            symmetric = False
        except NotSilent as kind:
            silent -= {str(kind)}


def _shape(system: ReusedIdentities) -> Shape:
    workload = system.workload
    choices = tuple(workload.choices(process) for process in range(workload.processes))
    fifo = not system.protocol.network.reordering
    return Shape(workload.processes, workload.sends, choices, (), (), 0, 0, fifo, False)


def _balances(system: ReusedIdentities, abstraction: CounterAbstraction) -> tuple[Balance, ...]:
    """Balances of the counters that the first exact states satisfy."""
    if not abstraction.discipline.counters or not abstraction.collapsible:
        return ()
    positions = {variable.name: at for at, variable in enumerate(system.protocol.state)}
    states = list(islice(_exact(system), SAMPLE))
    rows = [abstraction.rows(state) for state in states]
    found = (
        balance_of(
            name,
            (
                (row, system.local(local)[positions[name]])
                for state, seen in zip(states, rows, strict=True)
                for local, row in zip(state.locals, seen, strict=True)
            ),
        )
        for name in sorted(abstraction.discipline.counters)
    )
    return tuple(balance for balance in found if balance is not None)


def _exact(system: ReusedIdentities) -> Iterator[State]:
    """Reachable states, nearest first."""
    seen = {system.initial(): None}
    for state in (frontier := list(seen)):
        yield state
        for action in system.enabled(state):
            after = system.apply(state, action).state
            if after not in seen:
                seen[after] = None
                frontier.append(after)


@dataclass(slots=True)
class _AbstractSearch:
    system: ReusedIdentities
    abstraction: CounterAbstraction
    properties: frozenset[str]
    result: AbstractExploration
    limit: int | None
    progress: Callable[[Progress], None] | None
    symmetry: Symmetry | None
    prompt_sends: PromptSends = field(init=False)
    silent_arrivals: SilentArrivals = field(init=False)
    states: set[State] = field(default_factory=set)
    _balanced: set[tuple[int, int, int, Message | None, Slack]] = field(default_factory=set)
    _orbits: dict[int, int] = field(default_factory=dict)
    _started: float = field(default_factory=time.perf_counter)
    _reported: float = 0.0

    def __post_init__(self) -> None:
        self.prompt_sends = PromptSends(self.system, self.abstraction.discipline.waiting, self.symmetry)
        self.silent_arrivals = SilentArrivals(self.system, self.abstraction, self.prompt_sends, self.symmetry)

    def run(self) -> None:
        """Adds the successors of abstract states until there is no new one."""
        result = self.result
        result.suspects.clear()
        result.states = result.transitions = result.depth = 0
        result.symmetric = self.symmetry is not None and len(self.symmetry.group) > 1
        initial = self._canonical(self.abstraction.normal(self.system.initial()))
        self.states = {initial}
        frontier = [initial]
        while frontier:
            following: list[State] = []
            for state in frontier:
                for after in self._successors(state):
                    result.transitions += 1
                    normal = self._canonical(self.abstraction.normal(after))
                    if normal not in self.states:
                        self.states.add(normal)
                        following.append(normal)
                result.states = len(self.states)
                if self.system.crowded:
                    raise _Crowded
                if self.limit is not None and len(self.states) >= self.limit:
                    raise NotApplicable(f"stopped at {self.limit:,} states")
                self._report(len(following))
            frontier = following
            result.depth += bool(frontier)
        result.complete = True
        result.abstract = frozenset(self.states)

    def _successors(self, state: State) -> Iterator[State]:
        """The successors of all states that the abstract state stands for."""
        actions = list(self.system.enabled(state))
        for process, own in enumerate(state.locals):
            for local, more in self.abstraction.alternatives(state, process).items():
                self.prompt_sends.check_state(process, local)
                self.silent_arrivals.check(process, local, -1)
                before, known = state, actions
                if local != own:
                    before = state._replace(locals=(*state.locals[:process], local, *state.locals[process + 1 :]))
                    known = list(self.system.enabled(before))
                for action in known:
                    if action.process == process:
                        yield from self._taken(before, action, more)

    def _taken(self, state: State, action: Action, more: set[frozenset[int]]) -> Iterator[State]:
        """The state after the step, whose conditions of soundness are checked.

        Where more of the packet may be left, also the state with one more left.
        """
        outcome = self.system.apply(state, action)
        local = state.locals[action.process]
        step = self.system.local_step(action.process, local, action, outcome.subject)
        for finding in outcome.findings:
            if finding.property in self.properties:
                self.result.suspects.add(finding.property)
        if self.symmetry is not None:
            self.symmetry.check(action, outcome.subject, local, step)
        if action.kind == "receive":
            self.prompt_sends.check_arrival(action, local)
        self.silent_arrivals.check(action.process, local, action.packet)
        if isinstance(step, Fault):
            return
        self._keeps_balance(state, action, outcome.state, outcome.subject)
        left = (
            {False} if action.kind != "receive" else self.abstraction.left(state, action.packet, action.process, more)
        )
        if False in left:
            yield outcome.state
        if True in left:
            yield outcome.state._replace(network=self.system.arranged((*outcome.state.network, action.packet)))

    def _keeps_balance(self, state: State, action: Action, after: State, message: Message | None) -> None:
        """Checks that the step keeps every balance, also with one more letter in a run that is cut.

        A step adds to both sides an amount that is linear in the lengths of runs, so two lengths tell for all. Both
        lengths must also lead to the same normal form.
        """
        local = state.locals[action.process]
        key = (action.process, local, action.packet, message, self.abstraction.slack(state, action.process))
        if key in self._balanced:
            return
        self._balanced.add(key)
        self._same_residuals(state, after)
        for longer in self.abstraction.longer(state, action.process):
            self.prompt_sends.check_state(action.process, longer)
            if action.kind == "receive":
                self.prompt_sends.check_arrival(action, longer)
            self.silent_arrivals.check(action.process, longer, action.packet)
            if self.symmetry is not None:
                step = self.system.local_step(action.process, longer, action, message)
                self.symmetry.check(action, message, longer, step)
            more = state._replace(locals=(*state.locals[: action.process], longer, *state.locals[action.process + 1 :]))
            then = self.system.apply(more, action)
            if any(finding.property == "fault" for finding in then.findings):
                raise NotApplicable("a longer queue makes a step fail")
            self._same_residuals(more, then.state)
            if self.abstraction.normal(then.state) != self.abstraction.normal(after):
                raise NotApplicable("a step tells equal elements of a queue from more of them")

    def _same_residuals(self, before: State, after: State) -> None:
        balances = self.abstraction.balances
        if not balances:
            return
        pairs = [
            list(residuals(balances, self.abstraction.rows(state), self.abstraction.counters(state)))
            for state in (before, after)
        ]
        if pairs[0] != pairs[1]:
            raise NotApplicable(f"a step does not keep the balance {'; '.join(map(str, balances))}")

    # --- symmetry ----------------------------------------------------------------------------

    def _canonical(self, state: State) -> State:
        """The representative of the states that differ in the names of processes only."""
        symmetry = self.symmetry
        if symmetry is None or len(symmetry.group) == 1:
            return state
        keys = [self._key(state, process) for process in range(len(state.locals))]
        ordered = sorted(keys)
        renamed = (
            self.abstraction.renumbered(symmetry.state(state, permutation))
            for permutation in symmetry.group
            if all(ordered[permutation[process]] == key for process, key in enumerate(keys))
        )
        found = min(renamed, default=None)
        return state if found is None else found

    def _key(self, state: State, process: int) -> tuple[int, ...]:
        """A key of the process that does not depend on the names of processes."""
        assert self.symmetry is not None
        local = state.locals[process]
        orbit = self._orbits.get(local)
        if orbit is None:
            orbit = self._orbits[local] = min(self.symmetry.locals(local))
        out = sum(1 for number in state.network if self.system.packet(number).src == process)
        into = sum(1 for number in state.network if self.system.packet(number).dst == process)
        due = sum(1 for entry in state.history.pending if process in entry.due)
        return (orbit, out, into, due)

    def _report(self, frontier: int) -> None:
        now = time.perf_counter()
        if self.progress is not None and now - self._reported >= PROGRESS_SECONDS:
            self._reported = now
            result = self.result
            self.progress(Progress(result.states, result.transitions, result.depth, frontier, now - self._started))


def _look_for_runs(
    protocol: ir.Protocol,
    workload: ir.Workload,
    result: AbstractExploration,
    limit: int | None,
    progress: Callable[[Progress], None] | None,
) -> None:
    """Looks for runs that violate the suspects, with 1, 2, ... messages of each process."""
    most = CONCRETE_STATES if limit is None else min(limit, CONCRETE_STATES)
    for sends in range(1, MOST_CONCRETE + 1):
        left = result.suspects - result.violations.keys()
        numbers = tuple(sends if workload.choices(process) else 0 for process in range(workload.processes))
        bounded = replace(workload, sends=numbers, sending=ir.Finite())
        if left:
            found = explore(protocol, bounded, left, stop_when_refuted=True, limit=most, progress=progress)
            result.violations |= found.violations
            if found.why_incomplete in _ENDED:
                result.complete, result.why_incomplete = False, found.why_incomplete
                return
