"""The clauses that an earlier search for a link kept, read again: see `infer.search.kept`.

A text is read as a formula of the link, and held against the samples, before it is a clause. What cannot be read any
more, or is false in a sample, is left out.
"""

from __future__ import annotations

from collections.abc import Iterable

from thence.dsl import ir
from thence.dsl.check.link import is_one_formula, link_formulas
from thence.proofs.infer.links.candidates import Candidate
from thence.proofs.infer.links.scenes import scenes


def read_again(link: ir.Link, texts: Iterable[str], proposed: Iterable[Candidate]) -> dict[Candidate, ir.Expr]:
    """The clauses of these texts that are still formulas of the link; `proposed` have their names already."""
    bodies = link_formulas(link.protocol, link.machine, [each for each in dict.fromkeys(texts) if is_one_formula(each)])
    known = {each.text: each for each in proposed}
    return {known.get(text) or _candidate(link, text): body for text, body in bodies.items()}


def _candidate(link: ir.Link, text: str) -> Candidate:
    """A text as a clause, of the scene that it begins as; what it says there is in brackets."""
    found = [scene for scene in scenes(link) if text.startswith(scene.prefix)]
    if not found:
        return Candidate("kept", "", text)
    scene = max(found, key=lambda each: len(each.prefix))
    atom = text.removeprefix(scene.prefix)
    whole = Candidate(scene.label, scene.prefix, atom)
    return whole if whole.bare != atom else Candidate(scene.label, scene.prefix, f"({atom})")
