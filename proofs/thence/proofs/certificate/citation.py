"""Citations of a certificate: CITATION.cff and BibTeX, made from the manifest and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator

from thence.proofs.certificate.manifest import FORMAT, CertifiedStatement, Manifest


def citation_cff(manifest: Manifest) -> str:
    """A CITATION.cff (version 1.2.0) for the certificate."""
    title = _quoted(f"Machine-checked proofs of {_subject(manifest)}")
    lines = [
        "cff-version: 1.2.0",
        'message: "Cite a statement by its id, and its proof by the proof id; thence recheck checks both."',
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
    evidence = (
        f"{len(statement.obligations)} proof obligations"
        if statement.obligations
        else "a counterexample"
        if statement.verdict.value == "refuted"
        else "a run for each transition"
    )
    return f"""@misc{{thence-{statement.proof_id[:12]},
  author = {{{authors}}},
  title = {{{{Machine-checked: {_plain(statement.name)} of {_plain(statement.subject)} is {statement.verdict.value}}}}},
  howpublished = {{Certificate of Thence {_plain(manifest.thence)}, format {FORMAT}}},
  note = {{Statement sha256:{statement.id}; proof sha256:{statement.proof_id}; {evidence},
    level {statement.level.name}}},
}}
"""


def _subject(manifest: Manifest) -> str:
    return manifest.source.removeprefix("sources/").removesuffix(".thence")


def _quoted(text: str) -> str:
    """A YAML string; JSON's strings are such."""
    return json.dumps(text, ensure_ascii=False)


def _plain(text: str) -> str:
    """Text that BibTeX and LaTeX take as it is."""
    special = {"\\": "/", "{": "(", "}": ")", "_": r"\_", "&": r"\&", "%": r"\%", "#": r"\#", "$": r"\$"}
    return "".join(special.get(character, character) for character in text)
