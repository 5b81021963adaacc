"""The command `thence` as it is used: a process, its exit code, its two streams."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

THENCE = str(Path(sys.executable).parent / "thence")
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def object(self) -> dict[str, Any]:
        """The one JSON object on stdout, which the published schema allows."""
        found = json.loads(self.out)
        schema = json.loads((files("thence.cli") / "schema.json").read_text(encoding="utf-8"))
        Draft202012Validator(schema).validate(found)
        assert found["exit"] == self.code
        assert isinstance(found, dict)
        return found

    def rejects(self, *words: str) -> bool:
        """Whether it exits with 2 and a message of one line with these words: no traceback, nothing on stdout."""
        message = self.err.strip().splitlines()
        said = len(message) == 1 and message[0].startswith("thence") and all(word in message[0] for word in words)
        return self.code == 2 and self.out == "" and said


Thence = Callable[..., Ran]


@pytest.fixture
def thence(tmp_path: Path) -> Thence:
    """Runs the installed command in an empty folder."""

    def run(*arguments: str | Path, cwd: Path = tmp_path) -> Ran:
        done = subprocess.run(
            [THENCE, *map(str, arguments)], capture_output=True, cwd=cwd, timeout=120, check=False, encoding="utf-8"
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def command() -> list[str]:
    """For tests that need the process itself."""
    return [THENCE]
