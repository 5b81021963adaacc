"""The report of `thence verify`: safe, small, and alive in a real browser."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from browser import Browser

from thence.pages.html_report import Verified, render
from thence.spec.diagram import draw_svg
from thence.spec.events import Deliver, Execution, Send
from thence.spec.verdict import Level, Result, Verdict

DATE = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
PICTURE = draw_svg(Execution(2, (Send(0, "a", (1,)), Deliver(1, "a"))))
EVIL = "<script>window.evil = 1</script>&\"'"


def result(
    name: str, verdict: Verdict = Verdict.HOLDS, *, expected: bool = True, kind: str = "scope", **more: str
) -> Result:
    explanation, picture = more.get("explanation", ""), more.get("picture", "")
    subject = more.get("subject", "fifo")
    return Result(name, kind, subject, verdict, Level.L1, expected, 0.5, {"states": 7}, explanation, picture)  # type: ignore[arg-type]


def report(folder: Path, *, left: tuple[str, ...] = (), surprise: bool = True) -> Path:
    refuted = result(
        "weak: causal", Verdict.REFUTED, kind="mutant", subject="fifo/weak", explanation="1  p0", picture=PICTURE
    )
    wrong = (
        [result("two: fifo", Verdict.REFUTED, expected=False, explanation="2  p1", picture=PICTURE)] if surprise else []
    )
    files = {
        "fifo": [result("two: causal"), refuted, *wrong],
        EVIL: [result(EVIL, explanation=EVIL, subject=EVIL), result("open", Verdict.UNKNOWN, kind="machine")],
    }
    target = folder / "report.html"
    target.write_text(render(Verified(files, 61.0, left=left, date=DATE)), encoding="utf-8")
    return target


SHOWN = "return [...document.querySelectorAll('table.rows tbody tr')].filter(r => r.offsetParent).map(r => r.id)"


def choose(browser: Browser, name: str, value: str) -> None:
    script = (
        "const f = document.getElementById('filter'), e = f.elements[arguments[0]];"
        "if (e.type === 'checkbox') e.checked = !!arguments[1]; else e.value = arguments[1];"
        "f.dispatchEvent(new Event('input'))"
    )
    browser.run(script, name, value)


def test_the_answer_stands_first(browser: Browser, tmp_path: Path) -> None:
    browser.open(report(tmp_path))
    assert (
        browser.run("return document.querySelector('.answer').innerText")
        == "1 of 5 statements did not come out as it should"
    )
    facts = browser.run("return document.querySelector('.facts').innerText")
    assert "2026-01-02 03:04 UTC" in facts and "1 min 1 s" in facts and "Python" in facts
    browser.open(report(tmp_path, surprise=False))
    assert browser.run("return document.querySelector('.answer').innerText") == "All 4 statements came out as expected"


def test_an_interrupted_run_says_what_is_left(browser: Browser, tmp_path: Path) -> None:
    browser.open(report(tmp_path, left=("fifo: scope three",), surprise=False))
    assert browser.run("return document.querySelector('.answer').innerText").startswith("Interrupted.")
    assert "fifo: scope three" in browser.run("return document.querySelector('.box').innerText")


def test_names_are_text_not_code(browser: Browser, tmp_path: Path) -> None:
    browser.open(report(tmp_path))
    assert browser.run("return window.evil") is None
    assert EVIL in browser.run("return document.body.textContent")
    assert EVIL in browser.run("return [...document.querySelectorAll('#filter [name=file] option')].map(o => o.value)")


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("file", "fifo", ["r0-0", "r0-1", "r0-2"]),
        ("kind", "mutant", ["r0-1"]),
        ("verdict", "refuted", ["r0-1", "r0-2"]),
        ("surprise", "on", ["r0-2"]),
        ("words", "weak causal", ["r0-1"]),
        ("words", "nothing has these words", []),
    ],
)
def test_the_filter(browser: Browser, tmp_path: Path, name: str, value: str, shown: list[str]) -> None:
    browser.open(report(tmp_path))
    assert len(browser.run(SHOWN)) == 5
    choose(browser, name, value)
    assert browser.run(SHOWN) == shown


def test_an_expected_refutation_does_not_look_like_a_failure(browser: Browser, tmp_path: Path) -> None:
    colour = "return getComputedStyle(document.querySelector(arguments[0])).color"
    browser.open(report(tmp_path))
    expected, surprise = (browser.run(colour, f"#{row} td:nth-child(3)") for row in ("r0-1", "r0-2"))
    assert surprise == browser.run(colour, ".answer .bad") != expected
    assert "as expected" in browser.run("return document.querySelector('#r0-1').innerText")


def test_a_picture_unfolds_and_a_surprise_is_open(browser: Browser, tmp_path: Path) -> None:
    page = report(tmp_path)
    assert page.read_text(encoding="utf-8").count("<svg") == 0, "pictures are packed, each once"
    browser.open(page)
    wait = "return new Promise(done => setTimeout(() => done(document.querySelectorAll(arguments[0]).length), 300))"
    assert browser.run(wait, "#r0-2 svg.thence-diagram text") > 0
    assert browser.run(wait, "#r0-1 svg") == 0
    browser.run("document.querySelector('#r0-1 details').open = true")
    assert browser.run(wait, "#r0-1 svg.thence-diagram text") > 0


def test_it_can_be_read_without_scripts(browser: Browser, tmp_path: Path) -> None:
    browser.without_scripts()
    browser.open(report(tmp_path))
    browser.without_scripts(False)
    assert browser.run("return getComputedStyle(document.getElementById('filter')).display") == "none"
    assert len(browser.run(SHOWN)) == 5


@pytest.mark.parametrize(("dark", "medium"), [(False, "screen"), (True, "screen"), (False, "print")])
@pytest.mark.parametrize("width", [360, 1100])
def test_nothing_is_wider_than_the_page(browser: Browser, tmp_path: Path, dark: bool, medium: str, width: int) -> None:
    browser.resize(width)
    browser.open(report(tmp_path), dark=dark, medium=medium)  # type: ignore[arg-type]
    assert browser.run("return document.documentElement.scrollWidth") <= width
    assert browser.run(
        "const contents = document.querySelector('.wide'); return contents.scrollWidth <= contents.clientWidth"
    )
    assert browser.picture(tmp_path / "report.png").stat().st_size > 5_000


def test_a_report_on_a_whole_library_is_small() -> None:
    """1,200 lines, 600 of them with steps and a picture, as the library has them: less than 1 MB."""
    steps = "\n".join(f"{number}  p0: causal_send(m0.{number}) to p1" for number in range(12))
    pictures = [
        draw_svg(Execution(2, (Send(0, f"a{number}", (1,)), Deliver(1, f"a{number}")))) for number in range(300)
    ]
    files = {
        f"file{number}": [
            result(
                f"scope{number}: property{each}", explanation=f"{number} {each}\n{steps}", picture=pictures[each % 300]
            )
            if each % 2
            else result(f"scope{number}: property{each}", subject=f"protocol{each}")
            for each in range(40)
        ]
        for number in range(30)
    }
    assert len(render(Verified(files, 1.0, date=DATE)).encode()) < 1_000_000
