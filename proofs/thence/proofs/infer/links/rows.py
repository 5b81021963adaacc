"""Which facts of a scene are true together: each row is what is so of one thing in one sample.

From the rows follows which clauses of these facts are true in all samples, without a formula for each of them. What is
found so is held against the samples once more as a formula, as any other clause is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from operator import and_

from thence.dsl import ir
from thence.dsl.ir.types import BOOL

SEEN = "#seen"
"""The symbol that is given the facts of a row. No symbol of a file has this name."""

Seen = Callable[[ir.Expr], frozenset[tuple[int, ...]] | None]
"""The rows of a formula about `SEEN`, in all samples; None where a fact has no value in one of them."""

IS_ZERO = " = 0"
"""What a number says as a fact. Its column has the number itself."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A fact, or its denial. `false_in`: the rows in which it is false, as a set of bits."""

    fact: int
    denied: bool
    false_in: int


def rows_of(
    prefix: str, facts: Sequence[str], formulas: Mapping[str, ir.Expr], seen: Seen, numbers: Sequence[str] = ()
) -> Rows:
    """The rows of these facts and numbers; of those that have a value wherever `prefix` says something.

    Args:
        formulas: by text, `prefix` with each fact, with each number and `IS_ZERO`, and with `false`.
    """
    nothing = formulas[f"{prefix}false"]
    said = {each: _inside(nothing, formulas[prefix + each]) for each in facts if prefix + each in formulas}
    for each in numbers:
        compared = formulas.get(f"{prefix}{each}{IS_ZERO}")
        if compared is not None and isinstance(zero := _inside(nothing, compared), ir.Comparison):
            said[each] = zero.left
    found = seen(_with_inside(nothing, tuple(said.values()))) if said else None
    if said and found is None:
        said = {each: body for each, body in said.items() if seen(_with_inside(nothing, (body,))) is not None}
        found = seen(_with_inside(nothing, tuple(said.values())))
    return Rows(tuple(said), tuple(sorted(found or ())))


def _inside(nothing: ir.Expr, formula: ir.Expr) -> ir.Expr:
    """What a formula says after its beginning; `nothing` begins alike, and says `false` there."""
    match nothing, formula:
        case ir.Quantified(), ir.Quantified():
            return _inside(nothing.body, formula.body)
        case ir.Connective(operator="implies"), ir.Connective(operator="implies"):
            return _inside(nothing.right, formula.right)
        case _:
            assert isinstance(nothing, ir.Literal_), "beginnings are quantifiers and conditions"
            return formula


def _with_inside(nothing: ir.Expr, facts: tuple[ir.Expr, ...]) -> ir.Expr:
    """The formula that gives all facts to `SEEN`, for each thing that its beginning is about."""
    match nothing:
        case ir.Quantified(type_, kind, variables, body):
            return ir.Quantified(type_, kind, variables, _with_inside(body, facts))
        case ir.Connective(type_, operator, left, right):
            return ir.Connective(type_, operator, left, _with_inside(right, facts))
        case _:
            return ir.Apply(BOOL, SEEN, facts)


@dataclass(frozen=True, slots=True)
class Rows:
    """The different rows of some facts; in each, a truth value for every fact, or the number that it is."""

    facts: tuple[str, ...]
    rows: tuple[tuple[int, ...], ...]

    def column(self, fact: str) -> tuple[int, ...]:
        """The values of a fact, or of a number, in all rows."""
        at = self.facts.index(fact)
        return tuple([row[at] for row in self.rows])

    def literals(self) -> tuple[Literal, ...]:
        """Each fact and its denial, where it is true in some rows and false in some."""
        found: list[Literal] = []
        for at in range(len(self.facts)):
            true = sum(1 << number for number, row in enumerate(self.rows) if row[at])
            false = (1 << len(self.rows)) - 1 & ~true
            if true and false:
                found += [Literal(at, False, false), Literal(at, True, true)]
        return tuple(found)

    @property
    def always(self) -> tuple[str, ...]:
        """The facts that are true in all rows, if there is any."""
        return tuple(fact for at, fact in enumerate(self.facts) if self.rows and all(row[at] for row in self.rows))

    def are_alike(self, one: str, other: str) -> bool:
        """Whether two facts are true in the same rows."""
        first, second = self.facts.index(one), self.facts.index(other)
        return all(row[first] == row[second] for row in self.rows)

    @property
    def never(self) -> tuple[str, ...]:
        """The facts that are false in all rows, if there is any."""
        return tuple(fact for at, fact in enumerate(self.facts) if self.rows and not any(row[at] for row in self.rows))

    def apart(self, facts: Sequence[str]) -> dict[str, list[str]]:
        """Of these, the first of those facts that vary alike, each with the others that are true in the same rows.

        A fact that is true just where another one is false is left out.
        """
        known: dict[int, str] = {}
        kept: dict[str, list[str]] = {}
        for each in self.literals():
            fact = self.facts[each.fact]
            if each.denied or fact not in facts:
                continue
            if each.false_in not in known:
                known |= {each.false_in: fact, (1 << len(self.rows)) - 1 & ~each.false_in: ""}
                kept[fact] = []
            elif known[each.false_in]:
                kept[known[each.false_in]].append(fact)
        return kept

    def support(self, clause: Sequence[Literal]) -> int:
        """In how many rows that literal alone is true which is alone true in the fewest."""
        return min(_false_in((*clause[:at], *clause[at + 1 :])).bit_count() for at in range(len(clause)))

    def clauses(self, most: int, facts: Sequence[str], more: Sequence[str] = ()) -> Iterator[tuple[Literal, ...]]:
        """The clauses of two of these facts up to `most` of which one is true in each row, and no fewer are enough.

        One of `more` may be in a clause besides, as it stands.
        """
        wanted, besides = set(facts), set(more)
        chosen = [each for each in self.literals() if self.facts[each.fact] in wanted]
        there = [each for each in self.literals() if self.facts[each.fact] in besides and not each.denied]
        for size in range(2, most + 1):
            yield from (some for some in combinations(chosen, size) if _says_no_more_than_needed(some))
        for one in there:
            for size in range(1, most + 1):
                for some in combinations(chosen, size):
                    if not _false_in((one, *some)) and _says_no_more_than_needed((*some, one)):
                        yield (*some, one)


def _says_no_more_than_needed(clause: Sequence[Literal]) -> bool:
    """Whether one of the literals, each of another fact, is true in each row, and none can be left out."""
    if _false_in(clause) or len({each.fact for each in clause}) < len(clause):
        return False
    return all(_false_in((*clause[:at], *clause[at + 1 :])) for at in range(len(clause)))


def _false_in(literals: Sequence[Literal]) -> int:
    """The rows in which all of them are false."""
    return reduce(and_, (each.false_in for each in literals))
