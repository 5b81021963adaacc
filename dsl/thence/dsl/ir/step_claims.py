"""The names of statements about a machine's steps, besides those about its states.

`without deadlock`: when nothing more can happen but causal sends, every message sent has been delivered.
`without starvation T`: the set of things that a message waits for, until transition T happens to it, only shrinks; once
nothing more is sent every run comes to rest, and then no message waits for T.
Both stand under `prove`, and in expectations, as names; a relation or invariant cannot have such a name.
"""

from __future__ import annotations

WITHOUT_DEADLOCK = "without deadlock"
_WITHOUT_STARVATION = "without starvation "


def without_starvation(transition: str) -> str:
    """The name of the statement about a transition."""
    return _WITHOUT_STARVATION + transition


def starving_transition(name: str) -> str | None:
    """The transition that a `without starvation` statement is about; None for any other name."""
    return name.removeprefix(_WITHOUT_STARVATION) if name.startswith(_WITHOUT_STARVATION) else None


def is_about_steps(name: str) -> bool:
    """Whether the name under `prove` is one of these statements."""
    return name == WITHOUT_DEADLOCK or starving_transition(name) is not None
