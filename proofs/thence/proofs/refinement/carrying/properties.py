"""What a protocol has since its machine has it: properties of what is sent and delivered, where the link is proved.

NOTE(carried): each run of the protocol, seen as its sends and deliveries, is one of the machine, if the link is proved
and says of each send and each delivery that it is the machine's own. So what is true of these in every run of the
machine is true of them in every run of the protocol, with as many processes and messages. That each message is
delivered needs one more proof, that fair runs of the protocol do what the machine's statement waits for, see
NOTE(progress). An invariant of the protocol about its own states needs none of the machine by name, and one that it
follows, see NOTE(follows). The level is the lowest of these proofs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from thence.dsl import ir
from thence.dsl.ir.observability import own_invariants
from thence.dsl.ir.properties import DELIVERED
from thence.proofs.solving.assessment import Assessment, Proof
from thence.spec.verdict import Kind, Level, Result, Verdict

OF_DELIVERIES = ("causal", "fifo", "total_order", "at_most_once", "no_creation", DELIVERED)
"""The properties that are about sends and deliveries alone."""

OWN = ("causal_send", "deliver")
"""The events that have to be the machine's own."""


def link_statement(link: ir.Link) -> str:
    """The name of a link's result."""
    return f"every event is enabled in {link.machine.name}"


def progress_statement(link: ir.Link) -> str:
    """The name of the result that the protocol's fair runs do what the machine's statement waits for."""
    return f"what {link.delivered_by} waits for happens"


def follows_statement(name: str) -> str:
    """The name of the result that an invariant of the protocol follows from the link."""
    return f"{name} follows from it"


def own_statement(link: ir.Link, name: str) -> str | None:
    """The statement of the machine from which the protocol has a property; None where it is no single one."""
    if name in own_invariants(link.protocol):
        return None
    return link.delivered_by if name == DELIVERED else name


def named_by(link: ir.Link) -> tuple[str, ...]:
    """All that the protocol may have by the link, by name: properties of deliveries, and its own invariants."""
    return tuple(name for name in (*OF_DELIVERIES, *own_invariants(link.protocol)) if carries(link, name))


def carries(link: ir.Link, name: str) -> bool:
    """Whether the protocol has what is named if the link is proved and, of a property, the machine has it, too."""
    if name in own_invariants(link.protocol):
        return True
    if name == DELIVERED:
        stated = link.delivered_by is not None
    else:
        named = {invariant.name for invariant in link.machine.invariants}
        stated = name in link.protocol.properties and name in link.machine.prove and name not in named
    has_history = name in OF_DELIVERIES and link.machine.delivery != "off"
    # By E0609, both are the machine's own, of the same message and process, and always; but for `once`.
    return stated and has_history and not any(clause.once for clause in link.clauses if clause.event in OWN)


def rests_on(link: ir.Link, name: str) -> tuple[tuple[Kind, str, str], ...]:
    """The kinds, subjects and names of the results from which the protocol has a property or an invariant."""
    shown: tuple[Kind, str, str] = ("link", link.name, link_statement(link))
    own = own_statement(link, name)
    if own is None:
        return shown, ("link", link.name, follows_statement(name))
    of_machine: tuple[Kind, str, str] = ("machine", link.machine.name, own)
    progress: tuple[Kind, str, str] = ("link", link.name, progress_statement(link))
    return (of_machine, shown, progress) if name == DELIVERED else (of_machine, shown)


def carrying(links: Iterable[ir.Link], protocol: str, name: str) -> ir.Link | None:
    """The link by which the protocol has the property; of several one whose proof the file claims, if there is one."""
    able = [link for link in links if link.protocol.name == protocol and carries(link, name)]
    claimed = [link for link in able if any(each.verdict == "proved" for each in link.expects)]
    return next(iter((*claimed, *able)), None)


def carried(links: Iterable[ir.Link], names: Sequence[str], proofs: Sequence[Proof]) -> Iterator[Proof]:
    """A proof about each protocol and named property all of whose proofs are among these."""
    found = {(each.result.kind, each.result.subject, each.result.name): each for each in proofs}
    for link in links:
        for name in names:
            keys = rests_on(link, name) if carries(link, name) else ()
            if keys and all(key in found for key in keys):
                yield _proof(link, name, [found[key] for key in keys])


def by_its_link(links: Sequence[ir.Link], proofs: Sequence[Proof]) -> Iterator[Proof]:
    """As `carried`, of all that links may carry, but each once: by the link that speaks for it, though the protocol may
    have it by others."""
    names = tuple(dict.fromkeys(name for link in links for name in named_by(link)))
    for each in carried(links, names, proofs):
        link = carrying(links, each.result.subject, each.result.name)
        if link is not None and each.result.facts["link"] == link.name:
            yield each


def _proof(link: ir.Link, name: str, parts: Sequence[Proof]) -> Proof:
    """The proof that the protocol has what is named, from those on which it rests."""
    protocol = link.protocol.name
    facts: dict[str, Any] = {"property": name, "machine": link.machine.name, "link": link.name}
    for part in parts:
        if part.result.kind == "link":
            facts |= {each: part.result.facts[each] for each in ("where", "assumes") if each in part.result.facts}
    if all(part.result.verdict is Verdict.PROVED for part in parts):
        level = min(part.result.level for part in parts)
        every = tuple(each for part in parts for each in part.assessment.discharges)
        found = Assessment(Verdict.PROVED, level, facts, _said(link, name, facts), discharges=every)
    else:
        own = own_statement(link, name)
        last = follows_statement(name) if own is None else progress_statement(link)
        words = (*(() if own is None else (f"{own} of {link.machine.name}",)), f"the link to {link.machine.name}", last)
        missing = [said for said, part in zip(words, parts, strict=False) if part.result.verdict is not Verdict.PROVED]
        facts["unknown"] = f"not proved: {' and '.join(missing)}"
        found = Assessment(Verdict.UNKNOWN, Level.L0, facts, "")
    proved = found.verdict is Verdict.PROVED
    return Proof(
        Result(name, "link", protocol, found.verdict, found.level, proved, facts=facts, explanation=found.text), found
    )


def _said(link: ir.Link, name: str, facts: Mapping[str, Any]) -> str:
    """What is proved, by what, and for which systems."""
    protocol, machine = link.protocol.name, link.machine.name
    if own_statement(link, name) is None:
        said = f"of any number of processes: {name} follows from the link and what is proved of {machine}"
    else:
        said = f"of any number of processes: {machine} has it, and allows each send and delivery of {protocol}"
    if name == DELIVERED:
        said += f"; fair runs of {protocol} do what `{link.delivered_by}` of {machine} waits for"
    if where := facts.get("where"):
        said += f", where {' and '.join(where)}"
    if assumes := facts.get("assumes"):
        axioms = f"{'axiom' if len(assumes) == 1 else 'axioms'} {' and '.join(assumes)}"
        said += f"; this rests on the {axioms} of {machine}, which nothing shows to be true of {protocol}"
    return said
