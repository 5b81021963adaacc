"""Mutants of a protocol: killed by statements of the file about scopes, by its scenarios, its link, or random runs.

The scenarios come first: they take no time. Scopes in which a mutant does the same as its protocol (`equality`) are
left out, for nothing can kill it there. In the others it is run at random, then explored, the smaller ones first.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Final

from thence.conformance.mutation.equality import StepRecord
from thence.conformance.mutation.fate import Fate
from thence.dsl import ir
from thence.dsl.check.workloads.defaults import least_processes, workload_for
from thence.dsl.run.actions import Action, State
from thence.dsl.run.identity_reuse import system_of
from thence.dsl.run.quiescence import Unsettled, stuck
from thence.dsl.run.system import System
from thence.dsl.run.values import Message
from thence.proofs.explore.exploration import Coverage, Exploration, ExplorationRequest, Progress
from thence.proofs.explore.interpreted import Interpretation
from thence.proofs.native.engine import explore_natively, why_not
from thence.proofs.scopes.link import check_link
from thence.proofs.scopes.scenarios import missed
from thence.proofs.scopes.scopes import judged_in
from thence.proofs.workload_words import describe
from thence.spec.words import counted

SCOPE_STATES: Final = 100_000
"""Larger scopes are not used, unless asked for."""

MUTANT_STATES: Final = 20_000
"""States of a mutant that the interpreter explores in each scope."""

MUTANT_GROWTH: Final = 4
"""Ratio of a mutant's states to its protocol's beyond which its exploration is given up."""

RUNS: Final = 60
"""Random runs of a mutant in each scope."""

LARGER_RUNS: Final = 120
"""Random runs of a mutant beyond the scopes."""

STEPS: Final = 120
"""Most steps of a random run."""

SILENT: Final = "silent"
"""No property of the language: timers send nothing more, soon after everything was delivered. If a protocol has it, its
mutants must have it, too. Without it, nothing would notice that acknowledged messages are not forgotten."""

PROMPT: Final = "prompt"
"""No property of the language; its absence is called over-delay of implementations: a message that has arrived is
delivered with the step after which nothing that happened before it is missing. If a protocol has it, its mutants must
have it, too. Without it, nothing would notice that they are too cautious."""

_NO_PROPERTIES: Final = frozenset((SILENT, PROMPT))

PATIENCE: Final = 6
"""Rounds of timers and arrivals after which a protocol has to be silent."""

_INTERPRETED: Final = 5_000
"""Larger scopes are explored by native code, which also tabulates local steps that no run takes: a mutant that differs
in those only then counts as different."""


@dataclass(frozen=True, slots=True)
class KnownScope:
    """A scope that was explored completely.

    Attributes:
        name: for the reader.
        workload: of the scope.
        true, false: the properties that hold of the protocol, and those that are violated (or reached, for witnesses).
        record: the protocol's local steps in it.
        states: of the protocol.
    """

    name: str
    workload: ir.Workload
    true: frozenset[str]
    false: frozenset[str]
    record: StepRecord
    states: int


@dataclass(frozen=True, slots=True)
class Baseline:
    """The baseline of a protocol, with which its mutants are compared.

    Attributes:
        protocol: it.
        scopes: the smaller ones first.
        skipped: scopes that are not used, and why.
        scenarios: of the protocol, whose verdicts are as the file expects.
        link: of the protocol, in the scopes in which every event is enabled in the machine.
        claimed: properties that no scope and no random run violates, and that the file says to be refuted nowhere.
        larger: workloads beyond the scopes, for random runs.
    """

    protocol: ir.Protocol
    scopes: tuple[KnownScope, ...]
    skipped: Mapping[str, str]
    scenarios: tuple[ir.Scenario, ...]
    link: tuple[ir.Link, tuple[ir.Scope, ...]] | None
    claimed: frozenset[str]
    larger: tuple[ir.Workload, ...]


def baseline(specification: ir.Specification, protocol: ir.Protocol, limit: int = SCOPE_STATES) -> Baseline:
    """Explores the file's scopes of the protocol, and the usual ones."""
    named = [scope for scope in specification.scopes if scope.protocol == protocol.name]
    wanted: dict[ir.Workload, str] = {scope.workload: scope.name for scope in named}
    expects = {scope.workload: scope.expects for scope in named}
    for workload in usual_workloads(protocol):
        wanted.setdefault(workload, describe(workload))
    known: list[KnownScope] = []
    skipped: dict[str, str] = {}
    refuted = {
        name for scope in named for expect in scope.expects if expect.verdict == "refuted" for name in expect.names
    }
    for workload, name in wanted.items():
        if not workload.ends:
            skipped[name] = "messages are sent for ever"
            continue
        judged = frozenset(judged_in(protocol, workload, expects.get(workload, ())))
        system = system_of(protocol, workload)
        found = explored(system, judged, limit)
        refuted |= found.violations.keys()
        if not found.complete:
            skipped[name] = found.why_incomplete
            continue
        false = frozenset(found.violations)
        true = judged.difference(false, found.undecided)
        known.append(KnownScope(name, workload, true, false, StepRecord(system), found.states))
    known.sort(key=lambda scope: scope.states)
    link = next((link for link in specification.links if link.protocol.name == protocol.name), None)
    linked = None
    if link is not None:
        able = tuple(scope for scope in link.scopes if linked_in(link, scope.workload))
        linked = (link, able)
    everything = frozenset(judged_in(protocol, larger_workload(protocol, 3, 3), ()))
    claimed: frozenset[str] = everything.difference(refuted, protocol.witnesses) | _NO_PROPERTIES
    larger = (larger_workload(protocol, 3, 4), larger_workload(protocol, 4, 3))
    for workload in larger:
        system = system_of(protocol, workload)
        for seed in range(LARGER_RUNS):
            claimed -= violated_by(system, seed, claimed)
    for scope in known:
        system = system_of(protocol, scope.workload)
        for seed in range(RUNS if claimed & _NO_PROPERTIES else 0):
            claimed -= violated_by(system, seed, claimed & _NO_PROPERTIES)
    scenarios = tuple(
        scenario for scenario in specification.scenarios if scenario.subject == protocol.name and not missed(scenario)
    )
    return Baseline(protocol, tuple(known), skipped, scenarios, linked, claimed, larger)


