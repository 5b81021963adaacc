"""SVG diagrams: well-formed, self-contained, and readable: no label lies on another or outside."""

from __future__ import annotations

import random
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thence.spec.diagram import Highlight, draw_svg, highlight_of
from thence.spec.diagram.labels import Box
from thence.spec.diagram.layout import place
from thence.spec.diagram.svg import CHARACTER, WIDEST
from thence.spec.events import Deliver, Event, Execution, Receive, Send
from thence.spec.judgement import judge
from thence.spec.oracle import Finding

CHOICES = st.lists(st.tuples(st.integers(0, 10), st.integers(0, 7), st.integers(0, 200)), max_size=60)
Build = Callable[[int, Sequence[tuple[int, int, int]]], Execution]
CAPTION = 55
"""Characters of a line of the caption of a narrow picture."""
SVG = "{http://www.w3.org/2000/svg}"

TRIANGLE = Execution(
    3,
    (Send(0, "a", (2,)), Send(0, "b", (1,)), Deliver(1, "b"), Send(1, "c", (2,)), Deliver(2, "c")),
)
FINDING = Finding("causal", 2, "c", ("a",), 4, ("a", "b", "c"))


def elements(svg: str, name: str, *classes: str) -> list[ElementTree.Element]:
    """Those drawn, outside the legend."""
    root = ElementTree.fromstring(svg)
    return [e for e in root.findall(f"{SVG}{name}") if set(classes) <= set(e.get("class", "").split())]


def caption_of(svg: str) -> list[str]:
    return [element.text or "" for element in elements(svg, "text", "caption")]


def labels(svg: str) -> list[tuple[str, float, float]]:
    return [
        (element.text or "", float(element.get("x", "")), float(element.get("y", "")))
        for element in elements(svg, "text")
        if element.get("text-anchor") == "middle" and element.get("aria-hidden") is None
    ]


def test_a_violation_before_the_missing_message_comes() -> None:
    svg = draw_svg(TRIANGLE, highlight_of(FINDING))
    assert len(elements(svg, "circle", "expected", "missing")) == 1
    assert len(elements(svg, "path", "arrow", "unfinished", "missing")) == 1
    assert len(elements(svg, "circle", "offence")) == 1
    assert len(elements(svg, "path", "path")) == 2, "the chain runs along two process lines"
    assert len(elements(svg, "path", "head", "chain")) == 1
    assert len(elements(svg, "path", "head", "overtaking")) == 1
    assert [text for text, _, _ in labels(svg)] == ["a", "b", "b", "c", "c", "a"]
    assert "causal: p2 delivers c before a (a -&gt; b -&gt; c)" in svg


def test_a_violation_and_the_late_message() -> None:
    svg = draw_svg(Execution(3, (*TRIANGLE.events, Deliver(2, "a"))), highlight_of(FINDING))
    assert not elements(svg, "circle", "expected")
    assert len(elements(svg, "path", "head", "missing")) == 1


def test_waiting_and_lost_messages() -> None:
    svg = draw_svg(Execution(2, (Send(0, "a", (1,)), Send(0, "b", (1,)), Send(1, "c", (0,)), Receive(1, "b", 0))))
    assert len(elements(svg, "circle", "ring")) == 1
    assert len(elements(svg, "path", "waiting")) == 1
    assert len(elements(svg, "path", "arrow", "unfinished")) == 2
    assert "has not arrived" in svg and "waits" in svg


def test_names_from_elsewhere_cannot_break_the_document() -> None:
    name = '</text><script>alert("x")</script>\ud800\x00&'
    caption = Highlight(1, name, (), (), 1, f"about {name}")
    svg = draw_svg(Execution(2, (Send(0, name, (1,)), Deliver(1, name))), caption)
    assert "<script" not in svg
    assert svg.encode("utf-8").decode("utf-8") == svg
    assert ElementTree.fromstring(svg).tag == f"{SVG}svg"


def test_it_is_one_file_for_light_and_dark() -> None:
    svg = draw_svg(TRIANGLE)
    assert "prefers-color-scheme:dark" in svg
    assert svg.count("http") == 1, "nothing but the namespace"
    assert "<script" not in svg
    assert all(
        line.startswith((".thence-diagram ", "@media", "}"))
        for line in svg.split("<style>")[1].split("</style>")[0].split("\n")
        if line
    )


def test_a_title_stands_where_there_is_no_caption() -> None:
    assert caption_of(draw_svg(TRIANGLE)) == []
    assert caption_of(draw_svg(TRIANGLE, title="a run")) == ["a run"]
    assert "a run" not in draw_svg(TRIANGLE, highlight_of(FINDING), title="a run")


@settings(derandomize=True, deadline=None, max_examples=200)
@given(
    before=st.lists(st.text("abc:", min_size=1, max_size=9), max_size=12),
    chain=st.lists(st.text("m0123.", min_size=1, max_size=9), min_size=2, max_size=12),
)
def test_a_chain_in_a_caption_is_broken_last(before: list[str], chain: list[str]) -> None:
    """Where it has room on a line it stands on one, and else no arrow ends without its message."""
    said = " ".join([*before, f"({' -> '.join(chain)})"])
    lines = caption_of(draw_svg(TRIANGLE, title=said))
    assert " ".join(lines) == said
    whole = said[said.index("(") :]
    assert len(whole) > CAPTION or any(whole in line for line in lines)
    assert not any(line.endswith("->") for line in lines)
    assert all(len(line) <= CAPTION for line in lines)


