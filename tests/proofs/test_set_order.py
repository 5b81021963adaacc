"""Whether steps depend on the order in which sets are visited: found by visiting them in every order."""

from __future__ import annotations

from itertools import permutations
from math import factorial
from pathlib import Path
from random import Random

import pytest

from thence.dsl import ir
from thence.dsl.ir.visiting import in_any_order, ordered_loops
from thence.dsl.load import load, load_bytes
from thence.dsl.run.choices import Choices, every_script
from thence.dsl.run.interpreter import Interpreter, LocalState
from thence.dsl.run.values import Occurrence
from thence.proofs.engines import explore
from thence.proofs.explore.exploration import Engine
from thence.proofs.scopes.scopes import Options, explore_scope

CASE = Path(__file__).parent / "scopes" / "cases" / "set_order.thence"

KEEPS = """
protocol keeps:
  network reliable, {network}
  message MSG(m: message) carries m
  message NOTE(k: nat)
  state:
    kept: {kind}
    log: queue of message
    n: nat
    latest: option of message
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j: {keep}
  on receive NOTE(k) from j: pass
  periodically:
    for m in kept:
      {body}
    kept.clear()
  property fifo
scope s of keeps:
  processes 2
  sends 3, 0
"""
SET = ("set of message", "kept.add(m)")
MAP = ("map message to nat", "kept[m] := 1")
INDEPENDENT = ("n := n + 1", "pass", "send NOTE(1) to m.src", "if m = m: n := 2")
DEPENDENT = ("deliver m", "log.push(m)", "latest := some(m)", "if latest is none: latest := some(m)")


def keeps(body: str, kind: tuple[str, str] = SET, network: str = "reordering") -> ir.Specification:
    text = KEEPS.format(body=body, kind=kind[0], keep=kind[1], network=network)
    loaded = load_bytes(Path("keeps.thence"), text.encode())
    assert loaded.specification is not None, [diagnostic.message for diagnostic in loaded.diagnostics]
    return loaded.specification


def handler_that_depends(specification: ir.Specification) -> str | None:
    return explore(specification.protocols[0], specification.scopes[0].workload, ("fifo",)).order_matters


@pytest.mark.parametrize("kind", [SET, MAP], ids=["set", "map"])
@pytest.mark.parametrize("body", INDEPENDENT)
def test_what_does_not_depend_on_the_order(body: str, kind: tuple[str, str]) -> None:
    assert handler_that_depends(keeps(body, kind)) is None


@pytest.mark.parametrize("kind", [SET, MAP], ids=["set", "map"])
@pytest.mark.parametrize("body", DEPENDENT)
def test_what_depends_on_the_order(body: str, kind: tuple[str, str]) -> None:
    assert handler_that_depends(keeps(body, kind)) == "periodically"


def test_packets_leave_in_an_order_only_on_fifo_channels() -> None:
    body = "\n      n := n + 1\n      send NOTE(n) to m.src".strip()
    assert handler_that_depends(keeps(body)) is None
    last = "log.push(m)\n      if log.size = 1: send NOTE(1) to m.src"
    assert handler_that_depends(keeps(last + "\n      log.clear()")) is None
    distinct = "send MSG(m) to m.src"
    assert handler_that_depends(keeps(distinct)) is None
    assert handler_that_depends(keeps(distinct, network="fifo")) == "periodically"


@pytest.mark.parametrize("engine", ["interpreted", "native"])
def test_a_verdict_that_depends_on_the_order_says_so(engine: Engine) -> None:
    specification = load(str(CASE)).specification
    assert specification is not None
    (protocol,), scope = specification.protocols, specification.scopes[1]
    results = explore_scope(protocol, scope.name, scope.workload, options=Options(engine=engine))
    orders = {result.facts["property"]: result.facts["set_order"] for result in results}
    refuted, same = ({"handler": "periodically", "any_order": verdict} for verdict in ("refuted", "holds"))
    assert orders == {"fifo": refuted, "causal": refuted, "delivered": same, "fault": same}


MIDDLE = """
protocol middle:
  network reliable, reordering
  message MSG(m: message) carries m
  message NOTE(k: nat)
  state:
    kept: set of nat
    last: nat
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j:
    kept.add(4)
    kept.add(5)
    kept.add(6)
  {head}:
    var at = 0
    for k in kept:
      at := at + 1
      {body}
  invariant few: forall p: process. last@p < 6
  reachable seen: exists p: process. last@p = 6
scope s of middle:
  processes 2
  sends 1, 0
{uses}
"""


