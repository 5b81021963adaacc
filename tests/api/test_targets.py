"""The scopes that `--processes` and `--sends` make."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from thence.api.errors import BadRequest
from thence.api.targets import Choice, targets
from thence.dsl import ir
from thence.dsl.check.workloads.kind import ANY_PROTOCOL, ProtocolKind
from thence.dsl.check.workloads.settings import lines_of
from thence.dsl.load import load_bytes

TEXT = b"""
protocol counting:
  network lossy, duplicating, reordering
  role keeper: process = 1
  message TOLD(n: nat)
  state:
    n: nat
  on tell(p: process):
    n := n + 1
    send TOLD(n) to p
  on reset(): n := 0
  periodically again: send TOLD(n) to keeper
  on receive TOLD(k) from j: n := max(n, k)
  invariant small: forall p: process. n@p < 9

scope faulty of counting:
  processes 2
  tell 2 per process
  reset 1, 0
  losses 1
  duplicates 2
  ticks again 1
  fifo
"""


def workload(**chosen: object) -> ir.Workload:
    content = load_bytes("counting.thence", TEXT).specification
    assert content is not None
    (found,) = targets(replace(Choice("counting.thence"), **chosen), content)  # type: ignore[arg-type]
    return found.workload


def test_a_scope_with_another_number_of_processes_keeps_its_faults_timers_and_inputs() -> None:
    two, three = workload(scope="faulty"), workload(scope="faulty", processes=3)
    for one in (two, three):
        assert (one.losses, one.duplicates, one.fifo, one.timers) == (1, 2, True, (("again", 1),))
    assert three.inputs == (
        ir.InputUse("tell", (2, 2, 2), (("p", (0, 1, 2)),)),
        ir.InputUse("reset", (1, 0, 0)),
    )
    assert three.sends == (0, 0, 0)


def test_without_a_scope_each_input_happens_once() -> None:
    assert workload(processes=2).inputs == (
        ir.InputUse("tell", (1, 1), (("p", (0, 1)),)),
        ir.InputUse("reset", (1, 1)),
    )


def test_an_application_without_messages_is_not_made_to_send() -> None:
    for more in ({}, {"scope": "faulty"}, {"processes": 2}):
        with pytest.raises(BadRequest, match=r"no `on causal_send`; its inputs are `tell` and `reset`.* by --setting"):
            workload(sends="1", **more)


def test_there_are_as_many_processes_as_the_roles_need() -> None:
    with pytest.raises(BadRequest, match=r"--processes: .*keeper"):
        workload(processes=1)


SENDING = """
protocol sending:
  delivery {delivery}
  network reliable, reordering{network}
  message MSG(m: message, p: process) carries m
  on causal_send(m): send MSG(m, self) to self
  on receive MSG(m, p) from j: deliver m
  property no_creation

scope given of sending:
  processes 3
  {lines}
"""


def changed(lines: str, delivery: str = "unicast", network: str = "", **chosen: object) -> ir.Workload:
    """The workload that `chosen` makes of a scope of three processes with these lines."""
    text = SENDING.format(delivery=delivery, network=network, lines="\n  ".join(lines.split("\n")))
    content = load_bytes("sending.thence", text.encode()).specification
    assert content is not None
    (found,) = targets(replace(Choice("sending.thence", "given"), **chosen), content)  # type: ignore[arg-type]
    return found.workload


WHOLE = (
    "self sends", "fifo", "prompt sends", "reactive sends", "for ever", "for ever\nprompt sends",
    "any number of messages", "for ever\ncapacity 2", "reactive sends\nself sends",
    "sends 2 per process\nfor ever\nself sends",
)  # fmt: skip
"""Lines of a scope that say something of all processes alike."""


@pytest.mark.parametrize("processes", [2, 4])
@pytest.mark.parametrize("lines", WHOLE)
def test_what_a_scope_says_of_all_is_kept_for_another_number_of_processes(lines: str, processes: int) -> None:
    """No line is left out but for how many messages each process sends."""
    found = changed(lines, processes=processes)
    everybody = f"for ever {', '.join(map(str, range(processes)))}"
    kept = {everybody if each == "for ever" else each for each in lines.split("\n")} - {"sends 2 per process"}
    assert found.processes == processes
    assert kept <= set(lines_of(found, ANY_PROTOCOL))


SINGLE = {
    "for ever 0": ("unicast", "", "for ever 1"),
    "for ever 0, 2\ncapacity 3": ("unicast", "", "for ever 0"),
    "destinations 0 to 1, 2; 1 to 0; 2 to 0": ("unicast", "", "destinations 0 to 1; 1 to 0; 2 to 0"),
    "destinations 0 to 1, 2; 1 to 0; 2 to 0, 1": ("multicast", "", "destinations 0 to 1; 1 to 0; 2 to 0"),
    "links 0 to 1; 1 to 2": ("unicast", ", overlay", "links 0 with 1"),
    "tree 0 to 1, 2": ("unicast", ", tree", "tree 0 to 1, 2"),
}
"""Lines about processes by their numbers; the delivery, the network; and a line that may stand in their place."""


@pytest.mark.parametrize("lines", list(SINGLE))
def test_what_a_scope_says_of_single_processes_is_not_left_out(lines: str) -> None:
    delivery, network, instead = SINGLE[lines]
    refused = f"`{lines.splitlines()[0]}` of scope given is about its 3 processes; say it of 4 by --setting"
    with pytest.raises(BadRequest, match=re.escape(refused)):
        changed(lines, delivery, network, processes=4, settings=("losses 0",))
    assert changed(lines, delivery, network, processes=3, sends="1").processes == 3
    given = (instead.replace("1 to 0; 2 to 0", "1 to 0; 2 to 0; 3 to 0") + (", 3" if "tree" in instead else ""),)
    kept = set(lines.splitlines()[1:])
    found = changed(lines, delivery, network, processes=4, settings=given)
    assert {*kept, *given} <= set(lines_of(found, kind(delivery, network)))


def kind(delivery: str, network: str) -> ProtocolKind:
    assert delivery in ("unicast", "multicast")
    return ProtocolKind(
        "unicast" if delivery == "unicast" else "multicast", "tree" in network, overlay="overlay" in network
    )
