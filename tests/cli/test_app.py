"""The table of commands: each has its module, no module is imported before its command runs, and processes start."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import thence.cli.commands
from thence.cli.app import CAMPAIGN, COMMANDS, TRACE, root
from thence.cli.help.groups import folder_of
from thence.cli.help.kin import KIN, of_its_kind

Thence = Callable[..., Any]

HEAVY = ("lark", "rich", "z3", "cvc5", "pyspark", "llvmlite", "jinja2", "thence.dsl", "thence.proofs", "thence.impl")

EVERY = [(name,) for name in COMMANDS] + [("trace", name) for name in TRACE] + [("campaign", name) for name in CAMPAIGN]

SMALL = {
    ("verify",): ["nothing"],
    ("check",): ["mf"],
    ("fmt",): ["mf", "--check"],
    ("run",): ["mf", "--steps", "3"],
    ("repl",): ["mf"],
    ("play",): ["mf", "--scenario", "mf_figure_2", "--html", "mf.html"],
    ("explain",): ["E0131"],
    ("sweep",): [],
    ("explore",): ["mf", "--processes", "2", "--sends", "1"],
    ("prove",): ["fifo", "causal", "--no-cache"],
    ("bmc",): ["rst", "--depth", "2", "--processes", "2", "--sends", "1"],
    ("infer",): ["fifo", "nobody"],
    ("recheck",): ["."],
    ("executions",): ["mf", "--processes", "2", "--messages", "1"],
    ("export",): ["fifo", "--processes", "2", "--sends", "1"],
    ("conform",): ["mf", "--cases", "5"],
    ("matrix",): ["mf", "--impl", "thence.impl.mf:MF", "--cases", "2"],
    ("cover",): ["mf", "--cases", "2"],
    ("mutate",): ["mf", "impl", "--limit", "1"],
    ("compare",): ["fifo"],
    ("evaluate",): ["mf", "--processes", "2", "--messages", "1"],
    ("lsp",): [],
    ("demo",): ["mf", "--messages", "2", "--loss-rate", "0"],
    ("trace", "check"): ["nothing.ndjson"],
    ("trace", "convert"): ["nothing.ndjson", "-o", "out"],
    ("trace", "draw"): ["nothing.ndjson"],
    ("campaign", "start"): ["there"],
    ("campaign", "resume"): ["there"],
    ("campaign", "status"): ["there"],
    ("campaign", "report"): ["there"],
}
"""A small run of each command, or one that ends with exit code 2."""


def test_options_of_one_kind_are_there() -> None:
    """Each that is told for another one is an option of some command."""
    commands = [
        command for each in root().commands.values() for command in getattr(each, "commands", {"": each}).values()
    ]
    there = {
        option
        for command in commands
        for parameter in command.load().params
        for option in (*parameter.opts, *parameter.secondary_opts)
    }
    named = [option for names in KIN for option in names]
    assert set(named) <= there and len(set(named)) == len(named)
    assert (of_its_kind("--steps", ["--depth", "--seed"]), of_its_kind("--steps", ["--seed"])) == ("--depth", None)


def test_the_table_and_the_modules_agree() -> None:
    folder = Path(next(iter(thence.cli.commands.__path__)))
    there = {path.relative_to(folder).with_suffix("").parts for path in folder.rglob("*.py")}
    places = {(folder_of(words[0]), *words): words for words in EVERY}
    assert {parts for parts in there if parts[-1] != "__init__"} == set(places)
    for place, words in places.items():
        module = import_module(".".join(("thence.cli.commands", *place)))
        assert callable(getattr(module, words[-1]))


def test_help_imports_no_command() -> None:
    said = "from thence.cli.app import root\nroot()(['--help'], standalone_mode=False)\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, timeout=60, check=True)
    imported = done.stdout.splitlines()[-1].split()
    assert "thence.cli.app" in imported
    assert not [name for name in imported if name in HEAVY or name.startswith("thence.cli.commands.")]


def test_completion_knows_the_commands_and_their_options() -> None:
    group = root()
    context = group.make_context("thence", ["explore"], resilient_parsing=True)
    assert [item.value for item in group.shell_complete(context, "ex")] == [
        "explain",
        "explore",
        "export",
        "executions",
    ]
    _, explore, _ = group.resolve_command(context, ["explore"])
    assert "--storage" in [item.value for item in explore.shell_complete(context, "--st")]


@pytest.mark.parametrize("words", EVERY, ids="-".join)
def test_every_command_runs_as_a_process(thence_process: Thence, words: tuple[str, ...]) -> None:
    ran = thence_process(*words, *SMALL[words])
    ended = 2 if words[0] in ("infer", "verify", "recheck", "trace", "campaign") else 0
    assert ran.code == ended, ran
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("words", EVERY, ids="-".join)
def test_help_begins_with_the_line_of_the_table(thence: Thence, words: tuple[str, ...]) -> None:
    table = {"trace": TRACE, "campaign": CAMPAIGN}.get(words[0], COMMANDS)
    ran = thence(*words, "--help")
    assert ran.code == 0
    assert " ".join(table[words[-1]].split()) in " ".join(ran.out.split())
