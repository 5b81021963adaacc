"""The scopes that `--processes` and `--sends` make."""

from __future__ import annotations

from dataclasses import replace

import pytest

from thence.api.errors import BadRequest
from thence.api.targets import Choice, targets
from thence.dsl import ir
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
