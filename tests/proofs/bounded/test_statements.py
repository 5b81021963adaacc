"""Symbolic execution of handlers, held against the interpreter: on constants both do the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thence.dsl import ir
from thence.dsl.ir.types import MESSAGE, PROCESS
from thence.dsl.run.execute import Delivered, Sent
from thence.dsl.run.interpreter import Interpreter
from thence.dsl.run.simulate import simulate
from thence.dsl.run.system import System
from thence.dsl.run.values import Fault, Message, Packet, messages_in
from thence.proofs.bounded.circuit import FALSE, TRUE, Circuit
from thence.proofs.bounded.expressions import Frame, Messages
from thence.proofs.bounded.operations import Bounds, Workshop
from thence.proofs.bounded.statements import Emission, Executor
from thence.proofs.bounded.symbolic import Fields, Slots

Library = Callable[[str], ir.Specification]
ROOMY = Bounds(slots=12, iterations=12, number=40)


def stepped(protocol: ir.Protocol, constants: Any, process: int, state: Any, handler: ir.Handler, values: Any) -> Any:
    """What the symbolic execution does: the state after, the emissions; or "fault", or "bounded" by `ROOMY`."""
    workshop = Workshop(Circuit(), ROOMY)
    messages = Messages(
        tuple(message.src for message in constants.messages),
        tuple(((TRUE, message.dsts),) for message in constants.messages),
    )
    positions = {variable.name: at for at, variable in enumerate(protocol.state)}
    frame = Frame(workshop, messages, 3, positions, process)
    frame.state = [
        constants.encode(value, variable.type) for value, variable in zip(state, protocol.state, strict=True)
    ]
    frame.locals = {name: constants.encode(value, type_) for name, value, type_ in values}
    kinds = {packet.name: number for number, packet in enumerate(protocol.packets)}
    executor = Executor({procedure.name: procedure for procedure in protocol.procedures}, Emission(kinds))
    executor.block(handler.body, frame, TRUE)
    if workshop.overflow:
        return "bounded"
    if workshop.fault != FALSE:
        assert workshop.fault == TRUE
        return "fault"
    after = tuple(
        constants.decode(value, variable.type) for value, variable in zip(frame.state, protocol.state, strict=True)
    )
    return after, emissions(protocol, constants, frame.emitted)


def emissions(protocol: ir.Protocol, constants: Any, emitted: Slots) -> list[Sent | Delivered]:
    found: list[Sent | Delivered] = []
    for item in emitted.items[: constants.number(emitted.count)]:
        assert isinstance(item, Fields)
        tag, to, *payload = item.values
        number = constants.number(tag)
        values = payload[number]
        assert isinstance(values, Fields)
        if number == len(protocol.packets):
            found.append(Delivered(constants.decode(values.values[0], MESSAGE)))
            continue
        packet = protocol.packets[number]
        arguments = tuple(
            constants.decode(value, parameter.type)
            for value, parameter in zip(values.values, packet.parameters, strict=True)
        )
        found.append(Sent(packet.name, arguments, constants.decode(to, PROCESS)))
    return found


FILES = ("mf", "rst", "cykas", "hybrid_basic")


@pytest.mark.long
@settings(derandomize=True, deadline=None, max_examples=40)
@given(st.sampled_from(FILES), st.integers(0, 10_000), st.booleans())
def test_handlers_do_what_the_interpreter_does(
    library: Library, constants: Callable[[list[Message]], Any], file: str, seed: int, mutated: bool
) -> None:
    specification = library(file)
    protocol = specification.protocols[0]
    mutants = [mutant.mutated for mutant in specification.mutants if isinstance(mutant.mutated, ir.Protocol)]
    if mutated:
        protocol = mutants[seed % len(mutants)]
    workload = next(scope.workload for scope in specification.scopes if scope.name == "two")
    system = System(protocol, workload)
    state = system.initial()
    for step in simulate(system, seed, 40):
        assert_same(system, protocol, constants, state, step.action)
        state = step.outcome.state


def assert_same(system: System, protocol: ir.Protocol, constants: Any, state: Any, action: Any) -> None:
    """The handler of the action, by the interpreter and symbolically."""
    process = action.process
    local = system.local(state.locals[process])
    interpreter = Interpreter(protocol, 3)
    handlers = {(handler.event, handler.kind): handler for handler in protocol.handlers}
    values: list[Any] = []
    try:
        match action.kind:
            case "send":
                message = Message(process, state.sends[process], action.destinations)
                handler = handlers["causal_send", None]
                values = [(handler.parameters[0].name, message, MESSAGE)]
                step = interpreter.causal_send(process, local, message)
            case "receive":
                packet = system.packet(action.packet)
                handler = handlers["receive", packet.kind]
                values = [
                    (parameter.name, value, parameter.type)
                    for parameter, value in zip(handler.parameters, packet.arguments, strict=True)
                ]
                if handler.sender is not None:
                    values.append((handler.sender, packet.src, PROCESS))
                step = interpreter.receive(process, local, packet)
            case _:
                handler = handlers["periodically", None]
                step = interpreter.tick(process, local, action.name)
        expected: Any = (step.state, list(step.emissions))
    except Fault:
        expected = "fault"
    seen = sorted({*messages_in(local), *messages_in(tuple(value for _, value, _ in values))})
    assert stepped(protocol, constants(seen), process, local, handler, values) == expected


BODY = """
protocol p:
  message A(n: nat)
  record Pair: n: nat; q: queue of nat
  record Small: b: bool; o: option of nat; s: set of nat; v: map nat to nat; n: nat
  state:
    q: queue of nat
    pairs: queue of Pair
    s: set of nat
    m: map nat to nat
    partial: map process to process
    nested: map process to queue of nat
    a: sliding array of Pair = window(1)
    w: sliding map of nat
    o: option of nat
    b: bool
    small: set of Small
    v: map nat to nat
  on causal_send(x):
    send A(1) to x.dst
    deliver x
  on receive A(n) from j:
    {body}
  property causal
