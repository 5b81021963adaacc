"""The table of the library in README.md, between the lines `<!-- library -->` and `<!-- end of library -->`.

`python -m thence.pages.readme FOLDER RESULTS.json...` writes the table into the README.md of the folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from thence.pages.folder import run_page
from thence.pages.library import table
from thence.pages.results import read_results

PAGE: Final = "README.md"
BEGIN: Final = "<!-- library -->"
END: Final = "<!-- end of library -->"


def into(page: str, text: str) -> str:
    """The page with `text` between its two marks. Raises: ValueError, unless there is exactly one pair of marks."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end or BEGIN in rest or END in after:
        raise ValueError(f"the page needs the lines {BEGIN} and {END}, once each")
    return f"{before}{BEGIN}\n{text}{END}{after}"


def make(folder: Path, sources: Sequence[Path]) -> int:
    """Writes the table into the page."""
    readme = folder / PAGE
    text = into(readme.read_text(encoding="utf-8"), table(read_results(sources)))
    readme.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    run_page(make, "readme", "RESULTS.json...")
