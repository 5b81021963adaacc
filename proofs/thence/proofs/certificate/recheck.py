"""Checks a certificate again: every obligation solved, every proof object checked, everything derived from the source.

Nothing in the certificate is trusted. A fault is a difference between the certificate and the recheck. A question that
stays open, for lack of time or of a program, is reported; it lowers the level, or makes the verdict `unknown`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from thence.proofs.certificate.build import strength
from thence.proofs.certificate.manifest import CertifiedStatement, Manifest
from thence.proofs.certificate.reading import Reading, read, same_version
from thence.proofs.certificate.rederive import Difference, Key, rederive
from thence.proofs.certificate.smtinterpol import Smtinterpol
from thence.proofs.certificate.solver_results import Note, solve
from thence.proofs.solving.discharge import Options
from thence.spec.verdict import Level, Verdict


@dataclass(frozen=True, slots=True)
class Thoroughness:
    """The parts of a recheck: by default all.

    Attributes:
        proofs: proof objects are checked.
        rederived: the obligations are derived again from the source, and finite evidence is evaluated.
    """

    proofs: bool = True
    rederived: bool = True


@dataclass(frozen=True, slots=True)
class Confirmation:
    """One statement, and the outcome of its recheck.

    Attributes:
        verdict: the certified one where it is confirmed, else `unknown`.
        level: as this recheck gives it.
        proofs_checked: the number of its obligations with a proof object that the checker accepts.
        reasons: the reasons why it is not confirmed.
    """

    statement: CertifiedStatement
    verdict: Verdict
    level: Level
    proofs_checked: int
    reasons: tuple[str, ...] = ()

    @property
    def confirmed(self) -> bool:
        return self.verdict is self.statement.verdict


@dataclass(frozen=True, slots=True)
class Recheck:
    """The result of a recheck. `faults`: the certificate is wrong. `notes`: parts that were left out, or differ."""

    manifest: Manifest | None
    faults: tuple[str, ...]
    notes: tuple[str, ...] = ()
    confirmations: tuple[Confirmation, ...] = ()
    seconds: float = 0.0


@dataclass(slots=True)
class _Report:
    """Faults and notes so far."""

    faults: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def recheck(
    directory: Path,
    options: Options,
    smtinterpol: Smtinterpol | None,
    thoroughness: Thoroughness | None = None,
    note: Note | None = None,
) -> Recheck:
    """Checks the certificate in the directory.

    Args:
        smtinterpol: the proof checker; without it proof objects are not checked, and no level is L4.

    Raises:
        NotACertificate: there is none, or none of this format.
    """
    started = time.monotonic()
    thoroughness = thoroughness or Thoroughness()
    reading = read(directory)
    if reading.faults or reading.manifest is None:
        return Recheck(reading.manifest, reading.faults, seconds=time.monotonic() - started)
    found = _Report()
    if not same_version(reading.manifest):
        found.notes.append(
            f"written by Thence {reading.manifest.thence}, another version: "
            "the files that are made from the manifest were not compared"
        )
    texts = [reading.text(each.file) for each in reading.manifest.obligations]
    statuses = solve(texts, options, note)
    _hold_statuses(reading.manifest, statuses, found)
    checked: Sequence[bool] = [False] * len(texts)
    if thoroughness.proofs:
        checked = _check_proofs(reading, texts, options, smtinterpol, found, note)
    else:
        found.notes.append("proof objects were not checked (--no-proofs)")
    differences: Mapping[Key, Difference] = {}
    if not thoroughness.rederived:
        found.notes.append(
            "the obligations were not derived from the source, and evidence was not evaluated (--no-rederive): "
            "only that these SMT-LIB2 files are unsatisfiable"
        )
    elif not found.faults:
        if note is not None:
            note("deriving the obligations from the source", 0, 1)
        differences = rederive(reading, _decisions(texts, statuses, checked), options)
        _hold_derivation(reading.manifest, differences, found)
    confirmations = tuple(_confirmations(reading.manifest, statuses, checked, differences, thoroughness, found))
    return Recheck(reading.manifest, tuple(found.faults), tuple(found.notes), confirmations, time.monotonic() - started)


def _hold_statuses(manifest: Manifest, statuses: Sequence[Mapping[str, str]], found: _Report) -> None:
    for each, now in zip(manifest.obligations, statuses, strict=True):
        refuting = [solver for solver, status in now.items() if status == "sat"]
        if refuting:
            found.faults.append(
                f"{each.file} is satisfiable, says {' and '.join(refuting)}: `{each.name}` is not valid"
            )
    lost = [
        f"{solver} on {each.file}"
        for each, now in zip(manifest.obligations, statuses, strict=True)
        for solver, status in each.results.items()
        if status == "unsat" and now.get(solver) == "unknown"
    ]
    if lost:
        listed = ", ".join(lost[:5]) + (f" and {len(lost) - 5} more" if len(lost) > 5 else "")
        found.notes.append(f"decided when the certificate was written, and not now: {listed}")


def _decisions(
    texts: Sequence[str], statuses: Sequence[Mapping[str, str]], checked: Sequence[bool]
) -> Mapping[str, Mapping[str, str]]:
    """The answers about each obligation. A checked proof object counts as the answer of every solver."""
    return {
        text: dict.fromkeys(now, "unsat") if proof else now
        for text, now, proof in zip(texts, statuses, checked, strict=True)
    }


def _hold_derivation(manifest: Manifest, differences: Mapping[Key, Difference], found: _Report) -> None:
    if same_version(manifest):
        found.faults.extend(
            f"{statement.subject}, {statement.name}: {fault}"
            for statement in manifest.statements
            for fault in differences[statement.key].faults
        )


def _check_proofs(
    reading: Reading,
    texts: Sequence[str],
    options: Options,
    smtinterpol: Smtinterpol | None,
    found: _Report,
    note: Note | None,
) -> list[bool]:
    """For each obligation whether the checker accepts its proof object; a proof object that it rejects is a fault."""
    manifest = reading.manifest
    assert manifest is not None
    unchecked = sum("alethe" in each.proofs for each in manifest.obligations)
    if unchecked:
        found.notes.append(
            f"{unchecked} proof objects in cvc5's own format (Alethe) are not checked; no level rests on them"
        )
    having = [number for number, each in enumerate(manifest.obligations) if "resolute" in each.proofs]
    checked = [False] * len(texts)
    if not having:
        found.notes.append("there are no proof objects for the checker in this certificate")
    elif smtinterpol is None:
        found.notes.append(f"{len(having)} proof objects were not checked: the checker is not installed (make checker)")
    else:
        if note is not None:
            note("checking proof objects", 0, len(having))
        pairs = [(texts[number], reading.text(manifest.obligations[number].proofs["resolute"])) for number in having]
        for number, verdict in zip(having, smtinterpol.check(pairs, options.workers), strict=True):
            each = manifest.obligations[number]
            checked[number] = verdict == "valid"
            if verdict != "valid":
                found.faults.append(f"{each.proofs['resolute']} is not a proof of {each.file}, `{each.name}`")
    return checked


def _confirmations(
    manifest: Manifest,
    statuses: Sequence[Mapping[str, str]],
    checked: Sequence[bool],
    differences: Mapping[Key, Difference],
    thoroughness: Thoroughness,
    found: _Report,
) -> Iterator[Confirmation]:
    number_of = {each.file: number for number, each in enumerate(manifest.obligations)}
    for statement in manifest.statements:
        numbers = [number_of[file] for file in statement.obligations]
        obligations = [manifest.obligations[number] for number in numbers]
        level = strength(obligations, [checked[number] for number in numbers], [statuses[number] for number in numbers])
        open_ = [
            each
            for each, number in zip(obligations, numbers, strict=True)
            if not checked[number] and "unsat" not in statuses[number].values()
        ]
        reasons = [f"{each.file}, `{each.name}`, is not decided by any solver here" for each in open_]
        told = differences.get(statement.key, Difference())
        reasons.extend(told.undecided)
        if not same_version(manifest):
            written = f"written by Thence {manifest.thence}; this version derives something else"
            reasons.extend(f"{written}: {difference}" for difference in told.faults)
        if not statement.obligations and not thoroughness.rederived:
            reasons.append("it rests on finite evidence, which was not evaluated")
        lost = bool(reasons or found.faults)
        yield Confirmation(
            statement,
            Verdict.UNKNOWN if lost else statement.verdict,
            level,
            sum(checked[number] for number in numbers),
            tuple(reasons),
        )
