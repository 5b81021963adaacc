"""The command in shells whose builtins come before the path: none of them may have one of its name."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BIN = str(Path(sys.executable).parent)


@pytest.mark.long(but=("fish", "dash"))
@pytest.mark.parametrize("shell", ["zsh", "ksh", "bash", "dash", "fish"])
def test_the_command_works(shell: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path)}
    done = subprocess.run(
        [shell, "-c", "thence check mf"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert "mf" in done.stdout
