"""Citations, the README and the list of what has to be trusted are made from the manifest, whatever names are in it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from thence.proofs.certificate.citation import bibtex, citation_cff
from thence.proofs.certificate.manifest import (
    BadManifest,
    CertifiedObligation,
    CertifiedStatement,
    Evidence,
    Manifest,
    Program,
    manifest_of,
)
from thence.proofs.certificate.readme import readme
from thence.proofs.certificate.trust_base import trust_base
from thence.spec.verdict import Level, Verdict

PROVED = CertifiedStatement(
    "causal",
    "machine",
    "stop_and_wait",
    Verdict.PROVED,
    Level.L4,
    ("causal",),
    "1" * 64,
    "2" * 64,
    ("obligations/0001.smt2",),
    (),
)
REFUTED = replace(
    PROVED,
    name="fifo",
    verdict=Verdict.REFUTED,
    level=Level.L2,
    proof_id="3" * 64,
    obligations=(),
    evidence=(Evidence("refuted", "", "evidence/0001.json"),),
)
OBLIGATION = CertifiedObligation(
    "deliver keeps causal",
    "obligations/0001.smt2",
    {"z3": "unsat", "cvc5": "unsat"},
    {"resolute": "proofs/0001.resolute"},
)
MANIFEST = Manifest(
    "0.1.0",
    "sources/stop_and_wait.thence",
    ('Ada "A." Lovelace', "{Group} & Co_1"),
    {"z3": Program("5.4", {}), "cvc5": Program("1.4", {})},
    (PROVED, REFUTED),
    (OBLIGATION,),
)


def test_a_citation_has_the_authors_and_both_ids_of_every_statement() -> None:
    text = citation_cff(MANIFEST)
    assert text.startswith("cff-version: 1.2.0\n")
    assert '  - name: "Ada \\"A.\\" Lovelace"' in text
    for id_ in ("1" * 64, "2" * 64, "3" * 64):
        assert f'value: "sha256:{id_}"' in text
    assert "stop_and_wait, fifo, refuted" in text


def test_bibtex_has_an_entry_for_every_statement_with_its_special_characters_taken_care_of() -> None:
    text = bibtex(MANIFEST)
    assert text.count("@misc{thence-") == 2
    assert r"stop\_and\_wait is proved" in text
    assert r"{(Group) \& Co\_1}" in text
    assert "; 1 proof obligation,\n" in text
    assert "a counterexample" in text
    assert text.count("{") == text.count("}")


def test_what_has_to_be_trusted_depends_on_what_was_done() -> None:
    assert "1 of 1 obligations have a proof object" in trust_base(MANIFEST)
    assert "**The evaluator**" in trust_base(MANIFEST)
    without = replace(MANIFEST, statements=(PROVED,), obligations=(replace(OBLIGATION, proofs={}),))
    assert "**The solvers**, z3 and cvc5" in trust_base(without)
    assert "**The evaluator**" not in trust_base(without)
    some = replace(MANIFEST, obligations=(OBLIGATION, replace(OBLIGATION, proofs={})))
    assert "For the other 1, z3 and cvc5 are trusted." in trust_base(some)


def test_the_readme_lists_the_statements() -> None:
    assert f"| stop_and_wait | causal | proved | L4 | 1 | `{'1' * 64}` |" in readme(MANIFEST)
    assert f"| stop_and_wait | fifo | refuted | L2 | 0 | `{'1' * 64}` |" in readme(MANIFEST)


def test_a_manifest_is_read_as_it_was_written() -> None:
    assert manifest_of(MANIFEST.to_json()) == MANIFEST
    assert manifest_of(MANIFEST.to_json()).content() == MANIFEST.content()


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("format",), "thence-certificate/9"),
        (("authors",), []),
        (("more",), 1),
        (("source",), "../outside.thence"),
        (("statements", 0, "id"), "xyz"),
        (("statements", 0, "verdict"), "unknown"),
        (("statements", 0, "level"), "L1"),
        (("statements", 0, "obligations"), ["/etc/passwd"]),
        (("statements", 1, "evidence", 0, "file"), "evidence/../../x.json"),
        (("obligations", 0, "results", "z3"), "sat"),
        (("obligations", 0, "proofs", "alethe"), "proofs/0001.resolute"),
        (("statements",), []),
    ],
)
def test_what_the_schema_does_not_allow_is_no_manifest(path: tuple[Any, ...], value: Any) -> None:
    found: Any = MANIFEST.to_json()
    *way, last = path
    place = found
    for step in way:
        place = place[step]
    place[last] = value
    with pytest.raises(BadManifest, match=r"manifest\.json: "):
        manifest_of(found)


def test_a_chain_is_told_whatever_is_missing_of_it() -> None:
    """The texts are made before anything is known of a manifest, so they must be made of each that has the form."""
    key = ("link", "post to posts", "every event is enabled in posts")
    link = replace(PROVED, kind="link", subject=key[1], name=key[2], level=Level.L3)
    says = ("in every run", "where nobody sends to itself", "assumed: few: true", "by the link")
    parts = (PROVED.key, key)
    chain = replace(PROVED, kind="link", subject="post", level=Level.L3, says=says, rests_on=parts)
    whole = replace(MANIFEST, statements=(PROVED, link, chain))
    told = (
        "**post: causal**, L3: by machine stop_and_wait, causal (L4) and link post to posts, every event is enabled in"
    )
    assert f"{told} posts (L3); where nobody sends to itself; assumed: few: true" in readme(whole)
    assert "machine stop\\_and\\_wait and link post to posts" in bibtex(whole)
    assert "The step from machine to protocol" in trust_base(whole)
    assert "The step from machine to protocol" not in trust_base(replace(whole, statements=(PROVED, link)))
    assert "**post: causal**, L3: by machine stop_and_wait, causal (L4) and link post to posts" in readme(whole)
    assert "(missing)" in readme(replace(whole, statements=(PROVED, chain)))
    assert manifest_of(whole.to_json()) == whole
