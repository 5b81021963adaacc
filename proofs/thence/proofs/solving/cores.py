"""The hypotheses that a proof used: unsatisfiable cores, each confirmed by a proof from these hypotheses alone.

A core is one small sufficient set; another proof may use other hypotheses. The canonical obligation stays as it is:
after it was proved, a second question names its hypotheses.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from thence.proofs.logic.smt import smt_text
from thence.proofs.solving.discharge import Discharge, Note, Options
from thence.proofs.solving.lemmas import core_positions
from thence.proofs.solving.solver import Check, SolverPool


@dataclass(frozen=True, slots=True)
class Core:
    """The hypotheses, by name, from which the obligation's goal follows; None where no core was found or confirmed."""

    obligation: str
    used: tuple[str, ...] | None

    def to_json(self) -> dict[str, Any]:
        return {"obligation": self.obligation, "used": None if self.used is None else list(self.used)}

    @property
    def text(self) -> str:
        """`base local uses life, fifo`."""
        if self.used is None:
            return f"{self.obligation}: which hypotheses it uses is not known"
        return f"{self.obligation} uses {', '.join(self.used) or 'no hypothesis'}"


def cores_of(
    pool: SolverPool, discharges: Sequence[Discharge], options: Options, note: Note | None = None
) -> tuple[Core, ...]:
    """The core of each obligation, in order. A goal that is one of its hypotheses has that hypothesis as its core."""
    asked = [number for number, each in enumerate(discharges) if each.proved and not each.obligation.by_frame]
    if note is not None:
        note(0, len(asked), "which hypotheses are used")
    named = [_named(discharges[number], options) for number in asked]
    found: dict[int, tuple[int, ...]] = {}
    for position, answer in pool.answers(named):
        if answer.status == "unsat":
            found[asked[position]] = core_positions(discharges[asked[position]].obligation, answer.core)
    kept = list(found)
    alone = [_alone(discharges[number], found[number], options) for number in kept]
    confirmed = {kept[position] for position, answer in pool.answers(alone) if answer.status == "unsat"}
    if note is not None:
        note(len(asked), len(asked), "")
    return tuple(
        _core(discharge, found[number] if number in confirmed else None) for number, discharge in enumerate(discharges)
    )


def _named(discharge: Discharge, options: Options) -> Check:
    text = smt_text(discharge.obligation, named=True)
    return Check.within(discharge.prover, text, options.timeout_ms, options.seed, core="small")


def _alone(discharge: Discharge, used: Collection[int], options: Options) -> Check:
    """The obligation with these hypotheses and no others."""
    obligation = discharge.obligation
    rest = tuple(hypothesis for number, hypothesis in enumerate(obligation.hypotheses) if number in used)
    text = smt_text(replace(obligation, hypotheses=rest))
    return Check.within(discharge.prover, text, options.timeout_ms, options.seed)


def _core(discharge: Discharge, used: Collection[int] | None) -> Core:
    obligation = discharge.obligation
    if obligation.by_frame:
        return Core(obligation.name, (obligation.goal.name,))
    if used is None:
        return Core(obligation.name, None)
    return Core(obligation.name, tuple(dict.fromkeys(obligation.hypotheses[number].name for number in sorted(used))))
