"""Silent steps that can be put off: a partial-order reduction of the search for a run.

NOTE(put off): a silent step (no log shows it, nothing is sent or delivered) changes the process's state only. It can be
taken later if each other input of the process has the same effect before it and after it: then no run is lost. The
condition is tested on the steps themselves, with every input that the process could have now, after any combination of
its silent steps (of more than a few silent steps: after the first one, the first two, and so on). A timer may fire more
than once: it is part of a combination as often as that changes something.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from thence.conformance.replay.configuration import Configuration
from thence.conformance.replay.observed_steps import ObservedSteps
from thence.conformance.replay.process_logs import NOT_LOGGED
from thence.conformance.replay.replay import Expected, Input

_FEW: Final = 4
"""Number of silent steps of which every combination is tested, see NOTE(put off)."""

_MOST: Final = 64
"""Combinations that are tested. Where timers make more of them, nothing is put off."""


class Postponement:
    """Tests which silent steps of a configuration's processes can be put off."""

    def __init__(self, steps: ObservedSteps, now: Configuration) -> None:
        self._steps = steps
        self._now = now
        self._known: dict[tuple[int, int, tuple[Input, ...]], bool] = {}

    def can_wait(self, process: int, state: int, inputs: tuple[Input, ...]) -> bool:
        """Whether every silent step of the process can be put off, where `inputs` are all its inputs. NOTE(put off)."""
        key = (process, state, inputs)
        known = self._known.get(key)
        if known is None:
            silent = [number for number, given in enumerate(inputs) if self.is_silent(process, state, given)]
            known = self._known[key] = all(
                at < _MOST
                and self.is_silent(process, after, inputs[number])
                and all(
                    self.can_swap(process, (state, after), inputs[number], other)
                    for place, other in enumerate(inputs)
                    if place not in done and place != number
                )
                for at, (after, done) in enumerate(self._after_silent(process, state, inputs, silent))
                for number in silent
                if number not in done and not self._is_spent(process, after, inputs[number])
            )
        return known

    def _is_spent(self, process: int, state: int, given: Input) -> bool:
        """Whether it is a timer that changes nothing now."""
        step = self._steps.step(process, state, given)
        return (
            _is_timer(given)
            and step.fault is None
            and step.state == state
            and not any(shadow >= 0 for shadow in step.shadows)
            and not self._steps.deliveries(process, step)
        )

    def is_silent(self, process: int, state: int, given: Input) -> bool:
        """Whether the step changes the process's state and nothing else."""
        step = self._steps.step(process, state, given)
        return (
            step.fault is None
            and step.state != state
            and not self.sends(step)
            and not self._steps.deliveries(process, step)
        )

    def sends(self, step: Expected) -> bool:
        """Whether the step puts a packet on the network that was not there."""
        return any(shadow >= 0 and not self._now.is_known(shadow) for shadow in step.shadows)

    def _after_silent(
        self, process: int, state: int, inputs: tuple[Input, ...], silent: list[int]
    ) -> Iterator[tuple[int, frozenset[int]]]:
        """The states that silent steps lead to, each with the steps taken: all combinations of few steps; of many, the
        states on the way to all steps in turn."""
        found = {(state, frozenset[int]())}
        frontier = list(found)
        while frontier:
            after, done = frontier.pop()
            yield after, done
            for given in silent:
                if given not in done:
                    step = self._steps.step(process, after, inputs[given])
                    again = _is_timer(inputs[given]) and len(silent) <= _FEW
                    one = (step.state, done if again else done | {given})
                    if step.fault is None and one not in found:
                        found.add(one)
                        frontier.append(one)
                    if len(silent) > _FEW:
                        break

    def can_swap(self, process: int, states: tuple[int, int], silent: Input, other: Input) -> bool:
        """Whether the silent step has the same effect after the other input as before it. `states` are the process's
        state without the silent steps before these, and the state that those led to."""
        base, state = states
        step = self._steps.step
        first = step(process, state, silent)
        after = step(process, first.state, other)
        instead = step(process, state, other)
        if instead.fault is not None or after.fault is not None:
            return instead.fault is not None and after.fault is not None
        late = step(process, instead.state, silent)
        if late.fault is not None or late.state != after.state:
            return False
        if self._sent(first, after) != self._sent(instead, late):
            return False
        released = [name for _, name in self._steps.deliveries(process, late)]
        together = [name for one in (instead, late) for _, name in self._steps.deliveries(process, one)]
        if sorted(together) != sorted(name for _, name in self._steps.deliveries(process, after)):
            return False
        # Two steps fix an order of deliveries that one step may leave free. The fixed order must be the logged one.
        # Messages that earlier silent steps brought can be put off as well, and then come in the order of the log.
        log = self._steps.logs.deliveries[process]
        alone = step(process, base, other)
        early = [name for _, name in self._steps.deliveries(process, alone)] if released and alone.fault is None else []
        return all(
            log.get(name, 0) < log.get(other_name, NOT_LOGGED) or self._steps.must_keep(name, other_name)
            for name in early
            for other_name in released
        )

    def _sent(self, *steps: Expected) -> object:
        """The packets that steps put on the network, with as much of their order as the network keeps."""
        packets = [shadow for step in steps for shadow in step.shadows if shadow >= 0]
        if self._now.conditions.reordering:
            return Counter(packets)
        channels: dict[int, list[int]] = {}
        for shadow in packets:
            channels.setdefault(self._steps.replay.packet(shadow).dst, []).append(shadow)
        return channels


def _is_timer(given: Input) -> bool:
    """Whether the input is that a timer fires. It may fire again."""
    return len(given) == 1 and isinstance(given[0], str)
