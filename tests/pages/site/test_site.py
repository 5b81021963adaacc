"""`make docs`: the site has every page once, every link leads somewhere, and no page asks another machine."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from thence.dsl.load import library
from thence.pages.results import read_results
from thence.pages.site.address import address
from thence.pages.site.links import faults, read

ROOT = Path(__file__).parents[3]
VERDICTS = ROOT / "docs" / "library" / "verdicts.json"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("build") / "site"
    command = [sys.executable, "-m", "thence.pages.site", str(folder), str(VERDICTS)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


pytestmark = pytest.mark.long


def test_every_link_leads_somewhere_and_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    assert [*faults(site)] == []


def test_every_page_is_there_once(site: Path) -> None:
    pages = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}
    pages |= {Path("library") / f"{path.stem}.html" for path in library()}
    pages |= {Path(f"library/{name}.html") for name in ("figures", "comparison")}
    built = {path.relative_to(site) for path in site.rglob("*.html")} - {Path("404.html")}
    assert pages <= built
    assert built - pages <= {Path("changes.html"), Path("measurements.html"), Path("library/mutation-library.html")}
    linked = [link for link in read(site / "index.html").links if "://" not in link]
    assert len(linked) >= 10


def test_every_statement_has_its_permanent_address(site: Path) -> None:
    anchors = {anchor for path in library() for anchor in read(site / "library" / f"{path.stem}.html").anchors}
    assert {address(result) for result in read_results([VERDICTS])} <= anchors


def test_the_search_knows_every_page_and_needs_no_server(site: Path) -> None:
    found = {entry["location"].partition("#")[0] for entry in json.loads((site / "search.json").read_text())["items"]}
    assert {"index.html", "library/cykas.html", "reference/language.html"} <= found
    assert (site / "search.js").is_file()
    page = (site / "index.html").read_text(encoding="utf-8")
    assert 'src="./assets/iframe-worker.js"' in page, "the search of a site in a folder needs it"


def test_light_and_dark(site: Path) -> None:
    page = (site / "index.html").read_text(encoding="utf-8")
    assert "(prefers-color-scheme: light)" in page and "(prefers-color-scheme: dark)" in page
