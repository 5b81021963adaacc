"""Which steps can be postponed, and which must come before others: found by taking local steps in both orders.

A right mover is a step that may as well come after the step that follows it (R. Lipton, Reduction, CACM 1975). Only
the process itself asks for a causal send, or for an arrival that delivers nothing. So either can be postponed until a
step needs it: the arrival of a packet that it emits, or a step of its own process to the right of which it does not
move. A message that is sent later has the larger past, so a violation stays a violation.

Postponed steps are made up for in sequences, which are found here, for one process at a time. Of sequences that
differ only in the order of steps that commute there is one, and each has only the steps that its last one needs.
All of that is exact. That packets of a kind never deliver anything is assumed until one does, see `plans`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from thence.dsl.run.values import Message
from thence.proofs.native.postponing.effects import Effect, Effects, Emitted, LocalPlace

Sequence: TypeAlias = tuple[int, ...]
"""Inputs that a process takes one after the other."""

_MOST_TRIED = 20_000


class CannotPostpone(Exception):
    """Why nothing can be postponed."""


class Postponed(NamedTuple):
    """A process, and the postponed arrivals there: inputs in ascending order, equal ones side by side."""

    place: LocalPlace
    arrivals: tuple[int, ...] = ()


class Order(NamedTuple):
    """Steps one after the other, the places from which they are taken, and the effect of the last."""

    steps: Sequence
    places: tuple[LocalPlace, ...]
    effect: Effect


class Spontaneous(NamedTuple):
    """A sequence of postponed steps whose last step is noticed, and how many packets leave by that.

    `shown`: whether a state is stored after it.
    """

    steps: Sequence
    shown: bool
    leaving: int


@dataclass(slots=True)
class RightMovers:
    """The sequences of a system's postponed steps; see `inputs` for the numbers."""

    effects: Effects
    _orders: dict[Postponed, list[Order]] = field(init=False, default_factory=dict)
    _prerequisites: dict[tuple[Postponed, int], tuple[Sequence, ...]] = field(init=False, default_factory=dict)
    _spontaneous: dict[tuple[Postponed, bool], tuple[Spontaneous, ...]] = field(init=False, default_factory=dict)
    _commuting: dict[tuple[LocalPlace, int, int], bool] = field(init=False, default_factory=dict)

    def prerequisites(self, postponed: Postponed, given: int) -> tuple[Sequence, ...]:
        """All sequences, of one or more steps, that may have to come before the process takes an input.

        Raises:
            CannotPostpone: there are too many orders of the postponed steps.
        """
        least, renaming = self._least(postponed)
        step = self.effects.renamed_input(given, renaming)
        key = (least._replace(arrivals=without(least.arrivals, step)), step)
        known = self._prerequisites.get(key)
        if known is None:
            known = self._prerequisites[key] = tuple(self._find_prerequisites(*key))
        back = self.effects.inverse(renaming)
        return tuple(self._renamed(sequence, back) for sequence in known)

    def _least(self, postponed: Postponed) -> tuple[Postponed, int]:
        """The representative of all renamings, and the renaming that leads to it: sequences are found for it only."""
        renaming = self.effects.to_least(postponed.place)
        arrivals = tuple(sorted(self._renamed(postponed.arrivals, renaming)))
        return Postponed(self.effects.renamed_place(postponed.place, renaming), arrivals), renaming

    def _renamed(self, steps: Sequence, renaming: int) -> Sequence:
        return tuple(self.effects.renamed_input(step, renaming) for step in steps)

    def _find_prerequisites(self, postponed: Postponed, given: int) -> Iterator[Sequence]:
        for steps, places, effect in self._all_orders(postponed):
            if effect.fault or effect.visible:
                continue  # nothing comes after a fault, and a visible step is never postponed
            if self._is_needed((*steps, given), (*places, effect.after), None):
                yield steps

    def spontaneous(self, postponed: Postponed, quiet: bool) -> tuple[Spontaneous, ...]:
        """The noticed sequences that the process may take by itself.

        `quiet`: nothing is in flight, so each send is noticed.

        Raises:
            CannotPostpone: there are too many orders of the postponed steps.
        """
        least, renaming = self._least(postponed)
        known = self._spontaneous.get((least, quiet))
        if known is None:
            known = self._spontaneous[least, quiet] = tuple(self._find_spontaneous(least, quiet))
        back = self.effects.inverse(renaming)
        return tuple(one._replace(steps=self._renamed(one.steps, back)) for one in known)

    def _find_spontaneous(self, postponed: Postponed, quiet: bool) -> Iterator[Spontaneous]:
        for steps, places, effect in self._all_orders(postponed):
            unnoticed = quiet and not self.effects.effect(postponed.place, steps[0]).emitted
            if unnoticed and len(steps) > 1:
                continue  # a state is stored after its first step
            shown = effect.visible or unnoticed
            noticed = shown or effect.emitted or effect.fault
            if effect.broken or (noticed and self._is_needed(steps, places, effect.emitted)):
                yield Spontaneous(steps, shown and not effect.fault, len(_leaving(effect.emitted)))

    # --- orders of postponed steps -----------------------------------------------------------

    def _all_orders(self, postponed: Postponed) -> list[Order]:
        known = self._orders.get(postponed)
        if known is None:
            known = self._orders[postponed] = list(self._find_orders(postponed))
        return known

    def _find_orders(self, postponed: Postponed) -> Iterator[Order]:
        """Sends and arrivals in all orders that matter."""
        tried = 0
        stack: list[tuple[Sequence, tuple[LocalPlace, ...], tuple[int, ...]]] = [
            ((), (postponed.place,), postponed.arrivals)
        ]
        while stack:
            taken, places, arrivals = stack.pop()
            here = places[-1]
            for step in (*self.effects.sends_at(here), *dict.fromkeys(arrivals)):
                if self._comes_sooner(places, taken, step):
                    continue
                effect = self.effects.effect(here, step)
                yield Order((*taken, step), places, effect)
                tried += 1
                if tried > _MOST_TRIED:
                    raise CannotPostpone(
                        "there are too many orders in which a process may catch up on what it has put off"
                    )
                if not effect.fault and not effect.visible:
                    stack.append(((*taken, step), (*places, effect.after), without(arrivals, step)))

    def _comes_sooner(self, places: tuple[LocalPlace, ...], taken: Sequence, step: int) -> bool:
        """Whether a step may as well come before a taken one that follows it in the normal order.

        In the normal order arrivals are before sends, and among themselves by number.
        """
        if not self.effects.is_arrival(step):
            return False
        for place, earlier in zip(reversed(places[:-1]), reversed(taken), strict=True):
            if not self._commute(place, earlier, step):
                return False
            if not self.effects.is_arrival(earlier) or step < earlier:
                return True
        return False

    # --- commutation -------------------------------------------------------------------------

    def _is_needed(self, steps: Sequence, places: tuple[LocalPlace, ...], emitted: Emitted | None) -> bool:
        """Whether no step moves to the right of the last, which then still emits so much."""
        return not any(self._moves_right(place, steps[at:], emitted) for at, place in enumerate(places[:-1]))

    def _moves_right(self, place: LocalPlace, steps: Sequence, emitted: Emitted | None) -> bool:
        """Whether the first step may as well come after all the others, the last of which then emits so much."""
        first, *others = steps
        effect = None
        for other in others:
            if not self._commute(place, first, other):
                return False
            effect = self.effects.effect(place, other)
            place = effect.after
        return effect is not None and emitted in (None, effect.emitted)

    def _commute(self, place: LocalPlace, first: int, second: int) -> bool:
        """Whether the first step may as well come after the second: to the same place, with the same emissions."""
        key = (place, first, second)
        known = self._commuting.get(key)
        if known is None:
            known = self._commuting[key] = self._compare(place, first, second)
        return known

    def _compare(self, place: LocalPlace, first: int, second: int) -> bool:
        effect, is_send = self.effects.effect, self.effects.is_send
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
        return _delivered(one) == _delivered(other) and self.effects.arranged(_leaving(one)) == self.effects.arranged(
            _leaving(other)
        )


def _delivered(emitted: Emitted) -> Emitted:
    return tuple(one for one in emitted if isinstance(one, Message))


def _leaving(emitted: Emitted) -> Emitted:
    return tuple(one for one in emitted if not isinstance(one, Message))


def without(arrivals: tuple[int, ...], step: int) -> tuple[int, ...]:
    """The arrivals without one that equals the step, if there is one."""
    if step not in arrivals:
        return arrivals
    at = arrivals.index(step)
    return (*arrivals[:at], *arrivals[at + 1 :])
