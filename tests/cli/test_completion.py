"""Completion: what is offered, and that the scripts work in the shells that are there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from thence.cli.help.names import declared, library_names, properties
from thence.cli.help.shells import SCRIPTS
from thence.dsl.find import specification
from thence.dsl.load import library

Thence = Callable[..., Any]

BIN = str(Path(sys.executable).parent)
SHELLS = [
    pytest.param(shell, marks=pytest.mark.skipif(shutil.which(shell) is None, reason=f"{shell} is not installed"))
    for shell in SCRIPTS
]


def environment(home: Path) -> dict[str, str]:
    return {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "HOME": str(home), "ZDOTDIR": str(home)}


def offered(line: str, folder: Path) -> dict[str, str]:
    """The values for a command line that ends where the cursor is, each with its explanation."""
    asked = {
        "_THENCE_COMPLETE": "complete_fish",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        "_TYPER_COMPLETE_ARGS": line,
    }
    done = subprocess.run(
        [f"{BIN}/thence"], cwd=folder, env={**environment(folder), **asked}, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    lines = [line.partition("\t") for line in done.stdout.splitlines() if line]
    return {value: says for value, _, says in lines}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(library()[0], tmp_path / "mine.thence")
    (tmp_path / "notes.txt").write_text("no specification", encoding="utf-8")
    (tmp_path / "more").mkdir()
    shutil.copy(library()[0], tmp_path / "more" / "another.thence")
    return tmp_path


def test_commands_options_and_files_are_offered(folder: Path) -> None:
    assert list(offered("thence ex", folder)) == ["explain", "explore", "export", "executions"]
    assert offered("thence trace ", folder).keys() == {"check", "convert", "draw"}
    assert offered("thence explore rst --sto", folder).keys() == {"--storage"}
    assert offered("thence explore rst --storage ", folder).keys() == {"exact", "layers", "disk"}
    files = offered("thence explore ", folder)
    assert {"rst", "mf", "mine.thence", "more/"} <= set(files)
    assert "notes.txt" not in files
    assert offered("thence explore more/", folder).keys() == {"more/another.thence"}


def test_names_of_the_named_file_are_offered(folder: Path) -> None:
    assert {"one", "two", "pair"} <= set(offered("thence explore rst --scope ", folder))
    assert offered("thence explore rst --mutant no_m", folder).keys() == {"no_merge"}
    assert {"causal", "fifo"} <= set(offered("thence explore rst --property ", folder))
    assert offered("thence prove rst matrices_b", folder).keys() == {"matrices_between_others"}
    assert offered("thence conform rst --claim ca", folder).keys() == {"causal"}
    assert offered("thence explore nowhere --scope ", folder) == {}
    assert offered("thence explain E01", folder) == {}


def test_the_names_are_those_that_the_language_reads() -> None:
    assert library_names() == [path.stem for path in library()]
    for path in library():
        read = specification(str(path))
        assert declared(str(path), "scope") == list(dict.fromkeys(scope.name for scope in read.scopes))
        assert declared(str(path), "mutant") == list(dict.fromkeys(mutant.name for mutant in read.mutants))
        assert declared(str(path), "protocol") == [protocol.name for protocol in read.protocols]
        assert declared(str(path), "machine") == [machine.name for machine in read.machines]
        named = {invariant.name for protocol in read.protocols for invariant in protocol.invariants}
        assert {name for name in named if not name.startswith("invariant_")} <= set(properties(str(path)))


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_is_one_that_its_shell_reads(shell: str, thence: Thence) -> None:
    ran = thence("--show-completion", shell)
    assert ran.code == 0
    done = subprocess.run([shell, "-n"], input=ran.out, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes(folder: Path) -> None:
    steps = (
        'eval "$(thence --show-completion bash)"; COMP_WORDS=(thence explore rst --scope t); COMP_CWORD=4; '
        '_thence_completion thence; echo "${COMPREPLY[@]}"; COMP_WORDS=(thence explore mo); COMP_CWORD=2; '
        '_thence_completion thence 2>/dev/null; echo "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", steps], cwd=folder, env=environment(folder), capture_output=True, text=True, timeout=60
    )
    assert done.stdout.split() == ["two", "more/"], done.stderr


@pytest.mark.long
@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_completes(folder: Path) -> None:
    """zsh completes at a terminal only: one is made for it, and the Tab is typed."""
    steps = """
zmodload zsh/zpty
zpty -b shell zsh -f -i
zpty -w shell 'PS1="> "; TERM=dumb; autoload -Uz compinit && compinit -u -D; eval "$(thence --show-completion zsh)"'
sleep 3
zpty -w -n shell $'thence explore rst --mutant no_m\\t'
sleep 4
zpty -w shell ''
sleep 1
while zpty -r -t shell line; do print -r -- "$line"; done
zpty -d shell
"""
    done = subprocess.run(
        ["zsh", "-f", "-c", steps], cwd=folder, env=environment(folder), capture_output=True, text=True, timeout=120
    )
    assert "no_merge " in done.stdout.replace("\a", ""), done.stdout + done.stderr


@pytest.mark.parametrize(("shell", "file"), [("bash", ".bashrc"), ("zsh", ".zshrc")])
def test_installing_twice_writes_one_line(shell: str, file: str, tmp_path: Path) -> None:
    (tmp_path / file).write_text("# mine", encoding="utf-8")
    clean = {**environment(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")}
    for _ in range(2):
        done = subprocess.run(
            [f"{BIN}/thence", "--install-completion", shell], env=clean, capture_output=True, text=True
        )
        assert done.returncode == 0
        assert file in done.stdout
    written = tmp_path / "data" / "thence" / f"completion.{shell}"
    assert written.read_text(encoding="utf-8") == SCRIPTS[shell]
    assert (tmp_path / file).read_text(encoding="utf-8") == f"# mine\nsource '{written}'\n"


def test_fish_finds_its_script_in_its_folder(tmp_path: Path) -> None:
    clean = {**environment(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    done = subprocess.run([f"{BIN}/thence", "--install-completion", "fish"], env=clean, capture_output=True, text=True)
    assert done.returncode == 0
    written = tmp_path / "config" / "fish" / "completions" / "thence.fish"
    assert written.read_text(encoding="utf-8") == SCRIPTS["fish"]


def test_other_shells_are_refused(thence: Thence) -> None:
    assert thence("--show-completion", "csh").rejects("csh", "bash, zsh, fish")
