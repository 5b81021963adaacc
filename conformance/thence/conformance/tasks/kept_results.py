"""Results that are kept from run to run: a folder with a file for each task.

NOTE(kept results): what a task came to is kept under a digest of all that it depends on: the task, with the text that
it is about, and every file of this program and the versions of its solvers. So it is never taken for that of another
text or program. A file is JSON, whole or not there, with a checksum of its name and content; what is damaged is as if
it was not there. A task that came out unknown against the file's expectation (its time was over, its process was lost)
is not kept, and so tried again.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from functools import cache
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Any

import thence
from thence.spec.cache_folder import read_kept
from thence.spec.verdict import Level, Result, Verdict

FORMAT = "thence-task/2"

SOLVERS = ("z3-solver", "cvc5", "llvmlite")
"""The packages that verdicts rest on beside this program."""


class KeptResults:
    """The results of tasks in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, about: Sequence[str | bytes]) -> tuple[Result, ...] | None:
        """What the task about this came to; None where nothing is kept of it."""
        try:
            place = self._place(about)
            found = json.loads(read_kept(place))
            if found["format"] != FORMAT or found["sum"] != _sum(place, found["results"]):
                return None
            return results_of(found["results"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def keep(self, about: Sequence[str | bytes], results: Sequence[Result]) -> None:
        """Keeps the results, if they count next time. Raises: OSError, which names the file."""
        if any(result.verdict is Verdict.UNKNOWN and not result.expected for result in results):
            return
        place = self._place(about)
        draft = place.with_name(f".{place.name}.{os.getpid()}")
        try:
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                said = [json_of(result) for result in results]
                json.dump({"format": FORMAT, "results": said, "sum": _sum(place, said)}, file)
            draft.replace(place)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(place)) from error
        finally:
            with suppress(OSError):
                draft.unlink(missing_ok=True)

    def _place(self, about: Sequence[str | bytes]) -> Path:
        digest = sha256(program().encode())
        for part in about:
            content = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
            digest.update(f"\0{len(content)}\0".encode() + content)
        return self._folder / f"task-{digest.hexdigest()[:40]}.json"


def _sum(place: Path, results: Any) -> str:
    said = json.dumps([place.name, json.loads(json.dumps(results))], sort_keys=True)
    return sha256(said.encode()).hexdigest()


def json_of(result: Result) -> dict[str, Any]:
    """All of a result, as JSON values."""
    found = {field.name: getattr(result, field.name) for field in fields(Result)}
    wanted = None if result.wanted is None else result.wanted.value
    return {**found, "facts": dict(result.facts), "verdict": result.verdict.value, "wanted": wanted}


def results_of(found: Sequence[Mapping[str, Any]]) -> tuple[Result, ...]:
    """The results again. Raises: KeyError, TypeError, ValueError."""
    return tuple(
        Result(
            **{
                **each,
                "verdict": Verdict(each["verdict"]),
                "level": Level(each["level"]),
                "wanted": None if each["wanted"] is None else Verdict(each["wanted"]),
            }
        )
        for each in found
    )


@cache
def program() -> str:
    """A digest of this program: its files, the versions of Python and of the packages that verdicts rest on."""
    digest = sha256(repr((sys.version_info[:3], [_version(name) for name in SOLVERS])).encode())
    for portion in map(Path, thence.__path__):
        for path in sorted(filter(_is_read, portion.rglob("*"))):
            digest.update(f"{path.relative_to(portion)}\0".encode() + sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _is_read(path: Path) -> bool:
    return "__pycache__" not in path.parts and path.suffix not in (".pyc", ".js", ".css", ".html") and path.is_file()
