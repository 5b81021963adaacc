"""The state that a failed obligation is shown with, held against random states as the interpreter shows them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest
from tests.proofs.refinement.test_execution import Drawn, drawn_link

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE, PROCESS
from thence.dsl.load import load
from thence.dsl.run.values import show
from thence.proofs.logic.obligation import Obligation, Signature
from thence.proofs.refinement.drawing import drawn, reader_of
from thence.proofs.refinement.states import flying_name, packet_sort, protocol_symbols
from thence.proofs.solving.finite_models import Model

EMPTY = ("0", "false", "none", "{}", "[]", "<>", "[0: ]", "{ | next 0}")


def link_of(name: str) -> ir.Link:
    specification = load(name).specification
    assert specification is not None
    return specification.links[0]


def drawn_states(name: str) -> Iterator[tuple[ir.Link, Random, Drawn]]:
    """Eight states of a link: one of the library, or, where the name is a number, a random one."""
    link = drawn_link(int(name)) if name.isdigit() else link_of(name)
    for seed in range(8):
        random = Random(seed)
        yield link, random, Drawn(link, 3, random)


def signs(line: str) -> list[str]:
    """The words of a line and its other characters: elements of sets and keys of maps have no order of their own."""
    return sorted(re.findall(r"\w+|[^\w\s]", line))


@pytest.mark.parametrize(
    "name", ["fifo", "two_phase_commit", "mf", "rst", "cbcast", "tree", "hybrid_basic", *map(str, range(12))]
)
def test_a_state_is_drawn_as_the_interpreter_shows_it(name: str) -> None:
    for link, _, state in drawn_states(name):

        def named(line: str, state: Drawn = state) -> str:
            numbers = {message.name: f"m{at}" for at, message in enumerate(state.messages, 1)}
            return re.sub(r"\bm\d+\.\d+", lambda found: numbers[found[0]], line)

        variables = link.protocol.state
        expected = [
            f"{variable.name}@p{process} = {named(text)}"
            for at, variable in enumerate(variables)
            for process, local in enumerate(state.locals)
            if (text := show(local[at], variable.type)) not in EMPTY
        ]
        for packet in state.packets:
            kind = next(kind for kind in link.protocol.packets if kind.name == packet.kind)
            pairs = zip(packet.arguments, kind.parameters, strict=True)
            said = ", ".join(named(show(value, parameter.type)) for value, parameter in pairs)
            expected.append(f"{packet.kind}({said}) from p{packet.src} to p{packet.dst} in flight")
        signature = Signature((PROCESS, MESSAGE), (), protocol_symbols(link.protocol))
        obligation = Obligation("drawn", signature, (), ir.NamedFormula("anything", ir.Literal_(BOOL, True)))
        lines = drawn(link, obligation, reader_of(Model(state.structure, {}))).protocol
        assert sorted(map(signs, lines)) == sorted(map(signs, expected))


@pytest.mark.parametrize("name", ["fifo", "mf", "cbcast", "hybrid_basic", *map(str, range(12))])
def test_what_does_not_matter_is_left_open_and_no_packet_is_left_out(name: str) -> None:
    """A model has no tables of symbols that an obligation does not mention, be they those of whole collections."""
    goal = ir.NamedFormula("anything", ir.Literal_(BOOL, True))
    for link, random, state in drawn_states(name):
        kinds = link.protocol.packets
        signature = Signature((PROCESS, MESSAGE), (), protocol_symbols(link.protocol))
        flying = {flying_name(kind.name) for kind in kinds}
        there = {one: table for one, table in state.structure.tables.items() if one in flying or random.random() < 0.5}
        constants = tuple(ir.Variable(f"#packet {kind.name}", packet_sort(kind)) for kind in kinds)
        model = Model(replace(state.structure, tables=there), {one.name: 0 for one in constants})
        lines = drawn(link, Obligation("drawn", signature, (), goal, constants), reader_of(model)).protocol
        shown = [line.split("(")[0].strip() for line in lines if line.endswith(" in flight")]
        assert sorted(shown) == sorted(packet.kind for packet in state.packets)
