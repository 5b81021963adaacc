"""A case in a file: the system, the settings, the operations. It outlives the generators."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from thence.conformance.cases.network import Settings
from thence.conformance.cases.schedule import Schedule, ScheduleError, from_json, to_json
from thence.spec.json_objects import json_value

FORMAT: Final = "thence-case/1"

_FIELDS: Final = {"format", "system", "protocol", "settings", "operations"}

LARGEST_BYTES: Final = 64 << 20
"""A file with a recorded case is at most so long."""

STRICT: Final = "strict"
"""The value of the field `replay` of a case that is to have the order of the protocol's text."""

_FORMER: Final = "tolerant"
"""A former value: it asked for what is the default now."""


@dataclass(frozen=True, slots=True)
class RecordedCase:
    """A case to run again.

    Attributes:
        system: the subject, `module:Class`.
        protocol: the file or library name of the protocol in which it was replayed, or None.
        settings: the abilities of network and application.
        operations: the schedule.
        strict: each step is held against the protocol in the order of its text.
    """

    system: str
    protocol: str | None
    settings: Settings
    operations: Schedule
    strict: bool = False

    def to_json(self) -> dict[str, Any]:
        """The case as JSON values."""
        return {
            "format": FORMAT,
            "system": self.system,
            "protocol": self.protocol,
            "settings": self.settings.to_json(),
            "operations": to_json(self.operations),
            **({"replay": STRICT} if self.strict else {}),
        }

    def text(self) -> str:
        """The case as one line of JSON."""
        return json.dumps(self.to_json(), separators=(",", ":"))


def read_case_file(path: Path) -> RecordedCase:
    """The case in a file.

    Raises:
        ScheduleError: it is none, or too large for one.
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        content = file.read(LARGEST_BYTES + 1)
    if len(content) > LARGEST_BYTES:
        raise ScheduleError(f"a recorded case has at most {LARGEST_BYTES >> 20} MiB")
    try:
        return read_case(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ScheduleError("a recorded case is JSON: this is not text") from error


def read_case(text: str) -> RecordedCase:
    """The case that `RecordedCase.text` wrote.

    Raises:
        ScheduleError: the text is anything else.
    """
    try:
        value = json_value(text)
    except (ValueError, RecursionError) as error:
        raise ScheduleError(f"a recorded case is JSON: {error}") from error
    if not isinstance(value, dict) or set(value) - {"replay"} != _FIELDS or value["format"] != FORMAT:
        raise ScheduleError(f"a recorded case is an object with {', '.join(sorted(_FIELDS))}; its format is {FORMAT}")
    system, protocol = value["system"], value["protocol"]
    if not isinstance(system, str) or not isinstance(protocol, str | None):
        raise ScheduleError("the system of a recorded case is module:Class, its protocol a name or null")
    if value.get("replay", STRICT) not in (STRICT, _FORMER):
        raise ScheduleError(f"the replay of a recorded case is {STRICT!r}, or left out")
    try:
        settings = Settings.from_json(value["settings"])
    except ValueError as error:
        raise ScheduleError(f"the settings of the recorded case: {error}") from error
    return RecordedCase(system, protocol, settings, from_json(value["operations"]), value.get("replay") == STRICT)
