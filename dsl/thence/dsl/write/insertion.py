"""Lines put into a declaration of a file; all lines end as most of them did, everything else stays as it is."""

from __future__ import annotations

from collections.abc import Sequence

from thence.dsl.write.line_ends import with_line_ends

_AFTER = ("prove ", "expect ", "stable ", "reachable ", "eventually ")
"""The lines of a machine or link before which its invariants stand."""


def with_invariant_lines(text: str, header: int, lines: Sequence[str]) -> str:
    """The text with lines put into the machine or link whose declaration begins at line `header` (from 1).

    They stand after its last invariant; where it has none, before what it states or expects, or at its end.
    """
    own = text.split("\n")
    end = header
    while end < len(own) and (not own[end].strip() or own[end].startswith((" ", "\t"))):
        end += 1
    while end > header and not own[end - 1].strip():
        end -= 1
    block = range(header, end)
    invariants = [number for number in block if own[number].startswith("  invariant ")]
    if invariants:
        at = invariants[-1] + 1
        while at < end and own[at].startswith("   "):
            at += 1
    else:
        at = next((number for number in block if own[number].strip().startswith(_AFTER)), end)
    return with_line_ends("\n".join((*own[:at], *(f"  {line}" for line in lines), *own[at:])), text)
