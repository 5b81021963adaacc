"""The help pages: of a group of commands, and of one command with its arguments, options and examples."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import shorten
from typing import Any

from typer.core import TyperCommand

from thence.cli.help.examples import EXAMPLES, Example
from thence.cli.help.groups import grouped

_COMPLETION_WIDTH = 60


class ReadableCommand(TyperCommand):
    """A command whose help shows words for values, defaults and ranges in brackets, and examples at its end."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """`[OPTIONS] FILE [NAME]...`."""
        pieces = [self.options_metavar] if self.options_metavar else []
        for parameter in self.params:
            if parameter.param_type_name == "argument":
                word = str(parameter.metavar)
                pieces.append((word if parameter.required else f"[{word}]") + ("..." if parameter.nargs != 1 else ""))
        return pieces

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """The options, each with the first sentence of its help on one line."""
        items = super().shell_complete(ctx, incomplete)
        for item in items:
            item.help = shorten(first_sentence(item.help or ""), _COMPLETION_WIDTH, placeholder="...") or None
        return items

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Arguments, then options."""
        for kind, title in (("argument", "Arguments"), ("option", "Options")):
            parameters = [parameter for parameter in self.get_params(ctx) if parameter.param_type_name == kind]
            shown = [parameter for parameter in parameters if not getattr(parameter, "hidden", False)]
            if shown:
                with formatter.section(title):
                    formatter.write_dl([(_invocation(parameter), _says(parameter)) for parameter in shown])

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """The examples. What is typed stands on a line of its own, so that it can be copied."""
        format_examples(ctx, formatter)


def format_examples(ctx: Any, formatter: Any) -> None:
    """The examples of the command or group."""
    examples = EXAMPLES.get(ctx.command_path.partition(" ")[2], ())
    if examples:
        with formatter.section("Examples"):
            for number, example in enumerate(examples):
                _write_example(formatter, example, first=number == 0)


def format_group(group: Any, ctx: Any, formatter: Any) -> None:
    """The commands of a group, under headings where the group is `thence` itself, and the group's own options."""
    names = [name for name in group.list_commands(ctx) if not group.get_command(ctx, name).hidden]
    sections = grouped(names) if ctx.parent is None else [("Commands", names)]
    widest = max((len(name) for name in names), default=0)
    for title, members in sections:
        with formatter.section(title):
            rows = [(name.ljust(widest), first_sentence(group.get_command(ctx, name).help or "")) for name in members]
            formatter.write_dl(rows)
    with formatter.section("Options"):
        formatter.write_dl([(_invocation(parameter), _says(parameter)) for parameter in group.get_params(ctx)])


def first_sentence(text: str) -> str:
    """The first sentence of a help text."""
    head, stop, _ = text.partition(". ")
    return head + "." if stop else text


def _invocation(parameter: Any) -> str:
    """How a parameter is written: `FILE`, `--scope SCOPE`, `--loss / --no-loss`."""
    if parameter.param_type_name == "argument":
        return str(parameter.metavar) + ("..." if parameter.nargs != 1 else "")
    written = ", ".join(sorted(parameter.opts, key=len))
    if parameter.secondary_opts:
        return f"{written}, {', '.join(parameter.secondary_opts)}"
    return written if parameter.is_flag or parameter.count else f"{written} {parameter.metavar}"


def _says(parameter: Any) -> str:
    extra = "; ".join(_limits(parameter))
    return f"{parameter.help or ''}  [{extra}]" if extra else str(parameter.help or "")


def _limits(parameter: Any) -> Iterator[str]:
    """The default and the range of a value, as far as they say something."""
    default = parameter.default
    counted = getattr(parameter, "count", False)
    if isinstance(default, str | int | float) and not isinstance(default, bool) and default != "" and not counted:
        yield f"default: {default:g}" if isinstance(default, float) else f"default: {default}"
    least, most = getattr(parameter, "min", None), getattr(parameter, "max", None)
    if most is not None:
        yield f"{least or 0:g} to {most:,}"
    elif least is not None and least > 1:
        yield f"at least {least:g}"


def _write_example(formatter: Any, example: Example, *, first: bool) -> None:
    if not first:
        formatter.write("\n")
    formatter.write_text(example.says)
    formatter.write(f"{' ' * (formatter.current_indent + 2)}{example.line}\n")
