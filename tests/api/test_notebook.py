"""A notebook, run by a kernel: what a reader sees of results."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

CELLS = [
    "import thence.api as th\nmf = th.load('mf')\nmf",
    "found = th.explore(mf, mutant='posts_at_once')\nfound",
    "found.refuted[0]",
    "th.conform('thence.impl.mf:MF', 'causal', cases=30)",
    "try:\n    th.explore('mff')\nexcept th.UserError as error:\n    print(error)",
]

RUN = """\
import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
nbformat.write(notebook, sys.argv[1])
"""


@pytest.mark.process
def test_a_notebook_shows_results(tmp_path: Path) -> None:
    file = tmp_path / "session.ipynb"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    nbformat.write(notebook, file)
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RUN, str(file)], capture_output=True, text=True, check=False, timeout=300
    )
    assert run.returncode == 0, run.stderr
    loaded, explored, shown, conformed, failed = (cell.outputs[-1] for cell in nbformat.read(file, as_version=4).cells)
    assert "buffers" in loaded.data["text/html"]
    table = explored.data["text/html"]
    assert "refuted" in table
    assert "<table" in table
    assert "2 refuted" in table
    assert shown.data["image/svg+xml"].startswith("<svg")
    assert "before m0.1" in shown.data["text/html"]
    assert "tested" in conformed.data["text/html"]
    assert failed.text == "there is no file mff, and no library file of that name; did you mean mf?\n"
