"""The whole system: what is enabled, networks and their faults, timers, faults of handlers, quiescence."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import pytest

from thence.dsl import ir
from thence.dsl.run.actions import Action, State
from thence.dsl.run.quiescence import stuck
from thence.dsl.run.system import System
from thence.dsl.run.values import Message, Packet

Specify: TypeAlias = Callable[[str], ir.Specification]

TEXT = """
protocol sample:
  network {network}
  message MSG(m: message, number: nat) carries m
  message TICK(n: nat)
  state:
    n: nat
    seen: set of message
  on causal_send(m):
    n := n + 1
    send MSG(m, n) to m.dst
  on receive MSG(m, number) from j:
    if m not in seen:
      seen.add(m)
      deliver m
{timer}
  property causal
  eventually delivered under fair receive
"""


def system(specify: Specify, network: str, workload: ir.Workload, timer: str = "") -> System:
    return System(specify(TEXT.format(network=network, timer=timer)).protocols[0], workload)


def after(system: System, *actions: Action) -> State:
    state = system.initial()
    for action in actions:
        assert action in list(system.enabled(state))
        state = system.apply(state, action).state
    return state


ONE_WAY = ir.Workload(2, (3, 0), ((1,), (0,)))
SEND = Action("send", 0, (1,))


def test_only_sends_at_first(specify: Specify) -> None:
    workload = ir.Workload(3, (1, 2, 0), ((1, 2), (0,), (0, 1)))
    known = system(specify, "reliable, reordering", workload)
    assert list(known.enabled(known.initial())) == [
        Action("send", 0, (1,)),
        Action("send", 0, (2,)),
        Action("send", 1, (0,)),
    ]


def test_sends_run_out(specify: Specify) -> None:
    known = system(specify, "reliable, reordering", ONE_WAY)
    state = after(known, SEND, SEND, SEND)
    assert {action.kind for action in known.enabled(state)} == {"receive"}
    assert [known.packet(number) for number in state.network] == [
        Packet("MSG", 0, 1, (Message(0, number, (1,)), number + 1)) for number in range(3)
    ]


def test_reordering_takes_any_packet_and_fifo_the_oldest_of_each_channel(specify: Specify) -> None:
    workload = ir.Workload(3, (2, 2, 0), ((1, 2), (2,), (0,)))
    sends = [Action("send", 0, (2,)), Action("send", 1, (2,)), Action("send", 0, (1,)), Action("send", 1, (2,))]
    for network, arriving in (("reordering", 4), ("fifo", 3)):
        known = system(specify, f"reliable, {network}", workload)
        state = after(known, *sends)
        packets = [known.packet(action.packet) for action in known.enabled(state) if action.kind == "receive"]
        assert len(packets) == arriving
        if network == "fifo":
            assert [packet.arguments[1] for packet in packets] == [2, 1, 1]


def test_a_duplicate_joins_the_end_of_its_channel(specify: Specify) -> None:
    known = system(specify, "reliable, duplicating, fifo", replace(ONE_WAY, duplicates=1))
    state = after(known, SEND, SEND)
    first, second = state.network
    assert known.apply(state, Action("duplicate", 0, (), first)).state.network == (first, second, first)


def test_fifo_channels_keep_their_order(specify: Specify) -> None:
    """What arrives on a channel is in sending order; what is lost leaves a gap."""
    workload = ir.Workload(3, (3, 3, 3), ((1, 2), (0, 2), (0, 1)), losses=2)
    known = system(specify, "lossy, fifo", workload)
    for seed in range(30):
        draw, state = random.Random(seed), known.initial()
        arrived: dict[tuple[int, int], list[int]] = {}
        while choices := list(known.enabled(state)):
            action = draw.choice(choices)
            if action.kind == "receive":
                packet = known.packet(action.packet)
                arrived.setdefault((packet.src, packet.dst), []).append(packet.arguments[1])
            state = known.apply(state, action).state
        assert all(channel == sorted(set(channel)) for channel in arrived.values())


def test_the_network_is_a_multiset(specify: Specify) -> None:
    known = system(specify, "reliable, duplicating, reordering", replace(ONE_WAY, duplicates=2))
    state = after(known, SEND)
    (number,) = state.network
    twice = known.apply(state, Action("duplicate", 0, (), number)).state
    assert twice.network == (number, number)
    assert [action.kind for action in known.internal(twice)] == ["receive", "duplicate"]
    received = known.apply(twice, Action("receive", 1, (), number)).state
    assert received.network == (number,)
    again = known.apply(received, Action("receive", 1, (), number))
    assert (again.state.network, again.emissions, again.findings) == ((), (), ())


def test_a_lost_message_is_stuck(specify: Specify) -> None:
    known = system(specify, "lossy, reordering", replace(ONE_WAY, losses=1))
    state = after(known, SEND)
    (number,) = state.network
    assert stuck(known, state) is None
    lost = known.apply(state, Action("lose", 0, (), number)).state
    finding = stuck(known, lost)
    assert finding is not None
    assert (finding.property, finding.process, finding.message) == ("delivered", 1, Message(0, 0, (1,)))
    # The scope allows one loss; the next packet cannot be lost.
    assert [action.kind for action in known.internal(after(known, SEND, Action("lose", 0, (), number), SEND))] == [
        "receive"
    ]


def test_order_of_independent_steps_does_not_matter(specify: Specify) -> None:
    workload = ir.Workload(3, (1, 1, 0), ((2,), (2,), (0,)))
    known = system(specify, "reliable, reordering", workload)
    first, second = Action("send", 0, (2,)), Action("send", 1, (2,))
    assert after(known, first, second) == after(known, second, first)


TIMER = """\
  on receive TICK(k) from j:
    pass
  periodically:
    n := n + 1
    send TICK(n) to self
