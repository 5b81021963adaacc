"""The page of the library's mutation score, mutation-library.md: a row for each subject, and every survivor.

`python -m thence.pages.mutation FOLDER FATES` writes the page from a folder of fates (`thence mutate --results`);
subjects that are not judged are named.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from thence.conformance.mutation.explanations import Explanation, change_of, explained, library_explanations, unused
from thence.conformance.mutation.run import Score, kept, score_of
from thence.conformance.mutation.subjects import library_subjects
from thence.conformance.mutation.workers import Judged
from thence.pages.folder import run_page

PAGE: Final = "mutation-library.md"

_HEADING: Final = """\
# The mutation score of the library

Small faults were put into every protocol, machine and implementation of the library, one at a time;
[mutation](../explanation/mutation.md) says which, and what becomes of them. The score is the part that was
killed of those that are not equal; an undecided mutant counts as one that was not killed, and so does one that survives
with an explanation. The files `*_printed` are left out: their protocols are known to be wrong, and each of their faults
is a mutant of the repaired protocol. A protocol that two files have is counted once. Made by `make docs`.
"""


def library_scores(folder: Path) -> list[Score]:
    """The scores in the folder; nothing is judged. Raises: OSError."""
    return [kept(subject, folder) for subject in library_subjects()]


def page(scores: Sequence[Score], explanations: Sequence[Explanation]) -> str:
    """The whole page."""
    alive = [(score, one) for score in scores for one in score.alive]
    said = sum(bool(explained(one, score.row, explanations)) for score, one in alive)
    lines = [_HEADING, *_table(scores), ""]
    lines += [f"Of the {len(alive):,} mutants that are not killed, {said:,} are explained below.", ""]
    for score in scores:
        if score.alive:
            lines += [f"## {score.row}: {score.kind} {_short(score.subject)}", ""]
            lines += [line for one in score.alive for line in _shown(score, one, explanations)]
    return "\n".join(lines).rstrip("\n") + "\n"


def _table(scores: Sequence[Score]) -> Iterator[str]:
    yield "| file | subject | mutants | killed | survived | undecided | equal | score |"
    yield "|---|---|--:|--:|--:|--:|--:|--:|"
    for score in scores:
        yield _line(score.row, f"{score.kind} `{_short(score.subject)}`", (score,))
    for kind in ("protocol", "machine", "implementation"):
        yield _line("**all**", f"{kind}s", [score for score in scores if score.kind == kind])
    yield _line("**all**", "**together**", scores)


def _line(row: str, subject: str, scores: Sequence[Score]) -> str:
    value = score_of(scores)
    shown = "none judged" if value is None else f"{100 * value:.1f} %"
    judged, refused = sum(len(score.judged) for score in scores), sum(score.count("refused") for score in scores)
    total = sum(score.total for score in scores)
    mutants = f"{judged - refused:,}" if judged == total else f"{judged - refused:,} (judged {judged:,} of {total:,})"
    counts = (sum(score.count(what) for score in scores) for what in ("killed", "survived", "undecided", "equal"))
    return f"| {row} | {subject} | {mutants} | {' | '.join(f'{count:,}' for count in counts)} | {shown} |"


def _short(subject: str) -> str:
    return subject.rpartition(":")[2]


def _shown(score: Score, one: Judged, explanations: Sequence[Explanation]) -> Iterator[str]:
    edit = one.mutant.edit
    yield f"**{edit.operator}** in {edit.place}, line {edit.span.line}: {one.fate.outcome}, {one.fate.reason}."
    why = explained(one, score.row, explanations)
    yield f"*{why}*" if why else "Not explained."
    yield ""
    yield "```diff"
    yield change_of(one)
    yield "```"
    yield ""


def make(folder: Path, sources: Sequence[Path]) -> int:
    """Writes the page from the one folder of fates. Exit code 1 if an explained mutant does not survive."""
    [fates] = sources
    scores, explanations = library_scores(fates), library_explanations()
    draft = folder / f".{PAGE}"
    draft.write_text(page(scores, explanations), encoding="utf-8")
    draft.replace(folder / PAGE)
    judged = {(score.row, score.subject) for score in scores if not score.why_incomplete}
    alive = [(score.row, one) for score in scores for one in score.alive]
    stale = unused([known for known in explanations if (known.row, known.subject) in judged], alive)
    for one in stale:
        print(f"explained, but does not survive: {one}", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    run_page(make, "mutation", "FATES")
