"""Settings of a scope given anew: what a workload says of itself makes it again, and faults are told."""

from __future__ import annotations

import pytest

from thence.dsl import ir
from thence.dsl.check.adapt import Unsettled, adapt, settings_of
from thence.dsl.check.workload import ProtocolKind, build_workload
from thence.dsl.text.reporter import Reporter
from thence.dsl.text.syntax import NOWHERE

from ..conftest import Specify

EVERYONE = ((1, 2), (0, 2), (0, 1))
PLAIN = ir.Workload(3, (1, 1, 1), EVERYONE)


@pytest.mark.parametrize(
    "file", ["cykas", "mf", "rst", "cbcast", "newtop", "hybrid_basic", "hybrid_multicast", "tree", "synchronous"]
)
def test_every_scope_of_the_library_is_made_by_its_settings(library: Specify, file: str) -> None:
    found = library(file)
    protocols = {protocol.name: protocol for protocol in found.protocols}
    assert found.scopes
    for scope in found.scopes:
        protocol = protocols[scope.protocol]
        kind = ProtocolKind(protocol.delivery, protocol.network.tree)
        reporter = Reporter(file)
        again = build_workload(settings_of(scope.workload, protocol.delivery), NOWHERE, reporter, kind)
        assert again == scope.workload, (scope.name, reporter.found)


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
        (["fifo\n  losses 1"], "more than one line"),
        (["destinations 0 to 7"], "no process 7"),
    ],
)
def test_what_makes_no_scope(settings: list[str], said: str) -> None:
    with pytest.raises(Unsettled, match=said):
        adapt(PLAIN, settings, ProtocolKind())
