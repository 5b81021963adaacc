"""The table of docs/explanation/decidability.md: which proofs of the library lie within the decidable fragment.

`THENCE_GOLDEN=write` writes it anew; read the difference before committing it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from thence.dsl import ir
from thence.dsl.load import load
from thence.proofs.logic.fragment import fragment_of
from thence.proofs.logic.obligation import Obligation
from thence.proofs.machine.obligations import conjuncts, preservations
from thence.proofs.prove import is_claimed
from thence.proofs.refinement.obligations import obligations
from thence.proofs.theory.obligations import theorem_scheme

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/explanation/decidability.md"
LIBRARY = ROOT / "spec/thence/spec/library"
BEGIN, END = "<!-- table: the library -->\n", "<!-- end of the table -->\n"


def is_refuted(theorem: ir.Theorem) -> bool:
    return any(expectation.verdict != "proved" for expectation in theorem.expects)


def proofs(specification: ir.Specification) -> Iterator[tuple[str, Sequence[Obligation]]]:
    """Theorems of each theory together, machines, and links that are stated as proved; each with its obligations."""
    theories: dict[str, list[Obligation]] = {}
    for theorem in specification.theorems:
        if not is_refuted(theorem):
            theories.setdefault(theorem.theory.name, []).extend(theorem_scheme(theorem).obligations)
    for name, own in theories.items():
        yield f"theorems of `{name}`", own
    for machine in specification.machines:
        everything = conjuncts(machine)
        yield f"`{machine.name}`", [each.obligation for each in preservations(machine, everything, everything)]
    for link in specification.links:
        if is_claimed(link):
            known = tuple(each.formula for each in conjuncts(link.machine))
            yield f"link to `{link.machine.name}`", obligations(link, known)


def table() -> str:
    """The rows outside with their numbers of obligations and what leaves the fragment; then those within, in lines."""
    within: dict[bool, list[str]] = {False: [], True: []}
    rows = ["| proofs | obligations outside | because |", "|---|---|---|"]
    for path in (*sorted(LIBRARY.glob("*.thence")), *sorted(LIBRARY.glob("benchmarks/*.thence"))):
        file = "benchmarks/" * (path.parent != LIBRARY) + path.stem
        specification = load(str(path)).specification
        assert specification is not None
        for name, own in proofs(specification):
            places = [fragment_of(obligation) for obligation in own if not obligation.by_frame]
            outside = [place for place in places if not place.within]
            if outside:
                reasons = dict.fromkeys(re.sub(r" \(line \d+\)", "", why) for place in outside for why in place.reasons)
                first, *others = reasons
                more = f"; and {len(others)} more" if others else ""
                rows.append(f"| {file}: {name} | {len(outside)} of {len(places)} | {first}{more} |")
            elif places:
                within[any(place.has_numbers for place in places)].append(f"{file}: {name}")
    lines = [f"**All within**: {', '.join(within[False])}.", f"**Within, with numbers**: {', '.join(within[True])}."]
    return "\n".join([*rows, "", *lines]) + "\n"


@pytest.mark.long
def test_the_table_of_the_page_is_that_of_the_library() -> None:
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    shown, after = rest.split(END)
    found = table()
    if os.environ.get("THENCE_GOLDEN") == "write":
        PAGE.write_text(f"{before}{BEGIN}{found}{END}{after}", encoding="utf-8")
    else:
        assert shown == found
