"""The commands that a method of a system under test returns, and what else it may return by mistake."""

from __future__ import annotations

import inspect
from itertools import islice
from typing import Any, Final

from thence.conformance.systems.strangers import shown
from thence.impl.commands import Deliver, Send

COMMAND_LIMIT: Final = 100_000
"""Commands that a process may return at once; as many, or more, are a crash."""


class NoCommands(TypeError):
    """The method returned something else than commands; the message says what, and what was probably meant."""


def commands_of(returned: Any) -> list[Any]:
    """The commands, `COMMAND_LIMIT` of them at most. A generator is run. Raises: NoCommands."""
    if type(returned) is list and len(returned) <= COMMAND_LIMIT:
        return returned
    if returned is None:
        raise NoCommands("it returns None, where a list of commands is due; is a `return` forgotten?")
    if isinstance(returned, Send | Deliver):
        raise NoCommands(f"it returns one {type(returned).__name__}, where a list of commands is due: put it into [ ]")
    if inspect.isawaitable(returned):
        if inspect.iscoroutine(returned):
            returned.close()
        raise NoCommands("it is asynchronous, and returns a coroutine where a list of commands is due")
    if isinstance(returned, str | bytes | dict) or not hasattr(returned, "__iter__"):
        raise NoCommands(f"it returns {shown(returned):.80}, where a list of commands is due")
    return list(islice(returned, COMMAND_LIMIT))
