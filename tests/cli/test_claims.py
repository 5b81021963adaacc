"""The claims on the command line: `--claim`, what the exit code is about, `--strict`; and what a system refuses."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Thence = Callable[..., Any]

TESTS = Path(__file__).parents[1]

VECTOR_CLOCKS = "textbook.vector_clocks"
FEW = ("--delivery", "broadcast", "--cases", "60")


def test_only_what_is_claimed_decides_the_exit_code(thence: Thence) -> None:
    late = ("conform", "--impl", f"{VECTOR_CLOCKS}:Late", *FEW)
    done = thence(*late)
    [line] = [line for line in done.out.splitlines() if " prompt " in line]
    assert (done.code, line.split()[0:5]) == (0, ["prompt", "refuted", "L0", "not", "claimed"])
    asked = thence(*late, "--claim", "prompt")
    assert (asked.code, "Late: prompt: refuted" in asked.out) == (1, True)
    results = thence(*late, "--json").object["results"]
    assert [(result["name"], result["verdict"]) for result in results if not result["claimed"]] == [
        ("prompt", "refuted")
    ]
    assert all(result["expected"] for result in results)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--claim", "quick"], "there is no claim quick; there is started, conforming, causal"),
        (["--claim", "conforming"], "name one"),
        (["--strict"], "name a protocol"),
        (["--tolerant"], "--tolerant"),
    ],
)
def test_what_cannot_be_claimed_is_said(arguments: list[str], said: str, thence: Thence) -> None:
    assert thence("conform", "--impl", f"{VECTOR_CLOCKS}:Sorted", *FEW, *arguments).rejects(said)


def test_another_order_is_said_once_and_strict_demands_the_texts(thence: Thence) -> None:
    held = ("conform", "cbcast", "--impl", f"{VECTOR_CLOCKS}:Sorted", "--cases", "150")
    done = thence(*held)
    assert (done.code, done.out.count("in another order than the text's: p")) == (0, 1)
    strict = thence(*held, "--strict", "--save", "case.json")
    assert (strict.code, "Sorted: conforming: refuted" in strict.out) == (1, True)
    assert thence("conform", "--replay", "case.json", "--trust-file").code == 1
    assert thence("conform", "cbcast", "--impl", f"{VECTOR_CLOCKS}:BareReversed", "--strict").rejects(
        "strictly", "kind"
    )


def test_the_matrix_says_what_is_refused(thence: Thence) -> None:
    """A refusal is no crash, and no case of the cell has run."""
    adapter = TESTS.parent / "conformance" / "examples" / "python" / "adapter.py"
    command = f"{sys.executable} {TESTS / 'textbook' / 'refusing.py'} reordering {sys.executable} {adapter}"
    done = thence("matrix", "rst", "--exec", command, "--cases", "6")
    assert done.out.count("- (refused: fifo is not what I do)") == 2
    assert "crash" not in done.out and "started" not in done.out
    refused = thence("conform", "--exec", command, "--channels", "fifo")
    assert refused.rejects("refuses to begin", "fifo is not what I do")
