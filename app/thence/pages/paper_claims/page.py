"""docs/library/paper-claims.md, from the claims and the records of their statements and commands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final, get_args

from thence.pages.errata.fault import Errata, Statement
from thence.pages.paper_claims import table_1
from thence.pages.paper_claims.claim import Claim, PaperClaims, Run, Shown, Standing
from thence.pages.statement_index import command

Records = Mapping[str, Mapping[str, Any]]


def page(papers: Sequence[PaperClaims], errata: Errata, stored: Mapping[str, Records]) -> str:
    """The page, in Markdown. `stored` has the records of `statements`, `runs` and of `table_1`."""
    names = {paper.key: paper.authors for paper in errata.papers}
    parts = [_HEADING, *_counts(papers, names), ""]
    for paper in papers:
        parts += [f"## {names[paper.paper]}", "", "| claim | what it says | | shown by | command | verdict | s |"]
        parts.append("|---|---|---|---|---|---|--:|")
        for claim in paper.claims:
            parts += _rows(claim, stored["statements"], stored["runs"])
        parts.append("")
        if paper.paper == "cykas":
            parts += table_1.lines(stored["table_1"])
    return "\n".join(parts).rstrip("\n") + "\n"


def counts(paper: PaperClaims) -> Counter[str]:
    """How many claims of a paper have each standing."""
    return Counter(claim.standing for claim in paper.claims)


def _counts(papers: Sequence[PaperClaims], names: Mapping[str, str]) -> Iterator[str]:
    standings = get_args(Standing)
    yield f"| paper | claims | {' | '.join(standings)} |"
    yield f"|---|--:|{'--:|' * len(standings)}"
    for paper in papers:
        found = counts(paper)
        cells = " | ".join(str(found[standing]) for standing in standings)
        yield f"| {names[paper.paper]} | {len(paper.claims)} | {cells} |"


def _rows(claim: Claim, statements: Records, runs: Records) -> Iterator[str]:
    """The lines of a claim. The first has its text; each group of statements with one command and verdict has one."""
    evidence = [*_shown(claim.shown, statements), *(_ran(run, runs) for run in claim.runs)]
    evidence += [(f"[{page_}]({page_})", "", "", "") for page_ in claim.pages]
    first = (_cell(claim.item), _cell(_text(claim)), claim.standing)
    for number, found in enumerate(evidence or [("", "", "", "")]):
        yield f"| {' | '.join((*(first if number == 0 else ('', '', '')), *found))} |"


def _text(claim: Claim) -> str:
    parts = [claim.says]
    if claim.lacks:
        parts.append(f"*Lacks:* {claim.lacks}")
    if claim.reason:
        parts.append(f"*Why:* {claim.reason}")
    if claim.errata:
        parts.append(f"*Errata:* [{', '.join(claim.errata)}](errata.md)")
    return "<br>".join(" ".join(part.split()) for part in parts)


def _shown(shown: Sequence[Shown], records: Records) -> Iterator[tuple[str, str, str, str]]:
    for (place, said), group in groupby(shown, lambda one: (_place(one.statement), _command(one.statement))):
        for verdict, same in groupby(group, lambda one: f"{one.verdict} {one.level}"):
            named = [*same]
            names = ", ".join(one.statement.name.rpartition(": ")[2] for one in named)
            known = [records[one.statement.key]["seconds"] for one in named if one.statement.key in records]
            explored = any("states" in records.get(one.statement.key, {}) for one in named)
            seconds = max(known, default=0.0) if explored else sum(known)
            yield _cell(f"{place}: {names}"), f"`{said}`", verdict, f"{seconds:.1f}"


def _ran(run: Run, records: Records) -> tuple[str, str, str, str]:
    prints = "; ".join(f"`{text}`" for text in run.prints)
    return _cell(f"prints {prints}"), f"`{run.command}`", f"exit {run.exit}", f"{records[run.command]['seconds']:.1f}"


def _place(about: Statement) -> str:
    scope = about.name.rpartition(": ")[0]
    return f"`{about.file}` {about.kind} {about.subject}{', ' + scope if scope else ''}"


def _command(about: Statement) -> str:
    return command(about.file, {"kind": about.kind, "subject": about.subject, "name": about.name})


def _cell(text: str) -> str:
    return text.replace("|", "/")


_HEADING: Final = """\
# The claims of the papers

Every numbered item of the five papers (theorems, lemmas, definitions, algorithms, rules, figures, tables), and the
claims of their text that can be checked: what the library says of each, by which statement, and how to check it.
`make paper-claims` checks every statement, runs every command, fails where one differs from what its entry expects,
and writes this page.

- **confirmed**: the verdicts say what the claim says.
- **in part**: they say less; what they lack is said.
- **not as printed**: an entry of the [errata](errata.md) is about it; the repaired form is shown where there is one.
- **measured**: figures, not proofs; they are on the page that is named, or come from the command.
- **written down**: a definition or an algorithm, with its formal text, and a statement that rests on it.
- **open question**: the paper leaves it open, or it is a question of its own. The answer is linked.
- **not covered**: nothing is said of it, for the reason given.

A verdict stands with its level: *holds* and L1 are about every run of one finite scope, *proved* about any number of
processes and messages, by one solver (L2) or by two (L3); *refuted* comes with a run or a countermodel. See
[proofs](../explanation/proofs.md). Times are those of one run, on a machine with other work; statements of one
exploration or proof share theirs. *Confirmed* is said of our formal text: that it says what the paper says has to
be read, not proved. Where an algorithm has errata, what is confirmed of it, a proposition or a rule, is confirmed of
its repaired text.
"""
