"""Mutants of a machine: killed when what is proved of the machine is not proved of them.

A mutant differs from its machine in one transition. The other transitions keep the invariants as before, so it is
enough to ask about that one: whether it keeps each conjunct, and whether it can happen. A conjunct that it does not
keep is not always false in some run: the mutant is killed because the proof fails, as it would for a user who wrote
it. What keeps everything may be too strong: then the protocol's events are not enabled in it, which the link shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from whence.conformance.mutation.fate import Fate
from whence.conformance.mutation.protocol_judge import linked_in, usual_workloads
from whence.dsl import ir
from whence.dsl.types import BOOL
from whence.proofs.discharge import Options, discharge_all
from whence.proofs.formula import Unsupported, conj, equal, forall, implies, local, negation
from whence.proofs.inductive_set import inductive_set
from whence.proofs.link import check_link
from whence.proofs.machine_obligations import (
    Conjunct,
    conjuncts,
    delivered_once,
    impossible,
    preservations,
    signature_of,
)
from whence.proofs.obligation import Obligation
from whence.proofs.reachability import Firing, search
from whence.proofs.scopes import describe
from whence.proofs.solver import SolverPool
from whence.proofs.transitions import actions, after, symbols

FAST: Final = Options(timeout_ms=3_000, solvers=("z3",), workers=1)
"""One solver, and little time: a mutant that is not settled by then is undecided."""

LINKED: Final = 3
"""Of the usual workloads, so many are used beside a link's own: the small ones."""


@dataclass(frozen=True, slots=True)
class MachineBaseline:
    """What is known of a machine.

    Attributes:
        machine: it.
        kept: names of the conjuncts that are proved of it.
        lost: those that are not; nothing is asked about them.
        links: of protocols to the machine, with the workloads in which every event is enabled in it: those of the
            link's own scopes, and the usual ones.
    """

    machine: ir.Machine
    kept: frozenset[str]
    lost: frozenset[str]
    links: tuple[tuple[ir.Link, ir.Workload], ...]


def machine_baseline(
    pool: SolverPool, specification: ir.Specification, machine: ir.Machine, options: Options = FAST
) -> MachineBaseline:
    """Proves the machine. Raises: Unsupported, CrossCheckError."""
    found = inductive_set(pool, machine, options, None)
    kept = frozenset((*found.members, *found.consequences))
    own = [link for link in specification.links if link.machine.name == machine.name]
    links = tuple(
        (link, workload)
        for link in own
        for workload in dict.fromkeys(
            (*usual_workloads(link.protocol)[:LINKED], *(scope.workload for scope in link.scopes))
        )
        if linked_in(link, workload)
    )
    return MachineBaseline(machine, kept - found.fallen.keys(), frozenset(found.fallen), links)


def judge_machine(pool: SolverPool, known: MachineBaseline, mutated: ir.Machine, options: Options = FAST) -> Fate:
    """What becomes of a mutant of the machine. Raises: CrossCheckError."""
    changed = [
        transition.name
        for transition, before in zip(mutated.transitions, known.machine.transitions, strict=True)
        if transition != before
    ]
    assert len(changed) == 1, "a mutant differs in one transition"
    try:
        return _judged(pool, known, mutated, changed[0], options)
    except Unsupported as reason:
        return Fate("undecided", str(reason))


