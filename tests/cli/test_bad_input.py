"""Bad input of every kind: a clear message, exit 2, no traceback, no half-written file."""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from at_work import until_at_work
from tests.at_once import EAGER

from thence.cli.output import Output
from thence.cli.session import Session, run_command

Thence = Callable[..., Any]

FAILING_IMPORT = """
import sys
from thence.cli import main

class Failing:
    def find_spec(self, name, *about):
        if name == "thence.cli.commands.code.mutate":
            raise {error}

sys.meta_path.insert(0, Failing())
main()
"""

FILE_COMMANDS = [["check"], ["fmt"], ["run"], ["explore"], ["prove"]]


@pytest.mark.parametrize("command", FILE_COMMANDS, ids=lambda words: words[0])
class TestFiles:
    def test_directory(self, thence: Thence, command: list[str], tmp_path: Path) -> None:
        assert thence(*command, tmp_path).rejects(str(tmp_path), "is a directory")

    def test_missing(self, thence: Thence, command: list[str]) -> None:
        assert thence(*command, "nothing.thence").rejects("there is no file nothing.thence")

    def test_near_library_name(self, thence: Thence, command: list[str]) -> None:
        assert thence(*command, "cykass").rejects("did you mean cykas?")

    def test_binary(self, thence: Thence, command: list[str], tmp_path: Path) -> None:
        (tmp_path / "x.thence").write_bytes(bytes(range(256)) * 10)
        ran = thence(*command, "x.thence")
        assert ran.code == 2
        assert "E0101" in ran.err and "Traceback" not in ran.err

    def test_one_long_line(self, thence: Thence, command: list[str], tmp_path: Path) -> None:
        (tmp_path / "x.thence").write_bytes(b"a " * 5_000_000)
        ran = thence(*command, "x.thence")
        assert ran.code == 2
        assert "E0150" in ran.err and len(ran.err) < 2_000

    def test_deep_nesting(self, thence: Thence, command: list[str], tmp_path: Path) -> None:
        deep = "(" * 3_000 + "1" + ")" * 3_000
        (tmp_path / "x.thence").write_text(f"protocol p:\n  on causal_send(m):\n    let x = {deep}\n")
        ran = thence(*command, "x.thence")
        assert ran.code == 2
        assert "E0152" in ran.err and "Traceback" not in ran.err


def test_empty_file(thence: Thence, tmp_path: Path) -> None:
    (tmp_path / "x.thence").write_text("")
    for command in ("check", "explore", "prove"):
        assert thence(command, "x.thence").rejects("declares nothing")


