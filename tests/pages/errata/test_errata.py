"""The errata page: every fault is there, and page, verdicts and library agree."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from thence.dsl import ir
from thence.dsl.load import load
from thence.pages.errata.claims import disagreements
from thence.pages.errata.fault import Fault, Paper, Statement, read_errata
from thence.pages.errata.letters import letters
from thence.pages.errata.page import kind_of, page, quotation
from thence.pages.errata.verdicts import check, sources_of
from thence.proofs.workload_words import describe

DOCS = Path(__file__).parents[3] / "docs" / "library"
ERRATA = read_errata()
NUMBERED = {
    *(f"C{number}" for number in range(1, 7)),
    *("A1", "A2", "A4"),
    *(f"B{number}" for number in range(1, 10)),
    *(f"D{number}" for number in range(1, 5)),
    *(f"P{number}" for number in range(1, 5)),
    *(f"E{number}" for number in range(1, 13)),
}
WITHOUT_A_PICTURE = {"A4", "B8", "C4", "E9", "R2", "E2", "E4", "E6", "E10", "E11", "E12"}
"""They are about no execution: what is printed holds as well, or it is a definition."""


@cache
def stored() -> dict[str, Any]:
    found = json.loads((DOCS / "errata.json").read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


@cache
def specification(file: str) -> ir.Specification:
    found = load(file).specification
    assert found is not None
    return found


def test_every_fault_is_there() -> None:
    assert {fault.id for fault in ERRATA.faults} >= NUMBERED


def test_the_page_is_made_of_the_faults_and_their_verdicts() -> None:
    found = stored()
    assert {one.key for one in ERRATA.statements} == {*found["verdicts"]}, "make errata"
    expected = page(ERRATA, found["verdicts"], found["pictures"])
    assert (DOCS / "errata.md").read_text(encoding="utf-8") == expected, "make errata"


def test_verdicts_and_counts_are_of_the_library_as_it_is() -> None:
    assert stored()["sources"] == sources_of(ERRATA), "make errata"


def test_the_pictures_are_those_of_the_page() -> None:
    there = {f"pictures/{path.name}" for path in (DOCS / "pictures").glob("errata-*.svg")}
    assert there == {*stored()["pictures"].values()}
    assert {*stored()["pictures"]} >= NUMBERED - WITHOUT_A_PICTURE


def test_the_letters_are_made_of_the_faults_and_their_verdicts() -> None:
    written = {path.stem: path.read_text(encoding="utf-8") for path in (DOCS / "letters").glob("*.md")}
    assert written == letters(ERRATA, stored()["verdicts"]), "make errata"
    assert {*written} == {paper.key for paper in ERRATA.papers}


@pytest.mark.parametrize("paper", ERRATA.papers, ids=lambda paper: paper.key)
def test_a_letter_quotes_what_its_authors_say_elsewhere(paper: Paper) -> None:
    """An item that the paper has right in its prose is not held against it in silence."""
    letter = letters(ERRATA, stored()["verdicts"])[paper.key]
    assert f"*{paper.title}*" in letter and paper.stands in letter
    for fault in (one for one in ERRATA.faults if one.paper == paper.key):
        assert all(quotation(quote) in letter for quote in (*fault.prose,)), fault.id
        assert f"{fault.place}: {kind_of(fault)}." in letter


@pytest.mark.parametrize("fault", ERRATA.faults, ids=lambda fault: fault.id)
def test_claim_kind_and_verdicts_agree(fault: Fault) -> None:
    assert disagreements(fault, stored()["verdicts"]) == ()


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"shows": ("violates causal",)}, "it claims `violates causal`"),
        ({"kind": "optimality"}, "cost optimality only, and violates delivered"),
        ({"kind": "slip", "prose": ()}, "by what the paper says elsewhere"),
        ({"harmless": True}, "harmless, and violates delivered"),
    ],
)
def test_an_entry_that_says_something_else_is_found_out(change: dict[str, Any], wrong: str) -> None:
    """C1 as it is shows a run that is stuck, and no message out of order."""
    stuck = next(fault for fault in ERRATA.faults if fault.id == "C1")
    found = disagreements(replace(stuck, **change), stored()["verdicts"])
    assert any(wrong in one for one in found), found


def test_strict_causality_alone_must_be_called_so() -> None:
    first = next(fault for fault in ERRATA.faults if fault.id == "A1")
    assert any("strict" in one for one in disagreements(replace(first, happens="Broken."), stored()["verdicts"]))
    unsaid = tuple(one for one in first.shown if not one.name.endswith("causally_ordered"))
    shows = tuple(one for one in first.shows if not one.endswith("causally_ordered"))
    found = disagreements(replace(first, shown=unsaid, shows=shows), stored()["verdicts"])
    assert any("out of order" in one for one in found)


@pytest.mark.parametrize("fault", ERRATA.faults, ids=lambda fault: fault.id)
def test_verdicts_show_the_fault_and_the_repair(fault: Fault) -> None:
    verdicts = stored()["verdicts"]
    assert fault.shown
    assert fault.holds
    assert all(verdicts[one.key]["expected"] for one in (*fault.shown, *fault.holds))
    assert not any(verdicts[one.key]["verdict"] == "unknown" for one in (*fault.shown, *fault.holds))
    assert any(verdicts[one.key]["verdict"] in ("holds", "proved") for one in fault.holds)


@pytest.mark.parametrize("statement", ERRATA.statements, ids=lambda statement: statement.key)
def test_the_library_still_says_so(statement: Statement) -> None:
    """What is stored is what the library's text expects; what it does not name, holds."""
    verdict = stored()["verdicts"][statement.key]["verdict"]
    found = specification(statement.file)
    scope, _, name = statement.name.rpartition(": ")
    expects: tuple[ir.Expectation, ...]
    match statement.kind:
        case "scope":
            expects = next(one.expects for one in found.scopes if one.name == scope)
        case "scenario":
            played, _, name = statement.name.partition(": ")
            expects = next(one.expects for one in found.scenarios if one.name == played)
        case "theorem":
            expects = next(one.expects for one in found.theorems if one.name == name)
            name = ""
        case "machine":
            expects = next(one.expects for one in found.machines if one.name == statement.subject)
        case "mutant":
            subject, _, changed = statement.subject.partition("/")
            mutant = next(one for one in found.mutants if (one.subject, one.name) == (subject, changed or scope))
            expects = tuple(one for one in mutant.expects if not changed or scope in _places(one))
            assert any(name in one.names for one in expects)
        case _:
            raise AssertionError(statement.kind)
    usual = "proved" if statement.kind in ("theorem", "machine") else "holds"
    wanted = next((one.verdict for one in expects if name in one.names or not (name or one.names)), usual)
    assert verdict == wanted


def _places(expect: ir.Expectation) -> tuple[str | None, str]:
    assert expect.settings is not None
    return expect.scope, describe(expect.settings)


CHEAP = ("C1", "A1", "B1", "B7", "D2")


def test_the_cheap_ones_come_out_as_stored() -> None:
    wanted = [one for fault in ERRATA.faults if fault.id in CHEAP for one in fault.shown]
    for key, checked in check(wanted).items():
        before = stored()["verdicts"][key]
        assert {**checked.record, "explanation": ""} == {**before, "explanation": ""}


def test_a_statement_that_the_library_lacks_is_an_error() -> None:
    with pytest.raises(LookupError, match="does not state"):
        check([Statement("mf", "scope", "mf", "one: undelivered")])
