"""What a file states about protocols in finite scopes, as results: scopes, links, mutants."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from thence.dsl import ir
from thence.dsl.check.workload import MOST_MULTICAST, all_choices
from thence.dsl.ir.properties import COMPLETES
from thence.dsl.run.narrate import execution, record, text
from thence.dsl.text.programs import Program
from thence.dsl.text.programs import describe as describe_program
from thence.proofs.abstraction.report import abstraction_facts, describe_abstraction
from thence.proofs.abstraction.search import SAFETY, AbstractExploration, explore_abstraction
from thence.proofs.engines import explore
from thence.proofs.explore.exploration import (
    THE_MACHINE,
    Coverage,
    Engine,
    Exploration,
    Progress,
    Resources,
    Storage,
    Violation,
)
from thence.proofs.explore.reductions import kept_by
from thence.proofs.liveness.lasso import LassoSearch, explain_lasso, find_lasso
from thence.proofs.liveness.order_lines import Lines
from thence.proofs.scopes.link import LinkCheck, check_link
from thence.spec.delivery_order import first_crossing
from thence.spec.diagram import draw_svg, draw_text, highlight_of
from thence.spec.events import Execution
from thence.spec.oracle import Finding, Oracle
from thence.spec.verdict import Kind, Level, Result, Verdict

_SATURATED = (
    "any number of messages: they are sent for ever, and no process ever had more on the way than it has identities,"
    " so more of them would reach no new state"
)

_UNSHOWN = "a run that violates it was met, but finding it again to show it takes more memory than there is"

LIVE = "delivered"
"""The one liveness property: every message that is sent is delivered, in the end."""

Report = Callable[[str, Progress], None]
"""Called with what is being explored, and how far it is."""

ORACLE_KINDS = {
    "causal": "causal", "fifo": "fifo", "at_most_once": "duplicate", "no_creation": "phantom", "delivered": "stuck",
}  # fmt: skip
"""Which finding of the metadata-free oracle confirms a violation of which property."""


@dataclass(frozen=True, slots=True)
class Options:
    """How to explore: at most so many states (None: no limit), whom to tell, by which engine, with what, up to what,
    and what to keep of states.
    """

    limit: int | None = None
    report: Report | None = None
    engine: Engine = "auto"
    resources: Resources = THE_MACHINE
    reductions: Collection[str] = ()
    storage: Storage = "exact"

    def progress(self, label: str) -> Callable[[Progress], None] | None:
        """The progress callback for one exploration."""
        report = self.report
        return None if report is None else lambda progress: report(label, progress)


def properties_of(protocol: ir.Protocol) -> tuple[str, ...]:
    """Everything that is judged of a protocol: what it names, its invariants, and that no step is at fault."""
    invariants = tuple(invariant.name for invariant in protocol.invariants)
    return (*protocol.properties, *protocol.eventually, *invariants, "fault")


def is_witness(protocol: ir.Protocol, name: str) -> bool:
    """Whether the name is of something that holds when some run reaches it."""
    return name in protocol.witnesses or name == COMPLETES


def describe(workload: ir.Workload) -> str:
    """A workload in words."""
    words = [f"{workload.processes} processes"]
    counts = set(workload.sends)
    if workload.unbounded:
        words.append("any number of messages")
    else:
        words.append(
            f"{counts.pop()} sends each" if len(counts) == 1 else f"sends {', '.join(map(str, workload.sends))}"
        )
    others = tuple(tuple(q for q in range(workload.processes) if q != p) for p in range(workload.processes))
    everyone = tuple(tuple(range(workload.processes)) for _ in range(workload.processes))
    if workload.groups:
        words += _groups(workload)
    elif workload.destinations == everyone:
        words.append("to anybody, oneself included")
    elif any(
        sends and chosen != any_other
        for sends, chosen, any_other in zip(workload.sends, workload.destinations, others, strict=True)
    ):
        edges = [f"{p} to {', '.join(map(str, chosen))}" for p, chosen in enumerate(workload.destinations) if chosen]
        words.append("; ".join(edges))
    if any(workload.endless) and not workload.unbounded:
        senders = [str(process) for process, identities in enumerate(workload.endless) if identities]
        words.append(f"for ever by {', '.join(senders)}")
    if workload.room is not None:
        words.append(f"room for {workload.room}")
    if workload.prompt and not workload.unbounded:
        words.append("sent promptly")
    if workload.reactive:
        words.append("also sent inside deliveries")
    if workload.fifo:
        words.append("on FIFO channels")
    if workload.tree:
        words.append(f"tree {', '.join(f'{a}-{b}' for a, b in workload.tree)}")
    for process, program in enumerate(workload.programs):
        if program is not None:
            words.append(f"program {process}: {describe_program(program)}")
    words += [f"{number} {what}" for number, what in _faults(workload) if number]
    if workload.ticks is not None:
        words.append(f"{workload.ticks} ticks each")
    return ", ".join(words)


def _groups(workload: ir.Workload) -> list[str]:
    """To which sets of processes messages go, where that is not what delivery in general allows."""
    count = workload.processes
    usual = {}
    if count <= MOST_MULTICAST:
        usual[all_choices(count, "multicast", True)] = "to any"
        usual[all_choices(count, "multicast", False)] = "to any others"
    usual[all_choices(count, "broadcast", True)] = "to all"
    usual[all_choices(count, "broadcast", False)] = "to all others"
    if workload.groups in usual:
        return [usual[workload.groups]]
    return [
        f"{process} to {' or '.join('+'.join(map(str, choice)) or 'none' for choice in choices)}"
        for process, choices in enumerate(workload.groups)
        if choices and workload.sends[process]
    ]


def _faults(workload: ir.Workload) -> list[tuple[int, str]]:
    return [(workload.duplicates, "duplicated"), (workload.losses, "lost")]


def workload_facts(name: str | None, workload: ir.Workload) -> dict[str, Any]:
    """A scope as JSON values."""
    return {
        "name": name,
        "processes": workload.processes,
        "sends": list(workload.sends),
        "destinations": [list(chosen) for chosen in workload.destinations],
        **({"groups": [[list(group) for group in chosen] for chosen in workload.groups]} if workload.groups else {}),
        "duplicates": workload.duplicates,
        "losses": workload.losses,
        "ticks": workload.ticks,
        **_endless_facts(workload),
        **({"reactive": True} if workload.reactive else {}),
        **({"fifo": True} if workload.fifo else {}),
        **({"tree": [list(edge) for edge in workload.tree]} if workload.tree else {}),
        **({"programs": [_steps(program) for program in workload.programs]} if workload.programs else {}),
    }


def _endless_facts(workload: ir.Workload) -> dict[str, Any]:
    if workload.unbounded:
        return {"unbounded": True}
    room = {} if workload.room is None else {"room": workload.room}
    return {"endless": list(workload.endless), "prompt": workload.prompt, **room} if workload.endless else {}


def _steps(program: Program | None) -> list[list[Any]] | None:
    return None if program is None else [[verb, list(others)] for verb, others in program]


def explore_scope(
    protocol: ir.Protocol,
    name: str | None,
    workload: ir.Workload,
    expects: Sequence[ir.Expectation] = (),
    properties: Collection[str] = (),
    options: Options = Options(),
) -> tuple[Result, ...]:
    """Explores one scope; one result per property, all with the counts of the one exploration.

    Where each is expected to be refuted, the exploration ends when each is.
    """
    judged = tuple(properties) or judged_in(protocol, workload, expects)
    label = f"{protocol.name} {name or describe(workload)}"
    wanted = {known: expect.verdict for expect in expects for known in (expect.names or judged)}
    stop = all(wanted.get(name) == "refuted" for name in judged)
    exploration, search = _explored(protocol, workload, judged, stop, options, label)
    return tuple(
        _property_result(
            "scope", protocol.name, prefix=name or "scope", scope=name, workload=workload, property_=property_,
            exploration=exploration, search=search, wanted=wanted.get(property_, "holds"),
            witness=is_witness(protocol, property_),
        )
        for property_ in judged
    )  # fmt: skip


def judged_in(protocol: ir.Protocol, workload: ir.Workload, expects: Sequence[ir.Expectation]) -> tuple[str, ...]:
    """What a scope is about by default: everything, for endless sends liveness only; and what is expected."""
    if workload.unbounded:
        usual: tuple[str, ...] = tuple(name for name in properties_of(protocol) if name in SAFETY)
    else:
        usual = protocol.eventually if any(workload.endless) else properties_of(protocol)
    shape = (COMPLETES,) if workload.programs else ()
    return tuple(dict.fromkeys((*usual, *shape, *(name for expect in expects for name in expect.names))))


def _explored(
    protocol: ir.Protocol, workload: ir.Workload, judged: Collection[str], stop: bool, options: Options, label: str
) -> tuple[Exploration | AbstractExploration, LassoSearch | None]:
    """The exploration, and where messages are sent for ever the search for a lasso, which decides about `delivered`."""
    progress = options.progress(label)
    if workload.unbounded:
        judged = [name for name in judged if name in SAFETY]
        whole = explore_abstraction(protocol, workload, judged, limit=options.limit, progress=progress)
        return whole, None
    search = None
    if any(workload.endless) and LIVE in judged:
        search = find_lasso(protocol, workload, limit=options.limit, progress=progress)
        search.refused = dict.fromkeys(options.reductions, "whether runs are fair is not judged up to a reduction")
    safety = [name for name in judged if search is None or name != LIVE]
    if not safety:
        return Exploration(), search
    found = explore(
        protocol, workload, safety, stop_when_refuted=stop, limit=options.limit, progress=progress,
        engine=options.engine, resources=options.resources, reductions=options.reductions, storage=options.storage,
    )  # fmt: skip
    return found, search


def check_mutant(
    specification: ir.Specification, mutant: ir.Mutant, options: Options = Options()
) -> tuple[Result, ...]:
    """Explores a mutant of a protocol as its expectations say; one result per expectation and property."""
    assert isinstance(mutant.mutated, ir.Protocol)
    return tuple(_mutant_results(specification, mutant, mutant.mutated, options))


def _mutant_results(
    specification: ir.Specification, mutant: ir.Mutant, mutated: ir.Protocol, options: Options
) -> Iterator[Result]:
    groups: dict[tuple[str | None, ir.Workload], dict[str, str]] = {}
    for expect in mutant.expects:
        assert expect.settings is not None
        for name in expect.names:
            groups.setdefault((expect.scope, expect.settings), {})[name] = expect.verdict
    for (scope, workload), wanted in groups.items():
        label = f"{mutant.name} {scope or describe(workload)}"
        explored = {name: verdict for name, verdict in wanted.items() if name != "link"}
        if explored:
            stop = all(verdict == "refuted" for verdict in explored.values())
            exploration, search = _explored(mutated, workload, tuple(explored), stop, options, label)
            for name, verdict in explored.items():
                yield _property_result(
                    "mutant", f"{mutant.subject}/{mutant.name}", prefix=scope or describe(workload), scope=scope,
                    workload=workload, property_=name, exploration=exploration, search=search, wanted=verdict,
                    witness=is_witness(mutated, name),
                )  # fmt: skip
        if "link" in wanted:
            link = next(known for known in specification.links if known.protocol.name == mutant.subject)
            check = check_link(link, mutated, workload, progress=options.progress(label))
            yield _link_result(
                "mutant", f"{mutant.subject}/{mutant.name}", scope, workload, link, check, wanted=wanted["link"]
            )


def check_links(link: ir.Link, options: Options = Options()) -> tuple[Result, ...]:
    """Checks a link in each of its scopes."""
    results = []
    for scope in link.scopes:
        wanted = next((expect.verdict for expect in link.expects if expect.scope in (None, scope.name)), "holds")
        label = f"{link.name} {scope.name}"
        check = check_link(link, link.protocol, scope.workload, progress=options.progress(label))
        results.append(_link_result("link", link.name, scope.name, scope.workload, link, check, wanted))
    return tuple(results)


def _property_result(
    kind: Kind,
    subject: str,
    *,
    prefix: str,
    scope: str | None,
    workload: ir.Workload,
    property_: str,
    exploration: Exploration | AbstractExploration,
    search: LassoSearch | None,
    wanted: str,
    witness: bool,
) -> Result:
    searched = search if property_ == LIVE else None
    covered: Coverage = exploration if searched is None else searched
    violation = exploration.violations.get(property_)
    facts: dict[str, Any] = {
        "property": property_,
        "scope": workload_facts(scope, workload),
        **_covered(covered),
        **_manner(covered),
    }
    if violation is not None and not violation.shortest:
        facts["shortest"] = False
    if searched is not None and searched.lines is not None:
        facts["levels"] = {"near": searched.lines.near, "numbers": list(searched.lines.names())}
    if searched is not None and searched.refused:
        facts["refused"] = dict(searched.refused)
    explanation, picture, level = "", "", Level.L1
    certain = not isinstance(covered, Exploration) or covered.storage != "fingerprints"
    if violation is not None and witness:
        verdict = Verdict.HOLDS
        facts["steps"] = record(violation.system, violation.steps)
        explanation, picture = explain(violation)
    elif violation is not None:
        verdict = Verdict.REFUTED
        facts["counterexample"] = record(violation.system, violation.steps)
        explanation, picture = explain(violation)
    elif searched is not None and searched.lasso is not None:
        verdict = Verdict.REFUTED
        lasso = searched.lasso
        facts["counterexample"] = record(lasso.system, (*lasso.stem, *lasso.cycle))
        facts["lasso"] = {"message": lasso.message.name, "stem": len(lasso.stem), "cycle": len(lasso.cycle)}
        explanation, picture = explain_lasso(lasso)
    elif isinstance(covered, AbstractExploration) and (why := covered.undecided(property_)):
        verdict = Verdict.UNKNOWN
        facts["unknown"] = why
    elif isinstance(covered, Exploration) and property_ in covered.unshown:
        verdict = Verdict.UNKNOWN
        facts["unknown"] = _UNSHOWN
    elif covered.complete and witness and certain:
        verdict = Verdict.REFUTED
        explanation = "no state that is reachable in the scope is one"
    elif covered.complete and not certain:
        assert isinstance(covered, Exploration)
        verdict = Verdict.UNKNOWN if witness else Verdict.TESTED
        level = Level.L0
        explanation = _uncertain(covered, "is one" if witness else "violates it")
        if witness:
            facts["unknown"] = explanation
    elif covered.complete:
        verdict = Verdict.HOLDS
        if covered.saturated:
            facts["saturated"] = True
            explanation = describe_abstraction(covered) if isinstance(covered, AbstractExploration) else _SATURATED
        elif searched is not None and searched.lines is not None:
            explanation = _levels(searched.lines, searched.piles)
    else:
        verdict = Verdict.UNKNOWN
        facts["unknown"] = _incomplete(covered)
    return Result(
        f"{prefix}: {property_}", kind, subject, verdict, level, _as_expected(verdict, wanted),
        covered.seconds, facts, explanation, picture,
    )  # fmt: skip


def _as_expected(verdict: Verdict, wanted: str) -> bool:
    """Whether the verdict is the one that is wanted; whatever was only tested may hold."""
    return verdict.value == wanted or (verdict is Verdict.TESTED and wanted == "holds")


def _uncertain(exploration: Exploration, what: str) -> str:
    return (
        f"no state that was met {what}. States were told apart by 64-bit fingerprints: if these are as good as random, "
        f"some state was taken for another with a probability of at most {exploration.omission:.1e}"
    )


def _levels(lines: Lines, piles: bool) -> str:
    named = ", ".join(lines.names())
    repeated = "timers fire at any moment, and packets that they repeat count as one or more\n" if piles else ""
    return repeated + (
        f"numbers that grow count by their order, and by distances up to {lines.near}: {named}"
        if named
        else "no number of the protocol grows"
    )


def _covered(coverage: Coverage) -> dict[str, Any]:
    return {
        "states": coverage.states,
        "transitions": coverage.transitions,
        "depth": coverage.depth,
        "complete": coverage.complete,
    }


def _manner(exploration: Coverage) -> dict[str, Any]:
    """By which engine, and up to what states were counted; why a reduction that was asked for was not made."""
    if isinstance(exploration, AbstractExploration):
        return abstraction_facts(exploration)
    if not isinstance(exploration, Exploration):
        return {}
    found: dict[str, Any] = {"engine": exploration.engine, "reductions": list(exploration.reductions)}
    if exploration.reductions:
        found["keeps"] = list(kept_by(exploration.reductions))
    if exploration.refused:
        found["refused"] = dict(exploration.refused)
    if exploration.storage != "exact":
        found["storage"] = exploration.storage
    if exploration.storage == "fingerprints":
        found["omission"] = exploration.omission
    return found


def _incomplete(coverage: Coverage) -> str:
    return f"incomplete: {coverage.why_incomplete} after {coverage.states:,} states"


def _link_result(
    kind: Kind, subject: str, scope: str | None, workload: ir.Workload, link: ir.Link, check: LinkCheck, wanted: str
) -> Result:
    facts: dict[str, Any] = {
        "property": "link",
        "machine": link.machine.name,
        "scope": workload_facts(scope, workload),
        **_covered(check),
    }
    explanation = picture = ""
    if check.broken is not None:
        assert check.system is not None
        verdict = Verdict.REFUTED
        facts["counterexample"] = record(check.system, check.steps)
        observed = execution(check.system, check.steps)
        explanation = f"{text(check.steps)}\n\n{check.broken}\n\n{draw_text(observed)}"
        picture = draw_svg(observed)
    elif check.complete:
        verdict = Verdict.HOLDS
    else:
        verdict = Verdict.UNKNOWN
        facts["unknown"] = _incomplete(check)
    name = f"{scope or describe(workload)}: every event is enabled in {link.machine.name}"
    return Result(
        name, kind, subject, verdict, Level.L1, verdict.value == wanted, check.seconds, facts, explanation, picture
    )


def explain(violation: Violation) -> tuple[str, str]:
    """The counterexample for a reader: as steps with a space-time diagram, and the diagram as SVG.

    What the independent oracle can see of it must confirm it.
    """
    observed = execution(violation.system, violation.steps)
    seen = confirm(violation, observed)
    finding = violation.finding
    lines = [text(violation.steps)]
    if finding.property == "delivered" and finding.message is not None:
        lines.append(f"\nNothing is in flight, and p{finding.process} never delivers {finding.message.name}.")
    elif is_witness(violation.system.protocol, finding.property):
        lines.append(f"\n{finding.detail if finding.property == COMPLETES else f'{finding.property} is reached'}.")
    elif not violation.steps or not violation.steps[-1].outcome.findings:
        lines.append(f"\n{finding.detail or finding.property}")
    highlight = None if seen is None else highlight_of(seen)
    if observed.events:
        lines.append(f"\n{draw_text(observed, highlight)}")
    return "\n".join(lines), draw_svg(observed, highlight)


def confirm(violation: Violation, observed: Execution) -> Finding | None:
    """Holds a violation against the metadata-free oracle, which knows nothing of the protocol.

    Returns what the oracle finds; None for properties that it does not judge.
    """
    if violation.finding.property == "total_order":
        assert first_crossing(observed) is not None, "the deliveries of the run agree"
    kind = ORACLE_KINDS.get(violation.finding.property)
    if kind is None:
        return None
    oracle = Oracle(observed.processes)
    seen = [finding for event in observed.events for finding in oracle.observe(event)]
    if kind == "stuck":
        seen += oracle.at_quiescence()
    confirming = next((finding for finding in seen if finding.kind == kind), None)
    assert confirming is not None, f"the oracle does not confirm the violation of {violation.finding.property}"
    return confirming
