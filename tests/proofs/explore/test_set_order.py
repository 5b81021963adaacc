"""Whether steps depend on the order in which sets are visited: found by visiting them the other way round."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from thence.dsl import ir
from thence.dsl.ir.visiting import in_descending_order, ordered_loops
from thence.dsl.load import load, load_bytes
from thence.proofs.engines import explore
from thence.proofs.explore.exploration import Engine
from thence.proofs.scopes.scopes import Options, explore_scope

CASE = Path(__file__).parents[1] / "scopes" / "cases" / "set_order.thence"

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
    refuted, same = ({"handler": "periodically", "descending": verdict} for verdict in ("refuted", "holds"))
    assert orders == {"fifo": refuted, "causal": refuted, "delivered": same, "fault": same}


def test_the_opposite_of_the_opposite_is_the_protocol() -> None:
    """The opposite order is what the interpreter does with the changed protocol: by random loops, seen in the state."""
    draw = Random(0)
    for _ in range(20):
        protocol = keeps(draw.choice((*INDEPENDENT, *DEPENDENT))).protocols[0]
        assert in_descending_order(in_descending_order(protocol)) == protocol
        assert ordered_loops(protocol) == {("periodically", None)}


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
        assert all(order["descending"] == "holds" for order in orders)
