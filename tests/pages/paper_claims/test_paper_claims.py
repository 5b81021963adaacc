"""The page of the claims: every numbered item of a paper has an entry, and entries, verdicts and page agree."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from thence.pages.errata.fault import read_errata
from thence.pages.paper_claims import table_1
from thence.pages.paper_claims.claim import Claim, Run, read_claims, shown_of
from thence.pages.paper_claims.consistency import disagreements
from thence.pages.paper_claims.page import counts, page
from thence.pages.paper_claims.running import (
    differences,
    executed,
    found_among,
    run_differences,
    runs_of,
    statements_of,
)

DOCS = Path(__file__).parents[3] / "docs" / "library"
PAPERS = Path(os.environ.get("THENCE_PAPERS", Path(__file__).parents[3] / "papers"))
CLAIMS = read_claims()
ERRATA = read_errata()

BEGINNINGS = {
    "cykas": "Can you keep a secret?",
    "almeida": "Space-Optimal, Computation-Optimal",
    "tree": "Tree Topologies for Causal Message Delivery",
    "mf": "This paper presents an algorithm to implement point",
    "rst": "Suppose Alice messages Carol",
}
NUMBERED = re.compile(
    r"\b(Theorem|Lemma|Proposition|Corollary|Definition|Figure|Fig\.|Table|Algorithm|Example)\s*(\d+(?:\.\d+)?)", re.I
)


@cache
def stored() -> dict[str, Any]:
    found = json.loads((DOCS / "paper-claims.json").read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def every_claim() -> Iterator[tuple[str, Claim]]:
    for paper in CLAIMS:
        for claim in paper.claims:
            yield paper.paper, claim


@pytest.mark.parametrize(("paper", "claim"), [*every_claim()], ids=lambda one: getattr(one, "item", one))
def test_each_entry_is_what_it_is_called(paper: str, claim: Claim) -> None:
    assert disagreements(claim, ERRATA) == ()


@pytest.mark.parametrize(
    ("item", "change", "wrong"),
    [
        ("Proposition 3.1", {"shown": ()}, "no statement and no command"),
        ("Proposition 3.1", {"shown": shown_of("cykas | scope | cykas | two: causal | holds L1")}, "nothing is proved"),
        ("Proposition 3.1", {"lacks": "much"}, "something lacks"),
        ("Lemma 3.3", {"lacks": ""}, "must say what lacks"),
        ("Lemma 3.5", {"errata": ()}, "no erratum"),
        ("Lemma 3.5", {"errata": ("C99",)}, "there is no erratum C99"),
        ("Figure 4", {"pages": ()}, "no page and no command"),
        ("Section 7: information flow", {"reason": ""}, "there is no reason"),
        ("Section 7: information flow", {"pages": ("errata.md",)}, "something is shown"),
    ],
)
def test_an_entry_that_claims_too_much_is_found_out(item: str, change: dict[str, Any], wrong: str) -> None:
    claim = next(claim for paper, claim in every_claim() if paper == "cykas" and claim.item == item)
    assert any(wrong in one for one in disagreements(replace(claim, **change), ERRATA))


def test_every_erratum_is_about_a_claim() -> None:
    about = {one for _, claim in every_claim() for one in claim.errata}
    assert {fault.id for fault in ERRATA.faults} == about


def test_the_pages_that_are_named_exist() -> None:
    named = {one for _, claim in every_claim() for one in claim.pages}
    assert all((DOCS / name).is_file() for name in named)


def test_the_verdicts_are_those_that_the_claims_expect() -> None:
    assert differences(statements_of(CLAIMS), stored()["statements"]) == (), "make paper-claims"
    assert run_differences(runs_of(CLAIMS), stored()["runs"]) == ()
    assert [*table_1.table_differences(stored()["table_1"])] == []


def test_the_verdicts_are_those_of_the_library() -> None:
    """Where the last complete run, which is kept in git, has the statement."""
    results = json.loads((DOCS / "verdicts.json").read_text(encoding="utf-8"))["results"]
    wanted = statements_of(CLAIMS)
    known = found_among(wanted, results)
    assert len(known) > 0.9 * len(wanted)
    assert differences([one for one in wanted if one.statement.key in known], known) == ()


def test_the_page_is_made_of_the_claims_and_their_records() -> None:
    assert (DOCS / "paper-claims.md").read_text(encoding="utf-8") == page(CLAIMS, ERRATA, stored()), "make paper-claims"


def test_the_counts_are_of_all_claims() -> None:
    for paper in CLAIMS:
        assert counts(paper).total() == len(paper.claims)


def test_a_verdict_that_differs_is_found_out() -> None:
    wanted = shown_of("mf | machine | buffers | causal, fifo | proved L3")
    results = [
        {"kind": "machine", "subject": "buffers", "name": "causal", "verdict": "proved", "level": "L3", "seconds": 1.0},
        {"kind": "machine", "subject": "buffers", "name": "fifo", "verdict": "proved", "level": "L3", "seconds": 1.0},
    ]
    assert differences(wanted, found_among(wanted, results)) == ()
    weaker = [results[0], {**results[1], "level": "L2"}]
    assert differences(wanted, found_among(wanted, weaker)) == (
        "mf | machine | buffers | fifo: expected proved L3, found proved L2",
    )
    missing = differences(wanted, found_among(wanted, results[:1]))
    assert [one.rpartition(", ")[2] for one in missing] == ["and the library does not state it"]


def test_a_command_that_ends_otherwise_is_found_out() -> None:
    right = Run("thence check mf", 0, ("no errors",))
    record = {right.command: executed(right)}
    assert run_differences([right], record) == ()
    assert run_differences([replace(right, exit=1)], record) == ("thence check mf: expected exit code 1, found 0",)
    other = replace(right, prints=("two errors",))
    assert run_differences([other], {right.command: executed(other)}) == (
        "thence check mf: it does not print 'two errors'",
    )


def test_the_table_fails_where_a_system_comes_out_otherwise() -> None:
    right = {row.system: {"verdicts": {"causal": row.causal}} for row in table_1.ROWS}
    assert [*table_1.table_differences(right)] == []
    first = table_1.ROWS[0]
    assert len([*table_1.table_differences({**right, first.system: {"verdicts": {"causal": "refuted"}}})]) == 1
    stuck = {"verdicts": {"causal": first.causal, "delivered": "refuted"}}
    assert len([*table_1.table_differences({**right, first.system: stuck})]) == 1


@cache
def copy(paper: str) -> str:
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in sorted(PAPERS.glob("*.txt"))]
    return next(text for text in texts if BEGINNINGS[paper] in text[:2000])


@pytest.mark.skipif(not any(PAPERS.glob("*.txt")), reason="not at hand; THENCE_PAPERS is their folder")
@pytest.mark.parametrize("paper", BEGINNINGS)
def test_every_numbered_item_of_the_paper_has_an_entry(paper: str) -> None:
    """Items of other papers, which a paper refers to, are among its numbers only by chance."""
    claims = next(one.claims for one in CLAIMS if one.paper == paper)
    have = {name for claim in claims for name in (claim.item, *claim.also)}
    found = {
        f"{kind.capitalize()} {number}".replace("Fig. ", "Figure ") for kind, number in NUMBERED.findall(copy(paper))
    }
    assert found <= have, sorted(found - have)
    assert found or paper == "rst"
