"""The examples of the documentation run, and give what they show."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [
    ROOT / "README.md",
    ROOT / "docs" / "tutorial.md",
    ROOT / "docs" / "language.md",
    ROOT / "docs" / "exploring.md",
    ROOT / "docs" / "proofs.md",
]
BLOCK = re.compile(r"(?:<!-- (?P<note>[^>]*?) -->\n)?```(?P<kind>whence|console)\n(?P<body>.*?)```", re.DOTALL)


def shown_in(expected: list[str], output: str) -> bool:
    """Whether the expected lines come in this order in the output; `...` stands for anything.

    Table rows and sums are compared by what they contain, since times and widths differ.
    """
    lines = iter(" ".join(line.split()) for line in output.splitlines())
    return all(any(want in line for line in lines) for line in expected if (want := " ".join(line.split())) != "...")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples_run_and_give_what_they_show(page: Path, tmp_path: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    commands = 0
    for block in BLOCK.finditer(page.read_text(encoding="utf-8")):
        note = block["note"] or ""
        if block["kind"] == "whence":
            assert note.startswith("file: "), f"an example without a file name in {page.name}"
            (tmp_path / note.removeprefix("file: ")).write_text(block["body"], encoding="utf-8")
            continue
        code = int(note.removeprefix("exit: ")) if note.startswith("exit: ") else 0
        for part in block["body"].split("$ ")[1:]:
            command, *expected = part.rstrip("\n").split("\n")
            environment = {**os.environ, "PATH": path, "COLUMNS": "140"}
            done = subprocess.run(
                command.split(), cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
            )
            assert done.returncode == code, f"{command}\n{done.stdout}\n{done.stderr}"
            assert shown_in(expected, done.stdout), f"{command}\n{done.stdout}"
            commands += 1
    assert commands > 0
