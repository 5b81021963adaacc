"""Programs as text: `0: send to 1; receive from 2; receive`, a line for each process."""

from __future__ import annotations

import re
from collections.abc import Iterator

from thence.dsl.text.programs import Program, imbalance
from thence.dsl.text.syntax import ProgramStep

_LINE = re.compile(r"(?:program\s+)?(\d{1,2})\s*:(.*)")
_STEP = re.compile(r"(?:(send) to (\d{1,2})|(receive)(?: from (\d{1,2}(?:\s*,\s*\d{1,2})*))?)")

MOST_PROCESSES = 8
MOST_STEPS = 40


def read_programs(text: str) -> tuple[Program, ...]:
    """The programs of processes 0, 1, ...; `#` begins a comment. Raises: ValueError with the fault and its line."""
    found: dict[int, Program] = {}
    for number, line in enumerate(text.splitlines(), 1):
        content = line.partition("#")[0].strip()
        if not content:
            continue
        match = _LINE.fullmatch(content)
        if match is None:
            raise ValueError(f"line {number}: expected a line such as `0: send to 1; receive from 2; receive`")
        process = int(match[1])
        if process in found:
            raise ValueError(f"line {number}: process {process} has a program already")
        found[process] = tuple(_steps(match[2], process, number))
    if not found:
        raise ValueError("there is no program in it: expected lines such as `0: send to 1; receive`")
    count = 1 + max((*found, *(p for program in found.values() for _, others in program for p in others)))
    if count > MOST_PROCESSES or sum(map(len, found.values())) > MOST_STEPS:
        raise ValueError(f"at most {MOST_PROCESSES} processes and {MOST_STEPS} sends and receives can be enumerated")
    programs = tuple(found.get(process, ()) for process in range(count))
    if (odd := imbalance(programs)) is not None:
        process, taken, sent = odd
        raise ValueError(f"process {process} receives {taken} of the {sent} messages that are sent to it")
    return programs


def _steps(text: str, process: int, number: int) -> Iterator[ProgramStep]:
    for part in filter(None, map(str.strip, text.split(";"))):
        match = _STEP.fullmatch(" ".join(part.split()))
        if match is None:
            raise ValueError(f"line {number}: `{part}` is neither `send to 1` nor `receive` nor `receive from 1, 2`")
        if match[1]:
            if int(match[2]) == process:
                raise ValueError(f"line {number}: process {process} sends to itself")
            yield ("send", (int(match[2]),))
        else:
            yield ("receive", tuple(sorted({int(word) for word in (match[4] or "").replace(",", " ").split()})))
