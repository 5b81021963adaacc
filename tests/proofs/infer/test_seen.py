"""What a transition has seen and closes stays as it was."""

from __future__ import annotations

from dataclasses import replace

from thence.dsl import ir
from thence.dsl.find import specification
from thence.dsl.load import library
from thence.dsl.write.show import show_expression
from thence.proofs.infer.goals import about_states, hidden
from thence.proofs.infer.seen import seen

REPORTED = "forall n, b, c, v, d, w. reported(n, b, c, v) and voted(n, d, w) and d < b implies d <= c"


def paxos() -> ir.Machine:
    machine = specification(str(library()[0].parent / "benchmarks" / "paxos.thence")).machines[0]
    return about_states(hidden(machine, [each.name for each in machine.invariants if each.name != "agreement"]))


def test_the_latest_vote_that_is_reported_stays_the_latest() -> None:
    assert REPORTED in [show_expression(each.formula) for each in seen(paxos())]


def test_nothing_is_seen_where_nothing_is_closed() -> None:
    """Nodes that go on voting in earlier ballots close nothing."""
    machine = paxos()
    open_ = [
        replace(each, updates=tuple(update for update in each.updates if update.symbol != "left"))
        for each in machine.transitions
    ]
    assert not list(seen(replace(machine, transitions=tuple(open_))))
