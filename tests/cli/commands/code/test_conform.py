"""`thence conform` with systems in other processes, and its files."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

Thence = Callable[..., Any]

ROOT = Path(__file__).parents[4]
ADAPTER = shlex.join([sys.executable, str(ROOT / "conformance" / "examples" / "python" / "adapter.py")])
MISBEHAVING = shlex.join([sys.executable, str(ROOT / "tests" / "conformance" / "systems" / "misbehaving.py")])
FAULTY = f"{ADAPTER} --faulty"
FAULTY_WORDS = ["conform", "--exec", FAULTY, "--cases", "200"]


def test_a_right_system_is_tested_alone_and_against_its_protocol(thence: Thence) -> None:
    alone = thence("conform", "--exec", ADAPTER, "--cases", "60", "--json")
    assert alone.code == 0
    for result in alone.object["results"]:
        assert (result["verdict"], result["protocol"], result["property"]) == ("tested", None, result["name"])
        assert result["subject"] == f"exec:{ADAPTER}" and result["cases"] == 60 and result["matched"] == 0
    both = thence("conform", "rst", "--exec", ADAPTER, "--cases", "60", "--json").object["results"]
    names = ["started", "conforming", "causal", "fifo", "delivered", "once", "prompt"]
    assert [(found["name"], found["claimed"]) for found in both] == [(name, name != "prompt") for name in names]
    assert {(found["protocol"], found["verdict"]) for found in both} == {("rst", "tested")}
    assert both[1]["matched"] > both[1]["events"] and both[1]["replay"] == "as promised"


def test_a_faulty_system_is_refuted_and_its_case_runs_again(thence: Thence, tmp_path: Path) -> None:
    files = ["--save", "case.json", "--svg", "case.svg", "--pytest", "test_case.py"]
    ran = thence("conform", "--exec", FAULTY, "--cases", "300", *files, "--json")
    [result] = [found for found in ran.object["results"] if not found["expected"]]
    assert (ran.code, result["verdict"], result["name"]) == (1, "refuted", "causal")
    assert result["findings"] == ["causal: p1 delivers m2.1 before m0.1 (m0.1 -> m0.2 -> m2.1)"]
    assert json.loads((tmp_path / "case.json").read_text()) == result["counterexample"]
    assert (tmp_path / "case.svg").read_text(encoding="utf-8").startswith("<svg")
    refused = thence("conform", "--replay", "case.json")
    assert refused.rejects("case.json names a program to run", shlex.quote(FAULTY), "--trust-file")
    again = thence("conform", "--replay", "case.json", "--trust-file")
    assert again.code == 1 and result["findings"][0] in again.out and "├─" in again.out
    repaired = thence("conform", "--replay", "case.json", "--exec", ADAPTER)
    assert repaired.code == 0 and "nothing is wrong" in repaired.out
    against = thence("conform", "rst", "--replay", "case.json", "--exec", FAULTY, "--json").object["results"][0]
    assert any(finding.startswith("nonconformance: ") for finding in against["findings"])
    words = [sys.executable, "-m", "pytest", "-q", "test_case.py"]
    test = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert test.returncode == 1 and "1 failed" in test.stdout
    assert result["findings"][0] in test.stdout and "too late" in test.stdout


def test_a_transcript_can_be_fed_to_the_system_again(thence: Thence, tmp_path: Path) -> None:
    words = ["conform", "--exec", FAULTY, "--cases", "300", "--save", "case.json", "--transcript", "first.ndjson"]
    assert thence(*words).code == 1
    lines = (tmp_path / "first.ndjson").read_text().splitlines()
    requests, replies = lines[::2], lines[1::2]
    assert json.loads(requests[0])["request"] == "init" and json.loads(replies[0])["version"] == "thence-exec/1"
    fed = subprocess.run(
        shlex.split(FAULTY), input="\n".join(requests) + "\n", capture_output=True, text=True, check=True, timeout=60
    )
    assert fed.stdout.splitlines() == replies
    again = thence("conform", "--replay", "case.json", "--exec", FAULTY, "--transcript", "again.ndjson")
    assert again.code == 1 and (tmp_path / "again.ndjson").read_text().splitlines() == lines


def test_nothing_failed_and_nothing_is_written(thence: Thence, tmp_path: Path) -> None:
    ran = thence("conform", "--impl", "thence.impl.mf:MF", "--cases", "10", "--pytest", "test_case.py")
    assert ran.code == 0 and "nothing failed; test_case.py is not written" in ran.out
    assert not list(tmp_path.iterdir())


def test_a_system_that_does_not_say_its_kinds_is_replayed_by_what_can_be_seen(thence: Thence) -> None:
    ran = thence("conform", "rst", "--exec", f"{MISBEHAVING} stubborn", "--cases", "40")
    assert ran.code == 1
    assert "=> causal, fifo: p1 delivers m0.2 before m0.1" in ran.out
    parted = (", after 3 matching events:", "the protocol keeps m0.2", "the subject delivers m0.2", "[line ")
    assert "\n         ".join(parted) in ran.out
    line, path = re.search(r"\[line (\d+), # deliver\.any\]", ran.out), re.search(r"lines are those of (.+)", ran.out)
    assert line and path, "a condition of a library file can be looked up"
    assert "# deliver.any" in Path(path[1]).read_text().splitlines()[int(line[1]) - 1]


def test_misbehaviour_is_a_finding_with_what_was_printed(thence: Thence) -> None:
    ran = thence("conform", "--exec", f"{MISBEHAVING} exit 3", "--cases", "20", "--operations", "4")
    assert ran.code == 1
    assert "has ended with exit code 7" in ran.out and "| so long" in ran.out
    hanging = thence("conform", "--exec", f"{MISBEHAVING} hang 2", "--reply-limit", "0.1", "--cases", "500", "--json")
    result = hanging.object["results"][0]
    assert hanging.code == 1 and result["cases"] < 500
    assert result["stopped"] == "3 requests had no answer in time"
    assert any(finding.startswith("hang: ") for finding in result["findings"])


def test_a_program_that_is_no_system(thence: Thence) -> None:
    ran = thence("conform", "--exec", "cat")
    assert ran.code == 2 and ran.out == ""
    assert "exec:cat could not start: it prints" in ran.err and "it repeats what it was asked" in ran.err
    assert "tried 3 times: cat was asked" in ran.err


@pytest.mark.parametrize("words", [["conform"], ["matrix"], ["cover", "rst"], ["conform", "rst"]])
def test_a_program_that_never_answers_is_no_success(thence: Thence, words: list[str]) -> None:
    """No case ran: exit 2, and what was tried."""
    ran = thence(*words, "--exec", "sleep 1000", "--start-limit", "0.5", "--json")
    assert ran.code == 2 and ran.object["results"] == []
    assert "exec:sleep 1000 could not start: it gives no answer in 0.5 s" in ran.object["error"]
    assert "tried once: sleep 1000 was asked" in ran.object["error"]


@pytest.mark.parametrize("command", ["conform", "matrix"])
def test_where_nothing_was_delivered_there_is_no_verdict(thence: Thence, tmp_path: Path, command: str) -> None:
    (tmp_path / "mute.py").write_text(
        "class Waiting:\n  blocked = True\n  def __init__(self, identity, processes): pass\n"
        "  def causal_send(self, destination, message): return []\n  def receive(self, sender, packet): return []\n"
    )
    ran = thence(command, "--impl", "mute:Waiting", "--cases", "20", "--json")
    assert ran.code == 3, ran.out
    assert {result["verdict"] for result in ran.object["results"]} == {"unknown"}
    assert {result["unknown"] for result in ran.object["results"]} == {"nothing was delivered in 20 cases"}


def test_a_recorded_case_in_which_nothing_is_delivered_is_no_verdict(thence: Thence, tmp_path: Path) -> None:
    case = {"format": "thence-case/1", "system": "thence.impl.mf:MF", "protocol": None, "settings": {}}
    (tmp_path / "case.json").write_text(json.dumps({**case, "operations": [["receive", 0, 1, 0]]}))
    ran = thence("conform", "--replay", "case.json", "--json")
    assert (ran.code, ran.object["results"][0]["verdict"]) == (3, "unknown")


def test_a_time_budget_ends_the_cases(thence: Thence, tmp_path: Path) -> None:
    """What has run by then is judged; the rest is said not to have run."""
    (tmp_path / "slow.py").write_text(
        "import time\nfrom thence.impl.rst import RST\n\nclass Slow(RST):\n"
        "    def causal_send(self, destination, message):\n        time.sleep(0.02)\n"
        "        return super().causal_send(destination, message)\n"
    )
    ran = thence("conform", "--impl", "slow:Slow", "--time", "3", "--cases", "5000", "--json")
    result = ran.object["results"][0]
    assert (ran.code, result["verdict"]) == (0, "tested")
    assert 0 < result["cases"] < 5000 and result["seconds"] < 20
    assert result["stopped"] == "the time budget of 3 s is spent"
    assert {"directed", "starve_one_channel", "guided"} <= {one["name"] for one in result["schedulers"]}, "shares"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "what is to be tested?"),
        (["--exec", "cat", "--impl", "m:C"], "give one of"),
        (["--exec", ""], "the command is empty"),
        (["--exec", "no-such-program --now"], "no program 'no-such-program'"),
        (["--exec", f"{MISBEHAVING} error"], "refuses to begin: no such thing"),
        (["--exec-per-process", "'"], "cannot be read"),
        (["--exec", "cat", "--delivery", "telepathy"], "delivery is"),
        (["--exec", "cat", "--channels", "slow"], "channels are"),
        (["--exec", "cat", "--reply-limit", "0"], "--reply-limit"),
        (["--exec", "cat", "--start-limit", "inf"], "give at most 86,400 seconds"),
        (["--exec", "cat", "--memory-limit", "3"], "give a size from 1M up"),
        (["--exec", "cat", "--schedules-from", "prover"], "name a protocol"),
        (["--impl", "thence.impl.mf:MF", "--processes", "10000000"], "takes no number above 256"),
        (["--exec", "cat", "--save", "no/such/folder.json"], "no folder"),
        (["--impl", "thence.impl.mf:MF", "--delivery", "broadcast"], "it is to be driven as broadcast"),
        (["--replay", "nothing.json"], "nothing.json"),
        (["--impl", "thence.impl.mf:MF", "--transcript", "t"], "--transcript is for commands"),
    ],
)
def test_bad_input(thence: Thence, words: list[str], said: str) -> None:
    assert thence("conform", *words).rejects(said)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_a_report_and_no_process(
    command: list[str], tmp_path: Path, marked: Callable[[str], list[int]], number: signal.Signals
) -> None:
    mark = f"thence-test-{os.getpid()}-{time.monotonic_ns()}"
    running = subprocess.Popen(
        [*command, "conform", "--exec", f"{ADAPTER} {mark}", "--cases", "1000000", "--json"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip

    until = time.monotonic() + 30
    while not marked(mark) and time.monotonic() < until:
        time.sleep(0.05)
    assert marked(mark)
    time.sleep(1)
    running.send_signal(number)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (3, "")
    found = json.loads(out)
    assert found["complete"] is False and found["results"][0]["verdict"] == "unknown"
    assert marked(mark) == []


def test_what_a_class_prints_is_not_among_the_json(thence: Thence, tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(
        "import os\nfrom thence.impl.mf import MF\n\nclass Loud(MF):\n  def receive(self, sender, packet):\n"
        "    print('hello')\n    os.write(1, b'hello again\\n')\n    raise RuntimeError('\\ud800 \\x1b[31m')\n"
    )
    ran = thence("conform", "--impl", "loud:Loud", "--cases", "5", "--json")
    result = ran.object["results"][0]
    assert ran.code == 1 and "hello" in ran.err and "hello" not in ran.out
    assert r"raises RuntimeError: \ud800 \x1b[31m" in result["findings"][0]
    shown = thence("conform", "--impl", "loud:Loud", "--cases", "5", "--pytest", "test_loud.py")
    assert shown.code == 1 and "Traceback" not in shown.err and (tmp_path / "test_loud.py").exists()


def test_a_full_disk_costs_no_result(thence: Thence, tmp_path: Path) -> None:
    """The smaller file fits, the larger one does not; what was found is said all the same."""
    words = [*FAULTY_WORDS, "--save", "case.json", "--svg", "case.svg", "--json"]
    shell = f"ulimit -f 1; trap '' XFSZ; exec {shlex.join([str(Path(sys.executable).parent / 'thence'), *words])}"
    ran = subprocess.run(["bash", "-c", shell], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    found = json.loads(ran.stdout)
    assert (ran.returncode, found["exit"]) == (2, 2) and "Traceback" not in ran.stderr
    [refuted] = [result for result in found["results"] if result["verdict"] == "refuted"]
    [said] = found["unwritten"]
    assert said.startswith("case.svg cannot be written")
    assert json.loads((tmp_path / "case.json").read_text()) == refuted["counterexample"]
    assert [file.name for file in tmp_path.iterdir()] == ["case.json"]


def test_an_interrupted_matrix_has_the_cells_so_far(thence: Thence, tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(
        "import time\nfrom thence.impl.mf import MF\n\nclass Slow(MF):\n  def receive(self, sender, packet):\n"
        "    open('begun', 'w').close()\n    time.sleep(0.001)\n    return super().receive(sender, packet)\n"
    )
    words = ["matrix", "--impl", "slow:Slow", "--cases", "1000000", "--json"]
    process = subprocess.Popen(
        [str(Path(sys.executable).parent / "thence"), *words], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    until = time.monotonic() + 60
    while not (tmp_path / "begun").exists() and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    found = json.loads(process.communicate(timeout=60)[0])
    assert process.returncode in (1, 3) and found["complete"] is False
    [cell] = found["results"]
    assert cell["name"] == "FIFO channels, unicast" and 0 < cell["cases"] < 1_000_000


QUITTER = """
import os

