"""Failures for readers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from thence.conformance.cases.network import Settings
from thence.conformance.cases.schedule import Receive, Send
from thence.conformance.harness.explain import explained, hint_of, picture
from thence.conformance.harness.harness import run_case
from thence.conformance.harness.shortening import Counterexample
from thence.conformance.replay.findings import FindingKind
from thence.impl import commands


class ToAll:
    """Sends to all whatever it is told to send to one."""

    def __init__(self, identity: int, processes: int) -> None:
        self.others = [one for one in range(processes) if one != identity]

    def causal_send(self, destination: int, message: str) -> list[Any]:
        return [commands.Send(one, SimpleNamespace(message=message)) for one in self.others]  # type: ignore[arg-type]

    def receive(self, sender: int, packet: Any) -> list[Any]:
        return [commands.Deliver(sender, packet.message)]


class AlsoToItself(ToAll):
    """Hands over what it broadcasts, as one of its own processes, too."""

    def __init__(self, identity: int, processes: int) -> None:
        super().__init__(identity, processes)
        self.identity = identity

    def causal_send(self, message: str) -> list[Any]:  # type: ignore[override]
        return [commands.Deliver(self.identity, message), *super().causal_send(0, message)]


class Breaks(ToAll):
    def receive(self, sender: int, packet: Any) -> list[Any]:
        raise RuntimeError("no more")


def shown(system: Any, *kinds: FindingKind) -> Counterexample:
    schedule = (Send(0, 1), Send(0, 1), Receive(1, (0, 1)))
    outcome = run_case(system, schedule, Settings())
    return Counterexample(kinds, outcome.operations, outcome, True)


def test_a_broadcast_that_is_driven_as_unicast_gets_a_hint() -> None:
    assert "hint: m0.1 was sent, but not to p2; for a broadcast say --delivery broadcast" in explained(
        shown(ToAll, "phantom")
    )
    assert hint_of(run_case(ToAll, (), Settings())) == ""


def test_a_broadcast_that_comes_back_to_its_sender_gets_a_hint() -> None:
    def hint(self_sends: bool) -> str:
        return hint_of(run_case(AlsoToItself, (Send(0),), Settings(delivery="broadcast", self_sends=self_sends)))

    assert hint(False) == "hint: p0 itself sent m0.1; if it is to get it, too, say --self-sends"
    assert hint(True) == ""


def test_the_diagram_shows_the_finding_that_the_text_names() -> None:
    text = explained(shown(ToAll, "phantom"))
    assert text.count("phantom: p2 delivers m0.1") == 1, "once, above the diagram"
    assert "before m0.1" not in text, "the other finding of the case"
    assert "before m0.1" in explained(shown(ToAll, "fifo"))
    crashed = shown(Breaks, "crash")
    assert "stuck" not in explained(crashed) and "stuck" not in picture(crashed.outcome)
