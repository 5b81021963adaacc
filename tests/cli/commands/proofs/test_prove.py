"""`thence prove` as it is used: the cache, cores, stability, watching, an interrupt, solvers that die or disagree."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from at_work import until_at_work

Thence = Callable[..., Any]

PLAIN = """machine plain:
  relation network_sent(m: message)
  transition causal_send(m): pass
  transition network_send(m):
    require sent(m) and not network_sent(m)
    network_sent(m) := true
  transition deliver(m):
    require network_sent(m) and not delivered(m)
  invariant posted: forall m. delivered(m) implies network_sent(m)
  invariant came_from: forall m. network_sent(m) implies sent(m)
  prove no_creation, at_most_once
"""

AS_SAT = """
class InputLanguage: SMT_LIB_2_6 = 0
class TermManager: pass
class Symbols: pass
class Command:
    def isNull(self): return True
class Result:
    def isUnsat(self): return False
    def isSat(self): return True
class Solver:
    def __init__(self, terms): pass
    def setOption(self, name, value): pass
    def checkSat(self): return Result()
class InputParser:
    def __init__(self, solver): pass
    def setStringInput(self, language, text, name): pass
    def getSymbolManager(self): return Symbols()
    def nextCommand(self): return Command()
"""
"""A cvc5 that finds everything satisfiable."""

DIES = "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n"


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    path = tmp_path / "plain.thence"
    path.write_text(PLAIN)
    return path


def verdicts(found: dict[str, Any]) -> dict[str, tuple[str, str]]:
    return {result["name"]: (result["verdict"], result["level"]) for result in found["results"]}


def test_obligations_are_counted_of_what_is_proved_only(thence: Thence, tmp_path: Path) -> None:
    file = tmp_path / "plain.thence"
    file.write_text(PLAIN.replace("    require sent(m) and not network_sent(m)\n", ""))
    found = thence("prove", str(file))
    assert found.code != 0
    rows = {name: row for row in found.out.splitlines() for name in ("posted", "came_from") if f" {name} " in row}
    assert "obligation" in rows["posted"] and "obligation" not in rows["came_from"]


# --- the cache ---------------------------------------------------------------------------------


def test_the_second_time_nothing_is_solved(thence: Thence, plain: Path, tmp_path: Path) -> None:
    first = thence("prove", plain, "no_creation", "--cache", "answers", "--json").object
    second = thence("prove", plain, "no_creation", "--cache", "answers", "--json").object
    assert first["exit"] == second["exit"] == 0
    assert verdicts(first) == verdicts(second)
    assert first["cache"]["solved"] > 20
    assert second["cache"] == {"directory": "answers", "recalled": second["cache"]["recalled"], "solved": 0}
    assert second["cache"]["recalled"] > 20
    said = thence("prove", plain, "no_creation", "--cache", "answers").out
    assert re.search(r"(\d+) of \1 answers from the cache", said)
    assert (tmp_path / "answers").is_dir()


def test_without_a_cache_everything_is_solved(thence: Thence, plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THENCE_CACHE", str(plain.parent / "answers"))
    thence("prove", plain, "no_creation")
    found = thence("prove", plain, "no_creation", "--no-cache", "--json").object
    assert found["cache"]["directory"] is None and found["cache"]["recalled"] == 0
    assert thence("prove", plain, "no_creation", "--json").object["cache"]["solved"] == 0
    monkeypatch.setenv("THENCE_CACHE", "off")
    assert thence("prove", plain, "no_creation", "--json").object["cache"]["directory"] is None


@pytest.mark.long
def test_a_certificate_rests_on_no_answer_of_an_earlier_run(thence: Thence, plain: Path) -> None:
    thence("prove", plain, "no_creation", "--cache", "answers")
    found = thence("prove", plain, "no_creation", "--cache", "answers", "--certificate", "certificate", "--json").object
    assert found["exit"] == 0
    assert found["cache"]["recalled"] == 0 and found["cache"]["solved"] > 20


def test_an_edit_leaves_the_rest_in_the_cache(thence: Thence, plain: Path) -> None:
    thence("prove", plain, "no_creation", "--cache", "answers")
    plain.write_text(PLAIN.replace("network_sent(m)\n  invariant", "network_sent(m) and sent(m)\n  invariant"))
    found = thence("prove", plain, "no_creation", "--cache", "answers", "--json").object
    assert found["exit"] == 0
    assert found["cache"]["recalled"] > 5 and found["cache"]["solved"] > 0


def test_names_and_comments_are_no_edit(thence: Thence, plain: Path) -> None:
    thence("prove", plain, "no_creation", "--cache", "answers")
    plain.write_text("# a comment\n" + PLAIN.replace("came_from", "origin"))
    found = thence("prove", plain, "no_creation", "--cache", "answers", "--json").object
    assert (found["exit"], found["cache"]["solved"]) == (0, 0)


def test_a_relation_of_another_name_leaves_the_obligations_in_the_cache(thence: Thence, plain: Path) -> None:
    """The search for the witness is made again: its answer is a run, which has the names in it."""
    thence("prove", plain, "no_creation", "--cache", "answers")
    plain.write_text(PLAIN.replace("network_sent", "posted_once"))
    found = thence("prove", plain, "no_creation", "--cache", "answers", "--json").object
    assert found["exit"] == 0
    assert found["cache"]["recalled"] > 5 and found["cache"]["solved"] <= 2


def test_a_cache_that_cannot_be_is_bad_input(thence: Thence, plain: Path) -> None:
    assert thence("prove", plain, "--cache", plain).rejects("cannot be the cache")
    assert thence("prove", plain, "--cache", "answers", "--no-cache").rejects("contradict")


# --- cores and stability -----------------------------------------------------------------------


def test_cores_say_what_is_used(thence: Thence, plain: Path) -> None:
    plain.write_text(PLAIN.replace("  prove", "  invariant idle: forall m. sent(m) or not sent(m)\n  prove"))
    found = thence("prove", plain, "--cores", "--json").object
    results = {result["name"]: result for result in found["results"]}
    assert results["idle"]["never_used"] is True and results["came_from"]["never_used"] is False
    assert all(result["used"] for name, result in results.items() if name != "vacuity")


def test_stability_is_a_result_of_its_own(thence: Thence, plain: Path) -> None:
    found = thence("prove", plain, "no_creation", "--stability", "2", "--json").object
    assert found["exit"] == 0
    (result,) = (result for result in found["results"] if result["name"] == "stability")
    assert (result["kind"], result["subject"], result["verdict"], result["level"]) == ("check", "plain", "tested", "L0")
    assert result["cases"] == 2 * result["obligations"] and result["failures"] == 0


# --- solvers that fail -------------------------------------------------------------------------


@pytest.fixture
def other_cvc5(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Puts a module of one's own in the place of cvc5."""

    def put(text: str) -> None:
        folder = tmp_path / "modules"
        folder.mkdir()
        (folder / "cvc5.py").write_text(text)
        monkeypatch.setenv("PYTHONPATH", str(folder))

    return put


