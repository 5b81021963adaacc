"""The sequences of `right_movers` for native code, by key.

A node stands for the postponed steps of a process: its place, and arrivals there. Native code comes to a node
arrival by arrival, and then asks for plans. A plan is a list of sequences; each is a header, then for each step twice
the packet's number (plus one), or twice the choice of destinations and one, then zero. Another zero ends the plan.

Only the arrivals of silent packets are postponed: those of kinds of which no packet has delivered anything so far.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from thence.proofs.native.code.cells import ASKED, EXTENDED, KNOWN, PLANS, SENDS_SHIFT, SPONTANEOUS
from thence.proofs.native.postponing.effects import Effects, LocalPlace
from thence.proofs.native.postponing.right_movers import Postponed, RightMovers

_HALF = (1 << 32) - 1
_SHOWN = 2


class NotSilent(Exception):
    """Packets of a kind that was taken for silent deliver something: the search must start again."""


@dataclass(slots=True)
class Plans:
    """The entries of keys with PLANS: the number of a node, or the place of a plan.

    `write` gives the place of words from then on. `delivering`: the kinds of packets that are not silent; on FIFO
    channels, all of them.
    `most_prerequisites`, `most_shown`, `most_leaving`: at most so many sequences come before a step, and of those that
    are noticed so many lead to a state themselves, and so many packets leave by the others.
    """

    effects: Effects
    write: Callable[[tuple[int, ...]], int]
    movers: RightMovers = field(init=False)
    delivering: set[str] = field(init=False)
    most_prerequisites: int = field(init=False, default=0)
    most_shown: int = field(init=False, default=0)
    most_leaving: int = field(init=False, default=0)
    _nodes: list[Postponed] = field(init=False, default_factory=list)
    _numbers: dict[Postponed, int] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.movers = RightMovers(self.effects)
        protocol = self.effects.system.protocol
        self.delivering = {
            kind.name for kind in protocol.packets if kind.carries is not None or not protocol.network.reordering
        }

    def is_silent(self, packet: int) -> bool:
        """Whether the arrival of a packet may be postponed."""
        return self.effects.system.packet(packet).kind not in self.delivering

    def entry(self, key: int) -> int:
        """The entry of a key."""
        about, what = key >> 32, key & _HALF
        if what & EXTENDED:
            node = self._nodes[about]
            arrival = self.effects.inputs.arrival((what & ~(PLANS | EXTENDED)) - 1)
            return KNOWN | self._number(node._replace(arrivals=tuple(sorted((*node.arrivals, arrival)))))
        if not what & ASKED:
            place = LocalPlace(what & ~PLANS, about >> SENDS_SHIFT, about & (1 << SENDS_SHIFT) - 1)
            return KNOWN | self._number(Postponed(place))
        if what & SPONTANEOUS:
            words = self._spontaneous(about, bool(what & 1))
        else:
            words = self._prerequisites(about, what & ~(PLANS | ASKED))
        return KNOWN | self.write((*words, 0))

    def _number(self, node: Postponed) -> int:
        number = self._numbers.setdefault(node, len(self._nodes))
        if number == len(self._nodes):
            self._nodes.append(node)
        return number

    def _prerequisites(self, node: int, given: int) -> list[int]:
        found = self.movers.prerequisites(self._nodes[node], given)
        self.most_prerequisites = max(self.most_prerequisites, len(found))
        return [word for sequence in found for word in (1, *map(self._element, sequence), 0)]

    def _spontaneous(self, node: int, quiet: bool) -> list[int]:
        found = self.movers.spontaneous(self._nodes[node], quiet)
        self.most_shown = max(self.most_shown, sum(one.shown for one in found))
        self.most_leaving = max(self.most_leaving, sum(one.leaving for one in found))
        return [word for one in found for word in (1 | _SHOWN * one.shown, *map(self._element, one.steps), 0)]

    def _element(self, step: int) -> int:
        inputs = self.effects.inputs
        message = inputs[step].message
        if message is None:
            return 2 * (inputs.packet(step) + 1)
        return 2 * inputs.sends(message.src, message.number).index(step) + 1
