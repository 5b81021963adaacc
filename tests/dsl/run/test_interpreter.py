"""Handlers as steps: parameters, the sender, kinds without a handler, timers, initial states."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import pytest

from thence.dsl import ir
from thence.dsl.run.execute import Delivered, Sent
from thence.dsl.run.interpreter import Interpreter, Step
from thence.dsl.run.values import Fault, Message, Packet

Specify: TypeAlias = Callable[[str], ir.Specification]

TEXT = """
protocol sample:
  network reliable, reordering
  message MSG(m: message, n: nat) carries m
  message PING(k: nat, who: process)
  message SILENT()
  state:
    n: nat = 4
    last: option of process
    sums: map process to nat
  on causal_send(m):
    send MSG(m, n) to m.dst
    send PING(n, m.dst) to self
    n := n + 1
  on receive MSG(payload, more) from sender:
    deliver payload
    last := some(sender)
    sums[sender] := sums[sender] + more
  on receive PING(k, who) from j:
    if k = 9: return
    n := n - k
    send SILENT() to who
  periodically:
    for p in process:
      if p != self: send PING(n, self) to p
  property causal
"""

MESSAGE = Message(0, 0, (2,))


@pytest.fixture(scope="module")
def interpreter(specify: Specify) -> Interpreter:
    return Interpreter(specify(TEXT).protocols[0], 3)


def test_initial_state(interpreter: Interpreter) -> None:
    assert interpreter.initial(0) == interpreter.initial(2) == (4, None, ())


def test_causal_send(interpreter: Interpreter) -> None:
    step = interpreter.causal_send(0, (4, None, ()), MESSAGE)
    assert step == Step((5, None, ()), (Sent("MSG", (MESSAGE, 4), 2), Sent("PING", (4, 2), 0)))


def test_receive_binds_parameters_and_sender_by_position(interpreter: Interpreter) -> None:
    step = interpreter.receive(2, (0, None, ((1, 3),)), Packet("MSG", 1, 2, (MESSAGE, 7)))
    assert step == Step((0, (1,), ((1, 10),)), (Delivered(MESSAGE),))


def test_a_kind_without_a_handler_is_dropped(interpreter: Interpreter) -> None:
    state = (1, (0,), ())
    assert interpreter.receive(0, state, Packet("SILENT", 1, 0, ())) == Step(state, ())


def test_early_return(interpreter: Interpreter) -> None:
    assert interpreter.receive(0, (9, None, ()), Packet("PING", 1, 0, (9, 1))) == Step((9, None, ()), ())


def test_a_fault_has_no_step(interpreter: Interpreter) -> None:
    with pytest.raises(Fault, match="below zero"):
        interpreter.receive(0, (2, None, ()), Packet("PING", 1, 0, (3, 1)))


def test_timer(interpreter: Interpreter, library: Specify) -> None:
    assert interpreter.has_timer
    assert interpreter.tick(1, (6, None, ()), "periodically").emissions == (
        Sent("PING", (6, 1), 0),
        Sent("PING", (6, 1), 2),
    )
    assert not Interpreter(library("mf").protocols[0], 3).has_timer


def test_steps_depend_on_nothing_else(interpreter: Interpreter) -> None:
    """Same process, state and input: same step, whatever ran in between; the input is not changed."""
    state = (4, None, ((0, 1),))
    packet = Packet("MSG", 0, 2, (MESSAGE, 1))
    first = interpreter.receive(2, state, packet)
    interpreter.causal_send(2, state, Message(2, 0, (1,)))
    interpreter.tick(0, state, "periodically")
    assert interpreter.receive(2, state, packet) == first
    assert state == (4, None, ((0, 1),))


def test_guards_only_when_observed(interpreter: Interpreter) -> None:
    packet = Packet("PING", 1, 0, (3, 1))
    assert interpreter.receive(0, (5, None, ()), packet).guards == ()
    (guard,) = interpreter.receive(0, (5, None, ()), packet, observe=True).guards
    assert not guard.outcome
    assert [(text, value) for text, value, _ in guard.values] == [("k", 3)]
    assert dict(guard.locals) == {"k": 3, "who": 1, "j": 1}
