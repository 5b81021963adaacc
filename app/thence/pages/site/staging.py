"""All pages of the site as Markdown in one folder: those of docs/, and those made of the library and of results."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from thence.dsl.load import library, load
from thence.pages import comparison, figures, mutation, statement_index
from thence.pages import library as library_table
from thence.pages.results import Found, library_specifications
from thence.pages.site.library_file import PLAYGROUND, LibraryFile, page
from thence.pages.statements import by_key

OUTSIDE: Final = {"CHANGELOG.md": "changes.md", "bench/README.md": "measurements.md"}
"""Pages that are not in docs/, and their names on the site."""

LIBRARY: Final = "spec/thence/spec/library/"
SOURCES: Final = "files"
"""Where files that a page links to, and that are no pages, lie on the site."""

_WIDE: Final = "---\nhide:\n  - toc\n---\n"

_LINK: Final = re.compile(r"(?<=\]\()(?P<target>[^)\s#]+)(?P<anchor>#[^)\s]*)?(?=\))")
_FENCE: Final = re.compile(r"^<!-- file: (?P<name>[^;>]+?)(?:; [^>]*)? -->\n```(?P<kind>[a-z]+)$", re.MULTILINE)
_DETAILS: Final = re.compile(r"^<details>\s*<summary>(?P<title>.*?)</summary>", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Staging:
    """The folder of the project, the folder of the staged pages, and the results that the pages are made of.

    `playground`: whether the site has one, to which the pages of the library lead.
    """

    root: Path
    pages: Path
    results: tuple[Found, ...]
    date: str
    playground: bool = False

    def stage(self) -> None:
        """Writes all pages, anew."""
        shutil.rmtree(self.pages, ignore_errors=True)
        shutil.copytree(self.root / "docs", self.pages, ignore=shutil.ignore_patterns("*.json"))
        for source, name in OUTSIDE.items():
            shutil.copyfile(self.root / source, self.pages / name)
        for page_ in sorted(self.pages.rglob("*.md")):
            self._adapt(page_, self._original(page_))
        shutil.copytree(Path(__file__).parent / "assets", self.pages / "assets", dirs_exist_ok=True)
        if self.playground:
            self._lead_to_playground()
        self._make_library()

    def _lead_to_playground(self) -> None:
        """The first page says where protocols can be tried without an installation."""
        first = self.pages / "index.md"
        text = first.read_text(encoding="utf-8")
        link = f'<a href="{PLAYGROUND}/index.html">Playground</a>'
        row = f"| try it in the browser, without installing anything | {link} |"
        head = "| you want to | read |\n|---|---|\n"
        assert head in text, "the table of the first page"
        first.write_text(text.replace(head, f"{head}{row}\n"), encoding="utf-8")

    def _original(self, page_: Path) -> Path:
        name = page_.relative_to(self.pages).as_posix()
        back = {new: self.root / old for old, new in OUTSIDE.items()}
        return back.get(name, self.root / "docs" / name)

    def _adapt(self, page_: Path, original: Path) -> None:
        """Links lead to pages of the site, examples have the names of their files, and details hold Markdown."""
        text = original.read_text(encoding="utf-8")
        parts = re.split(r"(^```.*?^```$|`[^`\n]+`)", text, flags=re.MULTILINE | re.DOTALL)
        parts[::2] = [
            _LINK.sub(lambda match: self._target(match, page_, original) + (match["anchor"] or ""), part)
            for part in parts[::2]
        ]
        text = "".join(parts)
        text = _FENCE.sub(r'```\g<kind> title="\g<name>"', text)
        text = _DETAILS.sub(r'<details markdown="1"><summary markdown="span">\g<title></summary>', text)
        page_.write_text(text, encoding="utf-8")

    def _target(self, match: re.Match[str], page_: Path, original: Path) -> str:
        target = match["target"]
        if "://" in target or target.startswith("mailto:"):
            return target
        meant = Path(os.path.normpath(original.parent / target))
        name = meant.relative_to(self.root).as_posix()
        if name in OUTSIDE:
            new = self.pages / OUTSIDE[name]
        elif name.startswith("docs/"):
            new = self.pages / name.removeprefix("docs/")
        elif name.startswith(LIBRARY):
            new = self.pages / "library" / f"{meant.stem}.md"
        elif meant.is_file():
            new = self.pages / SOURCES / name
            new.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(meant, new)
        else:
            raise FileNotFoundError(f"{original}: no file {target}")
        return os.path.relpath(new, page_.parent)

    def _make_library(self) -> None:
        folder = self.pages / "library"
        results, known = list(self.results), by_key(self.results)
        table = library_table.page(results).replace(f"../../{LIBRARY}", "").replace(".thence)", ".md)")
        (folder / library_table.PAGE).write_text(_WIDE + self._dated(table), encoding="utf-8")
        index = statement_index.page(library_specifications(), results)
        (folder / statement_index.PAGE).write_text(index, encoding="utf-8")
        for path in library():
            loaded = load(str(path))
            assert loaded.specification is not None, path
            file = LibraryFile(
                path.stem, path.read_text(encoding="utf-8"), loaded.specification, known, self.playground
            )
            (folder / f"{path.stem}.md").write_text(self._dated(page(file)), encoding="utf-8")
        figures.make(folder, ())
        comparison.make(folder, ())
        judged = self.root / "build" / "mutation"
        if judged.is_dir() and any(judged.iterdir()):
            mutation.make(folder, [judged])

    def _dated(self, text: str) -> str:
        return f"{text.rstrip()}\n\nThe verdicts are those of a run of {self.date}.\n"
