"""Structures to evaluate obligations in: reached by runs, near to reached ones, and arbitrary.

An arbitrary structure satisfies no hypothesis. So most are states of random runs, or such states with some cells
changed and then others, until what was true is true again: states that need not be reachable, but satisfy the axioms
and the conjuncts, as counterexamples to induction do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from tests.proofs.machine.against_execution.executed import began, stepped, value

from thence.dsl import ir
from thence.dsl.ir.traversal import nodes
from thence.dsl.ir.types import BOOL, NAT, Sort
from thence.proofs.infer.finite.samples import Sampler
from thence.proofs.logic.formula import Unsupported
from thence.proofs.logic.structure import Structure, elements, tuples
from thence.proofs.machine.obligations import signature_of
from thence.proofs.machine.transitions import rigid, symbols
from thence.proofs.machine.universe import Fitting
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.finite_models import full_universe
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import SolverPool

NUMBERS_BELOW = 4
MOST = 12
"""Walks end before numbers as high as this are written down."""

REPAIRS = 25
"""Changes that are tried until a disturbed state satisfies its formulas again."""


class NoState(Exception):
    """The axioms allow no initial state of these sizes."""


def drawn_structures(
    pool: SolverPool, machine: ir.Machine, formulas: Sequence[ir.NamedFormula], seed: int, number: int
) -> Iterator[tuple[str, Structure]]:
    """Structures with their kinds, without end being reached: `number` of them, most of them `reached` or `near`.

    Args:
        formulas: what a state that is near to a reached one satisfies as far as it can be repaired.
    """
    chance = Random(seed)
    sizes = {"process": chance.choice((2, 3)), "message": chance.choice((2, 3))}
    sizes |= {sort.name: chance.choice((2, 3)) for sort in machine.sorts}
    session = ProofSession(pool, Options(timeout_ms=5_000, seed=seed))
    sizes = dict(Fitting(session, machine)(sizes))
    universe = {**sizes, **full_universe(signature_of(machine), sizes)}
    try:
        reached = Sampler(session, machine, sizes, seed).more(4 * number, lambda: False).states
    except Unsupported:
        reached = list(walked(machine, universe, chance))
    if not reached:
        raise NoState(machine.name)
    for turn in range(number):
        kind = "arbitrary" if turn % 6 == 5 else "reached" if turn % 3 == 0 else "near"
        if kind == "arbitrary":
            yield kind, arbitrary(machine, universe, chance)
            continue
        state = chance.choice(reached[len(reached) // 4 :])
        yield kind, state if kind == "reached" else near(machine, state, formulas, chance)


def walked(machine: ir.Machine, universe: dict[str, int], chance: Random) -> Iterator[Structure]:
    """States of random runs, for machines that the sampler does not take: their guards speak of all numbers."""
    for _ in range(40):
        state = began(machine, arbitrary(machine, universe, chance))
        if not all(value(axiom.body, state, {}) for axiom in machine.axioms):
            continue
        yield state
        for _ in range(20):
            transition = chance.choice(machine.transitions)
            bounded = {**universe, "nat": NUMBERS_BELOW}
            arguments = [chance.choice(elements(each.type, bounded)) for each in transition.parameters]
            then = stepped(machine, transition, arguments, state)
            if then is not None and then.universe.get("nat", 0) < MOST:
                state = then
                yield state


def arbitrary(machine: ir.Machine, universe: dict[str, int], chance: Random) -> Structure:
    """Any structure at all."""
    density = chance.choice((0.2, 0.5, 0.8))
    tables = {
        symbol.name: {
            key: _drawn(symbol, universe, chance, density)
            for key in tuples([parameter.type for parameter in symbol.parameters], universe)
        }
        for symbol in symbols(machine)
    }
    return Structure(universe, tables)


def near(machine: ir.Machine, state: Structure, formulas: Sequence[ir.NamedFormula], chance: Random) -> Structure:
    """The state with some cells changed, and then others so that formulas that have become false are true again."""
    open_ones = [symbol for symbol in symbols(machine) if symbol.name not in rigid(machine)]
    for _ in range(chance.choice((1, 1, 2, 3))):
        state = _changed(state, chance.choice(open_ones), chance)
    broken = _false(formulas, state)
    for _ in range(REPAIRS):
        if not broken:
            break
        spoken = {node.symbol for node in nodes(chance.choice(broken).body) if isinstance(node, ir.Apply)}
        candidates = [symbol for symbol in open_ones if symbol.name in spoken] or open_ones
        other = _changed(state, chance.choice(candidates), chance)
        left = _false(formulas, other)
        if len(left) <= len(broken):
            state, broken = other, left
    return state


def _false(formulas: Sequence[ir.NamedFormula], state: Structure) -> list[ir.NamedFormula]:
    return [formula for formula in formulas if not value(formula.body, state, {})]


def _changed(state: Structure, symbol: ir.Symbol, chance: Random) -> Structure:
    table = dict(state.tables[symbol.name])
    key = chance.choice(list(tuples([parameter.type for parameter in symbol.parameters], state.universe)))
    table[key] = not table.get(key) if symbol.result == BOOL else _drawn(symbol, state.universe, chance, 0.5)
    return state.with_tables({symbol.name: table})


def _drawn(symbol: ir.Symbol, universe: object, chance: Random, density: float) -> int | bool:
    if symbol.result == BOOL:
        return chance.random() < density
    if symbol.result == NAT:
        return chance.randrange(NUMBERS_BELOW)
    assert isinstance(symbol.result, Sort) and isinstance(universe, dict)
    return chance.randrange(universe[symbol.result.name])
