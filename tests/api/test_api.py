"""Thence from Python: results as the commands give them, frozen and typed, and errors in the commands' words."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from dataclasses import FrozenInstanceError, fields
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import thence.api as th
from thence.dsl import ir
from thence.impl.rst import RST
from thence.proofs.explore.exploration import Progress
from thence.proofs.solving.discharge import ProofProgress

THENCE = str(Path(sys.executable).parent / "thence")

COUNTING = """\
protocol counting:
  network reliable, reordering
  message MSG(m: message) carries m
  state:
    got: nat
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j:
    got := got + 1
    deliver m
  property causal, fifo
"""


class Careless:
    """Delivers what arrives, when it arrives."""

    def __init__(self, identity: int, processes: int) -> None:
        self.identity = identity

    def causal_send(self, destination: int, message: str) -> list[th.Send]:
        return [th.Send(destination, message)]

    def receive(self, sender: int, packet: str) -> list[th.Deliver]:
        return [th.Deliver(sender, packet)]


def of_command(*arguments: str) -> list[dict[str, Any]]:
    """The results of a command, without its times, and without the file, which a call knows."""
    run = subprocess.run([THENCE, *arguments, "--json"], capture_output=True, text=True, check=False)
    return [without_seconds(result) for result in json.loads(run.stdout)["results"]]


def without_seconds(result: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in result.items() if name not in ("seconds", "file")}


def of_call(results: th.Results[th.Statement]) -> list[dict[str, Any]]:
    """The results of a call, as JSON without times."""
    return [without_seconds(result) for result in json.loads(json.dumps(results.to_json()))["results"]]


# --- the same as the commands --------------------------------------------------------------------


def test_explore_gives_what_the_command_gives() -> None:
    call = th.explore("mf", mutant="posts_at_once")
    assert of_call(call) == of_command("explore", "mf", "--mutant", "posts_at_once")
    assert (call.ok, call.exit_code) == (True, 0)


def test_prove_gives_what_the_command_gives() -> None:
    call = th.prove("execution", "csps_implies_sps", no_cache=True)
    assert of_call(call) == of_command("prove", "execution", "csps_implies_sps", "--no-cache")
    assert call[0].obligations == 1
    assert call[0].solvers == ("z3", "cvc5")


def test_conform_gives_what_the_command_gives() -> None:
    call = th.conform("thence.impl.rst:RST", protocol="rst", cases=30)
    assert of_call(call) == of_command("conform", "rst", "--impl", "thence.impl.rst:RST", "--cases", "30")
    assert call.cases == 30


def test_a_run_gives_what_the_command_gives() -> None:
    call = th.simulate("cykas", seed=3)
    assert [without_seconds(call.to_json())] == of_command("run", "cykas", "--seed", "3")
    assert (call.ended, call.violated, call.verdict) == ("rest", (), th.Verdict.TESTED)


def test_a_scenario_gives_what_the_command_gives() -> None:
    assert of_call(th.play("mf", "mf_figure_2")) == of_command("run", "mf", "--scenario", "mf_figure_2")


def test_judged_recordings_are_what_the_command_gives(tmp_path: Path) -> None:
    good = tmp_path / "good.ndjson"
    good.write_text(
        '{"format": "thence-trace/1", "processes": 2}\n'
        '{"event": "send", "process": 0, "message": "a", "destinations": [1]}\n'
        '{"event": "deliver", "process": 1, "message": "a"}\n'
    )
    other = tmp_path / "other.txt"
    other.write_text("dear reader")
    assert of_call(th.judge(good)) == of_command("trace", "check", str(good))
    found = th.judge(good, other)
    assert of_call(found) == of_command("trace", "check", str(good), str(other))
    assert (found[0].causal, found[1].causal, found[1].verdict) == (True, None, th.Verdict.UNKNOWN)
    assert (found.exit_code, found.ok, len(found.unreadable)) == (2, False, 1)
    assert th.judge(good, against="rst")[0].conforms == "conforming"


def test_a_protocol_that_was_edited_judges_recordings_as_it_is_now(tmp_path: Path) -> None:
    recorded, protocol = tmp_path / "one.ndjson", tmp_path / "counting.thence"
    recorded.write_text(
        '{"format": "thence-trace/1", "processes": 2}\n'
        '{"event": "send", "process": 0, "message": "a", "destinations": [1]}\n'
        '{"event": "deliver", "process": 1, "message": "a"}\n'
    )
    silent = COUNTING.replace("    deliver m\n", "")
    said = []
    for text in (COUNTING, silent, COUNTING, silent):
        protocol.write_text(text)
        said.append(th.judge(recorded, against=protocol)[0].conforms)
    assert said == ["conforming", "nonconforming"] * 2


# --- results -------------------------------------------------------------------------------------


def test_results_are_frozen_and_have_no_truth() -> None:
    found = th.explore("fifo", processes=2, sends=1)
    with pytest.raises(FrozenInstanceError):
        found.statements = ()  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        found[0].verdict = th.Verdict.PROVED  # type: ignore[misc]
    with pytest.raises(TypeError, match=r"\.ok"):
        assert found
    assert isinstance(found[0].states, int)


def test_a_statement_is_found_by_its_name() -> None:
    found = th.explore("mf", properties=["causal", "fifo"])
    assert found["two: causal"] is found[next(at for at, each in enumerate(found) if each.name == "two: causal")]
    with pytest.raises(KeyError, match="several statements end with causal"):
        found["causal"]
    with pytest.raises(KeyError, match="no statement is named nothing"):
        found["nothing"]


def test_every_typed_field_is_one_of_the_json() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "json.md").read_text(encoding="utf-8")
    own = {"holds", "refuted", "line", "of", "row", "to_json", *(each.name for each in fields(th.Statement))}
    for kind in (th.Explored, th.Proved, th.Claim, th.Recording, th.Execution):
        for name in dir(kind):
            if not name.startswith("_") and name not in own:
                assert f"`{name.rstrip('_')}`" in page, f"{kind.__name__}.{name}"


def test_rows_are_flat() -> None:
    rows = th.explore("mf", mutant="posts_at_once").rows()
    assert {type(value) for row in rows for value in row.values()} <= {str, int, float, bool}
    assert {row["verdict"] for row in rows} == {"refuted"}


def test_a_counterexample_is_replayed_as_it_stands() -> None:
    shown = th.explore("mf", mutant="posts_at_once").refuted[0]
    again = th.replay("mf", shown)
    assert again.violated == ("causal", "fifo")
    assert list(again.steps) == list(shown.steps)


@pytest.mark.long(but=("mf", "cbcast"))
@pytest.mark.parametrize("file", sorted(path.stem for path in th.library()))
def test_every_counterexample_of_the_library_is_replayed(file: str) -> None:
    """Whatever a mutant or a scope is refuted by is the same violation when it is run again: no setting is lost."""
    specification = th.load(file)
    protocols = {mutant.name for mutant in specification.content.mutants if isinstance(mutant.mutated, ir.Protocol)}
    shown = [each for name in sorted(protocols) for each in th.explore(file, mutant=name, limit=300_000).refuted]
    if file.endswith("_printed"):
        shown += th.explore(file, limit=300_000).refuted
    reached = {name for protocol in specification.content.protocols for name in protocol.witnesses}
    for each in shown:
        if each.property_ in reached and not each.steps:
            with pytest.raises(th.BadRequest, match="comes with no run"):
                th.replay(file, each)
            continue
        again = th.replay(file, each)
        assert list(again.steps) == list(each.steps)
        assert again.subject == each.subject
        assert each.property_ in again.violated or "lasso" in each.facts, f"{each.line}\n{again}"
    assert shown or not protocols


def test_a_text_is_a_specification_too() -> None:
    specification = th.loads(COUNTING)
    assert specification.protocols == ("counting",)
    found = th.explore(specification, processes=2, sends=2)
    assert found["causal"].refuted
    assert not found.ok
    with pytest.raises(th.BadRequest, match="is not a file"):
        th.conform(RST, protocol=specification)


def test_an_exploration_of_a_mutant_says_nothing_of_links() -> None:
    """Links are checked, not explored: a row `link` here would be a verdict that nobody looked for."""
    text = """
