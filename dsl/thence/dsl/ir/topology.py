"""Trees of processes: who is next to whom, and the way from one to another.

On a `tree` network packets go between neighbours only. The protocol sees the tree as two state variables that nothing
changes, `neighbours` and `next_hop`; where a scope gives no tree, the processes form a line.
"""

from __future__ import annotations

from typing import TypeAlias

from thence.dsl.ir.types import PROCESS, Collection, Map, Type

Edges: TypeAlias = tuple[tuple[int, int], ...]
"""Which processes are linked; the two ends of an edge are alike."""

NEIGHBOURS, NEXT_HOP = "neighbours", "next_hop"

BUILT_IN: dict[str, Type] = {NEIGHBOURS: Collection("set", PROCESS), NEXT_HOP: Map(PROCESS, PROCESS)}
"""The names that a protocol for a tree network can read besides its state: `next_hop[p]` is the neighbour towards p."""


def line(processes: int) -> Edges:
    """The tree that is a line: 0 to 1, 1 to 2 and so on."""
    return tuple((process, process + 1) for process in range(processes - 1))


def neighbours(edges: Edges, process: int) -> frozenset[int]:
    """The processes that are linked to this one."""
    return frozenset(a + b - process for a, b in edges if process in (a, b))


def next_hops(edges: Edges, process: int) -> tuple[tuple[int, int], ...]:
    """For each other process that can be reached, ascending, the neighbour of this one on the way to it."""
    hops = {near: near for near in sorted(neighbours(edges, process))}
    frontier = list(hops)
    for here in frontier:
        for further in sorted(neighbours(edges, here)):
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
