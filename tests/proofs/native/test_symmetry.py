"""Process symmetry: the states stored and their renamings are all states; what is not symmetric is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from random import Random
from typing import TypeAlias

import pytest

from thence.dsl import ir
from thence.dsl.ir.types import MESSAGE
from thence.dsl.load import library as library_files
from thence.dsl.run.execute import Delivered, Emission, Sent
from thence.dsl.run.system import System
from thence.dsl.run.values import Message, Packet, Value
from thence.proofs.engines import explore
from thence.proofs.explore.exploration import ExplorationRequest, Method
from thence.proofs.explore.interpreted import Interpretation
from thence.proofs.native.engine import NativeEngine, Sample
from thence.proofs.native.layout import shape_of
from thence.proofs.native.symmetry import Effects, Symmetry, group_of, inverse, renamed_message, renamer
from thence.proofs.scopes.scopes import properties_of

Library: TypeAlias = Callable[[str], ir.Specification]
Specify: TypeAlias = Callable[[str], ir.Specification]
Explored: TypeAlias = Callable[[str], Iterator[tuple[str, Interpretation]]]

ANY = ((1, 2), (0, 2), (0, 1))


@pytest.mark.long(but=("happens_before", "execution", "tree_printed", "hybrid_optimal_indices"))
@pytest.mark.parametrize("name", [path.stem for path in library_files()])
def test_states_stand_for_their_renamings(explored: Explored, name: str) -> None:
    """All renamings of the states stored are the states; verdicts and lengths are kept."""
    for label, interpretation in explored(name):
        assert_reduced(label, interpretation)


def assert_reduced(label: str, interpretation: Interpretation) -> tuple[str, ...]:
    """Fails where the search with symmetry differs; the reductions that were made."""
    request, expected = interpretation.request, interpretation.result
    engine = NativeEngine(replace(request, reductions=frozenset({"symmetry"})))
    found = engine.run(Sample.of(request.system, interpretation.origins).capacity)
    assert found.complete
    lengths = {known: len(violation.steps) for known, violation in expected.violations.items()}
    assert {known: len(violation.steps) for known, violation in found.violations.items()} == lengths, label
    assert found.depth == expected.depth
    assert ("symmetry" in found.reductions) != ("symmetry" in found.refused)
    if not found.reductions:
        assert found.states == expected.states, label
        return ()
    assert engine.search is not None
    symmetry = Symmetry(request.system, shape_of(request.system))
    stored = [engine.search.store.state(number) for number in engine.search.store.numbers()]
    orbits = [{symmetry.state(state, permutation) for permutation in symmetry.group} for state in stored]
    assert sum(map(len, orbits)) == expected.states, label
    for state, orbit in zip(stored, orbits, strict=True):
        assert symmetry.least_orbit(state.locals, state.sends) <= len(orbit), label
    read = list(engine.search.store.locals_and_sends())
    assert read == [(state.locals, state.sends) for state in stored], label
    assert set().union(*orbits) == interpretation.origins.keys(), label
    return found.reductions


COUNTED = """
protocol p:
  network reliable, reordering
  message MSG(m: message, v: nat) carries m
  state: n: nat
  on causal_send(m): send MSG(m, n) to m.dst
  on receive MSG(m, v) from j:
    deliver m
    n := n + 1
  property at_most_once, causally_ordered
  invariant later: when p delivers m: forall q: process. n@p <= n@q + 1
  invariant over: when p delivers m: forall MSG(a, v) from x to y in flight. x = m.src or v = 0
  reachable met: when p receives MSG(m, v) from q: n@p = 2 and v = 1
