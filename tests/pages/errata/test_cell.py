"""The cell of a table that says which faults are shown."""

from __future__ import annotations

from thence.pages.errata.cell import cell, faults_of


def test_faults_are_found_by_the_files_that_show_them() -> None:
    assert [fault.id for fault in faults_of(("hybrid_basic", "hybrid_basic_printed"))] == ["A1", "A2", "A4"]
    assert faults_of(("newtop",)) == ()


def test_a_fault_is_shown_where_all_its_statements_came_out() -> None:
    files = ("hybrid_basic", "hybrid_basic_printed")
    results = [
        {"kind": one.kind, "subject": one.subject, "name": one.name, "expected": True}
        for fault in faults_of(files)
        for one in fault.shown
    ]
    assert cell(results, files) == "2 shown: A1, A2; harmless: A4"
    assert cell([{**results[0], "expected": False}, *results[1:]], files) == "1 shown: A2; harmless: A4; not shown: A1"
    assert cell([], files) == "not shown: A1, A2, A4"
    assert cell(results, ("newtop",)) == ""
