"""Answers of solvers kept between runs: an obligation whose text did not change is not solved again.

Each answer is a small file, named by a hash of everything that the answer depends on: the canonical text without its
comments, the solver and its version, the seed, the limits, and the source of the solver process. Only decided answers
are kept, and no `unknown`, but one: where only `unsat` says anything, that Z3 has nothing more to try is kept, too.
Files are written whole or not at all, so that processes may share a directory. A file that is damaged, or does not
match its name, counts as absent.

The cache is trusted local state: whoever can write to it can forge an `unsat`. So files that another user owns or may
write to are not read. Certificates and `thence verify` never
use it, and finite models from it are evaluated again.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar, Literal

from thence.proofs.solving import solver_worker
from thence.proofs.solving.solver import (
    Answer,
    Check,
    Found,
    SolverName,
    SolverRequest,
    StagedSearch,
    asked_by,
    solver_version,
)
from thence.proofs.solving.solver_worker import EXHAUSTED
from thence.spec.cache_folder import read_kept

FORMAT = "thence-answer/1"

UNUSED_DAYS = 60
"""Answers that were not recalled during this time are removed."""

_DAY_S = 86_400

FOLDER = "answers"
"""The folder of the answers in `cache_folder`."""


@dataclass(frozen=True, slots=True)
class AnswerCache:
    """The answers in a directory, which need not exist. A file that cannot be read or written is ignored."""

    directory: Path
    complete: ClassVar[bool] = False

    def recall(self, request: SolverRequest) -> Answer | None:
        """The answer that was kept for the same request."""
        key = request_key(request)
        path = self._path(key)
        try:
            found = json.loads(read_kept(path))
            if time.time() - path.stat().st_mtime > _DAY_S:
                os.utime(path)
        except (OSError, ValueError, RecursionError):
            return None
        return _answer(request, key, found)

    def keep(self, request: SolverRequest, answer: Answer) -> None:
        """Keeps a decided answer."""
        if answer.cached or (answer.status == "unknown" and not _is_exhausted(request, answer)):
            return
        key = request_key(request)
        path = self._path(key)
        said = _said(answer)
        entry = {"format": FORMAT, "key": key, "answer": said, "sum": _digest(said)}
        draft = path.with_name(f".{key}.{os.getpid()}.{threading.get_ident()}")
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
                with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                    json.dump(entry, file)
                draft.replace(path)
            finally:
                draft.unlink(missing_ok=True)

    def prune(self) -> None:
        """Removes answers that were not recalled in a long time; at most once a day."""
        stamp = self.directory / "pruned"
        with suppress(OSError):
            if stamp.exists() and time.time() - stamp.stat().st_mtime < _DAY_S:
                return
            stamp.touch()
            for path in self._entries():
                if time.time() - path.stat().st_mtime > UNUSED_DAYS * _DAY_S:
                    path.unlink(missing_ok=True)

    def _entries(self) -> Iterator[Path]:
        return self.directory.glob("[0-9a-f][0-9a-f]/*")

    def _path(self, key: str) -> Path:
        return self.directory / key[:2] / key[2:]


def request_key(request: SolverRequest) -> str:
    """A hash of everything that the answer depends on."""
    name: SolverName = request.solver if isinstance(request, Check) else "z3"
    return _digest({"format": FORMAT, "program": _program(), "version": _version(name), **asked_by(request)})


@cache
def _program() -> str:
    """A hash of the source of the solver process, which sets the solvers' options and imports nothing of Thence."""
    return sha256(Path(solver_worker.__file__).read_bytes()).hexdigest()


@cache
def _version(solver: SolverName) -> str:
    return solver_version(solver)


def _digest(value: object) -> str:
    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _is_exhausted(request: SolverRequest, answer: Answer) -> bool:
    """Whether the solver ended before its limits, and was not to look for a model."""
    return isinstance(request, Check) and request.only_refute and answer.reason == EXHAUSTED


def _said(answer: Answer) -> dict[str, Any]:
    models = {goal: {"stage": found.stage, "values": dict(found.values)} for goal, found in answer.models.items()}
    return {"status": answer.status, "seconds": answer.seconds, "models": models, "core": list(answer.core)}


def _answer(request: SolverRequest, key: str, entry: object) -> Answer | None:
    """The answer of an entry; None where it is damaged or answers something else."""
    if not isinstance(entry, dict) or entry.get("format") != FORMAT or entry.get("key") != key:
        return None
    said = entry.get("answer")
    if not isinstance(said, dict) or entry.get("sum") != _digest(said):
        return None
    status, seconds, models, core = (said.get(name) for name in ("status", "seconds", "models", "core"))
    decided: dict[object, Literal["sat", "unsat", "unknown", "done"]] = (
        {"sat": "sat", "unsat": "unsat"} if isinstance(request, Check) else {"done": "done"}
    )
    if isinstance(request, Check) and request.only_refute:
        decided["unknown"] = "unknown"
    if status not in decided or not isinstance(seconds, int | float) or not isinstance(models, dict):
        return None
    if not isinstance(core, list) or not all(isinstance(name, str) for name in core):
        return None
    found = {goal: _found(request, goal, model) for goal, model in models.items()}
    if None in found.values():
        return None
    kept = {goal: model for goal, model in found.items() if model is not None}
    reason = EXHAUSTED if status == "unknown" else ""
    return Answer(decided[status], reason, float(seconds), kept, tuple(core), cached=True)


def _found(request: SolverRequest, goal: str, model: object) -> Found | None:
    if not isinstance(request, StagedSearch) or not isinstance(model, dict):
        return None
    stage, values = model.get("stage"), model.get("values")
    if not isinstance(stage, int) or not 0 <= stage < len(request.stages) or not isinstance(values, Mapping):
        return None
    if goal not in request.stages[stage].goals or values.keys() != request.constants.keys():
        return None
    kinds = {"Bool": bool, "Int": int}
    if any(type(value) is not kinds[request.constants[name]] for name, value in values.items()):
        return None
    return Found(stage, values)
