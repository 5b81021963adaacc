"""The command line that all pages have: `python -m thence.pages.figures FOLDER` writes figures.md into the folder."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn, TypeAlias

Make: TypeAlias = Callable[[Path, Sequence[Path]], int]
"""Writes a page into a folder, from its sources; the exit code."""

WRONG_USAGE = 2


def run_page(make: Make, page: str, sources: str = "") -> NoReturn:
    """Makes the page that the command line asks for, and exits.

    Args:
        make: writes the page.
        page: the name of its module.
        sources: the sources that it needs, as the usage names them; "" for none.
    """
    given = [Path(argument) for argument in sys.argv[1:]]
    if not given or bool(given[1:]) != bool(sources):
        print(f"usage: python -m thence.pages.{page} FOLDER {sources}".rstrip(), file=sys.stderr)
        sys.exit(WRONG_USAGE)
    folder, *rest = given
    folder.mkdir(parents=True, exist_ok=True)
    sys.exit(make(folder, rest))
