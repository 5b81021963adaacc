"""A proof session: the solver processes, their options, and the receiver of progress reports."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from thence.proofs.logic.obligation import Obligation
from thence.proofs.logic.smt import smt_text
from thence.proofs.solving.cores import Core, cores_of
from thence.proofs.solving.discharge import Discharge, Note, Options, countermodel, discharge_all
from thence.proofs.solving.finite_models import SIZES, Model, Outcome, Problem, find_model
from thence.proofs.solving.solver import Check, SolverPool
from thence.proofs.solving.solver import Core as CoreAsked


@dataclass(frozen=True, slots=True)
class ProofSession:
    """Every proof is given one session. A session with other limits shares the solver processes.

    Attributes:
        note: called with the progress of every discharge; None: progress is not reported.
    """

    pool: SolverPool
    options: Options = field(default_factory=Options)
    note: Note | None = None

    def silent(self) -> ProofSession:
        """The session without progress reports."""
        return replace(self, note=None)

    def within(self, timeout_ms: int) -> ProofSession:
        """The session with at most this time limit for each question."""
        return replace(self, options=replace(self.options, timeout_ms=min(timeout_ms, self.options.timeout_ms)))

    def with_one_solver(self) -> ProofSession:
        """The session with the first of its solvers alone."""
        return replace(self, options=replace(self.options, solvers=self.options.solvers[:1]))

    @property
    def as_certified(self) -> bool:
        """Whether a certificate is checked again, see NOTE(as certified): it says by which way something is proved."""
        return self.pool.memory is not None and self.pool.memory.complete

    def certifies(self, claim: Obligation) -> bool:
        """Whether the certificate that is checked again has the claim, by this name; whether it is proved or not.

        Raises: Unsupported for a claim that has no text.
        """
        memory, options, text = self.pool.memory, self.options, smt_text(claim.essential)
        asked = (Check.within(solver, text, options.timeout_ms, options.seed) for solver in options.solvers)
        return memory is not None and any(memory.recall(each) is not None for each in asked)

    def discharge(
        self,
        obligations: Sequence[Obligation],
        *,
        look_for_models: bool = True,
        groups: Sequence[Hashable] | None = None,
        core: CoreAsked = "",
    ) -> tuple[Discharge, ...]:
        """The outcome of every obligation, in order. See `discharge_all`."""
        return discharge_all(
            self.pool, obligations, self.options, self.note, look_for_models=look_for_models, groups=groups, core=core
        )

    def cores(self, discharges: Sequence[Discharge]) -> tuple[Core, ...]:
        """The hypotheses that each proof used, in order."""
        return cores_of(self.pool, discharges, self.options, self.note)

    def countermodel(self, obligation: Obligation) -> Model | None:
        """A smallest finite structure in which the obligation is false, if one is found."""
        return countermodel(self.pool, obligation, self.options)

    def find_model(
        self, problem: Problem, sizes: Sequence[Mapping[str, int]] = SIZES, *, least: bool = True
    ) -> Outcome:
        """The first model over the universes in their order; see `finite_models.find_model`."""
        return find_model(
            self.pool,
            problem,
            timeout_ms=self.options.timeout_ms,
            seed=self.options.seed,
            sizes=sizes,
            least=least,
        )
