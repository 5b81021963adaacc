"""The browser of the tests complains about what a page must not do."""

from __future__ import annotations

from pathlib import Path

from browser import Browser


def page(folder: Path, body: str) -> Path:
    target = folder / "page.html"
    target.write_text(f"<!doctype html><meta charset=utf-8><title>t</title>{body}", encoding="utf-8")
    return target


def test_an_error_in_a_script_is_a_complaint(browser: Browser, tmp_path: Path) -> None:
    browser.open(page(tmp_path, "<script>nothing.there()</script>"))
    assert any("nothing is not defined" in each for each in browser.complaints())


def test_a_request_is_a_complaint(browser: Browser, tmp_path: Path) -> None:
    browser.open(page(tmp_path, "<img src='http://127.0.0.1:9/x.png' alt=''>"))
    assert "request: http://127.0.0.1:9/x.png" in browser.complaints()


def test_dark_and_print_and_a_picture(browser: Browser, tmp_path: Path) -> None:
    rules = "p{color:#010203}@media (prefers-color-scheme:dark){p{color:#040506}}@media print{p{color:#070809}}"
    target = page(tmp_path, f"<style>{rules}</style><p>Text</p>")
    colour = "return getComputedStyle(document.querySelector('p')).color"
    browser.open(target)
    assert browser.run(colour) == "rgb(1, 2, 3)"
    browser.open(target, dark=True)
    assert browser.run(colour) == "rgb(4, 5, 6)"
    browser.open(target, medium="print")
    assert browser.run(colour) == "rgb(7, 8, 9)"
    assert browser.picture(tmp_path / "page.png").read_bytes().startswith(b"\x89PNG")
