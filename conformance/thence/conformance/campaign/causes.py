"""Failing cases grouped by cause: the same guard of the protocol, or the same schedule when shortened.

First by the system, and the guard that decided where a case left its protocol, or the field of a packet that differed;
cases without either by the gravest kind of finding. Of each such group the shortest case is shortened; groups of a
system whose shortened schedules are the same are one cause.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Final, get_args

from thence.conformance.campaign.reporting import FailingCase
from thence.conformance.cases.recorded_case import RecordedCase, read_case
from thence.conformance.conform.rerun import opposite
from thence.conformance.conform.sampling import Sampling
from thence.conformance.conform.trials import Trials
from thence.conformance.harness.explain import case_explained, picture
from thence.conformance.harness.shortening import Shortening
from thence.conformance.replay.findings import FindingKind
from thence.conformance.systems.subject import load_subject
from thence.conformance.systems.trust import Word
from thence.dsl.find import named_protocol
from thence.spec.user_error import UserError

MOST_SHORTENED: Final = 48
"""Groups that are shortened: the largest of each system first, then the others by size."""

ATTEMPTS: Final = 1_500

SHOWN_SEEDS: Final = 5

LONGEST_FINDING: Final = 4_000
"""So much of a finding is looked at for its guard: the search takes time quadratic in it."""

_GUARD = re.compile(r"; (\[[^\]]*\] .*? was (?:true|false))|, (`\w+` of the subject's \w+) is ")


@dataclass(frozen=True, slots=True)
class Cause:
    """The cause of some failing cases.

    Attributes:
        systems: which systems failed so.
        kinds: the kinds of finding.
        guard: the condition of the protocol that decided, where the cases left it, or the field of a packet.
        cases: their number.
        seeds: the first of them.
        finding: one of them in words.
        recorded: a case that shows it, shortened where possible; None where cases cannot be run again.
        shortened: whether `recorded` is shortened.
        explanation: the case in words, and drawn.
        picture: its diagram as SVG.
    """

    systems: tuple[str, ...]
    kinds: tuple[str, ...]
    guard: str
    cases: int
    seeds: tuple[int, ...]
    finding: str
    recorded: RecordedCase | None = None
    shortened: bool = False
    explanation: str = ""
    picture: str = ""

    def to_json(self) -> dict[str, Any]:
        """JSON values."""
        return {
            "systems": list(self.systems),
            "kinds": list(self.kinds),
            "guard": self.guard or None,
            "cases": self.cases,
            "seeds": list(self.seeds),
            "finding": self.finding,
            "shortened": self.shortened,
            "case": None if self.recorded is None else self.recorded.to_json(),
        }


@dataclass(slots=True)
class _Group:
    """Cases of a system at one guard, or with one gravest kind of finding. `kinds` are those of all of them; `shortest`
    is one with the gravest of these, and of those the one with the fewest operations, as far as their text tells."""

    system: str
    kinds: tuple[str, ...]
    guard: str
    cases: int
    seeds: tuple[int, ...]
    shortest: FailingCase

    @property
    def systems(self) -> tuple[str, ...]:
        """The system as a cause has it: none, where the runner names none."""
        return (self.system,) if self.system else ()


def causes(failing: Iterable[FailingCase], *, word: Word | None, progress: Callable[[int, int], None]) -> list[Cause]:
    """The causes, those of most cases first. Without a word nothing is run again: nothing is shortened or drawn.

    A system that cannot be loaded here (it was on the workers) is not run again either.

    Raises:
        Untrusted: a case names what is to be run, and the word is not given.
    """
    groups = sorted(_grouped(failing).values(), key=lambda group: (-group.cases, group.seeds))
    first = {group.system: group for group in reversed(groups)}
    chosen = sorted(groups, key=lambda group: group is not first[group.system])[:MOST_SHORTENED] if word else []
    found: dict[tuple[object, ...], Cause] = {}
    for number, group in enumerate(groups):
        progress(number, len(groups))
        cause = _shortened(group, word) if word and any(group is one for one in chosen) else None
        if cause is None:
            cause = Cause(
                group.systems,
                group.kinds,
                group.guard,
                group.cases,
                group.seeds,
                _words(group.shortest),
                _recorded(group.shortest),
            )
        key: tuple[object, ...] = (number,)
        if cause.shortened and cause.recorded is not None:
            key = (group.system, cause.recorded.operations, cause.kinds[:1])
        known = found.get(key)
        if known is not None:
            cause = _joined(known, cause)
        found[key] = cause
    return sorted(found.values(), key=lambda cause: (-cause.cases, cause.seeds))


def _grouped(failing: Iterable[FailingCase]) -> dict[tuple[object, ...], _Group]:
    groups: dict[tuple[object, ...], _Group] = {}
    for case in failing:
        kinds = _kinds(case)
        found = (_GUARD.search(finding[:LONGEST_FINDING]) for finding in case.findings)
        guard = next((match[1] or match[2] for match in found if match), "")
        key = case.system, guard or kinds[:1]
        group = groups.get(key)
        if group is None:
            groups[key] = _Group(case.system, kinds, guard, 1, (case.seed,), case)
            continue
        group.cases += 1
        group.seeds = (*group.seeds, case.seed)[:SHOWN_SEEDS]
        group.kinds = _ordered({*group.kinds, *kinds})
        group.shortest = min(group.shortest, case, key=_size)
    return groups


def _size(case: FailingCase) -> tuple[int, int]:
    """The gravity of its findings, the gravest first, and its length."""
    return _rank(_kinds(case)[0]), len(case.operations_json or "")


_ORDER: Final = get_args(FindingKind)


def _rank(kind: str) -> int:
    return _ORDER.index(kind) if kind in _ORDER else len(_ORDER)


def _ordered(kinds: Iterable[str]) -> tuple[str, ...]:
    """The gravest first."""
    return tuple(sorted(kinds, key=lambda kind: (_rank(kind), kind)))


def _kinds(case: FailingCase) -> tuple[str, ...]:
    """The kinds of finding, the gravest first; `error: Type` where the case has no outcome."""
    if case.error is not None:
        return (f"error: {case.error.partition(':')[0]}",)
    return _ordered({finding.partition(":")[0] for finding in case.findings})


def _words(case: FailingCase) -> str:
    return case.error if case.error is not None else case.findings[0]


def _recorded(case: FailingCase) -> RecordedCase | None:
    """The case to run again; None where another runner wrote its operations."""
    if case.operations_json is None:
        return None
    try:
        return read_case(case.operations_json)
    except ValueError:
        return None


def _joined(known: Cause, other: Cause) -> Cause:
    """Two groups with one shortened schedule: the same cause."""
    kinds = _ordered({*known.kinds, *other.kinds})
    seeds = tuple(sorted((*known.seeds, *other.seeds)))[:SHOWN_SEEDS]
    return Cause(
        known.systems, kinds, known.guard or other.guard, known.cases + other.cases, seeds, known.finding,
        known.recorded, known.shortened, known.explanation, known.picture,
    )  # fmt: skip


def _shortened(group: _Group, word: Word) -> Cause | None:
    """The group with its shortest case shortened and drawn; None where it cannot be run here."""
    recorded = _recorded(group.shortest)
    if recorded is None:
        return None
    word.require(recorded.system)
    try:
        subject = load_subject(recorded.system, recorded.settings.processes)
        protocol = None if recorded.protocol is None else named_protocol(recorded.protocol)
    except (UserError, ValueError):
        return None
    wanted = _kinds(group.shortest)[0]
    try:
        held = opposite(subject, recorded.settings, protocol, strict=recorded.strict)
        trials = Trials(subject.make_process, held, recorded.settings, Sampling())
        first = trials.again(recorded.operations)
        if wanted not in first.kinds:
            return None
        shown = Shortening(wanted, [first], trials.again, trials.hang_s).run(ATTEMPTS)
    except UserError:
        return None
    finally:
        subject.close()
    if not shown.reproduced:
        return None
    outcome = shown.outcome
    short = replace(recorded, operations=shown.operations)
    finding = next(str(finding) for finding in outcome.findings if finding.kind == wanted)
    return Cause(
        group.systems, group.kinds, group.guard, group.cases, group.seeds, finding, short, True,
        case_explained(outcome), picture(outcome),
    )  # fmt: skip
