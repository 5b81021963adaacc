"""The interpreter in the browser: the same verdicts, states and counterexamples as here, and the page that uses it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.play.agreement import digest
from tests.play.playground_site import PACKAGE

from thence.play.playground import PYODIDE, make, write_program

ROOT = Path(__file__).parents[2]
NODE = shutil.which("node")

needs_pyodide = pytest.mark.skipif(
    NODE is None or not (PACKAGE / PYODIDE[0]).is_file(), reason="needs node, and npm ci in editors/playground"
)

SCRIPT = """
import { loadPyodide } from %(pyodide)s;
import { readFileSync } from "node:fs";
const python = await loadPyodide();
python.unpackArchive(new Uint8Array(readFileSync(%(program)s)), "zip", { extractDir: "/lib/thence" });
python.FS.writeFile("/lib/thence/agreement.py", readFileSync(%(agreement)s, "utf8"));
python.runPython("import sys; sys.path.insert(0, '/lib/thence')");
console.log(python.runPython("import json; from agreement import digest; json.dumps(digest(%(limit)d, %(scopes)d))"));
"""


def in_pyodide(folder: Path, limit: int, scopes: int) -> dict[str, list[Any]]:
    """What `digest` gives in Pyodide."""
    program = folder / "thence.zip"
    write_program(program)
    values = {
        "pyodide": json.dumps((PACKAGE / "pyodide.mjs").as_uri()),
        "program": json.dumps(str(program)),
        "agreement": json.dumps(str(ROOT / "tests" / "play" / "agreement.py")),
        "limit": limit,
        "scopes": scopes,
    }
    script = folder / "agree.mjs"
    script.write_text(SCRIPT % values, encoding="utf-8")
    assert NODE is not None
    done = subprocess.run([NODE, str(script)], capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, list[Any]] = json.loads(done.stdout.splitlines()[-1])
    return found


@needs_pyodide
@pytest.mark.long(share=0)
def test_every_small_scope_comes_out_as_here(tmp_path: Path) -> None:
    here, there = digest(200, 100), in_pyodide(tmp_path, 200, 100)
    assert here.keys() == there.keys() and len(here) > 50
    assert here == there
    assert sum("unknown" not in verdicts for _, _, verdicts in here.values()) > 20, "scopes that come to an end"
    assert any("refuted" in verdicts for _, _, verdicts in here.values())


def test_the_archive_has_what_the_backend_imports_and_no_code_that_cannot_run_there(tmp_path: Path) -> None:
    archive = tmp_path / "thence.zip"
    write_program(archive)
    with zipfile.ZipFile(archive) as opened:
        names = set(opened.namelist())
        opened.extractall(tmp_path / "there")
    assert "thence/spec/library/rst.thence" in names
    assert not any(name.startswith(("thence/cli", "thence/lsp", "thence/conformance", "tests/")) for name in names)
    script = (
        "import sys; sys.path[:0] = [sys.argv[1]]\n"
        "from thence.play.backend.backend import Backend\n"
        "b = Backend(engine='interpreted')\n"
        "spec = b.call('load', b.call('open', {'name': 'rst'}))['spec']\n"
        "found = b.call('explore', {'spec': spec, 'scope': 'one'})\n"
        "print([each['verdict'] for each in found['results']])\n"
        "print([name for name in sys.modules if name.split('.')[0] in ('z3', 'cvc5', 'llvmlite', 'typer', 'jinja2')])\n"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", script, str(tmp_path / "there")], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [str(["holds"] * 7), "[]"]


def test_without_pyodide_nothing_is_made(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="not the folder of the npm package pyodide"):
        make(tmp_path / "playground", tmp_path)
    assert not (tmp_path / "playground").exists()
