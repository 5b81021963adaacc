"""Random protocols: the interpreter says of promises and of states at rest what the definition says."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.proofs.fairness.by_definition import Definition, Says, TooLarge, assert_every_packet_arrives
from tests.proofs.fairness.random_protocols import on_overlay, random_text, random_workload, with_input

from thence.dsl import ir
from thence.dsl.load import load_bytes
from thence.dsl.run.interpreter import LocalState
from thence.dsl.run.system import System
from thence.proofs.engines import explore
from thence.proofs.explore.exploration import Exploration, Method

TWO = range(2)

FLAG, KEPT = 0, 1

PROMISES: dict[str, tuple[str, Says | None, Says, Sequence[object]]] = {
    "all": ("forall p: process. flag@p", None, lambda at, _: all(each[FLAG] for each in at), (None,)),
    "some": ("exists p: process. flag@p", None, lambda at, _: any(each[FLAG] for each in at), (None,)),
    "down": (
        "forall p: process. flag@p leads to not flag@p",
        lambda at, p: bool(at[p][FLAG]), lambda at, p: not at[p][FLAG], TWO,
    ),
    "drained": (
        "forall p: process. kept@p is not empty leads to kept@p is empty",
        lambda at, p: bool(at[p][KEPT]), lambda at, p: not at[p][KEPT], TWO,
    ),
    "both": (
        "(exists p: process. flag@p) leads to forall p: process. flag@p or kept@p is not empty",
        lambda at, _: any(each[FLAG] for each in at), lambda at, _: all(each[FLAG] or each[KEPT] for each in at),
        (None,),
    ),
    "either": (
        "forall p, q: process. flag@p and kept@q is not empty leads to not flag@q or kept@p is empty",
        lambda at, pair: at[pair[0]][FLAG] and bool(at[pair[1]][KEPT]),
        lambda at, pair: not at[pair[1]][FLAG] or not at[pair[0]][KEPT], [(p, q) for p in TWO for q in TWO],
    ),
}  # fmt: skip
"""Text, and the same in Python: what is given, what is to come, and the values of the variables."""

REST: dict[str, tuple[str, Callable[[Sequence[LocalState]], bool]]] = {
    "cleared": ("forall p: process. kept@p is empty", lambda at: not any(each[KEPT] for each in at)),
    "equal": ("forall p, q: process. flag@p = flag@q", lambda at: at[0][FLAG] == at[1][FLAG]),
}


def drawn(seed: int) -> tuple[ir.Protocol, ir.Workload]:
    draw = random.Random(seed)
    text, workload = random_text(draw), random_workload(draw)
    if seed % 2:
        text = with_input(text, draw)
        limits = draw.choice(((1, 0), (1, 1), (2, 1)))
        workload = replace(workload, sends=(1, 0), inputs=(ir.InputUse("poke", limits, ()),))
    text, workload = on_overlay(text, workload, seed)
    text += "".join(f"  eventually {name}: {formula}\n" for name, (formula, *_) in PROMISES.items())
    text += "".join(f"  at rest {name}: {formula}\n" for name, (formula, _) in REST.items())
    loaded = load_bytes(Path("random.thence"), text.encode())
    assert loaded.specification is not None, (text, [each.message for each in loaded.diagnostics])
    return loaded.specification.protocols[0], workload


def said(found: Exploration, name: str) -> str:
    assert found.complete
    if name in found.violations:
        return "refuted"
    nothing = (name in REST and "rests" in found.never) or f"gives {name}" in found.never
    return "unknown" if name in found.undecided or nothing else "holds"


def compare(seed: int, tally: Counter[str]) -> None:
    protocol, workload = drawn(seed)
    try:
        definition = Definition(System(protocol, workload), most=250)
    except TooLarge:
        return
    found = explore(protocol, workload, ["delivered", *PROMISES, *REST], method=Method("interpreted"))
    expected = {"delivered": definition.verdict()}
    expected |= {name: definition.of_promise(*rest) for name, (_, *rest) in PROMISES.items()}
    expected |= {name: definition.at_rest(holds) for name, (_, holds) in REST.items()}
    assert {name: said(found, name) for name in expected} == expected, seed
    for name, violation in found.violations.items():
        if violation.cycle:
            assert_every_packet_arrives(violation.system, violation.steps, violation.cycle, turns=20)
            tally["cycles"] += 1
        tally["inputs"] += any(step.action.kind == "input" for step in violation.steps)
        assert name in expected
    tally.update(f"{name if name in REST else 'promises'} {verdict}" for name, verdict in expected.items())


def test_the_interpreter_finds_what_the_definition_says() -> None:
    tally = Counter[str]()
    for seed in range(100):
        compare(seed, tally)
    assert min(tally[f"promises {verdict}"] for verdict in ("holds", "refuted", "unknown")) >= 5, tally
    assert min(tally[name] for name in ("cleared holds", "cleared refuted", "cycles", "inputs")) >= 5, tally


@pytest.mark.long(share=0)
def test_the_interpreter_finds_it_of_many() -> None:
    tally = Counter[str]()
    for seed in range(100, 600):
        compare(seed, tally)
    assert min(tally.values()) >= 20, tally
