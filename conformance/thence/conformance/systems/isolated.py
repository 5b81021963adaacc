"""A class of Python as a system in a process of its own, the only one that it can harm.

Thence runs `isolated_worker.serve` in a process under a supervisor, and drives it like any foreign system, over
`thence-exec/1`. Packets stay there; their numbers travel. There is one request besides, `describe`: what the class
is, before any case.
"""

from __future__ import annotations

import json
import shlex
import sys
from typing import Any, Final

from thence.conformance.systems.foreign import SystemFailed
from thence.conformance.systems.os_process import OsProcess
from thence.conformance.systems.system import ExternalSystem, Limits

_START: Final = (
    "import sys; sys.path[:] = sys.argv[2:]; "
    "from thence.conformance.systems.isolated_worker import serve; serve(sys.argv[1])"
)
"""The program; its arguments are the name of the class and the import path."""


class Refused(Exception):
    """The class cannot be used; the message says why."""


class IsolatedSystem(ExternalSystem):
    """The participants are objects of a class, in another process.

    Attributes:
        description: `delivery`, `reacts`, and `file`, the path of the class's module or null.
    """

    def __init__(self, name: str, processes: int, limits: Limits | None = None) -> None:
        """Raises: Refused, where the class cannot be used; CommandError, where no process can be run and ended."""
        words = [sys.executable, "-c", _START, name, *sys.path]
        super().__init__(shlex.join(words), limits=limits)
        process = OsProcess(words, self.limits.memory_bytes)
        asked = json.dumps({"request": "describe", "processes": processes}).encode() + b"\n"
        try:
            [line] = process.ask(asked, self.limits.start_s)
        except SystemFailed as failed:
            raise Refused(f"the process of {name} {failed}, before it was asked for anything but its class") from failed
        finally:
            process.close()
        self.description: dict[str, Any] = json.loads(line)
        if "error" in self.description:
            raise Refused(self.description["error"])
