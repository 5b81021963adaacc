"""The files of a closed set, made from the states that a search has visited."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any, Final

from thence.dsl import ir
from thence.dsl.check.workloads.kind import kind_of
from thence.dsl.check.workloads.settings import lines_of
from thence.dsl.load import SUFFIX, Loaded
from thence.dsl.run.actions import State
from thence.dsl.run.system import System
from thence.proofs.certificate.forms.json_form import compact
from thence.proofs.closed.check import untried
from thence.proofs.closed.claim import (
    Claim,
    NotClaimed,
    cannot_show,
    claimed_system,
    named,
    omitted,
    protocol_of,
    refuse,
    workload_in,
)
from thence.proofs.closed.renamed import Names
from thence.proofs.closed.texts import citation, readme
from thence.proofs.closed.written import Malformed, written_local, written_packet, written_state

CLAIM: Final = "claim.json"
LOCALS, PACKETS, STATES = "local_states.jsonl.gz", "packets.jsonl.gz", "states.jsonl.gz"
README, CITATION = "README.md", "citation.bib"

FILES: Final = (CLAIM, LOCALS, PACKETS, STATES, README, CITATION)
"""The files beside the source."""


@dataclass(slots=True)
class Visited:
    """All states that a complete search has visited, in their written form; empty until it is complete.

    `renamings`: the names of processes up to which the search took states for one.
    """

    renamings: tuple[Names, ...] = ()
    files: dict[str, bytes] = field(default_factory=dict)
    states: int = 0

    def take(self, system: System, states: Iterable[State], renamings: Sequence[Names]) -> None:
        """Takes the states of a search in the place of those of an earlier one."""
        local = _Table(lambda number: written_local(system, system.local(number)))
        packet = _Table(lambda number: written_packet(system, system.packet(number)))
        found = [(state._replace(owed=0, follower=0)) for state in states]
        for state in found:
            local.note(state.locals)
            packet.note(state.network)
        places, positions = local.ordered(), packet.ordered()
        lines = {compact(written_state(state, places.__getitem__, positions.__getitem__)) for state in found}
        count = len(renamings[0]) if renamings else system.workload.processes
        self.renamings = tuple(renamings) or (tuple(range(count)),)
        self.states = len(lines)
        self.files = {LOCALS: packed(local.lines()), PACKETS: packed(packet.lines()), STATES: packed(sorted(lines))}


@dataclass(slots=True)
class _Table:
    """Local states or packets by number, and their lines in a file. The file does not depend on the numbers."""

    write: Callable[[int], Any]
    _lines: dict[int, bytes] = field(default_factory=dict)

    def note(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            if number not in self._lines:
                self._lines[number] = compact(self.write(number))

    def lines(self) -> list[bytes]:
        return sorted(self._lines.values())

    def ordered(self) -> dict[int, int]:
        """The line of each number."""
        ordered = sorted(self._lines, key=self._lines.__getitem__)
        return {number: line for line, number in enumerate(ordered)}


def packed(lines: Iterable[bytes]) -> bytes:
    """The lines, compressed; the same lines give the same bytes."""
    return gzip.compress(b"".join(lines), compresslevel=6, mtime=0)


def _plain(stem: str) -> str:
    """A name of a file, as far as its characters say nothing."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", stem)[:100] or "_"


def files_of(
    loaded: Loaded,
    subject: str,
    scope: str | None,
    workload: ir.Workload,
    holding: Collection[str],
    visited: Visited,
) -> tuple[Claim, dict[str, bytes]]:
    """The claim that the properties hold, as far as a closed set can show that, and all files.

    Args:
        holding: the properties that hold by the search.

    Raises:
        NotClaimed: where nothing of it can be shown.
    """
    assert loaded.specification is not None
    protocol = protocol_of(loaded.specification, subject)
    settings = lines_of(workload, kind_of(protocol))
    properties = tuple(name for name in holding if cannot_show(protocol, name) is None)
    if not properties:
        whys = "; ".join(f"{name}: {cannot_show(protocol, name)}" for name in holding)
        raise NotClaimed(f"a closed set of states shows nothing of what holds: {whys}")
    if not visited.files:
        raise NotClaimed("the exploration kept no set of states")
    source = f"sources/{_plain(loaded.path.name.removesuffix(SUFFIX))}{SUFFIX}"
    try:
        workload = workload_in(protocol, settings)  # as a reader of the claim has it
        left = omitted(protocol, workload, properties)
        claim = Claim(
            version("thence"), source, subject, named(loaded.specification, subject, scope, workload), settings,
            visited.renamings, properties, left, visited.states,
        )  # fmt: skip
        refuse(claim, loaded.specification, workload)
    except Malformed as fault:
        raise NotClaimed(str(fault)) from fault
    if whynot := untried(claimed_system(protocol, workload, properties), properties):
        raise NotClaimed(f"{'; '.join(whynot.values())}; --property asks for others")
    text = loaded.source.text.encode()
    files = {
        CLAIM: claim.content(text), source: text, **visited.files,
        README: readme(claim, text).encode(), CITATION: citation(claim, text).encode(),
    }  # fmt: skip
    return claim, files
