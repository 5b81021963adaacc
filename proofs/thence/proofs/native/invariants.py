"""Invariants of one process at a time: judged when a local step leads to a new local state, not in global states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from thence.dsl import ir
from thence.dsl.ir.traversal import nodes
from thence.dsl.ir.types import PROCESS, Map, has_zero
from thence.dsl.run.evaluate import Evaluator, Frame, Names, compile_expression
from thence.dsl.run.interpreter import LocalState
from thence.dsl.run.system import System
from thence.dsl.run.values import Fault


@dataclass(frozen=True, slots=True)
class LocalInvariant:
    """`forall p: process. body`, where the body reads the state of p only; also written `not exists`."""

    name: str
    variable: str
    body: ir.Expr


def local_invariants(protocol: ir.Protocol) -> tuple[LocalInvariant, ...]:
    """The protocol's invariants of one process at a time.

    Not among them is a `reachable` formula that may have no value: whether it has one depends on the processes that are
    looked at first.
    """
    found = []
    for invariant in protocol.invariants:
        if invariant.name in protocol.witnesses and may_have_no_value(invariant.body):
            continue
        match _for_all(invariant.body):
            case ir.Quantified(kind="forall", variables=(ir.Bound(name=name, domain=None) as bound,), body=body):
                if bound.type == PROCESS and _reads_only(body, name):
                    found.append(LocalInvariant(invariant.name, name, body))
            case _:
                continue
    return tuple(found)


def may_have_no_value(formula: ir.Expr) -> bool:
    """Whether some part of the formula has no value in some state: that of `none`, the first of nothing, ..."""
    for node in nodes(formula):
        match node:
            case ir.Query(name="value" | "first" | "peek") | ir.ElementAt() | ir.Arithmetic(operator="-"):
                return True
            case ir.Lookup(target=target) if isinstance(target.type, Map) and not has_zero(target.type.value):
                return True
            case _:
                continue
    return False


def _for_all(formula: ir.Expr) -> ir.Expr:
    """`not exists p. P` as `forall p. not P`."""
    match formula:
        case ir.Not(operand=ir.Quantified(kind="exists", variables=variables, body=body)):
            return ir.Quantified(formula.type, "forall", variables, ir.Not(body.type, body))
        case _:
            return formula


def _reads_only(body: ir.Expr, name: str) -> bool:
    owners = [node.process for node in nodes(body) if isinstance(node, ir.StateOf)]
    return all(isinstance(owner, ir.Local) and owner.name == name for owner in owners)


@dataclass(slots=True)
class LocalJudge:
    """Judges local states by the invariants of one process at a time."""

    system: System
    invariants: tuple[LocalInvariant, ...]
    _bodies: tuple[tuple[int, str, Evaluator], ...] = field(init=False)
    _known: dict[tuple[int, int], tuple[int, ...]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        names = Names({variable.name: at for at, variable in enumerate(self.system.protocol.state)})
        self._bodies = tuple(
            (at, invariant.variable, compile_expression(invariant.body, names))
            for at, invariant in enumerate(self.invariants)
        )

    def broken(self, process: int, local: int) -> tuple[int, ...]:
        """The invariants, by position, that are false of the process in this local state, or have no value."""
        known = self._known.get((process, local))
        if known is None:
            known = self._known[process, local] = self._judge(process, self.system.local(local))
        return known

    def _judge(self, process: int, state: LocalState) -> tuple[int, ...]:
        count = self.system.workload.processes
        states: Sequence[LocalState] = [state if other == process else () for other in range(count)]
        frame = Frame(processes=count, all_states=states)
        broken = []
        for at, variable, holds in self._bodies:
            frame.locals[variable] = process
            try:
                if not holds(frame):
                    broken.append(at)
            except Fault:
                broken.append(at)
        return tuple(broken)
