"""The page of the evaluation, from invented runs of the shipped studies: every number is found, every figure drawn."""

from __future__ import annotations

import re
from dataclasses import fields
from random import Random
from xml.etree import ElementTree

import pytest

from thence.conformance.evaluation.measures import Figures
from thence.conformance.evaluation.study import load_study, shipped_studies
from thence.conformance.evaluation.summary import cells
from thence.conformance.evaluation.sweep import Row, Sweep
from thence.pages.evaluation.page import Numbers, page
from thence.pages.evaluation.plots import picture


def invented(name: str) -> Sweep:
    study, random = load_study(name), Random(name)
    rows = []
    for point in study.points():
        values = {field.name: random.randint(1, 9) for field in fields(Figures)} | {"undelivered": 0}
        rows.append(Row(point.number, point.system, point.seed, point.varied, Figures(**values)))
    return Sweep(study, tuple(rows), len(rows))


@pytest.fixture(scope="module")
def sweeps() -> dict[str, Sweep]:
    return {name: invented(name) for name in shipped_studies()}


def test_every_number_is_there_and_every_study(sweeps: dict[str, Sweep]) -> None:
    text = page(sweeps, {"python": "3.11.7", "simpy": "4.1.1", "runs": 1709})
    assert "1,709 runs" in text and "{{" not in text and "None" not in text
    assert {*re.findall(r"`thence sweep (\w+)`", text)} == {*shipped_studies()}
    assert {*re.findall(r"evaluation/(\w+)\.svg", text)} == {*shipped_studies()} - {"map"}
    for line in text.splitlines():
        assert not line.startswith("|") or re.search(r"[^|\s-]", line) or set(line) <= set("|-:"), line


@pytest.mark.parametrize("name", [name for name in shipped_studies() if name != "map"])
def test_figures_are_drawn_the_same_each_time(sweeps: dict[str, Sweep], name: str) -> None:
    sweep = sweeps[name]
    drawn = picture(sweep, cells(sweep))
    assert drawn == picture(sweep, cells(sweep))
    texts = {
        "".join(node.itertext()) for node in ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")
    }
    figure = sweep.study.figure
    assert figure is not None
    shown = figure.y if figure.ratio_of is not None else sweep.study.systems
    assert {*shown} <= texts and {str(value) or "none" for value in sweep.study.sweep[figure.x]} <= texts


def test_the_best_system_is_the_one_with_the_least_mean(sweeps: dict[str, Sweep]) -> None:
    found = cells(sweeps["map"])
    for line in Numbers(sweeps).best("map", "mean").splitlines()[2:]:
        target, interval, latency, best = [cell.strip() for cell in line.strip("|").split("|")][:4]
        varied = {"target": target, "interval": interval, "latency": latency}
        means = {cell.system: cell.mean("mean") for cell in found if cell.varied == varied}
        least = min(mean.mean for mean in means.values() if mean is not None)
        name, value = best.split()
        assert means[name] is not None and float(value.replace(",", "")) == pytest.approx(least, rel=0.01)


def test_a_mean_of_what_is_not_there_is_an_error(sweeps: dict[str, Sweep]) -> None:
    with pytest.raises(ValueError, match="no runs of ses"):
        Numbers(sweeps).mean("load", "ses", "mean", interval="10ms")
