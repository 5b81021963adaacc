"""A solver process: reads one JSON request a line, writes one JSON answer a line. Nothing else imports a solver.

`{"id", "load": "z3" | "cvc5"}` loads a solver, which takes a while on a busy machine, and is answered with the `id`.
Two other kinds of request, both with `id`, `seed` and `timeout_ms`, a limit on the processor time of this process:

- `{"solver": "z3" | "cvc5", "text": SMT-LIB2}`: is the text satisfiable? With `"core": "first" | "small"`, an `unsat`
  comes with the names of assertions that are enough for it: those of the proof, or as few as some effort finds. With
  `"only_refute": true`, Z3 does not look for models.
- `{"constants": {name: "Bool" | "Int"}, "stages": [{"assertions": [...], "goals": {name: literal}}],
  "minimise": [...]}`:
  stages add assertions; after each, every goal still open is tried as an assumption; a goal that is satisfiable is
  answered with values of all constants. `alternatives` gives goals a group, of which one goal is enough: when it is
  found, the others of its group are left. `minimise` names truth values to make false, as many as can be, one after
  another: the model is then minimal (no subset of its true facts will do). Numbers that it names are made small where
  that takes little effort. With `numbers_below`, every Int is from 0 to below that; the search is then propositional,
  and much faster.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from threading import Event, Thread
from typing import Any, TypeVar

Outcome = TypeVar("Outcome")

MEMORY_BYTES = 8 << 30
"""Limit on the memory of a solver process."""

OUT_OF_EFFORT = "timeout"
"""The reason of an `unknown` where the limit on effort or time was reached."""

_ENDED = frozenset({"max. resource limit exceeded", "interrupted", "interrupted from keyboard"})
"""Reasons of Z3 that say the same."""

EXHAUSTED = "(incomplete quantifiers)"
"""The reason of an `unknown` where Z3 has no more instances to try, in its own words."""

REFUSED = frozenset({"as", "_"})
"""Names that Z3 does not declare, not even in bars."""

_NUMBER = re.compile(r"\bInt\b|[ (]\d")
"""The sort of numbers, or a number: every term that is a number has one of them in it."""

OUT_OF_TIME = "timeout"
"""The reason of an `unknown` of cvc5, in its own word, where the limit by the clock was reached."""

_MOSTLY = 0.9
"""A process that worked for this share of the clock had a processor to itself."""

LOOK_S = 0.02
"""The processor time is looked at no more often than this, by the clock. An interrupt that comes to nothing, since the
solver is between two parts of its work, is repeated as often."""

SMALLER_RLIMIT = 100_000
"""Limit, in Z3's measure of effort, of each attempt to leave out one more assertion of a core."""


@contextmanager
def interrupted_after(limit_s: float, interrupt: Callable[[], None]) -> Iterator[Callable[[], bool]]:
    """`interrupt` is called once the block has taken so much processor time of this process, and until it is over.

    The block is given a function that says whether it has. A solver's own limit on time counts the clock, and ends
    early where other programs keep the processors busy. The block is to leave the interpreter to other threads, as Z3's
    calls do. Nothing is interrupted behind it.
    """
    end, over = time.process_time() + limit_s, Event()

    def is_late() -> bool:
        return time.process_time() >= end

    def watch() -> None:
        while not over.wait(max(end - time.process_time(), LOOK_S)):
            if is_late():
                interrupt()

    watching = Thread(target=watch, daemon=True)
    watching.start()
    try:
        yield is_late
    finally:
        over.set()
        watching.join()


def check_with_z3(
    text: str, seed: int, timeout_ms: int, core: str = "", effort: int | None = None, only_refute: bool = False
) -> tuple[str, str, list[str]]:
    """The status of an SMT-LIB2 text, the reason of an `unknown`, the core of an `unsat` if it is asked for."""
    import z3

    context = z3.Context()  # earlier questions leave no trace in the answer
    solver = z3.Solver(ctx=context)
    solver.set("random_seed", seed)
    if effort is not None:
        solver.set("rlimit", effort)
    if only_refute:
        solver.set("mbqi", False)
    if core == "small":
        stated = list(z3.parse_smt2_string(text.replace("(check-sat)", ""), ctx=context))
        solver.add(stated)
        # A named assertion is parsed as `name => assertion`, under a name of the solver's own that looks the same.
        given = set(re.findall(r":named (\w+)\)", text))
        names = [each.arg(0) for each in stated if z3.is_implies(each) and str(each.arg(0)) in given]
    else:
        solver.from_string(text.replace("(check-sat)", ""))
        names = []
    used: list[str] = []
    with interrupted_after(timeout_ms / 1000, context.interrupt):
        status = str(solver.check(*names))
        if core and status == "unsat":
            used = _small_core(solver) if core == "small" else [str(name) for name in solver.unsat_core()]
    return status, _reason(solver) if status == "unknown" else "", used


