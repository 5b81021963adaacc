"""Clauses that are true in every sample: short ones by enumeration, others as the denial of a state.

NOTE(rows): for one assignment to the variables of a template, the truth values of its atoms are the bits of a number,
a row. What the samples show of a template is its set of rows. A clause is true in all samples if every row has one of
its literals; for each literal the rows that have it are again the bits of a number, so this is one `or` for each.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Sequence, Set
from dataclasses import dataclass, field
from math import log2
from typing import Any, TypeAlias, TypeGuard

from thence.dsl import ir
from thence.proofs.infer.candidates.clauses import Clause, clause_of
from thence.proofs.infer.candidates.vocabulary import Template, cost
from thence.proofs.logic.compiled import Compiled, compiled_row
from thence.proofs.logic.structure import Structure

DOUBT = 4.0
"""Weight of each halving of the rows that speak for a clause, below 32."""

ATTEMPTS = 8
"""Number of times that a smaller denial of one row is looked for, in random orders."""


@dataclass(frozen=True, slots=True)
class Denial:
    """A clause that is false in some state, and in no sample.

    `speaking`: in so many situations of the samples the clause is true by one literal only; for the literal of which
    this is least. `weight` is that of the clause. `doubt` is the weight, and more where few situations speak for the
    clause.
    """

    clause: Clause
    speaking: int
    weight: int

    @property
    def doubt(self) -> float:
        return self.weight + DOUBT * max(0.0, 5 - log2(self.speaking))


Shared: TypeAlias = dict[str, Any]
"""What rows of one state share: see `compiled_row`."""


@dataclass(slots=True)
class Rows:
    """What samples show of a template. `false_in(j)` has a bit for each row in which atom j is false."""

    template: Template
    function: Compiled
    known: set[int] = field(default_factory=set)
    seen: int = 0
    columns: list[int] = field(default_factory=list)
    full: int = 0
    _costs: list[int] = field(default_factory=list)
    _made: dict[tuple[tuple[int, bool], ...], tuple[Clause, int]] = field(default_factory=dict)

    def shown_in(self, state: Structure, shared: Shared) -> set[int]:
        """The rows of a state."""
        return {row for _, row in self.function(state.universe, state.tables, shared)}

    def learn(self, shown: Set[int]) -> None:
        """Adds rows of states."""
        new = shown - self.known
        if not self.columns:
            self.columns = [0] * len(self.template.atoms)
            self._costs = [cost(atom) for atom in self.template.atoms]
        if new:
            self._append(sorted(new))

    def _append(self, rows: Sequence[int]) -> None:
        """Rows become bits of the columns."""
        width, first = len(self.columns), len(self.known)
        digits = [format(row, f"0{width}b") for row in reversed(rows)]
        for at in range(width):
            self.columns[at] |= int("".join(digit[width - 1 - at] for digit in digits), 2) << first
        self.known.update(rows)
        self.full = (1 << len(self.known)) - 1

    def short_clauses(self) -> Iterator[Clause]:
        """The clauses of one and two literals that are true in all samples and do not say less than another one."""
        atoms = self.template.atoms
        varying: list[tuple[int, bool, int]] = []
        for at, column in enumerate(self.columns):
            if column in (self.full, 0):
                yield clause_of(self.template, [(atoms[at], column == self.full)])
            else:
                varying += [(at, True, column), (at, False, self.full ^ column)]
        for number, (at, affirmed, column) in enumerate(varying):
            for other, also, second in varying[:number]:
                if at != other and column | second == self.full:
                    yield clause_of(self.template, [(atoms[at], affirmed), (atoms[other], also)])

    def clauses_of_known(self, settled: Collection[str], marks: Collection[str]) -> Iterator[Clause]:
        """The clauses of three literals about an element of which something settled is known, and which is marked:
        `honest(n) and ready(n, v)` implies a literal. They are true in all samples; of two literals none is.

        Args:
            settled: relations of one argument that never change.
            marks: relations that do.
        """
        atoms = self.template.atoms
        for at, known in enumerate(atoms):
            for marked, mark in enumerate(atoms):
                if not (_is_about(known, settled) and _is_about(mark, marks) and known.arguments[0] in mark.arguments):
                    continue
                rows = self.columns[at] & self.columns[marked]
                if not rows or any(self.columns[each] == rows for each in (at, marked)):
                    continue
                for said, column in enumerate(self.columns):
                    for affirmed, true in ((True, column), (False, self.full ^ column)):
                        follows = any(not self.columns[each] & ~true for each in (at, marked))
                        if said not in (at, marked) and not rows & ~true and not follows:
                            literals = [(known, False), (mark, False), (atoms[said], affirmed)]
                            yield clause_of(self.template, literals)

    def denials(
        self, state: Structure, chance: random.Random, check: Callable[[], None], shared: Shared
    ) -> Iterator[Denial]:
        """Clauses that are true in all samples and false in the state, as short as a few attempts find them.

        `check` is called for each attempt, and may raise.
        """
        for row in dict.fromkeys(row for _, row in self.function(state.universe, state.tables, shared)):
            if row not in self.known:
                yield from self._denials_of(row, chance, check)

    def _denials_of(self, row: int, chance: random.Random, check: Callable[[], None]) -> Iterator[Denial]:
        agreeing = [column if row >> at & 1 else self.full ^ column for at, column in enumerate(self.columns)]
        found: set[tuple[int, ...]] = set()
        for attempt in range(ATTEMPTS):
            check()
            chosen = self._cover(agreeing, chance, attempt)
            if chosen is not None and chosen not in found:
                found.add(chosen)
                clause, weight = self._clause(tuple((at, not row >> at & 1) for at in chosen))
                yield Denial(clause, self._support(agreeing, chosen), weight)

    def _clause(self, literals: tuple[tuple[int, bool], ...]) -> tuple[Clause, int]:
        """The clause of these atoms, each affirmed or not, and its weight: many rows have the same."""
        if literals not in self._made:
            atoms = self.template.atoms
            clause = clause_of(self.template, [(atoms[at], affirmed) for at, affirmed in literals])
            self._made[literals] = clause, clause.weight
        return self._made[literals]

    def _support(self, agreeing: Sequence[int], chosen: Sequence[int]) -> int:
        """The number of rows that only one of the literals makes true, for the literal of which it is smallest."""
        counts: list[int] = []
        for at in chosen:
            rest = self.full
            for other in chosen:
                if other != at:
                    rest &= agreeing[other]
            counts.append(rest.bit_count())
        return min(counts)

    def _cover(self, agreeing: Sequence[int], chance: random.Random, attempt: int) -> tuple[int, ...] | None:
        """Atoms on all of which no sample agrees with the row; none of them can be left out."""
        left, chosen = self.full, list[int]()
        order = list(range(len(agreeing)))
        chance.shuffle(order)
        while left:
            noise = (1.0, 1.5)[attempt % 2]
            best = min(
                order,
                key=lambda at: (
                    (left & agreeing[at]).bit_count() * (1.0 if attempt == 0 else chance.uniform(1.0, noise + attempt)),
                    self._costs[at],
                ),
            )
            if left & agreeing[best] == left:
                return None
            left &= agreeing[best]
            chosen.append(best)
        for at in sorted(chosen, key=lambda each: -self._costs[each]):
            rest = self.full
            for other in chosen:
                if other != at:
                    rest &= agreeing[other]
            if not rest:
                chosen.remove(at)
        return tuple(sorted(chosen))


def _is_about(atom: ir.Expr, relations: Collection[str]) -> TypeGuard[ir.Apply]:
    return isinstance(atom, ir.Apply) and atom.symbol in relations


def rows_of(template: Template) -> Rows:
    """No rows yet. Raises: Unsupported."""
    return Rows(template, compiled_row(template.atoms, template.variables))
