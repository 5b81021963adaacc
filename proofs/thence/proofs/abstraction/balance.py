"""Balances: the value of a counter as a sum over queues and packets in flight.

Example: MODE of Cykas is the number of delivered eager messages whose YCT has not come. That is the length of all
EAGER_SENT queues, plus the YCTs on their way, minus the eager messages on their way. The protocol does not state this
balance. It is guessed by linear algebra from exact states, and checked on every step of the search that relies on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import NamedTuple

Row = Mapping["Feature", int]
"""The amount of each feature; an absent feature has 0."""


class Feature(NamedTuple):
    """A queue or a packet kind that is counted, as seen from one process.

    `where`, of a queue: `own` (at the process), `for it` (at another, at its key), `elsewhere`; of a packet kind: `in`,
    `out`, `to itself`, `elsewhere`.
    """

    what: str
    name: str
    where: str

    def __str__(self) -> str:
        return f"{self.name}({self.where})"


@dataclass(frozen=True, slots=True)
class Balance:
    """`counter = constant + sum of coefficient * feature`, at every process."""

    counter: str
    constant: int
    terms: tuple[tuple[Feature, int], ...]

    def __str__(self) -> str:
        positive_first = sorted(self.terms, key=lambda term: term[1] < 0)
        parts = [
            f"{'-' if factor < 0 else '+'} {'' if abs(factor) == 1 else f'{abs(factor)} '}{feature}"
            for feature, factor in positive_first
        ]
        constant = [f"+ {self.constant}"] if self.constant else []
        return f"{self.counter} = {' '.join([*parts, *constant]).removeprefix('+ ')}"

    def value(self, row: Row) -> int:
        """The value that the balance gives the counter."""
        return self.constant + sum(factor * row.get(feature, 0) for feature, factor in self.terms)


def balance_of(counter: str, observed: Iterable[tuple[Row, int]]) -> Balance | None:
    """A balance that all observed rows and values of the counter satisfy, with integers; None if there is none.

    Few terms are preferred, by taking features in the order in which they first occur.
    """
    rows = {
        (tuple(sorted((feature, count) for feature, count in row.items() if count)), value) for row, value in observed
    }
    if all(value == 0 for _, value in rows):
        return None
    features = sorted({feature for row, _ in rows for feature, _ in row}, key=_rank)
    column = {feature: at for at, feature in enumerate(features, start=1)}
    equations = [
        Equation(((0, 1), *((column[feature], count) for feature, count in row)), value) for row, value in sorted(rows)
    ]
    solution = solved(equations, 1 + len(features))
    if solution is None or any(each.denominator != 1 for each in solution):
        return None
    terms = tuple((feature, int(factor)) for feature, factor in zip(features, solution[1:], strict=True) if factor != 0)
    return Balance(counter, int(solution[0]), terms) if terms else None


def _rank(feature: Feature) -> tuple[int, Feature]:
    """Features of the process itself come first, so that they are preferred."""
    return (("for it", "in", "own", "out", "to itself", "elsewhere").index(feature.where), feature)


class Equation(NamedTuple):
    """`sum of factor * unknown = value`: pairs of an unknown's number and its factor; an absent unknown has 0."""

    terms: tuple[tuple[int, int], ...]
    value: int


def solved(equations: Sequence[Equation], unknowns: int) -> list[Fraction] | None:
    """A solution of linear equations, by unknown; None if there is none. It does not depend on their order.

    An unknown that the equations and those before it leave free is 0. Only equations that the solution of those chosen
    so far does not satisfy are chosen, so there are at most as many as unknowns. What those leave free is all that the
    whole leaves free, and perhaps more; so their solution, if it satisfies the whole, is the one of the whole.
    """
    chosen: list[Equation] = []
    solution = [Fraction(0)] * unknowns
    while True:
        scale = lcm(*(each.denominator for each in solution))
        whole = [int(each * scale) for each in solution]
        wrong = next(
            (each for each in equations if sum(factor * whole[at] for at, factor in each.terms) != scale * each.value),
            None,
        )
        if wrong is None:
            return solution
        chosen.append(wrong)
        found = _eliminated(chosen, unknowns)
        if found is None:
            return None
        solution = found


def _eliminated(equations: Sequence[Equation], unknowns: int) -> list[Fraction] | None:
    """The same by elimination, which takes long for many equations."""
    pivots: list[tuple[int, list[Fraction]]] = []
    for equation in equations:
        reduced = [Fraction(0)] * unknowns + [Fraction(equation.value)]
        for at, given in equation.terms:
            reduced[at] = Fraction(given)
        for column, pivot in pivots:
            factor = reduced[column]
            if factor:
                reduced = [each - factor * other for each, other in zip(reduced, pivot, strict=True)]
        lead = next((column for column, each in enumerate(reduced[:-1]) if each), None)
        if lead is None:
            if reduced[-1]:
                return None
            continue
        scale = reduced[lead]
        pivots.append((lead, [each / scale for each in reduced]))
    solution = [Fraction(0)] * unknowns
    for lead, pivot in reversed(pivots):
        solution[lead] = pivot[-1] - sum(
            (pivot[column] * solution[column] for column in range(unknowns) if column != lead), Fraction(0)
        )
    return solution


def residuals(balances: Sequence[Balance], rows: Sequence[Row], values: Sequence[Sequence[int]]) -> Iterator[int]:
    """For each process and balance, the difference between the counter and the balance."""
    for row, counted in zip(rows, values, strict=True):
        for balance, value in zip(balances, counted, strict=True):
            yield value - balance.value(row)
