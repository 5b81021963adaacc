"""What a protocol has since its machine has it: properties of what is sent and delivered, where the link is proved.

NOTE(carried): each run of the protocol, seen as its sends and deliveries, is one of the machine, if the link is proved
and says of each send and each delivery that it is the machine's own. So what is true of these in every run of the
machine is true of them in every run of the protocol, with as many processes and messages. The level is the lower of
both proofs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from thence.dsl import ir
from thence.proofs.solving.assessment import Assessment, Proof
from thence.spec.verdict import Level, Result, Verdict

OF_DELIVERIES = ("causal", "fifo", "total_order", "at_most_once", "no_creation")
"""The properties that are about sends and deliveries alone."""

OWN = ("causal_send", "deliver")
"""The events that have to be the machine's own."""


def carries(link: ir.Link, name: str) -> bool:
    """Whether both state the property, and the protocol has it if the machine has it and the link is proved."""
    named = {invariant.name for invariant in link.machine.invariants}
    stated = name in link.protocol.properties and name in link.machine.prove and name not in named
    has_history = name in OF_DELIVERIES and link.machine.delivery != "off"
    # By E0609, both are the machine's own, of the same message and process, and always; but for `once`.
    return stated and has_history and not any(clause.once for clause in link.clauses if clause.event in OWN)


def carrying(links: Iterable[ir.Link], protocol: str, name: str) -> ir.Link | None:
    """The link by which the protocol has the property; of several one whose proof the file claims, if there is one."""
    able = [link for link in links if link.protocol.name == protocol and carries(link, name)]
    claimed = [link for link in able if any(each.verdict == "proved" for each in link.expects)]
    return next(iter((*claimed, *able)), None)


def carried(links: Iterable[ir.Link], names: Sequence[str], proofs: Sequence[Proof]) -> Iterator[Proof]:
    """A proof about each protocol and named property whose machine's proof and link's proof are among the proofs."""
    for link in links:
        shown = [each for each in proofs if (each.result.kind, each.result.subject) == ("link", link.name)]
        for name in names:
            about = ("machine", link.machine.name, name)
            own = [each for each in proofs if (each.result.kind, each.result.subject, each.result.name) == about]
            if carries(link, name) and len(shown) == len(own) == 1:
                yield _proof(link, name, shown[0], own[0])


def _proof(link: ir.Link, name: str, shown: Proof, own: Proof) -> Proof:
    protocol, machine = link.protocol.name, link.machine.name
    facts: dict[str, Any] = {"property": name, "machine": machine, "link": link.name}
    told = shown.result.facts
    facts |= {each: told[each] for each in ("where", "assumes") if each in told}
    if shown.result.verdict is own.result.verdict is Verdict.PROVED:
        said = f"of any number of processes: {machine} has it, and allows each send and delivery of {protocol}"
        if where := told.get("where"):
            said += f", where {' and '.join(where)}"
        if assumes := told.get("assumes"):
            axioms = f"{'axiom' if len(assumes) == 1 else 'axioms'} {' and '.join(assumes)}"
            said += f"; this rests on the {axioms} of {machine}, which nothing shows to be true of {protocol}"
        level = min(shown.result.level, own.result.level)
        both = (*own.assessment.discharges, *shown.assessment.discharges)
        found = Assessment(Verdict.PROVED, level, facts, said, discharges=both)
    else:
        missing = [
            said
            for said, result in ((f"{name} of {machine}", own.result), (f"the link to {machine}", shown.result))
            if result.verdict is not Verdict.PROVED
        ]
        facts["unknown"] = f"not proved: {' and '.join(missing)}"
        found = Assessment(Verdict.UNKNOWN, Level.L0, facts, "")
    proved = found.verdict is Verdict.PROVED
    return Proof(
        Result(name, "link", protocol, found.verdict, found.level, proved, facts=facts, explanation=found.text), found
    )
