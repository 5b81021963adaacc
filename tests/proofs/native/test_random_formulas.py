"""Random protocols: native code says of promises, of actions and of packets in flight what the interpreter says."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TypeAlias

import pytest
from tests.proofs.fairness.random_protocols import random_text, random_workload, with_input
from tests.proofs.fairness.test_random_promises import PROMISES, REST

from thence.dsl import ir
from thence.dsl.load import load, load_bytes
from thence.dsl.run.evaluate import Acts
from thence.dsl.run.execute import Emission
from thence.dsl.run.system import System
from thence.proofs.engines import explore
from thence.proofs.explore.exploration import Exploration, ExplorationRequest, Method
from thence.proofs.explore.interpreted import Interpretation
from thence.proofs.native.crosscheck import different_states
from thence.proofs.native.engine import NativeEngine, Sample, why_not
from thence.proofs.native.inputs import Input
from thence.proofs.native.invariants import StepJudge, Together
from thence.proofs.native.judging.kinds import Kinds
from thence.proofs.native.judging.sieve import Kind
from thence.proofs.native.layout import Shape, shape_of
from thence.proofs.native.tables import StepTable
from thence.proofs.scopes.scopes import properties_of

Specify: TypeAlias = Callable[[str], ir.Specification]

MOST_STATES = 400
"""States up to which the interpreter goes; a larger system is not compared."""

CAPACITY = Sample(256, 64, 8).capacity
"""The same for all, so that code is generated once for all protocols of a shape."""

STATED = {
    "own": "when p delivers m: flag@p",
    "late": "when p delivers m: m not in kept@p",
    "other": "when p delivers m: exists q: process. q != p and flag@q",
    "got": "when p receives GO(f) from q: f = flag@p or flag@q",
    "there": "when p receives MSG(m) from q: kept@q is empty and flag@p",
    "single": "(count MSG(...) in flight. true) <= 1",
    "over": "when p delivers m: (count MSG(...) in flight. true) = 0",
    "alone": "when p receives GO(f) from q: forall GO(g) from x to y in flight. x = q and g = f",
    "behind": "when p receives MSG(m) from q: forall GO(f) in flight. (exists MSG(n) in flight ahead. n.src = q) or f",
    "flies": "forall GO(f) from p to q in flight. f = flag@p or f = flag@q",
    "local": "forall p: process. flag@p or kept@p is empty",
    "pairs": "forall p, q: process. flag@p = flag@q or kept@p is empty",
}
"""Of actions, of packets in flight, of one process and of two."""

PARTIAL = {
    "first": "forall p: process. flag@p leads to kept@p.first.src = p",
    "any": "exists p: process. kept@p.first.src != p",
}
"""Promises that have no value where nothing is kept."""

NAMES = ("delivered", "at_most_once", "fifo", "fault", *PROMISES, *REST, *STATED)


UNCLEAR = """
protocol p:
  network reliable, reordering
  message MSG(m: message) carries m
  state: kept: queue of message
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j: kept.push(m)
  eventually clear: forall p, q: process. p != q and kept@p.first.src = q leads to kept@p is not empty

scope s of p:
  processes 2
  sends 1, 0
