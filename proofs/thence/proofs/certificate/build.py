"""The files of a certificate: a function of the sources, the solvers and their options, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version

from thence.dsl.load import SUFFIX, Loaded
from thence.proofs.certificate.citation import bibtex, citation_cff
from thence.proofs.certificate.evidence import model_json, run_json
from thence.proofs.certificate.manifest import (
    CertifiedObligation,
    CertifiedStatement,
    Evidence,
    Manifest,
    Shows,
    obligation_digest,
    proof_id,
)
from thence.proofs.certificate.readme import readme
from thence.proofs.certificate.smtinterpol import Smtinterpol
from thence.proofs.certificate.solver_results import Note, programs, proof_objects, solve
from thence.proofs.certificate.statement import Statement, obligations_of, statement_of
from thence.proofs.certificate.trust_base import trust_base
from thence.proofs.solving.assessment import POSSIBLE, REFUTATION, Proof
from thence.proofs.solving.discharge import Options
from thence.spec.verdict import Level, Verdict

MANIFEST, SUMS = "manifest.json", "SHA256SUMS"

DERIVED = ("CITATION.cff", "README.md", "TRUST.md", "citation.bib")
"""The files that are made from the manifest alone."""


class NotCertified(Exception):
    """No certificate can be made; the message says why."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """The files of a certificate by their paths, and its manifest, which is one of them."""

    manifest: Manifest
    files: Mapping[str, bytes]


def certificate(
    loaded: Loaded,
    proofs: Sequence[Proof],
    options: Options,
    smtinterpol: Smtinterpol | None,
    authors: Sequence[str] = (),
    note: Note | None = None,
) -> Certificate:
    """The certificate of the statements that were proved or refuted. Every obligation is solved anew.

    Args:
        smtinterpol: finds and checks proof objects; without it there are no checked ones.
        authors: the authors to cite; by default "The authors of FILE".

    Raises:
        NotCertified: nothing was proved or refuted, or an obligation cannot be solved again.
    """
    specification = loaded.specification
    assert specification is not None
    found = (statement_of(specification, proof) for proof in proofs)
    statements = [statement for statement in found if statement is not None]
    if not statements:
        raise NotCertified("nothing was proved or refuted: there is nothing to certify")
    texts = obligations_of(statements)
    statuses = solve(texts, options, note)
    objects = proof_objects(texts, options, smtinterpol, note)
    source = f"sources/{loaded.path.name.removesuffix(SUFFIX)}{SUFFIX}"
    files: dict[str, bytes] = {source: loaded.path.read_bytes()}
    obligations = []
    for number, text in enumerate(texts, 1):
        name = obligation_name(text)
        if "sat" in statuses[number - 1].values() or "unsat" not in statuses[number - 1].values():
            raise NotCertified(f"`{name}` was proved before and is not now: {dict(statuses[number - 1])}")
        written = {form: f"proofs/{number:04}.{form}" for form in sorted(objects[number - 1])}
        files |= {file: objects[number - 1][form].encode() for form, file in written.items()}
        files[f"obligations/{number:04}.smt2"] = text.encode()
        obligations.append(CertifiedObligation(name, f"obligations/{number:04}.smt2", statuses[number - 1], written))
    by_text = dict(zip(texts, obligations, strict=True))
    certified = [_certified(statement, by_text, files) for statement in statements]
    manifest = Manifest(
        version("thence"),
        source,
        tuple(authors) or (f"The authors of {loaded.path.name}",),
        programs(options, smtinterpol),
        tuple(certified),
        tuple(obligations),
    )
    files |= {MANIFEST: manifest.text().encode(), **derived_files(manifest)}
    files[SUMS] = sums(files).encode()
    return Certificate(manifest, dict(sorted(files.items())))


def obligation_name(text: str) -> str:
    """The name of an obligation: its first line, a comment."""
    return text.partition("\n")[0].removeprefix("; ")


def derived_files(manifest: Manifest) -> dict[str, bytes]:
    """The files that are made from the manifest alone."""
    texts = {
        "CITATION.cff": citation_cff(manifest),
        "README.md": readme(manifest),
        "TRUST.md": trust_base(manifest),
        "citation.bib": bibtex(manifest),
    }
    return {file: text.encode() for file, text in texts.items()}


def sums(files: Mapping[str, bytes]) -> str:
    """`SHA256SUMS` of the files, as `sha256sum --check` reads it."""
    return "".join(
        f"{sha256(content).hexdigest()}  {file}\n" for file, content in sorted(files.items()) if file != SUMS
    )


def strength(
    obligations: Sequence[CertifiedObligation], checked: Sequence[bool], results: Sequence[Mapping[str, str]]
) -> Level:
    """The level of what rests on these obligations: each with a checked proof object, or proved by two solvers."""
    if obligations and all(checked):
        return Level.L4
    twice = all(sum(status == "unsat" for status in each.values()) >= 2 for each in results)
    return Level.L3 if obligations and twice else Level.L2


def _certified(
    statement: Statement, by_text: Mapping[str, CertifiedObligation], files: dict[str, bytes]
) -> CertifiedStatement:
    obligations = [by_text[text] for text in statement.obligations]
    evidence = [_written(shown, name, value, files) for shown, name, value in evidence_of(statement)]
    rests_on = [obligation_digest(text) for text in statement.obligations]
    if not rests_on:
        rests_on = [sha256(files[each.file]).hexdigest() for each in evidence if each.shows != "needed"]
    checked = ["resolute" in obligation.proofs for obligation in obligations]
    return CertifiedStatement(
        statement.name,
        statement.kind,
        statement.subject,
        statement.verdict,
        strength(obligations, checked, [obligation.results for obligation in obligations]),
        statement.says,
        statement.id,
        proof_id(statement.id, statement.verdict, rests_on),
        tuple(obligation.file for obligation in obligations),
        tuple(evidence),
    )


def evidence_of(statement: Statement) -> list[tuple[Shows, str, bytes]]:
    """All finite evidence of a statement, written down."""
    found: list[tuple[Shows, str, bytes]] = []
    proved = statement.verdict is Verdict.PROVED
    for name, model in sorted(statement.models.items()):
        about: dict[str, Shows] = {REFUTATION: "refuted", POSSIBLE: "possible"}
        found.append((about.get(name, "needed"), name, _json(model_json(model))))
    for name, run in sorted(statement.runs.items()):
        shows: Shows = "happens" if proved or name != REFUTATION else "refuted"
        if name == POSSIBLE:
            shows = "possible"
        found.append((shows, name, _json(run_json(run))))
    return found


def _written(shows: Shows, name: str, content: bytes, files: dict[str, bytes]) -> Evidence:
    number = 1 + sum(file.startswith("evidence/") for file in files)
    file = f"evidence/{number:04}.json"
    files[file] = content
    return Evidence(shows, name, file)


def _json(value: object) -> bytes:
    return (json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n").encode()
