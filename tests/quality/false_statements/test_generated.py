"""False statements made from the library's machines: guards weakened, updates skipped, invariants denied, strengthened.

That a statement is false is established by a run from an initial state, in `generated_runs.json`, which plain
evaluation takes step by step here: no solver has a part in it. A mutant that no run shows to be false is not in the
set; it may be harmless. What is in the set may be refuted or left open by the prover, never proved.

The runs were found by `python tests/quality/false_statements/test_generated.py`, which writes them again. A run that no
longer fits its machine is left out; the size of the set is asserted.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from thence.dsl import ir
from thence.dsl.ir.types import BOOL
from thence.dsl.load import load
from thence.proofs.logic.formula import conj, free_locals, map_children, negation
from thence.proofs.logic.structure import CrossCheckError, evaluate
from thence.proofs.machine.goals import Falsification, TransitionRun
from thence.proofs.machine.prover import prove_machine, statement_formula
from thence.proofs.machine.reachability import SearchScope, search
from thence.proofs.machine.transitions import actions, environment_of, initial, rigid
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import SolverPool
from thence.spec.verdict import Verdict

RUNS = Path(__file__).parent / "generated_runs.json"
MACHINES = (("mf", "buffers"), ("hybrid_basic", "permits"), ("mf_pipelined", "pipelined"))
SCOPE = SearchScope({"process": 3, "message": 3}, 10)
LEAST = 120
"""How many false statements there are at least."""

EVERYTHING = bool(os.environ.get("THENCE_ALL_FALSE_STATEMENTS"))
"""Whether all of them are given to the prover, or a part of them that is the same every time."""

EVERY_MACHINE = 1 if EVERYTHING else 10
EVERY_INVARIANT = 1 if EVERYTHING else 4


@dataclass(frozen=True)
class Mutation:
    """A machine with one change. `statements` are those that the change may make false."""

    label: str
    machine: ir.Machine
    statements: tuple[str, ...]


def conjuncts(expr: ir.Expr) -> list[ir.Expr]:
    if isinstance(expr, ir.Connective) and expr.operator == "and":
        return [*conjuncts(expr.left), *conjuncts(expr.right)]
    return [expr]


@cache
def machine_of(file: str, name: str) -> ir.Machine | None:
    found = load(file).specification
    assert found is not None
    return next((machine for machine in found.machines if machine.name == name), None)


def stated(machine: ir.Machine) -> tuple[str, ...]:
    invariants = tuple(invariant.name for invariant in machine.invariants)
    return (*(name for name in machine.prove if name not in invariants), *invariants)


def transition_mutations(machine: ir.Machine) -> Iterator[Mutation]:
    """Every conjunct of every guard dropped, every update skipped."""
    for number, transition in enumerate(machine.transitions):
        guards = [part for guard in transition.requires for part in conjuncts(guard.body)]
        for at in range(len(guards)):
            kept = ir.NamedFormula("kept", conj(guards[:at] + guards[at + 1 :]))
            yield _changed(machine, number, f"guard {at}", replace(transition, requires=(kept,)))
        for at in range(len(transition.updates)):
            updates = (*transition.updates[:at], *transition.updates[at + 1 :])
            yield _changed(machine, number, f"update {at}", replace(transition, updates=updates))


def _changed(machine: ir.Machine, number: int, what: str, transition: ir.Transition) -> Mutation:
    transitions = (*machine.transitions[:number], transition, *machine.transitions[number + 1 :])
    label = f"{transition.name} without {what}"
    return Mutation(label, replace(machine, transitions=transitions), stated(machine))


def invariant_mutations(machine: ir.Machine) -> Iterator[Mutation]:
    """Every invariant denied, denied somewhere inside, and with a premise the less."""
    for invariant in machine.invariants:
        changes = [("denied", negation(invariant.body)), *_stronger(invariant.body)]
        random = Random(invariant.name)
        places = _truths(invariant.body)
        for number in random.sample(range(1, places), min(3, places - 1)):
            changes.append((f"denied at {number}", _denied_at(invariant.body, number)))
        for what, body in changes:
            formula = ir.NamedFormula(f"{invariant.name} {what}", body)
            added = replace(machine, invariants=(*machine.invariants, formula))
            yield Mutation(formula.name, added, (formula.name,))


def _stronger(expr: ir.Expr) -> Iterator[tuple[str, ir.Expr]]:
    """Without one conjunct of the premise, or one disjunct of the conclusion."""
    if isinstance(expr, ir.Quantified) and expr.kind == "forall":
        for what, body in _stronger(expr.body):
            yield what, replace(expr, body=body)
    if isinstance(expr, ir.Connective) and expr.operator == "implies":
        premises = conjuncts(expr.left)
        for at in range(len(premises)):
            yield f"without premise {at}", replace(expr, left=conj(premises[:at] + premises[at + 1 :]))
        if isinstance(expr.right, ir.Connective) and expr.right.operator == "or":
            yield "without alternative 0", replace(expr, right=expr.right.right)
            yield "without alternative 1", replace(expr, right=expr.right.left)


def _truths(expr: ir.Expr) -> int:
    """How many truth values stand inside, the whole included."""
    count = 0

    def visit(part: ir.Expr) -> ir.Expr:
        nonlocal count
        count += part.type == BOOL
        return map_children(part, visit)

    visit(expr)
    return count


def _denied_at(expr: ir.Expr, number: int) -> ir.Expr:
    """The formula with its `number`-th truth value, from the outside, denied."""
    seen = -1

    def visit(part: ir.Expr) -> ir.Expr:
        nonlocal seen
        seen += part.type == BOOL
        chosen = part.type == BOOL and seen == number
        inner = map_children(part, visit)
        return negation(inner) if chosen else inner

    return visit(expr)


def mutations(machine: ir.Machine) -> Iterator[Mutation]:
    yield from transition_mutations(machine)
    yield from invariant_mutations(machine)


# --- runs --------------------------------------------------------------------------------------


def recorded(file: str, mutation: Mutation, statement: str, run: TransitionRun) -> dict[str, Any]:
    given = {
        symbol: [[*key, value] for key, value in sorted(table.items())]
        for symbol, table in run.start.tables.items()
        if symbol in rigid(mutation.machine)
    }
    return {
        "file": file,
        "machine": mutation.machine.name,
        "mutation": mutation.label,
        "statement": statement,
        "universe": dict(run.start.universe),
        "given": given,
        "steps": [[action.name, *arguments] for action, arguments in run.steps],
    }


def is_false(machine: ir.Machine, entry: Mapping[str, Any]) -> bool:
    """Whether the run is one of the machine, and the statement is false at its end: by evaluation alone."""
    given = {symbol: {tuple(row[:-1]): row[-1] for row in rows} for symbol, rows in entry["given"].items()}
    by_name = {action.name: action for action in actions(machine)}
    if any(step[0] not in by_name for step in entry["steps"]):
        return False
    try:
        start = initial(machine, entry["universe"], given)
        run = TransitionRun(start, tuple((by_name[step[0]], tuple(step[1:])) for step in entry["steps"]))
        states = run.states()
    except (CrossCheckError, KeyError, ValueError):
        return False
    formula = statement_formula(machine, entry["statement"])
    if free_locals(formula.body):
        action, arguments = run.steps[-1]
        return action.name == "deliver" and not evaluate(formula.body, states[-2], environment_of(action, arguments))
    return not evaluate(formula.body, states[-1], {})


@dataclass(frozen=True)
class Falsehood:
    """A machine and a statement of it that a run shows to be false."""

    label: str
    machine: ir.Machine
    statement: str


@cache
def falsehoods() -> tuple[Falsehood, ...]:
    entries: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for entry in json.loads(RUNS.read_text(encoding="utf-8")):
        entries.setdefault((entry["file"], entry["machine"], entry["mutation"]), []).append(entry)
    return tuple(
        Falsehood(f"{file}: {mutation.label}: {entry['statement']}", mutation.machine, entry["statement"])
        for file, name in MACHINES
        if (machine := machine_of(file, name)) is not None
        for mutation in mutations(machine)
        for entry in entries.get((file, name, mutation.label), ())
        if is_false(mutation.machine, entry)
    )


# --- tests -------------------------------------------------------------------------------------


def test_the_set_is_large_enough() -> None:
    assert len(falsehoods()) >= LEAST


def test_the_machines_themselves_are_not_refuted() -> None:
    """What shows a mutant to be wrong shows nothing against the machine that it was made from."""
    compared = 0
    for entry in json.loads(RUNS.read_text(encoding="utf-8")):
        machine = machine_of(entry["file"], entry["machine"])
        if machine is not None and entry["statement"] in stated(machine):
            compared += 1
            assert not is_false(machine, entry), (entry["machine"], entry["mutation"])
    assert compared >= 60


def changed_machines() -> list[ir.Machine]:
    """The machines with a changed transition."""
    originals = {machine.transitions for file, name in MACHINES if (machine := machine_of(file, name)) is not None}
    return list(dict.fromkeys(false.machine for false in falsehoods() if false.machine.transitions not in originals))


OPTIONS = Options(timeout_ms=400, solvers=("z3",))


def assert_none_proved(pool: SolverPool, machine: ir.Machine, statements: Sequence[str]) -> None:
    findings, _ = prove_machine(ProofSession(pool, OPTIONS), machine)
    for statement in statements:
        assert findings[statement].verdict is not Verdict.PROVED, (machine.name, statement)


@pytest.mark.long
def test_no_changed_machine_keeps_what_a_run_refutes() -> None:
    machines = changed_machines()
    assert len(machines) >= 30
    with SolverPool(2) as pool:
        for machine in machines[::EVERY_MACHINE]:
            false = [each.statement for each in falsehoods() if each.machine == machine]
            assert false
            assert_none_proved(pool, machine, false)


@pytest.mark.long
@pytest.mark.parametrize(("file", "name"), MACHINES)
def test_no_false_invariant_is_proved(file: str, name: str) -> None:
    """All of them beside the true ones: that they are candidates of one inductive set must not prop them up."""
    machine = machine_of(file, name)
    if machine is None:
        pytest.skip(f"{file} has no machine {name}")
    false = {
        each.statement: statement_formula(each.machine, each.statement)
        for each in falsehoods()
        if each.machine.name == name and each.machine.transitions == machine.transitions
    }
    chosen = list(false)[::EVERY_INVARIANT]
    assert len(chosen) >= 4
    added = tuple(false[name] for name in chosen)
    with SolverPool(2) as pool:
        assert_none_proved(pool, replace(machine, invariants=(*machine.invariants, *added)), chosen)


def main() -> None:
    """Looks for a run for every mutation, and writes those that there are."""
    found: list[dict[str, Any]] = []
    with SolverPool(2) as pool:
        for file, name in MACHINES:
            machine = machine_of(file, name)
            assert machine is not None, (file, name)
            every = list(mutations(machine))
            for mutation in every:
                goals = {each: Falsification(statement_formula(mutation.machine, each)) for each in mutation.statements}
                runs = search(
                    ProofSession(pool, Options(timeout_ms=20_000)), mutation.machine, goals, scopes=(SCOPE,)
                ).runs
                shortest = sorted(runs, key=lambda each: (len(runs[each].steps), each))
                proved = [each for each in shortest if each in machine.prove]
                chosen = dict.fromkeys([*proved[:1], *shortest[:1]])
                found += [recorded(file, mutation, each, runs[each]) for each in chosen]
            lines = ",\n".join(json.dumps(entry) for entry in found)
            RUNS.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
            print(file, name, len(every), "mutations;", len(found), "false statements so far", flush=True)


if __name__ == "__main__":
    main()
