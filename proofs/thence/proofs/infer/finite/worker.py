"""A process that keeps Z3 solvers of finite problems: one JSON request a line, one JSON answer a line.

A request names a solver by a number; it is made when it is first named. `constants` and `assertions` are added for
good. With `assume`, the truth of the named constants is assumed, and the answer is `sat` with the values of the
constants in `values` (null: of all), `unsat` with the names of assumptions that are enough (`core`), or `unknown`.
`timeout_ms` is a limit on the processor time of this process, `effort` one in Z3's own measure.
"""

from __future__ import annotations

import json
import re
import sys
import time
from typing import Any

from thence.proofs.solving.solver_worker import interrupted_after, limit_memory

_WORD = re.compile(r"\|([^|]+)\||([^\s()|]+)")


class Solvers:
    """The solvers by number, each with its constants."""

    def __init__(self) -> None:
        self._solvers: dict[int, Any] = {}
        self._constants: dict[int, dict[str, Any]] = {}

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to one request. Z3's own error is an `unknown` with the reason."""
        import z3

        try:
            return {"id": request["id"], **self._answer(request)}
        except z3.Z3Exception as error:
            return {"id": request["id"], "status": "unknown", "reason": str(error)}

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        import z3

        number = request["solver"]
        if number not in self._solvers:
            self._solvers[number] = z3.SolverFor("QF_FD", z3.Context())
            self._constants[number] = {}
        solver, constants = self._solvers[number], self._constants[number]
        for name, sort in request.get("constants", {}).items():
            made = z3.Bool(name, solver.ctx) if sort == "Bool" else z3.Int(name, solver.ctx)
            constants[name] = made
            if sort != "Bool":
                solver.add(made >= 0, made < int(sort))
        if request.get("assertions"):
            text = "".join(f"(assert {assertion})" for assertion in request["assertions"])
            used = {name: constants[name] for name in _names(text) if name in constants}
            solver.add(z3.parse_smt2_string(text, decls=used, ctx=solver.ctx))
        if "assume" not in request:
            return {"status": "done", "reason": ""}
        solver.set("rlimit", request.get("effort", 0))  # 0: no limit
        with interrupted_after(request["timeout_ms"] / 1000, solver.ctx.interrupt):
            status = str(solver.check([constants[name] for name in request["assume"]]))
        if status == "unsat":
            return {"status": status, "reason": "", "core": [str(name) for name in solver.unsat_core()]}
        if status == "unknown":
            return {"status": status, "reason": solver.reason_unknown()}
        model = solver.model()
        wanted = constants if request["values"] is None else request["values"]
        values = {name: _value(model, constants[name]) for name in wanted}
        return {"status": status, "reason": "", "values": values}


def _names(text: str) -> dict[str, None]:
    """The names in a text, in one order, and other words. Z3 takes long over declarations, also over those that a text
    does not use."""
    return dict.fromkeys(quoted or plain for quoted, plain in _WORD.findall(text))


def _value(model: Any, constant: Any) -> int | bool:
    import z3

    value = model.eval(constant, model_completion=True)
    return bool(z3.is_true(value)) if z3.is_bool(constant) else int(value.as_long())


def main() -> None:
    """Serves requests until standard input ends."""
    limit_memory()
    solvers = Solvers()
    for line in sys.stdin:
        print(json.dumps({**solvers.answer(json.loads(line)), "processor_s": time.process_time()}), flush=True)


if __name__ == "__main__":
    main()
