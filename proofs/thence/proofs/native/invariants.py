"""What is judged in steps, not in global states.

Invariants of one process at a time are judged when a local step leads to a new local state; promises and formulas about
actions, too, where they depend on that process only. What depends on the states of several processes at once is judged
for each combination of local states that is met: see `Together`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from thence.dsl import ir
from thence.dsl.ir.observability import judged_in_states, judged_in_steps, sees_network
from thence.dsl.ir.properties import undefined
from thence.dsl.ir.traversal import nodes
from thence.dsl.ir.types import PROCESS, Map, has_zero
from thence.dsl.run.broken import broken_invariant
from thence.dsl.run.evaluate import Acts, Evaluator, Frame, Names, compile_expression
from thence.dsl.run.interpreter import LocalState
from thence.dsl.run.system import System
from thence.dsl.run.values import Fault, Packet


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
    for invariant in judged_in_states(protocol):
        if invariant.name in protocol.witnesses and may_have_no_value(invariant.body):
            continue
        match _for_all(invariant.body):
            case ir.Quantified(kind="forall", variables=(ir.Bound(name=name, domain=None) as bound,), body=body):
                if bound.type == PROCESS and _reads_only(body, name) and not sees_network(body):
                    found.append(LocalInvariant(invariant.name, name, body))
            case _:
                continue
    return tuple(found)


def judged_locally(protocol: ir.Protocol, most: int) -> tuple[LocalInvariant, ...]:
    """Those for which there is room beside the formulas about actions, where `most` can be judged."""
    return local_invariants(protocol)[: most - len(names_of_steps(protocol))]


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


# --- promises ------------------------------------------------------------------------------------


def owners_of(system: System) -> tuple[int | None, ...]:
    """For each promise, the process on whose state alone it depends; None: it depends on several."""
    promises = system.promises
    if promises is None:
        return ()
    stated = {promise.name: promise for promise in system.protocol.promises}
    return tuple(_owner(stated[each.name], dict(each.values)) for each in promises.instances)


def is_partial(promise: ir.Promise) -> bool:
    """Whether a side of the promise may have no value in some state."""
    return any(may_have_no_value(side) for side in (promise.given, promise.goal) if side is not None)


def _owner(promise: ir.Promise, values: Mapping[str, int]) -> int | None:
    parts = (promise.given, promise.goal)
    if any(isinstance(node, ir.Bound) and node.name in values for node in nodes(parts)):
        return None
    owners = {_process(node.process, values) for node in nodes(parts) if isinstance(node, ir.StateOf)}
    return next(iter(owners), 0) if len(owners) <= 1 else None


def _process(owner: ir.Expr | None, values: Mapping[str, int]) -> int | None:
    match owner:
        case ir.Local(name=name):
            return values.get(name)
        case ir.Literal_(value=int(process)):
            return process
        case _:
            return None


# --- formulas about actions ----------------------------------------------------------------------


def is_own(formula: ir.NamedFormula) -> bool:
    """Whether a formula about actions reads the state of no process but the one that acts, and no packet in flight."""
    if sees_network(formula):
        return False
    acting = {node.name for node in nodes(formula) if isinstance(node, ir.Bound) and isinstance(node.domain, ir.Acted)}

    def acts(owner: ir.Expr | None) -> bool:
        match owner:
            case ir.FieldOf(target=ir.Local(name=name), name="by'"):
                return name in acting
            case _:
                return False

    return all(acts(node.process) for node in nodes(formula) if isinstance(node, ir.StateOf))


def names_of_steps(protocol: ir.Protocol) -> tuple[str, ...]:
    """The properties that formulas about actions may violate."""
    names = [formula.name for formula in judged_in_steps(protocol)]
    return (*names, *(undefined(name) for name in names if name in protocol.witnesses))


def acts_jointly(system: System) -> bool:
    """Whether some formula about an action reads the state of a process that does not act, or a packet in flight."""
    return not all(map(is_own, judged_in_steps(system.protocol)))


def is_joint(system: System) -> bool:
    """Whether something is judged by the states of several processes at once."""
    return None in owners_of(system) or acts_jointly(system)


@dataclass(slots=True)
class StepJudge:
    """Judges steps by the formulas about actions, and the states after them by promises.

    `names`: the properties that a formula about actions may violate; their positions stand for them.
    """

    system: System
    names: tuple[str, ...] = field(init=False)
    acts: list[Acts] = field(init=False, default_factory=list)
    _own: tuple[tuple[str, Evaluator], ...] = field(init=False)
    _joint: tuple[tuple[str, Evaluator], ...] = field(init=False)
    _owned: tuple[int, ...] = field(init=False)
    _shared: int = field(init=False, default=0)
    _known: dict[tuple[int, int], tuple[int, int]] = field(init=False, default_factory=dict)
    _numbers: dict[object, int] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        protocol = self.system.protocol
        names = Names({variable.name: at for at, variable in enumerate(protocol.state)})
        formulas = judged_in_steps(protocol)
        self.names = names_of_steps(protocol)
        self._own, self._joint = (
            tuple((each.name, compile_expression(each.body, names)) for each in formulas if is_own(each) == own)
            for own in (True, False)
        )
        owned = [0] * self.system.workload.processes
        for bit, owner in enumerate(owners_of(self.system)):
            if owner is None:
                self._shared |= 1 << bit
            else:
                owned[owner] |= 1 << bit
        self._owned = tuple(owned)

    # --- promises ---

    def said_by(self, process: int, local: int) -> tuple[int, int]:
        """The promises that depend on this process only: those that its state gives, and those that it keeps."""
        if not self._owned[process]:
            return 0, 0
        known = self._known.get((process, local))
        if known is None:
            states = self._alone(process, self.system.local(local))
            known = self._known[process, local] = self._said(states, self._owned[process])
        return known

    def said_together(self, locals_: Sequence[int]) -> tuple[int, int]:
        """The same for the promises that depend on several processes, by the states of all."""
        return self._said([self.system.local(number) for number in locals_], self._shared) if self._shared else (0, 0)

    def _said(self, states: Sequence[LocalState], among: int) -> tuple[int, int]:
        assert self.system.promises is not None
        return self.system.promises.said(states, among)

    def _alone(self, process: int, state: LocalState) -> Sequence[LocalState]:
        return [state if other == process else () for other in range(self.system.workload.processes)]

    # --- formulas about actions ---

    def number_of(self, acts: Acts) -> int:
        """A number, from 1 on, for what a process does in a step; 0: no formula judges it by the states of all."""
        if not self._joint or not acts:
            return 0
        known = self._numbers.setdefault(tuple(acts.items()), len(self.acts) + 1)
        if known > len(self.acts):
            self.acts.append(acts)
        return known

    def broken_alone(self, process: int, local: int, acts: Acts) -> Iterator[int]:
        """The formulas, by position, that are not true right after a step of the process to a local state."""
        if self._own and acts:
            yield from self._broken(self._own, self._alone(process, self.system.local(local)), (), acts)

    def broken_together(self, locals_: Sequence[int], packets: Sequence[int], acts: Acts) -> Iterator[int]:
        """The same for the formulas that depend on the states of other processes, or on packets in flight."""
        states = [self.system.local(local) for local in locals_]
        yield from self._broken(self._joint, states, list(map(self.system.packet, packets)), acts)

    def _broken(
        self,
        formulas: tuple[tuple[str, Evaluator], ...],
        states: Sequence[LocalState],
        flying: Sequence[Packet],
        acts: Acts,
    ) -> Iterator[int]:
        protocol = self.system.protocol
        frame = Frame(processes=self.system.workload.processes, all_states=states, flying=flying, acted=acts)
        frame.fifo = not protocol.network.reordering
        for name, holds in formulas:
            try:
                fault = None
                if holds(frame):
                    continue
            except Fault as caught:
                fault = caught
            yield self.names.index(broken_invariant(name, fault, protocol.witnesses).property)


@dataclass(slots=True)
class Together:
    """Numbers for the states of the first processes: 0 for those of none, then one for each further state.

    So the states of all processes have a number, which native code finds by one look-up for each process. They and the
    first packets in flight have one, too, as far as formulas about actions speak of packets of their kind.
    """

    system: System
    _spoken_of: frozenset[str] = field(init=False)
    _nodes: list[tuple[int, ...]] = field(init=False, default_factory=lambda: [()])
    _numbers: dict[tuple[int, int], int] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        formulas = judged_in_steps(self.system.protocol)
        self._spoken_of = frozenset(node.kind for node in nodes(formulas) if isinstance(node, ir.InFlight))

    @property
    def processes(self) -> int:
        """How many processes there are."""
        return self.system.workload.processes

    def states(self, node: int) -> tuple[int, ...]:
        """The states that the number stands for."""
        return self._nodes[node][: self.processes]

    def flying(self, node: int) -> tuple[int, ...]:
        """The packets that the number stands for, as states have them."""
        packets = self._nodes[node][self.processes :]
        return packets[::-1] if self.system.protocol.network.reordering else packets

    def is_whole(self, node: int) -> bool:
        """Whether the number stands for states of all processes."""
        return len(self._nodes[node]) >= self.processes

    def then(self, node: int, number: int) -> int:
        """The number of the same and the state of the next process, or, behind those of all, the next packet, as packed
        states have them."""
        if self.is_whole(node) and self.system.packet(number).kind not in self._spoken_of:
            return node
        known = self._numbers.setdefault((node, number), len(self._nodes))
        if known == len(self._nodes):
            self._nodes.append((*self._nodes[node], number))
        return known
