"""Rounds: whether every packet arrives, where packets cannot be told apart by their numbers.

A round lasts until all packets that were in flight at its beginning have arrived. A run in which every packet arrives
in the end has infinitely many rounds, whatever numbers its packets carry. So the search uses pairs of a state and the
packets that are still to arrive in the round. Of packets that are equal up to order, any one may be the one to arrive.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from thence.dsl.run.actions import Action, State
from thence.proofs.fairness.fair_cycles import Class, Edge, FairGraph
from thence.proofs.liveness.order_system import OrderAbstractSystem

ROUND: Class = ("round", 0, 0)
"""The steps that end a round."""

MOST_NODES = 200_000
"""Limit on the pairs of a state and the packets that are still to arrive."""

Node: TypeAlias = tuple[int, frozenset[int]]
"""The number of a state, and the packets of the round that are still to arrive."""


def left_of_round(
    system: OrderAbstractSystem,
    fair: Collection[str],
    owed: frozenset[int],
    action: Action,
    after: State,
    packets: Mapping[int, int],
) -> tuple[frozenset[int], bool]:
    """The packets that are to arrive after a step, and whether the step ends the round.

    Args:
        fair: the kinds of packets that have to arrive.
        packets: for each packet before the step its number after the step.
    """
    arrived = action.packet if action.kind in ("receive", "lose") else -1
    there = set(after.network)
    left = frozenset(packets[number] for number in owed if number != arrived and packets.get(number) in there)
    return (left, False) if left else (to_arrive(system, fair, after), True)


def to_arrive(system: OrderAbstractSystem, fair: Collection[str], state: State) -> frozenset[int]:
    """The packets in flight that have to arrive."""
    return frozenset(number for number in state.network if system.packet(number).kind in fair)


@dataclass(slots=True)
class Rounds:
    """The pairs of a state of a component and the packets still to arrive, reachable from beginnings of rounds.

    `too_many`: there are more than MOST_NODES.
    """

    system: OrderAbstractSystem
    states: list[State]
    numbers: Mapping[State, int]
    fair: frozenset[str]
    plain: FairGraph
    nodes: list[Node] = field(default_factory=list)
    too_many: bool = False
    _known: dict[Node, int] = field(default_factory=dict)
    _edges: list[list[Edge]] = field(default_factory=list)

    def graph(self, component: set[int], class_of: Callable[[Action], Class | None]) -> FairGraph:
        """The graph of the pairs. `class_of` is the class of an action; rounds replace the classes of arrivals."""
        for number in sorted(component):
            self._number((number, to_arrive(self.system, self.fair, self.states[number])))
        at = 0
        while at < len(self.nodes):
            if at >= MOST_NODES:
                self.too_many = True
                break
            number, owed = self.nodes[at]
            for action, after, packets in self.system.moves(self.states[number]):
                to = self.numbers.get(after)
                if to is None or to not in component:
                    continue
                left, ended = left_of_round(self.system, self.fair, owed, action, after, packets)
                own = class_of(action)
                taken = ({own} if own is not None and own[0] != "receive" else set()) | ({ROUND} if ended else set())
                self._edges[at].append((action, self._number((to, left)), frozenset(taken)))
            at += 1
        return FairGraph(
            self._edges.__getitem__,
            self._offers,
            lambda node: self.plain.distance(self.nodes[node][0]),
            self.plain.weak,
            self.plain.required | {ROUND},
        )

    def _offers(self, node: int) -> frozenset[Class]:
        return frozenset(each for each in self.plain.offers(self.nodes[node][0]) if each[0] != "receive")

    def _number(self, node: Node) -> int:
        known = self._known.setdefault(node, len(self.nodes))
        if known == len(self.nodes):
            self.nodes.append(node)
            self._edges.append([])
        return known


def is_fair_to_packets(
    system: OrderAbstractSystem, fair: Collection[str], start: State, cycle: Iterable[Action]
) -> bool:
    """Whether every packet arrives if the cycle is repeated for ever."""
    actions = tuple(cycle)
    owed, seen, ended = to_arrive(system, fair, start), set[frozenset[int]](), 0
    last: dict[frozenset[int], int] = {}
    while owed not in seen:
        seen.add(owed)
        last[owed] = ended
        state = start
        for action in actions:
            after, packets = next((after, packets) for known, after, packets in system.moves(state) if known == action)
            owed, over = left_of_round(system, fair, owed, action, after, packets)
            ended += over
            state = after
    return ended > last[owed]
