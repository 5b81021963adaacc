"""What is wrong with the links of a built site, and what on it would leave the browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

LOADS: Final = {
    "script": ("src",), "img": ("src", "srcset"), "iframe": ("src",), "source": ("src", "srcset"), "video": ("src",),
    "audio": ("src",), "object": ("data",), "embed": ("src",), "input": ("src",), "form": ("action",),
}  # fmt: skip
"""Attributes that make a browser ask for something. Links of the head are added; those of the text are followed by
a reader who clicks them."""

_STYLE: Final = re.compile(r"(?:url\(|@import\s+)[\s'\"]*((?:https?:)?//[^)'\"\s]+)")


@dataclass(slots=True)
class Page:
    """The anchors and links of a page of HTML."""

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.page = Page()
        self._style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if "id" in given:
            self.page.anchors.add(given["id"])
        if tag == "a" and "name" in given:
            self.page.anchors.add(given["name"])
        if tag == "a" and given.get("href"):
            self.page.links.append(given["href"])
        if tag == "link" and given.get("href") and given.get("rel") != "canonical":
            self.page.loaded.append(given["href"])
        self.page.loaded += [given[name] for name in LOADS.get(tag, ()) if given.get(name)]
        if "style" in given:
            self.page.loaded += _STYLE.findall(given["style"])
        self._style = tag == "style"

    def handle_data(self, data: str) -> None:
        if self._style:
            self.page.loaded += _STYLE.findall(data)

    def handle_endtag(self, tag: str) -> None:
        self._style = False


def read(path: Path) -> Page:
    """The anchors and links of a file of HTML."""
    reader = _Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    return reader.page


def faults(site: Path) -> Iterator[str]:
    """One line for each link that leads nowhere, and for each thing that a browser would ask of another machine."""
    pages = {path: read(path) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        where = path.relative_to(site).as_posix()
        for link in (*page.links, *page.loaded):
            if (wrong := _fault(link, path, pages, site)) is not None:
                yield f"{where}: {link}: {wrong}"
        yield from (f"{where}: {url}: asks another machine" for url in page.loaded if _elsewhere(url))
    for sheet in sorted(site.rglob("*.css")):
        for url in _STYLE.findall(sheet.read_text(encoding="utf-8")):
            yield f"{sheet.relative_to(site).as_posix()}: {url}: asks another machine"


def _elsewhere(url: str) -> bool:
    return urlsplit(url).scheme in ("http", "https") or url.startswith("//")


def _fault(link: str, path: Path, pages: dict[Path, Page], site: Path) -> str | None:
    parts = urlsplit(link)
    if parts.scheme or link.startswith("//"):
        return None
    # The page of errors is served from any folder, so its links begin at the top.
    base = site if parts.path.startswith("/") else path.parent
    target = (base / unquote(parts.path).lstrip("/")).resolve() if parts.path else path
    if target.is_dir():
        target = target / "index.html"
    if not target.is_file():
        return "no such file"
    if parts.fragment.startswith("file="):  # what the player of the playground is asked to open
        return None
    if parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors | {"__skip"}:
        return "no such anchor"
    return None
