"""The hypotheses that the proofs about a machine used, and the invariants that no other proof uses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from thence.dsl import ir
from thence.dsl.check import built_in
from thence.proofs.machine.inductive_set import InductiveSet
from thence.proofs.solving.assessment import Assessment
from thence.proofs.solving.cores import Core
from thence.proofs.solving.discharge import Discharge
from thence.proofs.solving.session import ProofSession
from thence.spec.verdict import Verdict


def with_cores(
    session: ProofSession,
    machine: ir.Machine,
    found: InductiveSet,
    assessments: Mapping[str, Assessment],
) -> dict[str, Assessment]:
    """The assessments with `used` for every proof, and `never_used` for every invariant that no other proof uses."""
    own = {
        name: its
        for name, assessment in assessments.items()
        if assessment.verdict is Verdict.PROVED and (its := own_discharges(name, machine, assessment, found))
    }
    everything = tuple(discharge for discharges in own.values() for discharge in discharges)
    cores = dict(zip(map(id, everything), session.cores(everything), strict=True))
    of = {name: tuple(cores[id(each)] for each in discharges) for name, discharges in own.items()}
    invariants = {invariant.name for invariant in machine.invariants}
    shown = dict(assessments)
    for name, used in of.items():
        facts: dict[str, Any] = {**assessments[name].facts, "used": [core.to_json() for core in used]}
        lines = [assessments[name].text, f"uses {_listed(used, name)}"]
        if name in invariants:
            others = [core for other, theirs in of.items() if other != name for core in theirs]
            facts["never_used"] = not any(core.used is None or name in core.used for core in others)
            if facts["never_used"]:
                lines.append(f"note: no other proof uses {name}")
        shown[name] = replace(assessments[name], facts=facts, text="\n".join(lines))
    return shown


def own_discharges(
    name: str, machine: ir.Machine, assessment: Assessment, found: InductiveSet
) -> tuple[Discharge, ...]:
    """The obligations about this statement itself, among all that its verdict rests on."""
    if name in found.members:
        return tuple(found.members[name])
    if name in found.consequences:
        return (found.consequences[name],)
    shared = {id(each) for each in found.discharges}
    extra = tuple(each for each in assessment.discharges if id(each) not in shared)
    if extra or not assessment.discharges:
        return extra
    history = {fact.name for fact in built_in.history_facts(machine.delivery)}
    return tuple(each for member, its in found.members.items() if member in history for each in its)


def _listed(cores: Iterable[Core], name: str) -> str:
    """The hypotheses that the proofs use, each once, without the statement itself."""
    used = dict.fromkeys(each for core in cores for each in core.used or () if each != name)
    unknown = sum(core.used is None for core in cores)
    listed = ", ".join(used) or "nothing but itself"
    return f"{listed} (of {unknown} obligations it is not known)" if unknown else listed