def _reason(solver: Any) -> str:
    """Why Z3 does not know, in one word where a limit was reached."""
    reason = str(solver.reason_unknown())
    return OUT_OF_EFFORT if "canceled" in reason or reason in _ENDED else reason


def _small_core(solver: Any) -> list[str]:
    """The names of the core, without the names that a limited effort shows to be unnecessary."""
    kept = list(solver.unsat_core())
    solver.set("rlimit", SMALLER_RLIMIT)
    for name in list(kept):
        rest = [other for other in kept if not other.eq(name)]
        if any(other.eq(name) for other in kept) and str(solver.check(*rest)) == "unsat":
            kept = list(solver.unsat_core())
    return [str(name) for name in kept]


def check_with_cvc5(
    text: str, seed: int, timeout_ms: int, core: str = "", effort: int | None = None, only_refute: bool = False
) -> tuple[str, str, list[str]]:
    """The same by cvc5, which looks for no models of quantified formulas anyway: `only_refute` changes nothing."""

    def ask(clock_ms: int) -> tuple[tuple[str, list[str]], str]:
        status, reason, used = _asked_of_cvc5(text, seed, clock_ms, core, effort)
        return (status, used), reason

    (status, used), reason = asked_for_longer(timeout_ms, ask)
    return status, OUT_OF_EFFORT if reason in (OUT_OF_TIME, "resourceout") else reason, used


def asked_for_longer(timeout_ms: int, ask: Callable[[int], tuple[Outcome, str]]) -> tuple[Outcome, str]:
    """What cvc5 answers within so much processor time of this process, about, and in its own word why it does not know.

    Its limit on time counts the clock. Where the process had little of the processors meanwhile, cvc5 is asked anew,
    for longer. `ask` is given the limit by the clock, in ms.
    """
    clock_ms = timeout_ms
    while True:
        started = time.process_time()
        outcome, reason = ask(clock_ms)
        if reason != OUT_OF_TIME or (time.process_time() - started) * 1000 >= timeout_ms * _MOSTLY:
            return outcome, reason
        clock_ms *= 2


def reason_of_cvc5(result: Any) -> str:
    """Why cvc5 does not know, in its own word."""
    return str(result.getUnknownExplanation()).rpartition(".")[2].lower()


def _asked_of_cvc5(text: str, seed: int, clock_ms: int, core: str, effort: int | None) -> tuple[str, str, list[str]]:
    """The status, the reason in cvc5's own word, the core. The limit in ms is by the clock."""
    import cvc5

    terms = cvc5.TermManager()
    solver = cvc5.Solver(terms)
    solver.setOption("tlimit-per", str(clock_ms))
    solver.setOption("seed", str(seed))
    solver.setOption("enum-inst", "true")  # where matching finds nothing more, it tries terms one after the other
    if effort is not None:
        solver.setOption("rlimit-per", str(effort))
    if core:
        solver.setOption("produce-unsat-cores", "true")
        solver.setOption("minimal-unsat-cores", "true" if core == "small" else "false")
    parser = cvc5.InputParser(solver)
    text = text.replace("(set-logic ALL)", f"(set-logic {_logic(text)})", 1).replace("(check-sat)", "")
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "obligation")
    symbols = parser.getSymbolManager()
    failed = _invoked(parser, solver, symbols)
    if failed.startswith("(error"):
        return "unknown", failed, []
    result = solver.checkSat()
    if result.isUnsat():
        used: list[str] = []
        if core:
            parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, "(get-unsat-core)", "core")
            used = _invoked(parser, solver, symbols).strip("()\n ").split()
        return "unsat", "", used
    if result.isSat():
        return "sat", "", []
    return "unknown", reason_of_cvc5(result), []


def _logic(text: str) -> str:
    """The logic of an obligation's text. Where it has no numbers, cvc5 need not make ready for them; it refuses a text
    that is not in its logic."""
    return "ALL" if _NUMBER.search(text) else "UF"


