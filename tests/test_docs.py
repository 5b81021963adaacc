"""The examples of the documentation run, and give what they show.

A console block with the note `output: whole` shows all that its commands print, word by word but for times and the
folding of lines. `THENCE_GOLDEN=write` writes the present output of such blocks into the pages, in place:

    THENCE_GOLDEN=write .venv/bin/python -m pytest -q -n 0 tests/test_docs.py -k tutorial

All other blocks are excerpts, and are mended by hand.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [
    ROOT / "README.md",
    *(ROOT / "docs" / "tutorial" / f"{page}.md" for page in ("protocol", "scopes", "proof", "code", "campaign")),
    ROOT / "docs" / "reference" / "language.md",
    ROOT / "docs" / "explanation" / "exploring.md",
    ROOT / "docs" / "explanation" / "reductions.md",
    ROOT / "docs" / "explanation" / "executions.md",
    ROOT / "docs" / "explanation" / "proofs.md",
    ROOT / "docs" / "explanation" / "inference.md",
    ROOT / "docs" / "explanation" / "decidability.md",
    ROOT / "docs" / "explanation" / "liveness.md",
    ROOT / "docs" / "reference" / "conformance.md",
    ROOT / "docs" / "reference" / "campaigns.md",
    ROOT / "docs" / "explanation" / "mutation.md",
    *(
        ROOT / "docs" / "how-to" / f"{page}.md"
        for page in (
            "transport",
            "test-a-python-class",
            "test-a-go-program",
            "test-a-java-program",
            "find-an-invariant",
            "put-it-into-ci",
            "check-a-recording",
            "cite-a-proof",
            "choose-the-network",
            "know-what-a-scope-hides",
            "specify-a-register",
            "prove-a-protocol",
            "prove-a-lossy-broadcast",
        )
    ),
    ROOT / "docs" / "reference" / "traces.md",
    ROOT / "docs" / "reference" / "python-api.md",
    ROOT / "docs" / "reference" / "repl.md",
    ROOT / "docs" / "explanation" / "security.md",
    *(page for page in sorted((ROOT / "docs" / "textbook").glob("*.md")) if page.stem != "index"),
]
WRITE = os.environ.get("THENCE_GOLDEN") == "write"
BLOCK = re.compile(r"(?:<!-- (?P<note>[^>]*?) -->\n)?```(?P<kind>[a-z]+)\n(?P<body>.*?)```", re.DOTALL)


def shown_in(expected: list[str], output: str) -> bool:
    """Whether the expected lines come in this order in the output; `...` stands for anything, also within a line.

    Table rows and sums are compared by what they contain, since times and widths differ.
    """
    lines = iter(" ".join(line.split()) for line in output.splitlines())
    wanted = [re.escape(" ".join(line.split())).replace(r"\.\.\.", ".*") for line in expected]
    return all(any(re.search(want, line) for line in lines) for want in wanted if want != ".*")


TIME = re.compile(r"[;,]? \d[\d.,]* (?:ms|s|min|h)\b|[;,]? \d[\d,]* (?:cases|states)/s")


def plain(text: str) -> str:
    """Output without what differs from run to run: times (short ones are not shown), and so the folding of lines."""
    return TIME.sub("", re.sub(r"[─-]{4,}", "----", " ".join(text.split())))


def shown_whole(expected: list[str], output: str) -> bool:
    """Whether the expected lines are the whole output, up to times and widths."""
    return plain("\n".join(expected)) == plain(output)


def in_page(command: str, output: str) -> str:
    """A command and its output, as a page shows them."""
    return "\n".join(line.rstrip() for line in [f"$ {command}", *output.strip("\n").splitlines()]) + "\n"


def swap(file: Path, one: str, other: str) -> None:
    """Puts each of two lines, given by their beginnings, where the other is: what the page tells its readers to do."""
    lines = file.read_text(encoding="utf-8").split("\n")
    [first], [second] = ([at for at, line in enumerate(lines) if line.strip().startswith(it)] for it in (one, other))
    lines[first], lines[second] = lines[second], lines[first]
    file.write_text("\n".join(lines), encoding="utf-8")


@pytest.mark.long(
    but=("README", "docs/explanation/security", "docs/reference/traces", "docs/how-to/transport"), share=6
)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).with_suffix("").as_posix())
def test_examples_run_and_give_what_they_show(page: Path, tmp_path: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    text = page.read_text(encoding="utf-8")
    commands, written = 0, text
    for block in BLOCK.finditer(text):
        note = dict(part.split(": ", 1) for part in (block["note"] or "").split("; ") if part)
        if "file" in note:
            (tmp_path / note["file"]).write_text(block["body"], encoding="utf-8")
            continue
        assert block["kind"] != "thence", f"an example without a file name in {page.name}"
        if block["kind"] != "console" or ("needs" in note and shutil.which(note["needs"]) is None):
            continue
        if "swap" in note:
            file, one, other = note["swap"].split(" / ")
            swap(tmp_path / file, one, other)
        whole = note.get("output") == "whole"
        shown = ""
        for part in re.split(r"^\$ ", block["body"], flags=re.MULTILINE)[1:]:
            command, *expected = part.rstrip("\n").split("\n")
            environment = {**os.environ, "PATH": path, "COLUMNS": "120" if whole else "140"}
            done = subprocess.run(
                shlex.split(command), cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
            )
            assert done.returncode == int(note.get("exit", "0")), f"{command}\n{done.stdout}\n{done.stderr}"
            shown += in_page(command, done.stdout)
            if not (whole and WRITE):
                fits = shown_whole if whole else shown_in
                assert fits(expected, done.stdout), f"{command}\n{done.stdout}"
            commands += 1
        if whole and WRITE and [*map(plain, block["body"].splitlines())] != [*map(plain, shown.splitlines())]:
            written = written.replace(block["body"], shown, 1)
    if written != text:
        page.write_text(written, encoding="utf-8")
    assert commands > 0


def test_the_workflow_has_the_commands_that_were_run() -> None:
    page = (ROOT / "docs" / "how-to" / "put-it-into-ci.md").read_text(encoding="utf-8")
    in_workflow = re.findall(r"- run: (thence .*)", page)
    run = re.findall(r"^\$ (thence .*)", page, re.MULTILINE)
    assert [re.sub(r"--seed .*", "--seed", line) for line in in_workflow] == [
        re.sub(r"--seed .*", "--seed", line) for line in run
    ]
    assert len(run) == 2
