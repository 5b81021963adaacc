"""Proofs of obligations by instances: Z3 finds the instances, SMTInterpol proves what follows from them."""

from __future__ import annotations

from collections.abc import Sequence

from thence.proofs.certificate.instances.composition import composed
from thence.proofs.certificate.instances.search import instances
from thence.proofs.certificate.smtinterpol import Smtinterpol
from thence.proofs.solving.discharge import Options


def proofs_by_instances(texts: Sequence[str], options: Options, smtinterpol: Smtinterpol) -> tuple[str | None, ...]:
    """A RESOLUTE proof for each obligation, not checked yet; None where none was found."""
    searched = instances(texts, options)
    having = [(number, found) for number, found in enumerate(searched) if found is not None]
    proofs = smtinterpol.prove([found.problem for _, found in having], options.workers)
    made: list[str | None] = [None] * len(texts)
    for (number, found), proof in zip(having, proofs, strict=True):
        made[number] = None if proof is None else composed(found, proof)
    return tuple(made)
