"""Citations of a certificate: CITATION.cff and BibTeX, made from the manifest and nothing else.

Every sentence in them is written here; what comes from the manifest are names of the source, ids and numbers, which a
recheck derives again, and the names of the authors, which nobody checks.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from thence.proofs.certificate.manifest import FORMAT, CertifiedStatement, Manifest
from thence.spec.verdict import Verdict


def citation_cff(manifest: Manifest) -> str:
    """A CITATION.cff (version 1.2.0) for the certificate."""
    title = _quoted(f"Machine-checked statements about {_subjects(manifest)}")
    lines = [
        "cff-version: 1.2.0",
        'message: "Cite a statement by its id, and its proof by the proof id; thence recheck checks both. '
        'The names of the authors are as given by whoever made the certificate; nobody checked them."',
        "type: dataset",
        f"title: {title}",
        "authors:",
        *(f"  - name: {_quoted(author)}" for author in manifest.authors),
        f"version: {_quoted(f'{FORMAT}, written by Thence {manifest.thence}')}",
        "identifiers:",
    ]
    for statement in manifest.statements:
        lines += _identifier(statement, "statement", statement.id)
        lines += _identifier(statement, "proof", statement.proof_id)
    return "\n".join(lines) + "\n"


def bibtex(manifest: Manifest) -> str:
    """A BibTeX entry for every statement."""
    return "\n".join(_entry(manifest, statement) for statement in manifest.statements)


def _identifier(statement: CertifiedStatement, what: str, id_: str) -> Iterator[str]:
    described = f"{what}: {statement.subject}, {statement.name}, {statement.verdict.value}"
    yield "  - type: other"
    yield f"    value: {_quoted(f'sha256:{id_}')}"
    yield f"    description: {_quoted(described)}"


def _entry(manifest: Manifest, statement: CertifiedStatement) -> str:
    authors = " and ".join(f"{{{_plain(author)}}}" for author in manifest.authors)
    return f"""@misc{{thence-{statement.proof_id[:12]},
  author = {{{authors}}},
  title = {{{{Machine-checked: {_plain(statement.name)} of {_plain(statement.subject)} is {statement.verdict.value}}}}},
  howpublished = {{Certificate of Thence {_plain(manifest.thence)}, format {FORMAT}}},
  note = {{Statement sha256:{statement.id}; proof sha256:{statement.proof_id}; {_evidence(statement)},
    level {statement.level.name}. The names of the authors are as given, not checked}},
}}
"""


def _evidence(statement: CertifiedStatement) -> str:
    """What the verdict rests on, in numbers."""
    count = len(statement.obligations)
    if statement.rests_on:
        return " and ".join(dict.fromkeys(f"{kind} {_plain(subject)}" for kind, subject, _ in statement.rests_on))
    if count:
        return f"{count} proof obligation{'s' if count > 1 else ''}"
    if statement.verdict is Verdict.REFUTED:
        return "a counterexample"
    runs = sum(each.shows != "needed" for each in statement.evidence)
    return f"{runs} run{'s' if runs > 1 else ''}"


def _subjects(manifest: Manifest) -> str:
    return ", ".join(dict.fromkeys(statement.subject for statement in manifest.statements))


def _quoted(text: str) -> str:
    """A YAML string; JSON's strings are such."""
    return json.dumps(text, ensure_ascii=False)


def _plain(text: str) -> str:
    """Text that BibTeX and LaTeX take as it is."""
    special = {"\\": "/", "{": "(", "}": ")", "_": r"\_", "&": r"\&", "%": r"\%", "#": r"\#", "$": r"\$"}
    return "".join(special.get(character, character) for character in text)
