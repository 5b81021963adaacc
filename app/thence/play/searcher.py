"""A process that answers one long question, so that the page never waits and can end it at any moment.

It reads one line of JSON, writes lines of JSON (`progress`, then `answer`), and ends. It ends as well when its input
does: the page has gone, or does not want the answer any more.
"""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

from thence.dsl.load import load_bytes
from thence.play.backend.backend import Backend
from thence.play.backend.searching import Tell
from thence.spec.user_error import UserError

PROVE = "prove"
"""The question that only a server answers."""


class _Lines:
    """Lines of JSON on standard output."""

    def __init__(self) -> None:
        self._out = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)  # whatever else is printed does not get among the lines

    def write(self, **fields: Any) -> None:
        """One line."""
        self._out.write(json.dumps(fields) + "\n")
        self._out.flush()


def _end_with_input() -> None:
    """Waits for the end of the input, then ends the process: nobody is there to be told anything."""
    while os.read(0, 4096):
        pass
    os._exit(1)


def _first_line() -> bytes:
    """The question; read without a buffer, so that the end of the input is seen elsewhere."""
    found = bytearray()
    while not found.endswith(b"\n"):
        part = os.read(0, 65536)
        if not part:
            break
        found += part
    return bytes(found)


def _answer(backend: Backend, question: dict[str, Any], asked: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """The answer of the backend; proofs need solvers, which it does not have."""
    if question["method"] != PROVE:
        return backend.call(question["method"], asked, tell)
    from thence.play.proving import prove

    try:
        return prove(load_bytes(Path(question["name"]), question["text"].encode("utf-8", "replace")), asked, tell)
    except UserError as error:
        return {"error": {"kind": type(error).__name__, "message": str(error)}}


def main() -> None:
    """Answers the question on standard input."""
    question = json.loads(_first_line())
    lines = _Lines()
    threading.Thread(target=_end_with_input, daemon=True).start()
    backend = Backend()
    loaded = backend.call("load", {"text": question["text"], "name": question["name"]})
    asked = {**question["asked"], "spec": loaded["spec"]}
    try:
        lines.write(answer=_answer(backend, question, asked, lambda progress: lines.write(progress=progress)))
    except MemoryError:
        lines.write(answer={"error": {"kind": "MemoryError", "message": "out of memory"}})


if __name__ == "__main__":
    main()
