"""Networks with given links: who is next to whom, and in a tree the way from one to another.

On a `tree` or `overlay` network packets go between neighbors only. The protocol sees the links as state variables that
nothing changes: `neighbors`, and in a tree `next_hop`. The links of an overlay have a direction, those of a tree have
none. Where a scope gives no tree, the processes form a line; where it gives no links, there are all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import TypeAlias

from thence.dsl.ir.types import PROCESS, Collection, Map, Type

Edges: TypeAlias = tuple[tuple[int, int], ...]
"""Which processes are linked: in a tree the two ends of an edge are alike, in an overlay it leads from the first to the
second."""

NEIGHBORS, NEXT_HOP = "neighbors", "next_hop"

_NEIGHBORS: dict[str, Type] = {NEIGHBORS: Collection("set", PROCESS)}

BUILT_IN: dict[str, dict[str, Type]] = {
    "tree": {**_NEIGHBORS, NEXT_HOP: Map(PROCESS, PROCESS)},
    "overlay": _NEIGHBORS,
}
"""The names that a protocol can read besides its state, by the word for its network. `neighbors` are the processes that
`self` has a link to, `next_hop[p]` is the neighbor towards p."""


def line(processes: int) -> Edges:
    """The tree that is a line: 0 to 1, 1 to 2 and so on."""
    return tuple((process, process + 1) for process in range(processes - 1))


def overlay(links: Edges, processes: int) -> tuple[frozenset[int], ...]:
    """The processes that each process has a link to; each other one where no links are given."""
    known = links or tuple(permutations(range(processes), 2))
    return tuple(frozenset(b for a, b in known if a == process) for process in range(processes))


def directed(source: int, others: Sequence[int], mutual: bool) -> Edges:
    """The links from a process to others; if `mutual`, those back as well."""
    there = tuple((source, other) for other in others)
    return (*there, *((b, a) for a, b in there)) if mutual else there


def neighbors(edges: Edges, process: int) -> frozenset[int]:
    """The processes that are linked to this one, in a tree."""
    return frozenset(a + b - process for a, b in edges if process in (a, b))


def next_hops(edges: Edges, process: int) -> tuple[tuple[int, int], ...]:
    """For each other process that can be reached, ascending, the neighbor of this one on the way to it."""
    hops = {near: near for near in sorted(neighbors(edges, process))}
    frontier = list(hops)
    for here in frontier:
        for further in sorted(neighbors(edges, here)):
            if further != process and further not in hops:
                hops[further] = hops[here]
                frontier.append(further)
    return tuple(sorted(hops.items()))


def path(edges: Edges, start: int, end: int) -> tuple[int, ...]:
    """The processes on the way from one to the other, both included."""
    way = [start]
    while way[-1] != end:
        way.append(dict(next_hops(edges, way[-1]))[end])
    return tuple(way)


def fault_of(edges: Edges, processes: int) -> str | None:
    """Why the edges are not a tree of all the processes, if so."""
    for a, b in edges:
        if a == b:
            return f"process {a} is linked to itself"
    kept: list[tuple[int, int]] = []
    for a, b in edges:
        if any(known == b for known, _ in next_hops(tuple(kept), a)):
            return f"with the edge from {a} to {b} there are two ways between the two"
        kept.append((a, b))
    reached = {0, *(other for other, _ in next_hops(edges, 0))}
    apart = [process for process in range(processes) if process not in reached]
    return f"there is no way from 0 to {apart[0]}" if apart else None


def fault_of_links(links: Edges) -> str | None:
    """Why these are not the links of an overlay, if so."""
    for at, (source, target) in enumerate(links):
        if source == target:
            return f"process {source} is linked to itself"
        if (source, target) in links[:at]:
            return f"the link from {source} to {target} is given twice"
    return None
