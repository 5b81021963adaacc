"""`python -m thence.play.playground FOLDER PYODIDE`: the player with an interpreter of Python, for the site.

FOLDER is written; PYODIDE is the folder of the npm package of that name. A reader needs nothing but a browser: the
folder has the page, Pyodide, and the part of Thence that needs no solver and no native code, with Lark.
"""

from __future__ import annotations

import shutil
import sys
import zipfile
from collections.abc import Iterator
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Final

from thence.play.page import page, policy

PYODIDE: Final = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
"""The files of Pyodide that a browser loads."""

PARTS: Final = (
    "thence.spec", "thence.dsl", "thence.proofs", "thence.pages", "thence.stepping", "thence.highlight", "thence.api",
    "lark",
)  # fmt: skip
"""The packages that the interpreter needs, beside the backend of the player."""

BACKEND: Final = "thence.play.backend"

MOST_STATES: Final = 20_000
"""The limit that the page proposes for a search: some seconds in a browser."""

_WANTED: Final = (".py", ".lark", ".toml", ".thence")

_MOMENT: Final = (2020, 1, 1, 0, 0, 0)
"""The date of all files in the archive, so that the same files make the same archive."""


def make(folder: Path, pyodide: Path) -> None:
    """Writes the playground, anew. Raises: FileNotFoundError where Pyodide is not there."""
    missing = [name for name in PYODIDE if not (pyodide / name).is_file()]
    if missing:
        raise FileNotFoundError(f"{pyodide} has no {missing[0]}: it is not the folder of the npm package pyodide")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in PYODIDE:
        shutil.copyfile(pyodide / name, folder / name)
    worker = files("thence.play").joinpath("front", "worker.js").read_text(encoding="utf-8")
    (folder / "worker.js").write_text(worker, encoding="utf-8")
    write_program(folder / "thence.zip")
    config = {"mode": "worker", "worker": "worker.js", "name": "rst", "limit": MOST_STATES}
    rest = policy(connect="'self'", more=" 'self' 'wasm-unsafe-eval'") + "; worker-src 'self'"
    (folder / "index.html").write_text(page(config, csp=rest, title="Thence playground"), encoding="utf-8")


def write_program(target: Path) -> None:
    """Writes the archive of what the interpreter needs."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in _program():
            entry = zipfile.ZipInfo(name, _MOMENT)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, path.read_bytes())


def _program() -> Iterator[tuple[str, Path]]:
    """The names in the archive, and the files."""
    for package in (*PARTS, BACKEND):
        found = Path(str(import_module(package).__file__)).parent
        for path in sorted(found.rglob("*")):
            if path.suffix in _WANTED and "__pycache__" not in path.parts:
                yield f"{package.replace('.', '/')}/{path.relative_to(found).as_posix()}", path
    yield "thence/play/__init__.py", Path(str(import_module("thence.play").__file__))


def main() -> int:
    """Reads the command line. Exit code 2 for another number of arguments, and where Pyodide is not there."""
    if len(sys.argv) != 3:
        print("usage: python -m thence.play.playground FOLDER PYODIDE", file=sys.stderr)
        return 2
    try:
        make(Path(sys.argv[1]), Path(sys.argv[2]))
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
