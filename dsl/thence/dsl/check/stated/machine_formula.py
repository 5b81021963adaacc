"""A formula that is written apart from its machine, checked as an invariant of it."""

from __future__ import annotations

from thence.dsl import ir
from thence.dsl.check.terms.environment import Vocabulary
from thence.dsl.check.terms.expressions import ExpressionChecker
from thence.dsl.ir.machine_builtins import built_in_symbols
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, PROCESS
from thence.dsl.text import syntax
from thence.dsl.text.diagnostics import Diagnostic
from thence.dsl.text.parse import parse
from thence.dsl.text.reporter import Reporter

_BEFORE = "machine asked:\n  invariant asked: "


def machine_formula(machine: ir.Machine, text: str, file: str) -> tuple[ir.Expr | None, tuple[Diagnostic, ...]]:
    """The typed formula of one line; or None, and what is wrong with it.

    The names are those of the machine as it is, mutants among them. Definitions of the file are not known here.
    """
    line = text.partition("\n")[0]
    tree, faults = parse(f"{_BEFORE}{line}\n", file)
    declared = [each for each in tree.declarations if isinstance(each, syntax.Machine)] if tree is not None else []
    if faults or len(declared) != 1 or len(declared[0].invariants) != 1:
        return None, faults
    reporter = Reporter(file)
    vocabulary = Vocabulary(
        "machine",
        {
            "process": PROCESS,
            "message": MESSAGE,
            "nat": NAT,
            "bool": BOOL,
            **{each.name: each for each in machine.sorts},
        },
        {symbol.name: symbol for symbol in (*built_in_symbols(machine.delivery), *machine.symbols)},
        ordered=frozenset(machine.ordered),
        delivery=machine.delivery,
    )
    checker = ExpressionChecker(vocabulary, reporter, {}, {})
    body = checker.check(declared[0].invariants[0].body, BOOL, "an invariant is true or false")
    return (None if reporter.errors else body), tuple(reporter.found)
