"""Sums of results, in words. Every number is counted from the results that it sums up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from thence.cli.readers.blocks import SUCCESSES, is_of_mutant, is_stated, mutant_of, statement
from thence.spec.verdict import Level, Result, Verdict
from thence.spec.words import counted

_VERBS = {Verdict.HOLDS: ("holds", "hold")}


def said_of(verdict: Verdict, number: int) -> str:
    """`1 holds`, `2 hold`, `3 proved`."""
    return f"{number:,} {_verb(verdict, number)}"


def _verb(verdict: Verdict, number: int) -> str:
    one, several = _VERBS.get(verdict, (verdict.value, verdict.value))
    return one if number == 1 else several


MOST_NAMED = 3
"""A sum names so many statements that surprise."""


def summed(results: Sequence[Result]) -> str:
    """The sum of a file: `134 of 134 as expected`, `3 of 3 hold`, `2 of 3 hold, 1 refuted (causal)`.

    `as expected` is said only where the file states what it expects of something; where it expects that something is
    unknown, that is said as well. Surprises are named if they are few.
    """
    claimed = [result for result in results if result.facts.get("claimed") is not False]
    good = [result for result in claimed if result.expected]
    rest = [*_surprises(claimed), *_unclaimed([result for result in results if result.facts.get("claimed") is False])]
    if any(is_stated(result) for result in claimed):
        open_ = sum(result.verdict is Verdict.UNKNOWN for result in good)
        undecided = [] if not open_ else ["unknown" if open_ == len(claimed) else f"{open_:,} of them unknown"]
        return ", ".join([f"{len(good):,} of {len(claimed):,} as expected", *undecided, *rest])
    verdicts = Counter(result.verdict for result in good)
    if len(verdicts) == 1 or not good:
        verdict = next(iter(verdicts), Verdict.HOLDS)
        kept = [f"{len(good):,} of {len(claimed):,} {_verb(verdict, len(good))}"] if good else []
    else:
        kept = [said_of(verdict, verdicts[verdict]) for verdict in SUCCESSES if verdicts[verdict]]
    return ", ".join([*kept, *rest]) or "nothing is stated"


def _surprises(results: Sequence[Result]) -> list[str]:
    """The verdicts that surprise: `1 not as expected` where the file states another one, else `1 refuted`; what is
    undecided contradicts nothing, and is `unknown` in any case.
    """
    surprises = [result for result in results if not result.expected]
    missed = [result for result in surprises if _contradicts(result)]
    said = []
    for verdict in Verdict:
        found = [result for result in surprises if result.verdict is verdict and not _contradicts(result)]
        if found:
            said.append(f"{said_of(verdict, len(found))}{_named(found)}")
    return [*said, *([f"{len(missed):,} not as expected{_named(missed)}"] if missed else [])]


def _contradicts(surprise: Result) -> bool:
    """Whether the file states another verdict than the one that was found."""
    return is_stated(surprise) and surprise.verdict is not Verdict.UNKNOWN


def _named(results: Sequence[Result]) -> str:
    return f" ({', '.join(map(statement, results))})" if len(results) <= MOST_NAMED else ""


def _unclaimed(results: Sequence[Result]) -> list[str]:
    """What nothing is claimed of: `1 refuted (causal) and 6 others, not claimed`. What is refuted is named first."""
    refuted = [result for result in results if result.verdict is Verdict.REFUTED]
    if not refuted:
        return [f"{len(results):,} not claimed"] if results else []
    others = len(results) - len(refuted)
    beside = f" and {others:,} {'other' if others == 1 else 'others'}" if others else ""
    return [f"{said_of(Verdict.REFUTED, len(refuted))}{_named(refuted)}{beside}, not claimed"]


def by_verdict(results: Sequence[Result]) -> str:
    """`25 proved (L3), 2 proved (L2), 11 refuted; 11 of them of 6 mutants`: every result is counted once."""
    found = Counter((result.verdict, result.level if result.verdict is Verdict.PROVED else None) for result in results)
    parts = []
    for verdict in Verdict:
        for level in (*sorted(Level, reverse=True), None):
            if number := found[verdict, level]:
                parts.append(said_of(verdict, number) + ("" if level is None else f" ({level.name})"))
    mutants = {mutant_of(result) for result in results if is_of_mutant(result)}
    about = sum(is_of_mutant(result) for result in results)
    aside = [f"{about:,} of them about {counted(len(mutants), 'mutant')}"] if 0 < about < len(results) else []
    return "; ".join([", ".join(parts), *aside])


def marked(results: Sequence[Result]) -> str:
    """What limits verdicts that are not shown, with the number of results of each; empty where nothing does."""
    ascending = sum(
        "set_order" in result.facts and result.facts["set_order"]["any_order"] != result.verdict.value
        for result in results
    )
    kinds = (
        (sum(result.verdict is Verdict.UNKNOWN for result in results), "unknown"),
        (sum(bool(result.facts.get("not_tried")) for result in results), "with something not tried"),
        (sum(bool(result.facts.get("cannot_refute")) for result in results), "that cannot be refuted in their scope"),
        (ascending, "only as sets are visited in ascending order"),
        (sum(bool(result.facts.get("bound")) for result in results), "within a number of steps"),
    )
    return ", ".join(f"{number:,} {words}" for number, words in kinds if number)
