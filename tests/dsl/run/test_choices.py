"""Choices, held against another meaning of the same statements: the set of all frames that a body can lead to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import copy
from pathlib import Path
from random import Random
from typing import Any, assert_never

import pytest

from thence.dsl import ir
from thence.dsl.load import load_bytes
from thence.dsl.run.choices import Choices, Drawn, TooManyOutcomes, every_script
from thence.dsl.run.evaluate import Frame, Names, compile_expression
from thence.dsl.run.execute import Sent
from thence.dsl.run.interpreter import Interpreter, LocalState
from thence.dsl.run.local_steps import LocalStep
from thence.dsl.run.scenario import play
from thence.dsl.run.system import System
from thence.dsl.run.values import Fault, Packet

STATEMENTS = (
    "n := n + 1", "n := 0", "S.add(self)", "S.add(j)", "S.clear()", "if n > 1: return", "return", "send GO(n) to j",
    "n := n - 1", "if S is empty: n := 2",
)  # fmt: skip
DOMAINS = ("S", "process", "{self, j}")
CONDITIONS = ("", "", " such that x != self", " such that x in S or n > 0", " such that x < self")
USES = ("S.remove(x)", "send GO(n) to x", "S.add(x)", "n := n + 1")


def body(draw: Random, depth: int) -> list[str]:
    """Random statements, with choices inside one another."""
    found: list[str] = []
    for _ in range(draw.randint(1, 3)):
        kind = draw.random() if depth else 1.0
        if kind < 0.35:
            for position in range(draw.randint(2, 3)):
                found += [f"{'or' if position else 'either'}:", *inside(body(draw, depth - 1))]
        elif kind < 0.65:
            name = f"x{draw.randrange(1_000_000)}"
            chosen, use = f"choose x in {draw.choice(DOMAINS)}{draw.choice(CONDITIONS)}:", draw.choice(USES)
            found.append(re.sub(r"\bx\b", name, chosen))
            found += inside([re.sub(r"\bx\b", name, use), *body(draw, depth - 1)])
            if draw.random() < 0.4:
                found += ["else:", *inside(body(draw, depth - 1))]
        elif kind < 0.8:
            found += [f"for y{draw.randrange(1_000_000)} in S:", *inside(body(draw, depth - 1))]
        else:
            found.append(draw.choice(STATEMENTS))
    return found


def inside(lines: list[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def protocol_of(lines: list[str]) -> ir.Protocol:
    text = "\n".join([
        "protocol drawn:", "  message GO(k: nat)", "  state:", "    n: nat", "    S: set of process",
        "  on receive GO(k) from j:", *inside(inside(lines)), "  on start(): send GO(0) to self", "",
    ])  # fmt: skip
    loaded = load_bytes(Path("drawn.thence"), text.encode())
    assert loaded.specification is not None, (text, [one.message for one in loaded.diagnostics])
    return loaded.specification.protocols[0]


def outcomes(protocol: ir.Protocol, process: int, state: LocalState, packet: Packet) -> set[Any]:
    """Every (state, emissions) that a packet's arrival can lead to, and `fault`: by sets of frames, without scripts."""
    (handler,) = (each for each in protocol.handlers if each.event == "receive")
    names = Names({variable.name: at for at, variable in enumerate(protocol.state)})
    start = Frame(process=process, state=list(state), processes=3)
    start.locals = {"k": packet.arguments[0], "j": packet.src}
    found: set[Any] = set()

    def value(expression: ir.Expr, frame: Frame) -> Any:
        return compile_expression(expression, names)(frame)

    def forked(frame: Frame) -> Frame:
        other = copy(frame)
        other.state, other.locals, other.emitted = list(frame.state), dict(frame.locals), list(frame.emitted)
        return other

    def run(block: tuple[ir.Stmt, ...], frame: Frame) -> Iterator[tuple[Frame, bool]]:
        """Each frame behind the block, and whether the handler has returned."""
        if not block:
            yield frame, False
            return
        first, *rest = block
        try:
            for after, returned in list(one(first, frame)):
                if returned:
                    yield after, True
                else:
                    yield from run(tuple(rest), after)
        except Fault:
            found.add("fault")

    def elements(domain: ir.Expr | None, frame: Frame) -> list[Any]:
        return list(range(3)) if domain is None else sorted(value(domain, frame))

    def one(statement: ir.Stmt, before: Frame) -> Iterator[tuple[Frame, bool]]:
        frame = forked(before)
        match statement:
            case ir.Assign(place=ir.StateOf(name=name), value=given):
                frame.state[names.positions[name]] = value(given, frame)
                yield frame, False
            case ir.Mutate(place=ir.StateOf(name=name), method=method, arguments=arguments):
                at, given = names.positions[name], frozenset(value(each, frame) for each in arguments)
                held = frame.state[at]
                frame.state[at] = (
                    held | given if method == "add" else held - given if method == "remove" else frozenset()
                )
                yield frame, False
            case ir.Send(kind=kind, arguments=arguments, to=to):
                frame.emitted.append(Sent(kind, tuple(value(each, frame) for each in arguments), value(to, frame)))
                yield frame, False
            case ir.Return():
                yield frame, True
            case ir.If(condition=condition, then=then, otherwise=otherwise):
                yield from run(then if value(condition, frame) else otherwise, frame)
            case ir.Either(branches=branches):
                for branch in branches:
                    yield from run(branch, forked(frame))
            case ir.Choose(name=name, domain=domain, condition=condition, body=inner, otherwise=otherwise):
                able = []
                for element in elements(domain, frame):
                    with_element = forked(frame)
                    with_element.locals[name] = element
                    if condition is None or value(condition, with_element):
                        able.append(with_element)
                for each in able:
                    yield from run(inner, each)
                if not able:
                    yield from run(otherwise, frame)
            case ir.For(name=name, domain=domain, body=inner):
                yield from loop(name, elements(domain, frame), inner, frame)
            case ir.Let() | ir.Var() | ir.Ref() | ir.While() | ir.Call() | ir.Deliver() | ir.Assign() | ir.Mutate():
                raise AssertionError("not drawn")
            case _:
                assert_never(statement)

    def loop(name: str, left: list[Any], inner: tuple[ir.Stmt, ...], frame: Frame) -> Iterator[tuple[Frame, bool]]:
        if not left:
            yield frame, False
            return
        here = forked(frame)
        here.locals[name] = left[0]
        for after, returned in list(run(inner, here)):
            if returned:
                yield after, True
            else:
                yield from loop(name, left[1:], inner, after)

    for after, _ in run(handler.body, start):
        found.add((tuple(after.state), tuple(after.emitted)))
    return found


