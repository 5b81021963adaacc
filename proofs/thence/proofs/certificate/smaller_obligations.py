"""Smaller obligations: only the assertions of an unsatisfiable core, as the input of a search for a proof.

A proof from fewer assertions is a proof of the obligation: the checker compares its assumptions to the whole text.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from thence.proofs.solving.discharge import Options
from thence.proofs.solving.solver import Check, SolverPool

_ASSERT = "(assert "


def smaller_obligations(texts: Sequence[str], options: Options) -> tuple[str, ...]:
    """Each obligation with the assertions of its core alone, or the obligation itself where no core is found."""
    with SolverPool(options.workers) as pool:
        asked = [
            Check.within(options.solvers[0], named(text), options.timeout_ms, options.seed, core="first")
            for text in texts
        ]
        found = list(texts)
        for number, answer in pool.answers(asked):
            if answer.status == "unsat" and answer.core:
                found[number] = kept(texts[number], answer.core)
    return tuple(found)


def named(text: str) -> str:
    """The obligation with its assertions named a0, a1, ..., for a core."""
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith(_ASSERT):
            code, _, comment = line.partition(" ;")
            body = code.rstrip().removeprefix(_ASSERT).removesuffix(")")
            number = sum(other.startswith(_ASSERT) for other in lines)
            line = f"(assert (! {body} :named a{number})) ;{comment}"
        lines.append(line)
    lines.insert(1, "(set-option :produce-unsat-cores true)")
    return "\n".join(lines) + "\n"


def kept(text: str, core: Collection[str]) -> str:
    """The obligation with only the assertions that `named` gives these names."""
    lines: list[str] = []
    number = 0
    for line in text.splitlines():
        if line.startswith(_ASSERT):
            number += 1
            if f"a{number - 1}" not in core:
                continue
        lines.append(line)
    return "\n".join(lines) + "\n"
