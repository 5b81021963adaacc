"""cvc5's own proof objects, in the Alethe format: part of a certificate for readers who have a checker for them.

No verdict or level rests on them: the checker for Alethe, Carcara, is in no package registry, so `recheck` cannot count
on it. The proof that cvc5 finds depends on memory addresses: another installation may give other bytes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from functools import partial

from thence.proofs.certificate.processes import Processes, side_by_side
from thence.proofs.solving.solver import TRIES

GRACE_MS = 2_000

BATCH = 40
"""Obligations for one process."""


def alethe_proofs(texts: Sequence[str], timeout_ms: int, workers: int = 1) -> tuple[str | None, ...]:
    """A proof for each obligation; None where cvc5 finds none in time."""
    return side_by_side(partial(_batch, timeout_ms), texts, BATCH, workers)


def _batch(timeout_ms: int, processes: Processes, texts: Sequence[str]) -> list[str | None]:
    proofs: list[str | None] = []
    while len(proofs) < len(texts):
        proofs.extend(_answers(timeout_ms, processes, texts[len(proofs) :]))
        if len(proofs) < len(texts):
            proofs.append(None)
    return proofs


def _answers(timeout_ms: int, processes: Processes, texts: Sequence[str]) -> list[str | None]:
    """The answers of one process, up to where it was killed or died."""
    request = json.dumps({"texts": list(texts), "timeout_ms": timeout_ms}).encode()
    command = [sys.executable, "-P", "-m", "thence.proofs.certificate.alethe_worker"]
    output = processes.output(command, (timeout_ms * TRIES["cvc5"] + GRACE_MS) / 1000 * len(texts), request)
    return [json.loads(line) for line in output.splitlines(keepends=True) if line.endswith("\n")]
