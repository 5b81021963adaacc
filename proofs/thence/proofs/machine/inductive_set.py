"""The largest set of a machine's conjuncts that is inductive as a whole.

Soundness: a conjunct is proved only as a member of such a set. Conjuncts that some transition does not keep are
removed, and the others are tried again, until all that are left are kept (the Houdini algorithm).

NOTE(set as certified): a conjunct that falls for lack of time may be proved elsewhere, and then another set is found.
So where a certificate is checked again, the search begins with its set: the conjuncts that it has obligations of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from thence.dsl import ir
from thence.proofs.logic.countermodel import Counterexample
from thence.proofs.logic.formula import Unsupported
from thence.proofs.logic.obligation import Obligation
from thence.proofs.machine.counterexample import induction_counterexample
from thence.proofs.machine.history import plausible
from thence.proofs.machine.obligations import Conjunct, Preservation, conjuncts, consequence, preservations
from thence.proofs.solving.discharge import LITTLE_MS, Discharge
from thence.proofs.solving.finite_models import Model
from thence.proofs.solving.open_obligation import Diagnosis, diagnose
from thence.proofs.solving.session import ProofSession


@dataclass(frozen=True, slots=True)
class Fall:
    """Why a conjunct is not in the set: the obligation that fails, and the step that breaks it if one was found.

    `after` are the conjuncts that fell before: with them it might have been kept. `diagnosis` is of an obligation about
    which no solver decides anything.
    """

    reason: str
    counterexample: Counterexample | None
    after: tuple[str, ...]
    diagnosis: Diagnosis | None = None


@dataclass(frozen=True, slots=True)
class InductiveSet:
    """Members with their obligations, consequences of the members, and what fell."""

    members: Mapping[str, Sequence[Discharge]]
    consequences: Mapping[str, Discharge]
    fallen: Mapping[str, Fall]

    @property
    def discharges(self) -> tuple[Discharge, ...]:
        """All obligations that the set rests on."""
        kept = (discharge for discharges in self.members.values() for discharge in discharges)
        return (*kept, *self.consequences.values())


def inductive_set(session: ProofSession, machine: ir.Machine) -> InductiveSet:
    """The set: all candidates are proved together, and those that fail are removed until none fails.

    Raises: Unsupported; CrossCheckError where a counterexample is not confirmed by computing the step.
    """
    candidates, implied, fallen = _at_first(session, machine)
    members = tuple(conjunct for conjunct in candidates if conjunct.name not in implied)
    while True:
        known = tuple(conjunct for conjunct in candidates if conjunct.name not in fallen)
        obligations = preservations(machine, members, known)
        members_of = [each.conjunct.name for each in obligations]
        done = session.discharge([each.obligation for each in obligations], groups=members_of)
        kept: dict[str, list[Discharge]] = {member.name: [] for member in members}
        falls: dict[str, Fall] = {}
        for each, discharge in zip(obligations, done, strict=True):
            kept[each.conjunct.name].append(discharge)
            if not discharge.proved and each.conjunct.name not in falls:
                falls[each.conjunct.name] = _fall(session, machine, known, each, discharge, tuple(fallen))
        if not falls:
            return InductiveSet(kept, implied, fallen)
        fallen |= falls
        # A consequence may rest on a conjunct that fell: it is tried again as a member.
        members = tuple(conjunct for conjunct in candidates if conjunct.name not in fallen)
        implied = {}


def proved_conjuncts(machine: ir.Machine, found: InductiveSet) -> tuple[Conjunct, ...]:
    """The conjuncts that are true in every reachable state."""
    return tuple(each for each in conjuncts(machine) if each.name in found.members or each.name in found.consequences)


def _at_first(
    session: ProofSession, machine: ir.Machine
) -> tuple[tuple[Conjunct, ...], dict[str, Discharge], dict[str, Fall]]:
    """The candidates, those of them that follow from the others, and the conjuncts that are no candidates."""
    everything = conjuncts(machine)
    if not session.as_certified:
        return everything, _consequences(session, stated_consequences(machine, everything)), {}
    starts = {each.conjunct.name: each.obligation for each in preservations(machine, everything, ()) if not each.action}
    members = tuple(each for each in everything if session.certifies(starts[each.name]))
    stated = stated_consequences(machine, (*members, *(each for each in everything if each.origin == "property")))
    wanted = {name: claim for name, claim in stated.items() if session.certifies(claim)}
    shown = zip(wanted, session.discharge(tuple(wanted.values()), look_for_models=False), strict=True)
    implied = {name: found for name, found in shown if found.proved}
    names = {*(each.name for each in members), *implied}
    fallen = {
        name: Fall(f"{start.name}: the certificate has no proof of it", None, ())
        for name, start in starts.items()
        if name not in names
    }
    return tuple(each for each in everything if each.name in names), implied, fallen


def stated_consequences(machine: ir.Machine, candidates: Sequence[Conjunct]) -> dict[str, Obligation]:
    """That the properties follow from the facts about the history and the invariants in any state, by name."""
    base = tuple(conjunct for conjunct in candidates if conjunct.origin != "property")
    properties = [conjunct for conjunct in candidates if conjunct.origin == "property"]
    return {conjunct.name: consequence(machine, conjunct, base) for conjunct in properties}


def _consequences(session: ProofSession, stated: Mapping[str, Obligation]) -> dict[str, Discharge]:
    """Those of the properties that are proved to follow."""
    quick = session.with_one_solver().within(LITTLE_MS)
    asked = quick.discharge(tuple(stated.values()), look_for_models=False)
    hopeless = {name for name, first in zip(stated, asked, strict=True) if first.satisfiable}
    left = [name for name in stated if name not in hopeless]
    done = session.discharge([stated[name] for name in left])
    return {name: found for name, found in zip(left, done, strict=True) if found.proved}


def _fall(
    session: ProofSession,
    machine: ir.Machine,
    known: Sequence[Conjunct],
    preservation: Preservation,
    discharge: Discharge,
    before: tuple[str, ...],
) -> Fall:
    shown = None
    if preservation.action is not None:
        goal, action = preservation.conjunct, preservation.action
        shown = shown_step(session, machine, discharge, partial(induction_counterexample, machine, known, goal, action))
    reason = f"{discharge.obligation.name}: {discharge.reason}"
    return Fall(reason, shown, before, diagnose(session.silent(), discharge))


def shown_step(
    session: ProofSession, machine: ir.Machine, discharge: Discharge, show: Callable[[Model], Counterexample]
) -> Counterexample | None:
    """The countermodel of an obligation that is not proved, as a step; None where there is none that can be shown."""
    if discharge.countermodel is None or not discharge.failed:
        return None
    with suppress(Unsupported):  # a conjunct may be one that no finite structure decides
        return show(_likely(session, machine, discharge) or discharge.countermodel)
    return None


def _likely(session: ProofSession, machine: ir.Machine, discharge: Discharge) -> Model | None:
    """A smallest countermodel whose history is plausible: most such histories are those of executions."""
    obligation = discharge.obligation
    hypotheses = (*obligation.hypotheses, *plausible(machine.delivery))
    return session.countermodel(replace(obligation, hypotheses=hypotheses))
