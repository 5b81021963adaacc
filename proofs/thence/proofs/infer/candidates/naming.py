"""Names of conjuncts after what they say, and their text in the syntax of the language."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from thence.dsl import ir
from thence.dsl.check.result_names import OF_MACHINES, is_kept
from thence.dsl.ir import machine_builtins
from thence.dsl.text.vocabulary import RESERVED
from thence.dsl.write.show import show_expression
from thence.proofs.infer.candidates.clauses import Clause
from thence.proofs.logic.formula import children
from thence.proofs.machine.transitions import symbols

WORDS = 3
"""Limit on the words of one side of a name."""


def name_of(clause: Clause, taken: Collection[str]) -> str:
    """`before_sent`: what is denied, then what is affirmed; a number where that name is taken."""
    premises = _words(atom for atom, affirmed in clause.literals if not affirmed)
    conclusions = _words(atom for atom, affirmed in clause.literals if affirmed)
    affirms = any(affirmed for _, affirmed in clause.literals)
    words = [*premises, *conclusions] if conclusions else ["one" if affirms else "never", *premises]
    return free_name("_".join(dict.fromkeys(words)) or "conjunct", taken)


def free_name(base: str, taken: Collection[str]) -> str:
    """The name, changed where the language keeps it, with a number where it is taken."""
    if "__" in base or not base[0].isalpha() or base in RESERVED or base in OF_MACHINES or is_kept(base):
        base = f"found_{base.strip('_')}"
    name, number = base, 1
    while name in taken:
        number += 1
        name = f"{base}_{number}"
    return name


def names_of(machine: ir.Machine) -> frozenset[str]:
    """The names that a conjunct of the machine cannot have: those of all that it declares and states."""
    return frozenset(
        (
            *(symbol.name for symbol in symbols(machine)),
            *(transition.name for transition in machine.transitions),
            *(each.name for each in (*machine.invariants, *machine.axioms, *machine.reachable)),
            *(each.formula.name for each in machine.stable),
            *(each.name for each in machine.eventually),
            *machine.prove,
            *machine_builtins.MACHINE_PROPERTIES,
        )
    )


def line_of(formula: ir.NamedFormula) -> str:
    """The conjunct as a line of a machine."""
    return f"invariant {formula.name}: {show_expression(formula.body)}"


def _words(atoms: Iterator[ir.Expr]) -> list[str]:
    found: dict[str, None] = {}
    for atom in atoms:
        found.update(dict.fromkeys(_symbols(atom)))
    return list(found)[:WORDS]


def _symbols(expr: ir.Expr) -> Iterator[str]:
    """The symbols of an atom: a relation without what stands in its arguments."""
    match expr:
        case ir.Apply():
            yield expr.symbol.lower()
        case _:
            for part in children(expr):
                yield from _symbols(part)
