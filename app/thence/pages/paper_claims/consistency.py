"""What an entry must have to be called what it is called."""

from __future__ import annotations

from typing import Final

from thence.pages.errata.fault import Errata
from thence.pages.paper_claims.claim import Claim

UNBOUNDED: Final = ("Theorem", "Lemma", "Proposition", "Corollary")
"""Items that are about any number of processes and messages: no finite scope confirms one."""


def disagreements(claim: Claim, errata: Errata) -> tuple[str, ...]:
    """How the parts of an entry disagree; empty where they agree."""
    wrong = []
    evidence = bool(claim.shown or claim.runs or claim.pages)
    proved = any(one.verdict == "proved" for one in claim.shown)
    refuted = any(one.verdict == "refuted" for one in claim.shown) or any(run.exit == 1 for run in claim.runs)
    known = {fault.id for fault in errata.faults}
    wrong += [f"there is no erratum {one}" for one in claim.errata if one not in known]
    if any(one.verdict == "unknown" for one in claim.shown) and claim.standing == "confirmed":
        wrong.append("unknown confirms nothing")
    if claim.reason and claim.standing not in ("not covered", "open question"):
        wrong.append("a reason is for what is not covered")
    match claim.standing:
        case "confirmed":
            if not claim.shown and not claim.runs:
                wrong.append("no statement and no command confirms it")
            if claim.item.startswith(UNBOUNDED) and not proved:
                wrong.append("it is about any number of processes, and nothing is proved")
            if claim.lacks:
                wrong.append("it is confirmed, and something lacks")
        case "in part":
            if not evidence or not claim.lacks:
                wrong.append("what is shown in part needs evidence, and must say what lacks")
        case "not as printed":
            if not claim.errata:
                wrong.append("no erratum says what is wrong")
            if not refuted and not proved:
                wrong.append("nothing shows it")
        case "measured":
            if not claim.pages and not claim.runs:
                wrong.append("no page and no command has the figures")
        case "written down":
            if not claim.shown:
                wrong.append("no statement is about the formal text")
        case "open question" | "not covered":
            if not claim.reason:
                wrong.append("there is no reason")
            if claim.standing == "not covered" and evidence:
                wrong.append("it is not covered, and something is shown")
    return tuple(wrong)
