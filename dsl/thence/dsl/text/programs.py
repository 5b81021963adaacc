"""Programs of the application: which messages a process sends and receives, in which order.

A scope may fix a process's `program`. Its messages are then sent in that order, and a message is delivered only where
the program receives one: a step that would deliver something else, or too early, does not happen (the packet arrives
later). So a scope with programs asks about executions of a given shape: can the protocol produce it (`completes`), can
it be stuck on the way (`deadlock_free`). What holds in such a scope holds of the runs that follow the programs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from thence.dsl.text.syntax import ProgramStep, Setting

Program: TypeAlias = tuple[ProgramStep, ...]
Programs: TypeAlias = tuple[Program | None, ...]
"""By process; None where the application does as it likes."""

NAME: Final = "program"


def setting_key(setting: Setting) -> str:
    """The key of a setting in a scope: its name, for a program also its process, and the timer that it is about."""
    if setting.name == NAME:
        return f"{NAME} {setting.values[0]}"
    return f"{setting.name} {setting.about}".rstrip()


def sends_of(program: Program) -> tuple[tuple[int, ...], ...]:
    """The sets of destinations of what the program sends, in order."""
    return tuple(tuple(sorted(others)) for verb, others in program if verb == "send")


def receives(program: Program, position: int, source: int) -> bool:
    """Whether the step at this position takes a message from the source."""
    if position >= len(program):
        return False
    verb, others = program[position]
    return verb == "receive" and (not others or source in others)


def describe(program: Program) -> str:
    """`send to 1; receive from 2; receive`."""
    return "; ".join(_describe(step) for step in program)


def _describe(step: ProgramStep) -> str:
    verb, others = step
    shown = ", ".join(map(str, others))
    if verb == "send":
        return f"send to {shown or 'none'}"
    return f"receive from {shown}" if shown else "receive"


def imbalance(programs: Programs) -> tuple[int, int, int] | None:
    """A process that receives more or fewer messages than the others send to it: it, how many it receives, are sent.

    None where there is none, or where some process is without a program.
    """
    fixed = [program for program in programs if program is not None]
    if len(fixed) < len(programs):
        return None
    for process, program in enumerate(fixed):
        taken = sum(verb == "receive" for verb, _ in program)
        sent = sum(process in choice for other in fixed for choice in sends_of(other))
        if taken != sent:
            return process, taken, sent
    return None


def waits(program: Program, position: int) -> str:
    """The step at this position of a program, in words: the process waits for it."""
    step: Sequence[ProgramStep] = program[position : position + 1]
    return describe(tuple(step)) if step else "nothing"
