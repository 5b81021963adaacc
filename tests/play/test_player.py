"""The player in a real browser, as a reader uses it: with the mouse, with the keyboard only, in a narrow window."""

from __future__ import annotations

import base64
import json
import random
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.browser import Browser, started
from tests.play.playground_site import PACKAGE, site

from thence.dsl.load import load
from thence.play.backend.backend import Backend
from thence.play.playground import PYODIDE
from thence.play.server import Served, Server

WAIT_S = 60.0


class Reader:
    """Somebody who has the page open."""

    def __init__(self, browser: Browser, address: str) -> None:
        self.browser = browser
        self.address = address

    def open(self, fragment: str = "") -> None:
        """Opens the page, with a link's fragment."""
        self.browser.driver.get("about:blank")
        self.browser.driver.get(self.address + fragment)
        self.wait("document.documentElement.dataset.ready === 'true'")

    def wait(self, script: str) -> None:
        """Waits until a script is true."""
        end = time.monotonic() + WAIT_S
        while not self.browser.run(f"return Boolean({script})"):
            assert time.monotonic() < end, f"never true: {script}; {self.text('#message')}"
            time.sleep(0.03)

    def text(self, selector: str) -> str:
        """The text of an element; empty where there is none."""
        return str(self.browser.run("return document.querySelector(arguments[0])?.textContent ?? ''", selector))

    def texts(self, selector: str) -> list[str]:
        """The texts of elements."""
        found = self.browser.run(
            "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)", selector
        )
        return [str(each) for each in found]

    def click(self, selector: str) -> None:
        """Clicks an element."""
        self.browser.driver.find_element("css selector", selector).click()

    def press(self, *keys: str) -> None:
        """Presses keys, wherever the focus is."""
        from selenium.webdriver.common.action_chains import ActionChains

        for key in keys:
            ActionChains(self.browser.driver).send_keys(key).perform()

    def at(self, step: int, of: int) -> None:
        """Waits until the cursor stands there, and the steps that can be taken there are listed."""
        self.wait(f"document.getElementById('where').textContent === '{step} / {of}'")
        self.wait("!document.getElementById('next').textContent.includes('…')")


@pytest.fixture(name="served", scope="module")
def _served() -> Iterator[Callable[..., Server]]:
    servers: list[tuple[Server, threading.Thread]] = []

    def serve(name: str, start: dict[str, Any] | None = None, text: str | None = None) -> Server:
        given = load(name).source.text if text is None else text
        server = Server(Served({"name": name, "start": start or {}}, Backend(files={name: given})))
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        servers.append((server, thread))
        return server

    yield serve
    for server, thread in servers:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(name="chromium", scope="module")
def _chromium() -> Iterator[Browser]:
    with started() as browser:
        yield browser


