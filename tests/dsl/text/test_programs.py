"""Programs of the application, sends that wait, and sends inside deliveries."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from thence.dsl import ir
from thence.dsl.load import load_bytes
from thence.dsl.run.actions import Action
from thence.dsl.run.identity_reuse import system_of
from thence.dsl.run.narrate import execution, record, replay, text
from thence.dsl.text.programs import Program, describe, imbalance, receives
from thence.dsl.write.format import format_source
from thence.proofs.engines import explore
from thence.proofs.explore.exploration import Exploration, Method
from thence.proofs.scopes.reports import explain
from thence.proofs.scopes.scopes import explore_scope
from thence.spec.events import Send

from ..conftest import Specify

BLOCKING = """protocol blocking:
  message MSG(m: message) carries m

  message ACK()

  state:
    waiting: bool
    kept: queue of message

  on causal_send(m) when not waiting:
    send MSG(m) to m.dst
    waiting := true

  on receive MSG(m) from j:
    if waiting: kept.push(m)
    else:
      deliver m
      send ACK() to j

  on receive ACK() from j:
    waiting := false
    while kept is not empty:
      deliver kept.first
      send ACK() to kept.first.src
      kept.pop()

  property causal, deadlock_free

scope s of blocking:
"""


def specification(settings: str) -> ir.Specification:
    loaded = load_bytes(Path("blocking.thence"), (BLOCKING + settings).encode())
    assert loaded.specification is not None, loaded.diagnostics
    return loaded.specification


def explored(settings: str, *properties: str) -> Exploration:
    found = specification(settings)
    return explore(
        found.protocols[0], found.scopes[0].workload, properties or ("deadlock_free", "completes", "delivered")
    )


def test_read_and_printed() -> None:
    settings = "  processes 3\n  program 0: send to 1;receive from 2, 1; receive\n  program 1: send to 0\n"
    workload = specification(settings).scopes[0].workload
    first: Program = (("send", (1,)), ("receive", (2, 1)), ("receive", ()))
    assert workload.programs == (first, (("send", (0,)),), None)
    assert workload.sends == (1, 1, 0) and workload.destinations[:2] == ((1,), (0,))
    printed, _ = format_source(BLOCKING + settings, "blocking.thence")
    assert printed is not None and "  program 0: send to 1; receive from 2, 1; receive\n" in printed
    assert "  on causal_send(m) when not waiting:\n" in printed
    assert describe(first) == "send to 1; receive from 2, 1; receive"


def test_others_send_what_sends_says() -> None:
    workload = specification("  processes 2\n  sends 2 per process\n  program 0: send to 1\n").scopes[0].workload
    assert workload.sends == (1, 2)


def test_whom_a_step_receives_from() -> None:
    program: Program = (("send", (1,)), ("receive", (2,)), ("receive", ()))
    assert not receives(program, 0, 2)
    assert receives(program, 1, 2) and not receives(program, 1, 1)
    assert receives(program, 2, 1)
    assert not receives(program, 3, 1)


def test_programs_that_do_not_balance() -> None:
    assert imbalance(((("send", (1,)),), (("receive", ()),))) is None
    assert imbalance(((("send", (1,)),), ())) == (1, 0, 1)
    assert imbalance(((("send", (1,)),), None)) is None


def test_each_waits_for_the_other_to_accept() -> None:
    found = explored("  processes 2\n  program 0: send to 1; receive\n  program 1: send to 0; receive\n")
    assert found.complete and found.violations.keys() == {"deadlock_free", "delivered"}
    violation = found.violations["deadlock_free"]
    assert violation.finding.detail.endswith("p0 is before `receive` and p1 is before `receive`")
    assert [step.action.kind for step in violation.steps] == ["send", "send", "receive", "receive"]


def test_in_turn_both_programs_complete() -> None:
    found = explored("  processes 2\n  program 0: send to 1; receive\n  program 1: receive; send to 0\n")
    assert found.complete and found.violations.keys() == {"completes"}


def test_a_message_arrives_when_the_program_receives_it() -> None:
    found = specification(
        "  processes 3\n  program 0: receive from 2; receive from 1\n  program 1: send to 0\n  program 2: send to 0\n"
    )
    system = system_of(found.protocols[0], found.scopes[0].workload)
    state = system.initial()
    for process in (1, 2):
        state = system.apply(state, Action("send", process, (0,))).state
    arriving = [system.packet(action.packet).src for action in system.enabled(state) if action.kind == "receive"]
    assert arriving == [2]
    assert not system.is_quiet(state)


def test_what_is_sent_after_the_last_step_is_never_delivered() -> None:
    found = explored(
        "  processes 2\n  program 0: send to 1; send to 1\n  program 1: receive\n", "delivered", "completes"
    )
    assert found.violations.keys() == {"delivered", "completes"}
    assert found.violations["delivered"].finding.message is not None


def test_sends_wait_for_their_guard() -> None:
    found = specification("  processes 2\n  sends 2, 0\n")
    system = system_of(found.protocols[0], found.scopes[0].workload)
    once = system.apply(system.initial(), Action("send", 0, (1,))).state
    assert [action.kind for action in system.enabled(once)] == ["receive"]
    explored_ = explore(found.protocols[0], found.scopes[0].workload, ("deadlock_free", "delivered"))
    assert explored_.complete and not explored_.violations


@pytest.mark.parametrize(("file", "completes"), [("mf", False), ("rst", True)])
def test_nested_crowns_are_beyond_the_buffer_protocol_and_not_beyond_the_matrices(
    library: Specify, file: str, completes: bool
) -> None:
    """Mattern and Fünfrocken, section 4.2, Figure 8."""
    found = library(file)
    scope = next(known for known in found.scopes if known.name == "figure_8")
    result = {
        one.facts["property"]: one
        for one in explore_scope(found.protocols[0], scope.name, scope.workload, scope.expects)
    }
    assert result["completes"].verdict.value == ("holds" if completes else "refuted")
    assert result["causal"].verdict.value == ("holds" if completes else "unknown"), "the one delivers nothing"
    assert all(one.expected for one in result.values())


# --- sends inside deliveries ---------------------------------------------------------------------

RST = ir.Workload(3, (2, 1, 0), ((1, 2), (0, 2), (0, 1)), sending=ir.Finite(reactive=True))


def test_an_answer_inside_the_delivery_overtakes_the_matrix(library: Specify) -> None:
    protocol = library("rst").protocols[0]
    assert not explore(protocol, ir.Workload(3, (2, 1, 0), RST.destinations), ("causal",)).violations
    violation = explore(protocol, RST, ("causal",)).violations["causal"]
    told, _ = explain(violation)
    assert "inside the delivery: causal_send(m1.1)" in told
    recorded = record(violation.system, violation.steps)
    again = replay(system_of(protocol, RST), recorded)
    assert text(again) == text(violation.steps)
    sends = [event for event in execution(violation.system, violation.steps).events if isinstance(event, Send)]
    assert [event.message for event in sends] == ["m0.1", "m0.2", "m1.1"]


def test_the_buffer_protocol_may_be_called_inside_a_delivery(library: Specify) -> None:
    found = explore(library("mf").protocols[0], RST, ("causal", "delivered", "fault"))
    assert found.complete and not found.violations


def test_a_handler_is_entered_again_at_its_delivery(specify: Specify) -> None:
    protocol = specify("""
        protocol nested:
          message MSG(m: message, seen: nat) carries m
          state:
            made: nat
          on causal_send(m):
            made := made + 1
            send MSG(m, made) to m.dst
          on receive MSG(m, seen) from j:
            made := made + 10
            deliver m
            made := made + 100
    """).protocols[0]
    system = system_of(protocol, ir.Workload(2, (1, 1), ((1,), (0,)), sending=ir.Finite(reactive=True)))
    state = system.apply(system.initial(), Action("send", 0, (1,))).state
    reacting = [action for action in system.enabled(state) if action.reactions]
    assert [action.reactions for action in reacting] == [((0, (0,)),)]
    outcome = system.apply(state, reacting[0])
    assert system.local(outcome.state.locals[1]) == (111,)
    assert system.packet(outcome.state.network[0]).arguments[1] == 11
    assert outcome.state.sends == (1, 1)
    assert {entry.message.name: entry.past for entry in outcome.state.history.pending} == {"m1.1": 0}


def test_a_send_that_has_to_wait_is_not_made_inside_a_delivery(specify: Specify) -> None:
    text_ = """
        protocol shut:
          message MSG(m: message) carries m
          state:
            busy: bool
          on causal_send(m) when not busy: send MSG(m) to m.dst
          on receive MSG(m) from j:
            busy := {during}
            deliver m
            busy := false
    """
    for during, count in (("true", 0), ("false", 1)):
        protocol = specify(text_.format(during=during)).protocols[0]
        system = system_of(protocol, ir.Workload(2, (1, 1), ((1,), (0,)), sending=ir.Finite(reactive=True)))
        state = system.apply(system.initial(), Action("send", 0, (1,))).state
        assert sum(bool(action.reactions) for action in system.enabled(state)) == count


def test_native_code_finds_the_states_of_the_interpreter(library: Specify) -> None:
    text = BLOCKING.replace("  property causal", "  periodically: pass\n\n  property causal")
    with_timer = load_bytes(
        Path("timer.thence"), f"{text}  processes 2\n  program 0: send to 1\n".encode()
    ).specification
    assert with_timer is not None
    for protocol, workload in (
        (library("mf").protocols[0], RST),
        (with_timer.protocols[0], with_timer.scopes[0].workload),
    ):
        interpreted, native = (
            explore(protocol, workload, ("causal",), method=Method(one)) for one in ("interpreted", "native")
        )
        assert native.complete and interpreted.states == native.states > 1


def test_channels_that_keep_their_order_in_one_scope() -> None:
    plain, ordered = (specification(f"  processes 2\n  sends 3, 0\n{line}") for line in ("", "  fifo\n"))
    assert not plain.scopes[0].workload.fifo and ordered.scopes[0].workload.fifo
    system = system_of(ordered.protocols[0], ordered.scopes[0].workload)
    assert not system.protocol.network.reordering
    printed, _ = format_source(BLOCKING + "  processes 2\n  fifo\n", "blocking.thence")
    assert printed is not None and printed.endswith("  processes 2\n  fifo\n")


def test_fifo_channels_are_those_of_a_fifo_network(library: Specify) -> None:
    protocol = library("mf").protocols[0]
    everyone = ((1, 2), (0, 2), (0, 1))
    kept = ir.Workload(3, (2, 1, 1), everyone, fifo=True)
    by_interpreter, natively = (
        explore(protocol, kept, ("causal",), method=Method(one)) for one in ("interpreted", "native")
    )
    ordered = replace(protocol, network=replace(protocol.network, reordering=False))
    expected = explore(ordered, replace(kept, fifo=False), ("causal",))
    assert by_interpreter.states == natively.states == expected.states
    assert expected.states != explore(protocol, replace(kept, fifo=False), ("causal",)).states