def usual_workloads(protocol: ir.Protocol) -> tuple[ir.Workload, ...]:
    """The scopes in which every protocol is compared, beside those of its file."""
    least = least_processes(protocol)
    if not protocol.sends:
        found = [_workload(protocol, processes, (0,) * processes) for processes in (2, 3)]
        found += [_workload(protocol, 2, (0, 0), inputs=2, faults=1)]
    else:
        found = [
            _workload(protocol, 3, (1, 1, 1)),
            _workload(protocol, 3, (2, 1, 1)),
            _workload(protocol, 2, (2, 2)),
            _workload(protocol, 2, (3, 1), faults=1),
        ]
    return tuple(workload for workload in found if workload.processes >= least)


def larger_workload(protocol: ir.Protocol, processes: int, sends: int) -> ir.Workload:
    """A workload for random runs, with as many faults as the network may have."""
    processes = max(processes, least_processes(protocol))
    return _workload(protocol, processes, (sends,) * processes, inputs=sends, faults=2)


def _workload(
    protocol: ir.Protocol, processes: int, sends: tuple[int, ...], *, inputs: int = 1, faults: int = 0
) -> ir.Workload:
    network = protocol.network
    return replace(
        workload_for(protocol, sends, inputs),
        duplicates=faults if network.duplicating else 0,
        losses=faults if network.lossy else 0,
    )


