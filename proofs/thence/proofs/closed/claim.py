"""The claim: some safety properties hold of a protocol in a scope, since a set of states is closed under its steps."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Final

from thence.dsl import ir
from thence.dsl.check.workloads.kind import kind_of
from thence.dsl.check.workloads.settings import Unsettled, lines_of, workload_of
from thence.dsl.ir.observability import unobservable
from thence.dsl.ir.properties import COMPLETES, DEADLOCK_FREE, DELIVERED, FAULT
from thence.dsl.run.scoped import watching
from thence.dsl.run.system import System
from thence.proofs.certificate.forms.json_form import laid_out
from thence.proofs.closed.renamed import Names, keeps
from thence.proofs.closed.written import Malformed, demand, items, whole
from thence.spec.user_error import UserError

FORMAT: Final = "thence-closed-set/1"

BUILT_IN: Final = (
    "causal", "causally_ordered", "fifo", "csps", "sps", "at_most_once", "no_creation", "total_order", FAULT,
)  # fmt: skip
"""The built-in properties that are judged in a single state or step."""

MOST_RENAMINGS: Final = 120


class NotClaimed(UserError):
    """No certificate can be made of an exploration; the message says why."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What a folder says of a scope.

    Attributes:
        thence: the version that wrote it.
        source: the file of the text, within the folder.
        subject: `PROTOCOL`, or `PROTOCOL/MUTANT`.
        scope: the name of the scope with these settings in the text, or None.
        settings: the lines of the scope.
        renamings: by which new names of processes each state of the file stands for others; the first are the old ones.
        properties: what holds.
        omitted: what the protocol states besides, each with the reason why the set of states says nothing about it.
        states: how many states the file has.
    """

    thence: str
    source: str
    subject: str
    scope: str | None
    settings: tuple[str, ...]
    renamings: tuple[Names, ...]
    properties: tuple[str, ...]
    omitted: tuple[tuple[str, str], ...]
    states: int

    def content(self, source: bytes) -> bytes:
        """The claim as written; with the ids of its statements, which depend on the text."""
        return laid_out(
            {
                "format": FORMAT,
                "thence": self.thence,
                "source": self.source,
                "subject": self.subject,
                "scope": self.scope,
                "settings": list(self.settings),
                "renamings": [list(names) for names in self.renamings],
                "statements": [{"holds": name, "id": self.id(name, source)} for name in self.properties],
                "omitted": [{"name": name, "why": why} for name, why in self.omitted],
                "states": self.states,
            }
        )

    def id(self, name: str, source: bytes) -> str:
        """What can be cited: the SHA-256 of the text, the subject, the scope's lines and the property."""
        said = [FORMAT, sha256(source).hexdigest(), self.subject, list(self.settings), name]
        return sha256(json.dumps(said).encode()).hexdigest()


def claim_of(value: Any) -> Claim:
    """The claim that a JSON value is; its form is compared later, as a whole. Raises: Malformed."""
    demand(isinstance(value, dict), "not an object")
    texts = {name: _text(value.get(name)) for name in ("thence", "source", "subject")}
    renamings = [items(each) for each in items(value.get("renamings"))]
    demand(0 < len(renamings) <= MOST_RENAMINGS, f"not 1 to {MOST_RENAMINGS} renamings")
    stated = [_entry(each, "holds") for each in items(value.get("statements"))]
    omitted = [(_entry(each, "name"), _entry(each, "why")) for each in items(value.get("omitted"))]
    return Claim(
        texts["thence"],
        texts["source"],
        texts["subject"],
        None if value.get("scope") is None else _text(value["scope"]),
        tuple(_text(each) for each in items(value.get("settings"))),
        tuple(tuple(whole(each) for each in names) for names in renamings),
        tuple(stated),
        tuple(omitted),
        whole(value.get("states")),
    )


def _entry(value: Any, key: str) -> str:
    demand(isinstance(value, dict), "not an object")
    return _text(value.get(key))


def _text(value: Any) -> str:
    demand(isinstance(value, str) and value.isprintable(), "not a text of one line")
    assert isinstance(value, str)
    return value


# --- what a claim is about -------------------------------------------------------------------


def protocol_of(specification: ir.Specification, subject: str) -> ir.Protocol:
    """The protocol, or mutant of one, of this name. Raises: Malformed where the text has none."""
    name, slash, mutant = subject.partition("/")
    if not slash:
        for protocol in specification.protocols:
            if protocol.name == name:
                return protocol
    for each in specification.mutants:
        if (each.subject, each.name) == (name, mutant) and isinstance(each.mutated, ir.Protocol):
            return each.mutated
    raise Malformed(f"the text has no protocol {subject}")