@pytest.mark.long
def test_solvers_that_disagree_prove_nothing_loudly(
    thence_process: Thence, plain: Path, other_cvc5: Callable[[str], None]
) -> None:
    other_cvc5(AS_SAT)
    ran = thence_process("prove", plain, "no_creation", "--json")
    found = ran.object
    assert ran.code == 3
    assert not [name for name, (verdict, _) in verdicts(found).items() if verdict == "proved" and name != "vacuity"]
    said = thence_process("prove", plain, "no_creation").out
    assert "the solvers contradict each other" in said
    assert "z3 says unsat" in said and "cvc5 says sat" in said


@pytest.mark.long
def test_a_solver_that_dies_leaves_one_proof(
    thence_process: Thence, plain: Path, other_cvc5: Callable[[str], None]
) -> None:
    other_cvc5(DIES)
    ran = thence_process("prove", plain, "--json")
    assert ran.code == 0
    for name, (verdict, level) in verdicts(ran.object).items():
        assert (verdict, level) == ("proved", "L2"), name


def test_what_no_solver_can_be_asked_is_said_when_it_is_checked(thence: Thence, tmp_path: Path) -> None:
    """With the construct at fault, before anything is proved."""
    text = "theory t:\n  sort message\n  relation sent: message\n  property few: (count m: message. sent(m)) = 3\n"
    (tmp_path / "t.thence").write_text(text + "\ntheorem few_are_sent in t:\n  prove few\n")
    checked = thence("check", "t.thence")
    assert checked.code == 2 and "`count` is not available in a theory" in checked.err
    assert "^^^^^" in checked.err
    assert thence("prove", "t.thence").code == 2


