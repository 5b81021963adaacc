"""What is wrong with a command line, in the words of this program; the parser of command lines has its own."""

from __future__ import annotations

import re
from typing import Any, Final

from thence.cli.help.kin import of_its_kind
from thence.dsl.text.diagnostics import nearest

ASKED: Final = (
    ("Input should be a valid integer", "takes a whole number"),
    ("Input should be a valid number", "takes a number"),
    ("Input should be greater than or equal to ", "takes no number below "),
    ("Input should be less than or equal to ", "takes no number above "),
)
"""How complaints about a value begin, and what an option of which they are said takes."""


def fault_of(error: Any) -> str:
    """The fault, with the option or command that was meant if one is near."""
    if hasattr(error, "possibilities"):
        return f"there is no option {error.option_name}{_meant(error, error.option_name)}"
    if hasattr(error, "unknown_command"):
        near = nearest(str(error.unknown_command), getattr(error.ctx.command, "commands", ()))
        return f"{error.message}{'' if near is None else f'; did you mean {near}?'}"
    if hasattr(error, "param_type"):
        return f"{_name_of(error)} is missing"
    if hasattr(error, "param_hint"):
        return _bad_value(error)
    if hasattr(error, "option_name"):
        takes_one = "requires" in error.message
        return f"{error.option_name} {'needs a value' if takes_one else 'takes no value'}"
    said = str(error.format_message()).rstrip(".")
    if extra := re.fullmatch(r"Got unexpected extra arguments?(?:\(s\))? \((.*)\)", said):
        return f"too many arguments: {extra[1]}"
    return "a command is missing" if said == "Missing command" else said


def _meant(error: Any, option: str) -> str:
    parameters = [] if error.ctx is None else error.ctx.command.get_params(error.ctx)
    there = [name for parameter in parameters for name in (*parameter.opts, *parameter.secondary_opts)]
    near = of_its_kind(option, there) or (nearest(option, there) if option.startswith("--") else None)
    return "" if near is None else f"; did you mean {near}?"


def _name_of(error: Any) -> str:
    """The longest name of the option that the error is about, or the word that stands for the argument."""
    parameter = error.param
    if parameter is None:
        return str(error.param_hint or "an argument")
    options: list[str] = [name for name in parameter.opts if name.startswith("-")]
    return max(options, key=len) if options else str(parameter.get_error_hint()).strip("'[].")


def _bad_value(error: Any) -> str:
    for begins, takes in ASKED:
        if error.message.startswith(begins):
            limit = error.message.removeprefix(begins) if begins.endswith(" ") else ""
            return f"{_name_of(error)} {takes}{limit}"
    return f"{_name_of(error)}: {error.message}"