def judge_protocol(known: Baseline, mutated: ir.Protocol, states: int = MUTANT_STATES) -> Fate:
    """The fate of a mutant of the protocol. What is stated is the protocol's, also where a definition is mutated."""
    said = known.protocol
    mutated = replace(mutated, invariants=said.invariants, rest=said.rest, promises=said.promises)
    for scenario in known.scenarios:
        wrong = missed(replace(scenario, protocol=mutated))
        if wrong:
            return Fate("killed", f"scenario {wrong}")
    formulas = bool(mutated.formulas)
    different: list[KnownScope] = []
    equal: list[str] = []
    for scope in known.scopes:
        likeness = scope.record.likeness(mutated)
        if not (likeness == "different" or (likeness == "same events" and formulas)):
            equal.append(f"{scope.name} ({likeness})")
            continue
        different.append(scope)
        judged = (scope.true - set(mutated.witnesses)) | (known.claimed & _NO_PROPERTIES)
        fate = _at_random(mutated, scope.workload, RUNS, judged, scope.name)
        if fate is not None:
            return fate
    limited: list[str] = []
    for scope in different:
        fate = _explored_mutant(mutated, scope, states)
        if fate is not None and fate.outcome == "undecided":
            limited.append(fate.reason)
        elif fate is not None:
            return fate
    fate = _linked(known, mutated)
    if fate is not None:
        return fate
    for workload in known.larger:
        fate = _at_random(mutated, workload, LARGER_RUNS, known.claimed, describe(workload))
        if fate is not None:
            return fate
    if not different:
        return Fate("equal", f"equal in scope {'; '.join(equal)}")
    if limited:
        return Fate("undecided", "; ".join(limited))
    return Fate("survived", f"differs in scope {'; '.join(scope.name for scope in different)}, and nothing is violated")


def explored(system: System, judged: Collection[str], limit: int, *, native: bool = True) -> Exploration:
    """Explores the system itself, so that its local steps can be looked at afterwards. Raises: KeyboardInterrupt."""
    native = native and limit > _INTERPRETED and why_not(system) is None
    found = Interpretation(ExplorationRequest(system, frozenset(judged), limit=_INTERPRETED if native else limit)).run()
    if native and not found.complete and not _interrupted(found):
        found = explore_natively(ExplorationRequest(system, frozenset(judged), limit=limit))
    if _interrupted(found):
        raise KeyboardInterrupt
    return found


def linked_in(link: ir.Link, workload: ir.Workload) -> bool:
    """Whether every event of the link's own protocol is enabled in its machine. Raises: KeyboardInterrupt."""
    check = check_link(link, link.protocol, workload)
    if _interrupted(check):
        raise KeyboardInterrupt
    return check.complete


def _interrupted(coverage: Coverage) -> bool:
    """Whether an exploration ended early by an interrupt, so that its result is of no use."""
    return coverage.why_incomplete == "interrupted"


def violated_by(system: System, seed: int, names: Collection[str]) -> frozenset[str]:
    """The properties and invariants that a random run of at most `STEPS` steps violates."""
    draw = random.Random(seed)
    state: State = system.initial()
    wanted = frozenset(names)
    arrived: set[tuple[Message, int]] = set()
    settles = True
    for _ in range(STEPS):
        found = {finding.property for finding in system.broken(state)}
        if not state.network and settles:
            try:
                waiting = stuck(system, state)
            except Unsettled:
                waiting, settles = None, False
            if waiting is not None:
                found.add(waiting.property)
        choices = list(system.enabled(state))
        following = None
        while choices and following is None:
            action = choices.pop(draw.randrange(len(choices)))
            outcome = system.apply(state, action)
            found |= {finding.property for finding in outcome.findings}
            if outcome.state != state:
                following = outcome.state
                if PROMPT in wanted and _withheld(system, following, _arrived(system, action, arrived)):
                    found.add(PROMPT)
        if found & wanted:
            return frozenset(found & wanted)
        if following is None:
            break
        state = following
    if SILENT in wanted and not state.network and not state.history.pending and _speaks_on(system, state):
        return frozenset({SILENT})
    return frozenset()


