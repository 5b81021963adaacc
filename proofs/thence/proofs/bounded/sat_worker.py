"""A solver process that keeps a growing propositional problem: reads one JSON request a line, writes one answer a line.

- `{"text": SMT-LIB2}` adds declarations and assertions;
- `{"solve": [literals], "timeout_ms": n}`: can all of them be true together? With `sat`, `true` are the inputs among
  `wanted` that are true in the model;
- `{"possible": [literals], "timeout_ms": n}`: which of the literals can be true? `done` tells whether the rest cannot.

A literal is a number n for the constant `n<n>`, negative for its negation.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any


class PropositionalProblem:
    """The solver and the constants that it has been asked about."""

    def __init__(self) -> None:
        import z3

        self.z3 = z3
        self.solver = z3.SolverFor("QF_FD")
        self.asked = 0

    def constant(self, literal: int) -> Any:
        positive = self.z3.Bool(f"n{abs(literal)}")
        return positive if literal > 0 else self.z3.Not(positive)

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        if "text" in request:
            if request["text"]:
                self.solver.from_string(request["text"])
            return {"status": "done"}
        if "solve" in request:
            return self.solve(request["solve"], request["wanted"], request["timeout_ms"])
        return self.possible(request["possible"], request["timeout_ms"])

    def solve(self, literals: list[int], wanted: list[int], timeout_ms: int) -> dict[str, Any]:
        self.solver.set("timeout", timeout_ms)
        status = str(self.solver.check([self.constant(literal) for literal in literals]))
        if status == "sat":
            model = self.solver.model()
            return {"status": status, "true": [literal for literal in wanted if self.holds(model, literal)]}
        return {"status": status, "reason": self.solver.reason_unknown() if status == "unknown" else ""}

    def possible(self, literals: list[int], timeout_ms: int) -> dict[str, Any]:
        """One model after another, each of which has something that none before had."""
        deadline = time.monotonic() + timeout_ms / 1000
        left = list(literals)
        found: list[int] = []
        while left:
            rest_ms = round((deadline - time.monotonic()) * 1000)
            if rest_ms <= 0:
                return {"status": "unknown", "found": found}
            self.solver.set("timeout", rest_ms)
            self.asked += 1
            switch = self.z3.Bool(f"asked{self.asked}")
            clause = [self.constant(literal) for literal in left]
            self.solver.add(self.z3.Or(self.z3.Not(switch), *clause))
            status = self.solver.check(switch)
            if status == self.z3.unsat:
                self.solver.add(self.z3.Not(switch))
                break
            if status == self.z3.unknown:
                return {"status": "unknown", "found": found}
            model = self.solver.model()
            seen = {literal for literal in left if self.holds(model, literal)}
            found += sorted(seen)
            left = [literal for literal in left if literal not in seen]
            self.solver.add(self.z3.Not(switch))
        return {"status": "done", "found": found}

    def holds(self, model: Any, literal: int) -> bool:
        return bool(self.z3.is_true(model.eval(self.constant(literal), model_completion=True)))


def main() -> None:
    """Serves requests until standard input ends. A solver's own error is an `unknown` with the reason."""
    problem = PropositionalProblem()
    for line in sys.stdin:
        request = json.loads(line)
        try:
            found = problem.answer(request)
        except (problem.z3.Z3Exception, MemoryError) as error:
            found = {"status": "unknown", "reason": f"solver error: {error}", "found": []}
        print(json.dumps({"id": request["id"], **found}), flush=True)


if __name__ == "__main__":
    main()
