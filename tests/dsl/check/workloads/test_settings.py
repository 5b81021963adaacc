"""A workload as lines of a scope: reading the lines gives it back, settings can be given anew, faults are told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from thence.dsl import ir
from thence.dsl.check.elaborate import elaborate
from thence.dsl.check.workloads.kind import ProtocolKind, kind_of
from thence.dsl.check.workloads.settings import Unsettled, adapt, lines_of, workload_of
from thence.dsl.text.parse import parse

from ...conftest import Specify

EVERYONE = ((1, 2), (0, 2), (0, 1))
PLAIN = ir.Workload(3, (1, 1, 1), EVERYONE)


@pytest.mark.parametrize(
    "file", ["cykas", "mf", "rst", "cbcast", "newtop", "hybrid_basic", "hybrid_multicast", "tree", "synchronous"]
)
def test_every_scope_of_the_library_is_made_by_its_settings(library: Specify, file: str) -> None:
    found = library(file)
    kinds = {protocol.name: kind_of(protocol) for protocol in found.protocols}
    assert found.scopes
    for scope in found.scopes:
        kind = kinds[scope.protocol]
        assert workload_of(lines_of(scope.workload, kind), kind) == scope.workload, scope.name


def test_lines_of_a_scope() -> None:
    tree = ir.Workload(4, (0, 2, 1, 1), ((1, 2, 3), (0, 2, 3), (0, 1, 3), (0, 1, 2)), tree=((0, 1), (0, 2), (0, 3)))
    assert lines_of(tree, ProtocolKind(tree=True)) == ("processes 4", "sends 0, 2, 1, 1", "tree 0 to 1, 2, 3")
    links = replace(tree, tree=(), links=((0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (3, 1)))
    assert lines_of(links, ProtocolKind(overlay=True))[2:] == ("links 0 with 1, 2; 1 to 2; 3 to 1",)


GIVEN = (("most", "nat", 2), ("boss", "process", 0), ("eager", "bool", False))


@st.composite
def scopes(draw: Any) -> tuple[list[str], ProtocolKind]:
    """Lines of a scope, and the kind of the protocol; not all of them go together."""
    timers = draw(st.sampled_from(((), ("periodically",), ("slow", "fast"))))
    kind = ProtocolKind(draw(st.sampled_from(("unicast", "multicast", "broadcast"))), draw(st.booleans()), timers)
    kind = replace(kind, overlay=not kind.tree and draw(st.booleans()))
    asked = (("ask", (("k", "nat"), ("q", "process"))), ("stop", ()))
    kind = replace(kind, inputs=draw(st.sampled_from(((), asked))), sends=draw(st.sampled_from((True, True, False))))
    kind = replace(kind, constants=draw(st.sampled_from(((), GIVEN))))
    count = draw(st.integers(1, 4) | st.just(9))
    processes, numbers = st.integers(0, count - 1), st.integers(0, 2)
    lists = st.lists(processes, min_size=1, max_size=3, unique=True).map(lambda found: ", ".join(map(str, found)))
    targets = lists if kind.delivery == "unicast" else lists | st.just("none")
    edges = st.builds("{} to {}".format, processes, targets)
    verbs = [st.just("receive"), st.builds("receive from {}".format, lists), st.builds("send to {}".format, targets)]
    if kind.delivery == "broadcast":
        others = ", ".join(map(str, range(1, count)))
        verbs[2] = st.sampled_from((f"send to {others or 0}", f"send to {', '.join(map(str, range(count)))}"))
    program = st.lists(st.one_of(verbs), min_size=1, max_size=3).map("; ".join)
    lines = [f"processes {count}"]
    each = st.lists(numbers, min_size=count, max_size=count).map(lambda found: f"sends {', '.join(map(str, found))}")
    lines += draw(st.just([]) | st.tuples(each | st.builds("sends {} per process".format, numbers)))
    if kind.constants:
        lines += draw(st.just([]) | st.tuples(st.builds("most = {}".format, numbers), st.just("eager = true")))
        lines += draw(st.just([]) | st.tuples(st.builds("boss = {}".format, processes)))
    for word in ("duplicates", "losses", "ticks"):
        lines += draw(st.just([]) | st.tuples(st.builds(f"{word} {{}}".format, numbers)))
    if kind.inputs:
        each_asks = st.lists(numbers, min_size=count, max_size=count).map(lambda found: ", ".join(map(str, found)))
        lines += draw(st.just([]) | st.tuples(each_asks.map("ask {}".format), lists.map("ask k in {}".format)))
        lines += draw(st.just([]) | st.tuples(numbers.map("stop {} per process".format)))
    lines += draw(st.lists(st.builds("ticks {} {}".format, st.sampled_from(timers or ("none",)), numbers), max_size=1))
    lines += [word for word in ("self sends", "fifo", "reactive sends") if draw(st.booleans())]
    if draw(st.booleans()):
        lines.append(f"destinations {'; '.join(draw(st.lists(edges, min_size=1, max_size=4)))}")
    if kind.tree and count > 1:
        parents = (draw(st.integers(0, child - 1)) for child in range(1, count))
        lines += draw(st.just([]) | st.just([f"tree {'; '.join(f'{p} to {c}' for c, p in enumerate(parents, 1))}"]))
    if kind.overlay and count > 1:
        pairs = st.sampled_from([(a, way, b) for a in range(count) for b in range(count) for way in ("to", "with")])
        chosen = draw(st.lists(pairs, max_size=5))
        lines += [f"links {'; '.join(f'{a} {way} {b}' for a, way, b in chosen)}"] if chosen else []
    match draw(st.sampled_from(("ends", "prompt", "for ever", "any number", "programs"))):
        case "prompt":
            lines.append("prompt sends")
        case "for ever":
            lines.append(draw(st.just("for ever") | st.builds("for ever {}".format, lists)))
            lines += [line for line in ("capacity 2", "prompt sends") if draw(st.booleans())]
        case "any number":
            lines.append("any number of messages")
        case "programs":
            owners = draw(st.lists(processes, min_size=1, unique=True))
            lines += [f"program {process}: {draw(program)}" for process in owners]
    return lines, kind


@settings(suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(scopes())
def test_what_is_written_is_read_again(scope: tuple[list[str], ProtocolKind]) -> None:
    lines, kind = scope
    try:
        workload = workload_of(lines, kind)
    except Unsettled:
        assume(False)
    event(kind.delivery)
    event(lines[-1].split(" ")[0])
    written = lines_of(workload, kind)
    again = workload_of(written, kind)
    if not any(workload.sends):
        again = replace(again, destinations=workload.destinations, groups=workload.groups)
    assert again == workload
    assert lines_of(workload_of(written, kind), kind) == written


@pytest.mark.parametrize("name", ["self", "process", "message", "sends", "processes", "nat"])
def test_an_input_has_no_name_of_a_scope(name: str) -> None:
    invariant = "  invariant low: forall q: process. c@q < 2\n"
    tree, _ = parse(f"protocol p:\n  state: c: nat\n  on {name}(): c := 1\n{invariant}", "t")
    assert tree is not None
    assert "E0212" in [fault.code for fault in elaborate(tree, "t")[1]]


@pytest.mark.parametrize("delivery", ["unicast", "multicast", "broadcast"])
@pytest.mark.parametrize("count", [2, 9])
def test_a_scope_in_which_nobody_sends(delivery: ir.Delivery, count: int) -> None:
    groups: tuple[tuple[tuple[int, ...], ...], ...] = () if delivery == "unicast" else ((),) * count
    nothing, kind = ir.Workload(count, (0,) * count, ((),) * count, groups=groups), ProtocolKind(delivery)
    written = lines_of(nothing, kind)
    assert lines_of(workload_of(written, kind), kind) == written


def test_settings_in_the_place_of_others() -> None:
    assert adapt(PLAIN, ["losses 1", "fifo"], ProtocolKind()) == ir.Workload(
        3, (1, 1, 1), EVERYONE, losses=1, fifo=True
    )
    assert adapt(PLAIN, ["processes 2; sends 2, 0"], ProtocolKind()) == ir.Workload(2, (2, 0), ((1,), (0,)))
    assert adapt(PLAIN, ["destinations 0 to 1; 1 to 0"], ProtocolKind()).destinations == ((1,), (0,), ())
    programmed = adapt(PLAIN, ["program 0: send to 1", "program 1: receive"], ProtocolKind())
    assert programmed.programs == ((("send", (1,)),), (("receive", ()),), None)
    assert adapt(programmed, ["program 1: receive; receive"], ProtocolKind()).programs[1] == (("receive", ()),) * 2


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (["lossy 1"], "did you mean `losses`"),
        (["sends 1, 2"], "2 numbers"),
        (["expect holds causal"], "no setting"),
        (["pass"], "no setting"),
        (["tree 0 to 1; 1 to 2"], "not a `tree`"),
        (["links 0 to 1; 1 to 2"], "not an `overlay`"),
        (["fifo\n  losses 1"], "more than one line"),
        (["destinations 0 to 7"], "no process 7"),
    ],
)
def test_what_makes_no_scope(settings: list[str], said: str) -> None:
    with pytest.raises(Unsettled, match=said):
        adapt(PLAIN, settings, ProtocolKind())
