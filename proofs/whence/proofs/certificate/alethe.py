"""cvc5's own proof objects, in the Alethe format: part of a certificate for whoever has a checker for them.

Nothing that Whence says rests on them: the checker for Alethe, Carcara, is in no package registry, so that `recheck`
cannot count on it. It does look whether the cvc5 at hand, where it is of the same version, gives the same proof.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

GRACE_MS = 2_000

BATCH = 40
"""Obligations for one process."""


def alethe_proofs(texts: Sequence[str], timeout_ms: int, workers: int = 1) -> tuple[str | None, ...]:
    """A proof for each obligation; None where cvc5 finds none in time."""
    batches = [texts[start : start + BATCH] for start in range(0, len(texts), BATCH)]
    with ThreadPoolExecutor(workers) as threads:
        found = list(threads.map(lambda batch: _batch(batch, timeout_ms), batches))
    return tuple(proof for batch in found for proof in batch)


def _batch(texts: Sequence[str], timeout_ms: int) -> list[str | None]:
    proofs: list[str | None] = []
    while len(proofs) < len(texts):
        proofs.extend(_answers(texts[len(proofs) :], timeout_ms))
        if len(proofs) < len(texts):
            proofs.append(None)
    return proofs


def _answers(texts: Sequence[str], timeout_ms: int) -> list[str | None]:
    """The answers of one process, up to where it was killed or died."""
    process = subprocess.Popen(
        [sys.executable, "-m", "whence.proofs.certificate.alethe_worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    limit_s = (timeout_ms + GRACE_MS) / 1000 * len(texts)
    deadline = time.monotonic() + limit_s
    request = json.dumps({"texts": list(texts), "timeout_ms": timeout_ms}).encode()
    try:
        output, _ = process.communicate(request, max(1.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        process.kill()
        output, _ = process.communicate()
    finally:
        process.kill()
    lines = output.decode().splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]
