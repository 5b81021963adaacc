"""Invariants of links by the meaning of expressions, in a state of processes, network and machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from thence.dsl import ir
from thence.dsl.ir.constants import elaborated, values_of
from thence.dsl.run.evaluate import Frame, Names, compile_expression
from thence.dsl.run.values import Fault, Message, Packet
from thence.proofs.logic.structure import Structure
from thence.proofs.machine.transitions import symbols


def true_of(
    link: ir.Link,
    states: Sequence[Sequence[Any]],
    packets: Sequence[Packet],
    machine: Structure,
    messages: Sequence[Message],
) -> dict[str, bool]:
    """Which invariants of the link are true and not without a value; `messages` are the elements of the machine."""
    tables = machine.tables

    def symbol(name: str) -> Callable[..., Any]:
        def at(*values: Any) -> Any:
            key = (messages.index(value) if isinstance(value, Message) else value for value in values)
            return tables[name].get(tuple(key), 0)

        return at

    constants = values_of(link.protocol, {}, len(states))
    names = Names({variable.name: at for at, variable in enumerate(link.protocol.state)})
    frame = Frame(processes=len(states), all_states=states, flying=packets)
    frame.fifo = not link.protocol.network.reordering
    frame.symbols = {each.name: symbol(each.name) for each in symbols(link.machine)}
    frame.messages = [each for at, each in enumerate(messages) if tables.get("sent", {}).get((at,))]

    def is_true(invariant: ir.NamedFormula) -> bool:
        try:
            return bool(compile_expression(elaborated(invariant.body, constants), names)(frame))
        except Fault:
            return False

    return {one.name: is_true(one) for one in link.invariants}
