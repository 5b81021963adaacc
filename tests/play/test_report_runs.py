"""The refuted statements of a report: each leads to the player with its run, without anything else at hand."""

from __future__ import annotations

import base64
import gzip
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.at_once import EAGER
from tests.browser import started

from thence.dsl import ir
from thence.dsl.load import load
from thence.pages.html_report import Verified, render
from thence.pages.result_lines import lines
from thence.play.report_runs import packed, runs_of, start_of_result
from thence.proofs.prove import prove_specification
from thence.proofs.scopes.scenarios import play_scenario
from thence.proofs.scopes.scopes import check_links, check_mutant, explore_scope
from thence.spec.verdict import Level, Result, Verdict


def results(name: str, mutants: tuple[str, ...] = ()) -> list[Result]:
    """Results on mutants, scenarios and the first scope of a file."""
    content = load(name).specification
    assert content is not None
    found: list[Result] = []
    for mutant in content.mutants:
        if mutant.name in mutants and isinstance(mutant.mutated, ir.Protocol):
            found += check_mutant(content, mutant)
    for scenario in content.scenarios[:3]:
        found += play_scenario(scenario)
    scope = content.scopes[0]
    protocol = next(one for one in content.protocols if one.name == scope.protocol)
    found += explore_scope(protocol, scope.name, scope.workload, scope.expects)
    return found


def of_those(found: Sequence[Result], numbers: Sequence[int | None]) -> dict[int, int]:
    """The numbers of the runs that results show, by the `id` of the result."""
    return {id(result): number for result, number in zip(found, numbers, strict=True) if number is not None}


def unpacked(packed: str) -> Any:
    return json.loads(gzip.decompress(base64.b64decode(packed)))


def test_every_refuted_result_with_a_run_has_it_and_no_other_result() -> None:
    found = results("rst", ("no_merge", "no_condition", "self_addressed"))
    there = runs_of(load("rst"), found)
    numbers = of_those(found, there.numbers)
    runs = there.runs
    for result in found:
        has_run = result.verdict is Verdict.REFUTED and "counterexample" in result.facts
        assert (id(result) in numbers) is has_run, result.name
    for result in found:
        if id(result) in numbers and result.kind == "mutant":
            config = runs[numbers[id(result)]]
            assert len(config["kept"]["run"]["steps"]) == len(result.facts["counterexample"])
            last = {each["property"]: each["standing"] for each in config["kept"]["judged"][-1]["answers"]}
            name = str(result.facts["property"])
            assert last.get(name, "violated") == "violated"
    assert list(there.shared) == ["rst"]


WITH_A_MACHINE = f"""{EAGER}
machine in_order:
  transition causal_send(m): pass
  transition deliver(m):
    require sent(m) and not delivered(m)
    require forall a. before(a, m) and dst(a) = dst(m) implies delivered(a)
  prove fifo

conforms eager to in_order in pair:
  causal_send(m) is causal_send(m)
  deliver m      is deliver(m)

scope pair of eager:
  processes 2
  sends 2, 0
"""


def test_a_link_that_does_not_hold_has_the_run_of_the_protocol(tmp_path: Path) -> None:
    (tmp_path / "eager.thence").write_text(WITH_A_MACHINE, encoding="utf-8")
    loaded = load(str(tmp_path / "eager.thence"))
    assert loaded.specification is not None
    (result,) = check_links(loaded.specification.links[0])
    assert result.verdict is Verdict.REFUTED
    there = runs_of(loaded, [result])
    [run] = there.runs
    assert there.numbers == [0]
    assert len(run["kept"]["run"]["steps"]) == len(result.facts["counterexample"]) == 3


def test_countermodels_of_theorems_and_machines_are_played(tmp_path: Path) -> None:
    for name, wanted in [("execution", ("sps_alone", "fifo_sps_causal")), ("mf", ("does_not_wait", "buffers"))]:
        content = load(name).specification
        assert content is not None
        found = prove_specification(content, wanted)
        there = runs_of(load(name), found)
        numbers = of_those(found, there.numbers)
        refuted = [result for result in found if result.verdict is Verdict.REFUTED]
        assert refuted and len(refuted) < len(found)
        assert {id(result) for result in refuted} == set(numbers)
        for result in refuted:
            run = there.runs[numbers[id(result)]]["kept"]
            assert run["command"].startswith(f"thence prove {name} {wanted[0]}")
            shown = {each["property"] for step in run["run"]["steps"] for each in step.get("violations", ())}
            assert shown == {str(next(iter(result.facts["counterexample"]["violated"])))}


def test_of_results_without_runs_there_is_nothing() -> None:
    other = Result("x", "theorem", "fifo", Verdict.REFUTED, Level.L3, True)
    assert start_of_result(other) is None
    there = runs_of(load("rst"), [other])
    assert (there.runs, there.numbers) == ([], [None])
    assert packed([there]) == ("", [[None]])


def test_a_reader_of_the_report_plays_a_refuted_statement(tmp_path: Path) -> None:
    found = results("rst", ("no_merge",))
    shown = [line.first for line in lines(found, explained=True)]
    player, [own] = packed([runs_of(load("rst"), shown)])
    numbers = of_those(shown, own)
    file = tmp_path / "report.html"
    file.write_text(render(Verified({"rst": found}, 1.0, player=player, runs=numbers)), encoding="utf-8")
    with started() as browser:
        browser.open(file)
        assert browser.run("return document.querySelectorAll('button.play').length") >= 1
        browser.run("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        browser.driver.find_element("css selector", "button.play").click()
        end = time.monotonic() + 30
        while len(browser.driver.window_handles) < 2:
            assert time.monotonic() < end
            time.sleep(0.05)
        browser.driver.switch_to.window(browser.driver.window_handles[1])
        while browser.run("return document.documentElement.dataset.ready ?? ''") != "true":
            assert time.monotonic() < end
            time.sleep(0.05)
        assert browser.run("return document.getElementById('title').textContent") == "rst/no_merge in two"
        assert browser.run("return document.querySelectorAll('circle.wrong').length") == 1
        assert browser.complaints() == []


def test_the_runs_of_several_files_are_numbered_one_after_the_other() -> None:
    found = {"rst": results("rst", ("no_merge",)), "fifo": results("fifo", ("nothing_delayed", "never_again"))}
    files = [runs_of(load(name), those) for name, those in found.items()]
    player, numbers = packed(files)
    data = unpacked(player)
    assert list(data["shared"]) == ["rst", "fifo"]
    assert len(data["runs"]) == sum(len(each.runs) for each in files)
    for each, own in zip(files, numbers, strict=True):
        assert any(number is not None for number in own)
        for mine, there in zip(each.numbers, own, strict=True):
            assert (mine is None) is (there is None)
            assert mine is None or there is None or data["runs"][there] == each.runs[mine]