"""


def test_timers_fire_when_nothing_is_in_flight(specify: Specify) -> None:
    known = system(specify, "reliable, reordering", ONE_WAY, TIMER)
    assert [action for action in known.enabled(known.initial()) if action.kind == "tick"] == [
        Action("tick", 0),
        Action("tick", 1),
    ]
    assert not [action for action in known.enabled(after(known, SEND)) if action.kind == "tick"]


def test_so_many_ticks_at_any_moment(specify: Specify) -> None:
    known = system(specify, "reliable, reordering", replace(ONE_WAY, ticks=1), TIMER)
    state = after(known, SEND, Action("tick", 0))
    assert [action for action in known.enabled(state) if action.kind == "tick"] == [Action("tick", 1)]
    assert (state.ticks, len(state.network)) == ((1, 0), 2)


TWO_TIMERS = """\
  on receive TICK(k) from j:
    pass
  periodically up:
    n := n + 1
  periodically tell:
    send TICK(n) to self
"""


def test_each_timer_has_ticks_of_its_own(specify: Specify) -> None:
    known = system(specify, "reliable, reordering", replace(ONE_WAY, timers=(("tell", 1),)), TWO_TIMERS)
    up, tell = (tuple(Action("tick", process, name=timer) for process in (0, 1)) for timer in ("up", "tell"))
    assert known.counted == ("tell",)
    assert {*known.enabled(known.initial())} >= {*up, *tell}
    state = after(known, SEND, tell[1])
    assert (state.ticks, len(state.network)) == ((0, 1), 2)
    assert [action for action in known.enabled(state) if action.kind == "tick"] == [tell[0]]
    assert [known.local(number)[0] for number in after(known, up[0], up[0], up[1]).locals] == [2, 1]


RESEND = """\
  periodically:
    if {condition}:
      for x in kept: send MSG(x, n) to x.dst
"""


@pytest.mark.parametrize(("condition", "is_stuck"), [("true", False), ("n > 1", True)])
def test_timers_are_given_every_chance(specify: Specify, condition: str, is_stuck: bool) -> None:
    text = TEXT.format(network="lossy, reordering", timer=RESEND.format(condition=condition))
    text = text.replace("    n: nat\n", "    n: nat\n    kept: set of message\n")
    text = text.replace("    n := n + 1\n", "    n := n + 1\n    kept.add(m)\n")
    known = System(specify(text).protocols[0], replace(ONE_WAY, losses=1))
    state = after(known, SEND)
    lost = known.apply(state, Action("lose", 0, (), state.network[0])).state
    assert (stuck(known, lost) is not None) == is_stuck


def test_a_fault_changes_nothing(specify: Specify) -> None:
    known = System(
        specify(TEXT.format(network="reliable, reordering", timer="").replace("n + 1", "n + 1 - 3")).protocols[0],
        ONE_WAY,
    )
    outcome = known.apply(known.initial(), SEND)
    assert outcome.state == known.initial()
    assert outcome.emissions == ()
    assert [(finding.property, finding.detail) for finding in outcome.findings] == [("fault", "a nat goes below zero")]


def test_packet_numbers_can_be_adopted(specify: Specify) -> None:
    workload = ir.Workload(3, (2, 2, 0), ((1, 2), (2,), (0,)))
    known = system(specify, "reliable, reordering", workload)
    after(known, Action("send", 1, (2,)), Action("send", 0, (2,)))
    again = System(known.protocol, workload)
    again.adopt_packets(known)
    state = after(again, Action("send", 0, (2,)))
    assert known.packet(state.network[0]) == again.packet(state.network[0])


ASKED = """
protocol asked:
  message ASK(k: nat)
  state:
    busy: bool
    total: nat
  on ask(k: nat, q: process) when not busy:
    busy := true
    send ASK(k) to q
  on stop(): busy := false
  on receive ASK(k) from j: total := total + k
  property deadlock_free
scope two of asked:
  processes 2
  ask 2, 0
  ask k in 1, 3
  stop 1 per process
"""


def test_inputs_come_as_often_as_the_scope_says_and_when_the_protocol_takes_them(specify: Specify) -> None:
    specification = specify(ASKED)
    known = System(specification.protocols[0], specification.scopes[0].workload)

    def ask(k: int, q: int) -> Action:
        return Action("input", 0, name="ask", arguments=(k, q))

    def inputs(*actions: Action) -> list[Action]:
        return [action for action in known.enabled(after(known, *actions)) if action.kind == "input"]

    stops = [Action("input", process, name="stop") for process in (0, 1)]
    assert inputs() == [ask(1, 0), ask(1, 1), ask(3, 0), ask(3, 1), *stops]
    assert inputs(ask(3, 1)) == stops
    assert inputs(ask(3, 1), stops[0]) == [ask(1, 0), ask(1, 1), ask(3, 0), ask(3, 1), stops[1]]
    assert inputs(ask(3, 1), stops[0], ask(1, 0), stops[1]) == []
    state = after(known, ask(3, 1), stops[0])
    received = known.apply(state, Action("receive", 1, (), state.network[0])).state
    assert known.local(received.locals[1]) == (False, 3)
    assert list(known.application_sends(state)) == []
