"""`--fragment` of `thence prove`: which proofs rest on obligations that lie in the decidable fragment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from thence.proofs.solving.open_obligation import DECIDABLE, UNDECIDED
from thence.spec.verdict import Result
from thence.spec.words import counted


def fragments_text(results: Sequence[Result]) -> str:
    """Of each theory and machine the proved statements within, then those outside with what leaves the fragment.

    Statements that a run decides have no obligations, and mutants are left out.
    """
    told = [result for result in results if "fragment" in result.facts and result.kind != "mutant"]
    if not told:
        return "decidable fragment: no proof by obligations\n"
    lines: list[str] = []
    for subject in dict.fromkeys(result.subject for result in told):
        lines += [f"{subject}:", *_lines([result for result in told if result.subject == subject])]
    return "".join(f"{line}\n" for line in lines)


def _lines(results: Sequence[Result]) -> Iterator[str]:
    within = [result for result in results if not result.facts["fragment"]["outside"]]
    for numbers, words in ((False, ""), (True, ", with linear arithmetic")):
        names = [result.name for result in within if result.facts["fragment"]["numbers"] is numbers]
        if names:
            yield f"  {DECIDABLE}{words}: {', '.join(names)}"
    groups: dict[tuple[str, ...], list[str]] = {}
    for result in results:
        found = result.facts["fragment"]
        if found["outside"]:
            key = tuple(found["outside"])
            all_ = found["obligations"]
            total = str(all_) if key in groups else counted(all_, "obligation")
            said = f"{result.name} ({all_ - found['within']} of {total})"
            groups.setdefault(key, []).append(said)
    for reasons, names in groups.items():
        yield f"  {UNDECIDED}: {', '.join(names)}"
        yield from (f"    {reason}" for reason in reasons)
