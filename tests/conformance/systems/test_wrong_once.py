"""Random misbehaviour of a right system, once in a run: it is never a success, never a fault or a hang of ours."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path
from random import Random
from typing import Final

import pytest

from thence.conformance.cases.network import Settings
from thence.conformance.conform.conform import Report, conform
from thence.conformance.conform.rerun import opposite
from thence.conformance.conform.sampling import Sampling
from thence.conformance.systems.subject import Subject, SubjectError
from thence.conformance.systems.system import ExternalSystem, Limits

PROGRAM = Path(__file__).with_name("wrong_once.py")

KINDS: Final = (
    "silence", "late", "exit", "crash", "garbage", "log line", "half a line", "half a line, and the end", "two answers",
    "empty line", "large", "not utf-8", "list", "echo", "error", "wrong version", "no version", "closed input",
    "closed output", "child keeps the pipe", "no list", "unknown message", "own message", "wrong sender", "no process",
    "missing events", "twice delivered", "twice sent", "unasked answer", "typo",
)  # fmt: skip


SEEDS: Final = (*range(2), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 12)))


def run(kind: str, seed: int, folder: Path, *, behaves: bool = False) -> tuple[Report | None, bool, int]:
    """The report of a run, None where the system could not start; whether it has misbehaved; at which request it does.

    Where it `behaves`, it counts its requests instead.
    """
    random = Random(f"{kind} {seed}")
    folder.mkdir(exist_ok=True)
    marker = folder / f"{kind}-{seed}"
    process, at = random.randrange(-1, 3), 1 + int(30 ** random.random())
    words = ["none" if behaves else kind, str(process), str(at), str(marker)]
    limits = Limits(reply_s=1.0, start_s=30.0, case_s=10.0)
    command = shlex.join([sys.executable, str(PROGRAM), *words])
    system = ExternalSystem(command, per_process=random.random() < 0.25, limits=limits)
    subject = Subject(kind, system, None, reacts=True)  # type: ignore[arg-type]
    settings = Settings()
    try:
        opposite(subject, settings, None)
        sampling = Sampling(cases=random.choice([3, 6]), operations=random.choice([3, 8]), seed=seed)
        return conform(system, None, settings, sampling), marker.exists(), at
    except SubjectError:
        return None, marker.exists(), at
    finally:
        subject.close()


def is_last_request(kind: str, seed: int, folder: Path) -> bool:
    """Whether the request at which a run misbehaves is the last that a process of the system gets."""
    at = run(kind, seed, folder / "again", behaves=True)[2]
    asked = [int(path.read_text()) for path in (folder / "again").glob("*.asked-*")]
    assert asked
    return at in asked


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_misbehaviour_is_never_a_success(kind: str, seed: int, tmp_path: Path) -> None:
    begun = time.monotonic()
    report, misbehaved, _ = run(kind, seed, tmp_path)
    if kind == "closed input" and report is not None and misbehaved and not report.failures:
        assert is_last_request(kind, seed, tmp_path)  # nobody can tell
    else:
        assert report is None or bool(report.failures) == misbehaved, (kind, seed, misbehaved)
    assert report is None or not report.vacuous
    assert time.monotonic() - begun < 60
