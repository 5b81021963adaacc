"""The examples of the documentation run, and give what they show."""

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
    ROOT / "docs" / "reference" / "conformance.md",
    ROOT / "docs" / "reference" / "campaigns.md",
    ROOT / "docs" / "explanation" / "mutation.md",
    *(
        ROOT / "docs" / "how-to" / f"{page}.md"
        for page in ("transport", "test-a-python-class", "test-a-go-program", "check-a-recording", "cite-a-proof")
    ),
    ROOT / "docs" / "reference" / "traces.md",
    ROOT / "docs" / "reference" / "python-api.md",
    ROOT / "docs" / "reference" / "repl.md",
    ROOT / "docs" / "explanation" / "security.md",
]
BLOCK = re.compile(r"(?:<!-- (?P<note>[^>]*?) -->\n)?```(?P<kind>[a-z]+)\n(?P<body>.*?)```", re.DOTALL)


def shown_in(expected: list[str], output: str) -> bool:
    """Whether the expected lines come in this order in the output; `...` stands for anything, also within a line.

    Table rows and sums are compared by what they contain, since times and widths differ.
    """
    lines = iter(" ".join(line.split()) for line in output.splitlines())
    wanted = [re.escape(" ".join(line.split())).replace(r"\.\.\.", ".*") for line in expected]
    return all(any(re.search(want, line) for line in lines) for want in wanted if want != ".*")


def swap(file: Path, one: str, other: str) -> None:
    """Puts each of two lines, given by their beginnings, where the other is: what the page tells its readers to do."""
    lines = file.read_text(encoding="utf-8").split("\n")
    [first], [second] = ([at for at, line in enumerate(lines) if line.strip().startswith(it)] for it in (one, other))
    lines[first], lines[second] = lines[second], lines[first]
    file.write_text("\n".join(lines), encoding="utf-8")


@pytest.mark.long(but=("README", "security", "traces", "transport"))
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).with_suffix("").as_posix())
def test_examples_run_and_give_what_they_show(page: Path, tmp_path: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    commands = 0
    for block in BLOCK.finditer(page.read_text(encoding="utf-8")):
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
        for part in block["body"].split("$ ")[1:]:
            command, *expected = part.rstrip("\n").split("\n")
            environment = {**os.environ, "PATH": path, "COLUMNS": "140"}
            done = subprocess.run(
                shlex.split(command), cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
            )
            assert done.returncode == int(note.get("exit", "0")), f"{command}\n{done.stdout}\n{done.stderr}"
            assert shown_in(expected, done.stdout), f"{command}\n{done.stdout}"
            commands += 1
    assert commands > 0
