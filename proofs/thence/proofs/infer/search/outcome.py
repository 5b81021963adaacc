"""What a search for invariants is given, and what comes out of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from thence.dsl import ir
from thence.proofs.infer.candidates.reasons import come_first
from thence.proofs.infer.search.kept import Kept, digest, texts_of
from thence.proofs.solving.assessment import Assessment


@dataclass(frozen=True, slots=True)
class Limits:
    """How long to look, in seconds of processor time, and what fixes the random choices."""

    seconds: float = 120.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Found:
    """A conjunct that was found, and the step that is possible without it, in words."""

    formula: ir.NamedFormula
    without: str = ""


@dataclass(frozen=True, slots=True)
class Refuted:
    """A statement that a run violates, and the run in words."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Inference:
    """What came out.

    Attributes:
        conjuncts: what was found; proved together with the goals if `proved`.
        refuted: a goal that is false, with its run.
        reason: why not everything is proved; empty where it is.
        text: the step that was open when the search ended: a state in which all that was found is true, and what is
            lost from there; empty where there is none to show.
        motionless: the prover proves everything, but no run was found in which anything happens.
        seconds: how long it took by the clock; `processor_seconds`: that of processors, with the solvers'.
        assessments: of every statement of the machine with the conjuncts, by the prover of machines.
        facts: how many samples and clauses of an earlier search still fit, if the search went on with one.
        kept: what another search can go on with; None where nothing is left to look for.
        interrupted: by the user, once all was proved: what some conjuncts exclude is not said.
    """

    machine: ir.Machine
    goals: tuple[str, ...]
    conjuncts: tuple[Found, ...] = ()
    refuted: Refuted | None = None
    reason: str = ""
    motionless: bool = False
    seconds: float = 0.0
    processor_seconds: float = 0.0
    facts: Mapping[str, int] = field(default_factory=dict)
    assessments: Mapping[str, Assessment] = field(default_factory=dict)
    text: str = ""
    kept: Kept | None = None
    interrupted: bool = False

    @property
    def proved(self) -> bool:
        return not self.reason and self.refuted is None

    @property
    def strengthened(self) -> ir.Machine:
        """The machine with the conjuncts."""
        return with_conjuncts(self.machine, [found.formula for found in self.conjuncts])


def with_conjuncts(machine: ir.Machine, formulas: Iterable[ir.NamedFormula]) -> ir.Machine:
    return replace(machine, invariants=(*machine.invariants, *formulas))


def as_kept(found: Inference) -> Kept:
    """A search that is settled, in the form in which another one begins with its conjuncts, and proves them again."""
    machine = found.machine
    base = texts_of(conjunct.formula.body for conjunct in found.conjuncts)
    return Kept(digest(machine), come_first(machine), 0, base, (), (), (), ())
