"""Constants and roles: where their names stand, which values they take, and who may give another one."""

from __future__ import annotations

import pytest

from thence.dsl import ir
from thence.dsl.check.elaborate import elaborate
from thence.dsl.check.workloads.defaults import default_workloads
from thence.dsl.run.system import System
from thence.dsl.text.parse import parse
from thence.dsl.write.format import format_source

from ...conftest import Specify

PROTOCOL = """protocol p:
  constant limit: nat = 2
  constant eager: bool = true
  role chief: process = 1
  message MSG(m: message) carries m
  state:
    n: nat = limit
    leads: bool = (self = chief)
  def spare(k: nat): n + k < limit and chief != self
  on causal_send(m):
    if eager or spare(1): n := limit
    send MSG(m) to m.dst
  on receive MSG(m) from j:
    if leads implies j != chief: deliver m
  invariant small: forall p: process. n@p <= limit and (leads@p iff p = chief)
"""


def codes(text: str) -> list[str]:
    tree, faults = parse(text, "t.thence")
    assert tree is not None, faults
    _, found = elaborate(tree, "t.thence")
    return [fault.code for fault in found]


def test_they_are_read_everywhere() -> None:
    assert codes(PROTOCOL) == []


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("constant eager: bool", "constant eager: nat", "E0426"),
        ("constant eager: bool", "constant eager: process", "E0425"),
        ("role chief: process", "role chief: nat", "E0425"),
        ("role chief: process = 1", "role chief: process = true", "E0426"),
        ("    n: nat = limit", "    limit: nat", "E0208"),
        ("role chief", "role limit", "E0208"),
        ("MSG(m) from j", "MSG(m) from chief", "E0209"),
        ("forall p: process. n@p <= limit", "forall p: process. n@p <= limit@p", "E0207"),
        ("    if eager", "    limit := 3\n    if eager", "E0403"),
        ("def spare(k: nat)", "def chief(k: nat)", "E0209"),
    ],
)
def test_what_is_at_fault(old: str, new: str, code: str) -> None:
    assert old in PROTOCOL
    assert code in codes(PROTOCOL.replace(old, new))


def test_a_definition_of_the_file_knows_no_constant() -> None:
    shared = "def few(k: nat): k < limit\n\n" + PROTOCOL.replace("eager or spare(1)", "eager or spare(1) or few(n)")
    assert "E0201" in codes(shared)


def test_a_scope_gives_another_value(specify: Specify) -> None:
    scope = "\nscope two of p:\n  processes 2\n  limit = 5\n  chief = 0\n"
    found = specify(PROTOCOL + scope)
    (protocol,), (stated,) = found.protocols, found.scopes
    for workload, limit, chief in ((stated.workload, 5, 0), (default_workloads(protocol)[0], 2, 1)):
        system = System(protocol, workload)
        states = system.locals_of(system.initial())
        assert states == tuple((limit, process == chief) for process in range(workload.processes))
        assert system.protocol.constants == ()


def test_default_scopes_have_the_processes_that_roles_name(specify: Specify) -> None:
    text = PROTOCOL.replace("process = 1", "process = 4").replace("  message", "  network lossy\n  message", 1)
    (protocol,) = specify(text).protocols
    assert [workload.processes for workload in default_workloads(protocol)] == [5, 5]


@pytest.mark.parametrize(
    ("lines", "code"),
    [("limits = 3", "E0626"), ("limit = true", "E0627"), ("chief = 3", "E0627"), ("processes 1", "E0627")],
)
def test_values_of_a_scope_fit(lines: str, code: str) -> None:
    assert code in codes(f"{PROTOCOL}\nscope s of p:\n  {lines}\n")


def test_a_mutant_has_another_value(specify: Specify) -> None:
    mutant = "\nmutant wide of p:\n  constant limit: nat = 7\n"
    (typed,) = specify(PROTOCOL + mutant).mutants
    assert isinstance(typed.mutated, ir.Protocol)
    assert [one.value for one in typed.mutated.constants] == [7, True, 1]
    assert codes(PROTOCOL + mutant.replace("nat = 7", "bool = true")).count("E0611") == 1
    assert "W0911" in codes(PROTOCOL + mutant.replace("7", "2"))


def test_they_are_written_as_they_are_read() -> None:
    mutant = "\n\nmutant wide of p:\n  constant limit: nat = 7\n  expect holds small in s\n"
    scenario = "\n\nscenario one of p:\n  processes Ann, Bob\n  chief = Bob\n  limit = 1\n  Ann sends m to Bob\n"
    text = f"{PROTOCOL}\n\nscope s of p:\n  processes 2\n  eager = false\n  limit = 3\n{mutant}{scenario}"
    written, faults = format_source(text, "t.thence")
    assert written is not None, faults
    assert format_source(written, "t.thence")[0] == written
    for line in ("constant eager: bool = true", "leads: bool = (self = chief)", "eager = false", "chief = Bob"):
        assert f"  {line}\n" in written
