"""Cycles that a fair run can repeat for ever, in a finite graph whose edges belong to classes of actions.

Under strong fairness a class that is offered again and again is taken again and again; under weak fairness, one that is
offered from some moment on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from thence.dsl.run.actions import Action
from thence.spec.components import components

Class: TypeAlias = tuple[str, int, int]
"""A fairness class: (`receive`, 0, packet), (`tick`, process, timer), (`send`, process, 0), (`input`, process,
input) or (`round`, 0, 0)."""

Edge: TypeAlias = tuple[Action, int, frozenset[Class]]
"""An action, the number of the node that it leads to, and the classes that it belongs to."""

MOST_CYCLES = 400_000
"""Limit on the partial cycles in the search for a shortest one."""

_Goal: TypeAlias = Callable[[int, frozenset[Class]], bool]
"""Whether an edge that leads to this node and belongs to these classes is the one that is sought."""

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
        """A fair cycle with the shortest way to it, at most `most` steps in all: its first node, and its actions.

        Where there are too many partial cycles to find a shortest one, it is some fair cycle.
        """
        best: tuple[int, list[Action]] | None = None
        starts, budget = sorted(component, key=self.distance), MOST_CYCLES
        for start in starts:
            if budget <= 0 or (most is not None and self.distance(start) >= most):
                break
            cycle, looked_at = self._cycle(
                start, component, None if most is None else most - self.distance(start), budget
            )
            budget -= looked_at
            if cycle is not None:
                best, most = (start, cycle), self.distance(start) + len(cycle) - 1
        if best is None and budget <= 0:
            tour = self._tour(starts[0], component)
            if most is None or self.distance(starts[0]) + len(tour) <= most:
                return starts[0], tour
        return best

    def cycle_from(self, start: int, component: set[int]) -> list[Action]:
        """A fair cycle from this node of a fair component: a shortest one, if there are not too many to look at."""
        return self._cycle(start, component, None, MOST_CYCLES)[0] or self._tour(start, component)

    def _cycle(self, start: int, component: set[int], most: int | None, budget: int) -> tuple[list[Action] | None, int]:
        """A shortest fair cycle from a node to itself inside the component, and how many partial cycles were seen."""
        first: _Walk = (start, frozenset(), self.offers(start) | self.required)
        origins: dict[_Walk, tuple[_Walk, Action] | None] = {first: None}
        frontier = deque([(first, 0)])
        while frontier:
            walk, length = frontier.popleft()
            if (most is not None and length >= most) or len(origins) > budget:
                break
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
                    return _walked(origins, following), len(origins)
                frontier.append((following, length + 1))
        return None, len(origins)

    def _tour(self, start: int, component: set[int]) -> list[Action]:
        """A fair cycle: it takes each class that the component takes, and under weak fairness leaves other offers."""
        inner = {own for node in component for _, to, owns in self.edges(node) if to in component for own in owns}
        actions: list[Action] = []
        at = start
        for wanted in sorted(inner):
            at = self._go(at, component, actions, _takes(wanted))
        for unserved in sorted(self.offers(start) - inner):
            if unserved in self.offers(at):
                at = self._go(at, component, actions, self._leaves(unserved))
        if at != start or not actions:
            self._go(at, component, actions, lambda to, _: to == start)
        return actions

    def _leaves(self, offer: Class) -> _Goal:
        return lambda to, _: offer not in self.offers(to)

    def _go(self, at: int, component: set[int], actions: list[Action], is_goal: _Goal) -> int:
        """Appends a shortest way whose last edge is a goal; returns the node after it."""
        origins: dict[int, tuple[int, Action] | None] = {at: None}
        frontier = deque([at])
        while frontier:
            node = frontier.popleft()
            for action, to, owns in self.edges(node):
                if to not in component:
                    continue
                if is_goal(to, owns):
                    way = [action]
                    while (origin := origins[node]) is not None:
                        node, before = origin
                        way.append(before)
                    actions += reversed(way)
                    return to
                if to not in origins:
                    origins[to] = (node, action)
                    frontier.append(to)
        raise AssertionError("the component is strongly connected, and takes each class that it has")


def _takes(wanted: Class) -> _Goal:
    return lambda _, owns: wanted in owns


def _walked(origins: Mapping[_Walk, tuple[_Walk, Action] | None], end: _Walk) -> list[Action]:
    actions: list[Action] = []
    walk = end
    while (origin := origins[walk]) is not None:
        walk, action = origin
        actions.append(action)
    actions.reverse()
    return actions