"""


def test_answers_and_actions_are_renamed(specify: Specify) -> None:
    """What is overtaken, what is sent inside deliveries, and what is said of actions."""
    (protocol,) = specify(COUNTED).protocols
    workload = ir.Workload(2, (2, 2), ((1,), (0,)), sending=ir.Finite(reactive=True))
    asked = frozenset({"fault", *protocol.properties, *(each.name for each in protocol.formulas)})
    interpretation = Interpretation(ExplorationRequest(System(protocol, workload), asked))
    assert interpretation.run().violations.keys() == {"causally_ordered", "later", "over", "met"}
    assert assert_reduced("p", interpretation)


QUOTIENTS = {
    # Nearly a sixth of 52,521, of 6,859 and of 5,022,640: few states are their own renaming.
    ("cykas", 2): (8_814, 37_255, 18),
    ("mf", 2): (1_178, 5_204, 18),
    ("cykas", 3): (837_499, 4_393_469, 27),
}


@pytest.mark.long(but=("mf-2",))
@pytest.mark.parametrize(("name", "sends"), QUOTIENTS)
def test_quotients(library: Library, name: str, sends: int) -> None:
    protocol = library(name).protocols[0]
    workload = ir.Workload(3, (sends,) * 3, ANY)
    found = explore(protocol, workload, properties_of(protocol), method=Method("native", reductions=["symmetry"]))
    assert (found.reductions, found.refused, found.violations) == (("symmetry",), {}, {})
    assert (found.states, found.transitions, found.depth) == QUOTIENTS[name, sends]


@pytest.mark.parametrize(
    ("workload", "order"),
    [
        (ir.Workload(3, (1, 1, 1), ANY), 6),
        (ir.Workload(3, (2, 1, 1), ANY), 2),
        (ir.Workload(3, (2, 1, 0), ANY), 1),
        (ir.Workload(4, (1, 1, 1, 1), ((1,), (2,), (3,), (0,))), 4),
        (ir.Workload(3, (1, 1, 0), ((2,), (2,), ())), 2),
    ],
)
def test_groups(library: Library, workload: ir.Workload, order: int) -> None:
    shape = shape_of(System(library("mf").protocols[0], workload))
    group = group_of(shape)
    assert len(group) == order
    assert group[0] == tuple(range(workload.processes))


def test_values_are_renamed_by_their_type(library: Library) -> None:
    turned = (1, 2, 0)
    renamers = {variable.name: renamer(variable.type, turned) for variable in library("cykas").protocols[0].state}
    assert renamers["MODE"] is None

    def renamed(name: str, value: Value) -> Value:
        rename = renamers[name]
        assert rename is not None
        return rename(value)

    assert renamed("UNACK", frozenset({0, 2})) == frozenset({1, 0})
    assert renamed("OB", (Message(0, 1, (2,)),)) == (Message(1, 1, (0,)),)
    before: Value = ((0, (frozenset({1}),)), (2, (frozenset(), frozenset({0}))))
    assert renamed("EAGER_SENT", before) == ((0, (frozenset(), frozenset({1}))), (1, (frozenset({2}),)))


Parts: TypeAlias = list[Packet | Message]


def parts_of(process: int, emissions: Iterable[Emission], permutation: tuple[int, ...]) -> Parts:
    """What is emitted, renamed: packets and messages as they are, without numbers."""
    found: Parts = []
    for emission in emissions:
        if isinstance(emission, Delivered):
            found.append(renamed_message(emission.message, permutation))
            found += [] if emission.then is None else [renamed_message(emission.then, permutation)]
        else:
            (message,) = emission.arguments
            there = permutation[process], permutation[emission.to]
            found.append(Packet(emission.kind, *there, (renamed_message(message, permutation),)))
    return found


def emission_of(part: Packet | Message) -> Emission:
    """What emits the part. A message is delivered: one that is sent inside a delivery is a part like it."""
    return Delivered(part, None) if isinstance(part, Message) else Sent(part.kind, part.arguments, part.dst)


def told_apart(one: Parts, other: Parts) -> bool:
    """Whether a receiver, or the process itself, can tell two lists apart: between two deliveries."""

    def seen(parts: Parts) -> list[Message | dict[int, list[Packet]]]:
        found: list[Message | dict[int, list[Packet]]] = [{}]
        for part in parts:
            if isinstance(part, Message):
                found += [part, {}]
            else:
                last = found[-1]
                assert isinstance(last, dict)
                last.setdefault(part.dst, []).append(part)
        return found

    return seen(one) != seen(other)


@pytest.mark.parametrize("seed", range(20))
def test_effects_are_equal_where_nobody_can_tell(library: Library, seed: int) -> None:
    """Numbers of effects and of their renamings, against lists of packets that are renamed one by one."""
    system, random = System(library("cykas").protocols[0], ir.Workload(3, (1, 1, 1), ANY)), Random(seed)
    symmetry = Symmetry(system, shape_of(system))
    effects = Effects(system, symmetry.group, symmetry.packets)
    kinds = [kind.name for kind in system.protocol.packets if [each.type for each in kind.parameters] == [MESSAGE]]
    assert len(kinds) > 1
    messages = [Message(src, 0, (dst,)) for src in range(3) for dst in range(3) if dst != src]

    def drawn() -> Emission:
        message, others = random.choice(messages), [each for each in messages if each.src == 0]
        if random.random() < 0.4:
            return Delivered(message, random.choice([None, None, *others]))
        return Sent(random.choice(kinds), (message,), random.randrange(3))

    alike = 0
    for _ in range(60):
        process, at = random.randrange(3), random.randrange(len(symmetry.group))
        emitted = tuple(drawn() for _ in range(random.randrange(5)))
        other = list(parts_of(process, emitted, symmetry.group[at]))
        renamed = [emission_of(part) for part in other]
        if random.random() < 0.7:
            random.shuffle(renamed)
        there = symmetry.group[at][process]
        expected = told_apart(other, parts_of(there, renamed, symmetry.group[0]))
        one, two = effects.number(process, emitted), effects.number(there, tuple(renamed))
        assert (effects.renamed(one)[at] != two) == expected, (emitted, renamed)
        assert effects.renamed(effects.renamed(one)[at])[symmetry.group.index(inverse(symmetry.group[at]))] == one
        alike += not expected
    assert 0 < alike < 60


FIRST_COME = """
protocol first_come:
  message MSG(m: message) carries m
  message HINT()
  state:
    helper: option of process
    told: set of process
  on causal_send(m):
    send MSG(m) to m.dst
    for p in process:
      if helper is none and p != self: CHANGE
  on receive MSG(m) from j:
    deliver m
  on receive HINT() from j:
    told.add(j)
  property causal, at_most_once
  eventually delivered under fair receive
