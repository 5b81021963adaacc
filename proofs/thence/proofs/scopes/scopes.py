"""What a file states about protocols in finite scopes, as results: scopes, links, mutants."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, assert_never

from thence.dsl import ir
from thence.dsl.check.workloads.defaults import default_workloads
from thence.dsl.ir.observability import judged_in_steps, unobservable
from thence.dsl.ir.properties import COMPLETES, DEADLOCK_FREE, FAULT, undefined
from thence.dsl.ir.visiting import in_any_order
from thence.dsl.run.causality import WATCHED
from thence.proofs.abstraction.search import SAFETY, AbstractExploration, explore_abstraction
from thence.proofs.engines import explore
from thence.proofs.explore.exploration import (
    CUT_SHORT,
    THE_MACHINE,
    Engine,
    Exploration,
    Keep,
    Method,
    Progress,
    Resources,
    Storage,
    Violation,
)
from thence.proofs.explore.memory_limit import memory_limit
from thence.proofs.explore.reductions import named
from thence.proofs.liveness.lasso import Lasso, LassoSearch, find_lasso
from thence.proofs.native.memory import Allotment
from thence.proofs.scopes.link import LinkCheck, check_link
from thence.proofs.scopes.refutable import cannot_refute
from thence.proofs.scopes.reports import (
    Evidence,
    Exhausted,
    Undecided,
    coverage_facts,
    incomplete,
    is_witness,
    show,
    show_link,
    timers_fire,
)
from thence.proofs.scopes.scarce import asks_for_more
from thence.proofs.scopes.untried import idle, kept_from_the_start, not_tried
from thence.proofs.workload_facts import workload_facts
from thence.proofs.workload_words import describe
from thence.spec.verdict import Kind, Level, Result, Verdict

_UNSHOWN = "a run that violates it was met, but finding it again to show it takes more memory than there is"

_NOT_FAIR = "whether runs are fair is not judged up to a reduction"

_ONLY_DELIVERED = "where messages are sent without end, of all that is to happen eventually only `delivered` is judged"

LIVE = "delivered"
"""The built-in liveness property: every message that is sent is delivered, in the end."""

Report = Callable[[str, Progress], None]
"""Called with the name of an exploration, and its progress."""


@dataclass(frozen=True, slots=True)
class Options:
    """How to explore.

    Attributes:
        limit: at most so many states; None: no limit.
        report: is told how far each exploration is.
        reductions: names of reductions, see `engines.explore`.
        storage: which states are kept.
        keep: takes the states of an exploration that is complete.
    """

    limit: int | None = None
    report: Report | None = None
    engine: Engine = "auto"
    resources: Resources = THE_MACHINE
    reductions: Collection[str] = ()
    storage: Storage = "exact"
    keep: Keep | None = None

    @property
    def method(self) -> Method:
        """The same for one exploration."""
        return Method(self.engine, self.resources, self.reductions, self.storage, self.keep)

    def progress(self, label: str) -> Callable[[Progress], None] | None:
        """The progress callback for one exploration."""
        report = self.report
        return None if report is None else lambda progress: report(label, progress)


def properties_of(protocol: ir.Protocol) -> tuple[str, ...]:
    """The properties judged of a protocol: those that it names, its invariants, and that no step is at fault."""
    formulas = tuple(formula.name for formula in (*protocol.invariants, *protocol.rest))
    return (*protocol.properties, *protocol.liveness, *formulas, "fault")


def judgeable(protocol: ir.Protocol, workload: ir.Workload) -> tuple[str, ...]:
    """Everything that can be judged of the protocol in the workload, whether the protocol claims it or not."""
    everywhere = ("causal", "fifo", "csps", "sps", "at_most_once", "no_creation", DEADLOCK_FREE, LIVE, FAULT)
    shape = (COMPLETES,) if workload.programs else ()
    return tuple(dict.fromkeys((*properties_of(protocol), *everywhere, *WATCHED, *shape)))


def judged_in(protocol: ir.Protocol, workload: ir.Workload, expects: Sequence[ir.Expectation]) -> tuple[str, ...]:
    """The properties judged by default: all, for endless sends liveness only; and those with expectations."""
    if isinstance(workload.sending, ir.AnyNumber):
        usual: tuple[str, ...] = tuple(name for name in properties_of(protocol) if name in SAFETY)
    else:
        usual = properties_of(protocol) if workload.ends else protocol.liveness
    shape = (COMPLETES,) if workload.programs else ()
    return tuple(dict.fromkeys((*usual, *shape, *(name for expect in expects for name in expect.names))))


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of results: a protocol, or a mutant of one, in one workload.

    Attributes:
        name: the protocol's, or `protocol/mutant`.
        scope: the name of the workload, if it has one.
        title: how the names of results begin.
    """

    kind: Kind
    name: str
    protocol: ir.Protocol
    scope: str | None
    workload: ir.Workload
    title: str


