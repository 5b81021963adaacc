"""What the verdicts of an entry's statements come to, in words that a test can hold against the entry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from thence.pages.errata.fault import Fault, Statement

PROMISES: Final = frozenset(
    ("causal", "causally_ordered", "fifo", "csps", "sps", "delivered", "at_most_once", "no_creation", "fault")
)
"""What the papers promise. Anything else that is violated is an invariant of the library."""

OPTIMALITY: Final = frozenset(("optimal", "optimal_by_what_came", "asks_when_needed"))
"""The invariants of the library that say what the papers say of optimality."""


def claim(statement: Statement, verdict: str) -> str:
    """One statement's claim: what is violated or kept, refuted or proved, or played.

    `violates`, `keeps`: a property that the papers promise. `breaks`, `preserves`: an invariant of the
    library, such as one about optimality. `refutes`, `proves`: a theorem. `plays`: a scenario.
    """
    bad = verdict == "refuted"
    if statement.kind == "theorem":
        return f"{'refutes' if bad else 'proves'} {statement.name}"
    subject, _, name = statement.name.rpartition(": ")
    if statement.kind == "scenario" and not subject:
        return f"plays {name}"
    if name in PROMISES:
        return f"{'violates' if bad else 'keeps'} {name}"
    return f"{'breaks' if bad else 'preserves'} {name}"


def claims(fault: Fault, verdicts: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """The claims of all statements that show the fault, each once."""
    return tuple(dict.fromkeys(claim(one, verdicts[one.key]["verdict"]) for one in fault.shown))


def disagreements(fault: Fault, verdicts: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """How the entry's claims, its kind, and the verdicts of its statements disagree; empty where they agree."""
    found = {*claims(fault, verdicts)}
    stated = {*fault.shows}
    wrong = [f"it claims `{one}`, and no verdict shows it" for one in sorted(stated - found)]
    wrong += [f"its statements show `{one}`, and it does not say so" for one in sorted(found - stated)]
    violated = {one.partition(" ")[2] for one in found if one.startswith("violates ")}
    broken = {one.partition(" ")[2] for one in found if one.startswith("breaks ")}
    if "causal" in violated and not {"violates causally_ordered", "keeps causally_ordered"} & found:
        wrong.append("it violates `causal`, and nothing says whether two delivered messages are out of order")
    if "keeps causally_ordered" in found and "strict" not in fault.happens and "As A1" not in fault.happens:
        wrong.append("only the strict reading of causal delivery is violated, and it does not say so")
    if fault.harmless and (violated or broken & OPTIMALITY):
        wrong.append(f"it is called harmless, and violates {', '.join(sorted(violated | broken & OPTIMALITY))}")
    shows_it = violated or broken or any(one.startswith(("refutes ", "proves ")) for one in found)
    if not fault.harmless and not shows_it:
        wrong.append("nothing shows it, and it is not called harmless")
    match fault.kind:
        case "algorithm" if not violated:
            wrong.append("a fault of the algorithm violates something that the paper promises")
        case "slip" if not fault.prose:
            wrong.append("a slip of the pen is one by what the paper says elsewhere")
        case "optimality" if violated:
            wrong.append(f"it is to cost optimality only, and violates {', '.join(sorted(violated))}")
        case "optimality" if not {"keeps causal", "keeps delivered"} <= found:
            wrong.append("it is to cost optimality only, and nothing shows that causal delivery and liveness are kept")
        case "optimality" if not (fault.harmless or broken & OPTIMALITY):
            wrong.append("it is to cost optimality, and nothing shows that it does")
        case _:
            pass
    return tuple(wrong)