def test_axioms_that_contradict_each_other_prove_nothing(thence: Thence, plain: Path) -> None:
    plain.write_text(
        PLAIN.replace("  transition causal_send", "  axiom no: forall m. src(m) != src(m)\n  transition causal_send")
    )
    ran = thence("prove", plain, "--json")
    assert ran.code == 3
    for result in ran.object["results"]:
        if result["name"] != "vacuity":
            assert result["verdict"] == "unknown" and "contradict" in result["unknown"]


def test_a_theory_whose_axioms_contradict_each_other_proves_nothing(thence: Thence, tmp_path: Path) -> None:
    (tmp_path / "t.thence").write_text(
        "theory t:\n  sort message\n  relation sent: message\n"
        "  axiom all: forall m. sent(m)\n  axiom nobody: forall m. not sent(m)\n"
        "  property odd: forall m. sent(m) and not sent(m)\n\n"
        "theorem wrong in t:\n  prove odd\n"
    )
    ran = thence("prove", "t.thence", "--json")
    assert ran.code == 3
    (result,) = ran.object["results"]
    assert result["verdict"] == "unknown" and "contradict" in result["unknown"]


# --- a terminal, an interrupt, watching --------------------------------------------------------


@contextmanager
def running(command: list[str], *arguments: str | Path, cwd: Path) -> Iterator[subprocess.Popen[str]]:
    """The command as a process; killed in the end."""
    with subprocess.Popen(
        [*command, *map(str, arguments)], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.long
def test_an_interrupt_says_what_was_proved(command: list[str], plain: Path) -> None:
    arguments = ("prove", plain, "no_creation", "--cache", "answers")
    subprocess.run([*command, *map(str, arguments)], cwd=plain.parent, check=True, stdout=subprocess.DEVNULL)
    with running(command, *arguments, "--stability", "1000", cwd=plain.parent) as process:
        until_at_work(process, 5)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=20)
    assert process.returncode == 3
    assert "interrupted in plain, stability" in out and "incomplete" in out
    assert "no_creation" in out and "proved" in out


