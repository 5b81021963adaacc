"""`--master`: the same results in the same order as without, whoever does the tasks; and what goes wrong is said."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from thence.conformance.tasks.pool import PoolLost
from thence.spec.user_error import CutOff

Thence = Callable[..., Any]

TEXT = '''protocol p:
  network reliable, reordering
  message MSG(m: message) carries m
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j: deliver m
  property causal, at_most_once

scope two of p:
  processes 2
  sends 2, 0
  expect refuted causal

mutant twice of p:
  on receive MSG(m) from j:
    deliver m
    deliver m
  expect refuted at_most_once in two

machine stop_and_wait:
  """A process sends only when everything that it sent before has been delivered."""
  transition causal_send(m):
    require forall a. sent(a) and src(a) = src(m) implies delivered(a)
  transition deliver(m):
    require sent(m) and not delivered(m)
  prove at_most_once

machine careless:
  transition causal_send(m): pass
  transition deliver(m):
    require sent(m) and not delivered(m)
  prove causal
  expect refuted causal
'''
MASTER = "local[2]"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "mine.thence").write_text(TEXT, encoding="utf-8")
    return tmp_path / "mine.thence"


def without_times(found: Any) -> Any:
    if isinstance(found, dict):
        return {name: without_times(value) for name, value in found.items() if name != "seconds"}
    return [without_times(each) for each in found] if isinstance(found, list) else found


def both(thence: Thence, *words: str) -> tuple[Any, Any]:
    """The output with `--master` and without, where both have the same exit code."""
    there, here = thence(*words, "--json", "--master", MASTER), thence(*words, "--json")
    assert there.code == here.code
    return without_times(there.object), without_times(here.object)


@pytest.mark.spark
@pytest.mark.usefixtures("file")
def test_verify(thence: Thence) -> None:
    there, here = both(thence, "verify", "mine.thence", "--campaign-cases", "0")
    assert there == here
    assert {one["verdict"] for one in here["results"]} == {"proved", "holds", "refuted"}


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.usefixtures("file")
def test_mutate(thence: Thence, tmp_path: Path) -> None:
    command = ("mutate", "mine.thence", "--limit", "2", "--json")
    kept = (*command, "--results", "kept")
    there, here = thence(*kept, "--master", MASTER).object, thence(*command).object
    assert without_times(there) == without_times(here)
    assert len(here["results"]) == 3
    fates = {file: file.read_text() for file in (tmp_path / "kept").iterdir()}
    taken = without_times(thence(*kept).object)["results"]
    assert [one["mutants"] for one in taken] == [one["mutants"] for one in here["results"]]
    assert fates == {file: file.read_text() for file in fates}, "fates of a cluster are taken by a run without"


@pytest.mark.long(share=0)
@pytest.mark.spark
@pytest.mark.usefixtures("file")
def test_infer(thence: Thence) -> None:
    there, here = both(thence, "infer", "mine.thence")
    assert there == here
    assert [one["verdict"] for one in here["machines"]] == ["proved", "unknown"], "of one, nothing is stated"


@pytest.mark.spark
@pytest.mark.long(but=1, share=2)
@pytest.mark.parametrize(
    "words", [("verify", "--campaign-cases", "0"), ("mutate",), ("infer",)], ids=lambda each: each[0]
)
@pytest.mark.usefixtures("file")
def test_no_such_master(thence: Thence, words: tuple[str, ...]) -> None:
    assert thence(words[0], "mine.thence", *words[1:], "--master", "nonsense").rejects(
        "Spark does not start at nonsense"
    )


@pytest.mark.usefixtures("file")
def test_options_that_do_not_go_with_it(thence: Thence) -> None:
    assert thence("mutate", "mine.thence", "--budget", "5", "--master", MASTER).rejects("--budget")
    assert thence("infer", "mine.thence", "--ask", "--master", MASTER).rejects("--ask")
    assert thence("infer", "mine.thence", "--hints", "--master", MASTER).rejects("--hints")


class FailingPool:
    """The task of every number from `first` on fails so; `lost`: and with it the pool."""

    at_once = 1

    def __init__(self, first: int, *, lost: bool) -> None:
        self.first, self.lost, self.begun = first, lost, 0

    def submit(self, work: Callable[[Any], Any], task: Any, /) -> Future[Any]:
        self.begun += 1
        future: Future[Any] = Future()
        if self.begun < self.first:
            future.set_result(work(task))
        else:
            future.set_exception(PoolLost("Spark is lost: gone") if self.lost else OSError("gone"))
        return future

    def repair(self) -> int:
        return 0

    def abandon(self) -> None:
        """Nothing is left."""


def failing_workers(monkeypatch: pytest.MonkeyPatch, module: str, pool: FailingPool) -> None:
    pool.cluster = None  # type: ignore[attr-defined]
    monkeypatch.setattr(f"{module}.open_spark", lambda _master: nullcontext(pool))


@pytest.mark.usefixtures("file")
@pytest.mark.parametrize("lost", [False, True])
@pytest.mark.parametrize("first", [1, 3])
def test_mutants_that_nobody_judged_have_no_score(
    thence: Thence, monkeypatch: pytest.MonkeyPatch, first: int, lost: bool
) -> None:
    """A worker without Thence judges nothing, and says nothing about the specification."""
    failing_workers(monkeypatch, "thence.cli.commands.code.mutate", FailingPool(first, lost=lost))
    found = thence("mutate", "mine.thence", "p", "--limit", "4", "--json", "--master", MASTER)
    [result] = found.object["results"]
    assert (found.code, result["verdict"], result["expected"]) == (3, "unknown", False)
    assert sum(result["mutants"].values()) - result["mutants"]["total"] == first - 1
    assert "gone" in result["unknown"] and f"{first - 1} of 4 mutants judged" in result["unknown"]


def test_a_campaign_whose_spark_is_lost_is_unknown(thence: Thence, monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(*_: object) -> None:
        raise CutOff("Spark lost the seeds 0 to 3: gone")

    monkeypatch.setattr("thence.cli.commands.code.campaign.start.start_campaign", lost)
    found = thence("campaign", "start", "night", "--protocol", "rst", "--cases", "4")
    assert (found.code, found.out, found.err) == (3, "", "thence campaign start: Spark lost the seeds 0 to 3: gone\n")


@pytest.mark.usefixtures("file")
def test_what_was_done_is_shown_when_spark_is_lost(thence: Thence, monkeypatch: pytest.MonkeyPatch) -> None:
    for first in (1, 3):
        failing_workers(monkeypatch, "thence.cli.commands.library.verify", FailingPool(first, lost=True))
        found = thence("verify", "mine.thence", "--campaign-cases", "0", "--master", MASTER)
        assert found.code in (1, 3) and "Spark is lost: gone: this is what was finished" in found.out
        assert ("proved" in found.out or "refuted" in found.out) == (first > 1)
    failing_workers(monkeypatch, "thence.api.inferring", FailingPool(2, lost=True))
    found = thence("infer", "mine.thence", "--json", "--master", MASTER)
    [one, other] = found.object["machines"]
    assert (found.code, one["verdict"], other["verdict"], other["reason"]) == (
        3, "proved", "unknown", "Spark is lost: gone",
    )  # fmt: skip
