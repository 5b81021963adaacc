"""Directories that somebody sends: `recheck` ends soon, reads nothing else, and says in one line what is wrong."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE
from thence.proofs.certificate.build import NotCertified
from thence.proofs.certificate.directory import MOST_BYTES, contents, shown
from thence.proofs.certificate.evaluation import Budget, TooCostly, check_machine_run
from thence.proofs.certificate.evidence import FalseEvidence, run_of
from thence.proofs.certificate.forms.json_form import compact, value_of
from thence.proofs.certificate.reading import NotACertificate, read
from thence.proofs.certificate.writing import refuse_place
from thence.proofs.machine.goals import Falsification
from thence.proofs.machine.prover import statement_formula

Change = Callable[[Path], object]

SOON_S = 60.0

SECRET = "a file of the reader"


def replaced(path: Path, change: Callable[[Path], object]) -> None:
    path.unlink()
    change(path)


def sparse(path: Path) -> None:
    with path.open("wb") as stream:
        stream.truncate(30 << 30)


WAYS: dict[str, Change] = {
    "a linked manifest": lambda d: replaced(d / "manifest.json", lambda path: path.symlink_to(d.parent / "secret")),
    "a manifest linked to itself": lambda d: replaced(d / "manifest.json", lambda path: path.symlink_to(path)),
    "a manifest linked to a device": lambda d: replaced(d / "manifest.json", lambda path: path.symlink_to("/dev/zero")),
    "a pipe as manifest": lambda d: replaced(d / "manifest.json", os.mkfifo),
    "a folder as manifest": lambda d: replaced(d / "manifest.json", Path.mkdir),
    "a huge manifest": lambda d: replaced(d / "manifest.json", sparse),
    "an empty manifest": lambda d: (d / "manifest.json").write_bytes(b""),
    "a deep manifest": lambda d: (d / "manifest.json").write_bytes(b"[" * 1_000_000),
    "a huge number": lambda d: (d / "manifest.json").write_bytes(b'{"format": ' + b"9" * 1_000_000 + b"}"),
    "a manifest in Latin-1": lambda d: (d / "manifest.json").write_bytes(b'{"format": "\xe9"}'),
    "a manifest that is a list": lambda d: (d / "manifest.json").write_bytes(b"[]"),
    "a linked file": lambda d: replaced(d / "SHA256SUMS", lambda path: path.symlink_to(d.parent / "secret")),
    "a linked folder": lambda d: ((d / "obligations").rename(d.parent / "o"), (d / "obligations").symlink_to("../o")),
    "a pipe": lambda d: os.mkfifo(d / "obligations" / "0009.smt2"),
    "a pipe in the place of a file": lambda d: replaced(d / "obligations" / "0001.smt2", os.mkfifo),
    "a sparse file": lambda d: sparse(d / "proofs" / "0099.resolute"),
    "a sparse file in the place of a file": lambda d: replaced(d / "obligations" / "0001.smt2", sparse),
    "a file in the place of a folder": lambda d: ((d / "proofs").rename(d.parent / "p"), (d / "proofs").touch()),
    "a missing source": lambda d: (d / "sources" / "spread.thence").unlink(),
    "a file more": lambda d: (d / "json.py").write_text("raise SystemExit(0)\n"),
    "a name with a newline": lambda d: (d / "all\nis confirmed").touch(),
    "a name that draws": lambda d: (d / "proofs" / "\x1b[2Jall is confirmed").touch(),
    "a name that is no text": lambda d: Path(os.fsdecode(os.fsencode(d) + b"/\xff\xfe")).touch(),
    "a folder more": lambda d: (d / "sources" / "a" / "b").mkdir(parents=True),
    "a thousand files more": lambda d: [(d / "proofs" / f"x{number}").touch() for number in range(1000)],
    "sums of nothing": lambda d: (d / "SHA256SUMS").write_bytes(b"\x00" * 1000 + b"\n" * 100_000),
}


@pytest.mark.parametrize("way", WAYS)
def test_no_directory_is_a_crash_or_a_wait(forge: Callable[[Path], Any], spread: Path, way: str) -> None:
    directory = forge(spread).directory
    (directory.parent / "secret").write_text(SECRET, encoding="utf-8")
    WAYS[way](directory)
    started = time.monotonic()
    try:
        faults = read(directory).faults
    except NotACertificate as fault:
        faults = (str(fault),)
    assert time.monotonic() - started < SOON_S
    assert faults
    assert not any(SECRET in fault for fault in faults)
    assert all(fault.isprintable() for fault in faults)


@pytest.mark.long(but=("a linked manifest", "a name with a newline"))
@pytest.mark.parametrize("way", WAYS)
def test_the_command_ends_with_a_message(forge: Callable[[Path], Any], spread: Path, way: str) -> None:
    directory = forge(spread).directory
    (directory.parent / "secret").write_text(SECRET, encoding="utf-8")
    WAYS[way](directory)
    thence = str(Path(sys.executable).parent / "thence")
    ran = subprocess.run([thence, "recheck", str(directory)], capture_output=True, text=True, timeout=60)
    assert ran.returncode in (1, 2, 3)
    assert "Traceback" not in ran.stderr
    assert "confirmed\n" not in ran.stdout.replace("NOT", "")
    assert all(each.isprintable() for each in (ran.stdout + ran.stderr).replace("\n", ""))
    assert SECRET not in ran.stdout + ran.stderr


def test_what_is_too_large_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "evidence").mkdir()
    (tmp_path / "evidence" / "0001.json").write_bytes(b" " * (MOST_BYTES["evidence"] + 1))
    (tmp_path / "evidence" / "0002.json").write_bytes(b" ")
    found = contents(tmp_path)
    assert list(found.files) == ["evidence/0002.json"]
    assert found.faults == [f"evidence/0001.json is not read: it is larger than {MOST_BYTES['evidence']:,} bytes"]


def test_a_text_of_unknown_origin_is_shown_in_one_line() -> None:
    assert shown("a\nb\x1b[2J\u202e\udcff") == r"a\nb\x1b[2J\u202e\udcff"
    assert len(shown("x" * 10_000)) < 400


@pytest.mark.parametrize(
    "content", [b"1.0", b"1e9", b"NaN", b'{"a": 1, "a": 2}', b"[" * 100_000, b"-1234567890", b'"\xff"', b"", b"{} {}"]
)
def test_json_has_one_reading(content: bytes) -> None:
    with pytest.raises(ValueError):
        value_of(content)


# --- evidence ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def refutation(plain: Path) -> tuple[Any, dict[str, Any]]:
    """The machine `plain`, and the run that refutes that it is causal."""
    from thence.dsl.load import load
    from thence.proofs.certificate.statement import subject_of

    specification = load(str(plain / "sources" / "plain.thence")).specification
    assert specification is not None
    subject = subject_of(specification, "machine", "plain", "causal")
    assert subject is not None
    manifest = json.loads((plain / "manifest.json").read_text(encoding="utf-8"))
    causal = next(each for each in manifest["statements"] if each["name"] == "causal")
    return subject.machine, json.loads((plain / causal["evidence"][0]["file"]).read_text(encoding="utf-8"))


def enlarged(run: dict[str, Any], elements: int) -> dict[str, Any]:
    """The run with more messages, which nothing happens to."""
    arity = {"src": 1, "dst": 1, "sent": 1, "delivered": 1, "past": 2, "hb": 2, "before": 2, "delivered_before": 2}
    tables = {}
    for name, rows in run["tables"].items():
        known = {tuple(row[:-1]): row[-1] for row in rows}
        first = range(run["universe"]["process"] if name == "past" else elements)
        keys = [(a,) for a in first] if arity[name] == 1 else [(a, b) for a in first for b in range(elements)]
        nothing = 0 if name in ("src", "dst") else False
        tables[name] = [[*key, known.get(key, nothing)] for key in keys]
    return {**run, "universe": {**run["universe"], "message": elements}, "tables": tables}


def test_evidence_of_any_size_is_judged_or_refused_soon(refutation: tuple[Any, dict[str, Any]]) -> None:
    machine, run = refutation
    goals = (Falsification(statement_formula(machine, "causal")),)
    outcomes = []
    for elements in (4, 12, 40, 64, 65, 300):
        started = time.process_time()
        try:
            check_machine_run(machine, goals, run_of(machine, compact(enlarged(run, elements))), Budget(5_000_000))
            outcomes.append("shown")
        except TooCostly:
            outcomes.append("too large")
        except FalseEvidence as fault:
            assert "at most 64" in str(fault)
            outcomes.append("refused")
        assert time.process_time() - started < SOON_S
    assert outcomes[0] == "shown"
    assert outcomes[-2:] == ["refused", "refused"]
    assert sorted(outcomes, key=["shown", "too large", "refused"].index) == outcomes


@pytest.mark.long
def test_first_values_that_take_long_are_refused_soon(refutation: tuple[Any, dict[str, Any]]) -> None:
    machine, run = refutation
    (parameter,) = next(each.parameters for each in machine.transitions if each.name == "causal_send")
    bounds = tuple(ir.Bound(MESSAGE, name) for name in "abcdef")
    apart = ir.Comparison(BOOL, "!=", *(ir.Local(MESSAGE, name) for name in "af"))
    body = ir.Quantified(BOOL, "forall", bounds, ir.Connective(BOOL, "or", apart, ir.Not(BOOL, apart)))
    first = ir.Update("marked", (ir.Local(MESSAGE, "m"),), body, (ir.Variable("m", MESSAGE),))
    slow = replace(machine, symbols=(ir.Symbol("marked", (parameter,), BOOL),), initial=(first,))
    large = enlarged(run, 40)
    large["tables"]["marked"] = [[element, True] for element in range(40)]
    started = time.process_time()
    with pytest.raises(TooCostly):
        check_machine_run(slow, (), run_of(slow, compact(large)), Budget(5_000_000))
    assert time.process_time() - started < SOON_S


def test_a_budget_is_shared() -> None:
    budget = Budget(10)
    budget.charge(6)
    with pytest.raises(TooCostly):
        budget.charge(6)
    budget.charge(4)


# --- processes ---------------------------------------------------------------------------------


def test_no_module_beside_a_certificate_runs(spread: Path, tmp_path: Path) -> None:
    """The solvers' processes import nothing from the folder that the reader is in."""
    for name in ("json", "z3", "cvc5", "thence"):
        (tmp_path / f"{name}.py").write_text("open('ran', 'w').close()\nraise SystemExit\n", encoding="utf-8")
    thence = str(Path(sys.executable).parent / "thence")
    command = [thence, "recheck", str(spread), "--no-proofs", "--no-rederive"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert ran.returncode == 3
    assert "unsatisfiable: 3 of 3" in ran.stdout
    assert not (tmp_path / "ran").exists()


def test_a_solver_process_has_a_limit_on_memory() -> None:
    code = (
        "from thence.proofs.solving.solver_worker import limit_memory\n"
        "limit_memory(1 << 28)\n"
        "try:\n    bytearray(1 << 30)\nexcept MemoryError:\n    print('out of memory')\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert ran.stdout == "out of memory\n"


def test_a_recheck_has_a_limit_on_time(spread: Path) -> None:
    thence = str(Path(sys.executable).parent / "thence")
    command = [thence, "recheck", str(spread), "--limit", "0.05"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 3
    assert "NOT confirmed: it was not checked within 0.05 s" in ran.stdout


@pytest.mark.parametrize("listed", ["mine.txt", "../mine.txt", "evidence/../mine.txt"])
def test_a_new_certificate_replaces_no_file_that_an_old_one_lists(spread: Path, tmp_path: Path, listed: str) -> None:
    """`SHA256SUMS` of somebody's certificate cannot make a file of the reader part of it."""
    place = tmp_path / "place"
    shutil.copytree(spread, place)
    (place / "mine.txt").write_text(SECRET, encoding="utf-8")
    with (place / "SHA256SUMS").open("a", encoding="utf-8") as stream:
        stream.write(f"{'0' * 64}  {listed}\n")
    with pytest.raises(NotCertified, match="something else in it"):
        refuse_place(place)
    (place / "mine.txt").unlink()
    (place / "manifest.json").write_bytes(b"[" * 1_000_000)
    with pytest.raises(NotCertified, match="something else in it"):
        refuse_place(place)
