"""The built-in formulas of machines: facts about the history, and the properties that a machine can prove.

They are written in the language, as theories, in `built_in.thence`. `at_most_once` is not among them: it is about the
parameters of a transition, and so made for each machine, by `ir.machine_builtins`.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

from thence.dsl import ir
from thence.dsl.check.result_names import FACT_PREFIX
from thence.dsl.check.theory import check_theory
from thence.dsl.ir.traversal import without_places
from thence.dsl.text import syntax
from thence.dsl.text.parse import parse
from thence.dsl.text.reporter import Reporter

_FILE: Final = "built_in.thence"


@cache
def _theories() -> dict[str, ir.Theory]:
    tree, diagnostics = parse(files("thence.dsl.check").joinpath(_FILE).read_text(encoding="utf-8"), _FILE)
    assert tree is not None, diagnostics
    reporter = Reporter(_FILE)
    theories: dict[str, ir.Theory] = {}
    for declaration in tree.declarations:
        assert isinstance(declaration, syntax.Theory)
        theory = check_theory(declaration, reporter)
        assert theory is not None, reporter.found
        # Its formulas become part of machines, which are in other files.
        theories[theory.name] = without_places(theory)
    return theories


def _of_deliveries(delivery: ir.MachineDelivery) -> ir.Theory:
    return _theories()["unicast" if delivery == "unicast" else "multicast"]


@cache
def history_facts(delivery: ir.MachineDelivery) -> tuple[ir.NamedFormula, ...]:
    """True in every reachable state of every machine whose deliveries are of sent messages, and inductive together.

    They are proved with each machine, not assumed: `ghost_delivered_past` rests on the guard of `deliver`.
    """
    if delivery == "off":
        return ()
    stated = (*_theories()["sends"].properties, *_of_deliveries(delivery).properties)
    return tuple(formula for formula in stated if formula.name.startswith(FACT_PREFIX))


def built_in_axioms(delivery: ir.MachineDelivery) -> tuple[ir.NamedFormula, ...]:
    """The axioms about the destinations of messages."""
    return _theories()["broadcast"].axioms if delivery == "broadcast" else ()


def property_formula(name: str, delivery: ir.MachineDelivery = "unicast") -> ir.NamedFormula:
    """A built-in property of states; `at_most_once` is about a transition and has its own function.

    Where a message has several destinations: `causal` and `fifo` are about each process that two messages go to; for
    `csps` and `sps` a message is delivered when each of its destinations has delivered it, and it is network-sent at
    once to all of them. `total_order`: no two processes deliver two messages in different orders.
    """
    for formula in _of_deliveries(delivery).properties:
        if formula.name == name and not name.startswith(FACT_PREFIX):
            return formula
    raise ValueError(f"{name} is not a built-in property of states")
