"""The choices of a step: `choose` and `either` take the alternatives that a script names.

A step is a function of the process's state, its cause, and a script: for each choice, one after the other, the number
of the alternative. So a handler that chooses has one step for each script, and every engine that takes steps may go
through all of them, or look for one that fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import TypeAlias

from thence.dsl.ir.types import Type
from thence.dsl.run.values import Fault, Value
from thence.spec.user_error import UserError

Script: TypeAlias = tuple[int, ...]
"""The alternatives that a step takes, numbered from 0. A choice beyond its end takes the first one."""

MOST_OUTCOMES = 10_000
"""Alternatives of one step, all its choices taken together."""

MOST_CHOICES = 20 * MOST_OUTCOMES
"""Choices made while the alternatives of one step are gone through: a loop that chooses need not come to an end."""


class TooManyOutcomes(UserError, ValueError):
    """A step has so many alternatives that they are not gone through."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a choice came to: the name that `choose` gives to an element, and the element; of `either` the number of the
    branch, from 1, with neither name nor type.
    """

    name: str
    value: Value
    type: Type | None


@dataclass(slots=True)
class Choices:
    """The choices of one step: `script` decides them; `options` is the number of alternatives that each had.

    A choice with one alternative is none.
    """

    script: Script = ()
    options: list[int] = field(default_factory=list)
    chosen: list[Chosen] = field(default_factory=list)

    def pick(self, count: int) -> int:
        """The alternative to take, of `count`. Raises: Fault, where the script is one of another step."""
        if count == 1:
            return 0
        position = len(self.options)
        self.options.append(count)
        taken = self._alternative(position, count)
        if taken >= count:
            raise Fault("this alternative is not there")
        return taken

    def _alternative(self, position: int, count: int) -> int:
        return self.script[position] if position < len(self.script) else 0

    @property
    def taken(self) -> Script:
        """The script of the step, in full."""
        given = self.script[: len(self.options)]
        return (*given, *(0,) * (len(self.options) - len(given)))


class Drawn(Choices):
    """Choices that are drawn evenly."""

    def __init__(self, draw: Random) -> None:
        Choices.__init__(self)
        self._draw = draw

    def _alternative(self, position: int, count: int) -> int:
        taken = self._draw.randrange(count)
        self.script = (*self.script, taken)
        return taken


def every_script(step: Callable[[Choices], None]) -> Iterator[Script]:
    """The scripts of a step, in ascending order. `step` takes it and may end early. Raises: TooManyOutcomes."""
    script: Script = ()
    made = 0
    for _ in range(MOST_OUTCOMES):
        choices = Choices(script)
        step(choices)
        full = choices.taken
        made += len(full)
        if made > MOST_CHOICES:
            raise TooManyOutcomes(f"a step makes more than {MOST_CHOICES:,} choices, all its outcomes taken together")
        yield full
        last = next((at for at in reversed(range(len(full))) if full[at] + 1 < choices.options[at]), None)
        if last is None:
            return
        script = (*full[:last], full[last] + 1)
    raise TooManyOutcomes(f"a step has more than {MOST_OUTCOMES:,} outcomes, by what it chooses")