def _invoked(parser: Any, solver: Any, symbols: Any) -> str:
    """The replies of the parser's commands, up to the first error."""
    replies = []
    while not (command := parser.nextCommand()).isNull():
        replies.append(command.invoke(solver, symbols).strip())
        if replies[-1].startswith("(error"):
            return str(replies[-1])
    return "".join(replies)


def search(request: dict[str, Any]) -> dict[str, Any]:
    """Answers a staged request: `{"status": "done" | "unknown", "reason", "models": {goal: {"stage", "values"}}}`.

    The limits on time and effort are for the whole request. When one is reached, the answer has the models found so
    far.
    """
    import z3

    context = z3.Context()  # earlier questions leave no trace in the answer
    with interrupted_after(request["timeout_ms"] / 1000, context.interrupt) as is_late:
        return _searched(context, request, is_late)


def _searched(context: Any, request: dict[str, Any], is_late: Callable[[], bool]) -> dict[str, Any]:
    import z3

    sorts: dict[str, str] = request["constants"]
    numbers = [name for name, sort in sorts.items() if sort == "Int"]
    below: int | None = request.get("numbers_below")
    finite = below is not None or not numbers
    solver = z3.SolverFor("QF_FD", context) if finite else z3.Solver(ctx=context)
    if not finite:
        solver.set("random_seed", request["seed"])
    constants = {
        name: z3.Bool(name, context) if sort == "Bool" else z3.Int(name, context) for name, sort in sorts.items()
    }
    if below is not None:
        solver.add([z3.And(constants[name] >= 0, constants[name] < below) for name in numbers])
    by_name = not REFUSED.isdisjoint(sorts)
    if not by_name:
        solver.from_string("".join(f"(declare-const |{name}| {sort})" for name, sort in sorts.items()))
    outstanding: set[str] = set().union(*(stage["goals"] for stage in request["stages"]))
    models: dict[str, Any] = {}
    group: dict[str, str] = request.get("alternatives", {})
    effort: int | None = request.get("effort")
    before = _spent(solver) if effort is not None else 0
    for number, stage in enumerate(request["stages"]):
        if stage["assertions"]:
            text = "".join(f"(assert {assertion})" for assertion in stage["assertions"])
            if by_name:
                solver.add(z3.parse_smt2_string(text, decls=constants, ctx=context))
            else:  # faster
                solver.from_string(text)
        for goal, literal in stage["goals"].items():
            if goal not in outstanding:
                continue
            if is_late():
                return {"status": "unknown", "reason": OUT_OF_EFFORT, "models": models}
            if effort is not None:
                solver.set("rlimit", max(1, effort - (_spent(solver) - before)))
            status = solver.check(constants[literal])
            if status == z3.unknown:
                return {"status": "unknown", "reason": _reason(solver), "models": models}
            if status == z3.sat:
                model = _minimal(solver, constants, literal, request["minimise"])
                models[goal] = {"stage": number, "values": _values(model, constants)}
                outstanding -= {each for each in outstanding if group.get(each, each) == group.get(goal, goal)}
        if not outstanding:
            break
    return {"status": "done", "reason": "", "models": models}


def _spent(solver: Any) -> int:
    """The effort that the solver's context has spent so far, in Z3's measure."""
    statistics = solver.statistics()
    return int(statistics.get_key_value("rlimit count")) if "rlimit count" in statistics.keys() else 0  # noqa: SIM118


FEWER_RLIMIT = 2_000_000
"""Z3's measure of effort for each attempt to find a model with fewer true facts."""


SMALL = (2, 4, 16)
"""Bounds on the numbers of a model, of which the first is kept that a model is found for."""

SMALL_RLIMIT = 200_000
"""Z3's measure of effort for each attempt to find a model with small numbers."""


def _minimal(solver: Any, constants: dict[str, Any], literal: str, names: list[str]) -> Any:
    """The current model with few true facts, then with small numbers, of those that `names` has."""
    import z3

    facts = {name: constants[name] for name in names if z3.is_bool(constants[name])}
    numbers = {name: constants[name] for name in names if name not in facts}
    model = _with_few_facts(solver, constants[literal], facts) if facts else solver.model()
    return _with_small_numbers(solver, constants[literal], facts, numbers, model) if numbers else model


