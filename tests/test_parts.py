"""The parts of the long tests together are the long tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent

FILE = """
import pytest

@pytest.mark.long
def test_long(): pass

@pytest.mark.long(but=1, share=2)
@pytest.mark.parametrize("seed", range(6))
def test_of_many(seed): pass

def test_short(): pass
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "conftest.py").write_text((TESTS / "conftest.py").read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    long\n    spark\n")
    for name in "abcde":
        (tmp_path / f"test_{name}.py").write_text(FILE)
    return tmp_path


def collected(project: Path, part: str) -> tuple[int, set[str]]:
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"],
        cwd=project,
        env={**os.environ, "THENCE_PART": part},
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    return run.returncode, {line for line in run.stdout.splitlines() if "::" in line}


def test_every_long_test_is_in_one_part_and_the_others_in_both(project: Path) -> None:
    (first, one), (second, other) = collected(project, "1/2"), collected(project, "2/2")
    assert first == second == pytest.ExitCode.OK
    short = {f"test_{name}.py::{test}" for name in "abcde" for test in ("test_short", "test_of_many[0]")}
    assert one & other == short
    assert len(one - short) == 3 * 3 and len(other - short) == 2 * 3  # of every file one and two of the many


def test_what_is_no_part_is_refused(project: Path) -> None:
    assert collected(project, "3/2")[0] == pytest.ExitCode.USAGE_ERROR