def test_unreadable_file(thence: Thence, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    (tmp_path / "x.thence").write_text("")
    (tmp_path / "x.thence").chmod(0)
    assert thence("check", "x.thence").rejects("cannot be read")


@pytest.mark.long(
    but=(
        "expolre mf-e x p l o r e",
        "trace-s e e   t h e n c e   t r a c e   - - h e l p",
        "campaign status nowhere-n o w h e r e",
        "explore mf --bogus-- - b o g u s",
    )
)
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["prove", "execution", "fifo_sps_causl"], "did you mean fifo_sps_causal?"),
        (["prove", "cykas", "delivered"], "a link that says `eventually delivered by` would prove it"),
        (["prove", "skeen", "one_decision"], "judges it in scopes"),
        (["explore", "mf", "--scope", "tow"], "did you mean two?"),
        (["explore", "mf", "--mutant", "posts_at_onse"], "did you mean posts_at_once?"),
        (["explore", "mf", "--property", "casual"], "did you mean causal?"),
        (["explore", "mf", "--mutant", "does_not_wait"], "thence prove"),
        (["explore", "mf", "--sends", "one"], "--sends one"),
        (["export", "cykas", "-o", "x"], "did you mean --output?"),
        (["bmc", "cykas", "--steps", "3"], "did you mean --depth?"),
        (["explore", "mf", "--sends", "1,2"], "each of the 3 processes"),
        (["explore", "mf", "--processes", "1000000"], "from 1 to 64"),
        (["explore", "mf", "--processes", "1", "--sends", "1"], "nobody to send to"),
        (["explore", "mf", "--reductions", "symetry"], "did you mean symmetry?"),
        (["explore", "mf", "--reductions", "none,symmetry"], "none stands alone"),
        (["explore", "mf", "--reductions", "auto", "--engine", "interpreted"], "the interpreter makes none"),
        (["explore", "mf", "--engine", "compiled"], "there are auto, native and interpreted"),
        (["explore", "mf", "--engine", "native", "--cross-check"], "leave --engine native out"),
        (["explore", "mf", "--engine", "native", "--scope", "no_starvation"], "messages are sent for ever"),
        (["explore", "mf", "--memory", "much"], "--memory much"),
        (["explore", "mf", "--threads", "0"], "--threads"),
        (["explore", "mf", "--limit", "0"], "--limit"),
        (["explore", "mf", "--bogus"], "--bogus"),
        (["expolre", "mf"], "explore"),
        (["explore"], "see thence explore --help"),
        (["trace"], "see thence trace --help"),
        (["run", "mf", "--replay", "no.json"], "no.json"),
        (["conform", "mf", "--impl", "no_such_module:MF"], "there is no module no_such_module"),
        (["conform", "mf", "--impl", "thence.impl.mf:Mf"], "it has MF"),
        (["conform", "mf", "--impl", "thence.impl.mf"], "thence.impl.mf"),
        (["conform", "mf", "--impl", "json:JSONDecoder"], "JSONDecoder(0, 3)"),
        (["conform", "execution", "--impl", "thence.impl.mf:MF"], "no protocol"),
        (["explore", "execution"], "no protocol to explore; `thence prove` proves what it has"),
        (["conform", "cbcast", "--impl", "thence.impl.mf:MF"], "it is to be driven as broadcast"),
        (["campaign", "status", "nowhere"], "nowhere"),
        (["campaign", "start", "c", "--protocol", "execution"], "execution has no protocol"),
        (["campaign", "start", "c", "--protocol", "mf", "--scheduler", "unifrom"], "did you mean uniform?"),
        (["campaign", "start", "c", "--protocol", "mf", "--impl", "nothing:X"], "start: there is no module nothing"),
    ],
    ids=" ".join,
)
def test_names_and_numbers(thence: Thence, words: list[str], said: str) -> None:
    assert thence(*words).rejects(said)


def test_implementation_without_a_method(thence: Thence, tmp_path: Path) -> None:
    (tmp_path / "deaf.py").write_text(
        "class Deaf:\n  def __init__(self, identity, processes): pass\n  def causal_send(self, to, m): return ()\n"
    )
    assert thence("conform", "mf", "--impl", "deaf:Deaf").rejects("lacks the method receive")


