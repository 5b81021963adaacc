"""Strongly connected components (Tarjan), without recursion."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def components(nodes: Collection[Node], successors: Callable[[Node], Iterable[Node]]) -> Iterator[set[Node]]:
    """The strongly connected components of the graph on `nodes`, each after those that it leads to.

    Edges out of the graph are left aside.
    """
    inside = nodes if isinstance(nodes, set) else set(nodes)
    order: dict[Node, int] = {}
    low: dict[Node, int] = {}
    held: list[Node] = []
    on_stack: set[Node] = set()
    for root in nodes:
        if root in order:
            continue
        work = [(root, iter(successors(root)))]
        order[root] = low[root] = len(order)
        held.append(root)
        on_stack.add(root)
        while work:
            node, rest = work[-1]
            for following in rest:
                if following not in inside:
                    continue
                if following not in order:
                    order[following] = low[following] = len(order)
                    held.append(following)
                    on_stack.add(following)
                    work.append((following, iter(successors(following))))
                    break
                if following in on_stack:
                    low[node] = min(low[node], order[following])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == order[node]:
                    component: set[Node] = set()
                    while True:
                        member = held.pop()
                        on_stack.discard(member)
                        component.add(member)
                        if member == node:
                            break
                    yield component