@dataclass(frozen=True, slots=True)
class Explored:
    """An exploration, and the properties that were `judged`.

    `any_order`: the same where sets and maps are visited in every order, if steps depend on it.
    `search`: where messages are sent for ever, the search for a lasso, which decides `delivered`.
    """

    exploration: Exploration | AbstractExploration
    judged: frozenset[str]
    search: LassoSearch | None = None
    any_order: Exploration | None = None

    def covered(self, property_: str) -> Exploration | AbstractExploration | LassoSearch:
        """The search that decides about a property."""
        return self.exploration if self.search is None or property_ != LIVE else self.search


_UNNAMED = {False: "scope", True: "scope with faults"}
"""How the names of results begin where the scope has no name."""


def _is_faulty(workload: ir.Workload) -> bool:
    """Whether the network has faults in the scope, or timers fire before it is quiet."""
    return bool(
        workload.duplicates or workload.losses or workload.ticks or any(number for _, number in workload.timers)
    )


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
    wanted = {known: Verdict(expect.verdict) for expect in expects for known in (expect.names or judged)}
    subject = Subject("scope", protocol.name, protocol, name, workload, name or _UNNAMED[_is_faulty(workload)])
    return _results(subject, {property_: wanted.get(property_) for property_ in judged}, options, label)


def explore_unscoped(protocol: ir.Protocol, options: Options = Options()) -> tuple[Result, ...]:
    """Explores a protocol for which the file states no scope, in the default scopes."""
    workloads = default_workloads(protocol)
    return tuple(
        result for workload in workloads for result in explore_scope(protocol, None, workload, options=options)
    )


def _results(
    subject: Subject, wanted: Mapping[str, Verdict | None], options: Options, label: str
) -> tuple[Result, ...]:
    """Judges the properties; `wanted` are the verdicts that the file states, None where it states none."""
    stop = all(verdict is Verdict.REFUTED for verdict in wanted.values())
    explored = _explored(subject, tuple(wanted), stop, options, label)
    return tuple(_property_result(subject, explored, property_, verdict) for property_, verdict in wanted.items())


def _explored(subject: Subject, judged: Collection[str], stop: bool, options: Options, label: str) -> Explored:
    """Explores within the memory that there is, whoever explores."""
    try:
        with memory_limit(Allotment.of(options.resources).memory):
            return _explored_within(subject, judged, stop, options, label)
    except MemoryError:
        return Explored(Exploration(why_incomplete="out of memory"), frozenset(judged))


def _explored_within(subject: Subject, judged: Collection[str], stop: bool, options: Options, label: str) -> Explored:
    protocol, workload, progress = subject.protocol, subject.workload, options.progress(label)
    if isinstance(workload.sending, ir.AnyNumber):
        steps = {FAULT, *SAFETY.intersection(judged)}
        found_abstract = explore_abstraction(protocol, workload, steps, limit=options.limit, progress=progress)
        return Explored(found_abstract, frozenset(judged))
    search = None
    if not workload.ends and LIVE in judged:
        search = find_lasso(protocol, workload, limit=options.limit, progress=progress)
        search.refused = dict.fromkeys(named(options.reductions), _NOT_FAIR)
    promised = set[str]() if workload.ends else {promise.name for promise in protocol.promises}
    safety = [name for name in judged if (search is None or name != LIVE) and name not in promised]
    if not safety:
        return Explored(Exploration(), frozenset(judged), search)
    beside = [undefined(name) for name in safety if name in protocol.witnesses]
    beside += [FAULT] if FAULT not in safety and not stop else []
    found = explore(
        protocol, workload, (*safety, *beside), stop_when_refuted=stop, limit=options.limit, progress=progress,
        method=options.method,
    )  # fmt: skip
    any_order = None
    if found.complete and found.order_matters is not None:
        any_order = explore(
            in_any_order(protocol), workload, (*safety, *beside), limit=options.limit, progress=progress,
            method=replace(options.method, keep=None),
        )  # fmt: skip
    return Explored(found, frozenset(judged), search, any_order)