@pytest.fixture(name="playground", scope="module")
def _playground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the playground, served as a site is."""
    if not (PACKAGE / PYODIDE[0]).is_file():
        pytest.skip("needs Pyodide: npm ci in editors/playground")
    with site(tmp_path_factory.mktemp("playground")) as address:
        yield address


def fragment_of(name: str, start: dict[str, Any], text: str | None) -> str:
    """A link to what the player of the command line would begin with."""
    value = {"name": name, "place": start, "at": 0, "text": load(name).source.text if text is None else text}
    packed = zlib.compress(json.dumps(value).encode(), wbits=-15)
    return f"#run={base64.urlsafe_b64encode(packed).decode().rstrip('=')}"


@pytest.fixture(name="reading", params=["server", pytest.param("browser", marks=pytest.mark.long)])
def _reading(request: pytest.FixtureRequest, chromium: Browser) -> Iterator[Callable[..., Reader]]:
    """Opens the player, over a server and over the interpreter in the browser.

    At the end of the test nothing may have been complained about, and nobody else asked.
    """
    addresses: list[str] = []

    def read(name: str, start: dict[str, Any] | None = None, text: str | None = None, fragment: str = "") -> Reader:
        if request.param == "server":
            address = request.getfixturevalue("served")(name, start, text).address
        else:
            address = request.getfixturevalue("playground")
            fragment = fragment or fragment_of(name, start or {}, text)
        addresses.append(address.rpartition("/")[0])
        reader = Reader(chromium, address)
        reader.open(fragment)
        return reader

    chromium.resize(1400, 900)
    chromium.complaints()
    yield read
    own = tuple(f"request: {address}" for address in addresses)
    assert [each for each in chromium.complaints() if not each.startswith(own)] == []


def test_a_step_is_taken_back_and_on_and_another_one_instead(reading: Callable[..., Reader]) -> None:
    reader = reading("rst", {"scope": "one"})
    assert reader.text("#title") == "rst in one"
    reader.at(0, 0)
    first = reader.texts(".choice span:nth-child(2)")
    assert first[0] == "p0: causal_send(m0.1) to p1"
    reader.click(".choice")
    reader.at(1, 1)
    assert "SENT: [] -> [p0: [p1: 1]]" in reader.text("#state")
    assert "MSG(m0.1, []) from p0 to p1" in reader.text("#state")
    assert "m0.1 is not delivered yet by p1" in reader.text("#state")
    ran = [
        int(line)
        for line in reader.browser.run("return [...document.querySelectorAll('.row.ran')].map((e) => e.dataset.line)")
    ]
    lines = load("rst").source.text.split("\n")
    assert any("on causal_send(m):" in lines[line - 1] for line in ran)
    reader.click("#back")
    reader.at(0, 1)
    assert "[p0: [p1: 1]]" not in reader.text(".states")
    assert reader.texts(".choice.taken span:nth-child(2)") == [first[0]]
    reader.click("#forth")
    reader.at(1, 1)
    reader.click("#first")
    reader.at(0, 1)
    reader.browser.run("document.querySelectorAll('.choice')[1].click()")
    reader.at(1, 1)
    assert reader.text(".panel .title") == first[1]


def test_the_keyboard_alone_suffices(reading: Callable[..., Reader]) -> None:
    from selenium.webdriver.common.keys import Keys

    reader = reading("rst", {"scope": "one"})
    reader.at(0, 0)
    reader.press("1")
    reader.at(1, 1)
    reader.press("2")
    reader.at(2, 2)
    reader.press(Keys.HOME)
    reader.at(0, 2)
    reader.press(Keys.ARROW_RIGHT)
    reader.at(1, 2)
    reader.press(Keys.END)
    reader.at(2, 2)
    reader.press(Keys.ARROW_LEFT)
    reader.at(1, 2)
    reader.press(Keys.HOME, Keys.SPACE)
    reader.at(2, 2)
    seen = set()
    for _ in range(40):
        reader.press(Keys.TAB)
        seen.add(reader.browser.run("return document.activeElement.id || document.activeElement.tagName"))
    assert {"file", "place", "link", "keep", "theme", "diagram", "play", "cursor", "tab-next"} <= seen
    names = reader.browser.run(
        "return [...document.querySelectorAll('button, input, select, textarea')].filter((e) => e.offsetParent &&"
        " !(e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.length)).map((e) => e.outerHTML)"
    )
    assert names == [], "every control has a name"
    reader.click("#tab-next")
    reader.press(Keys.ARROW_RIGHT)
    reader.wait("!document.getElementById('laws').hidden")
    reader.press(Keys.ARROW_RIGHT)
    reader.wait("!document.getElementById('asking').hidden")


def test_exploring_leads_to_the_counterexample_and_says_why(reading: Callable[..., Reader]) -> None:
    reader = reading("rst", {"mutant": "no_merge", "scope": "two"})
    reader.click("#tab-asking")
    reader.click("#explore")
    reader.wait("document.querySelector('.verdicts')")
    reader.wait("document.querySelectorAll('circle.wrong').length === 1")
    reader.at(5, 5)
    reader.wait("document.getElementById('message').textContent")
    assert "causal is refuted" in reader.text("#message")
    reader.click("#tab-laws")
    reader.wait("document.querySelector('.property.violated')")
    assert "before m0.1, which is in its causal past" in reader.text(".property.violated")
    reader.click("#back")
    reader.wait("!document.querySelector('.property.violated')")
    assert "4" in reader.text("#where")


ENDLESS = """scope endless of cykas:
  processes 6
  sends 3 per process
