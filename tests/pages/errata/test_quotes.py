"""Each quote of the errata is in our copy of the paper, where the papers are at hand: they are not shipped."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

import pytest

from thence.pages.errata.fault import Errata, read_errata

PAPERS = Path(os.environ.get("THENCE_PAPERS", Path(__file__).parents[3] / "papers"))
"""A folder with the papers as text files."""

BEGINNINGS = {
    "cykas": "Can you keep a secret?",
    "almeida": "Space-Optimal, Computation-Optimal",
    "tree": "Tree Topologies for Causal Message Delivery",
    "mf": "This paper presents an algorithm to implement point",
    "rst": "Suppose Alice messages Carol",
}
SIGNS = {
    "iota": "i", "mu": "μ", "Sigma": "Σ", "Delta": "Δ", "leftarrow": "←", "rightarrow": "→", "mapsto": "↦", "le": "≤",
    "leq": "≤", "neq": "≠", "ne": "≠", "wedge": "∧", "vee": "∨", "neg": "¬", "in": "∈", "notin": "∉", "cup": "∪",
    "forall": "∀", "exists": "∃", "sqsubset": "⊏", "perp": "⊥", "bot": "⊥", "emptyset": "∅",
    "dots": "...", "ldots": "...", "cdot": "·", "ll": "≪",
}  # fmt: skip
LOST = "\ufffd"
"""What a conversion put in the place of a ligature or of a sign."""


def quotes(errata: Errata) -> list[tuple[str, str, str]]:
    """Entry, paper that is quoted, quote."""
    found = []
    for fault in errata.faults:
        for quote in (*fault.printed, *fault.prose):
            key, _, rest = quote.partition(": ")
            found.append((fault.id, key, rest) if key in BEGINNINGS else (fault.id, fault.paper, quote))
    return found


def bare(text: str) -> str:
    """The text without typesetting: signs for LaTeX's commands, no blanks, one kind of quotation mark and of dash."""
    text = re.sub(r"\\[()]", "", text)
    text = re.sub(r"\\([A-Za-z]+)", lambda found: SIGNS.get(found[1], ""), text)
    for marks, plain in (("“”", '"'), ("’‘", "'"), ("–−—", "-"), ("ι", "i"), ("μ", "μ")):
        for mark in marks:
            text = text.replace(mark, plain)
    return re.sub(r"[\s$\\{}_^*#`]", "", text)


@cache
def copies() -> dict[str, str]:
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in sorted(PAPERS.glob("*.txt"))]
    return {key: bare(next(text for text in texts if start in text[:2000])) for key, start in BEGINNINGS.items()}


def occurs(quote: str, copy: str) -> bool:
    """Whether the copy has the quote; a sign that it lost may be any ligature or sign."""
    if bare(quote) in copy:
        return True
    parts = re.findall(r"ffi|ffl|ff|fi|fl|.", bare(quote))
    return LOST in copy and re.search("".join(f"(?:{re.escape(part)}|{LOST})" for part in parts), copy) is not None


@pytest.mark.skipif(not any(PAPERS.glob("*.txt")), reason="not at hand; THENCE_PAPERS is their folder")
@pytest.mark.parametrize(("entry", "paper", "quote"), quotes(read_errata()))
def test_the_paper_says_so(entry: str, paper: str, quote: str) -> None:
    assert occurs(quote, copies()[paper]), f"{entry}: {paper} does not say: {quote}"


def test_a_quote_is_compared_without_its_typesetting() -> None:
    copy = bare(r"if $m.mid \leq ld_i[j] :$ then  *EAGER\_SENT* is \(\mathit{SENT}_i\)")
    assert occurs("if m.mid ≤ ld_i[j] :", copy)
    assert occurs("EAGER_SENT is SENT_i", copy)
    assert not occurs("if m.mid < ld_i[j] :", copy)
    assert occurs("the buffer is first", bare("the bu\ufffder is \ufffdrst"))
    assert not occurs("the buffer is last", bare("the bu\ufffder is \ufffdrst"))