def test_implementation_that_does_not_import(thence: Thence, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("import nothing_of_that_name\n")
    assert thence("conform", "mf", "--impl", "broken:X").rejects("does not import", "nothing_of_that_name")


HEADER = '{"format": "thence-trace/1", "processes": 2}\n'
SEND = '{"event": "send", "process": 0, "message": "a", "destinations": [1]}\n'
DELIVER = '{"event": "deliver", "process": 1, "message": "a"}\n'


class TestTraces:
    def trace(self, folder: Path, *lines: str) -> str:
        (folder / "t.ndjson").write_text("".join(lines))
        return "t.ndjson"

    def test_delivery_of_an_unsent_message(self, thence: Thence, tmp_path: Path) -> None:
        assert thence("trace", "check", self.trace(tmp_path, HEADER, DELIVER)).rejects("t.ndjson:2", "a")

    def test_second_delivery(self, thence: Thence, tmp_path: Path) -> None:
        ran = thence("trace", "check", self.trace(tmp_path, HEADER, SEND, DELIVER, DELIVER))
        assert ran.code == 1
        assert "duplicate" in ran.out

    def test_broken_line(self, thence: Thence, tmp_path: Path) -> None:
        assert thence("trace", "check", self.trace(tmp_path, HEADER, SEND, '{"event": "del', DELIVER)).rejects(
            "t.ndjson:3"
        )

    @pytest.mark.parametrize("name", ["missing.ndjson", "."])
    def test_no_file(self, thence: Thence, name: str) -> None:
        assert thence("trace", "check", name).rejects(name)

    def test_empty(self, thence: Thence, tmp_path: Path) -> None:
        assert thence("trace", "draw", self.trace(tmp_path)).rejects("t.ndjson")


REPORTING = [
    ["run", "mf", "--svg"],
    ["explore", "mf", "--mutant", "posts_at_once", "--svg"],
    ["conform", "mf", "--impl", "thence.impl.mf:MF", "--cases", "1", "--save"],
    ["verify", "mf", "--campaign-cases", "0", "--report"],
]


@pytest.mark.parametrize("words", REPORTING, ids=lambda words: words[0])
class TestUnwritableOutput:
    def test_missing_folder(self, thence: Thence, words: list[str], tmp_path: Path) -> None:
        assert thence(*words, "none/x").rejects("there is no folder none")
        assert list(tmp_path.iterdir()) == []

    def test_directory(self, thence: Thence, words: list[str], tmp_path: Path) -> None:
        (tmp_path / "taken").mkdir()
        assert thence(*words, "taken").rejects("taken is a directory")
        assert list((tmp_path / "taken").iterdir()) == []

    def test_no_file(self, thence: Thence, words: list[str]) -> None:
        assert thence(*words, "/dev/full").rejects("/dev/full")

    def test_read_only(self, thence: Thence, words: list[str]) -> None:
        assert thence(*words, "/proc/thence.svg").rejects("/proc/thence.svg", "cannot be written")


@pytest.mark.parametrize("words", [["check", "mf"], ["explore", "mf", "--scope", "one"], ["run", "mf", "--json"]])
def test_full_stdout(command: list[str], words: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*command, *words], stdout=full, stderr=subprocess.PIPE, encoding="utf-8", timeout=60, check=False
        )
    assert done.returncode == 2
    assert "cannot be written: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["mutate", "eager.thence", "eager", "--limit", "1", "--results", "kept"],
         "kept/eager-eager-protocol.ndjson: File too large"),
        (["mutate", "eager.thence", "--limit", "1", "--results", "kept"], "File too large"),
    ],
    ids=["one subject", "several subjects"],
)  # fmt: skip
def test_full_disk(command: list[str], tmp_path: Path, words: list[str], said: str) -> None:
    """No file may have a byte."""
    one = STATED[: STATED.index("\nscope")]
    (tmp_path / "eager.thence").write_text(f"{one}\n{one.replace('eager', 'other')}")
    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (0, 0))
    done = subprocess.run(
        [*command, *words], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=100, preexec_fn=limit
    )
    assert done.returncode == 2, done
    assert said in done.stdout and not done.stderr


def test_no_folder_for_temporary_files(capsys: pytest.CaptureFixture[str]) -> None:
    """The error names no file, and still is no defect of Thence."""

    def body(_session: Session) -> Output:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']")

    with pytest.raises(SystemExit) as ended:
        run_command("conform", False, body)
    assert ended.value.code == 2
    said = "thence conform: a file cannot be written: No usable temporary directory found in ['/tmp']\n"
    assert capsys.readouterr().err == said


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.EMFILE, "Too many open files"),
        OSError(errno.EMFILE, "Too many open files", "there.py"),
        BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable"),
        RuntimeError("can't start new thread"),
    ],
    ids=["files", "files, by a file's name", "processes", "threads"],
)
def test_a_system_that_gives_no_more(capsys: pytest.CaptureFixture[str], error: Exception) -> None:
    """Neither the input nor Thence is at fault: the outcome is unknown."""

    def body(_session: Session) -> Output:
        raise error

    with pytest.raises(SystemExit) as ended:
        run_command("prove", False, body)
    assert ended.value.code == 3
    said = capsys.readouterr().err
    assert said.startswith("thence prove: the system gives no more") and said.count("\n") == 1


def test_too_few_open_files(command: list[str], tmp_path: Path) -> None:
    """Solvers cannot be started."""
    limit = partial(resource.setrlimit, resource.RLIMIT_NOFILE, (10, 10))
    done = subprocess.run(
        [*command, "prove", "synchronous", "--no-cache"], cwd=tmp_path, capture_output=True, text=True, check=False,
        timeout=100, preexec_fn=limit,
    )  # fmt: skip
    assert done.returncode == 3, done
    assert done.stderr == "thence prove: the system gives no more: Too many open files\n"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("MemoryError()", "out of memory"),
        ("OSError('lib.so: failed to map segment')", "a library cannot be loaded: lib.so: failed to map segment"),
        ("OSError(24, 'Too many open files')", "the system gives no more: Too many open files"),
        ("ImportError('lib.so: failed to map segment')", "a defect of thence itself, please report it: "),
    ],
    ids=["memory", "library", "files", "import"],
)
def test_code_that_cannot_be_loaded(tmp_path: Path, error: str, said: str) -> None:
    """Nothing is known then, so it is no refutation (exit code 1), nor is the output at fault."""
    script = FAILING_IMPORT.format(error=error)
    done = subprocess.run(
        [sys.executable, "-c", script, "mutate", "fifo", "--json"], cwd=tmp_path, capture_output=True, text=True,
        check=False, timeout=100,
    )  # fmt: skip
    found = json.loads(done.stdout)
    assert (done.returncode, found["exit"], found["results"]) == (3, 3, [])
    assert found["error"].startswith(said)


