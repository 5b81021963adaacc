"""The state of multicast and broadcast implementations is that of their protocols, variable by variable.

The replay compares events only; here the metadata is held against the interpreter's too, after every operation.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from thence.conformance.cases.schedulers import SCHEDULERS
from thence.conformance.conform.conform import settings_for
from thence.conformance.harness.case import Case
from thence.conformance.harness.drain import drain
from thence.conformance.replay.replay import Replay
from thence.dsl import ir
from thence.impl.cbcast import CBCAST
from thence.impl.hybrid_multicast import HybridMulticast
from thence.impl.ks import KS
from thence.impl.newtop import Newtop


def vector(entries: Any, processes: int) -> list[int]:
    """A map of processes to numbers, 0 where it has none."""
    known = dict(entries)
    return [known.get(process, 0) for process in range(processes)]


def of_cbcast(process: Any, state: dict[str, Any], processes: int) -> tuple[Any, Any]:
    waiting = {(message.src, message.number + 1) for message, _ in state["queue"]}
    here = {(sender, number) for sender, delayed in process._delayed.items() for number in delayed}
    return (process._vt, here), (vector(state["VT"], processes), waiting)


def of_newtop(process: Any, state: dict[str, Any], processes: int) -> tuple[Any, Any]:
    kept = sorted((clock, sender) for sender, inbox in state["inbox"] for _, clock in inbox)
    here = sorted((one.clock, one.sender) for one in process._kept)
    return (process._clock, process._last, here), (state["LC"], vector(state["last"], processes), kept)


def of_ks(process: Any, state: dict[str, Any], processes: int) -> tuple[Any, Any]:
    log = {(sender, number): set(entry[0]) for sender, known in state["LOG"] for number, entry in known}
    here = {
        (entry.sender, entry.number): {one for one in range(processes) if entry.destinations >> one & 1}
        for entry in process.log
    }
    return (process._clock, process._delivered, here), (state["clock"], vector(state["SR"], processes), log)


def of_hybrid_multicast(process: Any, state: dict[str, Any], processes: int) -> tuple[Any, Any]:
    first, unacked = state["u"]
    following, missing = state["p"]
    theirs = (
        state["ck"],
        vector(state["ls"], processes),
        vector(state["ld"], processes),
        len(state["sb"]),
        (first, first + len(unacked)),
        [sorted(message[1]) for message in unacked],
        (missing[0][0] if missing else following, following),
        [tuple(permit) for _, permit in missing],
    )
    ours = (
        process._ck,
        vector(process._ls, processes),
        vector(process._ld, processes),
        len(process._sb),
        (process._u.first, process._u.next),
        [sorted(message.packets) for message in process._u],
        (process._p.first, process._p.next),
        [(permit.sender, permit.mid) for permit in process._p],
    )
    return ours, theirs


@pytest.mark.parametrize(
    ("name", "subject", "both"),
    [
        ("cbcast", CBCAST, of_cbcast),
        ("newtop", Newtop, of_newtop),
        ("ks", KS, of_ks),
        ("hybrid_multicast", HybridMulticast, of_hybrid_multicast),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_state_is_that_of_the_protocol(
    name: str,
    subject: Any,
    both: Callable[[Any, dict[str, Any], int], tuple[Any, Any]],
    library: Callable[[str], ir.Protocol],
) -> None:
    protocol = library(name)
    variables = [variable.name for variable in protocol.state]
    compared = 0
    for processes in (3, 4):
        settings, replay = settings_for(protocol, processes), Replay(protocol, processes)
        for seed in range(40):
            case = Case(settings, replay)
            case.start(subject)
            scheduler = SCHEDULERS["starve_one_channel" if seed % 2 else "uniform"]
            for operation in scheduler(Random(seed), settings, case.network, 20):
                case.perform(operation)
                lockstep = case.comparison.lockstep
                assert lockstep is not None, case.outcome().findings
                for process, number in zip(case.participants.processes, lockstep.states, strict=True):
                    state = dict(zip(variables, replay.steps.state(number), strict=True))
                    ours, theirs = both(process, state, processes)
                    assert ours == theirs
                    compared += 1
            drain(case)
            assert case.outcome().findings == ()
    assert compared > 5_000
