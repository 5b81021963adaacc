"""Links that lead nowhere are found, and so is whatever would make a browser ask another machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from thence.pages.site.links import faults

HEAD = '<html><head><link rel="stylesheet" href="a.css"></head><body>'


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ('<h2 id="x">X</h2><a href="#x">x</a><a href="index.html#x">x</a><a href=".">x</a>', []),
        ('<a href="https://example.org/">to be clicked</a><a href="mailto:a@example.org">mail</a>', []),
        ('<img src="data:image/png;base64,AA==">', []),
        ('<a href="gone.html">x</a>', ["gone.html: no such file"]),
        ('<a href="#gone">x</a>', ["#gone: no such anchor"]),
        ('<img src="https://example.org/a.png">', ["https://example.org/a.png: asks another machine"]),
        ('<script src="//example.org/a.js"></script>', ["//example.org/a.js: asks another machine"]),
        ('<p style="background: url(https://example.org/b.png)">', ["https://example.org/b.png: asks another machine"]),
        ("<style>@import 'https://example.org/c.css';</style>", ["https://example.org/c.css: asks another machine"]),
        ('<script>var a = "https://example.org/";</script>', []),
    ],
)
def test_faults(body: str, found: list[str], tmp_path: Path) -> None:
    (tmp_path / "a.css").write_text("p { color: red }", encoding="utf-8")
    (tmp_path / "index.html").write_text(HEAD + body, encoding="utf-8")
    assert [*faults(tmp_path)] == [f"index.html: {line}" for line in found]


def test_style_sheets_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.css").write_text("p { src: url('https://example.org/f.woff2') }", encoding="utf-8")
    assert [*faults(tmp_path)] == ["a.css: https://example.org/f.woff2: asks another machine"]