"""


def test_a_long_search_shows_how_far_it_is_and_can_be_stopped(served: Callable[..., Server], chromium: Browser) -> None:
    text = f"{load('cykas').source.text}\n{ENDLESS}"
    server = served("cykas", {"scope": "endless"}, text)
    reader = Reader(chromium, server.address)
    reader.open()
    reader.click("#tab-asking")
    reader.browser.run("document.getElementById('limit').value = '50000000'")
    reader.click("#explore")
    reader.wait("/[1-9][0-9,]* states, depth/.test(document.querySelector('.status').textContent)")
    reader.click("#stop")
    reader.wait("document.querySelector('.status').textContent === 'Stopped: nothing is known.'")
    assert reader.text(".verdicts") == ""
    deadline = time.monotonic() + 20
    while server.served.searches._value < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert server.served.searches._value == 2


def test_a_state_is_looked_for(reading: Callable[..., Reader]) -> None:
    reader = reading("rst", {"scope": "one"})
    reader.click("#tab-asking")

    def find(formula: str) -> None:
        field = reader.browser.driver.find_element("css selector", "#formula")
        field.clear()
        field.send_keys(formula)
        reader.click("#find")

    find("exists p: process. DELI@p[p] = 1")
    reader.wait("document.getElementById('formula-fault').textContent !== ''")
    assert reader.text("#formula-fault") == "column 20: there is no state variable `DELI` (E0207)"
    find("exists p, q: process. DELIV@p[q] = 1")
    reader.at(2, 2)
    find("exists p, q: process. DELIV@p[q] = 2")
    reader.wait("document.querySelector('.answer').textContent.startsWith('No run')")


def test_a_fault_appears_while_one_types_and_the_run_goes_on_when_it_is_mended(reading: Callable[..., Reader]) -> None:
    reader = reading("rst", {"scope": "one"})
    reader.at(0, 0)
    reader.click(".choice")
    reader.at(1, 1)
    reader.browser.run(
        "const area = document.getElementById('source-text'); area.value = area.value.replace('DELIV[j]', 'DELI[j]')"
        ".replace('send MSG(m, SENT)', 'send MSG(m, SEN)'); area.dispatchEvent(new Event('input'))"
    )
    reader.wait("document.querySelector('#faults .error')")
    assert "E0201" in reader.text("#faults") and "SEN" in reader.text("#faults")
    assert reader.browser.run("return document.querySelectorAll('.row.error').length") >= 1
    assert "the run shown is that of the text before" in reader.text("#message")
    reader.browser.run(
        "const area = document.getElementById('source-text'); area.value = area.value.replace('SEN)', 'SENT)')"
        ".replace('DELI[j]', 'DELIV[j]'); area.dispatchEvent(new Event('input'))"
    )
    reader.wait("document.getElementById('faults').childElementCount === 0")
    reader.at(1, 1)
    reader.browser.run(
        "const area = document.getElementById('source-text'); area.value = area.value.replace("
        "'send MSG(m, SENT) to m.dst', 'pass'); area.dispatchEvent(new Event('input'))"
    )
    reader.wait("!document.getElementById('state').textContent.includes('sends MSG')")


def test_what_was_found_of_a_text_does_not_stand_beside_another_one(reading: Callable[..., Reader]) -> None:
    """A verdict would be read as one about the text that is there; a counterexample would be said to refute it."""
    reader = reading("rst", {"mutant": "no_merge", "scope": "two"})
    reader.click("#tab-asking")
    reader.click("#explore")
    reader.wait("document.querySelector('.verdicts .refuted')")
    reader.at(5, 5)
    assert "a verdict speaks of rst/no_merge in two only" in reader.text(".answer")
    reader.browser.run(
        "const area = document.getElementById('source-text');"
        "area.value = area.value.replace('mutant no_merge of rst:', 'mutant no_merge of rst:\\n  # mended');"
        "area.dispatchEvent(new Event('input'))"
    )
    reader.wait("!document.querySelector('.verdicts')")
    assert reader.text(".status") == "The text was changed: ask again."
    reader.at(5, 5)
    assert "refuted" not in reader.text("#message")
    reader.click("#explore")
    reader.wait("document.querySelector('.verdicts .refuted')")


def test_a_link_leads_to_the_same_run_in_another_window(reading: Callable[..., Reader]) -> None:
    reader = reading("rst", {"scope": "two"})
    reader.click("#tab-asking")
    reader.click("#random")
    reader.wait("Number(document.getElementById('cursor').max) > 5")
    steps = int(reader.browser.run("return document.getElementById('cursor').max"))
    reader.at(steps, steps)
    reader.click("#back")
    reader.at(steps - 1, steps)
    state, title = reader.text(".states"), reader.text(".panel .title")
    reader.click("#link")
    reader.wait("location.hash.startsWith('#run=')")
    fragment = reader.browser.run("return location.hash")
    reader.open(fragment)
    reader.at(steps - 1, steps)
    assert (reader.text(".states"), reader.text(".panel .title")) == (state, title)
    reader.open(fragment[:-5])
    assert "damaged" in reader.text("#message") or reader.text("#title") != ""
    reader.open("#file=mf&scenario=mf_figure_2")
    reader.wait("document.getElementById('title').textContent === 'mf_figure_2'")
    assert "P1 receives ACK() from P2" in reader.text(".panel .title")
    assert "not waiting@P1: true" in reader.text("#state")


def test_a_mutant_stands_beside_the_original(reading: Callable[..., Reader]) -> None:
    reader = reading("rst")
    reader.click("#tab-asking")
    reader.click("[data-key=mutant-no_merge]")
    reader.wait("!document.querySelector('.beside').hidden")
    assert reader.text("#title") == "rst/no_merge in two"
    assert reader.text("#title-beside") == "rst, the same steps"
    assert reader.browser.run("return document.querySelectorAll('#diagram circle.wrong').length") == 1
    assert reader.browser.run("return document.querySelectorAll('#diagram-beside circle.wrong').length") == 0


def test_the_past_of_a_message_and_the_chain_between_two_are_brought_out(reading: Callable[..., Reader]) -> None:
    reader = reading("rst", {"mutant": "no_merge", "scope": "two"})
    reader.click("#tab-asking")
    reader.click("#explore")
    reader.wait("document.querySelectorAll('circle.wrong').length === 1")
    last = "#diagram .send[data-message='m1.1']"
    move = "document.querySelector(arguments[0]).dispatchEvent(new PointerEvent('pointermove', {bubbles: true}))"
    reader.browser.run(move, last)
    reader.wait("document.getElementById('said').textContent === 'm1.1: in its causal past: m0.1, m0.2'")
    reader.browser.run(
        "document.querySelector(arguments[0]).dispatchEvent(new MouseEvent('click', {bubbles: true}))",
        "#diagram .send[data-message='m0.1']",
    )
    reader.browser.run(move, last)
    reader.wait("document.getElementById('said').textContent.startsWith('happens before')")
    assert reader.text("#said") == "happens before: m0.1 → m0.2 → m1.1"


def test_texts_of_a_specification_are_texts_in_the_page(reading: Callable[..., Reader]) -> None:
    text = load("rst").source.text.replace(
        "Every message carries", "<img src=x onerror=window.hit=1><script>window.hit=2</script> Every message carries"
    )
    name = "</script><script>window.hit=3</script><img src=x onerror=window.hit=4>"
    reader = reading(name, {"scope": "one"}, text)
    reader.click(".choice")
    reader.at(1, 1)
    reader.click("#tab-asking")
    assert "<img src=x" in reader.text(".lines")
    assert reader.browser.run("return window.hit ?? null") is None
    assert reader.browser.run("return document.querySelectorAll('img').length") == 0


def test_a_kept_file_opens_from_the_disk_without_anybody_else(
    reading: Callable[..., Reader], chromium: Browser, tmp_path: Path
) -> None:
    reader = reading("rst", {"mutant": "no_merge", "scope": "two"})
    reader.click("#tab-asking")
    reader.click("#explore")
    reader.wait("document.querySelectorAll('circle.wrong').length === 1")
    chromium.run(
        "window.kept = null; URL.createObjectURL = (blob) => { blob.text().then((text) => { window.kept = text; });"
        " return '#'; };"
    )
    reader.click("#keep")
    reader.wait("window.kept")
    file = tmp_path / "kept.html"
    file.write_text(chromium.run("return window.kept"), encoding="utf-8")
    assert file.stat().st_size < 500_000
    chromium.open(file)
    reader.wait("document.documentElement.dataset.ready === 'true'")
    assert reader.text("#where") == "5 / 5"
    assert reader.text("#message").startswith("causal is refuted: p2 delivers ")
    assert chromium.run("return document.querySelector('#message').classList.contains('wrong')")
    marks = "return [...document.querySelectorAll('.mark')].map((mark) => mark.innerText)"
    assert chromium.run(marks) == ["causal send", "delivery", "violation"], "what the picture has, and nothing else"
    assert chromium.run("return document.querySelectorAll('circle.wrong').length") == 1
    reader.click("#back")
    reader.wait("document.getElementById('where').textContent === '4 / 5'")
    reader.click("#tab-laws")
    reader.wait("document.querySelector('.property')")
    reader.click("#last")
    reader.wait("document.querySelector('.property.violated')")
    reader.click("#tab-next")
    assert "thence play rst --mutant no_merge --scope two" in reader.text("#next")


def test_a_narrow_window_has_everything_and_does_not_scroll_sideways(
    reading: Callable[..., Reader], chromium: Browser
) -> None:
    chromium.resize(390, 844)
    reader = reading("cykas", {"scope": "two"})
    reader.click(".choice")
    reader.at(1, 1)
    assert chromium.run("return document.documentElement.scrollWidth") <= 390
    for selector in ("#diagram", "#source", "#state", "#next"):
        assert chromium.run("return document.querySelector(arguments[0]).getBoundingClientRect().height", selector) > 40


def test_a_machine_is_proved_and_its_countermodel_is_shown(served: Callable[..., Server], chromium: Browser) -> None:
    server = served("fifo")
    reader = Reader(chromium, server.address)
    reader.open()
    reader.click("#tab-asking")
    reader.click("[data-key=prove-any_larger_number]")
    reader.wait("document.querySelector('.verdicts')")
    reader.wait("document.getElementById('title').textContent.startsWith('any_larger_number')")
    assert {text.split()[0] for text in reader.texts(".verdict")} == {"refuted"}
    assert reader.browser.run("return document.querySelectorAll('#diagram circle.wrong').length") == 1
    assert "3 processes" in reader.text("#asking"), "the questions stay those of the protocol"
    reader.click("#link")
    reader.wait("document.getElementById('message').textContent.includes('it has no link')")
    reader.browser.run("document.getElementById('place').dispatchEvent(new Event('change'))")
    reader.wait("document.getElementById('title').textContent.startsWith('fifo in')")


def test_a_file_without_a_protocol_has_its_proofs(served: Callable[..., Server], chromium: Browser) -> None:
    reader = Reader(chromium, served("happens_before").address)
    reader.open()
    assert "has no protocol" in reader.text("#message")
    declared = load("happens_before").specification
    assert declared is not None
    assert len(reader.texts("[data-key^=prove]")) == len(declared.theorems) + len(declared.machines)
    assert chromium.run("return document.querySelectorAll('#diagram svg *').length") == 0


def test_ten_thousand_steps_are_scrubbed_without_stutter(reading: Callable[..., Reader], chromium: Browser) -> None:
    """Whatever step is shown, few elements are drawn: what a draw costs does not grow with the run."""
    reader = reading("cykas", {"scope": "starvation"})
    reader.click("#tab-asking")
    chromium.run("document.getElementById('count').value = '10000'")
    reader.click("#random")
    reader.wait("Number(document.getElementById('cursor').max) === 10000")
    script = """
    const slider = document.getElementById('cursor'), drawn = [];
    for (const step of arguments[0]) {
      slider.value = String(step);
      slider.dispatchEvent(new Event('input'));
      drawn.push(document.querySelectorAll('#diagram svg *').length);
    }
    return drawn;
    """
    drawn = chromium.run(script, random.Random(1).sample(range(10_000), 40))
    assert min(drawn) > 0 and max(drawn) < 1_500
    reader.at(json.loads(json.dumps(chromium.run("return Number(document.getElementById('cursor').value)"))), 10_000)
