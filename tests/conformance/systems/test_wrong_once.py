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


def run(kind: str, seed: int, folder: Path) -> tuple[Report | None, bool]:
    """The report of a run, None where the system could not start; and whether it has misbehaved."""
    random = Random(f"{kind} {seed}")
    marker = folder / f"{kind}-{seed}"
    words = [kind, str(random.randrange(-1, 3)), str(1 + int(30 ** random.random())), str(marker)]
    limits = Limits(reply_s=1.0, start_s=30.0, case_s=10.0)
    command = shlex.join([sys.executable, str(PROGRAM), *words])
    system = ExternalSystem(command, per_process=random.random() < 0.25, limits=limits)
    subject = Subject(kind, system, None, reacts=True)  # type: ignore[arg-type]
    settings = Settings()
    try:
        opposite(subject, settings, None)
        sampling = Sampling(cases=random.choice([3, 6]), operations=random.choice([3, 8]), seed=seed)
        return conform(system, None, settings, sampling), marker.exists()
    except SubjectError:
        return None, marker.exists()
    finally:
        subject.close()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_misbehaviour_is_never_a_success(kind: str, seed: int, tmp_path: Path) -> None:
    begun = time.monotonic()
    report, misbehaved = run(kind, seed, tmp_path)
    assert report is None or bool(report.failures) == misbehaved, (kind, seed, misbehaved)
    assert report is None or not report.vacuous
    assert time.monotonic() - begun < 60
