"""Random protocols: every engine says of `delivered` what the definition says, and shows fair runs only."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest
from tests.proofs.fairness.by_definition import Definition, TooLarge, assert_every_packet_arrives
from tests.proofs.fairness.random_protocols import random_protocol, random_system

from thence.dsl import ir
from thence.dsl.run.identity_reuse import ReusedIdentities
from thence.dsl.run.system import System
from thence.proofs.engines import explore
from thence.proofs.explore.exploration import Engine, Exploration, Method
from thence.proofs.liveness.lasso import find_lasso


def said(found: Exploration) -> str:
    assert found.complete
    return "refuted" if found.violations else "unknown" if found.undecided else "holds"


def compare(seed: int, tally: Counter[str], ways: tuple[tuple[Engine, tuple[str, ...]], ...]) -> None:
    protocol, workload = random_system(seed)
    try:
        expected = Definition(System(protocol, workload), most=300).verdict()
    except TooLarge:
        return
    for engine, reductions in ways:
        found = explore(protocol, workload, ["delivered"], method=Method(engine, reductions=reductions))
        assert said(found) == expected, (seed, engine, reductions)
        for violation in found.violations.values():
            if violation.cycle:
                assert_every_packet_arrives(violation.system, violation.steps, violation.cycle, turns=20)
                tally["cycles"] += 1
    timers = "with timers" if any(handler.event == "periodically" for handler in protocol.handlers) else "without"
    tally[expected] += 1
    if protocol.network.overlay:
        tally["on overlays"] += 1
    tally[f"{expected} {timers}"] += 1


def compare_for_ever(seed: int, tally: Counter[str]) -> None:
    """The search for a lasso where messages are sent for ever, and where identities are reused and none is endless."""
    protocol, workload = random_system(seed)
    for endless in ((0, 0), (workload.sends[0], 0), (0, workload.sends[1])):
        scope = replace(workload, ticks=None, sending=ir.ForEver(endless))
        try:
            expected = Definition(ReusedIdentities(protocol, scope), most=300).verdict()
        except TooLarge:
            continue
        found = find_lasso(protocol, scope, limit=3_000)
        said = "refuted" if found.lasso is not None else "holds" if found.complete else "unknown"
        assert said in (expected, "unknown"), (seed, endless)
        tally[f"{said}, by definition {expected}"] += 1
        if found.lasso is not None and found.lasso.cycle and found.lines is None:
            steps = (*found.lasso.stem, *found.lasso.cycle)
            again = ReusedIdentities(protocol, scope)
            again.adopt_packets(found.lasso.system)
            assert_every_packet_arrives(again, steps, len(found.lasso.cycle), turns=20)


def random_program(draw: random.Random, process: int) -> tuple[ir.ProgramStep, ...] | None:
    if draw.random() < 0.2:
        return None
    steps = [draw.choice((("send", (1 - process,)), ("receive", ()))) for _ in range(draw.randint(0, 3))]
    return tuple(steps)  # type: ignore[arg-type]


@pytest.mark.parametrize("first", [0, pytest.param(400, marks=pytest.mark.long)])
def test_programs_that_keep_timers_from_firing(first: int) -> None:
    tally = Counter[str]()
    for seed in range(first, first + 400):
        draw = random.Random(seed)
        protocol = random_protocol(draw)
        programs = tuple(random_program(draw, process) for process in range(2))
        sends = tuple(sum(step[0] == "send" for step in program or ()) for program in programs)
        scope = ir.Workload(2, sends, ((1,), (0,)), sending=ir.Finite(programs=programs))
        if not any(programs) or sum(sends) == 0:
            continue
        try:
            expected = Definition(System(protocol, scope), most=300).verdict()
        except TooLarge:
            continue
        found = said(explore(protocol, scope, ["delivered"], method=Method("interpreted")))
        assert found == expected or found == "unknown", seed
        tally[f"{found}, by definition {expected}"] += 1
        tally["stuck with timers"] += found == "refuted" and bool(protocol.timers)
    assert tally["stuck with timers"] >= 10, tally
    assert tally["holds, by definition holds"] >= 10, tally
    assert tally["unknown, by definition refuted"] <= tally["refuted, by definition refuted"], tally


INTERPRETED: tuple[tuple[Engine, tuple[str, ...]], ...] = (("interpreted", ()),)
NATIVE: tuple[tuple[Engine, tuple[str, ...]], ...] = (
    ("native", ()), ("native", ("symmetry",)), ("both", ()),
)  # fmt: skip


def test_the_interpreter_finds_what_the_definition_says() -> None:
    tally = Counter[str]()
    for seed in range(250):
        compare(seed, tally, INTERPRETED)
    assert min(tally[name] for name in ("holds with timers", "holds without")) >= 5, tally
    assert min(tally[name] for name in ("refuted with timers", "refuted without", "cycles")) >= 20, tally
    assert tally["unknown"] >= 3, tally


def test_lassos_of_endless_sends_are_what_the_definition_says() -> None:
    tally = Counter[str]()
    for seed in range(60):
        compare_for_ever(seed, tally)
    assert tally["holds, by definition holds"] >= 5 and tally["refuted, by definition refuted"] >= 20, tally


def test_native_code_finds_what_the_definition_says() -> None:
    tally = Counter[str]()
    for seed in range(8):
        compare(seed, tally, NATIVE)
    assert tally["refuted"] and tally["holds"], tally


@pytest.mark.long
def test_both_engines_find_what_the_definition_says() -> None:
    tally = Counter[str]()
    for seed in range(250, 1_200):
        compare(seed, tally, INTERPRETED)
    for seed in range(8, 40):
        compare(seed, tally, NATIVE)
    for seed in range(60, 300):
        compare_for_ever(seed, Counter[str]())
    assert min(tally.values()) >= 20, tally