@pytest.mark.parametrize("first", [0, pytest.param(150, marks=pytest.mark.long)])
def test_the_scripts_of_a_step_are_all_its_outcomes(first: int) -> None:
    several = faults = 0
    for seed in range(first, first + 150):
        draw = Random(seed)
        protocol = protocol_of(body(draw, 2))
        system = System(protocol, ir.Workload(3, (0, 0, 0), ((), (), ())))
        packet = Packet("GO", draw.randrange(3), draw.randrange(3), (0,))
        state = (draw.randrange(3), frozenset(draw.sample(range(3), draw.randrange(4))))
        local, cause = system.local_number(state), system.number_of(packet)
        try:
            scripts = system.steps.scripts(packet.dst, local, cause)
        except TooManyOutcomes:
            continue
        found: set[Any] = set()
        for script in scripts:
            step = system.steps.step(packet.dst, local, cause, (), script)
            found.add((system.local(step.state), step.emissions) if isinstance(step, LocalStep) else "fault")
        assert found == outcomes(protocol, packet.dst, state, packet), seed
        several += len(found) > 1
        faults += "fault" in found
        drawn = Drawn(Random(seed))
        try:
            one = Interpreter(protocol, 3).step(packet.dst, state, packet, choices=drawn)
            assert (one.state, one.emissions) in found, seed
        except Fault:
            assert "fault" in found
    assert several > 60 and faults > 10, (several, faults)


def test_scripts_come_in_order_and_stop_at_a_limit() -> None:
    def step(choices: Choices) -> None:
        if choices.pick(2) == 0:
            choices.pick(3)
        choices.pick(1)

    assert list(every_script(step)) == [(0, 0), (0, 1), (0, 2), (1,)]

    def endless(choices: Choices) -> None:
        for _ in range(20):
            choices.pick(2)

    with pytest.raises(TooManyOutcomes, match="more than 10,000 outcomes"):
        list(every_script(endless))


SHUFFLED = """
protocol shuffled:
  network reliable, reordering
  message MSG(m: message) carries m
  state:
    kept: set of message
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j:
    kept.add(m)
    either:
      while kept is not empty:
        choose n in kept:
          deliver n
          kept.remove(n)
    or: pass

scenario out_of_order of shuffled:
  processes Ann, Ben
  Ann sends a to Ben
  Ann sends b to Ben
  Ben receives MSG(a) from Ann
  assert not delivered(a)
  Ben receives MSG(b) from Ann
  assert delivered(a) and delivered(b)
  expect holds at_most_once
"""


def test_a_scenario_chooses_what_its_assertions_need() -> None:
    loaded = load_bytes(Path("shuffled.thence"), SHUFFLED.encode())
    assert loaded.specification is not None
    (scenario,) = loaded.specification.scenarios
    played = play(scenario)
    assert played.failure is None
    assert [step.action.script for step in played.steps][2:] == [(1,), (0, 0)]


def test_a_scenario_that_no_choice_makes_possible_fails_where_it_comes_furthest() -> None:
    text = SHUFFLED.replace("assert delivered(a) and delivered(b)", "assert delivered(a) and not delivered(b)")
    loaded = load_bytes(Path("shuffled.thence"), text.encode())
    assert loaded.specification is not None
    played = play(loaded.specification.scenarios[0])
    assert played.failure is not None
    assert played.failure.line == 24
