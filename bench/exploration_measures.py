"""Exhaustive exploration: interpreter, native code with one thread and two, reductions, and others on the same system.

SPIN is Debian's (`apt-get install spin gcc`); `cykas.pml` is the same transition system, with as many states. `cykas.c`
searches it as a program written for it alone can.
"""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from thence.dsl import ir
from thence.dsl.load import load
from thence.proofs.abstraction.search import explore_abstraction
from thence.proofs.engines import explore
from thence.proofs.explore.exploration import Engine, Exploration, Method, Resources, Storage
from thence.proofs.native.code.kernel import compile_kernel
from thence.proofs.scopes.scopes import properties_of

REPEATS = 5
PUBLISHED = {("cykas", 2): 52_521, ("cykas", 3): 5_022_640, ("mf", 2): 6_859, ("mf", 3): 110_592}
"""States of 3 processes with so many sends each to any other."""

MODEL = Path(__file__).with_name("cykas.pml")
HAND = Path(__file__).with_name("cykas.c")


def _workload(processes: int, sends: int) -> ir.Workload:
    others = tuple(tuple(q for q in range(processes) if q != p) for p in range(processes))
    return ir.Workload(processes, (sends,) * processes, others)


SAFETY = ("causal", "fifo", "at_most_once", "no_creation", "delivered", "fault")
"""What is judged where all reductions are made."""


def explored(
    name: str, processes: int, sends: int, engine: Engine, *, threads: int = 1, reductions: tuple[str, ...] = (),
    repeats: int = REPEATS, judged: tuple[str, ...] = (), storage: Storage = "exact",
) -> str:  # fmt: skip
    """Everything included, code generation too: the kernels are forgotten before each run."""
    specification = load(name).specification
    assert specification is not None
    protocol = specification.protocols[0]
    walls, processors = [], []
    found = Exploration()
    for _ in range(repeats):
        compile_kernel.cache_clear()
        started, used = time.perf_counter(), time.process_time()
        method = Method(engine, Resources(threads=threads), reductions, storage)
        found = explore(protocol, _workload(processes, sends), judged or properties_of(protocol), method=method)
        walls.append(time.perf_counter() - started)
        processors.append(time.process_time() - used)
    assert found.complete and not found.violations
    if not reductions and processes == 3:
        assert found.states == PUBLISHED[name, sends]
    wall = statistics.median(walls)
    memory = f", {found.memory / 1e6:,.0f} MB of states" if found.memory else ""
    return (
        f"{wall:.2f} s ({statistics.median(processors):.2f} s of processors), {found.states:,} states, "
        f"{found.transitions:,} transitions, {found.states / wall:,.0f} states/s{memory}"
    )


def threads_ratio(processes: int = 3, sends: int = 3, repeats: int = REPEATS) -> str:
    """One thread against two, turn by turn, so that whatever else the machine does is the same for both."""
    specification = load("cykas").specification
    assert specification is not None
    protocol = specification.protocols[0]
    ratios = []
    for _ in range(repeats):
        walls = []
        for threads in (1, 2):
            compile_kernel.cache_clear()
            started = time.perf_counter()
            method = Method(resources=Resources(threads=threads))
            found = explore(protocol, _workload(processes, sends), properties_of(protocol), method=method)
            walls.append(time.perf_counter() - started)
            assert found.complete and not found.violations
        ratios.append(walls[0] / walls[1])
    return f"{statistics.median(ratios):.2f} times (from {min(ratios):.2f} to {max(ratios):.2f})"


def spin(sends: int, repeats: int = REPEATS) -> str:
    """SPIN's own search, exact, without partial order reduction; generating and compiling the verifier is left out."""
    missing = [tool for tool in ("spin", "cc") if shutil.which(tool) is None]
    if missing:
        return f"skipped: {' and '.join(missing)} not installed"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["spin", f"-DK={sends}", "-a", str(MODEL)], cwd=folder, check=True, capture_output=True)
        flags = ["-O3", "-DSAFETY", "-DNOREDUCE", "-DMEMLIM=8192", "-w"]
        subprocess.run(["cc", *flags, "-o", "pan", "pan.c"], cwd=folder, check=True, capture_output=True)
        walls, processors, states = [], [], 0
        for _ in range(repeats):
            started, before = time.perf_counter(), os.times()
            command = ["./pan", "-m100000", "-w25", "-E"]
            shown = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
            after = os.times()
            walls.append(time.perf_counter() - started)
            processors.append(
                after.children_user - before.children_user + after.children_system - before.children_system
            )
            assert "errors: 0" in shown
            stored = re.search(r"([\d.e+]+) states, stored", shown)
            assert stored is not None
            states = round(float(stored[1]))
    assert abs(states - PUBLISHED["cykas", sends]) <= PUBLISHED["cykas", sends] * 1e-5
    wall = statistics.median(walls)
    return (
        f"{wall:.2f} s ({statistics.median(processors):.2f} s of processors), {PUBLISHED['cykas', sends]:,} states, "
        f"{PUBLISHED['cykas', sends] / wall:,.0f} states/s"
    )