def workload_in(protocol: ir.Protocol, settings: Collection[str]) -> ir.Workload:
    """The workload that the lines of a scope make. Raises: Malformed, also where they are not in their one form."""
    try:
        workload = workload_of(settings, kind_of(protocol))
    except Unsettled as fault:
        raise Malformed(f"the settings make no scope: {fault}") from fault
    demand(lines_of(workload, kind_of(protocol)) == tuple(settings), "the settings are not in their form")
    why = not_finite(workload)
    demand(why is None, f"the scope has no such certificate: {why}")
    return workload


def not_finite(workload: ir.Workload) -> str | None:
    """Why a set of states of the scope is not the whole story; None if it is."""
    if not isinstance(workload.sending, ir.Finite):
        return "messages are sent for ever, or there is any number of them"
    return "sends are prompt" if workload.prompt else None


def claimed_system(protocol: ir.Protocol, workload: ir.Workload, properties: Collection[str]) -> System:
    """The system of which the properties are claimed, and nothing else that the protocol states."""
    asked = watching(protocol, properties)
    invariants = tuple(each for each in asked.invariants if each.name in properties)
    return System(replace(asked, invariants=invariants, witnesses=(), rest=(), promises=()), workload)


def named(specification: ir.Specification, subject: str, scope: str | None, workload: ir.Workload) -> str | None:
    """The name of the scope, where the text has a scope of the protocol with this name and these settings."""
    name, _, _ = subject.partition("/")
    there = any((each.name, each.protocol, each.workload) == (scope, name, workload) for each in specification.scopes)
    return scope if there else None


def refuse(claim: Claim, specification: ir.Specification, workload: ir.Workload) -> None:
    """Raises: Malformed where the claim has a scope, renamings or properties that no claim of the text can have."""
    protocol = protocol_of(specification, claim.subject)
    demand(claim.scope == named(specification, claim.subject, claim.scope, workload), "the text has no such scope")
    everyone = tuple(range(workload.processes))
    demand(claim.renamings[0] == everyone, "the first renaming does not leave the names as they are")
    demand(len(set(claim.renamings)) == len(claim.renamings), "a renaming is there twice")
    for names in claim.renamings:
        demand(keeps(workload, names), f"the renaming {list(names)} does not keep the workload")
    demand(bool(claim.properties), "nothing is claimed")
    demand(len(set(claim.properties)) == len(claim.properties), "a property is claimed twice")
    for name in claim.properties:
        why = cannot_show(protocol, name)
        demand(why is None, f"{name} is claimed: {why}")
    demand(claim.omitted == omitted(protocol, workload, claim.properties), "what is omitted is not what the text gives")


def cannot_show(protocol: ir.Protocol, name: str) -> str | None:
    """Why a closed set of states says nothing about the property; None if it can say that it holds."""
    if name in protocol.liveness or name == DELIVERED:
        return "it is about what happens in the end, and a closed set says only what never happens"
    if name in protocol.witnesses or name == COMPLETES:
        return "it is about a run that reaches something, and a closed set may have states that no run reaches"
    if any(formula.name == name for formula in protocol.rest) or name == DEADLOCK_FREE:
        return "whether a run is at its end depends on timers that fire beyond the scope"
    if name in BUILT_IN:
        return unobservable(protocol, name)
    if not any(formula.name == name for formula in protocol.invariants):
        return "there is no such property"
    return None


def omitted(protocol: ir.Protocol, workload: ir.Workload, properties: Collection[str]) -> tuple[tuple[str, str], ...]:
    """What the protocol states besides, and why the claim says nothing about it."""
    return tuple(
        (name, cannot_show(protocol, name) or "it was not asked for")
        for name in dict.fromkeys(_stated(protocol, workload))
        if name not in properties
    )


def _stated(protocol: ir.Protocol, workload: ir.Workload) -> Iterator[str]:
    yield from protocol.properties
    yield from protocol.liveness
    yield from (formula.name for formula in (*protocol.invariants, *protocol.rest))
    yield FAULT
    if workload.programs:
        yield COMPLETES


def shown_ids(claim: Claim, source: bytes) -> Mapping[str, str]:
    """The id of each statement, by property."""
    return {name: claim.id(name, source) for name in claim.properties}
