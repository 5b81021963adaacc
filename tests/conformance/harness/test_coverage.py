"""Coverage of a protocol, through replay."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from thence.conformance.cases.network import Settings
from thence.conformance.cases.schedule import React, Receive, Schedule, Send
from thence.conformance.cases.schedulers import SCHEDULERS
from thence.conformance.conform.conform import settings_for
from thence.conformance.harness.coverage import (
    SCENARIOS,
    CoveredReplay,
    Features,
    ProtocolCoverage,
    abstraction,
    scenarios,
)
from thence.conformance.harness.harness import run_case, run_scheduled
from thence.conformance.replay.guards import conditionals_of
from thence.conformance.replay.replay import Replay
from thence.conformance.systems.protocol_subject import ProtocolSystem
from thence.dsl import ir
from thence.dsl.load import load_bytes
from thence.dsl.run.interpreter import Interpreter
from thence.dsl.run.values import Message
from thence.impl.mf import MF
from thence.impl.rst import RST

Library = Callable[[str], ir.Protocol]


def test_features(library: Library) -> None:
    protocol = library("cykas")
    features = Features.of(protocol)
    handlers = [name for kind, name in features.names if kind == "handler"]
    assert handlers == ["causal_send", "receive NORMAL", "receive EAGER", "receive ACK", "receive YCT"]
    branches = [name for kind, name in features.names if kind == "branch"]
    assert len(branches) == 2 * len(list(conditionals_of(protocol))) > 4
    assert len(set(features.names)) == len(features.names)
    chosen = features.names[1:4]
    assert features.named(features.bits(chosen)) == chosen
    assert Features.of(None).names == tuple(("scenario", name) for name in SCENARIOS)


def test_a_case_covers_what_it_runs_through(library: Library) -> None:
    replay = CoveredReplay(library("mf"), 3)
    outcome = run_case(MF, (Send(0, 1),), Settings(), replay)
    reached = replay.reached(outcome)
    names = {name for kind, name in replay.features.named(reached.bits) if kind == "handler"}
    assert names == {"causal_send", "receive MSG", "receive ACK"}
    assert not outcome.findings and not reached.broken
    empty = run_case(MF, (), Settings(), replay)
    assert replay.reached(empty).bits == 0


def test_coverage_changes_no_outcome(library: Library) -> None:
    protocol = library("hybrid_basic")
    plain, covered = Replay(protocol, 3), CoveredReplay(protocol, 3)
    for seed in range(30):
        outcomes = [
            run_scheduled(ProtocolSystem(protocol), SCHEDULERS["uniform"], seed, 12, Settings(loss=True), replay)
            for replay in (plain, covered)
        ]
        assert outcomes[0].digest() == outcomes[1].digest()


def test_it_is_the_same_in_another_process_and_order(library: Library) -> None:
    """The hashes of states are stable; what was remembered before makes no difference."""
    protocol = library("rst")
    found = []
    for seeds in (range(40), reversed(range(40))):
        replay = CoveredReplay(protocol, 3)
        cases = {}
        for seed in seeds:
            cases[seed] = replay.reached(run_scheduled(RST, SCHEDULERS["swarm"], seed, 12, Settings(), replay))
        found.append([cases[seed] for seed in range(40)])
    assert found[0] == found[1]


def test_more_cases_reach_more_and_what_is_missing_is_named(library: Library) -> None:
    replay = CoveredReplay(library("rst"), 3)
    coverage = ProtocolCoverage(replay.features)
    for seed in range(60):
        coverage.add(replay.reached(run_scheduled(RST, SCHEDULERS["uniform"], seed, 12, Settings(), replay)))
    assert coverage.cases == 60 and coverage.curve[0][0] == 1
    assert [point[1] for point in coverage.curve] == sorted(point[1] for point in coverage.curve)
    assert len(coverage.local) > len(coverage.abstract) > 20
    said = coverage.to_json()
    assert said["handlers"] == {"reached": 2, "there": 2}
    assert len(said["missing"]) == len(coverage.missing)
    fresh = ProtocolCoverage(replay.features)
    assert len(fresh.missing) == len(replay.features.names)


def test_conditions_about_roles_are_reached(library: Library) -> None:
    """What is reached has the same name as what there is, with the value of the role in the place of its name."""
    protocol = library("two_phase_commit")
    replay = CoveredReplay(protocol, 3)
    coverage = ProtocolCoverage(replay.features)
    for seed in range(300):
        outcome = run_scheduled(
            ProtocolSystem(protocol), SCHEDULERS["uniform"], seed, 30, settings_for(protocol), replay
        )
        coverage.add(replay.reached(outcome))
    about_the_role = [name for kind, name in replay.features.names if kind == "branch" and "self = " in name]
    assert len(about_the_role) == 4, about_the_role
    assert not set(about_the_role).intersection(name for _, name in coverage.missing)


def test_abstract_states_are_few(library: Library) -> None:
    protocol = library("cykas")
    interpreter = Interpreter(protocol, 3)
    state = interpreter.initial(0)
    assert abstraction(protocol, state) == abstraction(protocol, interpreter.initial(2))
    names = [variable.name for variable in protocol.state]
    mode = names.index("MODE")
    shapes = {abstraction(protocol, (*state[:mode], value, *state[mode + 1 :])) for value in range(6)}
    assert len(shapes) == 3


def test_abstract_states_of_options() -> None:
    text = """
