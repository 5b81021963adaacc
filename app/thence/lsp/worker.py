"""A process that answers one question about a text, so that an editor never waits and can end it at any moment.

It reads one line of JSON, the question, writes lines of JSON (`progress`, then `results` or `failed`), and ends. It
ends as well when its input does: the server has been closed, or does not want the answer any more.
"""

from __future__ import annotations

import _thread
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from thence.dsl import ir
from thence.dsl.load import load_bytes
from thence.lsp.tasks import Task, task_from
from thence.spec.user_error import UserError
from thence.spec.verdict import Result
from thence.spec.words import counted

GRACE_S = 3.0
"""How long a question may take to come to its end after the input has ended."""

EVERY_S = 0.3
"""The least time between two lines of progress."""

Tell = Callable[[str], None]


def answer(task: Task, file: str, text: str, memory: int, tell: Tell) -> tuple[Result, ...]:
    """The verdicts that the task asks for. `memory` bounds the states of an exploration, in bytes.

    Raises: UserError where the text does not have what is asked about.
    """
    found = load_bytes(Path(file), text.encode("utf-8", "replace")).specification
    if found is None:
        raise UserError("the text has errors")
    if task.kind == "prove":
        return _proved(found, task, tell)
    from thence.proofs.explore.exploration import Progress, Resources
    from thence.proofs.scopes.scenarios import play_scenario
    from thence.proofs.scopes.scopes import Options, check_links, check_mutant, explore_scope

    def report(label: str, progress: Progress) -> None:
        tell(f"{label}: {counted(progress.states, 'state')}, depth {progress.depth}")

    options = Options(report=report, resources=Resources(memory=memory))
    match task.kind:
        case "scope":
            scope = _named(found.scopes, task, task.of)
            protocol = next(one for one in found.protocols if one.name == scope.protocol)
            return explore_scope(protocol, scope.name, scope.workload, scope.expects, options=options)
        case "link":
            return check_links(_named(found.links, task), options)
        case "mutant":
            return check_mutant(found, _named(found.mutants, task, task.of), options)
        case "scenario":
            return play_scenario(_named(found.scenarios, task))


def _named(declared: Iterable[Any], task: Task, of: str = "") -> Any:
    for one in declared:
        if one.name == task.name and of in ("", getattr(one, "protocol", None), getattr(one, "subject", None)):
            return one
    raise UserError(f"there is no {task.kind} {task.name}")


def _proved(found: ir.Specification, task: Task, tell: Tell) -> tuple[Result, ...]:
    from thence.proofs.prove import provable_names, prove_specification
    from thence.proofs.solving.answer_cache import FOLDER
    from thence.proofs.solving.discharge import Options, ProofProgress
    from thence.spec.cache_folder import cache_folder

    if task.of:
        found = replace(found, mutants=tuple(each for each in found.mutants if each.subject == task.of))
    if task.name not in provable_names(found):
        raise UserError(f"there is no theorem or machine {task.name}")

    def report(progress: ProofProgress) -> None:
        tell(f"{progress.subject}, {progress.statement}: {progress.done} of {progress.total}")

    return prove_specification(found, (task.name,), Options(cache=cache_folder(FOLDER)), report)


class _Lines:
    """Lines of JSON on standard output."""

    def __init__(self) -> None:
        self._out = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)  # whatever else is printed does not get among the lines
        self._last = 0.0

    def write(self, **fields: Any) -> None:
        """One line."""
        self._out.write(json.dumps(fields) + "\n")
        self._out.flush()

    def progress(self, text: str) -> None:
        """A line of progress, unless the last one was just now."""
        now = time.monotonic()
        if now - self._last >= EVERY_S:
            self._last = now
            self.write(progress=text)


def _end_with_input() -> None:
    """Waits for the end of the input, then ends the process: by an interrupt, and if that does not help at once."""
    while os.read(0, 4096):
        pass
    _thread.interrupt_main()
    time.sleep(GRACE_S)
    os._exit(1)


def main() -> None:
    """Answers the question on standard input."""
    question = json.loads(_first_line())
    lines = _Lines()
    threading.Thread(target=_end_with_input, daemon=True).start()
    try:
        task = task_from(question["task"])
        results = answer(task, question["file"], question["text"], question["memory"], lines.progress)
        shown = [{**_short(result), "explanation": result.explanation} for result in results]
        lines.write(results=shown)
    except UserError as error:
        lines.write(failed=str(error))
    except MemoryError:
        lines.write(failed="out of memory")
    except KeyboardInterrupt:
        sys.exit(1)


def _first_line() -> bytes:
    """The question; read without a buffer, so that the end of the input is seen elsewhere."""
    found = bytearray()
    while not found.endswith(b"\n"):
        part = os.read(0, 1 if len(found) > 1 << 24 else 65536)
        if not part:
            break
        found += part
    return bytes(found)


def _short(result: Result) -> dict[str, Any]:
    return {
        "name": result.name,
        "subject": result.subject,
        "verdict": result.verdict.value,
        "level": result.level.name,
        "expected": result.expected,
        "seconds": round(result.seconds, 3),
        "unknown": str(result.facts.get("unknown", "")),
        "states": result.facts.get("states"),
    }


if __name__ == "__main__":
    main()
