"""Texts are let through without Typer's conversion; all other values are converted as before."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import typer

from thence.cli.texts import spare_conversion


def given(words: list[str], *, spared: bool) -> object:
    """What a command with parameters of each kind is given, or the message where a value is refused."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    taken: list[object] = []

    @app.command()
    def command(
        names: list[str], text: str = "a", number: int = typer.Option(3, min=1), share: float = 0.5, yes: bool = False
    ) -> None:
        taken.append((names, text, number, share, yes))

    found: Any = typer.main.get_command(app)
    for parameter in found.params if spared else ():
        spare_conversion(parameter)
    try:
        found(words, standalone_mode=False)
    except typer.BadParameter as error:
        return error.format_message()  # type: ignore[no-untyped-call,unused-ignore]
    return taken[0]


@pytest.mark.parametrize(
    "line",
    ["a", "a b --text 7", "a --number 2 --yes", "a --number 0", "a --number x", "a --share 0.25", "a --share y"],
)
def test_a_command_is_given_the_same_values(line: str) -> None:
    assert given(line.split(), spared=True) == given(line.split(), spared=False)


def test_a_small_command_does_not_import_pydantic() -> None:
    """It takes longer than all else. The module is there if a number is to be converted."""
    program = (
        "import sys; from thence.cli import main; sys.argv = ['thence', 'check', 'mf']\n"
        "try: main()\nfinally: print('pydantic' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.endswith("False\n")
