"""`thence prove --certificate` and `thence recheck` as they are used: exit codes, JSON, what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from thence.cli.proof_checker import find_checker

Thence = Callable[..., Any]

LEVEL = "L3" if find_checker() is None else "L4"
"""What two solvers give, or the proof checker where it is installed."""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate of a proved and a refuted theorem."""
    directory = tmp_path_factory.mktemp("certificates") / "csps"
    command = [str(Path(sys.executable).parent / "thence"), "prove", "execution", "csps_implies_sps", "fifo_alone"]
    command += ["--certificate", str(directory), "--author", "A. Author", "--json", "--no-cache"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    schema = json.loads((files("thence.cli") / "schema.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(found)
    assert found["certificate"]["statements"] == 2
    assert found["certificate"]["obligations"] == 1
    assert {each["name"]: each["level"] for each in found["results"]} == {"csps_implies_sps": LEVEL, "fifo_alone": "L2"}
    return directory


def test_a_certificate_is_confirmed(thence: Thence, written: Path) -> None:
    found = thence("recheck", str(written), "--json").object
    assert (found["exit"], found["faults"]) == (0, [])
    proved, refuted = found["results"]
    assert (proved["verdict"], proved["level"], refuted["verdict"]) == ("proved", LEVEL, "refuted")
    assert proved["statement_id"] != refuted["statement_id"]


def test_the_citation_names_the_author_and_the_ids(thence: Thence, written: Path) -> None:
    ran = thence("recheck", str(written))
    assert ran.code == 0
    assert "all statements are confirmed" in ran.out
    citation = (written / "CITATION.cff").read_text(encoding="utf-8")
    entry = (written / "citation.bib").read_text(encoding="utf-8")
    assert '- name: "A. Author"' in citation
    assert "author = {{A. Author}}" in entry
    for line in ran.out.splitlines():
        kind, _, id_ = line.strip().partition(" sha256:")
        if kind in ("statement", "proof"):
            assert f"sha256:{id_}" in citation
            assert id_ in entry


def test_what_was_changed_exits_with_1_and_says_what(thence: Thence, written: Path, tmp_path: Path) -> None:
    copied = tmp_path / "copied"
    copied.mkdir()
    for path in written.rglob("*"):
        if path.is_file():
            target = copied / path.relative_to(written)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    source = copied / "sources" / "execution.thence"
    source.write_text(source.read_text(encoding="utf-8").replace("sent", "sen_t", 1), encoding="utf-8")
    found = thence("recheck", str(copied), "--json").object
    assert found["exit"] == 1
    assert found["faults"] == ["sources/execution.thence is not as it was written: its SHA-256 differs from SHA256SUMS"]
    ran = thence("recheck", str(copied))
    assert ran.code == 1
    assert "is NOT what it says" in ran.out


def test_less_thorough_is_said(thence: Thence, written: Path) -> None:
    found = thence("recheck", str(written), "--no-proofs", "--no-rederive", "--json").object
    assert found["exit"] == 3
    assert [each["verdict"] for each in found["results"]] == ["unknown", "unknown"]
    assert {each["level"] for each in found["results"]} == {"L2"}
    assert len(found["notes"]) == 2


def test_how_much_was_confirmed_is_said_in_numbers(thence: Thence, written: Path) -> None:
    found = thence("recheck", str(written), "--json").object["certificate"]
    checked = 0 if find_checker() is None else 1
    counts = {"statements": 2, "confirmed": 2, "obligations": 1, "decided": 1, "proof_objects": checked}
    assert {name: found[name] for name in counts} == counts
    assert found["omitted"] > 0
    text = thence("recheck", str(written)).out
    assert "statements confirmed: 2 of 2" in text
    assert f"proof objects checked for {checked} of 1 obligation" in text
    assert "the source states this, too, and the certificate says nothing about it: execution " in text


def test_a_level_that_is_not_reached_is_not_confirmed(thence: Thence, written: Path) -> None:
    found = thence("recheck", str(written), "--no-proofs", "--json").object
    proved = found["results"][0]
    assert (proved["verdict"], proved["level"]) == ("proved", "L3")
    assert found["exit"] == (0 if LEVEL == "L3" else 3)
    assert proved["expected"] is (LEVEL == "L3")
    if LEVEL == "L4":
        assert "NOT everything is confirmed" in thence("recheck", str(written), "--no-proofs").out


def test_an_author_is_a_name(thence: Thence, tmp_path: Path) -> None:
    for author in ("A\nB", "P=NP", "x" * 500, ""):
        arguments = ("prove", "execution", "fifo_alone", "--certificate", str(tmp_path / "c"), "--author", author)
        assert thence(*arguments).rejects("is no author")


def test_what_is_no_certificate_is_bad_input(thence: Thence, written: Path, tmp_path: Path) -> None:
    assert thence("recheck", str(tmp_path / "nothing")).rejects("there is no directory")
    (tmp_path / "file.json").write_text("{}", encoding="utf-8")
    assert thence("recheck", str(tmp_path / "file.json")).rejects("file.json is a file")
    assert thence("recheck", str(tmp_path)).rejects("not a certificate")
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "manifest.json").write_text('{"format": "thence-certificate/0"}', encoding="utf-8")
    assert thence("recheck", str(tmp_path / "old")).rejects("thence-certificate/0", "thence-certificate/3")


def test_a_place_that_is_taken_is_refused_before_anything_is_proved(thence: Thence, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    assert thence("prove", "execution", "--certificate", str(tmp_path)).rejects("something else in it")
    assert (tmp_path / "mine.txt").read_text(encoding="utf-8") == "mine"


OF_MUTANTS = """
machine plain:
  transition causal_send(m): pass
  transition deliver(m):
    require sent(m) and not delivered(m)
  prove no_creation

mutant not_sent of plain:
  transition deliver(m):
    require not delivered(m)
  expect refuted no_creation

mutant twice of plain:
  transition deliver(m):
    require sent(m)
  expect refuted at_most_once
"""


def test_a_statement_of_a_mutant_is_not_shown_as_one_of_its_subject(thence: Thence, tmp_path: Path) -> None:
    source, certificate = tmp_path / "plain.thence", tmp_path / "certificate"
    source.write_text(OF_MUTANTS, encoding="utf-8")
    assert thence("prove", str(source), "not_sent", "twice", "--certificate", str(certificate)).code == 0
    ran = thence("recheck", str(certificate))
    assert ran.code == 0
    rows = ran.out[ran.out.index("mutants of plain") :].splitlines()[1:3]
    assert [(row.split()[0], row.split()[-1]) for row in rows] == [
        ("not_sent", "no_creation"),
        ("twice", "at_most_once"),
    ]
    explained = thence("recheck", str(certificate), "-vv").out
    assert "plain/not_sent" in explained and "plain/twice" in explained
