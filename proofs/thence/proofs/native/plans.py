"""What native code is told of `lateness`: sequences of steps to catch up on, by key.

What waits at a process is a node: its place, and the arrivals there that may be put off. Native code comes to it
arrival by arrival, and then asks for plans. A plan is a list of sequences; each is a header, then for each step twice
the packet's number (plus one) or twice the choice of destinations and one, then zero. Another zero ends the plan.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from thence.proofs.native.code.cells import AHEAD, ASKED, EXTENDED, KNOWN, PLANS, SENDS_SHIFT
from thence.proofs.native.confluence import Place
from thence.proofs.native.inputs import Inputs
from thence.proofs.native.right_movers import Lateness, Waiting

_HALF = (1 << 32) - 1
_SHOWN = 2


@dataclass(slots=True)
class Plans:
    """The entries of keys with PLANS: the number of a node, or where a plan was written.

    `most_before`, `most_shown`, `most_leaving`: at most so many sequences come before a step, and of those that are
    noticed so many lead to a state themselves, and so many packets leave by the others.
    """

    lateness: Lateness
    inputs: Inputs
    write: Callable[[tuple[int, ...]], int]
    most_before: int = field(init=False, default=0)
    most_shown: int = field(init=False, default=0)
    most_leaving: int = field(init=False, default=0)
    _nodes: list[Waiting] = field(init=False, default_factory=list)
    _numbers: dict[Waiting, int] = field(init=False, default_factory=dict)

    def entry(self, key: int) -> int:
        """What native code asks for by this key."""
        about, what = key >> 32, key & _HALF
        if what & EXTENDED:
            node = self._nodes[about]
            arrival = self.inputs.arrival((what & ~(PLANS | EXTENDED)) - 1)
            return KNOWN | self._number(node._replace(arrivals=tuple(sorted((*node.arrivals, arrival)))))
        if not what & ASKED:
            place = Place(what & ~PLANS, about >> SENDS_SHIFT, about & (1 << SENDS_SHIFT) - 1)
            return KNOWN | self._number(Waiting(place))
        words = self._ahead(about, bool(what & 1)) if what & AHEAD else self._before(about, what & ~(PLANS | ASKED))
        return KNOWN | self.write((*words, 0))

    def _number(self, node: Waiting) -> int:
        number = self._numbers.setdefault(node, len(self._nodes))
        if number == len(self._nodes):
            self._nodes.append(node)
        return number

    def _before(self, node: int, given: int) -> list[int]:
        found = self.lateness.before(self._nodes[node], given)
        self.most_before = max(self.most_before, len(found))
        return [word for sequence in found for word in (1, *map(self._element, sequence), 0)]

    def _ahead(self, node: int, quiet: bool) -> list[int]:
        found = self.lateness.ahead(self._nodes[node], quiet)
        self.most_shown = max(self.most_shown, sum(ahead.shown for ahead in found))
        self.most_leaving = max(self.most_leaving, sum(ahead.leaving for ahead in found))
        return [word for ahead in found for word in (1 | _SHOWN * ahead.shown, *map(self._element, ahead.steps), 0)]

    def _element(self, step: int) -> int:
        message = self.inputs[step].message
        if message is None:
            return 2 * (self.inputs.packet(step) + 1)
        return 2 * self.inputs.sends(message.src, message.number).index(step) + 1
