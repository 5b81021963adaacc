"""The history in a state of a machine, as an execution: an order of sends and deliveries that leaves this state.

A counterexample to induction starts in a state that need not be reachable. If some execution has its history, that
execution can be drawn. If none has, the state is not reachable.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE, PROCESS
from thence.proofs.logic.formula import conj, disj, equal, forall, holds, implies, local
from thence.proofs.logic.structure import Structure

Happening: TypeAlias = tuple[int, int | None]
"""A message, and the process that delivers it; None: the message is causal-sent."""

LIMIT = 20_000
"""Limit on the beginnings of executions that are tried."""


class TooManyOrders(ValueError):
    """The limit was reached: whether an execution has the history is not known."""


def destinations(structure: Structure, message: int) -> tuple[int, ...]:
    """The destinations of a message: one process, or in a multicast machine the processes that it is `to`."""
    tables = structure.tables
    if "dst" in tables:
        return (int(tables["dst"][(message,)]),)
    return tuple(process for process in range(structure.universe["process"]) if tables["to"][(message, process)])


def plausible(delivery: ir.MachineDelivery) -> tuple[ir.NamedFormula, ...]:
    """Formulas that are true of the history of every execution, besides the facts that every machine keeps.

    They say that a process has sent, or learnt from a delivery, every message of its past and every message that
    happens before its own. Most states that satisfy them have the history of an execution, so counterexamples to
    induction are first looked for among these.
    """
    if delivery == "off":
        return ()
    x, y, m = (ir.Variable(name, MESSAGE) for name in "xym")
    p = ir.Variable("p", PROCESS)

    def source(message: ir.Variable) -> ir.Expr:
        return ir.Apply(PROCESS, "src", (local(message),))

    def learnt(at: ir.Expr, *more: ir.Expr) -> ir.Expr:
        """By the delivery of some y at the process."""
        if delivery == "unicast":
            place = equal(ir.Apply(PROCESS, "dst", (local(y),)), at)
            delivered = conj((holds("delivered", local(y)), place))
        else:
            delivered = holds("delivered", local(y), at)
        told = disj((equal(local(x), local(y)), holds("hb", local(x), local(y))))
        return ir.Quantified(BOOL, "exists", (ir.Bound(MESSAGE, "y"),), conj((delivered, told, *more)))

    known = disj((equal(source(x), local(p)), learnt(local(p))))
    told = disj((holds("before", local(x), local(m)), learnt(source(m), holds("hb", local(y), local(m)))))
    return (
        ir.NamedFormula("known", forall((p, x), implies(holds("past", local(p), local(x)), known))),
        ir.NamedFormula("told", forall((x, m), implies(holds("hb", local(x), local(m)), told))),
    )


@dataclass(slots=True)
class _Past:
    """The built-in relations after the events so far."""

    pasts: dict[int, frozenset[int]]
    before_sends: dict[int, frozenset[int]] = field(default_factory=dict)
    sends: dict[int, tuple[int, ...]] = field(default_factory=dict)
    deliveries: dict[int, tuple[int, ...]] = field(default_factory=dict)


def happenings(structure: Structure) -> tuple[Happening, ...] | None:
    """The sends and deliveries in an order that leaves exactly this history.

    None if there is no such order in which each message is sent once, and delivered at most once at a process.

    Raises: TooManyOrders.
    """
    return _Orders(structure).found()


class _Orders:
    """The search for an order of the events of one state."""

    def __init__(self, structure: Structure) -> None:
        tables = structure.tables
        processes, messages = range(structure.universe["process"]), range(structure.universe["message"])
        self._source = {message: int(tables["src"][(message,)]) for message in messages}
        self._sent = [message for message in messages if tables["sent"][(message,)]]
        self._delivered = [
            (message, process)
            for message in messages
            for process in processes
            if _delivered(structure, message, process)
        ]
        self._past = {
            process: frozenset(message for message in messages if tables["past"][(process, message)])
            for process in processes
        }
        self._hb = {
            message: frozenset(other for other in messages if tables["hb"][(other, message)]) for message in messages
        }
        self._earlier = {
            message: frozenset(other for other in messages if tables["before"][(other, message)])
            for message in messages
        }
        self._earlier_delivered: dict[Happening, frozenset[int]] = {
            (message, process): frozenset(
                other for other in messages if _delivered_before(structure, other, message, process)
            )
            for message in messages
            for process in processes
        }
        self._tried = 0

    def found(self) -> tuple[Happening, ...] | None:
        unsent = self._hb.keys() - set(self._sent)
        if any(self._hb[message] or self._earlier[message] for message in unsent):
            return None
        if any(earlier and key not in self._delivered for key, earlier in self._earlier_delivered.items()):
            return None
        start = _Past({process: frozenset() for process in self._past})
        return next(self._extensions((), start), None)

    def _extensions(self, done: tuple[Happening, ...], past: _Past) -> Iterator[tuple[Happening, ...]]:
        self._tried += 1
        if self._tried > LIMIT:
            raise TooManyOrders(f"more than {LIMIT} beginnings")
        if len(done) == len(self._sent) + len(self._delivered):
            if past.pasts == self._past:
                yield done
            return
        left: list[Happening] = [(message, None) for message in self._sent]
        left += self._delivered
        for happening in left:
            if happening not in done:
                after = self._after(happening, past)
                if after is not None:
                    yield from self._extensions((*done, happening), after)

    def _after(self, happening: Happening, past: _Past) -> _Past | None:
        """The relations after one more event; None where they differ from those of the state."""
        message, process = happening
        if process is None:
            source = self._source[message]
            sends = past.sends.get(source, ())
            if past.pasts[source] != self._hb[message] or frozenset(sends) != self._earlier[message]:
                return None
            pasts = {**past.pasts, source: past.pasts[source] | {message}}
            before = {**past.before_sends, message: past.pasts[source]}
            return _Past(pasts, before, {**past.sends, source: (*sends, message)}, past.deliveries)
        deliveries = past.deliveries.get(process, ())
        if message not in past.before_sends or frozenset(deliveries) != self._earlier_delivered[happening]:
            return None
        grown = past.pasts[process] | {message} | past.before_sends[message]
        if not grown <= self._past[process]:
            return None
        return _Past(
            {**past.pasts, process: grown},
            past.before_sends,
            past.sends,
            {**past.deliveries, process: (*deliveries, message)},
        )


def _delivered(structure: Structure, message: int, process: int) -> bool:
    tables = structure.tables
    if "dst" in tables:
        return bool(tables["delivered"][(message,)]) and int(tables["dst"][(message,)]) == process
    return bool(tables["delivered"][(message, process)])


def _delivered_before(structure: Structure, earlier: int, later: int, process: int) -> bool:
    tables = structure.tables
    if "dst" in tables:
        return bool(tables["delivered_before"][(earlier, later)]) and int(tables["dst"][(later,)]) == process
    return bool(tables["delivered_before"][(earlier, later, process)])