def by_hand_ratio(repeats: int = REPEATS) -> str:
    """The explorer against the program written by hand, one thread each, in pairs: searching, and from the shell."""
    if shutil.which("cc") is None:
        return "skipped: cc not installed"
    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(folder) / "cykas")
        subprocess.run(["cc", "-O3", "-march=native", "-DK=3", "-o", program, str(HAND)], check=True)
        specification = load("cykas").specification
        assert specification is not None
        protocol, workload = specification.protocols[0], _workload(3, 3)
        judged = ("causal", "csps", "delivered", "fault")
        method = Method("native", resources=Resources(threads=1))
        explore(protocol, workload, judged, method=method)  # its code is kept from now on
        walls, ours = [], []
        for _ in range(repeats):
            shown = subprocess.run([program], check=True, capture_output=True, text=True).stdout
            found = re.fullmatch(r"(\d+) states, (\d+) transitions, depth (\d+), ([\d.]+) s\n", shown)
            assert found is not None
            result = explore(protocol, workload, judged, method=method)
            assert [int(found[at]) for at in (1, 2, 3)] == [result.states, result.transitions, result.depth]
            walls.append(float(found[4]))
            ours.append(result.seconds)
    ratios = sorted(one / other for one, other in zip(ours, walls, strict=True))
    return (
        f"{statistics.median(ours):.2f} s against {statistics.median(walls):.2f} s: {statistics.median(ratios):.2f} "
        f"times (from {ratios[0]:.2f} to {ratios[-1]:.2f}), tables included"
    )


def any_number(name: str, processes: int) -> str:
    """Any number of messages: the abstract states that every run stays in."""
    specification = load(name).specification
    assert specification is not None
    everyone = tuple(tuple(q for q in range(processes) if q != p) for p in range(processes))
    once = (1,) * processes
    workload = ir.Workload(processes, once, everyone, sending=ir.AnyNumber())
    before = time.process_time()
    found = explore_abstraction(
        specification.protocols[0], workload, ("causal", "fifo", "csps", "at_most_once", "fault")
    )
    assert found.saturated and not found.suspects
    return f"{time.process_time() - before:.1f} s of a processor, {found.states:,} abstract states, saturated"


MEASURES: dict[str, Callable[[], str]] = {
    "any-number-cykas-3": lambda: any_number("cykas", 3),
    "any-number-mf-4": lambda: any_number("mf", 4),
    "interpreted-cykas-2": lambda: explored("cykas", 3, 2, "interpreted"),
    "native-cykas-2": lambda: explored("cykas", 3, 2, "native"),
    "native-mf-3": lambda: explored("mf", 3, 3, "auto"),
    "native-cykas-3": lambda: explored("cykas", 3, 3, "auto"),
    "native-cykas-3-two-threads": lambda: explored("cykas", 3, 3, "auto", threads=2),
    "symmetry-cykas-3": lambda: explored("cykas", 3, 3, "auto", reductions=("symmetry",)),
    "native-cykas-4x2-two-threads": lambda: explored("cykas", 4, 2, "auto", threads=2, repeats=1),
    "symmetry-cykas-4x2-two-threads": lambda: explored(
        "cykas", 4, 2, "auto", threads=2, reductions=("symmetry",), repeats=1
    ),
    "layers-cykas-3": lambda: explored("cykas", 3, 3, "auto", storage="layers"),
    "native-cykas-3-threads-ratio": threads_ratio,
    "native-cykas-4x2-threads-ratio": lambda: threads_ratio(4, 2, repeats=3),
    "disk-cykas-3": lambda: explored("cykas", 3, 3, "auto", storage="disk"),
    "by-hand-cykas-3-ratio": by_hand_ratio,
    "spin-cykas-2": lambda: spin(2),
    "spin-cykas-3": lambda: spin(3),
}
