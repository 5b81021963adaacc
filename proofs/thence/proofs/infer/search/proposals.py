"""Clauses that samples bear out: templates with what reachable states show of them, made as they are needed."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from thence.dsl import ir
from thence.proofs.infer.budget import Budget
from thence.proofs.infer.candidates.clauses import Clause
from thence.proofs.infer.candidates.reasons import lost_instead, settled
from thence.proofs.infer.candidates.rows import Denial, Rows, Shared, rows_of
from thence.proofs.infer.candidates.shapes import (
    determined,
    determined_of,
    done_together,
    excluded,
    excluding,
    including,
    seen,
    spreading,
    told,
)
from thence.proofs.infer.candidates.vocabulary import Vocabulary, sorts_of, templates
from thence.proofs.infer.finite.samples import FIRST, Sampler
from thence.proofs.logic.compiled import Compiled, compiled_denial, value_in
from thence.proofs.logic.structure import Structure
from thence.proofs.machine.transitions import actions

SHORT_OVER = 2
"""Clauses of one and two literals are enumerated over this many variables."""

SHORT_ATOMS = 80
"""Templates with more atoms give no clauses by enumeration."""

FEW_ATOMS = 500
"""The templates with so many variables are few if they have at most so many atoms together."""

MANY = 4
THINNED = 5
"""Templates with `MANY` variables or more learn from one in so many samples at first: of each they learn much. So do
those with one variable less where there are many formulas."""


@dataclass(slots=True)
class Proposals:
    """Templates with what some samples show of them, made as they are needed.

    All samples refuse clauses; the templates learn from the first ones, and from those that refused a clause.
    What takes long raises `OutOfTime` once the budget is spent.
    """

    machine: ir.Machine
    vocabulary: Vocabulary
    samplers: list[Sampler]
    chance: random.Random
    budget: Budget
    levels: list[list[Rows]] = field(default_factory=list)
    learnt: list[Structure] = field(default_factory=list)
    learnt_by: list[int] = field(default_factory=list)
    first: int = 0
    functions: dict[ir.Expr, Compiled] = field(default_factory=dict)
    unique: list[Clause] = field(default_factory=list)
    lost_instead: list[tuple[ir.Expr, ir.Expr]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.learnt = [state for sampler in self.samplers for state in sampler.samples.states[:FIRST]]
        self.first = len(self.learnt)
        self.lost_instead = list(lost_instead(self.machine))
        own = self.vocabulary.symbols, self.vocabulary.names
        ordered = self.vocabulary.ordered
        including_ = including(self.vocabulary.symbols, ordered, own[1])
        machine, unique = self.machine, list(determined(*own))
        suggested = (seen, spreading, told, done_together, excluded)
        of_text = [clause for each in suggested for clause in each(machine)]
        stated = (*unique, *determined_of(machine, unique), *excluding(*own), *including_, *of_text)
        # late states refute more
        latest = [state for sampler in self.samplers for state in sampler.samples.states[::-THINNED]]
        self.unique = [
            clause
            for clause in stated
            if self.refusal(clause.formula, latest) is None and self.refusal(clause.formula) is None
        ]

    def level(self, variables: int) -> list[Rows]:
        """The templates with so many variables, with all that there is to learn."""
        while len(self.levels) < variables:
            made: list[Rows] = []
            for each in templates(self.vocabulary, sorts_of(self.machine), len(self.levels) + 1):
                self.budget.check()
                made.append(rows_of(each))
            self.levels.append(made)
            self.learnt_by.append(0)
        level = self.levels[variables - 1]
        new = self.learnt[self.learnt_by[variables - 1] :]
        if variables >= MANY - self.vocabulary.is_cut and self.learnt_by[variables - 1] == 0:
            new = [*self.learnt[: self.first : THINNED], *self.learnt[self.first :]]
        of_samples = [self._shown_by_samples(rows) if self.learnt_by[variables - 1] == 0 else None for rows in level]
        shown = [set[int]() if each is None else each for each in of_samples]
        for number, state in enumerate(new):
            shared: Shared = {}
            for rows, own, before in zip(level, shown, of_samples, strict=True):
                self.budget.check()
                if before is None or number >= self.first:
                    own |= rows.shown_in(state, shared)
        for rows, own in zip(level, shown, strict=True):
            rows.learn(own)
        self.learnt_by[variables - 1] = len(self.learnt)
        return level

    def _shown_by_samples(self, rows: Rows) -> set[int] | None:
        """What the first samples show of a template, if random runs have looked at it."""
        if not self.samplers or any(rows.template not in each.shown for each in self.samplers):
            return None
        return set[int]().union(*(each.shown[rows.template] for each in self.samplers))

    def are_few(self, variables: int) -> bool:
        """Whether the templates with so many variables have few atoms."""
        each = templates(self.vocabulary, sorts_of(self.machine), variables)
        return sum(len(template.atoms) for template in each) <= FEW_ATOMS

    def learn(self, states: Sequence[Structure]) -> None:
        """The templates learn from more reachable states, each level when it is next asked for."""
        self.learnt.extend(states)
        self.unique = [clause for clause in self.unique if self.refusal(clause.formula, states) is None]

    def is_stale(self, formula: ir.Expr) -> bool:
        """Whether the formula is false in a state that some of the templates have not learnt from yet."""
        return self.refusal(formula, self.learnt[min(self.learnt_by, default=0) :]) is not None

    def refusal(self, formula: ir.Expr, among: Iterable[Structure] | None = None) -> Structure | None:
        """A sample, or one of other states, in which the formula is false."""
        self.budget.check()
        if formula not in self.functions:
            self.functions[formula] = compiled_denial(formula)
        function = self.functions[formula]
        every = (state for sampler in self.samplers for state in sampler.samples.states) if among is None else among
        return next((state for state in every if value_in(function, state)), None)

    def short(self) -> list[Clause]:
        """The clauses of one and two literals and what arguments determine others, the shortest first."""
        found: dict[Clause, None] = dict.fromkeys(self.unique)
        known = [each.name for each in settled(self.machine)]
        marks = set[str]().union(*(action.changed for action in actions(self.machine)))
        for variables in range(1, SHORT_OVER + 1):
            for rows in self.level(variables):
                self.budget.check()
                if len(rows.template.atoms) <= SHORT_ATOMS:
                    found.update(dict.fromkeys(rows.short_clauses()))
                    found.update(dict.fromkeys(rows.clauses_of_known(known, marks)))
        return sorted(found, key=lambda clause: clause.weight)

    def denials(self, state: Structure, most: int) -> Iterator[list[Denial]]:
        """The clauses that deny a state, for each number of variables from two; the least doubtful first."""
        shared: Shared = {}
        for variables in range(2, most + 1):
            found: dict[Clause, Denial] = {}
            for number in range(1 if variables == 2 else variables, variables + 1):
                for rows in self.level(number):
                    for denial in rows.denials(state, self.chance, self.budget.check, shared):
                        before = found.get(denial.clause, denial)
                        found[denial.clause] = denial if denial.doubt < before.doubt else before
            yield sorted(found.values(), key=lambda denial: denial.doubt)
