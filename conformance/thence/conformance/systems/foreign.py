"""Abilities of systems under test beyond the interface of `thence.impl.commands`.

A factory of processes may be a `ForeignSystem`. A process may have a method `react`, which takes what its `causal_send`
takes: its application is to causal-send that message from inside the delivery callback of its next delivery, and to say
so by `Answered` among its commands, there where it happened. The application of a process without `react` sends right
after the step that delivered something.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol, TypeAlias, runtime_checkable

from thence.conformance.cases.network import Settings

FailureKind: TypeAlias = Literal["crash", "hang", "memory"]

LATER: Final[list[Any]] = []
"""In the place of commands, this very list: the answer comes later, see `Case.resume`."""


@dataclass(frozen=True, slots=True)
class Answered:
    """As a command: inside the delivery before it, the application causal-sent the `message` of an earlier `react`."""

    message: str


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """As a command: what another process than the one that was asked does meanwhile."""

    process: int
    command: Any


class SystemFailed(Exception):
    """A system in another operating-system process ended, printed nonsense, gave no answer, or took too much.

    Attributes:
        kind: `hang`: no answer in time; `memory`: it used more than its limit; `crash`: anything else.
        printed: its last lines on the standard error.
    """

    def __init__(self, kind: FailureKind, text: str, printed: str = "") -> None:
        super().__init__(text)
        self.kind: FailureKind = kind
        self.printed = printed


class SystemRaised(Exception):
    """A system in another operating-system process answered with an error of its own.

    Attributes:
        printed: its last lines on the standard error.
    """

    def __init__(self, text: str, printed: str = "") -> None:
        super().__init__(text)
        self.printed = printed


@runtime_checkable
class ForeignSystem(Protocol):
    """A factory of processes that live elsewhere. It is told when a case begins, and has time limits of its own."""

    def __call__(self, identity: int, processes: int) -> Any:
        """Process `identity` of the case."""
        ...

    def begin_case(self, settings: Settings) -> object:
        """Everything that was before is forgotten. Raises: SystemFailed, SystemRaised."""
        ...

    def hopeless(self) -> str | None:
        """Why more cases are pointless; None where they are not."""
        ...
