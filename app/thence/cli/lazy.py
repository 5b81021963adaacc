"""Commands that are imported only when they run, or when their own help is asked for.

A command `thence verify` is the function `verify` of `thence.cli.commands.verify`; `thence trace check` is the
function `check` of `thence.cli.commands.trace.check`. Its parameters are its options.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

COMMANDS = "thence.cli.commands"


class LazyCommand(TyperCommand):
    """A command's name and help, enough for lists of commands. `load` imports the rest."""

    def __init__(self, module: str, help: str) -> None:
        super().__init__(module.rpartition(".")[2], help=help, rich_markup_mode=None)
        self.module = module

    def load(self) -> Any:
        """The command with its options."""
        function = getattr(import_module(self.module), str(self.name))
        app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
        app.command(self.name, help=self.help)(function)
        return typer.main.get_command(app)


class LazyGroup(TyperGroup):
    """A group whose lazy commands are loaded as soon as one of them is meant."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command that is meant, loaded, and its arguments."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command.load() if isinstance(command, LazyCommand) else command, rest


def lazy_commands(helps: Mapping[str, str], within: str = "") -> dict[str, Any]:
    """A lazy command for each name, of the group `within`."""
    place = f"{COMMANDS}.{within}" if within else COMMANDS
    return {name: LazyCommand(f"{place}.{name}", text) for name, text in helps.items()}


def lazy_group(name: str, help: str, helps: Mapping[str, str]) -> LazyGroup:
    """A group of lazy commands."""
    return LazyGroup(name=name, help=help, commands=lazy_commands(helps, name), rich_markup_mode=None)
