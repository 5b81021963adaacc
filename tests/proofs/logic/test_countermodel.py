"""What a reader sees of a structure: the file's names, only what is true, only what changes."""

from __future__ import annotations

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, PROCESS
from thence.proofs.logic.countermodel import changes, execution_json, fact, fact_lines, false_instance, names_of
from thence.proofs.logic.formula import forall, holds, local
from thence.proofs.logic.structure import Structure
from thence.spec.events import Deliver, Execution, Receive, Send

M = ir.Variable("m", MESSAGE)
SENT = ir.Symbol("sent", (M,), BOOL)
SRC = ir.Symbol("src", (M,), PROCESS)
POSTED = ir.Symbol("posted", (ir.Variable("p", PROCESS),), NAT)
BEFORE = Structure(
    {"process": 2, "message": 2},
    {
        "sent": {(0,): False, (1,): True},
        "src": {(0,): 0, (1,): 1},
        "posted": {(0,): 0, (1,): 4},
    },
)


def test_messages_are_named_in_the_order_given() -> None:
    names = names_of(BEFORE, [1])
    assert names.messages == {1: "m1", 0: "m2"}
    assert names.of(1, PROCESS) == "p1" and names.of(True, BOOL) == "true" and names.of(3, NAT) == "3"


def test_facts_are_what_is_true_and_what_functions_give() -> None:
    lines = fact_lines((SENT, SRC, POSTED), BEFORE, names_of(BEFORE, [1]))
    assert lines == ["sent(m1)", "src(m1) = p1", "src(m2) = p0", "posted(p1) = 4"]
    assert fact(SENT, (0,), False, names_of(BEFORE)) == "not sent(m1)"


def test_changes_are_only_what_is_different() -> None:
    after = BEFORE.with_tables({"sent": {(0,): True, (1,): True}, "posted": {(0,): 0, (1,): 5}})
    assert changes((SENT, SRC, POSTED), BEFORE, after, names_of(BEFORE)) == ["sent(m1)", "posted(p1) = 5"]


def test_the_false_instance_is_in_the_files_names() -> None:
    formula = ir.NamedFormula("all_sent", forall([M], holds("sent", local(M))))
    assert false_instance(formula, BEFORE, names_of(BEFORE)) == {"m": "m1"}
    assert false_instance(ir.NamedFormula("open", holds("sent", local(M))), BEFORE, names_of(BEFORE)) is None


def test_executions_as_json() -> None:
    execution = Execution(2, (Send(0, "m1", (1,)), Receive(1, "m1", 0), Deliver(1, "m1")))
    assert execution_json(execution) == {
        "processes": 2,
        "events": [
            {"event": "send", "process": 0, "message": "m1", "destinations": [1]},
            {"event": "receive", "process": 1, "message": "m1", "sender": 0},
            {"event": "deliver", "process": 1, "message": "m1"},
        ],
    }
