"""The player's modules, as TypeScript's checker reads their types."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.play.playground_site import PACKAGE

FRONT = Path(__file__).parents[2] / "app" / "thence" / "play" / "front"
CHECKER = PACKAGE.parent / "typescript" / "bin" / "tsc"


def test_modules_have_the_types_that_they_say() -> None:
    if not CHECKER.exists():
        pytest.skip("`make tools` installs TypeScript by npm")
    words = ["--noEmit", "--allowJs", "--checkJs", "--target", "es2022", "--module", "es2022"]
    words += ["--moduleResolution", "bundler", "--lib", "es2022,dom,dom.iterable"]
    done = subprocess.run(
        ["node", CHECKER, *words, *sorted(FRONT.glob("*.js"))], capture_output=True, text=True, timeout=120, cwd=FRONT
    )
    assert done.returncode == 0, done.stdout
