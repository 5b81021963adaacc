"""The errata page: every fault is there, and page, verdicts and library agree."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from thence.dsl import ir
from thence.dsl.load import load
from thence.pages.errata.fault import Fault, Statement, read_errata
from thence.pages.errata.page import page
from thence.pages.errata.verdicts import check
from thence.proofs.scopes.reports import describe

DOCS = Path(__file__).parents[3] / "docs" / "library"
ERRATA = read_errata()
NUMBERED = {
    *(f"C{number}" for number in range(1, 5)),
    *(f"A{number}" for number in range(1, 5)),
    *(f"B{number}" for number in range(1, 10)),
    *(f"D{number}" for number in range(1, 5)),
    *(f"E{number}" for number in range(1, 10)),
}
HARMLESS = {"A4", "B8", "C4", "E9", "R2"}
"""Faults of the text that no execution shows: what is printed holds as well."""


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


def test_the_pictures_are_those_of_the_page() -> None:
    there = {f"pictures/{path.name}" for path in (DOCS / "pictures").glob("errata-*.svg")}
    assert there == {*stored()["pictures"].values()}
    assert {*stored()["pictures"]} >= NUMBERED - HARMLESS - {"E2", "E4", "E6"}, "those three are about no execution"


@pytest.mark.parametrize("fault", ERRATA.faults, ids=lambda fault: fault.id)
def test_verdicts_show_the_fault_and_the_repair(fault: Fault) -> None:
    verdicts = stored()["verdicts"]
    assert fault.shown
    assert fault.holds
    assert all(verdicts[one.key]["expected"] for one in (*fault.shown, *fault.holds))
    assert not any(verdicts[one.key]["verdict"] == "unknown" for one in (*fault.shown, *fault.holds))
    shown = {verdicts[one.key]["verdict"] for one in fault.shown}
    # Of E4 and E6 it is the absurd consequence that is proved.
    assert ("refuted" in shown) != (fault.id in HARMLESS | {"E4"})
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
