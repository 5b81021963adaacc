"""The table of README.md: what the library's protocols have, among any number of processes, by links that are proved.

`python -m thence.pages.proved_links FOLDER RESULTS.json...` writes it into the README.md of the folder.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from thence.dsl import ir
from thence.dsl.ir.properties import DELIVERED
from thence.pages.folder import run_page
from thence.pages.results import library_specifications, read_results
from thence.proofs.prove import is_claimed
from thence.proofs.refinement.carrying.progress import conditions
from thence.proofs.refinement.carrying.properties import carrying, link_statement, named_by, rests_on
from thence.proofs.refinement.premises import premises
from thence.spec.verdict import Level

BEGIN: Final = "<!-- the links that are proved: made by make statements -->\n"
END: Final = "<!-- end of the links -->\n"

STEPS: Final = "each step is one of the machine"
"""What is said of a protocol that has no property by its machine."""


def table(specifications: Iterable[ir.Specification], results: Iterable[Mapping[str, Any]]) -> str:
    """The table, in Markdown: a row for each link whose proof a file claims and the results have, and each level."""
    found = {(each["kind"], each["subject"], each["name"]): each for each in results}
    rows = [row for specification in specifications for row in _rows(specification, found)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (_HEADING, ("---",) * len(_HEADING), *rows))


_HEADING = ("protocol", "its machine", "what the protocol has", "level", "only where")


def _rows(
    specification: ir.Specification, found: Mapping[tuple[str, str, str], Mapping[str, Any]]
) -> Iterator[tuple[str, ...]]:
    for link in specification.links:
        shown = found.get(("link", link.name, link_statement(link)))
        if not is_claimed(link) or shown is None or shown["verdict"] != "proved":
            continue
        rows: dict[tuple[Level, str], list[str]] = {}
        for name in named_by(link):
            if carrying(specification.links, link.protocol.name, name) is not link:
                continue
            parts = [found.get(key) for key in rests_on(link, name)]
            if all(part is not None and part["verdict"] == "proved" for part in parts):
                level = min(Level[part["level"]] for part in parts if part is not None)
                rows.setdefault((level, _where(link, name)), []).append(name)
        for (level, where), names in (rows or {(Level[shown["level"]], _where(link, STEPS)): []}).items():
            said = ", ".join(f"`{name}`" for name in names) or STEPS
            yield f"`{link.protocol.name}`", f"`{link.machine.name}`", said, level.name, where


def _where(link: ir.Link, name: str) -> str:
    limits = premises(link)
    words = conditions(link) if name == DELIVERED else limits.words()
    return "; ".join((*words, *(f"assumes `{each.name}`" for each in limits.assumed)))


def placed(text: str, made: str) -> str:
    """The text with the table in its place. Raises: ValueError where the text has no place for it."""
    before, mark, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not mark or not end:
        raise ValueError("there is no place for the table of links")
    return f"{before}{BEGIN}{made}{END}{after}"


def make(folder: Path, sources: Sequence[Path]) -> int:
    """Writes the table into README.md of the folder."""
    file = folder / "README.md"
    made = table(library_specifications().values(), read_results(sources))
    file.write_text(placed(file.read_text(encoding="utf-8"), made), encoding="utf-8")
    return 0


if __name__ == "__main__":
    run_page(make, "proved_links", "RESULTS.json...")
