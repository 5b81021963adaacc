"""Which steps may come later, and which must come before others: found by taking local steps in both orders.

Nobody but the process itself asks for a causal send, or for an arrival that delivers nothing. So either may be put off
until something needs it: the arrival of a packet that it emits, or a step of its own process that does not commute with
it. A message that is sent later has the larger past, so whatever is wrong is still wrong.

What is put off is caught up on in sequences, which are found here, for one process at a time. Of sequences that
differ only in the order of steps that commute there is one, and each has only what its last step needs. All of that
is exact; but that packets of a kind never deliver anything is believed until one does (`loud`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from thence.dsl.run.values import Message
from thence.proofs.native.confluence import Effect, Emitted, Place, Steps, Unbounded

Sequence: TypeAlias = tuple[int, ...]
"""Inputs that a process takes one after the other."""

_MOST_TRIED = 20_000


class TooManyOrders(Unbounded):
    """Why nothing can be put off."""


class Waiting(NamedTuple):
    """A process, and the arrivals there that may be put off: inputs in ascending order, equal ones side by side."""

    place: Place
    arrivals: tuple[int, ...] = ()


class Order(NamedTuple):
    """Steps one after the other, the places from which they are taken, and the effect of the last."""

    steps: Sequence
    places: tuple[Place, ...]
    effect: Effect


class Ahead(NamedTuple):
    """A sequence whose last step is noticed, and how many packets leave by it. `shown`: what comes of it is a state."""

    steps: Sequence
    shown: bool
    leaving: int


@dataclass(slots=True)
class Lateness:
    """The sequences of a system, see `inputs` for the numbers. `met`: inputs that turned out to be possible at a place;
    whoever is told takes them from there.
    """

    steps: Steps
    met: list[tuple[Place, int]] = field(init=False, default_factory=list)
    _all_met: set[tuple[Place, int]] = field(init=False, default_factory=set)
    _orders: dict[Waiting, list[Order]] = field(init=False, default_factory=dict)
    _before: dict[tuple[Waiting, int], tuple[Sequence, ...]] = field(init=False, default_factory=dict)
    _ahead: dict[tuple[Waiting, bool], tuple[Ahead, ...]] = field(init=False, default_factory=dict)
    _commuting: dict[tuple[Place, int, int], bool] = field(init=False, default_factory=dict)

    def before(self, waiting: Waiting, given: int) -> tuple[Sequence, ...]:
        """All that may have to come before the process takes an input: of one or more steps each."""
        least, renaming = self._least(waiting)
        step = self._renamed(waiting.place, given, renaming)
        key = (least._replace(arrivals=without(least.arrivals, step)), step)
        known = self._before.get(key)
        if known is None:
            known = self._before[key] = tuple(self._find_before(*key))
        back = self.steps.inverse(renaming)
        return tuple(tuple(self._renamed(least.place, one, back) for one in sequence) for sequence in known)

    def _least(self, waiting: Waiting) -> tuple[Waiting, int]:
        """The same under other names, and the renaming that leads there: what is found for one is for all."""
        place, arrivals = waiting
        renaming = self.steps.least(place)[0]
        renamed, _ = self.steps.renamed(place, 0, renaming)
        return Waiting(renamed, tuple(sorted(self._renamed(place, one, renaming) for one in arrivals))), renaming

    def _renamed(self, place: Place, step: int, renaming: int) -> int:
        return self.steps.renamed(place, step, renaming).given if renaming else step

    def _find_before(self, waiting: Waiting, given: int) -> Iterator[Sequence]:
        for steps, places, effect in self._all_orders(waiting):
            if effect.fault or effect.visible:
                continue  # nothing comes after the one, and the other is never put off
            self._meet(effect.after, given)
            if self._is_needed((*steps, given), (*places, effect.after), None):
                yield steps

    def ahead(self, waiting: Waiting, quiet: bool) -> tuple[Ahead, ...]:
        """What the process may do by itself that is noticed. `quiet`: nothing is in flight, so any send is noticed."""
        least, renaming = self._least(waiting)
        known = self._ahead.get((least, quiet))
        if known is None:
            known = self._ahead[least, quiet] = tuple(self._find_ahead(least, quiet))
        back = self.steps.inverse(renaming)
        return tuple(
            ahead._replace(steps=tuple(self._renamed(least.place, step, back) for step in ahead.steps))
            for ahead in known
        )

    def _find_ahead(self, waiting: Waiting, quiet: bool) -> Iterator[Ahead]:
        for steps, places, effect in self._all_orders(waiting):
            unnoticed = quiet and not self.steps.effect(waiting.place, steps[0]).emitted
            if unnoticed and len(steps) > 1:
                continue  # its first step leads to a state
            shown = effect.visible or unnoticed
            noticed = shown or effect.emitted or effect.fault
            if effect.broken or (noticed and self._is_needed(steps, places, effect.emitted)):
                yield Ahead(steps, shown and not effect.fault, len(_leaving(effect.emitted)))

    def _all_orders(self, waiting: Waiting) -> list[Order]:
        known = self._orders.get(waiting)
        if known is None:
            known = self._orders[waiting] = list(self._find_orders(waiting))
        return known

    def _find_orders(self, waiting: Waiting) -> Iterator[Order]:
        """Sends and arrivals in all orders that matter."""
        tried = 0
        stack: list[tuple[Sequence, tuple[Place, ...], tuple[int, ...]]] = [((), (waiting.place,), waiting.arrivals)]
        while stack:
            taken, places, arrivals = stack.pop()
            here = places[-1]
            for step in (*self.steps.sends_at(here), *dict.fromkeys(arrivals)):
                if self._comes_sooner(places, taken, step):
                    continue
                effect = self.steps.effect(here, step)
                self._meet(here, step)
                yield Order((*taken, step), places, effect)
                tried += 1
                if tried > _MOST_TRIED:
                    raise TooManyOrders(
                        "there are too many orders in which a process may catch up on what it has put off"
                    )
                if not effect.fault and not effect.visible:
                    stack.append(((*taken, step), (*places, effect.after), without(arrivals, step)))

    def _meet(self, place: Place, given: int) -> None:
        if (place, given) not in self._all_met:
            self._all_met.add((place, given))
            self.met.append((place, given))

    def _comes_sooner(self, places: tuple[Place, ...], taken: Sequence, step: int) -> bool:
        """Whether a step is not taken here, since it may as well come before one that comes after it in order: arrivals
        are before sends, and among themselves by number.
        """
        if not self.steps.is_arrival(step):
            return False
        for place, earlier in zip(reversed(places[:-1]), reversed(taken), strict=True):
            if not self._commute(place, earlier, step):
                return False
            if not self.steps.is_arrival(earlier) or step < earlier:
                return True
        return False

    def _is_needed(self, steps: Sequence, places: tuple[Place, ...], emitted: Emitted | None) -> bool:
        """Whether none of the steps may as well come after the last, if this then still emits so much."""
        return not any(self._floats(place, steps[at:], emitted) for at, place in enumerate(places[:-1]))

    def _floats(self, place: Place, steps: Sequence, emitted: Emitted | None) -> bool:
        """Whether the first step may as well come after all the others, the last of which then emits so much."""
        first, *others = steps
        effect = None
        for other in others:
            if not self._commute(place, first, other):
                return False
            effect = self.steps.effect(place, other)
            place = effect.after
        return effect is not None and emitted in (None, effect.emitted)

    def _commute(self, place: Place, first: int, second: int) -> bool:
        """Whether the first step may as well come after the second: the same comes of both, and the same is emitted."""
        key = (place, first, second)
        known = self._commuting.get(key)
        if known is None:
            known = self._commuting[key] = self._compare(place, first, second)
        return known

    def _compare(self, place: Place, first: int, second: int) -> bool:
        effect, is_send = self.steps.effect, self.steps.is_send
        if is_send(first) and is_send(second):
            return False  # messages are numbered
        one, other = effect(place, first), effect(place, second)
        if one.fault:
            return False
        then = effect(one.after, second)
        if then.fault or other.fault:
            return then.fault and other.fault
        last = effect(other.after, first)
        return (
            not last.fault
            and not last.visible
            and last.after == then.after
            and self._same((*one.emitted, *then.emitted), (*other.emitted, *last.emitted))
        )

    def _same(self, one: Emitted, other: Emitted) -> bool:
        """Whether the same is delivered in the same order, and the same packets leave, of one channel in order."""
        return _delivered(one) == _delivered(other) and self.steps.arranged(_leaving(one)) == self.steps.arranged(
            _leaving(other)
        )


def _delivered(emitted: Emitted) -> Emitted:
    return tuple(one for one in emitted if isinstance(one, Message))


def _leaving(emitted: Emitted) -> Emitted:
    return tuple(one for one in emitted if not isinstance(one, Message))


def without(arrivals: tuple[int, ...], step: int) -> tuple[int, ...]:
    """What is left of the arrivals after a step: one less, if it is one."""
    if step not in arrivals:
        return arrivals
    at = arrivals.index(step)
    return (*arrivals[:at], *arrivals[at + 1 :])
