"""Workloads with `for ever`: read, refused, printed; identities are used again only when nothing refers to them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from thence.dsl import ir
from thence.dsl.load import load, load_bytes
from thence.dsl.run.identity_reuse import ReusedIdentities, system_of
from thence.dsl.run.simulate import simulate
from thence.dsl.run.system import System
from thence.dsl.run.values import messages_in
from thence.dsl.write.format import format_source

HEAD = """protocol p:
  message MSG(m: message) carries m

  on causal_send(m): send MSG(m) to m.dst

  on receive MSG(m) from j: deliver m

scope s of p:
"""


def scope(settings: str) -> tuple[ir.Workload | None, list[str]]:
    loaded = load_bytes(Path("p.thence"), (HEAD + settings).encode())
    codes = [diagnostic.code for diagnostic in loaded.diagnostics if diagnostic.severity == "error"]
    found = loaded.specification
    return (found.scopes[0].workload if found is not None and found.scopes else None), codes


def test_read() -> None:
    workload, errors = scope("  processes 3\n  sends 2, 1, 0\n  for ever 0\n  prompt sends\n")
    assert errors == [] and workload is not None
    assert (workload.sends, workload.sending) == ((2, 1, 0), ir.ForEver((2, 0, 0), prompt=True))
    workload, _ = scope("  processes 2\n  for ever\n")
    assert workload is not None and workload.sending == ir.ForEver((1, 1))
    workload, _ = scope("  processes 2\n")
    assert workload is not None and workload.sending == ir.Finite()
    workload, _ = scope("  processes 2\n  for ever\n  capacity 2\n")
    assert workload is not None and workload.sending == ir.ForEver((1, 1), capacity=2)
    workload, _ = scope("  processes 2\n  any number of messages\n")
    assert workload is not None and workload.sending == ir.AnyNumber() and workload.sends == (1, 1)


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ("  processes 2\n  for ever 2\n", "E0604"),
        ("  processes 2\n  sends 0, 1\n  for ever 0\n", "E0617"),
        ("  for ever 0\n  for ever 1\n", "E0130"),
        ("  capacity 2\n", "E0621"),
        ("  any number of messages\n  for ever\n", "E0621"),
        ("  any number of messages\n  losses 1\n", "E0621"),
        ("  any number of messages\n  prompt sends\n", "E0621"),
        ("  any number of messages\n  program 0: send to 1\n", "E0621"),
    ],
)
def test_refused(settings: str, code: str) -> None:
    assert scope(settings)[1] == [code]


def test_printed() -> None:
    text = HEAD + "  processes 2\n  sends 2 per process\n  for ever 0,1\n  prompt sends\n"
    printed, _ = format_source(text, "p.thence")
    assert printed is not None and "  for ever 0, 1\n  prompt sends\n" in printed


def test_printed_as_read() -> None:
    text = HEAD + "  processes 2\n  for ever\n  capacity 2\n"
    assert format_source(text, "p.thence")[0] == text
    text = HEAD + "  processes 2\n  any number of messages\n"
    assert format_source(text, "p.thence")[0] == text


def test_with_room() -> None:
    """A process sends only while so little is in flight; and none of its collections has so many elements."""
    protocol = load("cykas").specification
    assert protocol is not None
    workload = ir.Workload(3, (1, 2, 0), ((1,), (0, 2), ()), sending=ir.ForEver((0, 2, 0), capacity=1))
    system = ReusedIdentities(protocol.protocols[0], workload)
    state = system.initial()
    (send,) = (action for action in system.enabled(state) if action.process == 1 and action.destinations == (2,))
    state = system.apply(state, send).state
    assert all(action.process != 1 for action in system.application_sends(state))
    (arrival,) = (action for action in system.enabled(state) if action.kind == "receive")
    state = system.apply(state, arrival).state
    (arrival,) = (action for action in system.enabled(state) if action.kind == "receive")
    assert all(action.process != 1 for action in system.application_sends(state))
    state = system.apply(state, arrival).state
    assert any(action.process == 1 for action in system.application_sends(state))


def test_the_system_that_fits() -> None:
    specification = load("mf").specification
    assert specification is not None
    protocol = specification.protocols[0]
    assert type(system_of(protocol, ir.Workload(2, (1, 1), ((1,), (0,))))) is System
    assert isinstance(
        system_of(protocol, ir.Workload(2, (1, 1), ((1,), (0,)), sending=ir.ForEver((1, 0)))), ReusedIdentities
    )


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", ["mf", "cykas"])
def test_an_identity_is_free_only_when_nothing_refers_to_it(name: str, seed: int) -> None:
    specification = load(name).specification
    assert specification is not None
    destinations = ((1, 2), (0, 2), (0, 1))
    system = ReusedIdentities(
        specification.protocols[0], ir.Workload(3, (2, 2, 1), destinations, sending=ir.ForEver((2, 2, 0)))
    )
    state, sends = system.initial(), 0
    for step in simulate(system, seed, 60):
        subject = step.outcome.subject
        if subject is not None and subject.src < 2:
            sends += 1
            values = [*system.locals_of(state), *(system.packet(number).arguments for number in state.network)]
            alive = {message[:2] for value in values for message in messages_in(value)}
            alive |= {entry.message[:2] for entry in state.history.pending}
            assert subject[:2] not in alive
        state = step.outcome.state
    assert sends > 4
    assert state.sends[2] <= 1


def test_timers_wait_where_prompt_sends_come_to_an_end(specify: Callable[[str], ir.Specification]) -> None:
    """Their packets would pile up; where messages are sent for ever, a moment without packets need not come."""
    text = """\
