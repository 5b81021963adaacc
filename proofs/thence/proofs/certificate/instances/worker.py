"""A process that asks Z3 for proofs, and says which instances of named quantified formulas they use.

Reads one JSON request, `{"texts": [...], "timeout_ms": N, "seed": N}`. Writes a line of JSON for each text: a list of
`[name, {variable: term}]`, empty where there is no proof in time, which is the processor time of this process.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

from thence.proofs.solving.solver_worker import interrupted_after, limit_memory

EFFORT = 2_000_000
"""Limit in Z3's own measure, which is the same on every machine."""

MOST_CHARACTERS = 20_000
"""Limit on the text of a term, which has no abbreviations."""


def instances_used(text: str, timeout_ms: int, seed: int) -> list[tuple[str, dict[str, str]]]:
    """The instances in a proof that the text is unsatisfiable."""
    import z3

    context = z3.Context(proof=True)
    solver = z3.Solver(ctx=context)
    solver.set("random_seed", seed)
    solver.set("rlimit", EFFORT)
    solver.set("enable_der", False)  # keeps variables with an equation, `x = f(y)`, whose terms would not be said
    solver.from_string(text)
    with interrupted_after(timeout_ms / 1000, context.interrupt):
        status = solver.check()
    if status != z3.unsat:
        return []
    texts: dict[int, str] = {}
    found = []
    for step in _steps(solver.proof()):
        if step.decl().kind() == z3.Z3_OP_PR_QUANT_INST:
            quantified = step.arg(0).arg(0).arg(0)
            terms = [_text(term, texts) for term in step.decl().params()]
            names = [quantified.var_name(number) for number in range(quantified.num_vars())]
            found.append((quantified.qid(), dict(zip(names, terms, strict=True))))
    return found


def _steps(proof: Any) -> Iterator[Any]:
    """The applications in a proof, each once."""
    import z3

    seen: set[int] = set()
    waiting = [proof]
    while waiting:
        found = waiting.pop()
        if found.get_id() not in seen and z3.is_app(found):
            seen.add(found.get_id())
            waiting.extend(found.children())
            yield found


def _text(term: Any, texts: dict[int, str]) -> str:
    """A term without quantifiers as text, without abbreviations."""
    import z3

    known = texts.get(term.get_id())
    if known is not None:
        return known
    if z3.is_int_value(term):
        value = term.as_long()
        text = str(value) if value >= 0 else f"(- {-value})"
    else:
        name = "ite" if term.decl().kind() == z3.Z3_OP_ITE else term.decl().name()
        parts = [_text(part, texts) for part in term.children()]
        text = f"({' '.join([name, *parts])})" if parts else name
    if len(text) > MOST_CHARACTERS:
        raise ValueError("a term is too long")
    texts[term.get_id()] = text
    return text


def main() -> None:
    """Answers one request."""
    import z3

    limit_memory()
    request = json.loads(sys.stdin.read())
    for text in request["texts"]:
        try:
            used = instances_used(text, request["timeout_ms"], request["seed"])
        except (ValueError, RecursionError, z3.Z3Exception):
            used = []
        print(json.dumps(used), flush=True)


if __name__ == "__main__":
    main()
