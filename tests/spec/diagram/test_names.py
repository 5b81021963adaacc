"""Processes with names: in both pictures, in place of p0, p1."""

from __future__ import annotations

from dataclasses import replace

from thence.spec.diagram import Highlight, draw_svg, draw_text, focus
from thence.spec.events import Deliver, Execution, Receive, Send

PLAIN = Execution(2, (Send(0, "m", (1,)), Receive(1, "m", 0), Deliver(1, "m")))
NAMED = replace(PLAIN, names=("Alice", "A rather <long> name"))


def test_pictures_call_processes_by_their_names() -> None:
    drawn = draw_svg(NAMED)
    assert ">Alice</text>" in drawn
    assert ">A rather &lt;l…</text>" in drawn
    assert ">p0<" not in drawn
    assert ">p0<" in draw_svg(PLAIN)
    header = draw_text(NAMED).splitlines()[0]
    assert header.split()[:2] == ["Alice", "A"]
    assert all(len(line) <= 100 for line in draw_text(NAMED).splitlines())


def test_names_make_no_other_execution() -> None:
    assert NAMED == PLAIN
    assert focus(NAMED, Highlight(1, "m"))[0].names == NAMED.names
    assert PLAIN.name_of(1) == "p1"
