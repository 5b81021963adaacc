"""Messages with several destinations: the delivery line, scopes, the history, total order."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TypeAlias

import pytest

from thence.dsl import ir
from thence.dsl.check.workloads.defaults import all_choices
from thence.dsl.export.tla.exported import Exported
from thence.dsl.export.tla.protocol import export_protocol
from thence.dsl.run.actions import Action
from thence.dsl.run.narrate import execution, narrate, record, replay, run
from thence.dsl.run.quiescence import stuck
from thence.dsl.run.system import System
from thence.dsl.run.values import Message
from thence.dsl.write.format import format_source
from thence.spec.delivery_order import first_crossing

Specify: TypeAlias = Callable[[str], ir.Specification]

DIRECT = """\
protocol direct:
  delivery {delivery}
  network reliable, reordering

  message MSG(m: message) carries m

  on causal_send(m):
    for p in m.dsts: send MSG(m) to p

  on receive MSG(m) from j: deliver m

  property {properties}
  eventually delivered under fair receive

scope s of direct:
  {settings}
"""


def direct(
    specify: Specify, delivery: str, settings: str, properties: str = "causal"
) -> tuple[ir.Protocol, ir.Workload]:
    text = DIRECT.format(delivery=delivery, settings=settings.replace(" / ", "\n  "), properties=properties)
    specification = specify(text)
    return specification.protocols[0], specification.scopes[0].workload


def sets(*names: str) -> tuple[tuple[int, ...], ...]:
    """Sets of processes by their digits."""
    return tuple(tuple(int(digit) for digit in name) for name in names)


@pytest.mark.parametrize(
    ("delivery", "settings", "groups"),
    [
        ("unicast", "processes 3", ()),
        ("multicast", "processes 3", (sets("1", "2", "12"), sets("0", "2", "02"), sets("0", "1", "01"))),
        ("multicast", "processes 2 / self sends", (sets("0", "1", "01"), sets("0", "1", "01"))),
        ("broadcast", "processes 3", (sets("12"), sets("02"), sets("01"))),
        ("broadcast", "processes 2 / self sends", (sets("01"), sets("01"))),
        ("broadcast", "processes 1 / sends 0", ((),)),
        (
            "multicast",
            "processes 3 / destinations 0 to 2, 1; 0 to 2; 0 to 1, 2; 1 to none; 2 to 0",
            (sets("2", "12"), sets(""), sets("0")),
        ),
    ],
)
def test_the_sets_of_destinations_of_a_scope(
    specify: Specify, delivery: str, settings: str, groups: tuple[tuple[tuple[int, ...], ...], ...]
) -> None:
    _, workload = direct(specify, delivery, settings)
    assert workload.groups == groups
    if groups:
        assert [workload.choices(process) for process in range(workload.processes)] == list(groups)
        everybody = [sorted({one for choice in choices for one in choice}) for choices in groups]
        assert [list(chosen) for chosen in workload.destinations] == everybody


def test_in_unicast_every_destination_is_a_choice(specify: Specify) -> None:
    _, workload = direct(specify, "unicast", "processes 3 / destinations 0 to 1, 2; 1 to 0")
    assert [workload.choices(process) for process in range(3)] == [((1,), (2,)), ((0,),), ()]


def test_a_list_of_all_sets_is_what_stands_there_without_it(specify: Specify) -> None:
    listed = (
        "processes 3 / destinations 0 to 1; 0 to 2; 0 to 1, 2; 1 to 0; 1 to 2; 1 to 0, 2; 2 to 0; 2 to 1; 2 to 0, 1"
    )
    assert direct(specify, "multicast", listed)[1] == direct(specify, "multicast", "processes 3")[1]
    assert all_choices(3, "unicast", True)[0] == sets("0", "1", "2")


def test_the_canonical_form() -> None:
    text = DIRECT.format(delivery="multicast", settings="destinations 0 to 1, 2; 1 to none", properties="causal")
    assert format_source(text, "t.thence")[0] == text
    moved = text.replace("  delivery multicast\n", "").replace("  property", "  delivery   multicast\n  property")
    once, _ = format_source(moved, "t.thence")
    assert once is not None
    assert "  delivery multicast\n  property" in once


def test_the_environment_chooses_among_the_sets(specify: Specify) -> None:
    system = System(*direct(specify, "multicast", "processes 3 / sends 1, 0, 0"))
    sends = list(system.application_sends(system.initial()))
    assert [action.destinations for action in sends] == list(sets("1", "2", "12"))
    assert all(action.process == 0 for action in sends)


def test_a_message_to_nobody_is_never_missing(specify: Specify) -> None:
    """It is delivered when it is sent: nothing can wait for it, nor be stuck."""
    system = System(*direct(specify, "multicast", "processes 2 / sends 2, 0 / destinations 0 to none; 0 to 1"))
    steps = list(run(system, [Action("send", 0, ())]))
    state = steps[-1].outcome.state
    assert steps[-1].title == "p0: causal_send(m0.1) to nobody"
    assert state.history == system.initial().history
    assert state.network == ()
    assert stuck(system, state) is None
    after = system.apply(state, Action("send", 0, (1,))).state
    assert [entry.past for entry in after.history.pending] == [0]


def test_a_multicast_is_replayed_from_its_record(specify: Specify) -> None:
    system = System(*direct(specify, "multicast", "processes 3 / sends 2, 0, 0"))
    actions = [Action("send", 0, (1, 2)), Action("send", 0, (2,))]
    steps = list(run(system, actions))
    state = steps[-1].outcome.state
    for _ in range(3):
        action = next(iter(action for action in system.internal(state)))
        outcome = system.apply(state, action)
        steps.append(narrate(system, state, action, outcome))
        state = outcome.state
    recorded = record(system, steps)
    assert [step.title for step in replay(System(system.protocol, system.workload), recorded)] == [
        step.title for step in steps
    ]


@pytest.mark.parametrize(
    ("delivery", "settings"),
    [("broadcast", "processes 3"), ("multicast", "processes 3 / sends 2 per process")],
)
def test_total_order_against_the_definition(specify: Specify, delivery: str, settings: str) -> None:
    """In random runs of a protocol that orders nothing, the history tells a crossing when it is complete."""
    system = System(*direct(specify, delivery, f"{settings} / self sends", "causal, total_order"))
    crossed = agreed = 0
    for seed in range(150):
        draw = random.Random(seed)
        state, steps, told = system.initial(), [], False
        while actions := list(system.enabled(state)):
            action = draw.choice(actions)
            outcome = system.apply(state, action)
            steps.append(narrate(system, state, action, outcome))
            told = told or any(finding.property == "total_order" for finding in outcome.findings)
            assert told == (first_crossing(execution(system, steps)) is not None)
            if told:
                break
            state = outcome.state
        else:
            assert state.history.order == ()
        crossed, agreed = crossed + told, agreed + (not told)
    assert crossed > 20
    assert agreed > 0


def test_total_order_is_watched_only_where_it_is_claimed(specify: Specify) -> None:
    protocol, workload = direct(specify, "broadcast", "processes 2 / sends 1 per process / self sends")
    first, second = Message(0, 0, (0, 1)), Message(1, 0, (0, 1))
    claimed, _ = direct(specify, "broadcast", "processes 2", "total_order")
    orders = []
    for known in (protocol, claimed):
        system = System(known, workload)
        state = system.initial()
        for action in (Action("send", 0, (0, 1)), Action("send", 1, (0, 1))):
            state = system.apply(state, action).state
        for message in (first, second):
            arrives = next(
                action
                for action in system.internal(state)
                if action.process == 0 and system.packet(action.packet).arguments == (message,)
            )
            state = system.apply(state, arrives).state
        orders.append(state.history.order)
    assert orders == [(), ((first, second),)]


def test_the_export_has_the_sets_of_destinations(specify: Specify) -> None:
    settings = "processes 3 / destinations 0 to none; 0 to 1, 2; 1 to 2; 2 to 0"
    protocol, workload = direct(specify, "multicast", settings)
    exported = export_protocol(protocol, workload, "s")
    assert isinstance(exported, Exported)
    lines = exported.files[f"{exported.module}.tla"].splitlines()
    assert "Destinations == 0 :> {{}, {1, 2}} @@ 1 :> {{2}} @@ 2 :> {{0}}" in lines