def _with_small_numbers(solver: Any, literal: Any, facts: dict[str, Any], numbers: dict[str, Any], model: Any) -> Any:
    """A model with as many true facts at most, and with all numbers below a small bound; or the given one."""
    import z3

    highest = max(_values(model, numbers).values())
    solver.push()
    solver.add(literal)
    if facts:
        solver.add(z3.AtMost(*facts.values(), sum(_values(model, facts).values())))
    for bound in SMALL:
        if highest < bound:
            break
        solver.push()
        solver.add([number < bound for number in numbers.values()])
        solver.set("rlimit", SMALL_RLIMIT)
        found = solver.check() == z3.sat
        model = solver.model() if found else model
        solver.pop()
        if found:
            break
    solver.set("rlimit", 0)
    solver.pop()
    return model


def _with_few_facts(solver: Any, literal: Any, facts: dict[str, Any]) -> Any:
    """The current model, improved in two steps.

    After the first, no true fact can be made false without another becoming true. After the second, no model has fewer
    true facts, within a limited effort.
    """
    import z3

    model = solver.model()
    solver.push()
    solver.add(literal)
    solver.push()
    candidates = facts
    while True:
        values = _values(model, candidates)
        solver.add([z3.Not(fact) for name, fact in candidates.items() if not values[name]])
        candidates = {name: fact for name, fact in candidates.items() if values[name]}
        if not candidates:
            break
        solver.add(z3.Or([z3.Not(fact) for fact in candidates.values()]))
        if solver.check() != z3.sat:
            break
        model = solver.model()
    solver.pop()
    solver.set("rlimit", FEWER_RLIMIT)
    while True:
        count = sum(_values(model, facts).values())
        if count == 0:
            break
        solver.add(z3.AtMost(*facts.values(), count - 1))
        if solver.check() != z3.sat:
            break
        model = solver.model()
    solver.set("rlimit", 0)
    solver.pop()
    return model


def _values(model: Any, constants: dict[str, Any]) -> dict[str, int | bool]:
    """The values of constants in a model; of one that may have any value, false or 0.

    Z3's functions are called without its Python objects, since there are thousands of constants.
    """
    import z3

    context, functions = model.ctx.ref(), z3.z3core
    values: dict[str, int | bool] = {}
    for name, constant in constants.items():
        declared = functions.Z3_get_app_decl(context, constant.ast)
        given = functions.Z3_model_get_const_interp(context, model.model, declared)
        if z3.is_bool(constant):
            values[name] = given.value is not None and functions.Z3_get_bool_value(context, given) == z3.Z3_L_TRUE
        else:
            values[name] = 0 if given.value is None else int(functions.Z3_get_numeral_string(context, given))
    return values


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """The answer to one request, with its `id`. A solver's own error is an `unknown` with the reason."""
    try:
        if "load" in request:
            import_module(request["load"])
            return {"id": request["id"]}
        if "stages" in request:
            return {"id": request["id"], **search(request)}
        check = {"z3": check_with_z3, "cvc5": check_with_cvc5}[request["solver"]]
        core = request.get("core", "")
        started = time.monotonic()
        effort = request.get("effort")
        only = request.get("only_refute", False)
        status, reason, used = check(request["text"], request["seed"], request["timeout_ms"], core, effort, only)
        seconds = time.monotonic() - started
        return {"id": request["id"], "status": status, "reason": reason, "core": used, "seconds": seconds}
    except (RuntimeError, ValueError, ArithmeticError, MemoryError) as error:
        return {"id": request["id"], "status": "unknown", "reason": f"solver error: {error}", "models": {}}
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("z3", "cvc5"):
            raise
        return {"id": request["id"], "status": "unknown", "reason": f"solver error: {error}", "models": {}}


def limit_memory(limit_bytes: int = MEMORY_BYTES) -> None:
    """What needs more memory is out of memory in this process, and not on the whole machine."""
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_AS)
    limit = limit_bytes if most == resource.RLIM_INFINITY else min(limit_bytes, most)
    resource.setrlimit(resource.RLIMIT_AS, (limit, most))


def main() -> None:
    """Serves requests until standard input ends."""
    limit_memory()
    for line in sys.stdin:
        print(json.dumps({**answer(json.loads(line)), "processor_s": time.process_time()}), flush=True)


if __name__ == "__main__":
    main()
