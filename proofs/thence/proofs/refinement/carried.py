"""What a protocol has since its machine has it: properties of what is sent and delivered, where the link is proved.

NOTE(carried): each run of the protocol, seen as its sends and deliveries, is one of the machine, if the link is proved
and says of each send and each delivery that it is the machine's own. So what is true of these in every run of the
machine is true of them in every run of the protocol, with as many processes and messages. The level is the lower of
both proofs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from thence.dsl import ir
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


def carried(links: Iterable[ir.Link], names: Sequence[str], results: Sequence[Result]) -> Iterator[Result]:
    """A verdict on each protocol and named property whose machine's proof and link's proof are among the results."""
    for link in links:
        shown = [result for result in results if result.kind == "link" and result.subject == link.name]
        for name in names:
            own = [
                result
                for result in results
                if (result.kind, result.subject, result.name) == ("machine", link.machine.name, name)
            ]
            if carries(link, name) and len(shown) == len(own) == 1:
                yield _verdict(link, name, shown[0], own[0])


def at_new_levels(results: Sequence[Result]) -> tuple[Result, ...]:
    """The results, with those of protocols at the lower level of the two that they rest on, which may be new."""
    of_links = {result.subject: result.level for result in results if result.kind == "link"}
    of_machines = {(result.subject, result.name): result.level for result in results if result.kind == "machine"}
    return tuple(
        replace(result, level=min(of_links[result.facts["link"]], of_machines[result.facts["machine"], result.name]))
        if result.verdict is Verdict.PROVED and "link" in result.facts
        else result
        for result in results
    )


def _verdict(link: ir.Link, name: str, shown: Result, own: Result) -> Result:
    protocol, machine = link.protocol.name, link.machine.name
    facts: dict[str, object] = {"property": name, "machine": machine, "link": link.name}
    facts |= {name: shown.facts[name] for name in ("where", "assumes") if name in shown.facts}
    if shown.verdict is own.verdict is Verdict.PROVED:
        said = f"of any number of processes: {machine} has it, and allows each send and delivery of {protocol}"
        if where := shown.facts.get("where"):
            said += f", where {' and '.join(where)}"
        if assumes := shown.facts.get("assumes"):
            axioms = f"{'axiom' if len(assumes) == 1 else 'axioms'} {' and '.join(assumes)}"
            said += f"; this rests on the {axioms} of {machine}, which nothing shows to be true of {protocol}"
        level = min(shown.level, own.level)
        return Result(name, "link", protocol, Verdict.PROVED, level, True, facts=facts, explanation=said)
    missing = [
        said
        for said, result in ((f"{name} of {machine}", own), (f"{protocol} follows {machine}", shown))
        if result.verdict is not Verdict.PROVED
    ]
    facts["unknown"] = f"not proved: {' and '.join(missing)}"
    return Result(name, "link", protocol, Verdict.UNKNOWN, Level.L0, False, facts=facts)