protocol p:
  network reliable, reordering
  message MSG(m: message) carries m
  message PING()
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j: deliver m
  on receive PING() from j: pass
  periodically: send PING() to self

scope s of p:
  processes 2
  sends 1, 0
  prompt sends
"""
    for more, fires in (("", False), ("  for ever 0\n", True)):
        found = specify(text + more)
        system = system_of(found.protocols[0], found.scopes[0].workload)
        sent = system.apply(system.initial(), next(system.application_sends(system.initial()))).state
        assert any(action.kind == "tick" for action in system.enabled(sent)) is fires


def test_an_identity_is_not_free_while_the_order_of_deliveries_refers_to_it(
    specify: Callable[[str], ir.Specification],
) -> None:
    """Otherwise the message that is meant could be taken for a later one."""
    text = """\
protocol p:
  delivery broadcast
  network reliable, reordering
  message MSG(m: message) carries m
  on causal_send(m):
    for p in m.dsts: send MSG(m) to p
  on receive MSG(m) from j: deliver m
  property total_order
"""
    others = tuple(tuple(other for other in range(4) if other != process) for process in range(4))
    workload = ir.Workload(
        4, (1, 1, 0, 0), others, groups=tuple((each,) for each in others), sending=ir.ForEver((0, 1, 0, 0))
    )
    system = ReusedIdentities(specify(text).protocols[0], workload)
    state, found = system.initial(), list[str]()

    def arrives(source: int, target: int) -> None:
        nonlocal state
        (arrival,) = (
            action for action in system.enabled(state)
            if action.kind == "receive" and action.process == target and system.packet(action.packet).src == source
        )  # fmt: skip
        outcome = system.apply(state, arrival)
        state = outcome.state
        found.extend(finding.property for finding in outcome.findings)

    for process in (0, 1):
        (send,) = (action for action in system.application_sends(state) if action.process == process)
        state = system.apply(state, send).state
    for source, target in ((0, 2), (1, 2), (1, 0), (1, 3)):
        arrives(source, target)
    assert [entry.message.src for entry in state.history.pending] == [0] and state.history.order
    assert not list(system.application_sends(state))
    arrives(0, 3)
    assert found == ["total_order"]
    assert [action.process for action in system.application_sends(state)] == [1]
