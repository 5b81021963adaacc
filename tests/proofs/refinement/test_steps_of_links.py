"""What obligations of links say beside the ways through a handler, held against the interpreter.

The network's own steps change the packets in flight as a network does. The invariants at first, as formulas, are true
exactly where they are true of the interpreter's initial states.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from tests.proofs.machine.against_execution.executed import began
from tests.proofs.refinement.link_invariants import true_of
from tests.proofs.refinement.test_execution import Drawn, Reader, channels, drawn_link, flying

from thence.dsl import ir
from thence.dsl.ir.constants import values_of, with_values
from thence.dsl.load import load
from thence.dsl.run.interpreter import Interpreter
from thence.proofs.logic.formula import free_locals
from thence.proofs.logic.structure import tuples
from thence.proofs.prove import is_claimed
from thence.proofs.refinement.following import Path as Way
from thence.proofs.refinement.obligations import network_steps, obligations
from thence.proofs.refinement.states import keeps_order

LIBRARY = (
    "fifo", "synchronous", "two_phase_commit", "ricart_agrawala", "lamport_mutex", "mf", "tree", "cbcast", "rst",
    "hybrid_basic",
)  # fmt: skip


def reader_of(drawn: Drawn, **environment: int) -> Reader:
    """Reads formulas in the drawn state, with the roles that the text gives."""
    values = values_of(drawn.link.protocol, {}, drawn.processes).items()
    return Reader(drawn, drawn.structure, {**{f"#role {name}": value for name, value in values}, **environment})


# --- the network -----------------------------------------------------------------------------------


@pytest.mark.parametrize("network", ["reliable, reordering", "reliable, fifo"])
@pytest.mark.parametrize("seed", range(2))
def test_the_network_loses_and_copies_one_packet(seed: int, network: str) -> None:
    link = drawn_link(seed, network)
    faulty = replace(link.protocol.network, lossy=True, duplicating=True)
    link = replace(link, protocol=replace(link.protocol, network=faulty))
    happened: Counter[str] = Counter()
    for number in range(20):
        drawn = Drawn(link, 2, Random(100 * seed + number))
        for name, state, conditions in network_steps(link):
            kind = name.partition(" ")[0]
            there = [packet for packet in drawn.packets if packet.kind == kind]
            for at in range(len(there) + 1):
                reader = reader_of(drawn, **{"#packet": at})
                first = at < len(there) and any(there[at] is each for each in drawn.first_of_channels())
                assert all(reader.truth(each.body) for each in conditions) == first
                if not first:
                    continue
                expected = list(drawn.packets)
                if name.endswith("duplicated"):
                    expected.append(there[at])
                else:
                    del expected[drawn.at(there[at])]
                found = flying(reader, Way(state, {}), link.protocol)
                assert Counter(found) == Counter(expected)
                if keeps_order(link):
                    assert channels(found) == channels(expected)
                happened[name.partition(" ")[2]] += 1
    assert happened["is lost"] > 20
    assert happened["is duplicated"] > 20


def test_a_reliable_network_takes_no_steps() -> None:
    assert not list(network_steps(drawn_link(0)))


# --- at first --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*LIBRARY, "drawn 0", "drawn 1", "drawn 2 tree"])
def test_invariants_at_first(name: str) -> None:
    """A link with other invariants, too, since those of the library are true at first."""
    for link in with_denials(name):
        stated = {each.name: each for each in obligations(link, ()) if each.name.startswith("initially ")}
        stated.pop("initially `up` has a value", None)
        assert list(stated) == [f"initially {one.name}" for one in link.invariants]
        for number in range(3 if name.startswith("drawn") else 8):
            drawn = Drawn(link, 3, Random(number))
            protocol = with_values(link.protocol, {}, drawn.processes)
            interpreter = Interpreter(protocol, drawn.processes, drawn.tree)
            states = [interpreter.initial(process) for process in range(drawn.processes)]
            expected = true_of(link, states, (), began(link.machine, drawn.structure), drawn.messages)
            for one in link.invariants:
                goal = stated[f"initially {one.name}"].goal.body
                assert is_true(reader_of(drawn), goal) == expected[one.name], one.name


def with_denials(name: str) -> list[ir.Link]:
    network = "reliable, fifo, tree" if name.endswith(" tree") else "reliable, reordering"
    link = drawn_link(int(name.split()[1]), network) if name.startswith("drawn") else library_link(name)
    denied = tuple(replace(one, body=ir.Not(one.body.type, one.body)) for one in link.invariants)
    return [link, replace(link, invariants=denied)]


def library_link(name: str) -> ir.Link:
    loaded = load(name).specification
    assert loaded is not None
    return next(link for link in loaded.links if is_claimed(link))


def is_true(reader: Reader, goal: ir.Expr) -> bool:
    """Whether the goal is true whatever the names are that stand for its outermost variables, `#goal p`."""
    open_ones = {name: of for name, of in free_locals(goal).items() if name not in reader.environment}
    for values in tuples(list(open_ones.values()), reader.structure.universe):
        given = {**reader.environment, **dict(zip(open_ones, values, strict=True))}
        if not replace(reader, environment=given).truth(goal):
            return False
    return True
