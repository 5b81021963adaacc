"""Handlers with terms and statements of every type: symbolic execution on constants does what the interpreter does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from tests.proofs.bounded.test_statements import stepped
from tests.proofs.typed_protocols import drawn_protocol, drawn_value

from thence.dsl import ir
from thence.dsl.ir.types import PROCESS
from thence.dsl.run import execute
from thence.dsl.run.interpreter import Interpreter
from thence.dsl.run.values import Fault, Message, Occurrence, Packet
from thence.proofs.bounded import expressions
from thence.proofs.logic.formula import Unsupported

MESSAGES = [Message(0, 0, (1,)), Message(0, 1, (2,)), Message(1, 0, (2,))]
WITHOUT = frozenset({"keys", "choices"})


def compared(specify: Callable[[str], ir.Specification], constants: Any, seeds: range) -> Counter[str]:
    """What happened in the steps from drawn states."""
    happened = Counter[str]()
    for seed in seeds:
        (protocol,) = specify(drawn_protocol(seed, without=WITHOUT)).protocols
        interpreter = Interpreter(protocol, 3)
        for number in range(4):
            one = Random(1_000 * seed + number)
            local = tuple(drawn_value(one, variable.type, 3, MESSAGES) for variable in protocol.state)
            for handler in protocol.handlers:
                values = [drawn_value(one, each.type, 3, MESSAGES) for each in handler.parameters]
                given = [(each.name, value, each.type) for each, value in zip(handler.parameters, values, strict=True)]
                process = one.randrange(3)
                cause: Any = Occurrence(handler.kind or ir.PERIODICALLY, tuple(values))
                if handler.event == "receive":
                    cause = Packet(handler.kind or "", one.randrange(3), process, tuple(values))
                    given.append((handler.sender or "", cause.src, PROCESS))
                elif handler.event == "causal_send":
                    (cause,) = values
                try:
                    step = interpreter.step(process, local, cause)
                    expected: Any = (step.state, list(step.emissions))
                except Fault:
                    expected = "fault"
                try:
                    found = stepped(protocol, constants(MESSAGES), process, local, handler, given)
                except Unsupported:
                    happened["unsupported"] += 1
                    continue
                assert found in (expected, "bounded"), (seed, number, handler.event, handler.kind)
                happened["fault" if found == "fault" else "bounded" if found == "bounded" else "alike"] += 1
    return happened


@pytest.mark.long(but=("range(0, 20)",))
@pytest.mark.parametrize("seeds", [range(start, start + 20) for start in range(0, 200, 20)], ids=str)
def test_any_statement_of_any_type(
    specify: Callable[[str], ir.Specification], constants: Any, seeds: range, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execute, "STEP_BUDGET", 200)
    happened = compared(specify, constants, seeds)
    everything = sum(happened.values())
    assert happened["alike"] > everything * 0.8 and happened["fault"], happened


def test_a_planted_fault_is_found(
    specify: Callable[[str], ir.Specification], constants: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execute, "STEP_BUDGET", 200)
    monkeypatch.setitem(expressions._OPERATIONS, "max", min)  # type: ignore[arg-type]
    with pytest.raises(AssertionError):
        compared(specify, constants, range(20))