def _arrived(system: System, action: Action, arrived: set[tuple[Message, int]]) -> set[tuple[Message, int]]:
    """The messages that have arrived, with their processes, and that of the action."""
    message = system.carried(system.packet(action.packet)) if action.kind == "receive" else None
    if message is not None:
        arrived.add((message, action.process))
    return arrived


def _withheld(system: System, state: State, arrived: set[tuple[Message, int]]) -> bool:
    """Whether a message has arrived and is not delivered, though nothing that happened before it is missing there."""
    for entry in state.history.pending:
        for process in entry.due:
            if (entry.message, process) in arrived and not any(
                process in other.due and entry.past & system.bit(other.message) for other in state.history.pending
            ):
                return True
    return False


def _speaks_on(system: System, state: State) -> bool:
    """Whether timers go on sending although everything was delivered, and nothing was lost since."""
    if not system.interpreter.has_timer:
        return False
    for _ in range(PATIENCE):
        for tick in system.ticks():
            outcome = system.apply(state, tick)
            if outcome.findings:
                return False
            state = outcome.state
        if not state.network:
            return False
        for _ in range(STEPS):
            if not state.network:
                break
            number = next(system.receivable(state))
            outcome = system.apply(state, Action("receive", system.packet(number).dst, (), number))
            if outcome.findings:
                return False
            state = outcome.state
    return True


def _at_random(
    mutated: ir.Protocol, workload: ir.Workload, runs: int, names: Collection[str], where: str
) -> Fate | None:
    system = system_of(mutated, workload)
    for seed in range(runs):
        wrong = violated_by(system, seed, names)
        if wrong:
            return Fate("killed", f"{', '.join(sorted(wrong))} violated in {where}, random run {seed}")
    return None


class _Enough(Exception):
    """One surprise is enough."""


def _explored_mutant(mutated: ir.Protocol, scope: KnownScope, states: int) -> Fate | None:
    """Explores the mutant in a scope, up to the first property that holds of the protocol and not of it."""
    system = system_of(mutated, scope.workload)

    def look(_made: Progress) -> None:
        if scope.true & search.result.violations.keys():
            raise _Enough

    search = Interpretation(ExplorationRequest(system, scope.true | scope.false, limit=states, progress=look))
    result = search.result
    try:
        search.run()
    except _Enough:
        result.why_incomplete = "a property is violated"
    violated = scope.true & result.violations.keys()
    if not violated and not result.complete and why_not(system) is None:
        most = max(states, MUTANT_GROWTH * scope.states)
        judged = scope.true | scope.false
        result = explore_natively(ExplorationRequest(system_of(mutated, scope.workload), judged, limit=most))
        violated = scope.true & result.violations.keys()
    if violated:
        name = min(violated, key=lambda name: (len(result.violations[name].steps), name))
        return Fate(
            "killed", f"{name} violated in scope {scope.name}, {counted(len(result.violations[name].steps), 'step')}"
        )
    if not result.complete:
        return Fate("undecided", f"scope {scope.name}: {result.why_incomplete}")
    for name in sorted((scope.true | scope.false) & (result.undecided.keys() - result.violations.keys())):
        return Fate("undecided", f"scope {scope.name}: {result.undecided[name]}")
    lost = scope.false - result.violations.keys()
    if lost:
        return Fate("killed", f"{', '.join(sorted(lost))} is violated (or reached) no more in scope {scope.name}")
    return None


def _linked(known: Baseline, mutated: ir.Protocol) -> Fate | None:
    if known.link is None:
        return None
    link, scopes = known.link
    for scope in scopes:
        check = check_link(link, mutated, scope.workload)
        if check.refuted is not None:
            return Fate(
                "killed", f"link to {link.machine.name}: {counted(len(check.steps), 'step')} in scope {scope.name}"
            )
    return None
