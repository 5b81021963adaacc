"""Whether reductions keep verdicts: every protocol and mutant of the library, 3 processes, explored with and without.

`python bench/reductions.py [--sends 2] [--limit 2000000] [NAME...]`. Each reduction alone, all automatic ones,
and all together are held against none, on every property that is judged. A scope is skipped, and said to be, where
the search without reductions does not end below the limit. Exit code 1 where any verdict differs.
"""

from __future__ import annotations

import argparse
import sys

from whence.conformance.cli.targets import Choice, Target, targets
from whence.dsl import ir
from whence.dsl.load import library, load
from whence.dsl.recycling import system_of
from whence.proofs.compiled.engine import why_not
from whence.proofs.explore import AUTOMATIC, REDUCTIONS, Exploration, Resources, explore
from whence.proofs.scopes import properties_of

JUDGED = ("causal", "fifo", "csps", "sps", "at_most_once", "no_creation", "total_order", "delivered", "fault")
SETS = (*((name,) for name in REDUCTIONS), AUTOMATIC, tuple(REDUCTIONS))


def subjects(name: str, sends: int) -> list[Target]:
    """The protocols and mutants of a file, with so many messages each to whoever may be sent to."""
    found = load(name).specification
    assert found is not None
    mutants = [mutant.name for mutant in found.mutants if isinstance(mutant.mutated, ir.Protocol)]
    chosen = [Choice(name, None, 3, str(sends), mutant) for mutant in (None, *mutants)] if found.protocols else []
    return [target for choice in chosen for target in targets(choice)]


def explored(target: Target, reductions: tuple[str, ...], judged: tuple[str, ...], limit: int | None) -> Exploration:
    """One exploration by native code, to its end if it has one below the limit."""
    return explore(
        target.protocol, target.workload, judged, engine="native", limit=limit, reductions=reductions,
        resources=Resources(threads=2),
    )  # fmt: skip


def compared(target: Target, limit: int) -> tuple[bool, str]:
    """Whether all verdicts are the same, and how many states there are with and without."""
    reason = why_not(system_of(target.protocol, target.workload))
    if reason is not None:
        return True, f"skipped: {reason}"
    judged = tuple(dict.fromkeys((*properties_of(target.protocol), *JUDGED)))
    whole = explored(target, (), judged, limit)
    if not whole.complete:
        return True, f"skipped: more than {limit:,} states"
    same, shown = True, [f"{whole.states:,} states, violates {', '.join(sorted(whole.violations)) or 'nothing'}"]
    for reductions in SETS:
        found = explored(target, reductions, judged, None)
        agree = found.complete and found.violations.keys() == whole.violations.keys()
        same = same and agree
        shown.append(
            f"{'+'.join(reductions)} {found.states:,}{'' if agree else ' DIFFERS: ' + str(found.violations.keys())}"
        )
    return same, "; ".join(shown)


def main() -> int:
    """Compares, and says so."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=[path.stem for path in library()])
    parser.add_argument("--sends", type=int, default=2)
    parser.add_argument("--limit", type=int, default=2_000_000)
    options = parser.parse_args()
    good = True
    for name in options.names:
        for target in subjects(name, options.sends):
            same, shown = compared(target, options.limit)
            good = good and same
            print(f"{'same' if same else 'WRONG'}  {target.subject}: {shown}", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