def _property_result(subject: Subject, explored: Explored, property_: str, wanted: Verdict | None) -> Result:
    covered, witness = explored.covered(property_), is_witness(subject.protocol, property_)
    evidence = _evidence(subject, explored, property_)
    verdict = _verdict(evidence, witness)
    of_steps = any(formula.name == property_ for formula in judged_in_steps(subject.protocol))
    shown = show(evidence, covered, witness, "step" if of_steps else "state")
    lives = property_ == LIVE or property_ in subject.protocol.liveness
    timers = timers_fire(subject.protocol, subject.workload) if lives else ""
    facts = {
        "property": property_,
        **({"timers": timers} if timers else {}),
        "scope": workload_facts(subject.scope, subject.workload, subject.protocol),
        **coverage_facts(covered),
        **_limits(subject, property_, verdict),
        **_order_facts(explored, property_, verdict, witness=witness),
        **_scarce(evidence, verdict, wanted, witness=witness),
        **shown.facts,
    }
    return Result(
        f"{subject.title}: {property_}", subject.kind, subject.name, verdict, Level.L1,
        verdict is (wanted or Verdict.HOLDS), covered.seconds, facts,
        _with_restriction(shown.explanation, timers, verdict), shown.picture, wanted,
    )  # fmt: skip


def _with_restriction(explanation: str, timers: str, verdict: Verdict) -> str:
    """The explanation of a verdict on `delivered`: that it holds is said of the runs in which timers fire so."""
    return "\n".join(filter(None, (explanation, timers if verdict is Verdict.HOLDS else "")))


def _order_facts(explored: Explored, property_: str, verdict: Verdict, *, witness: bool) -> dict[str, Any]:
    """Whether steps depend on the order in which loops visit sets and maps, and whether the verdict does."""
    forwards, others = explored.exploration, explored.any_order
    if others is None or not isinstance(forwards, Exploration) or explored.covered(property_) is not forwards:
        return {}
    other = verdict
    if property_ in others.violations:
        other = Verdict.HOLDS if witness else Verdict.REFUTED
    elif not others.complete or property_ in others.undecided:
        other = Verdict.UNKNOWN
    return {"set_order": {"handler": forwards.order_matters, "any_order": other.value}}


def _scarce(evidence: Evidence, verdict: Verdict, wanted: Verdict | None, *, witness: bool) -> dict[str, Any]:
    """What the scope lets the application do too rarely, where something is refuted that nobody expects to be."""
    if witness or not isinstance(evidence, Violation) or wanted is verdict:
        return {}
    asked = asks_for_more(evidence)
    return {} if asked is None else {"asks_for_more": asked}


def _limits(subject: Subject, property_: str, verdict: Verdict) -> dict[str, Any]:
    """What the scope leaves out, and whether it could have refuted what holds."""
    untried = not_tried(subject.protocol, subject.workload)
    weak = None
    if verdict is Verdict.HOLDS:
        weak = cannot_refute(subject.workload, property_)
        weak = weak or kept_from_the_start(subject.protocol, subject.workload, property_)
    return {**({"not_tried": list(untried)} if untried else {}), **({"cannot_refute": weak} if weak else {})}


def _evidence(subject: Subject, explored: Explored, property_: str) -> Evidence:
    """The finding of the exploration about a property."""
    protocol = subject.protocol
    if not subject.workload.ends and any(promise.name == property_ for promise in protocol.promises):
        return Undecided(_ONLY_DELIVERED)
    covered, violation = explored.covered(property_), explored.exploration.violations.get(property_)
    if violation is not None:
        return violation
    if isinstance(covered, LassoSearch) and covered.lasso is not None:
        return covered.lasso
    if isinstance(covered, AbstractExploration) and (why := covered.undecided(property_)):
        return Undecided(why)
    if isinstance(covered, Exploration) and property_ in covered.unshown:
        return Undecided(_UNSHOWN)
    if isinstance(covered, Exploration) and property_ in covered.undecided:
        return Undecided(covered.undecided[property_])
    if property_ in protocol.witnesses and (nowhere := explored.exploration.violations.get(undefined(property_))):
        return Undecided(nowhere.finding.detail, nowhere)
    if (unseen := _unseen(subject, explored, property_)) is not None:
        return Undecided(unseen)
    if _ends_in_a_fault(explored.exploration) and not _outlives_faults(protocol, property_, explored.judged):
        return Undecided(CUT_SHORT)
    return Exhausted() if covered.complete else Undecided(incomplete(covered))


def _unseen(subject: Subject, explored: Explored, property_: str) -> str | None:
    """Why the property could not be seen to be violated in any run of the scope; None if it could."""
    covered = explored.covered(property_)
    within = idle(subject.protocol, subject.workload, property_, covered) if covered.complete else None
    return unobservable(subject.protocol, property_) or within


def _ends_in_a_fault(explored: Exploration | AbstractExploration) -> bool:
    """Whether some run does, or may."""
    suspected = isinstance(explored, AbstractExploration) and FAULT in explored.suspects
    return suspected or FAULT in explored.violations