def test_nothing_happens() -> None:
    assert labels(draw_svg(Execution(2, ()))) == []


@settings(derandomize=True, deadline=None, max_examples=120)
@given(processes=st.integers(2, 8), choices=CHOICES)
def test_labels_can_be_read(execution_of: Build, processes: int, choices: list[tuple[int, int, int]]) -> None:
    execution = execution_of(processes, choices)
    findings = judge(execution).findings()
    svg = draw_svg(execution, highlight_of(findings[0]) if findings else None)
    root = ElementTree.fromstring(svg)
    width, height = float(root.get("width", "")), float(root.get("height", ""))
    found = labels(svg)
    boxes = [(x - len(text) * CHARACTER / 2, x + len(text) * CHARACTER / 2, y) for text, x, y in found]
    for left, right, y in boxes:
        assert left >= 0 and right <= width and 10 <= y <= height
    for number, (left, right, y) in enumerate(boxes):
        for other_left, other_right, other_y in boxes[:number]:
            assert right <= other_left or other_right <= left or abs(y - other_y) >= 11


STRAIGHT = re.compile(r"M([-\d.]+) ([-\d.]+)L([-\d.]+) ([-\d.]+)$")


def random_execution(processes: int, events: int, seed: int) -> Execution:
    """Unicast messages to random others; most are delivered on arrival, the others wait."""
    chance = random.Random(seed)
    found: list[Event] = []
    flying: list[tuple[str, int, int]] = []
    waiting: list[tuple[str, int]] = []
    while len(found) < events:
        what = chance.random()
        if what < 0.4 or not (flying or waiting):
            source = chance.randrange(processes)
            destination = chance.choice([other for other in range(processes) if other != source])
            name = f"m{source}.{len(found)}"
            found.append(Send(source, name, (destination,)))
            flying.append((name, source, destination))
        elif flying and (what < 0.85 or not waiting):
            name, source, destination = flying.pop(chance.randrange(len(flying)))
            found.append(Receive(destination, name, source))
            if chance.random() < 0.85:
                found.append(Deliver(destination, name))
            else:
                waiting.append((name, destination))
        else:
            name, destination = waiting.pop(chance.randrange(len(waiting)))
            found.append(Deliver(destination, name))
    return Execution(processes, tuple(found[:events]))


def test_over_many_executions_labels_are_clear_of_signs_and_nearly_all_of_arrows() -> None:
    """Boxes are computed from the drawn text; 2 to 8 processes, 3 to 60 events."""
    count = on_a_sign = crossed = 0
    for processes in range(2, 9):
        for events in (3, 8, 15, 25, 40, 60):
            execution = random_execution(processes, events, processes * events)
            findings = judge(execution).findings()
            svg = draw_svg(execution, highlight_of(findings[0]) if findings else None)
            signs = [(float(e.get("cx", "")), float(e.get("cy", ""))) for e in elements(svg, "circle")]
            signs += [(float(e.get("x", "")) + 4, float(e.get("y", "")) + 4) for e in elements(svg, "rect", "dot")]
            paths = (STRAIGHT.fullmatch(e.get("d", "")) for e in elements(svg, "path", "arrow"))
            arrows = [(float(p[1]), float(p[2]), float(p[3]), float(p[4])) for p in paths if p is not None]
            for text, x, y in labels(svg):
                box = Box(x, y + 1, len(text) * CHARACTER)
                on_a_sign += any(abs(x - sx) < box.width / 2 and y - 10 < sy < y + 2 for sx, sy in signs)
                crossed += any(box.meets(arrow) for arrow in arrows)
                count += 1
    assert count > 600 and on_a_sign == 0
    assert crossed < 0.04 * count


@pytest.mark.parametrize(("processes", "events"), [(2, 300), (5, 1000), (8, 400)])
def test_a_long_run_is_paged(processes: int, events: int) -> None:
    """No picture is wider than a page; each event stands once, whole, inside the picture."""
    execution = random_execution(processes, events, 7)
    root = ElementTree.fromstring(draw_svg(execution))
    width, height = float(root.get("width", "")), float(root.get("height", ""))
    assert width <= WIDEST
    found = 0
    for band in root.findall(f"{SVG}g"):
        place = re.fullmatch(r"translate\(([-\d.]+) ([-\d.]+)\)", band.get("transform", ""))
        if band.get("class") != "band" or place is None:
            continue
        for text in band.findall(f"{SVG}text"):
            if text.get("text-anchor") == "middle" and text.get("aria-hidden") is None:
                half = len(text.text or "") * CHARACTER / 2
                x, y = float(text.get("x", "")) + float(place[1]), float(text.get("y", "")) + float(place[2])
                assert x - half >= 0 and x + half <= width and 10 <= y <= height
                found += 1
    assert found == len(place_points(execution))


def place_points(execution: Execution) -> Sequence[object]:
    return place(execution).points


def test_drawing_twice_gives_the_same_text() -> None:
    assert draw_svg(TRIANGLE, highlight_of(FINDING)) == draw_svg(TRIANGLE, highlight_of(FINDING))
