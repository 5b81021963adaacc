"""Checks a certificate again: every obligation solved, every proof object checked, everything derived from the source.

Nothing in the certificate is trusted. A fault is a difference between the certificate and the recheck. A question that
stays open, for lack of time, of memory or of a program, is reported: what the certificate says is then not confirmed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from thence.proofs.certificate.build import strength
from thence.proofs.certificate.directory import shown
from thence.proofs.certificate.manifest import CertifiedStatement, Manifest
from thence.proofs.certificate.reading import Reading, derived_faults, read, same_version
from thence.proofs.certificate.rederive import Derivation, Difference, rederive
from thence.proofs.certificate.smtinterpol import Smtinterpol
from thence.proofs.certificate.solver_results import Note, solve
from thence.proofs.solving.discharge import Options
from thence.spec.verdict import Level, Verdict

MOST_TOLD = 100
"""Faults that are listed; of more, the number is said."""


@dataclass(frozen=True, slots=True)
class Thoroughness:
    """The parts of a recheck: by default all.

    Attributes:
        proofs: proof objects are checked.
        rederived: the certificate is derived again from the source, and finite evidence is evaluated. Without this no
            statement is confirmed.
    """

    proofs: bool = True
    rederived: bool = True


@dataclass(frozen=True, slots=True)
class Confirmation:
    """One statement, and the outcome of its recheck.

    Attributes:
        verdict: the certified one where it was derived again, else `unknown`.
        level: as this recheck gives it.
        proofs_checked: the number of its obligations with a proof object that the checker accepts.
        reasons: the reasons why its verdict, or its level, is not confirmed.
    """

    statement: CertifiedStatement
    verdict: Verdict
    level: Level
    proofs_checked: int
    reasons: tuple[str, ...] = ()

    @property
    def confirmed(self) -> bool:
        """Whether the verdict holds, and at no lower level than the certified one."""
        return self.verdict is self.statement.verdict and self.level >= self.statement.level


@dataclass(frozen=True, slots=True)
class Recheck:
    """The result of a recheck. `faults`: the certificate is wrong. `notes`: parts that were left out, or differ.

    Attributes:
        decided: the number of obligations that a solver or a checked proof object decides here.
        proofs_checked: the number of obligations with a proof object that the checker accepts.
    """

    manifest: Manifest | None
    faults: tuple[str, ...]
    notes: tuple[str, ...] = ()
    confirmations: tuple[Confirmation, ...] = ()
    seconds: float = 0.0
    decided: int = 0
    proofs_checked: int = 0

    @property
    def confirmed(self) -> bool:
        """Whether everything is confirmed that a certificate says about its statements."""
        return not self.faults and bool(self.confirmations) and all(each.confirmed for each in self.confirmations)


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
        return Recheck(reading.manifest, _told(reading.faults), seconds=time.monotonic() - started)
    found = _Report()
    if not same_version(reading.manifest):
        found.notes.append(f"written by Thence {reading.manifest.thence}, another version")
    texts = [reading.text(each.file) for each in reading.manifest.obligations]
    statuses = solve(texts, options, note)
    _hold_statuses(reading.manifest, statuses, found)
    checked: Sequence[bool] = [False] * len(texts)
    if thoroughness.proofs:
        checked = _check_proofs(reading, texts, options, smtinterpol, found, note)
    elif texts:
        found.notes.append("proof objects were not checked (--no-proofs)")
    derivation = Derivation({})
    if not thoroughness.rederived:
        found.notes.append(
            "NOT confirmed (--no-rederive): that the source states these things, that these obligations are those that "
            "it needs, what the evidence shows, and with them every verdict and level"
        )
    elif not found.faults:
        if note is not None:
            note("deriving the certificate from its source", 0, 1)
        derivation = _derived(reading, _decisions(texts, statuses, checked), options, found)
    outcome = _Outcome(reading, statuses, checked, derivation, thoroughness)
    return Recheck(
        reading.manifest,
        _told(found.faults),
        tuple(found.notes),
        tuple(outcome.confirmations(bool(found.faults))),
        time.monotonic() - started,
        sum(outcome.decided),
        sum(checked),
    )


def _told(faults: Sequence[str]) -> tuple[str, ...]:
    """The faults in one line each, as far as anybody reads them."""
    more = len(faults) - MOST_TOLD
    listed = [shown(fault) for fault in faults[:MOST_TOLD]]
    return (*listed, f"and {more} more") if more > 0 else tuple(listed)


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
        if status == "unsat" and now.get(solver, "unknown") == "unknown"
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


def _derived(
    reading: Reading, decisions: Mapping[str, Mapping[str, str]], options: Options, found: _Report
) -> Derivation:
    """The derivation; where another version wrote the certificate, what differs leaves its statements open."""
    manifest = reading.manifest
    assert manifest is not None
    try:
        derivation = rederive(reading, decisions, options)
    except (RecursionError, MemoryError) as fault:
        said = f"its source is too large to be read here ({type(fault).__name__})"
        return Derivation({each.key: Difference((), (said,)) for each in manifest.statements})
    if same_version(manifest):
        found.faults.extend(
            f"{statement.subject}, {statement.name}: {fault}"
            for statement in manifest.statements
            for fault in derivation.differences[statement.key].faults
        )
        found.faults.extend(derivation.faults)
        return derivation
    written = f"written by Thence {manifest.thence}; this version derives something else"
    whole = (*derived_faults(manifest, reading.files), *derivation.faults)
    return Derivation(
        {
            key: Difference((), (*(f"{written}: {fault}" for fault in (*each.faults, *whole)), *each.undecided))
            for key, each in derivation.differences.items()
        }
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


@dataclass(frozen=True, slots=True)
class _Outcome:
    """All that was found out about the obligations and statements of a certificate."""

    reading: Reading
    statuses: Sequence[Mapping[str, str]]
    checked: Sequence[bool]
    derivation: Derivation
    thoroughness: Thoroughness

    @property
    def decided(self) -> list[bool]:
        """For each obligation whether anything decides it here."""
        return [
            proof or ("unsat" in now.values() and "sat" not in now.values())
            for proof, now in zip(self.checked, self.statuses, strict=True)
        ]

    def confirmations(self, faulty: bool) -> Iterator[Confirmation]:
        """The outcome for each statement; nothing is confirmed of a certificate with faults."""
        manifest = self.reading.manifest
        assert manifest is not None
        number_of = {each.file: number for number, each in enumerate(manifest.obligations)}
        decided = self.decided
        for statement in manifest.statements:
            numbers = [number_of[file] for file in statement.obligations]
            obligations = [manifest.obligations[number] for number in numbers]
            checked = [self.checked[number] for number in numbers]
            level = strength(obligations, checked, [self.statuses[number] for number in numbers])
            reasons = [
                f"{manifest.obligations[number].file}, `{manifest.obligations[number].name}`, is not decided here"
                for number in numbers
                if not decided[number]
            ]
            if not self.thoroughness.rederived:
                reasons.append("it was not derived from the source (--no-rederive)")
            else:
                reasons.extend(self.derivation.differences.get(statement.key, Difference()).undecided)
            lost = bool(reasons) or faulty
            if lost:
                level = Level.L2
            elif level < statement.level:
                reasons.append(f"its verdict is confirmed at {level.name}, and not at {statement.level.name}")
            verdict = Verdict.UNKNOWN if lost else statement.verdict
            yield Confirmation(statement, verdict, level, sum(checked), tuple(map(shown, reasons)))
