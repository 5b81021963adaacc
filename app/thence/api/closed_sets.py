"""Closed sets of states: written after an exploration, and checked again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from thence.api.errors import BadRequest
from thence.dsl.load import load
from thence.proofs.closed.claim import FORMAT, Claim, NotClaimed, not_finite, protocol_of, shown_ids
from thence.proofs.closed.emitted import Visited, files_of
from thence.proofs.closed.reading import may_be_replaced
from thence.proofs.closed.written import Malformed
from thence.proofs.workload_facts import workload_facts
from thence.spec.verdict import Kind, Level, Result, Verdict
from thence.spec.words import counted

if TYPE_CHECKING:
    from thence.api.exploring import Exploration
    from thence.api.targets import Target
    from thence.dsl import ir
    from thence.proofs.closed.check import Checked
    from thence.proofs.closed.confirm import Confirmed
    from thence.proofs.scopes.scopes import Options

Said: TypeAlias = tuple[str, dict[str, Any]]
"""What happened, for readers, and as JSON values."""


@dataclass(frozen=True, slots=True)
class ClosedSet:
    """A closed set that is to be written to a directory."""

    file: str
    directory: str
    visited: Visited = field(default_factory=Visited)

    def refuse(self, chosen: Sequence[Target], options: Options) -> None:
        """Raises: BadRequest where none can be written: before the exploration, not after it."""
        self._place()
        if len(chosen) != 1:
            names = ", ".join(dict.fromkeys(target.scope or target.subject for target in chosen))
            raise BadRequest(
                f"--certificate is for one exploration, and these are {len(chosen)}: {names}; name one with --scope"
            )
        if options.storage != "exact":
            raise BadRequest(f"--certificate needs all states at hand, and not as {options.storage}")
        why = not_finite(chosen[0].workload)
        if why is not None:
            raise BadRequest(f"--certificate: {why}; only the states of a finite scope can be listed")

    def options(self, options: Options) -> Options:
        """The options, with the states kept."""
        return replace(options, keep=self.visited.take)

    def made(self, found: Exploration) -> str | Said:
        """Writes the closed set; or why there is none.

        Raises: BadRequest where it cannot be written.
        """
        against = [one for one in found if one.verdict is not Verdict.HOLDS]
        if not found.complete or not found.statements:
            return "the exploration is incomplete"
        if against:
            refuted = [str(one.facts["property"]) for one in against if one.verdict is not Verdict.UNKNOWN]
            unknown = [str(one.facts["property"]) for one in against if one.verdict is Verdict.UNKNOWN]
            said = [f"{', '.join(refuted)} refuted, and a counterexample is its own evidence"] if refuted else []
            said += [f"{', '.join(unknown)} unknown"] if unknown else []
            return f"{'; '.join(said)}; --property asks only for what holds"
        orders = {str(one.facts["property"]): one.facts.get("set_order", {}).get("any_order", "holds") for one in found}
        by_order = [name for name, in_any in orders.items() if in_any != "holds"]
        if by_order:
            return f"only as sets are visited in ascending order: {', '.join(by_order)}"
        target = found.targets[0]
        loaded = load(self.file)
        if loaded.specification is None or not _says(loaded.specification, target):
            raise BadRequest(f"{self.file} was changed while it was explored")
        holding = [str(one.facts["property"]) for one in found]
        try:
            claim, files = files_of(loaded, target.subject, target.scope, target.workload, holding, self.visited)
        except NotClaimed as fault:
            return str(fault)
        self._place(files)
        size = sum(map(len, files.values()))
        lines = [
            f"certificate: {self.directory}, a closed set of {counted(claim.states, 'state')}"
            f"{f' up to {len(claim.renamings)} renamings' if len(claim.renamings) > 1 else ''}, {size:,} bytes; "
            f"of {', '.join(claim.properties)}",
            *left_out(claim),
        ]
        facts = {
            "directory": self.directory, "format": FORMAT, "statements": len(claim.properties),
            "omitted": len(claim.omitted), "states": claim.states, "renamings": len(claim.renamings), "bytes": size,
        }  # fmt: skip
        return "".join(f"{line}\n" for line in lines), facts

    def _place(self, files: Mapping[str, bytes] | None = None) -> None:
        """Writes the files, or says why none can be written. Raises: BadRequest."""
        from thence.proofs.certificate.build import NotCertified
        from thence.proofs.certificate.writing import refuse_place, write_files

        try:
            if files is None:
                refuse_place(Path(self.directory), may_be_replaced)
            else:
                write_files(files, Path(self.directory), may_be_replaced)
        except NotCertified as fault:
            raise BadRequest(str(fault)) from fault


def _says(specification: ir.Specification, target: Target) -> bool:
    """Whether the text still says of the target what was explored."""
    try:
        return protocol_of(specification, target.subject) == target.protocol
    except Malformed:
        return False


def left_out(claim: Claim) -> list[str]:
    """What the protocol states and the claim does not, by the reason."""
    names: dict[str, list[str]] = {}
    for name, why in claim.omitted:
        names.setdefault(why, []).append(name)
    return [f"not in the certificate: {', '.join(each)}: {why}" for why, each in names.items()]


# --- checked again ---------------------------------------------------------------------------


def results_of(found: Confirmed, seconds: float) -> tuple[Result, ...]:
    """A result for each statement of the claim: it holds, or it is unknown."""
    reading = found.reading
    if reading is None or found.about is None:
        return ()
    claim = reading.claim
    kind: Kind = "mutant" if "/" in claim.subject else "scope"
    why = found.fault or found.why_open
    verdict = Verdict.HOLDS if why is None else Verdict.UNKNOWN
    facts = {
        "scope": workload_facts(claim.scope, found.about.workload, found.about.protocol),
        "states": found.checked.states,
        "transitions": found.checked.steps,
        **({} if why is None else {"unknown": why}),
    }
    if why is None and found.checked.by_order is not None:
        facts["set_order"] = {"handler": found.checked.by_order, "any_order": Verdict.UNKNOWN.value}
    return tuple(
        Result(
            f"{claim.scope or 'scope'}: {name}",
            kind,
            claim.subject,
            verdict,
            Level.L1,
            why is None,
            seconds / len(claim.properties),
            {"property": name, "statement_id": id_, **facts},
            why or f"statement sha256:{id_}",
        )
        for name, id_ in shown_ids(claim, reading.source).items()
    )


def text_of(where: str, found: Confirmed) -> str:
    """The result of the check, for readers."""
    reading, checked = found.reading, found.checked
    if found.fault is not None:
        return f"{where} is NOT what it says:\n  {found.fault}\n"
    if found.why_open is not None or reading is None:
        return f"{where}: NOT confirmed: {found.why_open}\n"
    claim = reading.claim
    renamed = f", {checked.states:,} under {len(claim.renamings)} renamings" if len(claim.renamings) > 1 else ""
    settings = "; ".join(claim.settings)
    lines = [
        f"{where}: all statements are confirmed",
        f"{claim.subject}, {settings}",
        f"a closed set of {counted(checked.lines, 'state')}{renamed}: {counted(checked.steps, 'step')} of the "
        "interpreter lead from it into it, and violate nothing that is claimed",
        *_by_order(checked),
        *left_out(claim),
        *(f"note: {note}" for note in reading.notes),
    ]
    return "".join(f"{line}\n" for line in lines)


def _by_order(checked: Checked) -> Iterator[str]:
    if checked.by_order is not None:
        yield (
            f"sets and maps are visited in ascending order: a step of {checked.by_order} depends on it, and what other "
            "orders lead to was not checked"
        )


def facts_of(where: str, found: Confirmed) -> dict[str, Any]:
    """The same as JSON values."""
    fields: dict[str, Any] = {"faults": [found.fault] if found.fault else [], "notes": []}
    if found.reading is not None:
        claim = found.reading.claim
        fields["notes"] = list(found.reading.notes)
        fields["certificate"] = {
            "directory": where, "format": FORMAT, "written_by": claim.thence, "statements": len(claim.properties),
            "confirmed": 0 if found.fault or found.why_open else len(claim.properties), "omitted": len(claim.omitted),
            "states": claim.states, "renamings": len(claim.renamings),
        }  # fmt: skip
    return fields