def test_a_command_line_that_cannot_be_loaded(tmp_path: Path) -> None:
    script = FAILING_IMPORT.format(error="MemoryError()").replace("thence.cli.commands.code.mutate", "thence.cli.app")
    done = subprocess.run(
        [sys.executable, "-c", script, "mutate", "fifo"], cwd=tmp_path, capture_output=True, text=True, check=False,
        timeout=100,
    )  # fmt: skip
    assert done.returncode == 3 and done.stdout == "" and "MemoryError" in done.stderr


def test_broken_pipe(command: list[str]) -> None:
    process = subprocess.Popen(
        [*command, "run", "cykas", "--sends", "50", "--steps", "900"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.read(1)
    process.stdout.close()
    errors = process.stderr.read().decode()
    process.stderr.close()
    assert process.wait(60) in (0, 2)
    assert errors == ""


def interrupted(command: list[str], words: list[str], processor_s: float, folder: Path) -> tuple[int, str, str]:
    """Ctrl-C, as a terminal sends it: to the whole process group."""
    process = subprocess.Popen(
        [*command, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", cwd=folder,
        start_new_session=True,
    )  # fmt: skip
    until_at_work(process, processor_s)
    os.killpg(process.pid, signal.SIGINT)
    out, errors = process.communicate(timeout=60)
    return process.returncode, out, errors


@pytest.mark.long
def test_interrupted_exploration(command: list[str], tmp_path: Path) -> None:
    words = ["explore", "cykas", "--processes", "6", "--sends", "3"]
    code, out, errors = interrupted(command, words, 4.5, tmp_path)
    assert code == 3
    assert "incomplete: interrupted" in out and "states" in out
    assert "Traceback" not in errors


@pytest.mark.long
def test_interrupted_exploration_as_json(command: list[str], tmp_path: Path) -> None:
    words = ["explore", "cykas", "--processes", "4", "--sends", "3", "--json"]
    code, out, errors = interrupted(command, words, 4.5, tmp_path)
    found = json.loads(out)
    assert code == found["exit"] == 3
    assert found["complete"] is False
    assert all(result["verdict"] == "unknown" and result["states"] > 1 for result in found["results"])
    assert errors == ""


STATED = f"""{EAGER}  property at_most_once, no_creation

scope quick of eager:
  processes 2
  sends 1 per process

scope endless of eager:
  processes 6
  sends 5 per process
"""


@pytest.mark.long
def test_interrupted_verification_keeps_what_is_done(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "eager.thence").write_text(STATED)
    words = ["verify", "eager.thence", "--campaign-cases", "0", "--json", "--report", "r.html"]
    code, out, errors = interrupted(command, words, 7, tmp_path)
    found = json.loads(out)
    assert code == found["exit"] == 3, errors
    assert found["complete"] is False
    assert {result["scope"]["name"] for result in found["results"]} == {"quick"}
    assert "Interrupted" in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert errors == ""


def test_limit(thence: Thence) -> None:
    ran = thence("explore", "cykas", "--scope", "two", "--limit", "500", "--json")
    assert ran.code == 3
    assert all(result["unknown"].startswith("incomplete: stopped at 500 states") for result in ran.object["results"])


def test_a_file_name_that_is_no_text(thence: Thence, tmp_path: Path) -> None:
    """A byte of it that UTF-8 cannot say stands in a page as Python writes it."""
    name = os.fsdecode(b"n\xff.thence")
    (tmp_path / name).write_text(STATED.replace("property", "property fifo,").replace("1 per process", "2, 0"))
    ran = thence("explore", name, "--scope", "quick", "--html", "run.html", "--json")
    assert ran.code == 1 and ran.err == ""
    assert ran.object["results"][0]["file"] == "n\udcff"
    assert "n\\udcff" in (tmp_path / "run.html").read_text(encoding="utf-8")
