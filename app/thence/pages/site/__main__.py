"""`python -m thence.pages.site FOLDER RESULTS.json [PLAYGROUND]` builds the site in the folder.

The pages lie beside it. To be run from the top folder of the project. It needs Zensical, which `make setup` installs.
PLAYGROUND is the folder that `python -m thence.play.playground` wrote: with it, the pages of the library lead to it.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from thence.dsl.load import library
from thence.pages.folder import run_page
from thence.pages.results import read_results
from thence.pages.site.configuration import configuration
from thence.pages.site.library_file import PLAYGROUND
from thence.pages.site.links import faults
from thence.pages.site.staging import Staging
from thence.pages.verdicts import date_of


def make(folder: Path, sources: Sequence[Path]) -> int:
    """Builds the site. Exit code 1 if a link leads nowhere, or a page would ask another machine."""
    site = folder.resolve()
    pages = site.with_name(f"{site.name}-pages")
    source, *playgrounds = sources
    date = json.loads(source.read_text(encoding="utf-8")).get("date") or date_of([source])
    Staging(Path.cwd().resolve(), pages, tuple(read_results([source])), date, playground=bool(playgrounds)).stage()
    settings = site.with_name(f"{site.name}.toml")
    settings.write_text(configuration(pages, site, [path.stem for path in library()]), encoding="utf-8")
    built = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--clean", "--config-file", str(settings)], cwd=site.parent
    )
    if built.returncode:
        return 1
    for playground in playgrounds:
        shutil.copytree(playground, site / PLAYGROUND)
    wrong = [*faults(site)]
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    run_page(make, "site", "RESULTS.json [PLAYGROUND]")
