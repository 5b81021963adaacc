"""Processes with names: in both pictures, in place of p0, p1."""

from __future__ import annotations

from dataclasses import replace

from thence.spec.diagram import Highlight, draw_svg, draw_text, focus, highlight_of
from thence.spec.diagram.names import LONGEST_LABEL, label_of
from thence.spec.events import Deliver, Execution, Receive, Send
from thence.spec.oracle import first_finding

PLAIN = Execution(2, (Send(0, "m", (1,)), Receive(1, "m", 0), Deliver(1, "m")))
NAMED = replace(PLAIN, names=("Alice", "A rather <long> name"))


def test_pictures_call_processes_by_their_names() -> None:
    drawn = draw_svg(NAMED)
    assert ">Alice</text>" in drawn
    assert ">A rat…&gt; name</text>" in drawn
    assert ">p0<" not in drawn
    assert ">p0<" in draw_svg(PLAIN)
    header = draw_text(NAMED).splitlines()[0]
    assert header.split()[:2] == ["Alice", "A"]
    assert all(len(line) <= 100 for line in draw_text(NAMED).splitlines())


def test_names_make_no_other_execution() -> None:
    assert NAMED == PLAIN
    assert focus(NAMED, Highlight(1, "m"))[0].names == NAMED.names
    assert PLAIN.name_of(1) == "p1"


def test_a_message_has_one_name_in_a_picture() -> None:
    first, second = "order-2026-11-000001", "order-2026-11-000002"
    events = (Send(0, first, (1,)), Send(0, second, (1,)), Deliver(1, second), Deliver(1, first))
    found = first_finding(Execution(2, events))
    assert found is not None
    labels = {label_of(first), label_of(second)}
    assert len(labels) == 2
    assert max(map(len, labels)) == LONGEST_LABEL
    for drawn in (
        draw_svg(Execution(2, events), highlight_of(found)),
        draw_text(Execution(2, events), highlight_of(found)),
    ):
        assert first not in drawn and second not in drawn
        assert f"delivers {label_of(second)} before {label_of(first)}" in drawn.replace("&gt;", ">")