"""

SMALL = "small.add(Small(b: {}, o: {}, s: {}, v: v, n: {}))"

BODIES = (
    "q.push(n); q.push(n + 1); q.pop(); q.push(q.first)",
    "q.push(1); q.push(2); q.push(1); q.remove(1); b := 1 in q",
    "s.add(n); s.add(2); s.remove(n); b := s = {2}",
    "m[n] := 2; m[3] := 0; b := 3 in m; m.remove(n)",
    "m[1] := 1; m[2] := 5; for k in m: q.push(m[k])",
    "partial[self] := j; partial[partial[self]] := self",
    "partial[self] := partial[j]",
    "nested[j].push(n); nested[self].push(2); for ref each in nested[j]: each := each + 1",
    "a.add(Pair(n: n, q: empty)); a[1].q.push(7); a.add(a.peek); a.remove(); q.push(a[2].q.first)",
    "a[1].n := 2",
    "q.pop()",
    "q.push(n - 2)",
    "w.add(4); w.add(5); w.add(4); w.remove(4); q.push(w.first); q.push(w.next); q.push(w.size)",
    "w.add(4); w.clear(); q.push(w.first)",
    "o := some(n); if o is not none: q.push(o.value)",
    "q.push(o.value)",
    "while q.size < 3: q.push(q.size)",
    "for p in process:\n      if p = j: return\n      q.push(1)",
    "pairs.push(Pair(n: 1, q: empty)); for ref x in pairs:\n      x.q.push(x.n)\n      x.n := 4",
    "b := exists x in {1, 2}. x = n; if forall x in {1, 2}. x != n: b := true",
    "q.push(max(n, 2)); q.push(min(n, 2)); q.push(count x in {1, 2}. x <= n)",
    "b := false and q.first = 1; if b or n > 0 and not (q is not empty and q.first = n): send A(n + 1) to j",
    "q.push(if n = 1 then 5 else q.first)",
    "let before = q; q.push(1); b := before = q; q := before",
    "var c = n; c := c * 3 + 1; q.push(c); for p in process: c := c + 1\n    q.push(c)",
    "var c = 5; if n = 1: c := n\n    if n < 2:\n      var d = c * c\n      d := d + 1\n      c := d\n    q.push(c)",
    "var t: set of nat = {n}; ref r = t; r.add(7); t.remove(1); q.push(t.size); var u = t; u.add(3); b := u = t",
    "var x = q; x.push(n); x.pop(); x.pop()",
    "m[1] := n; m[4] := 2; q.push(sum k in m. m[k] * k); q.push(sum x in {1, 2}, y in {1, 2}. if x = n then y else 0)",
    "q.push(sum x in {0, n}. x - 1)",
    "s.remove(0); b := forall x in s, y in {q.first}. x = y",
    "if n = 1: q.push(4)\n    q.push(count x in s, y in {q.first}. x = y)",
    "a.add(Pair(n: 1, q: empty)); a.clear(); q.push(a.first); q.push(a.next); b := a is empty",
    "m[n] := m[n] + m[7]; b := m[1] = 0 and 1 in m",
    f"{SMALL.format('false', 'none', 'empty', 3)}; {SMALL.format('false', 'none', 'empty', 1)}\n"
    f"    {SMALL.format('false', 'some(n)', 'empty', 2)}; {SMALL.format('false', 'some(1)', 'empty', 4)}\n"
    f"    {SMALL.format('true', 'none', 'empty', 0)}; {SMALL.format('false', 'none', 'empty', 3)}\n"
    "    for x in small: q.push(x.n)\n    q.push(small.size)",
    f"{SMALL.format('false', 'none', '{0, 2}', 1)}; {SMALL.format('false', 'none', '{0}', 2)}\n"
    f"    {SMALL.format('false', 'none', '{1}', 3)}; {SMALL.format('false', 'none', '{n}', 4)}\n"
    f"    v[3] := 2; {SMALL.format('false', 'none', '{0}', 5)}; v[1] := 7\n"
    f"    {SMALL.format('false', 'none', '{0}', 6)}; v[3] := 0; {SMALL.format('false', 'none', '{0}', 7)}\n"
    f"    v[1] := 8; {SMALL.format('false', 'none', '{0}', 8)}; v[2] := 1; {SMALL.format('false', 'none', '{0}', 9)}\n"
    "    for x in small: q.push(x.n)\n    for x in small: small.remove(x)\n    b := small is empty",
)


@pytest.mark.parametrize("body", BODIES)
def test_statements_on_constants(specify: Callable[[str], ir.Specification], constants: Any, body: str) -> None:
    (protocol,) = specify(BODY.replace("{body}", body.replace("; ", "\n    "))).protocols
    handler = next(handler for handler in protocol.handlers if handler.event == "receive")
    interpreter = Interpreter(protocol, 3)
    for number in (0, 1, 2):
        packet_values = [("n", number, handler.parameters[0].type), ("j", 2, PROCESS)]
        local = interpreter.initial(0)
        try:
            step = interpreter.receive(0, local, Packet("A", 2, 0, (number,)))
            expected: Any = (step.state, list(step.emissions))
        except Fault:
            expected = "fault"
        assert stepped(protocol, constants([]), 0, local, handler, packet_values) == expected