@pytest.mark.parametrize("words", [("prove",), ("bmc", "--depth", "2")], ids=["prove", "bmc"])
def test_an_interrupt_after_a_refutation_is_no_mere_unknown(
    thence: Thence, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """Ctrl-C comes before the second machine. Of the first one it is known that a statement is false."""
    from thence.cli.commands.proofs import bmc
    from thence.proofs import prove

    stated = PLAIN[: PLAIN.index("  invariant")]
    machine = f"{stated}  invariant unsent: forall m. not network_sent(m)\n"
    (tmp_path / "two.thence").write_text(f"{machine}\n{machine.replace('plain', 'second')}")
    place, name = (prove, "prove_machine") if words == ("prove",) else (bmc, "_of_machine")
    wrapped, calls = getattr(place, name), list[None]()

    def interrupted(*given: Any, **named: Any) -> Any:
        calls.append(None)
        if len(calls) > 1:
            raise KeyboardInterrupt
        return wrapped(*given, **named)

    monkeypatch.setattr(place, name, interrupted)
    ran = thence(words[0], "two.thence", *words[1:], "--json")
    assert ran.code == 1 and ran.object["complete"] is False
    assert "refuted" in [result["verdict"] for result in ran.object["results"]]


def test_an_interrupt_while_a_certificate_is_made_loses_no_proof(
    thence: Thence, plain: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from thence.cli import certificates

    def interrupt(*_given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(certificates, "certificate", interrupt)
    ran = thence("prove", plain, "no_creation", "--certificate", "there", "--json")
    assert ran.code == 3 and ran.object["complete"] is False
    assert [result["verdict"] for result in ran.object["results"]] == ["proved"]


@pytest.mark.long
def test_the_obligation_being_solved_is_on_the_terminal(command: list[str], tmp_path: Path) -> None:
    import pty

    controller, terminal = pty.openpty()
    with subprocess.Popen(
        [*command, "prove", "hybrid_basic", "causal"], cwd=tmp_path, stderr=terminal, stdout=subprocess.DEVNULL
    ):
        os.close(terminal)
        seen = b""
        while True:
            try:
                chunk = os.read(controller, 1 << 12)
            except OSError:
                break
            if not chunk:
                break
            seen += chunk
    os.close(controller)
    assert re.search(rb"permits, invariants: \d+ of \d+: \w+ keeps \w+", seen)


def lines_until(process: subprocess.Popen[str], words: str) -> list[str]:
    """The lines of stdout up to the one with these words."""
    assert process.stdout is not None
    found = []
    for line in process.stdout:
        found.append(line)
        if words in line:
            return found
    raise AssertionError(f"{words!r} never came: {''.join(found)}")


def test_watching_proves_again_what_an_edit_touches(command: list[str], plain: Path) -> None:
    def save(text: str) -> None:
        draft = plain.with_suffix(".draft")
        draft.write_text(text)
        draft.replace(plain)

    with running(command, "prove", plain, "--watch", cwd=plain.parent) as process:
        first = lines_until(process, "watching")
        assert re.search(r"plain: (\d+) of \1 proved", "".join(first))
        save(PLAIN.replace("  prove", "  invariant more: forall m. network_sent(m) implies past(src(m), m)\n  prove"))
        started = time.monotonic()
        second = lines_until(process, "watching")
        assert time.monotonic() - started < 10
        counted = re.search(r"(\d+) new answers?, (\d+) as before", "".join(second))
        assert counted is not None and int(counted[1]) > 0 and int(counted[2]) > 0
        save(PLAIN + "junk\n")
        broken = lines_until(process, "watching")
        assert "proved" not in "".join(broken)
        save(PLAIN)
        healed = lines_until(process, "watching")
        assert re.search(r"\b0 new answers", "".join(healed))
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "`junk` begins no declaration" in err and "Traceback" not in err


def test_watching_ends_with_the_code_of_the_last_round(command: list[str], plain: Path) -> None:
    plain.write_text("junk\n")
    with running(command, "prove", plain, "--watch", cwd=plain.parent) as process:
        lines_until(process, "watching")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
    assert process.returncode == 2


@pytest.mark.parametrize("option", [["--json"], ["--stability", "2"], ["--certificate", "c"]])
def test_watching_goes_alone(thence: Thence, plain: Path, option: list[str]) -> None:
    assert thence("prove", plain, "--watch", *option).code == 2


# --- the decidable fragment --------------------------------------------------------------------


def test_fragment_says_of_each_proof_whether_it_is_within(thence: Thence, tmp_path: Path) -> None:
    (tmp_path / "two.thence").write_text(
        PLAIN + "theory later:\n  sort message\n  relation after: message, message\n"
        "  axiom always: forall a. exists b. after(a, b)\n  axiom all: forall a, b. after(a, b)\n"
        "  property twice: forall a. after(a, a)\n  property other: exists a. after(a, a)\n"
        "theorem itself in later:\n  prove twice\n"
    )
    said = thence("prove", "two.thence", "--fragment", "--no-cache").out
    assert "plain:\n  within the decidable fragment: history, posted, came_from, no_creation, at_most_once\n" in said
    assert (
        "later:\n  outside the decidable fragment: itself (1 of 1 obligation)\n"
        "    `forall a: message. exists b: message` in always (line 15) closes a cycle\n"
    ) in said
    found = thence("prove", "two.thence", "--fragment", "--no-cache", "--json").object
    placed = {result["name"]: result.get("fragment") for result in found["results"]}
    assert placed["itself"]["within"] == 0 and len(placed["itself"]["outside"]) == 1
    assert placed["posted"]["within"] == placed["posted"]["obligations"] > 0
    assert placed["vacuity"] is None
    assert "fragment" not in thence("prove", "two.thence", "--no-cache").out


def test_fragment_does_not_go_with_watch(thence: Thence, plain: Path) -> None:
    assert thence("prove", plain, "--fragment", "--watch").rejects("--watch does not go with --fragment")


@pytest.mark.long
def test_what_a_protocol_has_by_its_machine(thence: Thence) -> None:
    ran = thence("prove", "fifo", "at_most_once", "--json")
    found = [(each["kind"], each["subject"], each["name"], each["verdict"]) for each in ran.object["results"]]
    assert ran.code == 0 and found == [
        ("machine", "sequence_numbers", "at_most_once", "proved"),
        ("link", "fifo to sequence_numbers", "every event is enabled in sequence_numbers", "proved"),
        ("link", "fifo", "at_most_once", "proved"),
    ]


def test_a_mutant_of_which_nothing_is_expected_is_not_passed_over(thence: Thence, tmp_path: Path) -> None:
    text = "\n".join(
        ("machine m:", "  delivery off", "  sort c", "  relation a(x: c)", "  relation b(x: c)",
         "  transition one(x: c): a(x) := true", "  transition two(x: c):", "    require a(x)", "    b(x) := true",
         "  invariant i: forall x. b(x) implies a(x)", "mutant loose of m:", "  transition two(x: c): b(x) := true", "")
    )  # fmt: skip
    (tmp_path / "m.thence").write_text(text)
    assert thence("prove", "m.thence", "loose").rejects("nothing is expected of the mutant loose")


LINKED = """machine quick:
  axiom no_self_sends: forall m. src(m) != dst(m)
  transition causal_send(m): pass
  transition deliver(m): require sent(m) and not delivered(m)
  prove at_most_once

protocol plain:
  network reliable, reordering
  message MSG(m: message) carries m
  state:
    seen: set of message
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j:
    if m not in seen:
      seen.add(m)
      deliver m
  property at_most_once

conforms plain to quick:
  causal_send(m) is causal_send(m)
  deliver m is deliver(m)
  invariant on_its_way: forall MSG(m) from p to q in flight. sent(m) and dst(m) = q
  invariant has_seen: forall p: process, m: message. delivered(m) and dst(m) = p implies m in seen@p
"""


def test_for_which_systems_a_proof_about_a_protocol_is_is_said(thence: Thence, plain: Path) -> None:
    plain.write_text(LINKED + "  expect proved\n")
    ran = thence("prove", "plain.thence", "at_most_once", "--json")
    of_machine, link, protocol = json.loads(ran.out)["results"]
    assert "where" not in of_machine
    assert link["where"] == protocol["where"] == ["nobody sends to itself", "there are two processes or more"]
    shown = " ".join(thence("prove", "plain.thence", "at_most_once").out.split())
    said = "where nobody sends to itself and there are two processes or more"
    assert said in shown and shown.count("where") == 3 and "assumes" not in shown


def test_what_a_proof_about_a_protocol_assumes_is_said(thence: Thence, plain: Path) -> None:
    axiom, scope = "no_answers: forall m, n. src(m) != dst(n)", "scope up of plain:\n  processes 3\n  sends 1, 1, 0\n"
    text = LINKED.replace("no_self_sends: forall m. src(m) != dst(m)", axiom).replace("to quick:", "to quick in up:")
    scope += "  destinations 0 to 2; 1 to 2\n\n"
    plain.write_text(text.replace("conforms plain", f"{scope}conforms plain") + "  expect proved\n")
    ran = thence("prove", "plain.thence", "at_most_once", "--json")
    of_machine, link, protocol = json.loads(ran.out)["results"]
    assert "assumes" not in of_machine
    assert link["assumes"] == protocol["assumes"] == ["no_answers"]
    shown = thence("prove", "plain.thence", "at_most_once").out
    assert shown.count("assumes no_answers") == 2 and "which nothing shows to be true of plain" in shown


def test_a_protocol_of_which_nothing_is_said_is_named(thence: Thence, plain: Path) -> None:
    plain.write_text(LINKED)
    ran = thence("prove", "plain.thence", "at_most_once")
    assert ran.code == 0
    assert "plain: no verdict on its at_most_once: the link `plain to quick` has no `expect proved`" in ran.out


def test_watching_does_not_read_a_file_that_is_being_written(command: list[str], plain: Path) -> None:
    plain.write_text(LINKED + "  expect proved\n")
    with running(command, "prove", plain, "at_most_once", "--watch", cwd=plain.parent) as process:
        lines_until(process, "watching")
        for part in ("", LINKED[:200], LINKED):  # as an editor may write it, and slower
            plain.write_text(part)
            time.sleep(0.06)
        said = "".join(lines_until(process, "watching"))
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
    assert process.returncode == 0 and "error" not in said, said


def test_watching_says_what_a_protocol_has_by_its_link(command: list[str], plain: Path) -> None:
    plain.write_text(LINKED + "  expect proved\n")
    with running(command, "prove", plain, "at_most_once", "--watch", cwd=plain.parent) as process:
        said = "".join(lines_until(process, "watching"))
        plain.write_text(LINKED)
        unclaimed = "".join(lines_until(process, "watching"))
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
    assert process.returncode == 0
    assert "plain: 3 of 3 as expected" in said
    assert re.search(r"^plain\n  at_most_once +proved", said, re.MULTILINE), said
    assert "plain: no verdict on its at_most_once: the link `plain to quick` has no `expect proved`" in unclaimed
