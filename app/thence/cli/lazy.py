"""Commands that are imported only when they run, or when their own help is asked for.

A command `thence explore` is the function `explore` of `thence.cli.commands.specification.explore`: `specification` is
the folder of its heading. `thence trace check` is the function `check` of `thence.cli.commands.recordings.trace.check`.
Its parameters are its options.
"""

from __future__ import annotations

import gc
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from thence.cli.help.groups import folder_of
from thence.cli.help.page import ReadableCommand, first_sentence, format_examples, format_group
from thence.cli.help.values import make_readable
from thence.cli.texts import SparingConversion, spare_conversion
from thence.spec.collector import collector_at_rest
from thence.spec.user_error import UserError

COMMANDS = "thence.cli.commands"
HELP = {"-h", "--help"}

UsageError: Any = typer.BadParameter.__mro__[1]
"""The error for every fault of a command line; Typer exports the special cases only."""


class _Command(SparingConversion, ReadableCommand):
    """A command with its options."""


class LazyCommand(SparingConversion, TyperCommand):
    """A command's name and help, enough for lists of commands. `load` imports the rest."""

    def __init__(self, module: str, help: str) -> None:
        name = module.rpartition(".")[2]
        super().__init__(name, help=help, short_help=first_sentence(help), rich_markup_mode=None)
        self.module = module

    def load(self) -> Any:
        """The command with its options."""
        with collector_at_rest():
            function = getattr(import_module(self.module), str(self.name))
        gc.freeze()  # what is there by now lasts as long as the command
        app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
        app.command(self.name, cls=_Command, help=self.help)(function)
        command = typer.main.get_command(app)
        for parameter in command.params:
            make_readable(parameter)
            spare_conversion(parameter)
        return command


class LazyGroup(SparingConversion, TyperGroup):
    """A group whose lazy commands are loaded as soon as one of them is meant."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command that is meant, loaded, and its arguments."""
        if args and args[0] not in self.commands and not args[0].startswith("-") and not ctx.resilient_parsing:
            error: Any = UsageError(f"there is no command {args[0]}", ctx)
            error.unknown_command = args[0]
            raise error
        name, command, rest = super().resolve_command(ctx, args)
        return name, _loaded(command, rest) if isinstance(command, LazyCommand) else command, rest

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The commands under their headings, then the group's own options."""
        format_group(self, ctx, formatter)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """The examples."""
        format_examples(ctx, formatter)


def _loaded(command: LazyCommand, args: list[str]) -> Any:
    """The command with its options. Where its packages are not installed, its help still says what it does."""
    try:
        return command.load()
    except ImportError as error:
        if not isinstance(error, UserError) or not HELP & {*args}:
            raise
        command.epilog = f"Its options are shown where it can run: {error}"
        return command


def lazy_commands(helps: Mapping[str, str]) -> dict[str, Any]:
    """A lazy command for each name."""
    return {name: LazyCommand(f"{COMMANDS}.{folder_of(name)}.{name}", text) for name, text in helps.items()}


def lazy_group(name: str, help: str, helps: Mapping[str, str]) -> LazyGroup:
    """A group of lazy commands."""
    place, short = f"{COMMANDS}.{folder_of(name)}.{name}", first_sentence(help)
    commands: dict[str, Any] = {one: LazyCommand(f"{place}.{one}", text) for one, text in helps.items()}
    return LazyGroup(name=name, help=help, short_help=short, commands=commands, rich_markup_mode=None)
