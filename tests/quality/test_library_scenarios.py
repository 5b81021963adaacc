"""The papers' figures: each is a scenario of the library, is played to its end, and is as its text says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from thence.dsl import ir
from thence.dsl.ir.types import BOOL
from thence.dsl.load import library, load
from thence.dsl.run.scenario import play
from thence.proofs.scopes.scenarios import play_scenario

FIGURES = {
    "cykas": {"cykas_figure_2", "cykas_figure_2_center", "cykas_figure_3", "almeida_figure_2"},
    "fifo": {"mf_figure_4"},
    "hybrid_basic": {"almeida_figure_1", "almeida_figure_2"},
    "hybrid_optimal": {"almeida_figure_2", "almeida_figure_2_answer"},
    "mf": {"mf_figure_2", "mf_figure_3", "mf_figure_6", "mf_figure_7", "mf_figure_8"},
    "rst": {"blog_run", "mf_figure_8"},
    "synchronous": {"mf_figure_1"},
    "tree": {"tree_figure_1", "tree_figure_2_left", "tree_figure_2_right"},
}
LIBRARY = {path.stem: path for path in library()}


def scenarios(path: Path) -> dict[str, ir.Scenario]:
    specification = load(str(path)).specification
    assert specification is not None
    return {scenario.name: scenario for scenario in specification.scenarios}


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_has_its_scenario(name: str) -> None:
    assert FIGURES[name] <= {*scenarios(LIBRARY[name])}


@pytest.mark.long(but=("cykas_printed", "hybrid_multicast_printed", "happens_before", "hybrid_basic_printed"))
@pytest.mark.parametrize("name", LIBRARY)
def test_every_scenario_is_as_its_text_says(name: str) -> None:
    for scenario in scenarios(LIBRARY[name]).values():
        results = play_scenario(scenario)
        assert [result.name for result in results if not result.expected] == []
        assert scenario.doc, f"{scenario.name} says what it shows"
        asserted = any(isinstance(step, ir.NamedFormula) or step.event == "cannot" for step in scenario.steps)
        assert asserted or scenario.expects, f"{scenario.name} states something"


def test_how_long_figure_2_of_almeida_keeps_its_message() -> None:
    """The green and the red interval: until the permit of a, and until the YCT of c, which is no business of m."""
    runs = {
        name: play(scenarios(LIBRARY[name])["almeida_figure_2"]) for name in ("cykas", "hybrid_basic", "hybrid_optimal")
    }
    sent = {name: run.buffered["m"][0] for name, run in runs.items()}
    assert {*sent.values()} == {7}
    left = {name: run.steps[(run.buffered["m"][1] or 0) - 1].title for name, run in runs.items()}
    assert left == {
        "cykas": "i receives YCT() from k",
        "hybrid_basic": "i receives PERMIT(2) from j",
        "hybrid_optimal": "i receives PERMIT(2) from j",
    }
    to_j = play(scenarios(LIBRARY["hybrid_optimal"])["almeida_figure_2_answer"])
    assert to_j.steps[(to_j.buffered["m"][1] or 0) - 1].title == "i receives PERMIT(2) from k"


@pytest.mark.parametrize("name", FIGURES)
def test_the_figures_hang_on_what_their_assertions_say(name: str) -> None:
    """Each assertion denied in turn: the scenario is refuted, at that line."""
    for scenario in scenarios(LIBRARY[name]).values():
        for at, step in enumerate(scenario.steps):
            if not isinstance(step, ir.NamedFormula):
                continue
            denied = replace(step, body=ir.Not(BOOL, step.body))
            result = play_scenario(replace(scenario, steps=(*scenario.steps[:at], denied, *scenario.steps[at + 1 :])))[
                0
            ]
            assert result.verdict.value == "refuted"
            assert result.facts["line"] == step.span.line