def _judged(pool: SolverPool, known: MachineBaseline, mutated: ir.Machine, changed: str, options: Options) -> Fate:
    facts = [conjunct for conjunct in conjuncts(mutated) if conjunct.name in known.kept]
    asked = [
        each.obligation
        for each in preservations(mutated, facts, facts)
        if each.action is not None and each.action.name == changed
    ]
    if changed == "deliver" and "at_most_once" in mutated.prove:
        asked.append(delivered_once(mutated, facts))
    # One proof after the other, the ones that fail at once first: a single failure is enough.
    quick = replace(options, timeout_ms=min(300, options.timeout_ms))
    left = []
    for obligation in asked:
        (found,) = discharge_all(pool, (obligation,), quick, look_for_models=False)
        if found.satisfiable:
            return Fate("killed", f"not provable: {obligation.name}, a solver has a countermodel")
        if not found.proved:
            left.append(obligation)
    unsettled: list[str] = []
    for obligation in left:
        (found,) = discharge_all(pool, (obligation,), options)
        if found.failed or found.satisfiable:
            return Fate("killed", f"not provable: {obligation.name}, a finite countermodel exists")
        if not found.proved:
            unsettled.append(f"{obligation.name}: {found.reason}")
    broken = _unlinked(known.links, mutated)
    if broken is not None:
        return broken
    if unsettled:
        return Fate("undecided", unsettled[0])
    action = next(action for action in actions(mutated) if action.name == changed)
    (never,) = discharge_all(pool, (impossible(mutated, action, facts),), options, look_for_models=False)
    if never.proved:
        return Fate("killed", f"vacuity: {changed} can never happen")
    fired = search(pool, mutated, {changed: Firing(changed)}, timeout_ms=options.timeout_ms, seed=options.seed)
    if changed not in fired.runs and not fired.unknown:
        return Fate("killed", f"vacuity: {changed} happens in no run of {fired.scope}")
    if _equivalent(pool, known.machine, mutated, changed, facts, options):
        where = "in every state that satisfies the invariants"
        return Fate("equal", f"{changed} does the same {where}, or nothing: proved by Z3")
    return Fate("survived", "everything stated is proved of it as well")


def _equivalent(
    pool: SolverPool,
    machine: ir.Machine,
    mutated: ir.Machine,
    changed: str,
    facts: Sequence[Conjunct],
    options: Options,
) -> bool:
    """Whether the transition has the same effect in both, where the conjuncts are true and it is enabled in both, and
    no effect where it is enabled in one of them only.

    The conjuncts are true in every reachable state of both, so that both then reach the same states, by the same steps,
    apart from steps that change nothing.
    """
    before = next(action for action in actions(machine) if action.name == changed)
    now = next(action for action in actions(mutated) if action.name == changed)
    goals: list[tuple[str, ir.Expr]] = []
    by_name = {symbol.name: symbol for symbol in symbols(machine)}
    for name in sorted(before.changed | now.changed):
        symbol = by_name[name]
        binders = tuple(ir.Variable(f"at{place}", parameter.type) for place, parameter in enumerate(symbol.parameters))
        value = ir.Apply(symbol.result, name, tuple(local(binder) for binder in binders))
        old, new = after(value, before), after(value, now)
        both, old_only = conj((before.guard, now.guard)), conj((before.guard, negation(now.guard)))
        new_only = conj((now.guard, negation(before.guard)))
        goals.append((name, implies(both, forall(binders, _same(old, new)))))
        goals.append((name, implies(old_only, forall(binders, _same(old, value)))))
        goals.append((name, implies(new_only, forall(binders, _same(new, value)))))
    hypotheses = (*machine.axioms, *(conjunct.formula for conjunct in facts))
    for name, goal in goals:
        obligation = Obligation(
            f"{changed}: {name} is the same", signature_of(machine), hypotheses, ir.NamedFormula(name, goal),
            before.parameters,
        )  # fmt: skip
        (found,) = discharge_all(pool, (obligation,), options, look_for_models=False)
        if not found.proved:
            return False
    return True


def _same(left: ir.Expr, right: ir.Expr) -> ir.Expr:
    return ir.Connective(BOOL, "iff", left, right) if left.type == BOOL else equal(left, right)


def _unlinked(links: Sequence[tuple[ir.Link, ir.Workload]], mutated: ir.Machine) -> Fate | None:
    for link, workload in links:
        check = check_link(replace(link, machine=mutated), link.protocol, workload)
        if check.broken is not None:
            where = f"after {len(check.steps)} steps among {describe(workload)}"
            return Fate("killed", f"link of {link.protocol.name}: an event is not enabled {where}")
    return None
