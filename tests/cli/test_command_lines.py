"""A command line that is no command line: the command's name, the fault in plain words, and where to read on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import typer

from thence.cli.app import root
from thence.cli.help.faults import ASKED
from thence.cli.lazy import LazyCommand

Thence = Callable[..., Any]

REFUSED = {
    "check": "FILE is missing",
    "explore": "FILE is missing",
    "trace check": "FILE is missing",
    "campaign report": "DIRECTORY is missing",
    "trace convert run.ndjson": "--output is missing",
    "trace": "a command is missing",
    "explore mf rst cykas": "too many arguments: rst cykas",
    "explore mf --processes": "--processes needs a value",
    "trace draw run.ndjson --svg": "--svg needs a value",
    "explore mf --json=3": "--json takes no value",
    "explore mf --threads 0": "--threads takes no number below 1",
    "demo --loss-rate 3": "--loss-rate takes no number above 0.95",
    "conform --cases x": "--cases takes a whole number",
    "conform --time x": "--time takes a number",
    "explore mf --bogus": "there is no option --bogus",
    "explore mf --scop two": "there is no option --scop; did you mean --scope?",
}


def name_of(line: str) -> str:
    """The command that the line names."""
    words = line.split()
    return " ".join(words[: 2 if words[0] in ("trace", "campaign") else 1])


@pytest.mark.parametrize("line", ["prove mf causal", "infer mf", "bmc mf buffers", "recheck nothing"])
def test_a_time_limit_without_end_is_refused(thence: Thence, line: str) -> None:
    """Before, it ended in a traceback."""
    ran = thence(*line.split(), "--timeout", "inf")
    assert ran.code == 2 and "Traceback" not in ran.err
    assert ran.err == f"thence {line.split()[0]}: --timeout inf: give 0.1 to 1,000,000 seconds\n"


@pytest.mark.parametrize(("line", "fault"), REFUSED.items(), ids=REFUSED)
def test_a_fault_is_told_in_plain_words(thence: Thence, line: str, fault: str) -> None:
    ran = thence(*line.split())
    assert ran.code == 2 and ran.out == ""
    name = name_of(line)
    assert ran.err == f"thence {name}: {fault}; see thence {name} --help\n"


def commands() -> list[tuple[str, ...]]:
    """Every command."""
    found: list[tuple[str, ...]] = []
    for name, command in root().commands.items():
        inner = () if isinstance(command, LazyCommand) else command.commands
        found += [(name, one) for one in inner] if inner else [(name,)]
    return found


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_each_option_that_lacks_its_value_is_told_by_its_command(thence: Thence, words: tuple[str, ...]) -> None:
    command: Any = root()
    for word in words:
        command = command.commands[word]
    options = [option for option in command.load().params if isinstance(option, typer.core.TyperOption)]
    for option in options:
        takes_one = not option.is_flag and not option.count
        line = [*words, option.opts[0]] if takes_one else [*words, f"{option.opts[0]}=x"]
        if not line[-1].startswith("--"):
            continue
        fault = f"{option.opts[0]} {'needs a value' if takes_one else 'takes no value'}"
        assert thence(*line).rejects(f"thence {' '.join(words)}: {fault}")


def test_the_words_of_the_converter_are_known() -> None:
    """If it had others, a user would read them."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)

    @app.command()
    def command(number: int = typer.Option(2, min=1, max=3), share: float = 0.5) -> None: ...

    said: list[str] = []
    for words in (["--number", "0"], ["--number", "9"], ["--number", "x"], ["--share", "x"]):
        with pytest.raises(typer.BadParameter) as refused:
            typer.main.get_command(app)(words, standalone_mode=False)
        said.append(str(refused.value))
    for begins, _ in ASKED:
        assert any(one.startswith(begins) for one in said)
