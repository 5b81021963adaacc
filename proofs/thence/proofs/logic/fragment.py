"""Whether an obligation lies in a fragment of logic that solvers can decide, and what leaves it if not.

NOTE(fragment): the negated obligation is read with negation pushed in and existential variables as Skolem functions
(`alternation`). It is *within* the fragment if

    1. the sorts have no cycle, where an edge goes from the sort of a universal variable to that of each term which
       contains the variable, and to that of each existential variable which depends on it;
    2. no universal variable ranges over the numbers;
    3. nothing is counted, and no two numbers are multiplied.

Then the universal variables need only the ground terms of the obligation, closed under 1, and these are finitely
many: the values of a longest chain of terms grow along edges, and chains end. A model of the instances by these terms,
restricted to the values of the terms, with functions changed where they lead out of it, is a model of all. So the
obligation is equivalent to finitely many instances without quantifiers, over free functions and linear arithmetic.
Their truth is decidable. Without numbers every falsifiable obligation has a finite countermodel, too, whose sorts have
at most as many elements as there are ground terms of them.

1 without numbers is EPR (Bernays-Schoenfinkel) with stratified functions: Abadi, Rabinovich and Sagiv, Decidable
fragments of many-sorted logic (2010); Korovin, Non-cyclic sorts for first-order satisfiability (2013). Its graph is
that of Padon, Losa, Sagiv and Shoham, Paxos made EPR (2017), but with an edge for each term in the place of each
function, as in Ge and de Moura, Complete instantiation for quantified formulas (2009), who also treat numbers. Strict
total orders have universal axioms, and change nothing. Outside the fragment an obligation may still be easy, but
nothing promises an answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from thence.dsl.write.show import show_expression
from thence.proofs.logic.alternation import Alternation, Departure, Edge, Growth, Place, Reading, read
from thence.proofs.logic.obligation import Obligation


@dataclass(frozen=True, slots=True)
class Cycle:
    """Edges, each of which begins where the one before ends, and the first where the last ends."""

    edges: tuple[Edge, ...]

    def __str__(self) -> str:
        *before, last = dict.fromkeys(map(str, self.edges))
        if not before:
            return f"{last} closes a cycle"
        return f"{', '.join(before)} and {last} close a cycle"

    def to_json(self) -> dict[str, Any]:
        return {"sorts": [edge.ends[0] for edge in self.edges], "edges": [_edge_facts(edge) for edge in self.edges]}


@dataclass(frozen=True, slots=True)
class Fragment:
    """Why an obligation is outside the decidable fragment, see NOTE(fragment); of nothing, it is within.

    Attributes:
        cycles: the lightest one for each group of sorts that reach each other.
        blamed: the hypotheses, by position, that have a departure or make an edge of a cycle, by quantifiers first.
        has_numbers: it speaks of numbers, so a countermodel may need infinitely many.
    """

    cycles: tuple[Cycle, ...] = ()
    departures: tuple[Departure, ...] = ()
    blamed: tuple[int, ...] = ()
    has_numbers: bool = False

    @property
    def within(self) -> bool:
        return not self.cycles and not self.departures

    @property
    def reasons(self) -> tuple[str, ...]:
        """What leaves the fragment, a phrase each."""
        return (*map(str, self.cycles), *map(str, self.departures))

    def to_json(self) -> dict[str, Any]:
        """The facts, without positions."""
        return {
            "within": self.within,
            "numbers": self.has_numbers,
            "cycles": [cycle.to_json() for cycle in self.cycles],
            "departures": [
                {"what": each.what, "why": each.why, **_place_facts(each.place)} for each in self.departures
            ],
        }


def fragment_of(obligation: Obligation) -> Fragment:
    """The place of an obligation. Raises: Unsupported for formulas outside theories and machines."""
    own = [read(hypothesis) for hypothesis in obligation.hypotheses]
    everything = (*own, read(obligation.goal, is_goal=True))
    graph = _graph(edge for reading in everything for edge in reading.edges)
    closing = {ends for ends in graph if ends[0] in _reached(graph, ends[1])}
    return Fragment(
        _cycles(graph, closing),
        _departures(everything),
        _blamed(own, closing),
        any(reading.has_numbers for reading in everything),
    )


def _blamed(own: Sequence[Reading], closing: set[tuple[str, str]]) -> tuple[int, ...]:
    """The positions of hypotheses; those that only apply a function stand last."""
    first, last = [], []
    for number, reading in enumerate(own):
        edges = [edge for edge in reading.edges if edge.ends in closing]
        if reading.departures or any(isinstance(edge, Alternation) for edge in edges):
            first.append(number)
        elif edges:
            last.append(number)
    return (*first, *last)


def _departures(readings: Iterable[Reading]) -> tuple[Departure, ...]:
    """Each once: a goal that is a hypothesis too, after a step, departs for the same reason."""
    found: dict[tuple[str, int, str], dict[Departure, None]] = {}
    for reading in readings:
        known = set(found)
        for each in reading.departures:
            key = (each.place.formula, each.place.line, each.why)
            if key not in known:
                found.setdefault(key, {})[each] = None
    return tuple(each for departures in found.values() for each in departures)


def _graph(edges: Iterable[Edge]) -> dict[tuple[str, str], Edge]:
    """The edges by their ends: a function rather than an alternation, one with a line rather than without."""
    graph: dict[tuple[str, str], Edge] = {}
    for edge in edges:
        known = graph.get(edge.ends)
        if known is None or _rank(edge) < _rank(known):
            graph[edge.ends] = edge
    return graph


def _rank(edge: Edge) -> tuple[bool, bool]:
    is_function = isinstance(edge, Growth) and bool(edge.function)
    return not is_function, not edge.place.line


def _reached(graph: Mapping[tuple[str, str], Edge], start: str) -> dict[str, tuple[Edge, ...]]:
    """The sorts that can be reached, each with the lightest way, `start` by none."""
    ways: dict[str, tuple[Edge, ...]] = {start: ()}
    left = [start]
    for sort in left:
        for (source, target), edge in graph.items():
            way = (*ways[sort], edge)
            if source == sort and (target not in ways or _weight(way) < _weight(ways[target])):
                ways[target] = way
                left.append(target)
    return ways


def _weight(way: Iterable[Edge]) -> int:
    """Functions and alternations say more than terms that go through both."""
    return sum(3 if isinstance(edge, Growth) and not edge.function else 1 for edge in way)


def _cycles(graph: Mapping[tuple[str, str], Edge], closing: set[tuple[str, str]]) -> tuple[Cycle, ...]:
    """The lightest cycle for each group of sorts that reach each other."""
    lightest: dict[frozenset[str], Sequence[Edge]] = {}
    for source, target in graph:
        if (source, target) in closing:
            ways = _reached(graph, target)
            group = frozenset(sort for sort in ways if target in _reached(graph, sort))
            cycle = (graph[source, target], *ways[source])
            if group not in lightest or _weight(cycle) < _weight(lightest[group]):
                lightest[group] = cycle
    return tuple(Cycle(tuple(cycle)) for cycle in lightest.values())


# --- as JSON -----------------------------------------------------------------------------------


def _place_facts(place: Place) -> dict[str, Any]:
    line = {"line": place.line} if place.line else {}
    return {"formula": place.formula, "goal": place.is_goal, **line}


def _edge_facts(edge: Edge) -> dict[str, Any]:
    source, target = edge.ends
    facts: dict[str, Any] = {"from": source, "to": target, **_place_facts(edge.place)}
    match edge:
        case Alternation(outer=outer, inner=inner):
            return {**facts, "outer": str(outer), "inner": str(inner)}
        case Growth(outer=outer, term=term):
            return {**facts, "outer": str(outer), "term": show_expression(term)}
