"""`thence infer` as it is used."""

from __future__ import annotations

import errno
import io
import json
import os
import re
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from at_work import until_at_work

from thence.api import inferring
from thence.api.inferring import infer as infer_machines
from thence.api.inferring import kept_at
from thence.dsl.load import library

Thence = Callable[..., Any]

STOP_AND_WAIT = '''machine stop_and_wait:
  """A process sends only when everything that it sent before has been delivered."""
  transition causal_send(m):
    require forall a. sent(a) and src(a) = src(m) implies delivered(a)
  transition deliver(m):
    require sent(m) and not delivered(m)
  prove causal
'''

BEYOND = STOP_AND_WAIT.replace("  transition causal_send", "  function twice(): nat\n  transition causal_send").replace(
    "  prove causal", "    twice() := twice() + 2\n  invariant even: twice() != 7\n  prove causal"
)
"""The same with a true statement that inference cannot prove: that a number is even cannot be said."""


def test_what_is_found_is_written_and_proved(thence: Thence, tmp_path: Path) -> None:
    file = tmp_path / "mine.thence"
    file.write_text(STOP_AND_WAIT)
    found = thence("infer", str(file), "--write", "--json")
    (machine,) = found.object["machines"]
    assert found.code == 0 and machine["verdict"] == "proved" and machine["goals"] == ["causal"]
    text = file.read_text()
    assert machine["invariants"] and all(each["name"] in text for each in machine["invariants"])
    assert thence("fmt", "--check", str(file)).code == 0
    assert thence("prove", str(file), "--no-cache").code == 0
    again = thence("infer", str(file), "--write")
    assert again.code == 0 and file.read_text() == text


def test_what_is_written_has_names_that_are_free(thence: Thence, tmp_path: Path) -> None:
    """Other statements of the machine and its mutants have the names that it would get, or the tool keeps them."""
    file = tmp_path / "mine.thence"
    names = STOP_AND_WAIT.replace(
        "  transition causal_send", "  relation ghost_of(m: message)\n  transition causal_send"
    )
    names = names.replace("    require sent(m) and", "    require ghost_of(m) and")
    names += """  transition mark(m):
    require sent(m)
    ghost_of(m) := true
  stable hb_delivered(m): delivered(m)
  reachable past_delivered_src: exists m. delivered(m)

mutant other of stop_and_wait:
  invariant found_ghost_of_sent: forall m. sent(m)
  expect refuted
"""
    file.write_text(names)
    assert thence("fmt", "--check", str(file)).code == 0 and thence("check", str(file)).code == 0
    found = thence("infer", str(file), "--write", "--json")
    (machine,) = found.object["machines"]
    given = {each["name"] for each in machine["invariants"]}
    assert found.code == 0 and {"found_ghost_of_sent_2", "hb_delivered_2"} <= given, given
    assert thence("prove", str(file)).code == 0


def test_a_violation_is_a_run(thence: Thence, tmp_path: Path) -> None:
    file = tmp_path / "mine.thence"
    file.write_text(
        STOP_AND_WAIT.replace("    require forall a. sent(a) and src(a) = src(m) implies delivered(a)\n", "    pass\n")
    )
    found = thence("infer", str(file))
    assert found.code == 1 and "causal is refuted" in found.out and "causal_send(m1)" in found.out


@pytest.mark.long
def test_a_mutant_is_judged_by_itself(thence: Thence) -> None:
    lock_server = str(library()[0].parent / "benchmarks" / "lock_server.thence")
    ran = thence("infer", lock_server, "gives_twice")
    assert ran.code == 1
    assert "gives_twice: exclusive is refuted" in ran.out


def test_a_link_to_a_file_stays_one(thence: Thence, tmp_path: Path) -> None:
    target = tmp_path / "target.thence"
    lock_server = library()[0].parent / "benchmarks" / "lock_server.thence"
    target.write_text(lock_server.read_text())
    target.chmod(0o600)
    (tmp_path / "link.thence").symlink_to("target.thence")
    assert thence("infer", "link.thence", "--write").code == 0
    assert (tmp_path / "link.thence").is_symlink()
    assert target.read_text() != lock_server.read_text()
    assert target.stat().st_mode & 0o777 == 0o600


