"""Which causal sends may come later: found by taking the local steps in both orders.

A causal send shares nothing with the steps of other processes but the packets that it emits, and is asked for by
nobody. So it may be put off until something needs it: the arrival of a packet that it emits, or a step of its own
process that does not commute with it. The message then has the larger past, so whatever is wrong is still wrong.
What is found here is about one local state at a time, and exact: nothing is claimed that would have to be withdrawn.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from whence.dsl.values import Message
from whence.proofs.compiled.confluence import Effect, Emitted, Place, Steps


class Need(NamedTuple):
    """Whether a send has to come before some other step of its process, and whether some send after it has to."""

    itself: bool
    further: bool


NOT_NEEDED = Need(False, False)


@dataclass(slots=True)
class Lateness:
    """What is known of the sends of a system. Inputs are numbers, see `inputs`."""

    steps: Steps
    _needs: dict[tuple[Place, int, int], Need] = field(init=False, default_factory=dict)
    _idle: dict[tuple[Place, int], bool] = field(init=False, default_factory=dict)

    def is_idle(self, place: Place, send: int) -> bool:
        """Whether neither the send nor what can be sent after it does anything that others could notice."""
        known = self._idle.get((place, send))
        if known is None:
            effect = self.steps.effect(place, send)
            noticed = effect.emitted or effect.visible or effect.broken or effect.fault
            following = () if noticed else self.steps.sends_at(effect.after)
            known = not noticed and all(self.is_idle(effect.after, after) for after in following)
            self._idle[place, send] = known
        return known

    def need(self, place: Place, send: int, given: int) -> Need:
        """Whether the send, or some after it, has to come before `given`, which the same process does."""
        known = self._needs.get((place, send, given))
        if known is None:
            known = self._needs[place, send, given] = self._need(place, send, given)
        return known

    def _need(self, place: Place, send: int, given: int) -> Need:
        sent = self.steps.effect(place, send)
        if sent.fault or sent.visible:
            return NOT_NEEDED  # nothing comes after the one, and the other is never put off
        after = [self.need(sent.after, following, given) for following in self.steps.sends_at(sent.after)]
        return Need(not self._commute(place, send, sent, given), any(map(any, after)))

    def _commute(self, place: Place, send: int, sent: Effect, given: int) -> bool:
        effect = self.steps.effect
        then, before = effect(sent.after, given), effect(place, given)
        if then.fault or before.fault:
            return then.fault and before.fault
        last = effect(before.after, send)
        return (
            not last.fault
            and last.after == then.after
            and self._same((*sent.emitted, *then.emitted), (*before.emitted, *last.emitted))
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
