"""The configuration of Zensical, which turns the staged pages into HTML: what is where, and how it looks.

Nothing is fetched from elsewhere: no fonts, no scripts. The search works without a network, and from a folder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

CHAPTERS: Final = {
    "tutorial": "Tutorial",
    "how-to": "How-to",
    "reference": "Reference",
    "explanation": "Explanation",
    "textbook": "Textbook protocols",
    "library": "Library",
}
"""The folders of pages and their titles. The first page of a folder links to the others, in their order."""

_LAST: Final = ("ARCHITECTURE.md", "measurements.md", "changes.md")
_LIBRARY_FILES: Final = "Files"

_HEAD: Final = """\
[project]
site_name = "Thence"
site_description = "A specification language and a test harness for causal message protocols"
copyright = "Apache-2.0"
docs_dir = {docs}
site_dir = {site}
extra_css = ["assets/thence.css"]
nav = [
{nav}
]

[project.theme]
font = false
language = "en"
features = [
  "content.code.copy", "navigation.footer", "navigation.indexes", "navigation.prune", "navigation.tabs",
  "navigation.top", "search.highlight", "toc.follow",
]

[[project.theme.palette]]
media = "(prefers-color-scheme)"
toggle.icon = "lucide/sun-moon"
toggle.name = "As the system: change to light"

[[project.theme.palette]]
media = "(prefers-color-scheme: light)"
scheme = "default"
toggle.icon = "lucide/sun"
toggle.name = "Light: change to dark"

[[project.theme.palette]]
media = "(prefers-color-scheme: dark)"
scheme = "slate"
toggle.icon = "lucide/moon"
toggle.name = "Dark: change to the system's"

[project.plugins.offline]

[project.extra]
generator = false
polyfills = [{{path = "assets/iframe-worker.js", type = "text/javascript", async = false, defer = false}}]

[project.markdown_extensions.admonition]
[project.markdown_extensions.attr_list]
[project.markdown_extensions.md_in_html]
[project.markdown_extensions.tables]
[project.markdown_extensions.toc]
permalink = true
toc_depth = 3
slugify = {{object = "pymdownx.slugs.slugify", kwds = {{case = "lower"}}}}
[project.markdown_extensions.pymdownx.highlight]
anchor_linenums = false
[project.markdown_extensions.pymdownx.superfences]
"""


def configuration(pages: Path, site: Path, library: Iterable[str]) -> str:
    """The configuration, in TOML, for the staged pages, to be written beside them and the site.

    `library` are the names of the files of the library.
    """
    nav = ",\n".join(f"  {entry}" for entry in _entries(pages, {f"library/{name}.md" for name in library}))
    return _HEAD.format(docs=json.dumps(pages.name), site=json.dumps(site.name), nav=nav)


def title_of(page: Path) -> str:
    """The first heading of a page."""
    lines = page.read_text(encoding="utf-8").splitlines()
    return next(line.removeprefix("# ").strip() for line in lines if line.startswith("# "))


def _entries(pages: Path, library: set[str]) -> Iterator[str]:
    yield _entry("Home", "index.md")
    last = [page for page in _LAST if (pages / page).is_file()]
    for folder, title in CHAPTERS.items():
        found = {page.relative_to(pages).as_posix(): page for page in sorted((pages / folder).rglob("*.md"))}
        names = [name for name in _in_order(folder, found) if name not in library]
        entries = [
            json.dumps(name) if name == f"{folder}/index.md" else _entry(title_of(found[name]), name) for name in names
        ]
        if folder == "explanation":
            entries += [_entry(title_of(pages / page), page) for page in last]
        files = [_entry(Path(name).stem, name) for name in found if name in library]
        if files:
            entries.append(f"{{{json.dumps(_LIBRARY_FILES)} = [{', '.join(files)}]}}")
        if entries:
            yield f"{{{json.dumps(title)} = [{', '.join(entries)}]}}"


def _in_order(folder: str, found: Mapping[str, Path]) -> list[str]:
    """The pages of a folder: the first one, those that it links to, the others."""
    first = f"{folder}/index.md"
    linked = re.findall(r"\]\(([\w-]+\.md)", found[first].read_text(encoding="utf-8")) if first in found else []
    names = [first, *(f"{folder}/{name}" for name in linked), *found]
    return [name for name in dict.fromkeys(names) if name in found]


def _entry(title: str, page: str) -> str:
    return f"{{{json.dumps(title.replace('`', ''), ensure_ascii=False)} = {json.dumps(page)}}}"