protocol options:
  message MSG(m: message) carries m
  record Pair: a: nat; b: bool
  state:
    number: option of nat
    pair: option of Pair
  on causal_send(m):
    if number is none: number := some(1)
    pair := some(Pair(a: number.value, b: true))
    send MSG(m) to m.dst
  on receive MSG(m) from j: deliver m
"""
    found = load_bytes(Path("options.thence"), text.encode()).specification
    assert found is not None
    (protocol,) = found.protocols
    interpreter = Interpreter(protocol, 2)
    initial = interpreter.initial(0)
    after = interpreter.causal_send(0, initial, Message(0, 0, (1,))).state
    assert abstraction(protocol, initial) == (None, None)
    assert abstraction(protocol, after) == ((1,), ((1, True),))


def shown(schedule: Schedule, make: object = RST, processes: int = 3) -> set[str]:
    return scenarios(run_case(make, schedule, Settings(processes)))  # type: ignore[arg-type]


def test_scenarios() -> None:
    assert shown((Send(0, 1),)) == set()
    overtaken = shown((Send(0, 1), Send(0, 1), Receive(1, (0, 1)), Receive(0, (0, 1))))
    assert overtaken == {"overtaken", "held back", "released"}
    assert shown((React(0, 1), Send(1, 0), Receive(0, (1, 0)))) == {"answered"}
    assert "crossing" in shown((Send(0, 1), Send(1, 0)))
    assert "concurrent" in shown((Send(0, 2), Send(1, 2)))
    triangle = (Send(1, 0), Send(1, 2), Receive(0, (1, 2)), Send(2, 0), Receive(0, (2, 0)), Receive(0, (1, 0)))
    assert {"relayed", "held back", "released"} <= shown(triangle)


WRITTEN = """
protocol votes:
  network reliable, reordering
  constant quorum: nat = 2
  message YES()
  state:
    voters: set of process
    done: bool
  on go(): for p in process: if p != self: send YES() to p
  on receive YES() from j:
    voters.add(j)
    if voters.size >= quorum and not (quorum > 5): done := true
"""


def test_branches_are_told_as_they_are_written() -> None:
    """With the names of constants, whatever their values in a scope, and with `>=`; and they are reached."""
    loaded = load_bytes(Path("votes.thence"), WRITTEN.encode())
    assert loaded.specification is not None, loaded.diagnostics
    (protocol,) = loaded.specification.protocols
    branches = [name for kind, name in Features.of(protocol).names if kind == "branch"]
    assert branches[2:] == [
        f"line 12: voters.size >= quorum and not quorum > 5 is {outcome}" for outcome in ("true", "false")
    ]
