"""Closed sets made without the command line: of a text in a scope, by native code, and their checkers."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from thence.dsl import ir
from thence.dsl.load import load_bytes
from thence.dsl.run.scoped import asked_of
from thence.dsl.run.system import System
from thence.proofs.closed.check import Checked
from thence.proofs.closed.claim import BUILT_IN, Claim, cannot_show, claim_of
from thence.proofs.closed.confirm import Confirmed, confirm
from thence.proofs.closed.emitted import CLAIM, STATES, Visited, files_of, packed
from thence.proofs.closed.reading import Reading
from thence.proofs.closed.texts import citation, readme
from thence.proofs.explore.exploration import Exploration, ExplorationRequest, Resources
from thence.proofs.native.engine import NativeEngine, Sample

CAPACITY = Sample(256, 64, 8).capacity


@dataclass(frozen=True)
class Searched:
    """A search by native code: what it found, what it was asked, and the states that it gave away."""

    text: str
    workload: ir.Workload
    asked: frozenset[str]
    found: Exploration
    visited: Visited

    @property
    def holding(self) -> tuple[str, ...]:
        """What is not violated, of what a closed set can show."""
        if "fault" in self.found.violations:
            return ()
        protocol = protocol_in(self.text)
        return tuple(
            name
            for name in sorted(self.asked - self.found.violations.keys())
            if cannot_show(protocol, name) is None and f"acts {name}" not in self.found.never
        )

    def files(self, holding: Iterable[str] | None = None) -> dict[str, bytes]:
        """The files of the claim that all of it holds."""
        loaded = load_bytes(Path("drawn.thence"), self.text.encode())
        names = self.holding if holding is None else tuple(holding)
        return files_of(loaded, protocol_in(self.text).name, None, self.workload, names, self.visited)[1]


def protocol_in(text: str) -> ir.Protocol:
    """The first protocol of the text."""
    loaded = load_bytes(Path("drawn.thence"), text.encode())
    assert loaded.specification is not None, loaded.diagnostics
    return loaded.specification.protocols[0]


def searched(text: str, workload: ir.Workload, reductions: Iterable[str] = ()) -> Searched:
    """Explores the first protocol of the text; all that a closed set could show is asked."""
    protocol = protocol_in(text)
    stated = {formula.name for formula in protocol.invariants if formula.name not in protocol.witnesses}
    asked = frozenset({*BUILT_IN, *stated} - {"causally_ordered"})
    visited = Visited()
    request = ExplorationRequest(
        System(asked_of(protocol, asked), workload), asked, resources=Resources(threads=1),
        reductions=frozenset(reductions), keep=visited.take,
    )  # fmt: skip
    found = NativeEngine(request).run(CAPACITY)
    assert found.complete
    return Searched(text, workload, asked, found, visited)


def reading_of(files: dict[str, bytes]) -> Reading:
    """The files as a reader takes them in; that belongs together which is not asked."""
    return Reading(claim_of(json.loads(files[CLAIM])), files)


def checked(files: dict[str, bytes]) -> Checked:
    """What the checker says. Raises: Rejected, Malformed."""
    return reading_of(files).checker().check()


@dataclass(frozen=True)
class Folder:
    """A closed set in a folder, which a forger changes and signs anew."""

    directory: Path

    def write(self, files: dict[str, bytes]) -> None:
        for file, content in files.items():
            path = self.directory / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    @property
    def claim(self) -> Claim:
        return claim_of(json.loads((self.directory / CLAIM).read_bytes()))

    def lines(self, file: str = STATES) -> list[Any]:
        return [json.loads(line) for line in gzip.decompress((self.directory / file).read_bytes()).splitlines()]

    def put(self, lines: Iterable[Any], file: str = STATES) -> None:
        """Writes the lines of a file."""
        written = [json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines]
        (self.directory / file).write_bytes(packed(written))

    def sign(self, change: Callable[[Claim], Claim] = lambda claim: claim) -> None:
        """Changes the claim, and computes from it and from the other files what follows from them."""
        self._sign(replace(change(self.claim), states=len(self.lines())))

    def sign_states(self, states: int) -> None:
        """Signs the folder as one of so many states, whatever is in the file."""
        self._sign(replace(self.claim, states=states))

    def _sign(self, claim: Claim) -> None:
        source = (self.directory / claim.source).read_bytes()
        files = {CLAIM: claim.content(source), "README.md": readme(claim, source).encode()}
        self.write({**files, "citation.bib": citation(claim, source).encode()})

    def confirm(self) -> Confirmed:
        return confirm(self.directory)