"""


def drawn(seed: int) -> tuple[ir.Protocol, ir.Workload]:
    draw = random.Random(seed)
    text, workload = random_text(draw), random_workload(draw)
    if seed % 2:
        text = with_input(text, draw)
        workload = replace(workload, sends=(1, 0), inputs=(ir.InputUse("poke", draw.choice(((1, 0), (1, 1))), ()),))
    text += "".join(f"  eventually {name}: {formula}\n" for name, (formula, *_) in PROMISES.items())
    text += "".join(f"  eventually {name}: {formula}\n" for name, formula in PARTIAL.items() if seed % 3 == 2)
    text += "".join(f"  at rest {name}: {formula}\n" for name, (formula, _) in REST.items())
    text += "".join(f"  invariant {name}: {formula}\n" for name, formula in STATED.items())
    text += f"  reachable acted: {STATED['there']}\n"
    loaded = load_bytes(Path("random.thence"), text.encode())
    assert loaded.specification is not None, (text, [each.message for each in loaded.diagnostics])
    return loaded.specification.protocols[0], workload


def systems(seeds: range, shapes: int) -> Iterator[tuple[int, ir.Protocol, ir.Workload]]:
    """Those of so many shapes: code is generated for each."""
    known = set[Shape]()
    for seed in seeds:
        protocol, workload = drawn(seed)
        shape = shape_of(System(protocol, workload))
        if shape in known or len(known) < shapes:
            known.add(shape)
            yield seed, protocol, workload


def facts(found: Exploration) -> dict[str, object]:
    """What both engines have to say alike. A run that shows a broken promise is any one of those that do."""
    live = {"delivered", *PROMISES, *PARTIAL}
    lengths = {name: len(each.steps) for name, each in found.violations.items() if name not in live}
    return {
        "complete": found.complete, "states": found.states, "transitions": found.transitions, "depth": found.depth,
        "violations": sorted(found.violations), "lengths": lengths, "undecided": found.undecided,
    }  # fmt: skip


def differences(protocol: ir.Protocol, workload: ir.Workload, tally: Counter[str] | None = None) -> list[str]:
    """How native code differs from the interpreter; nothing where there are too many states."""
    names = frozenset((*NAMES, *(PARTIAL if len(protocol.promises) > len(PROMISES) else ())))
    system = System(protocol, workload)
    assert system.promises is not None and why_not(system) is None
    interpretation = Interpretation(ExplorationRequest(system, names, limit=MOST_STATES))
    expected = interpretation.run()
    if not expected.complete:
        return []
    given = {*system.promises.given}
    system.promises.given.clear()
    search = NativeEngine(ExplorationRequest(system, names))
    found = search.run(CAPACITY)
    wanted, known = facts(expected) | {"given": given}, facts(found) | {"given": system.promises.given}
    differing = [f"{name}: {wanted[name]}, natively {known[name]}" for name in wanted if wanted[name] != known[name]]
    if tally is not None:
        for name in names:
            refuted, unknown = name in expected.violations, name in expected.undecided
            tally[f"{name} {'refuted' if refuted else 'unknown' if unknown else 'holds'}"] += 1
        tally["cycles"] += sum(each.cycle > 0 for each in found.violations.values())
    return differing or different_states(set(interpretation.origins), search)


def test_native_code_finds_what_the_interpreter_finds() -> None:
    tally = Counter[str]()
    for seed, protocol, workload in islice(systems(range(200), shapes=2), 10):
        assert differences(protocol, workload, tally) == [], seed
    both = ("drained", "other", "local", "over")
    assert all(tally[f"{name} {verdict}"] for name in both for verdict in ("holds", "refuted")), tally


@pytest.mark.long
def test_native_code_finds_it_of_many() -> None:
    tally = Counter[str]()
    for seed, protocol, workload in islice(systems(range(1_000, 3_000), shapes=3), 24):
        assert differences(protocol, workload, tally) == [], seed
    assert tally["cycles"] and tally["first refuted"] and tally["drained refuted"], tally


# --- planted faults --------------------------------------------------------------------------------


def opens_too_late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StepJudge, "said_by", lambda self, process, local: (0, 0))


def keeps_too_early(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = StepJudge.said_together
    monkeypatch.setattr(StepJudge, "said_together", lambda self, states: (honest(self, states)[0], self._shared))


def sees_the_first_only(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Together.states
    monkeypatch.setattr(Together, "states", lambda self, node: honest(self, node)[:1] * self.processes)


def forgets_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StepJudge, "number_of", lambda self, acts: 0)


def judges_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StepJudge, "broken_alone", lambda self, process, local, acts: iter(()))


def takes_an_arrival_for_a_timer(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = StepTable._acts

    def acts(self: StepTable, known: Input, emissions: tuple[Emission, ...]) -> Acts:
        return honest(self, replace(known, action=known.action._replace(kind="tick")), emissions)

    monkeypatch.setattr(StepTable, "_acts", acts)


def sees_nothing_in_flight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Together, "flying", lambda self, node: ())


def overlooks_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Kinds.named

    def kinds(self: Kinds) -> dict[str, Kind]:
        found = honest(self)
        return found | ({"locals": (("locals",), found["locals"][1])} if "locals" in found else {})

    monkeypatch.setattr(Kinds, "named", kinds)


@pytest.mark.long
@pytest.mark.parametrize(
    "plant",
    [
        opens_too_late, keeps_too_early, sees_the_first_only, forgets_what_is_done, judges_by_itself,
        takes_an_arrival_for_a_timer, sees_nothing_in_flight, overlooks_the_network,
    ],
)  # fmt: skip
def test_a_planted_fault_is_found(plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """By a difference, or since the interpreter does not follow where native code says that a run leads."""
    plant(monkeypatch)
    assert any(differs(protocol, workload) for _, protocol, workload in islice(systems(range(200), shapes=2), 14))


def differs(protocol: ir.Protocol, workload: ir.Workload) -> bool:
    try:
        return bool(differences(protocol, workload))
    except AssertionError as unconfirmed:
        assert "the interpreter" in str(unconfirmed)
        return True


def test_a_promise_without_a_value_is_broken_natively(specify: Specify) -> None:
    content = specify(UNCLEAR)
    protocol, workload = content.protocols[0], content.scopes[0].workload
    found = explore(protocol, workload, ["fault", "clear"], method=Method("both"))
    assert found.complete and found.violations.keys() == {"clear"}
    assert found.violations["clear"].finding.detail.startswith("clear has no value")


@pytest.mark.long
@pytest.mark.parametrize(("file", "scope"), [("ricart_agrawala", "two"), ("chandy_lamport", "pair")])
def test_the_library_s_promises(file: str, scope: str) -> None:
    specification = load(file).specification
    assert specification is not None
    named = next(each for each in specification.scopes if each.name == scope)
    protocol = next(each for each in specification.protocols if each.name == named.protocol)
    assert protocol.promises
    found = explore(protocol, named.workload, properties_of(protocol), method=Method("both"))
    assert (found.complete, found.engine) == (True, "both")
