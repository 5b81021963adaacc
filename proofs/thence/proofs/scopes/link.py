"""Checks a link in a scope: the protocol is explored with the machine running along."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from thence.dsl import ir
from thence.dsl.ir.properties import LINK
from thence.dsl.run.identity_reuse import system_of
from thence.dsl.run.narrate import NarratedStep
from thence.dsl.run.scoped import bare
from thence.dsl.run.system import System
from thence.proofs.engines import explored
from thence.proofs.explore.exploration import (
    AS_SUITS,
    Coverage,
    ExplorationRequest,
    Method,
    Progress,
    Resources,
    Violation,
)
from thence.proofs.links.following import companion_of, followed
from thence.proofs.links.link_run import Broken, Disagreement, LinkRun

_WITHOUT_END = "messages are sent without end, and a link is checked in scopes that end"


@dataclass(slots=True)
class LinkCheck(Coverage):
    """The extent of the search of protocol and machine together, and the first event refused, or what they disagree
    on: only one of them is there.

    Attributes:
        untaken: the transitions that the link speaks of, and that the machine takes in no run.
        idle: it takes none in any run.
    """

    untaken: tuple[str, ...] = ()
    idle: bool = False
    broken: Broken | None = None
    unlike: Disagreement | None = None
    system: System | None = None
    steps: tuple[NarratedStep, ...] = ()

    @property
    def refuted(self) -> Broken | Disagreement | None:
        """Why the link does not hold."""
        return self.broken or self.unlike


def check_link(
    link: ir.Link,
    protocol: ir.Protocol,
    workload: ir.Workload,
    *,
    limit: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    method: Method = AS_SUITS,
) -> LinkCheck:
    """Explores `protocol` (the link's own, or a mutant of it) with the machine running along, breadth first.

    Stops at the first event that the machine refuses; the run to it is then a shortest one. The link's clauses read the
    constants of `protocol`. Where messages are sent without end nothing is explored: a machine keeps every message.
    Stops at `limit` states, and on KeyboardInterrupt.
    """
    follow = LinkRun(replace(link, protocol=protocol), system_of(bare(protocol), workload))
    return explore_link(follow, limit=limit, progress=progress, method=method)


def explore_link(
    follow: LinkRun,
    *,
    limit: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    method: Method = AS_SUITS,
) -> LinkCheck:
    """The same for a link that already knows steps of its machine."""
    started = time.perf_counter()
    reason = _why_not(follow)
    if reason is not None:
        return LinkCheck(why_incomplete=reason)
    request = ExplorationRequest(
        followed(follow), frozenset({LINK}), stop_when_refuted=True, limit=limit, progress=progress,
        resources=Resources(method.resources.memory, threads=1),
    )  # fmt: skip
    found = explored(request, method)
    violation, undecided = found.violations.get(LINK), found.undecided.get(LINK, "")
    check = LinkCheck(
        found.states, found.transitions, found.depth, why_incomplete=found.why_incomplete or undecided,
        complete=found.complete and violation is None and not undecided,
        untaken=tuple(name for name in follow.transitions if not follow.took(name)),
    )  # fmt: skip
    check.idle = len(check.untaken) == len(follow.transitions)
    if violation is not None:
        _show(check, violation)
    check.seconds = time.perf_counter() - started
    return check


def _why_not(follow: LinkRun) -> str | None:
    """Why the link cannot be checked in its scope, if so."""
    if not follow.system.workload.ends:
        return _WITHOUT_END
    broken = follow.broken_axioms()
    if not broken:
        return None
    return f"the messages of this scope do not satisfy {', '.join(broken)} of {follow.link.machine.name}"


def _show(check: LinkCheck, violation: Violation) -> None:
    """Puts the run that breaks the link into the check, and follows it once more to what is broken."""
    companion = companion_of(violation.system)
    assert companion is not None
    after = companion.follow.what_breaks(violation.system.initial(), violation.steps)
    check.broken = after if isinstance(after, Broken) else None
    check.unlike = after if isinstance(after, Disagreement) else None
    check.system, check.steps = violation.system, violation.steps
