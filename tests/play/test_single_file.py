"""The run in one file: what it holds, how large it is, and that it opens without anybody else."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.browser import started

from thence.api.exploring import explore
from thence.dsl.load import library, load
from thence.play.single_file import MOST_JUDGED, NotKept, cycle_of, single_file, start_of

MOST_BYTES = 500_000


def kept(text: str) -> dict[str, Any]:
    """The values of the page."""
    found = re.search(r'<script type="application/json" id="config">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    config: dict[str, Any] = json.loads(found[1])
    return config


def test_a_counterexample_is_kept_with_its_states_and_what_properties_say() -> None:
    found = explore("rst", mutant="no_merge", scope="two")
    shown = next(each for each in found if each.counterexample)
    text = single_file(load("rst"), start_of(found.targets[0]), shown.steps)
    config = kept(text)
    assert config["kept"]["command"] == "thence play rst --mutant no_merge --scope two"
    assert len(config["kept"]["run"]["steps"]) == len(shown.steps)
    last = {each["property"]: each for each in config["kept"]["judged"][-1]["answers"]}
    before = {each["property"]: each for each in config["kept"]["judged"][-2]["answers"]}
    assert (last["causal"]["standing"], before["causal"]["standing"]) == ("violated", "not violated")
    assert all(step["trail"]["lines"] for step in config["kept"]["run"]["steps"])
    assert len(text.encode()) < MOST_BYTES


STUCK = """protocol stuck:
  network reliable, reordering
  message MSG(m: message) carries m
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j: pass
  property causal
  eventually delivered
"""


def test_a_counterexample_says_what_it_refutes(tmp_path: Path) -> None:
    own = tmp_path / "stuck.thence"
    own.write_text(STUCK)
    said = {}
    for name, options in {
        "rst": {"mutant": "no_merge", "scope": "two"},
        str(own): {},
        "cykas": {"scope": "starvation"},
    }.items():
        found = explore(name, **options)
        for result in found:
            if result.counterexample:
                page = single_file(
                    load(name), start_of(found.targets[0]), result.steps, cycle_of(result), result.facts["property"]
                )
                assert kept(page)["refuted"] is True
                said[result.facts["property"], Path(name).stem] = kept(page)["kept"]["said"]
    assert said["causal", "rst"] == "causal is refuted: p2 delivers m1.1 before m0.1, which is in its causal past"
    assert said["delivered", "stuck"].startswith("delivered is refuted: nothing is in flight, and p")
    assert said["delivered", "cykas"] == "delivered is refuted: the steps in the frame are repeated for ever"
    other = kept(single_file(load("mf"), {"scenario": "mf_figure_2"}))
    assert (other["refuted"], other["kept"]["said"]) == (False, "")


def test_a_lasso_keeps_its_turn() -> None:
    found = explore("cykas", scope="starvation")
    shown = next(each for each in found if each.counterexample)
    turn = cycle_of(shown)
    assert turn > 0
    config = kept(single_file(load("cykas"), start_of(found.targets[0]), shown.steps, turn))
    assert config["kept"]["run"]["cycle"] == turn


def test_the_command_names_the_file_as_it_is_found(tmp_path: Path) -> None:
    own = tmp_path / "own.thence"
    own.write_text(
        next(path for path in library() if path.stem == "fifo").read_text(encoding="utf-8"), encoding="utf-8"
    )
    loaded = load(str(own))
    assert loaded.specification is not None
    (scope, *_) = loaded.specification.scopes
    config = kept(single_file(loaded, {"scope": scope.name}))
    assert config["kept"]["command"].startswith("thence play own.thence --")


@pytest.mark.long(but=("mf", "cykas"))
@pytest.mark.parametrize("name", [path.stem for path in library() if load(path.stem).specification.scenarios])
def test_every_scenario_of_the_library_is_kept_in_a_small_file(name: str) -> None:
    loaded = load(name)
    assert loaded.specification is not None
    for scenario in loaded.specification.scenarios:
        text = single_file(loaded, {"scenario": scenario.name})
        assert len(text.encode()) < MOST_BYTES
        assert kept(text)["kept"]["run"]["scenario"] == scenario.name


def test_of_a_long_run_the_last_state_is_judged() -> None:
    from thence.play.backend.backend import Backend

    backend = Backend()
    spec = backend.call("load", backend.call("open", {"name": "cykas"}))["spec"]
    run = backend.call("start", {"spec": spec, "scope": "starvation"})
    more = backend.call("random", {"session": run["session"], "count": MOST_JUDGED + 20, "seed": 1})
    steps = [step["recorded"] for step in more["steps"]]
    config = kept(single_file(load("cykas"), {"scope": "starvation"}, steps))
    judged = config["kept"]["judged"]
    assert judged[0] is None and judged[-1]["at"] == len(steps) == MOST_JUDGED + 20


def test_what_cannot_be_kept_is_an_error_of_the_user(tmp_path: Path) -> None:
    with pytest.raises(NotKept, match="there is no scope nowhere"):
        single_file(load("rst"), {"scope": "nowhere"})
    with pytest.raises(NotKept, match="step 1 is not possible"):
        single_file(load("rst"), {"scope": "two"}, [{"action": "tick", "process": 0}])
    wrong = tmp_path / "wrong.thence"
    wrong.write_text("protocol x:\n  nothing\n", encoding="utf-8")
    with pytest.raises(NotKept, match="the text has errors"):
        single_file(load(str(wrong)), {})


def test_the_file_opens_from_the_disk_in_light_and_dark(tmp_path: Path) -> None:
    found = explore("cykas", scope="starvation")
    shown = next(each for each in found if each.counterexample)
    file = tmp_path / "run.html"
    file.write_text(single_file(load("cykas"), start_of(found.targets[0]), shown.steps, cycle_of(shown)), "utf-8")
    with started() as browser:
        for dark in (False, True):
            browser.open(file, dark=dark)
            assert browser.run("return document.getElementById('where').textContent") == "12 / 12"
            assert "again and again" in browser.run("return document.getElementById('diagram').textContent")
            browser.driver.find_element("css selector", "#tab-laws").click()
            laws = "return document.getElementById('laws').textContent"
            assert "the framed steps are repeated for ever" in browser.run(laws)
            ground = browser.run("return getComputedStyle(document.body).backgroundColor")
            assert (ground == "rgb(255, 255, 255)") is not dark
        assert browser.complaints() == []