"""


@pytest.mark.parametrize(
    ("change", "symmetric"), [("helper := some(p)", False), ("send HINT() to p", True), ("told.add(p)", True)]
)
def test_loops_whose_order_matters_are_found(specify: Specify, change: str, symmetric: bool) -> None:
    """Sends and additions to a set may come in any order; who is first in a loop is told from the others."""
    protocol = specify(FIRST_COME.replace("CHANGE", change)).protocols[0]
    workload = ir.Workload(3, (1, 1, 1), ANY)
    found = explore(protocol, workload, properties_of(protocol), method=Method("native", reductions=["symmetry"]))
    whole = explore(protocol, workload, properties_of(protocol), method=Method("interpreted"))
    assert found.violations.keys() == whole.violations.keys()
    if symmetric:
        assert found.reductions == ("symmetry",)
        assert found.states < whole.states
    else:
        assert found.reductions == ()
        assert found.refused["symmetry"].endswith("depends on which of the other processes is which")
        assert (found.states, found.transitions) == (whole.states, whole.transitions)


LATE = """
protocol late:
  message MSG(m: message) carries m
  state:
    kept: queue of message
    fired: nat
    S: set of process
    last: option of process
  on causal_send(m):
    kept.push(m)
  on receive MSG(m) from j: deliver m
  periodically:
    if fired < 3: fired := fired + 1
    for p in process: S.add(p)
    if fired = 3:
      for p in S: last := some(p)
      if last = some(self) and kept is not empty:
        send MSG(kept.first) to kept.first.dst
        kept.pop()
  property causal
  eventually delivered under fair receive
"""


def test_steps_beyond_the_search_are_compared_as_well(specify: Specify) -> None:
    """With one tick each, the search never comes to the third, which only the last process makes something of."""
    protocol = specify(LATE).protocols[0]
    workload = ir.Workload(3, (1, 1, 1), ANY, ticks=1)
    judged = ("causal", "delivered", "fault")
    whole = explore(protocol, workload, judged, method=Method("interpreted"))
    found = explore(protocol, workload, judged, method=Method("native", reductions=["symmetry"]))
    assert "delivered" in whole.violations
    assert found.violations.keys() == whole.violations.keys()
    healed = specify(LATE.replace("if last = some(self) and kept", "if kept")).protocols[0]
    found = explore(healed, workload, judged, method=Method("native", reductions=["symmetry"]))
    assert not found.violations
    assert found.refused["symmetry"].endswith("depends on which of the other processes is which")


@pytest.mark.parametrize(("chief", "order"), [("role chief: process = 0", 2), ("", 6)])
def test_processes_without_a_role_are_alike(specify: Specify, chief: str, order: int) -> None:
    """A role, and who starts differently because of it, keeps its name; the others are renamed."""
    said = FIRST_COME.replace("CHANGE", "send HINT() to p")
    if chief:
        said = said.replace("  state:", f"  {chief}\n  state:\n    leads: bool = (self = chief)")
        said = said.replace("    told.add(j)", "    if leads: told.add(j)")
    (protocol,) = specify(said).protocols
    workload = ir.Workload(3, (1, 1, 1), ANY)
    system = System(protocol, workload)
    assert len(Symmetry(system, shape_of(system)).group) == order
    found = explore(protocol, workload, properties_of(protocol), method=Method("native", reductions=["symmetry"]))
    whole = explore(protocol, workload, properties_of(protocol), method=Method("interpreted"))
    assert found.reductions == ("symmetry",)
    assert found.violations.keys() == whole.violations.keys()
    assert found.depth == whole.depth
    assert whole.states / order <= found.states < whole.states


TIE = """
protocol p:
  message MSG(m: message) carries m
  state:
    low: option of process
  on causal_send(m):
    send MSG(m) to m.dst
  on receive MSG(m) from j:
    {step}
    deliver m
  invariant stated: {stated}
"""


@pytest.mark.parametrize(
    ("step", "stated"),
    [
        ("if low is none or j < low.value: low := some(j)", "true"),
        ("low := some(j)", "forall p, q: process. p < q implies low@p != some(p)"),
    ],
)
def test_an_order_of_processes_is_no_symmetry(specify: Specify, step: str, stated: str) -> None:
    (protocol,) = specify(TIE.format(step=step, stated=stated)).protocols
    workload = ir.Workload(3, (1, 1, 1), ANY)
    judged = ("causal", "stated", "fault")
    found = explore(protocol, workload, judged, method=Method("native", reductions=["symmetry"]))
    whole = explore(protocol, workload, judged, method=Method("interpreted"))
    assert "compares processes" in found.refused["symmetry"]
    assert (found.states, found.violations.keys()) == (whole.states, whole.violations.keys())
