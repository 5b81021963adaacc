"""The files of a certificate: a function of the sources, the solvers and their options, and nothing else.

`assembled` makes the manifest and the files from statements with their evidence. It is used twice: when a certificate
is written, and when a recheck compares it to what its source gives.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version

from thence.dsl.load import SUFFIX, Loaded
from thence.proofs.certificate.citation import bibtex, citation_cff
from thence.proofs.certificate.evidence import model_bytes, run_bytes
from thence.proofs.certificate.forms.obligation_form import obligation_fault, obligation_name
from thence.proofs.certificate.manifest import (
    CertifiedObligation,
    CertifiedStatement,
    Evidence,
    Key,
    Manifest,
    Program,
    Shows,
    author_fault,
    obligation_digest,
    proof_id,
)
from thence.proofs.certificate.readme import readme
from thence.proofs.certificate.smtinterpol import Smtinterpol
from thence.proofs.certificate.solver_results import Note, programs, proof_objects, solve
from thence.proofs.certificate.statement import Statement, obligations_of, stated, statement_of
from thence.proofs.certificate.trust_base import trust_base
from thence.proofs.refinement.carrying.properties import by_its_link
from thence.proofs.solving.assessment import MOVES, POSSIBLE, REFUTATION, Proof
from thence.proofs.solving.discharge import Options
from thence.spec.user_error import UserError
from thence.spec.verdict import Level, Verdict

MANIFEST, SUMS = "manifest.json", "SHA256SUMS"

DERIVED = ("CITATION.cff", "README.md", "TRUST.md", "citation.bib")
"""The files that are made from the manifest alone."""


class NotCertified(UserError):
    """No certificate can be made; the message says why."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """The files of a certificate by their paths, and its manifest, which is one of them."""

    manifest: Manifest
    files: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Heading:
    """What a manifest says about itself; see `Manifest`."""

    thence: str
    source: str
    authors: tuple[str, ...]
    programs: Mapping[str, Program]
    omitted: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """A piece of evidence: what it shows, the name that it is about, and the content of its file."""

    shows: Shows
    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Part:
    """A statement of a certificate with all of its evidence."""

    statement: Statement
    evidence: tuple[Shown, ...]


@dataclass(frozen=True, slots=True)
class Solved:
    """An obligation's answers by solver, and the formats in which it has proof objects."""

    results: Mapping[str, str]
    proofs: Collection[str]


def certificate(
    loaded: Loaded,
    proofs: Sequence[Proof],
    options: Options,
    smtinterpol: Smtinterpol | None,
    authors: Sequence[str] = (),
    note: Note | None = None,
) -> Certificate:
    """The certificate of the statements that were proved or refuted, and of the properties that protocols have by them.

    Every obligation is solved anew.

    Args:
        smtinterpol: finds and checks proof objects; without it there are no checked ones.
        authors: the authors to cite; by default "The authors of FILE".

    Raises:
        NotCertified: nothing was proved or refuted, or an obligation cannot be solved again.
    """
    specification = loaded.specification
    assert specification is not None
    refuse_authors(authors)
    everything = (*proofs, *by_its_link(specification.links, proofs))
    found = (statement_of(specification, proof) for proof in everything)
    statements = [statement for statement in found if statement is not None]
    if not statements:
        raise NotCertified("nothing was proved or refuted: there is nothing to certify")
    parts = [Part(statement, evidence_of(statement)) for statement in statements]
    texts = obligations_of(statements)
    for text in texts:
        fault = obligation_fault(text)
        assert fault is None, f"{obligation_name(text)}: {fault}"
    statuses = solve(texts, options, note)
    objects = proof_objects(texts, options, smtinterpol, note)
    for text, status in zip(texts, statuses, strict=True):
        if "sat" in status.values() or "unsat" not in status.values():
            raise NotCertified(f"`{obligation_name(text)}` was proved before and is not now: {dict(status)}")
    name = source_name(loaded)
    heading = Heading(
        version("thence"),
        f"sources/{name}",
        tuple(authors) or (f"The authors of {name}",),
        programs(options, smtinterpol),
        omitted(stated(specification), statements),
    )
    solved = {text: Solved(status, found) for text, status, found in zip(texts, statuses, objects, strict=True)}
    manifest, files = assembled(heading, parts, solved)
    files[heading.source] = loaded.path.read_bytes()
    for each, proof in zip(manifest.obligations, objects, strict=True):
        files |= {file: proof[ending].encode() for ending, file in each.proofs.items()}
    files |= {MANIFEST: manifest.content(), **derived_files(manifest)}
    files[SUMS] = sums(files).encode()
    return Certificate(manifest, dict(sorted(files.items())))