machine silent:
  delivery off
  relation told(p: process)
  transition tell(p: process):
    require not told(p)
    told(p) := true
  invariant known: forall p: process. told(p) or not told(p)
protocol talks:
  message HI()
  state:
    said: bool
  on talk() when not said:
    said := true
    send HI() to self
  on receive HI() from j: pass
  reachable spoke: exists p: process. said@p
scope one of talks:
  processes 2
  talk 2 per process
conforms talks to silent:
  talk() is tell(self)
mutant talks_twice of talks:
  on talk(): send HI() to self
  expect refuted link in one
mutant never_says of talks:
  on talk(): send HI() to self
  expect refuted link, spoke in one
"""
    for mutant in ("talks_twice", "never_says"):
        found = th.explore(th.loads(text), mutant=mutant)
        assert "link" not in [each.property_ for each in found]
        assert found["spoke"].refuted


def test_a_class_is_tested_in_one_call() -> None:
    assert th.conform(RST, "causal", cases=50).ok
    found = th.conform(Careless, "causal", cases=50)
    assert (found.ok, found.exit_code, found["causal"].verdict) == (False, 1, th.Verdict.REFUTED)
    assert found["causal"].subject.endswith(":Careless")
    assert "before" in found["causal"].findings[0]
    assert found["causal"].picture.startswith("<svg")


# --- what a caller can get wrong -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "command"),
    [
        (lambda: th.explore("mff"), ["explore", "mff"]),
        (lambda: th.explore("mf", scope="thre"), ["explore", "mf", "--scope", "thre"]),
        (lambda: th.explore("mf", mutant="nobody"), ["explore", "mf", "--mutant", "nobody"]),
        (lambda: th.explore("mf", sends="many"), ["explore", "mf", "--sends", "many"]),
        (lambda: th.explore("mf", engine="fast"), ["explore", "mf", "--engine", "fast"]),
        (lambda: th.explore("mf", memory="little"), ["explore", "mf", "--memory", "little"]),
        (lambda: th.explore("mf", properties=["cause"]), ["explore", "mf", "--property", "cause"]),
        (lambda: th.explore("mf", settings=["losses many"]), ["explore", "mf", "--setting", "losses many"]),
        (lambda: th.prove("mf", "lemma_three_"), ["prove", "mf", "lemma_three_"]),
        (lambda: th.prove("cykas_printed"), ["prove", "cykas_printed"]),
        (lambda: th.prove("mf", cache="x", no_cache=True), ["prove", "mf", "--cache", "x", "--no-cache"]),
        (lambda: th.conform("nothing:X"), ["conform", "--impl", "nothing:X"]),
        (lambda: th.conform(RST, "cause"), ["conform", "--impl", "thence.impl.rst:RST", "--claim", "cause"]),
        (lambda: th.judge("nothing"), ["trace", "check", "nothing"]),
        (lambda: th.judge("nothing", states=3), ["trace", "check", "nothing", "--states", "3"]),
        (lambda: th.play("mf", "figure"), ["run", "mf", "--scenario", "figure"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_an_error_has_the_words_of_the_command(call: Any, command: list[str], tmp_path: Path) -> None:
    run = subprocess.run([THENCE, *command, "--json"], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert run.returncode == 2
    with pytest.raises(th.UserError) as raised:
        call()
    assert str(raised.value) == json.loads(run.stdout)["error"]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: th.explore("fifo", processes=0), "--processes 0: give a number from 1 to 64"),
        (lambda: th.explore("fifo", scope="one", processes=0), "--processes 0"),
        (lambda: th.simulate("fifo", processes=0), "--processes 0"),
        (lambda: th.judge("run.ndjson", against="rst", states=0), "--states 0: give a number from 1 up"),
        (lambda: th.prove("execution", timeout=float("inf")), "--timeout inf: give 0.1 to 1,000,000 seconds"),
        (lambda: th.prove("execution", timeout=float("nan")), "--timeout nan: give 0.1"),
        (lambda: th.replay("fifo", None), "a list of them, and no NoneType"),  # type: ignore[arg-type]
        (lambda: th.replay("fifo", "causal"), "a list of them, and no str"),  # type: ignore[arg-type]
    ],
)
def test_a_number_that_is_none_is_no_default(call: Any, said: str) -> None:
    """Before, 0 processes were as many as usual, 0 states 20,000, and None replayed a run at random."""
    with pytest.raises(th.UserError, match=re.escape(said)):
        call()


def test_a_statement_is_neither_true_nor_false() -> None:
    """Before, `if found["causal"]:` was true of what is refuted."""
    found = th.explore("fifo", scope="triangle")
    assert found["causal"].refuted and found["fifo"].holds
    for statement in (found["causal"], found["fifo"]):
        with pytest.raises(TypeError, match=r"ask \.holds"):
            bool(statement)


def test_errors_of_a_text_are_shown_by_the_exception() -> None:
    with pytest.raises(th.Rejected) as raised:
        th.loads("protocol x:\n  foo\n", "x.thence")
    assert raised.value.loaded.diagnostics[0].code == "E0114"
    assert "x.thence:2:3" in raised.value.__notes__[0]


def test_check_has_every_fault(tmp_path: Path) -> None:
    file = tmp_path / "x.thence"
    file.write_text("protocol x:\n  foo\n")
    found = th.check("mf", file)
    assert not found.ok
    assert [each.code for each in found.diagnostics] == ["E0114"]
    assert found.files[1] == str(file)
    assert th.check("mf").ok


def test_a_class_that_is_none_is_refused() -> None:
    with pytest.raises(th.UserError, match="lacks the method receive"):
        th.conform(type("Half", (), {"__init__": lambda *_: None, "causal_send": lambda *_: []}))


# --- Ctrl-C --------------------------------------------------------------------------------------


def test_ctrl_c_keeps_what_is_done() -> None:
    def interrupt(label: str, progress: Progress) -> None:
        if label.endswith("two"):
            signal.raise_signal(signal.SIGINT)

    assert threading.current_thread() is threading.main_thread()
    found = th.explore("cykas", properties=["causal"], engine="interpreted", progress=interrupt, limit=200_000)
    assert not found.complete
    assert (found.ok, found.exit_code) == (False, 3)
    assert "incomplete" in str(found)


def test_ctrl_c_keeps_what_is_proved() -> None:
    told: list[str] = []

    def interrupt(made: ProofProgress) -> None:
        told.append(made.statement)
        if len({*told}) > 2:
            signal.raise_signal(signal.SIGINT)

    found = th.prove("execution", no_cache=True, progress=interrupt)
    assert 0 < len(found) < len(th.load("execution").theorems)
    assert (found.complete, found.ok, found.exit_code) == (False, False, 3)


def test_ctrl_c_keeps_the_cases() -> None:
    def interrupt(line: str) -> None:
        if "cases" in line and not line.startswith("counterexamples"):
            signal.raise_signal(signal.SIGINT)

    found = th.conform(RST, "causal", cases=100_000, progress=interrupt)
    assert (found.complete, found.ok, found.exit_code) == (False, False, 3)
    assert found.cases < 100_000
    assert found["causal"].unknown is not None


def test_ctrl_c_keeps_judged_recordings(tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.ndjson" for number in range(4)]
    for file in files:
        file.write_text(
            '{"format": "thence-trace/1", "processes": 2}\n'
            '{"event": "send", "process": 0, "message": "a", "destinations": [1]}\n'
            '{"event": "deliver", "process": 1, "message": "a"}\n'
        )

    def interrupt(done: int, total: int, unreadable: int) -> None:
        if done == 2:
            signal.raise_signal(signal.SIGINT)

    found = th.judge(*files, progress=interrupt)
    assert (len(found), found.complete, found.exit_code) == (2, False, 3)


# --- weight --------------------------------------------------------------------------------------


def test_the_import_brings_no_engine() -> None:
    look = "import sys, thence.api; print(sorted({'z3', 'cvc5', 'llvmlite', 'lark', 'hypothesis'} & {*sys.modules}))"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    run = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True, env=environment)
    assert run.stdout.strip() == "[]"


def test_every_public_name_is_there() -> None:
    for name in th.__all__:
        assert getattr(th, name) is not None
    assert dir(th) == sorted(th.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        th.nothing  # noqa: B018


# --- notebooks -----------------------------------------------------------------------------------


class Tags(HTMLParser):
    """The elements that are open, and those that were."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        if tag not in ("br", "meta"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_html_is_well_formed_and_escapes_what_comes_from_files(tmp_path: Path) -> None:
    file = tmp_path / "<script>alert(1)<" / "x.ndjson"
    file.parent.mkdir()
    file.write_text('{"format": "thence-trace/1", "processes": 2}\n')
    for shown in (th.judge(file), th.explore("mf", mutant="posts_at_once"), th.load("mf"), th.simulate("mf")):
        tags = Tags()
        tags.feed(shown._repr_html_())
        tags.close()
        assert tags.open == []
        assert "script" not in tags.seen
