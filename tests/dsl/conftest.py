"""Small protocols from text, for tests of what they mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from textwrap import dedent, indent

import pytest

from thence.dsl import ir
from thence.dsl.check.elaborate import elaborate
from thence.dsl.load import load
from thence.dsl.run.execute import Delivered, Emission, Guard, Sent
from thence.dsl.run.interpreter import Interpreter
from thence.dsl.run.values import Message, Value
from thence.dsl.text.parse import parse

Specify = Callable[[str], ir.Specification]

FRAME = """\
protocol sample:
  network reliable, reordering
  message MSG(m: message) carries m
  message NOTE(note: nat)
  record Pair: left: nat; right: option of nat
  record Entry: who: process; many: nat
  state:
{state}
  on causal_send(m):
{body}
    send MSG(m) to m.dst
  on receive MSG(m) from j:
    deliver m
  on receive NOTE(note) from j:
    send NOTE(note) to j
{procedures}
  property causal
"""


@dataclass(frozen=True, slots=True)
class Handled:
    """What a handler did at process 0 of 3, given message m0.1 to process 1: its state variables and emissions."""

    state: dict[str, Value]
    emissions: tuple[Emission, ...]
    guards: tuple[Guard, ...]

    def __getitem__(self, name: str) -> Value:
        return self.state[name]

    @property
    def notes(self) -> list[Value]:
        """The arguments of the NOTEs sent, in order."""
        return [sent.arguments[0] for sent in self.emissions if isinstance(sent, Sent) and sent.kind == "NOTE"]

    @property
    def delivered(self) -> list[Message]:
        return [emission.message for emission in self.emissions if isinstance(emission, Delivered)]


def _specify(text: str) -> ir.Specification:
    tree, faults = parse(dedent(text), "test.thence")
    assert tree is not None, faults
    specification, found = elaborate(tree, "test.thence")
    assert specification is not None, (faults, found)
    return specification


@pytest.fixture(scope="session")
def specify() -> Specify:
    """A typed file from its text, which must have no errors."""
    return _specify


@pytest.fixture(scope="session")
def library() -> Specify:
    """A file of the shipped library, typed."""

    def typed(name: str) -> ir.Specification:
        specification = load(name).specification
        assert specification is not None
        return specification

    return typed


@pytest.fixture(scope="session")
def handle() -> Callable[..., Handled]:
    """Runs the statements as the handler of a causal send, in the given state variables."""

    def run(state: str, body: str, procedures: str = "") -> Handled:
        text = FRAME.format(
            state=indent(dedent(state).strip(), "    "),
            body=indent(dedent(body).strip(), "    "),
            procedures=indent(dedent(procedures).strip(), "  "),
        )
        protocol = _specify(text).protocols[0]
        interpreter = Interpreter(protocol, 3)
        step = interpreter.causal_send(0, interpreter.initial(0), Message(0, 0, (1,)), observe=True)
        names = [variable.name for variable in protocol.state]
        return Handled(dict(zip(names, step.state, strict=True)), step.emissions, step.guards)

    return run