from thence.impl.rst import RST


class Quits(RST):
    def receive(self, sender, packet):
        print("not for the contract")
        if packet.message == "m1.2":
            os._exit(3)
        return super().receive(sender, packet)
"""


@pytest.mark.long
def test_a_class_that_ends_its_process_is_refuted(thence_process: Thence, tmp_path: Path) -> None:
    (tmp_path / "quitter.py").write_text(QUITTER)
    here = thence_process("conform", "--impl", "quitter:Quits", "--cases", "60")
    assert here.code == 1 and "os._exit(3) would end the process" in here.out
    own = ["--impl", "isolated:quitter:Quits", "--cases", "20"]
    ran = thence_process("conform", *own, "--save", "case.json", "--transcript", "said.ndjson", "--json")
    result = ran.object["results"][0]
    assert (ran.code, result["verdict"], result["subject"]) == (1, "refuted", "isolated:quitter:Quits")
    assert any("has ended with exit code 3" in finding for finding in result["findings"])
    assert len(result["counterexample"]["operations"]) == 2
    again = thence_process("conform", "--replay", "case.json", "--trust-file")
    assert again.code == 1 and "has ended with exit code 3" in again.out
    assert '"request":"init"' in (tmp_path / "said.ndjson").read_text()
    table = thence_process("matrix", *own[:2], "--cases", "3", "--json").object
    assert {found["delivery"] for found in table["results"]} == {"unicast"}
    test = "import pytest\n\n\n@pytest.mark.thence(system='isolated:quitter:Quits', cases=20, claims=['once'])\n"
    (tmp_path / "test_quitter.py").write_text(f"{test}def test_quitter(claim):\n    claim.check()\n")
    words = [sys.executable, "-m", "pytest", "-q", "test_quitter.py"]
    found = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert found.returncode == 1 and "has ended with exit code 3" in found.stdout


def test_a_protocol_is_named_as_trace_check_takes_it(thence: Thence, tmp_path: Path) -> None:
    library = Path(str(files("thence.spec") / "library" / "client_server.thence"))
    names = re.findall(r"^protocol (\w+):", library.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(names) > 1
    words = ["conform", "--impl", "thence.impl.rst:RST", "--cases", "30", "--json"]
    by_name = thence(*words, "--against", "rst:rst").object["results"][0]
    assert (by_name["protocol"], by_name["matched"] > 0) == ("rst:rst", True)
    assert by_name["cases"] == thence(*words, "--against", "rst").object["results"][0]["cases"]
    (tmp_path / "mine.thence").write_text(library.read_text(encoding="utf-8"), encoding="utf-8")
    against = [f"mine.thence:{names[1]}", "--save", "case.json"]
    other = thence("conform", "--impl", "thence.impl.rst:RST", "--cases", "30", "--json", "--against", *against)
    found = next(result for result in other.object["results"] if result["name"] == "conforming")
    assert (other.code, found["protocol"]) == (1, f"mine.thence:{names[1]}")
    assert any(finding.startswith("nonconformance") for finding in found["findings"])
    again = thence("conform", "--replay", "case.json")
    assert again.code == 1 and "nonconformance" in again.out
    assert thence(*words[:-1], "--against", "rst:nothing").rejects("there is no protocol nothing")
    assert thence(*words[:-1], "mf", "--against", "rst").rejects("held against mf, or against rst")


def test_the_sum_names_a_command_whole(thence: Thence, tmp_path: Path) -> None:
    program = Path(__file__).parents[3] / "conformance" / "systems" / "wrong_once.py"
    command = shlex.join([sys.executable, str(program), "none", "-1", "1", str(tmp_path / "asked")])
    ran = thence("conform", "--exec", command, "--cases", "5")
    assert ran.code == 0, ran.out + ran.err
    assert f"exec:{command}: 5 of 5 tested" in " ".join(ran.out.split())