@pytest.mark.parametrize(
    ("head", "uses", "handler"),
    [
        ("periodically", "", "periodically"),
        ("periodically again", "  ticks again 1", "periodically again"),
        ("on look()", "  look 1, 0", "input look"),
        ("on look()", "  look 0, 1", "input look"),
    ],
)
def test_an_order_that_is_neither_ascending_nor_descending(head: str, uses: str, handler: str) -> None:
    """Of three elements, what comes second: in ascending and in descending order it is the same."""

    def found(body: str) -> dict[str, object]:
        loaded = load_bytes(Path("middle.thence"), MIDDLE.format(head=head, uses=uses, body=body).encode())
        assert loaded.specification is not None, [diagnostic.message for diagnostic in loaded.diagnostics]
        (protocol,), (scope,) = loaded.specification.protocols, loaded.specification.scopes
        results = explore_scope(protocol, scope.name, scope.workload)
        return {result.facts["property"]: (result.verdict.value, result.facts.get("set_order")) for result in results}

    def marked(verdict: str) -> dict[str, str]:
        return {"handler": handler, "any_order": verdict}

    dependent = found("if at = 2: last := k")
    if uses == "  look 1, 0":  # nothing arrives there
        assert dependent["few"] == ("holds", None)
        return
    assert dependent["few"] == ("holds", marked("refuted"))
    assert dependent["seen"] == ("refuted", marked("holds"))
    independent = found("if at = 2: last := 3")
    assert independent["few"] == ("holds", None)
    assert independent["seen"] == ("refuted", None)


@pytest.mark.parametrize("loop", ["for m in kept", "for ref n in counts"])
def test_any_order_is_every_permutation(loop: str) -> None:
    """By random sets: the logs that a step can leave are those of all permutations."""
    variable = "n" if "ref" in loop else "m"
    text = f"""
protocol logs:
  message MSG(m: message) carries m
  state:
    kept: set of nat
    counts: map nat to nat
    log: queue of nat
  on causal_send(m): send MSG(m) to m.dst
  on fill(k: nat):
    kept.add(k)
    counts[k] := k + 1
  periodically:
    {loop}: log.push({variable})
"""
    loaded = load_bytes(Path("logs.thence"), text.encode())
    assert loaded.specification is not None, [diagnostic.message for diagnostic in loaded.diagnostics]
    (protocol,) = loaded.specification.protocols
    assert ordered_loops(protocol) == {("periodically", None)} and not protocol.chooses
    opened = in_any_order(protocol)
    assert opened.chooses and in_any_order(opened) == opened
    interpreter = Interpreter(opened, 2)
    draw = Random(0)
    for _ in range(20):
        elements = draw.sample(range(9), draw.randint(0, 5))
        state = interpreter.initial(0)
        for element in elements:
            state = interpreter.step(0, state, Occurrence("fill", (element,))).state
        logs = []

        def run(choices: Choices, state: LocalState = state, logs: list[object] = logs) -> None:
            logs.append(interpreter.step(0, state, Occurrence("periodically"), choices=choices).state[2])

        assert len(list(every_script(run))) == factorial(len(elements))
        shift = 1 if "ref" in loop else 0
        assert set(logs) == set(permutations([element + shift for element in elements]))
        assert logs[0] == tuple(sorted(element + shift for element in elements))


def test_the_library_depends_on_no_order_but_where_messages_are_handed_over() -> None:
    """CBCAST scans a set of messages that can be delivered: in which order, no property says."""
    for name, handlers in (("ks", set()), ("cbcast", {"receive MSG"}), ("newtop", set())):
        specification = load(name).specification
        assert specification is not None
        scope = next(scope for scope in specification.scopes if scope.workload.ends)
        protocol = next(each for each in specification.protocols if each.name == scope.protocol)
        results = explore_scope(protocol, scope.name, scope.workload)
        orders = [result.facts["set_order"] for result in results if "set_order" in result.facts]
        assert {order["handler"] for order in orders} <= handlers
        assert all(order["any_order"] == "holds" for order in orders)
