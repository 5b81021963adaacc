"""Message orderings: enumeration, and their identity up to numbers."""

from __future__ import annotations

from itertools import permutations

import pytest

from thence.proofs.executions.figures import FIGURES
from thence.proofs.executions.ordering import Occurrence, Ordering, of_programs, orderings
from thence.proofs.executions.reading import read_programs


@pytest.mark.parametrize(
    ("processes", "messages", "count"), [(2, 1, 1), (2, 2, 4), (3, 2, 4), (4, 2, 1), (2, 3, 17), (3, 3, 53), (4, 3, 28)]
)
def test_each_execution_is_there_once(processes: int, messages: int, count: int) -> None:
    found = list(orderings(processes, messages))
    assert len(found) == count
    assert len({ordering.form() for ordering in found}) == count
    assert all(ordering.linear() is not None for ordering in found)


def test_the_form_does_not_depend_on_the_numbers_of_processes() -> None:
    for ordering in FIGURES.values():
        forms = {ordering.renamed(names).form() for names in permutations(range(len(ordering.processes)))}
        assert forms == {ordering.form()}


def test_different_figures_have_different_forms() -> None:
    assert len({ordering.form() for ordering in FIGURES.values()}) == len(FIGURES)


def test_receives_that_wait_for_each_other_are_no_execution() -> None:
    circle = Ordering(
        ((Occurrence("receive", 1), Occurrence("send", 0)), (Occurrence("receive", 0), Occurrence("send", 1))),
        ((0, 1), (1, 0)),
    )
    assert circle.linear() is None
    with pytest.raises(ValueError, match="in a circle"):
        circle.execution()


def test_the_executions_of_the_second_program_contain_figures_7_and_8() -> None:
    """Mattern and Fünfrocken, section 4.2: receives that are not selective leave two orders at each process."""
    text = "0: send to 1; send to 2; receive; receive\n1: send to 2; send to 0; receive; receive\n"
    found = {
        ordering.form() for ordering in of_programs(read_programs(text + "2: send to 0; send to 1; receive; receive"))
    }
    assert {FIGURES["Figure 7"].form(), FIGURES["Figure 8"].form()} <= found
    assert len(list(of_programs(read_programs(text + "2: send to 0; send to 1; receive; receive")))) == 8


def test_selective_receives_leave_one_order() -> None:
    """Section 4.1: it first wants z, and only then x, which contradicts causal order."""
    text = "0: send to 2; send to 1\n1: receive; send to 2\n2: receive from 1; receive from 0  # z, then x\n"
    [only] = of_programs(read_programs(text))
    assert only.form() == FIGURES["Figure 4"].form()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no program"),
        ("zero: send to 1", "line 1: expected"),
        ("0: sned to 1", "line 1: `sned to 1`"),
        ("0: send to 0", "sends to itself"),
        ("0: send to 1\n0: send to 1", "line 2: process 0 has a program already"),
        ("0: send to 1", "receives 0 of the 1"),
        ("0: send to 9\n9: receive", "at most 8 processes"),
    ],
)
def test_faults_of_programs_are_said(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read_programs(text)
