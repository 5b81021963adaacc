"""Formulas about packets in flight, held against counting the packets of every state, over random protocols."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from tests.proofs.fairness.random_protocols import random_text, random_workload, with_input

from thence.dsl import ir
from thence.dsl.load import load_bytes
from thence.dsl.run.system import System
from thence.proofs.engines import explore
from thence.proofs.explore.exploration import Method

MOST = 4_000
"""States of a random protocol; larger ones are passed over."""


def protocol_of(text: str) -> ir.Protocol:
    loaded = load_bytes(Path("flying.thence"), text.encode())
    assert loaded.specification is not None, [(each.message, each.span.line) for each in loaded.diagnostics]
    return loaded.specification.protocols[0]


def states(system: System) -> list[tuple[tuple[str, int, int], ...]]:
    """The packets in flight in each state, by kind, sender and receiver."""
    seen, frontier = {system.initial()}, [system.initial()]
    while frontier and len(seen) < MOST:
        for action in list(system.enabled(state := frontier.pop())):
            outcome = system.apply(state, action)
            if any(finding.property == "fault" for finding in outcome.findings):
                continue
            if outcome.state not in seen:
                seen.add(outcome.state)
                frontier.append(outcome.state)
    packets = ([system.packet(number) for number in state.network] for state in seen)
    return [tuple((one.kind, one.src, one.dst) for one in flying) for flying in packets]


@pytest.mark.parametrize("seed", range(12))
def test_the_most_packets_of_a_kind_are_as_many_as_are_counted(seed: int) -> None:
    draw = random.Random(seed)
    text = random_text(draw)
    text, workload = with_input(text, draw) if seed % 2 else text, random_workload(draw)
    plain = protocol_of(text)
    if seed % 2:
        workload = replace(workload, inputs=tuple(ir.InputUse(one.kind or "", (1, 1)) for one in plain.inputs))
    flying = states(System(plain, workload))
    if len(flying) >= MOST:
        pytest.skip("too many states")
    kinds = {kind.name for kind in plain.packets}
    judged: dict[str, bool] = {}
    lines: list[str] = []

    def states_that(name: str, formula: str, true: bool) -> None:
        judged[name] = true
        lines.append(f"  invariant {name}: {formula}")

    for kind in sorted(kinds):
        most = max(sum(one == kind for one, _, _ in each) for each in flying)
        own = any(one == kind and src == dst for each in flying for one, src, dst in each)
        shape = f"{kind}(...)"
        states_that(f"most_{kind}", f"(count {shape} in flight. true) <= {most}", True)
        if most:
            states_that(f"fewer_{kind}", f"(count {shape} in flight. true) < {most}", False)
        states_that(f"own_{kind}", f"forall {shape} from p to q in flight. p != q", not own)
        states_that(f"some_{kind}", f"not exists {shape} in flight. true", most == 0)
    found = explore(protocol_of(text.rstrip() + "\n" + "\n".join(lines) + "\n"), workload, tuple(judged))
    assert {name: name not in found.violations for name in judged} == judged
    assert found.complete or found.violations


RING = """
protocol ring:
  network reliable, reordering
  role first: process = 0
  message TOKEN(n: nat)
  state:
    here: bool = (self = first)
  on hand(p: process) when here and p != self:
    here := false
    send TOKEN(1) to p
  on receive TOKEN(n) from j: here := true
  invariant one: (count p: process. here@p) + (count TOKEN(...) in flight. true) = 1
  invariant nested: forall TOKEN(a) from p to q in flight. forall TOKEN(b) from r to s in flight.
    a = b and p = r and q = s
  invariant summed: (sum TOKEN(n) in flight. n) <= 1

scope three of ring:
  processes 3
  hand 1, 0, 0
"""


def test_two_packets_have_names_of_their_own_and_equal_packets_count_twice() -> None:
    loaded = load_bytes(Path("ring.thence"), RING.encode())
    assert loaded.specification is not None
    ring, scope = loaded.specification.protocols[0], loaded.specification.scopes[0]
    names = ("one", "nested", "summed")
    assert explore(ring, scope.workload, names).violations == {}
    twice = RING.replace("    send TOKEN(1) to p", "    send TOKEN(1) to p\n    send TOKEN(1) to p")
    assert explore(protocol_of(twice), scope.workload, names).violations.keys() == {"one", "summed"}
    other = RING.replace("    send TOKEN(1) to p", "    send TOKEN(1) to p\n    send TOKEN(2) to p")
    assert explore(protocol_of(other), scope.workload, names).violations.keys() == {"one", "nested", "summed"}


def test_native_code_takes_it() -> None:
    workload = ir.Workload(2, (0, 0), ((1,), (0,)), inputs=(ir.InputUse("hand", (1, 1), (("p", (0, 1)),)),))
    open_to_all = RING.replace(" when here and p != self", "")
    found = explore(protocol_of(open_to_all), workload, ("one", "summed"), method=Method(engine="both"))
    assert found.violations.keys() == {"one", "summed"}


def test_states_that_differ_in_the_names_of_processes_are_one() -> None:
    protocol = protocol_of((Path(__file__).parents[2] / "constructs" / "in_flight.thence").read_text(encoding="utf-8"))
    method = Method(engine="both", reductions=("symmetry",))
    found = explore(protocol, ir.Workload(2, (2, 2), ((1,), (0,))), ("from_sender", "single"), method=method)
    assert found.reductions == ("symmetry",)
    assert found.violations.keys() == {"single"}
