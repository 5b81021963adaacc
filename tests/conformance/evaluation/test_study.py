"""Studies: every combination once, shipped ones are read, wrong ones are refused with the reason."""

from __future__ import annotations

import pytest

from thence.conformance.evaluation.settings import Settings
from thence.conformance.evaluation.study import StudyError, load_study, read_study, shipped_studies

TEXT = """
title = "A small one"
systems = ["mf", "rst", "cbcast"]
repeat = 2
[settings]
messages = 5
[sweep]
processes = [3, 4]
target = ["anybody", "everybody"]
[figure]
x = "processes"
y = "mean"
"""


def test_every_combination_is_run_once_with_every_seed() -> None:
    study = read_study("small", TEXT)
    runs = [(point.system, point.seed, tuple(point.varied.values())) for point in study.points()]
    assert len(runs) == len({*runs}) == 2 * 2 * 2 * 2 + 2 * 2
    assert [point.number for point in study.points()] == list(range(len(runs)))
    assert {varied for system, _, varied in runs if system == "cbcast"} == {(3, "everybody"), (4, "everybody")}
    assert all(point.settings.workload.processes == point.varied["processes"] for point in study.points())


def test_shipped_studies_are_read_and_say_what_they_draw() -> None:
    assert {"figure_4", "figure_5", "figure_6", "map"} <= {*shipped_studies()}
    for name in shipped_studies():
        study = load_study(name)
        assert study.points() and study.title and (study.figure is not None or name == "map")


def test_the_identity_is_that_of_the_runs() -> None:
    study = read_study("small", TEXT)
    assert study.identity() == read_study("small", TEXT.replace("A small one", "Another title")).identity()
    assert study.identity() != read_study("small", TEXT.replace("[3, 4]", "[3, 5]")).identity()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"rst"', '"nothing"', "no implementation of nothing"),
        ('"rst"', '"mf"', "has a name twice"),
        ("repeat = 2", "repeat = 0", "repeat is a whole number"),
        ("[3, 4]", "[3, 3]", "has a value twice"),
        ("[3, 4]", "3", "is a list of values"),
        ("[3, 4]", "[1, 4]", "processes is a whole number from 2"),
        ("[3, 4]", '["3"]', "processes is a whole number from 2"),
        ("messages = 5", "processes = 5", "is fixed in settings, and varied"),
        ("messages = 5", "message = 5", "'message' is no setting"),
        ('y = "mean"', 'y = "speed"', "is no measure"),
        ('x = "processes"', 'x = "messages"', "over settings of the sweep"),
        ("[settings]", "colour = 1\n[settings]", "has no 'colour'"),
        ("title", "[[[", "small:"),
    ],
)
def test_wrong_studies(old: str, new: str, message: str) -> None:
    with pytest.raises(StudyError, match=message.replace("[", r"\[")):
        read_study("small", TEXT.replace(old, new, 1))


def test_a_study_that_is_not_there() -> None:
    with pytest.raises(StudyError, match="there is no study figure_9; shipped are"):
        load_study("figure_9")
    with pytest.raises(StudyError, match="cannot be read"):
        load_study("nowhere.toml")


def test_defaults_are_settings() -> None:
    assert Settings.of({}).workload.processes == 10
