"""Expectations: the verdicts that a file expects of a declaration."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, TypeAlias

from thence.dsl import ir
from thence.dsl.check.terms.environment import listed
from thence.dsl.check.workloads.by_name import Settings, overridden
from thence.dsl.check.workloads.kind import ANY_PROTOCOL, ProtocolKind
from thence.dsl.check.workloads.workload import build_workload
from thence.dsl.text import syntax
from thence.dsl.text.diagnostics import did_you_mean
from thence.dsl.text.reporter import Reporter
from thence.spec.value import record

Subject: TypeAlias = Literal[
    "theorem", "machine", "scope", "link", "mutant of a machine", "mutant of a protocol", "scenario"
]

_BOUNDED = ("holds", "refuted", "unknown")
_UNBOUNDED = ("proved", "refuted", "unknown")
_VERDICTS: dict[Subject, tuple[str, ...]] = {
    "theorem": _UNBOUNDED,
    "machine": _UNBOUNDED,
    "mutant of a machine": _UNBOUNDED,
    "scope": _BOUNDED,
    "link": (*_BOUNDED, "proved"),
    "mutant of a protocol": _BOUNDED,
    "scenario": ("holds", "refuted"),
}


@record(frozen=True, slots=True)
class Exploration:
    """The scopes of a protocol: their settings (None: erroneous), and the settings to start from."""

    protocol: str
    scopes: Mapping[str, Settings | None]
    base: Settings
    always: bool = False
    """Whether an expectation without scope and settings has a workload too: the one of the base."""
    kind: ProtocolKind = ANY_PROTOCOL


def check_expectations(
    written: Sequence[syntax.Expect],
    reporter: Reporter,
    subject: Subject,
    names: Collection[str],
    of: str,
    exploration: Exploration | None = None,
) -> tuple[ir.Expectation, ...]:
    """The expectations of a declaration.

    `names` are the possible subjects besides the declaration as a whole; `of` names it in messages. Without an
    exploration, an expectation has no scope and no settings.
    """
    said: dict[tuple[str, str | None, tuple[syntax.Setting, ...]], syntax.Expect] = {}
    found: list[ir.Expectation] = []
    for expect in written:
        before = reporter.errors
        if expect.verdict not in _VERDICTS[subject]:
            _report_verdict(expect, subject, reporter)
        for name in expect.names:
            if name.text not in names:
                reporter.error(
                    "E0612",
                    name.span,
                    f"{of} has no `{name.text}` to expect something of",
                    *did_you_mean(name.text, names),
                    *((f"it has {listed(sorted(names))}",) if names else ("an `expect` here takes no name",)),
                )
        if subject == "scope" and (expect.scope is not None or expect.settings):
            message = "what a scope expects is about the scope itself"
            hint = "state another scope, with these settings and this expectation"
            reporter.error("E0614", expect.span, message, hint)
            continue
        if subject == "link" and expect.verdict == "proved" and (expect.scope is not None or expect.settings):
            message = "a link is `proved` for any number of processes, not in a scope"
            reporter.error("E0614", expect.span, message, "write `expect proved`, or `expect holds` in the scope")
            continue
        settings = _settings(expect, reporter, exploration)
        for about in [name.text for name in expect.names] or [""]:
            key = (about, expect.scope.text if expect.scope else None, expect.settings)
            other = said.setdefault(key, expect)
            if other.verdict != expect.verdict:
                reporter.error(
                    "E0615",
                    expect.span,
                    f"`{expect.verdict}` here, but `{other.verdict}` on line {other.span.line}, of the same",
                )
        if reporter.errors == before:
            labels = tuple(name.text for name in expect.names)
            scope = expect.scope.text if expect.scope is not None else None
            found.append(ir.Expectation(expect.verdict, labels, scope, settings, span=expect.span))
    return tuple(found)


def _report_verdict(expect: syntax.Expect, subject: Subject, reporter: Reporter) -> None:
    if subject == "scenario":
        why = "it is one execution: a property `holds` of it, or is `refuted`"
    elif expect.verdict == "proved":
        why = "exploration is bounded: what it does not refute `holds` in the scope"
    else:
        why = "`holds` is for what is explored in a scope; here the verdict is `proved`"
    article = "a"
    reporter.error("E0613", expect.span, f"{article} {subject} is never `{expect.verdict}`", why)


def _settings(expect: syntax.Expect, reporter: Reporter, exploration: Exploration | None) -> ir.Workload | None:
    if exploration is None:
        if expect.scope is not None or expect.settings:
            reporter.error("E0614", expect.span, "nothing is explored here: an `expect` takes no scope or settings")
        return None
    base: Settings | None = exploration.base
    if expect.scope is not None:
        name = expect.scope.text
        base = exploration.scopes.get(name)
        if name not in exploration.scopes:
            reporter.error(
                "E0601",
                expect.scope.span,
                f"protocol `{exploration.protocol}` has no scope `{name}`",
                *did_you_mean(name, exploration.scopes),
            )
    elif not expect.settings and not exploration.always:
        return None
    if base is None:
        return None
    return build_workload(overridden(base, expect.settings), expect.span, reporter, exploration.kind)
