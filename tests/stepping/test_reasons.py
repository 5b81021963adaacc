"""Why a formula is false, or true: the witness, the part that decides, the values; held against the evaluator."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from thence.dsl import ir
from thence.dsl.ir.observability import judged_in_states
from thence.dsl.load import library, load, load_bytes
from thence.dsl.run.identity_reuse import system_of
from thence.stepping.reasons import Reason, reason
from thence.stepping.session import Session

TEXT = """\
protocol counting:
  network reliable, reordering
  message MSG(m: message) carries m
  state:
    got: nat
    seen: set of nat
  on causal_send(m):
    send MSG(m) to m.dst
    got := got + 3
    seen.add(4)
  on receive MSG(m) from j: deliver m
  property causal
{}
"""


def why(formula: str, *, sent: bool = True) -> Reason | None:
    """The reason of the formula's value where p0 has sent (got 3, seen {{4}}) and p1 has not."""
    text = TEXT.format(f"  invariant asked: {formula}")
    found = load_bytes(Path("counting.thence"), text.encode())
    assert found.specification is not None, found.diagnostics
    protocol = found.specification.protocols[0]
    system = system_of(protocol, ir.Workload(2, (1, 0), ((1,), ())))
    state = system.initial()
    if sent:
        state = system.apply(state, next(iter(system.enabled(state)))).state
    return reason(system, state, protocol.invariants[0])


@pytest.mark.parametrize(
    ("formula", "witness", "part", "holds", "values"),
    [
        ("forall p: process. got@p < 2", (("p", "p0"),), "got@p < 2", False, (("got@p", "3"),)),
        ("exists p: process. got@p = 3", (("p", "p0"),), "got@p = 3", True, (("got@p", "3"),)),
        (
            "forall p: process. got@p <= 3 and (got@p = 0 implies got@p > 0)", (("p", "p1"),),
            "got@p = 0 implies 0 < got@p", False, (("got@p", "0"),),
        ),
        (
            "forall p: process. got@p = 0 or got@p > 5", (("p", "p0"),), "got@p = 0 or 5 < got@p", False,
            (("got@p", "3"),),
        ),
        ("not (exists p: process. got@p = 3)", (("p", "p0"),), "got@p = 3", True, (("got@p", "3"),)),
        (
            "forall p, q: process. forall n in seen@p. n <= got@q + 1", (("p", "p0"), ("q", "p1"), ("n", "4")),
            "n <= got@q + 1", False, (("got@q + 1", "1"),),
        ),
        ("exists p: process. got@p = 9", (), "exists p. got@p = 9", False, ()),
    ],
)  # fmt: skip
def test_the_reason_is_the_smallest_part_that_decides(
    formula: str, witness: object, part: str, holds: bool, values: tuple[tuple[str, str], ...]
) -> None:
    found = why(formula)
    assert found is not None
    assert (found.witness, found.part, found.holds) == (witness, part, holds)
    assert {*values} <= {*found.values}


def test_what_depends_on_a_bound_variable_has_no_value_of_its_own() -> None:
    for formula in ("exists p: process. got@p = 9", "forall p: process. forall n in seen@p. n <= got@p + 1"):
        found = why(formula)
        assert found is not None and found.part.startswith(formula[:6])
        assert found.values == ()


def test_a_formula_without_a_value_has_no_reason() -> None:
    assert why("forall p: process. got@p - 1 <= 5") is None


@pytest.mark.parametrize("name", [path.stem for path in library()])
def test_every_invariant_of_the_library_has_a_reason_in_the_states_of_a_run(name: str) -> None:
    found = load(name).specification
    assert found is not None
    for protocol in found.protocols:
        scope = next((one for one in found.scopes if one.protocol == protocol.name), None)
        if scope is None or not protocol.invariants:
            continue
        session = Session(protocol.name, protocol, scope.workload)
        draw = random.Random(2)
        for _ in range(12):
            session.take_random(draw)
        for state in session.states:
            wrong = {finding.property: finding for finding in session.system.broken(state)}
            for formula in judged_in_states(session.system.protocol):
                given = reason(session.system, state, formula)
                if given is None:
                    assert "no value" in wrong[formula.name].detail


@pytest.mark.parametrize(
    "formula",
    [
        "forall MSG(m) in flight. forall MSG(n) in flight ahead. m = n",
        "forall MSG(m) in flight, MSG(n) in flight ahead. m = n",
        "exists MSG(m) in flight. (count MSG(n) in flight ahead. n != m) = 1",
    ],
)
def test_packets_ahead_are_those_of_the_packet_around(formula: str) -> None:
    text = TEXT.format(f"  invariant asked: {formula}").replace("reliable, reordering", "reliable, fifo")
    found = load_bytes(Path("counting.thence"), text.encode())
    assert found.specification is not None, found.diagnostics
    protocol = found.specification.protocols[0]
    system = system_of(protocol, ir.Workload(2, (2, 0), ((1,), ())))
    state = system.initial()
    for _ in range(2):
        state = system.apply(state, next(each for each in system.enabled(state) if each.kind == "send")).state
    told = reason(system, state, protocol.invariants[0])
    assert told is not None
    assert told.holds == formula.startswith("exists")
