"""`make docs`: the site has every page once, every link leads somewhere, and no page asks another machine."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from browser import Browser

from thence.dsl import ir
from thence.dsl.load import library, load
from thence.pages.results import read_results
from thence.pages.site.address import address
from thence.pages.site.links import faults, read

ROOT = Path(__file__).parents[3]
VERDICTS = ROOT / "docs" / "library" / "verdicts.json"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("build") / "site"
    playground = folder.with_name("playground")
    playground.mkdir()
    (playground / "index.html").write_text("<!doctype html><title>Playground</title>", encoding="utf-8")
    command = [sys.executable, "-m", "thence.pages.site", str(folder), str(VERDICTS), str(playground)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


pytestmark = [pytest.mark.long, pytest.mark.xdist_group("site")]


def test_every_link_leads_somewhere_and_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    assert [*faults(site)] == []


def test_every_page_is_there_once(site: Path) -> None:
    pages = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}
    pages |= {Path("library") / f"{path.stem}.html" for path in library()}
    pages |= {Path(f"library/{name}.html") for name in ("figures", "comparison")}
    built = {path.relative_to(site) for path in site.rglob("*.html")} - {Path("404.html")}
    assert pages <= built
    assert built - pages <= {
        Path("changes.html"), Path("measurements.html"), Path("library/mutation-library.html"),
        Path("playground/index.html"), Path("files/bench/JOURNAL.html"),
    }  # fmt: skip
    linked = [link for link in read(site / "index.html").links if "://" not in link]
    assert len(linked) >= 10


def test_every_statement_has_its_permanent_address(site: Path) -> None:
    anchors = {anchor for path in library() for anchor in read(site / "library" / f"{path.stem}.html").anchors}
    assert {address(result) for result in read_results([VERDICTS])} <= anchors


def test_every_protocol_and_scenario_of_the_library_leads_to_the_player(site: Path) -> None:
    assert "playground/index.html" in read(site / "index.html").links
    for path in library():
        specification = load(str(path)).specification
        assert specification is not None
        links = set(read(site / "library" / f"{path.stem}.html").links)
        mutants = [one for one in specification.mutants if isinstance(one.mutated, ir.Protocol)]
        for kind, there in (
            ("protocol", specification.protocols), ("scenario", specification.scenarios), ("mutant", mutants),
        ):  # fmt: skip
            for one in there:
                assert f"../playground/index.html#file={path.stem}&{kind}={one.name}" in links
        played = {link for link in links if "&mutant=" in link}
        assert len(played) == len({one.name for one in mutants})


def test_the_search_knows_every_page_and_needs_no_server(site: Path) -> None:
    found = {entry["location"].partition("#")[0] for entry in json.loads((site / "search.json").read_text())["items"]}
    assert {"index.html", "library/cykas.html", "reference/language.html"} <= found
    assert (site / "search.js").is_file()
    page = (site / "index.html").read_text(encoding="utf-8")
    assert 'src="./assets/iframe-worker.js"' in page, "the search of a site in a folder needs it"


def test_light_and_dark(site: Path) -> None:
    page = (site / "index.html").read_text(encoding="utf-8")
    assert "(prefers-color-scheme: light)" in page and "(prefers-color-scheme: dark)" in page


READ = ("index.html", "reference/language.html", "library/index.html", "library/cykas.html", "library/errata.html")


@pytest.mark.parametrize("page", READ)
def test_a_browser_shows_it_without_complaint(site: Path, browser: Browser, page: str, tmp_path: Path) -> None:
    """Light, dark and narrow; on a narrow screen, wide tables scroll by themselves and the page does not."""
    for dark, width in ((False, 1400), (True, 1400), (False, 420)):
        browser.resize(width)
        browser.open(site / page, dark=dark)
        colour = browser.run("return getComputedStyle(document.body).backgroundColor")
        assert (sum(int(part) for part in re.findall(r"\d+", colour)[:3]) < 382) == dark, colour
        assert browser.run("return document.documentElement.scrollWidth") <= width
        assert browser.picture(tmp_path / "page.png", whole=False).stat().st_size > 10_000


def test_the_columns_of_the_library_can_be_read(site: Path, browser: Browser) -> None:
    browser.resize(1400)
    browser.open(site / "library" / "index.html")
    widths = "return [...document.querySelectorAll('table th')].map(head => head.getBoundingClientRect().width)"
    found = browser.run(widths)
    assert len(found) >= 8 and min(found) >= 120


SEARCH = """
const dialog = [...document.querySelectorAll('*')].map(each => each.shadowRoot).find(each => each);
const input = dialog?.querySelector('input');
if (input && !input.value) {
  input.value = 'starvation';
  input.dispatchEvent(new Event('input', {bubbles: true}));
}
return dialog?.textContent.match(/[0-9]+ results?/)?.[0] ?? '';
"""


def test_the_search_works_from_a_folder(site: Path, browser: Browser) -> None:
    browser.resize(1400)
    browser.open(site / "reference" / "language.html")
    browser.run("document.querySelector('.md-search__button').click()")
    deadline = time.monotonic() + 30
    found = ""
    while not found and time.monotonic() < deadline:
        time.sleep(0.5)
        found = browser.run(SEARCH)
    assert re.match(r"[1-9]\d* results?", found), found[:200]