def refuse_authors(authors: Sequence[str]) -> None:
    """Raises: NotCertified for what is no author's name."""
    for author in authors:
        fault = author_fault(author)
        if fault is not None:
            raise NotCertified(f"{author!a} is no author: {fault}")
    if len(set(authors)) != len(authors):
        raise NotCertified("an author is named twice")


def source_name(loaded: Loaded) -> str:
    """The name of the source in a certificate: the file's own, as far as its characters say nothing."""
    stem = re.sub(r"[^A-Za-z0-9_.-]", "_", loaded.path.name.removesuffix(SUFFIX))[:100]
    return f"{'_' if stem[:1] in ('', '.') else ''}{stem}"[:100] + SUFFIX


def omitted(stated_keys: Sequence[Key], certified: Sequence[Statement | CertifiedStatement]) -> tuple[Key, ...]:
    """The keys of statements that are not among those certified."""
    there = {statement.key for statement in certified}
    return tuple(key for key in stated_keys if key not in there)


def assembled(
    heading: Heading, parts: Sequence[Part], solved: Mapping[str, Solved]
) -> tuple[Manifest, dict[str, bytes]]:
    """The manifest, and the files of the obligations and of the evidence.

    Args:
        solved: by obligation text; more than the parts need may be there.
    """
    files: dict[str, bytes] = {}
    obligations: dict[str, CertifiedObligation] = {}
    for number, text in enumerate(obligations_of(part.statement for part in parts), 1):
        found = solved[text]
        written = {ending: f"proofs/{number:04}.{ending}" for ending in sorted(found.proofs)}
        file = f"obligations/{number:04}.smt2"
        files[file] = text.encode()
        obligations[text] = CertifiedObligation(obligation_name(text), file, found.results, written)
    certified = [_certified(part, obligations, files) for part in parts]
    manifest = Manifest(
        heading.thence,
        heading.source,
        heading.authors,
        heading.programs,
        tuple(certified),
        tuple(obligations.values()),
        heading.omitted,
    )
    return manifest, files


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
    """The level of what rests on these obligations: each with a checked proof object, or else proved by two solvers.

    So what rests on the obligations of two statements has the lower level of both.
    """
    if obligations and all(checked):
        return Level.L4
    twice = all(
        proof or sum(status == "unsat" for status in each.values()) >= 2
        for proof, each in zip(checked, results, strict=True)
    )
    return Level.L3 if obligations and twice else Level.L2


def _certified(part: Part, by_text: Mapping[str, CertifiedObligation], files: dict[str, bytes]) -> CertifiedStatement:
    statement = part.statement
    obligations = [by_text[text] for text in statement.obligations]
    evidence = [_written(shown, files) for shown in part.evidence]
    checked = ["resolute" in obligation.proofs for obligation in obligations]
    return CertifiedStatement(
        statement.name,
        statement.kind,
        statement.subject,
        statement.verdict,
        strength(obligations, checked, [obligation.results for obligation in obligations]),
        statement.says,
        statement.id,
        proof_id(statement.id, statement.verdict, rests_on(statement.obligations, part.evidence)),
        tuple(obligation.file for obligation in obligations),
        tuple(evidence),
        statement.rests_on,
    )


def rests_on(obligations: Sequence[str], evidence: Sequence[Shown]) -> list[str]:
    """The digests that a proof id is made of: of the obligations; without any, of the evidence for the verdict."""
    if obligations:
        return [obligation_digest(text) for text in obligations]
    return [sha256(each.content).hexdigest() for each in evidence if each.shows != "needed"]


def evidence_of(statement: Statement) -> tuple[Shown, ...]:
    """All finite evidence of a statement, written down."""
    found: list[Shown] = []
    proved = statement.verdict is Verdict.PROVED
    for name, model in sorted(statement.models.items()):
        found.append(Shown(_OF_MODELS.get(name, "needed"), name, model_bytes(model)))
    for name, run in sorted(statement.runs.items()):
        shows: Shows = "happens" if proved or name != REFUTATION else "refuted"
        found.append(Shown("possible" if name in (POSSIBLE, MOVES) else shows, name, run_bytes(run)))
    return tuple(found)


_OF_MODELS: Mapping[str, Shows] = {REFUTATION: "refuted", POSSIBLE: "possible"}
"""What models with these keys show; any other is about the assumption of that name."""


def _written(shown: Shown, files: dict[str, bytes]) -> Evidence:
    number = 1 + sum(file.startswith("evidence/") for file in files)
    file = f"evidence/{number:04}.json"
    files[file] = shown.content
    return Evidence(shown.shows, shown.name, file)