@pytest.mark.long
def test_a_seed_fixes_every_choice(thence: Thence, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever order sets have in a process."""
    found = []
    for order in ("0", "2"):
        monkeypatch.setenv("PYTHONHASHSEED", order)
        (machine,) = thence("infer", "mf", "--hide", "all", "--json").object["machines"]
        assert machine["verdict"] == "proved"
        found.append(machine["invariants"])
    assert found[0] == found[1]


def test_bad_requests(thence: Thence) -> None:
    assert thence("infer", "fifo", "--write").rejects("of the library")
    assert thence("infer", "fifo", "--write", "--hide", "all").rejects("--hide")
    assert thence("infer", "fifo", "nobody").rejects("nobody")
    assert thence("infer", "fifo", "--hide", "nothing").rejects("nothing")
    assert thence("infer", "execution").rejects("no machine")
    assert thence("infer", "fifo", "--ask", "--jobs", "2").rejects("--jobs")
    assert thence("infer", "fifo", "--hints", "--jobs", "2").rejects("--hints")
    assert thence("infer", "fifo", "--ask", "--json").object["error"].startswith("--ask does not go with --json")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Searches are kept there."""
    monkeypatch.setenv("THENCE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.mark.long
def test_a_search_goes_on(thence: Thence, tmp_path: Path, cache: Path) -> None:
    file = tmp_path / "mine.thence"
    file.write_text(BEYOND)
    ended = thence("infer", str(file))
    assert ended.code == 3 and "--resume" in ended.out
    (kept,) = cache.iterdir()
    file.write_text(STOP_AND_WAIT)
    resumed = thence("infer", str(file), "--resume", "--json")
    (machine,) = resumed.object["machines"]
    assert resumed.code == 0 and machine["verdict"] == "proved" and machine["resumed"]["samples"] > 0
    assert not kept.exists()  # nothing is left to look for


def test_a_killed_search_leaves_what_it_had(thence: Thence, command: list[str], tmp_path: Path, cache: Path) -> None:
    file = tmp_path / "mine.thence"
    file.write_text(BEYOND)
    search = subprocess.Popen([*command, "infer", str(file)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while search.poll() is None and not any(cache.glob("infer-*.json")):
        time.sleep(0.05)
    search.kill()
    assert search.wait() == -signal.SIGKILL
    file.write_text(STOP_AND_WAIT)
    (machine,) = thence("infer", str(file), "--resume", "--json").object["machines"]
    assert machine["verdict"] == "proved" and machine["resumed"]["samples"] > 0


@pytest.mark.long
def test_what_was_kept_is_not_believed(thence: Thence, tmp_path: Path, cache: Path) -> None:
    """The machine is edited, so that its statement is false; of what was kept, only what still fits counts."""
    file = tmp_path / "mine.thence"
    file.write_text(BEYOND)
    assert thence("infer", str(file)).code == 3
    (kept,) = cache.iterdir()
    document = json.loads(kept.read_text())
    document["base"] = ["forall a. sent(a)", "forall a. nobody(a)", "forall a. delivered(a) implies sent(a)"]
    kept.write_text(json.dumps(document))
    file.write_text(STOP_AND_WAIT.replace("src(a) = src(m) implies", "src(a) = src(m) and dst(a) = dst(m) implies"))
    resumed = thence("infer", str(file), "--resume", "--json")
    (machine,) = resumed.object["machines"]
    assert resumed.code == 1 and machine["verdict"] == "refuted" and machine["resumed"]["samples"] > 0


NOTHING_HAPPENS = """\
machine m:
  delivery off
  sort node
  relation ready(n: node)
  relation done(n: node)
  transition prepare(n: node):
    require done(n)
    ready(n) := true
  transition finish(n: node):
    require ready(n)
    done(n) := true
  invariant none_done: forall n. not done(n)
"""


def test_what_holds_for_nothing_is_not_proved(thence: Thence, tmp_path: Path) -> None:
    """As `thence prove` says of the same file."""
    (tmp_path / "m.thence").write_text(NOTHING_HAPPENS)
    ran = thence("infer", "m.thence", "--write")
    assert ran.code == 3 and "hold for nothing" in ran.out and "nothing to write" in ran.out
    (machine,) = thence("infer", "m.thence", "--json").object["machines"]
    assert machine["verdict"] == "unknown"
    happens = NOTHING_HAPPENS.replace("    require done(n)\n    ready(n) := true", "    ready(n) := true").replace(
        "not done(n)", "not done(n) or ready(n)"
    )
    (tmp_path / "m.thence").write_text(happens)
    assert thence("infer", "m.thence").code == 0


STUCK = """\
machine even:
  delivery off
  function twice(): nat
  transition grow():
    twice() := twice() + 2
  invariant never_7: twice() != 7
"""


def test_where_a_search_is_stuck_it_shows_the_step(thence: Thence, tmp_path: Path, cache: Path) -> None:
    """That a number is even cannot be said. What is shown is what is to be excluded."""
    (tmp_path / "m.thence").write_text(STUCK)
    ran = thence("infer", "m.thence")
    assert ran.code == 3 and "what none of this excludes:" in ran.out and "--ask" in ran.out
    assert "before: twice = 5" in ran.out and "after:  twice = 7" in ran.out
    (machine,) = thence("infer", "m.thence", "--json").object["machines"]
    assert machine["verdict"] == "unknown" and "grow does not keep it" in machine["text"]


def test_nothing_to_prove_is_no_proof(thence: Thence, tmp_path: Path) -> None:
    (tmp_path / "m.thence").write_text(NOTHING_HAPPENS.replace("    require done(n)\n", ""))
    hidden = thence("infer", "m.thence", "--hide", "all")
    assert hidden.code == 3 and "nothing is stated of its states" in hidden.out


@pytest.mark.long
def test_a_file_that_was_changed_meanwhile_is_not_written(
    thence: Thence, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was found is about the text before, and shown."""
    (tmp_path / "mine.thence").write_text(STOP_AND_WAIT)
    changed = STOP_AND_WAIT.replace(" and not delivered(m)", "")

    def edited(*arguments: Any, **named: Any) -> Any:
        found = infer_machines(*arguments, **named)
        (tmp_path / "mine.thence").write_text(changed)
        return found

    monkeypatch.setattr("thence.cli.commands.proofs.infer.infer_invariants", edited)
    ran = thence("infer", "mine.thence", "--write")
    assert ran.code == 2 and "changed during the search" in ran.out and "invariant" in ran.out
    assert (tmp_path / "mine.thence").read_text() == changed
    (tmp_path / "mine.thence").write_text(STOP_AND_WAIT)
    ran = thence("infer", "mine.thence", "--write", "--json")
    assert ran.object["machines"][0]["verdict"] == "proved" and len(ran.object["unwritten"]) == 1


@pytest.mark.long(but=1)
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_what_cannot_be_kept_costs_no_result(
    thence: Thence, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, jobs: str
) -> None:
    """The disk is full when the first search ends without an answer."""
    (tmp_path / "mine.thence").write_text(BEYOND + "\n" + STOP_AND_WAIT.replace("stop_and_wait", "other"))

    def full(place: Path, kept: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(inferring, "save", full)
    ran = thence("infer", "mine.thence", "--timeout", "8", "--jobs", jobs, "--json")
    first, second = ran.object["machines"]
    assert ran.code == 3 and (first["verdict"], second["verdict"]) == ("unknown", "proved")
    assert "not kept" in first["reason"] and "No space left on device" in first["reason"]


def test_a_long_number_is_no_candidate(
    thence: Thence, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.thence").write_text(STOP_AND_WAIT)
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{'9' * 5000}\nq\n"))
    ran = thence("infer", "mine.thence", "--ask")
    assert ran.code == 3 and "there is no candidate 9" in ran.out and not ran.err


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "thence-infer/1"}'])
def test_a_spoilt_file_is_refused(thence: Thence, tmp_path: Path, cache: Path, text: str) -> None:
    file = tmp_path / "mine.thence"
    file.write_text(STOP_AND_WAIT)
    place = kept_at(str(file), "stop_and_wait")
    assert place is not None
    place.write_text(text)
    assert thence("infer", str(file), "--resume").rejects("--resume")


SEVERAL = "\n".join(
    (
        BEYOND.replace("stop_and_wait", "beyond"),
        STOP_AND_WAIT,
        STOP_AND_WAIT.replace("stop_and_wait", "careless").replace("implies delivered(a)", "implies sent(a)"),
    )
)
"""Three machines: what they state is unknown, proved and refuted."""


def without_times(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [{name: value for name, value in one.items() if "seconds" not in name} for one in found["machines"]]


@pytest.mark.long
def test_machines_at_the_same_time_are_as_one_after_the_other(thence: Thence, tmp_path: Path, cache: Path) -> None:
    (tmp_path / "mine.thence").write_text(SEVERAL)
    here = thence("infer", "mine.thence", "--json")
    kept = {place.name: place.read_text() for place in cache.iterdir()}
    for jobs in ("2", "5"):
        there = thence("infer", "mine.thence", "--json", "--jobs", jobs)
        assert there.code == here.code == 1
        assert without_times(there.object) == without_times(here.object)
        assert {place.name: place.read_text() for place in cache.iterdir()} == kept
    assert [one["verdict"] for one in here.object["machines"]] == ["unknown", "proved", "refuted"]
    assert all(one["processor_seconds"] > 0.1 for one in there.object["machines"])
    resumed = thence("infer", "mine.thence", "--json", "--jobs", "2", "--resume").object["machines"]
    assert [bool(one["resumed"]) for one in resumed] == [True, False, False]


@pytest.mark.long
def test_a_search_that_breaks_is_unknown(
    thence: Thence, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others have their results."""
    (tmp_path / "mine.thence").write_text(SEVERAL)
    search = inferring.infer_machine

    def breaking(session: Any, machine: Any, *given: Any) -> Any:
        if machine.name == "beyond":
            raise ArithmeticError("broken")
        return search(session, machine, *given)

    monkeypatch.setattr(inferring, "infer_machine", breaking)
    found = thence("infer", "mine.thence", "--jobs", "2", "--json").object["machines"]
    assert [one["verdict"] for one in found] == ["unknown", "proved", "refuted"]
    assert "ArithmeticError: broken" in found[0]["reason"]


@pytest.mark.long
def test_an_interrupt_keeps_what_each_search_found(command: list[str], tmp_path: Path, cache: Path) -> None:
    """Two of three machines are being searched; the third one is named, too."""
    run = subprocess.Popen(
        [*command, "infer", "rst", "--hide", "all", "--timeout", "200", "--jobs", "2"],
        stdout=subprocess.PIPE,
        cwd=tmp_path,
        encoding="utf-8",
    )
    until_at_work(run, 24)
    run.send_signal(signal.SIGINT)
    out, _ = run.communicate(timeout=60)
    assert run.returncode == 3 and out.count("interrupted") == 3 and "--resume" in out
    kept = [json.loads(place.read_text()) for place in cache.iterdir()]
    assert len(kept) == 2 and all(sum(len(each["records"]) for each in one["samples"]) > 50 for one in kept)


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_what_was_found(
    command: list[str], tmp_path: Path, cache: Path, number: signal.Signals
) -> None:
    run = subprocess.Popen(
        [*command, "infer", "tree", "--hide", "all", "--timeout", "200"],
        stdout=subprocess.PIPE,
        cwd=tmp_path,
        encoding="utf-8",
    )
    until_at_work(run, 12)
    run.send_signal(number)
    out, _ = run.communicate(timeout=60)
    assert run.returncode == 3 and "interrupted" in out and "--resume" in out
    (kept,) = cache.iterdir()
    assert sum(len(each["records"]) for each in json.loads(kept.read_text())["samples"]) > 50


def asked(command: list[str], file: Path, answers: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*command, "infer", str(file), "--ask"],
        input=answers,
        capture_output=True,
        cwd=file.parent,
        check=False,
        encoding="utf-8",
        timeout=300,
    )


def test_questions_are_answered_from_a_pipe(command: list[str], tmp_path: Path) -> None:
    file = tmp_path / "mine.thence"
    file.write_text(STOP_AND_WAIT)
    refused = ("77", "nonsense(", "forall a. sent(a)", "forall a. not sent(a)", "d")
    answers = "\n".join((*refused, "forall a, p. past(p, a) implies src(a) = p or delivered(a)", *["1"] * 20, ""))
    found = asked(command, file, answers)
    assert found.returncode == 0 and "`causal` is not inductive" in found.stdout
    assert "there is no candidate 77" in found.stdout and "E0" in found.stdout
    assert "a run makes it false: causal_send(m1)" in found.stdout and "cannot be given up" in found.stdout
    assert "past(p, a) implies" in found.stdout and "proved for any number" in found.stdout


PRICE = re.compile(
    r"  \d  (?P<said>.*)\n     \d+ literals?, \d+ sampled situations? for it\n"
    r"     (?P<own>.*); (?P<open>\d+) other steps? open then\n"
)


@pytest.mark.long
def test_candidates_have_a_price_that_is_so(command: list[str], thence: Thence, tmp_path: Path) -> None:
    """The prover says of each candidate, beside all clauses that were there, what its price says."""
    file = tmp_path / "mine.thence"
    file.write_text(STOP_AND_WAIT)
    shown = asked(command, file, "q\n").stdout
    assert re.search(r"true in 2,\d\d\d sampled states, and in all runs of up to 12 steps", shown)
    there = "".join(f"{line}\n" for line in shown.splitlines() if line.startswith("  invariant"))
    prices = [*PRICE.finditer(shown)]
    said = Counter(price["own"].partition(" ")[0] for price in prices)
    assert there and len(prices) == 5 and {*said} == {"lost", "every"}
    assert {price["open"] for price in prices} == {"0", "1"}
    for price in prices:
        file.write_text(STOP_AND_WAIT.replace("  prove", f"{there}  invariant offered: {price['said']}\n  prove"))
        results = thence("prove", str(file), "--json", "--no-cache").object["results"]
        verdicts = {one["name"]: one["verdict"] for one in results}
        if "lost by" in price["own"]:
            assert verdicts["offered"] == "unknown"
        elif "proved for any number" in price["own"]:
            assert verdicts["offered"] == "proved"
            assert verdicts["causal"] == ("proved" if price["open"] == "0" else "unknown")


@pytest.mark.long
def test_the_end_of_the_input_ends_the_questions(command: list[str], tmp_path: Path) -> None:
    file = tmp_path / "mine.thence"
    file.write_text(STOP_AND_WAIT)
    for answers in ("", "q\n"):
        found = asked(command, file, answers)
        assert found.returncode == 3 and "ended by the user" in found.stdout and found.stderr == ""


@pytest.mark.long
def test_hints_are_a_table(thence: Thence, tmp_path: Path) -> None:
    file = tmp_path / "mine.thence"
    file.write_text(
        STOP_AND_WAIT.replace(
            "  prove causal", "  invariant first: forall a. delivered(a) implies sent(a)\n  prove causal"
        )
    )
    found = thence("infer", str(file), "--hints")
    head, row = found.out.strip().splitlines()
    assert found.code == 0 and head.split() == ["machine", "hidden", "given", "back", "time"]
    assert row.split()[:3] == ["stop_and_wait", "1", "nothing"]
    assert thence("infer", str(file), "--hints", "--ask").rejects("--hints goes with")
