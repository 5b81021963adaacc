"""Cycles that a fair run can repeat for ever, in a finite graph whose edges belong to classes of actions.

Under strong fairness a class that is offered again and again is taken again and again; under weak fairness, one that is
offered from some moment on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from thence.dsl.run.system import Action
from thence.proofs.liveness.components import components

Class: TypeAlias = tuple[str, int, int]
"""A fairness class: (`receive`, 0, packet), (`tick`, process, 0), (`send`, process, 0) or (`round`, 0, 0)."""

Edge: TypeAlias = tuple[Action, int, frozenset[Class]]
"""An action, the number of the node that it leads to, and the classes that it belongs to."""

MOST_CYCLES = 400_000
"""Limit on the partial cycles in the search for a shortest one, from each node on it."""

_Walk: TypeAlias = tuple[int, frozenset[Class], frozenset[Class]]


@dataclass(frozen=True, slots=True)
class FairGraph:
    """Nodes are numbers.

    Attributes:
        edges: those out of a node.
        offers: the classes that fairness counts as offered in a node.
        distance: how many steps lead to a node.
        weak: whether fairness is weak.
        required: classes that a cycle must take, whether they are offered or not.
    """

    edges: Callable[[int], Collection[Edge]]
    offers: Callable[[int], frozenset[Class]]
    distance: Callable[[int], int]
    weak: bool
    required: frozenset[Class] = frozenset()

    def fair(self, nodes: set[int]) -> Iterator[set[int]]:
        """The strongly connected sets among the nodes that a fair run can stay in for ever."""
        left = [nodes]
        while left:
            inside = left.pop()
            for component in components(inside, lambda node: [to for _, to, _ in self.edges(node)]):
                inner = [own for node in component for _, to, own in self.edges(node) if to in component]
                taken = frozenset[Class]().union(*inner)
                if not inner or not self.required <= taken:
                    continue
                offers = {node: self.offers(node) for node in component}
                if self.weak:
                    if frozenset.intersection(*offers.values()) <= taken:
                        yield component
                    continue
                missed = frozenset[Class]().union(*offers.values()) - taken
                if missed:
                    left.append({node for node in component if not offers[node] & missed})
                else:
                    yield component

    def shortest(self, component: set[int], most: int | None) -> tuple[int, list[Action]] | None:
        """A fair cycle with the shortest way to it, at most `most` steps in all: its first node, and its actions."""
        best: tuple[int, list[Action]] | None = None
        for start in sorted(component, key=self.distance):
            if most is not None and self.distance(start) >= most:
                break
            cycle = self._cycle(start, component, None if most is None else most - self.distance(start))
            if cycle is not None:
                best, most = (start, cycle), self.distance(start) + len(cycle) - 1
        return best

    def _cycle(self, start: int, component: set[int], most: int | None) -> list[Action] | None:
        """A shortest fair cycle from a node to itself inside the component."""
        first: _Walk = (start, frozenset(), self.offers(start) | self.required)
        origins: dict[_Walk, tuple[_Walk, Action] | None] = {first: None}
        frontier = deque([(first, 0)])
        while frontier:
            walk, length = frontier.popleft()
            if (most is not None and length >= most) or len(origins) > MOST_CYCLES:
                return None
            node, taken, asked = walk
            for action, to, own in self.edges(node):
                if to not in component:
                    continue
                now = taken | own
                there = self.offers(to)
                following = (to, now, asked & there | self.required if self.weak else asked | there)
                if following in origins:
                    continue
                origins[following] = (walk, action)
                if to == start and following[2] <= now:
                    return _walked(origins, following)
                frontier.append((following, length + 1))
        return None


def _walked(origins: Mapping[_Walk, tuple[_Walk, Action] | None], end: _Walk) -> list[Action]:
    actions: list[Action] = []
    walk = end
    while (origin := origins[walk]) is not None:
        walk, action = origin
        actions.append(action)
    actions.reverse()
    return actions