def _outlives_faults(protocol: ir.Protocol, property_: str, judged: Collection[str]) -> bool:
    """Whether the property holds where no run violates it and some run ends in a fault that is judged beside it."""
    rest = (formula.name for formula in protocol.rest)
    at_end = is_witness(protocol, property_) or property_ in (LIVE, DEADLOCK_FREE, *protocol.liveness, *rest)
    return FAULT in judged and not at_end


def _verdict(evidence: Evidence, witness: bool) -> Verdict:
    """The verdict on a property; `witness`: it holds if some run reaches a state."""
    match evidence:
        case Violation():
            return Verdict.HOLDS if witness else Verdict.REFUTED
        case Lasso():
            return Verdict.REFUTED
        case Undecided():
            return Verdict.UNKNOWN
        case Exhausted():
            return Verdict.REFUTED if witness else Verdict.HOLDS
        case _:
            assert_never(evidence)


# --- mutants ---------------------------------------------------------------------------------


def check_mutant(
    specification: ir.Specification, mutant: ir.Mutant, options: Options = Options()
) -> tuple[Result, ...]:
    """Explores a mutant of a protocol as its expectations say; one result per expectation and property."""
    assert isinstance(mutant.mutated, ir.Protocol)
    return tuple(_mutant_results(specification, mutant, mutant.mutated, options))


def _mutant_results(
    specification: ir.Specification, mutant: ir.Mutant, mutated: ir.Protocol, options: Options
) -> Iterator[Result]:
    groups: dict[tuple[str | None, ir.Workload], dict[str, Verdict]] = {}
    for expect in mutant.expects:
        assert expect.settings is not None
        for name in expect.names:
            groups.setdefault((expect.scope, expect.settings), {})[name] = Verdict(expect.verdict)
    for (scope, workload), wanted in groups.items():
        title = scope or describe(workload)
        label = f"{mutant.name} {title}"
        subject = Subject("mutant", f"{mutant.subject}/{mutant.name}", mutated, scope, workload, title)
        explored = {name: verdict for name, verdict in wanted.items() if name != "link"}
        if explored:
            yield from _results(subject, explored, options, label)
        if "link" in wanted:
            links = [known for known in specification.links if known.protocol.name == mutant.subject]
            checks = [
                (link, check_link(link, mutated, workload, limit=options.limit, progress=options.progress(label)))
                for link in links
            ]
            yield _link_result(subject, *min(checks, key=_how_well), wanted["link"])


# --- links -----------------------------------------------------------------------------------


def check_links(link: ir.Link, options: Options = Options()) -> tuple[Result, ...]:
    """Checks a link in each of its scopes; in the default scopes where the file states none of the protocol."""
    scopes: list[tuple[str | None, ir.Workload]] = [(scope.name, scope.workload) for scope in link.scopes]
    results = []
    for name, workload in scopes or [(None, workload) for workload in default_workloads(link.protocol)]:
        title = name or describe(workload)
        bounded = (expect for expect in link.expects if expect.verdict != "proved")
        stated = (Verdict(expect.verdict) for expect in bounded if expect.scope in (None, name))
        progress = options.progress(f"{link.name} {title}")
        check = check_link(link, link.protocol, workload, limit=options.limit, progress=progress)
        subject = Subject("link", link.name, link.protocol, name, workload, title)
        results.append(_link_result(subject, link, check, next(stated, None)))
    return tuple(results)


def _how_well(checked: tuple[ir.Link, LinkCheck]) -> tuple[bool, bool]:
    """A link that is broken comes before one that is not known to hold, and this before one that holds."""
    _, check = checked
    return check.refuted is None, check.complete


def _link_result(subject: Subject, link: ir.Link, check: LinkCheck, wanted: Verdict | None) -> Result:
    unbroken = Verdict.HOLDS if check.complete and not check.idle else Verdict.UNKNOWN
    verdict = unbroken if check.refuted is None else Verdict.REFUTED
    shown = show_link(check)
    facts = {
        "property": "link",
        "machine": link.machine.name,
        **({"invariants": [each.name for each in link.invariants]} if link.invariants else {}),
        "scope": workload_facts(subject.scope, subject.workload, subject.protocol),
        **({"not_tried": list(check.untaken)} if verdict is Verdict.HOLDS and check.untaken else {}),
        **shown.facts,
    }
    name = f"{subject.title}: every event is enabled in {link.machine.name}"
    return Result(
        name, subject.kind, subject.name, verdict, Level.L1, verdict is (wanted or Verdict.HOLDS), check.seconds,
        facts, shown.explanation, shown.picture, wanted,
    )  # fmt: skip
