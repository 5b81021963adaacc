"""Protocols, scopes, links and mutants: what the typed IR says, and how errors stay apart."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import thence.spec
from thence.dsl import ir
from thence.dsl.check.elaborate import DEEPEST, elaborate, examine
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, PROCESS, Collection, Map, Record
from thence.dsl.text import syntax
from thence.dsl.text.diagnostics import Diagnostic
from thence.dsl.text.parse import parse
from thence.dsl.write.show import show_expression

LIBRARY = sorted((Path(str(thence.spec.__file__)).parent / "library").glob("*.thence"))
FIXTURES = sorted((Path(__file__).parents[1] / "text" / "golden").glob("[EW]0[2-9]*.thence"))

BASE = """
protocol p:
  message MSG(m: message, n: nat) carries m
  message ACK()
  record Mail: m: message; at: nat
  state:
    OB: queue of Mail
    UNACK: set of process
    EAGER: map process to queue of set of process
    last: option of message
    u: sliding array of Mail = window(1)
    w: sliding map of Mail
  on causal_send(m):
    {send}
    send MSG(m, u.next) to m.dst
  on receive MSG(m, n) from j:
    deliver m
    send ACK() to j
  on receive ACK() from j:
    {ack}
    OB.clear()
    UNACK.remove(j)
    EAGER.clear()
    last := none
    u.clear()
    w.clear()
  {more}
"""


def outcome(text: str) -> tuple[ir.Specification | None, tuple[Diagnostic, ...]]:
    tree, diagnostics = parse(text, "test.thence")
    assert tree is not None, diagnostics
    return elaborate(tree, "test.thence")


def typed(text: str) -> ir.Specification:
    specification, diagnostics = outcome(text)
    assert specification is not None, diagnostics
    return specification


def protocol(send: str = "pass", ack: str = "pass", more: str = "") -> str:
    return BASE.format(send=send, ack=ack, more=more)


def first_statement(send: str) -> ir.Stmt:
    return typed(protocol(send)).protocols[0].handlers[0].body[0]


def codes(text: str) -> list[str]:
    return [diagnostic.code for diagnostic in outcome(text)[1]]


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: path.stem)
def test_library_is_without_faults(path: Path) -> None:
    specification, diagnostics = outcome(path.read_text(encoding="utf-8"))
    assert specification is not None
    assert diagnostics == ()


@pytest.mark.parametrize("send", ["send ACK() to 0", "if self = 0: pass", "if 0 != self: pass"])
def test_a_process_that_is_named_by_its_number_is_a_role(send: str) -> None:
    (found,) = outcome(protocol(send))[1]
    assert found.code == "E0301" and any("`role first: process = 0`" in note for note in found.notes)


# --- protocols ---------------------------------------------------------------------------------


def test_state_starts_from_the_zero_of_its_type() -> None:
    state = {variable.name: variable for variable in typed(protocol()).protocols[0].state}
    mail = Record("Mail", (("m", MESSAGE), ("at", NAT)))
    assert state["OB"].initial == ir.Zero(Collection("queue", mail))
    assert state["EAGER"].type == Map(PROCESS, Collection("queue", Collection("set", PROCESS)))
    window = Collection("sliding array", mail)
    assert state["u"].initial == ir.Apply(window, "window", (ir.Literal_(NAT, 1),))


def test_statements_keep_the_line_label_of_the_paper() -> None:
    body = typed(protocol("UNACK.add(m.dst)  # A2.16")).protocols[0].handlers[0].body
    assert body[0].label == "A2.16"


def test_packet_kinds_know_what_they_carry() -> None:
    packets = typed(protocol()).protocols[0].packets
    assert [(packet.name, packet.carries) for packet in packets] == [("MSG", 0), ("ACK", None)]


@pytest.mark.parametrize(
    ("written", "type_"),
    [
        ("OB.first.at + 1", NAT),
        ("u[u.first].m.src", PROCESS),
        ("u.peek", Record("Mail", (("m", MESSAGE), ("at", NAT)))),
        ("w.next", NAT),
        ("last.value.dsts", Collection("set", PROCESS)),
        ("EAGER[m.dst].first", Collection("set", PROCESS)),
        ("{m.src, self}", Collection("set", PROCESS)),
        ("some(m)", Collection("option", MESSAGE)),
        ("if last is none then m else last.value", MESSAGE),
        ("count q: process. q in UNACK", NAT),
        ("max(1, OB.size)", NAT),
        ("forall x in OB. x.at < 3", BOOL),
        ("Mail(at: 0, m: m)", Record("Mail", (("m", MESSAGE), ("at", NAT)))),
    ],
)
def test_types_of_expressions(written: str, type_: object) -> None:
    statement = first_statement(f"let e = {written}")
    assert isinstance(statement, ir.Let)
    assert statement.value.type == type_


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("1 >= 2", ir.Comparison(BOOL, "<=", ir.Literal_(NAT, 2), ir.Literal_(NAT, 1))),
        ("1 > 2", ir.Comparison(BOOL, "<", ir.Literal_(NAT, 2), ir.Literal_(NAT, 1))),
        ("1 != 2", ir.Not(BOOL, ir.Comparison(BOOL, "=", ir.Literal_(NAT, 1), ir.Literal_(NAT, 2)))),
    ],
)
def test_derived_comparisons_are_rewritten(written: str, shown: ir.Expr) -> None:
    statement = first_statement(f"let e = {written}")
    assert isinstance(statement, ir.Let)
    assert statement.value == shown


def test_record_fields_are_put_in_the_order_of_the_declaration() -> None:
    statement = first_statement("let e = Mail(at: 7, m: m)")
    assert isinstance(statement, ir.Let)
    assert isinstance(statement.value, ir.Construct)
    assert [show_expression(value) for value in statement.value.values] == ["m", "7"]


def test_none_and_empty_take_their_type_from_either_side() -> None:
    for written in ("none = last", "last = none", "empty = UNACK", "UNACK != empty"):
        statement = first_statement(f"let e = {written}")
        assert isinstance(statement, ir.Let)
        assert statement.value.type == BOOL


def test_for_over_processes_has_no_domain_and_for_over_a_map_has_its_keys() -> None:
    everyone = first_statement("for r in process: UNACK.add(r)")
    assert isinstance(everyone, ir.For)
    assert (everyone.domain, everyone.variable) == (None, PROCESS)
    keys = first_statement("for r in EAGER: UNACK.add(r)")
    assert isinstance(keys, ir.For)
    assert keys.variable == PROCESS
    values = first_statement("for ref queue in EAGER: queue.clear()")
    assert isinstance(values, ir.For)
    assert (values.variable, values.ref) == (Collection("queue", Collection("set", PROCESS)), True)


def test_a_ref_can_be_changed_and_a_let_cannot() -> None:
    assert codes(protocol("ref x = EAGER[m.dst]; x.clear()")) == []
    assert codes(protocol("let x = EAGER[m.dst]; x.clear()")) == ["E0404"]
    assert codes(protocol("ref x = OB.first; x.at := 1")) == ["E0403"]


def test_a_domain_may_speak_of_an_earlier_variable_of_its_quantifier() -> None:
    statement = first_statement("let e = exists q: process, s in EAGER[q], r in UNACK. r in s")
    assert isinstance(statement, ir.Let)
    outer = statement.value
    assert isinstance(outer, ir.Quantified)
    inner = outer.body
    assert isinstance(inner, ir.Quantified)
    assert ([v.name for v in outer.variables], [v.name for v in inner.variables]) == (["q"], ["s", "r"])
    assert codes(protocol("let e = count q: process, s in EAGER[q]. q in s")) == ["E0314"]


def test_invariants_may_use_the_names_of_state_variables() -> None:
    invariant = "invariant small: forall u: process. OB@u is empty or OB@(u).size > 0"
    body = typed(protocol(more=invariant)).protocols[0].invariants[0].body
    assert show_expression(body) == "forall u. OB@u is empty or 0 < OB@u.size"


def test_network_words() -> None:
    def network(words: str) -> ir.Network:
        return typed(protocol(more=f"network {words}")).protocols[0].network

    assert network("reliable") == ir.Network(lossy=False, duplicating=False, reordering=True)
    assert network("lossy, duplicating, fifo") == ir.Network(lossy=True, duplicating=True, reordering=False)


# --- several errors ----------------------------------------------------------------------------


def test_all_errors_are_reported_and_nothing_that_follows_from_them() -> None:
    send = "let x = nowhere; let y = x.size + 1; OB.push(y); UNACK.add(m); MODE := 1"
    assert codes(protocol(send, ack="send NACK(x) to j")) == ["E0201", "E0301", "E0201", "E0204", "E0201"]


def test_an_erroneous_declaration_does_not_hide_the_others() -> None:
    text = protocol("let x = nowhere") + "\nscope s of p:\n  processes 0\n\nscope t of q:\n  processes 2\n"
    assert codes(text) == ["E0201", "E0602", "E0210"]


def test_what_refers_to_an_erroneous_declaration_is_not_at_fault() -> None:
    text = protocol("let x = nowhere") + "\nscope s of p:\n  expect holds causal\n\nmutant n of p:\n  state: q: nat\n"
    assert codes(text) == ["E0201"]


def test_an_unbound_name_says_where_it_is_bound() -> None:
    _, found = outcome(protocol("if last is none:\n      let b = u.peek\n    OB.push(b)"))
    assert [diagnostic.code for diagnostic in found] == ["E0201"]
    assert "bound on line 15" in found[0].notes[0]


def test_trees_that_the_parser_would_not_build_are_refused_not_followed() -> None:
    formula: syntax.Expr = syntax.Truth(True)
    for _ in range(DEEPEST * 50):
        formula = syntax.Not(formula)
    machine = syntax.Machine(syntax.Name("q"), invariants=(syntax.Formula(syntax.Name("i"), formula),))
    scope = syntax.Mutant(syntax.Name("n"), syntax.Name("q"))
    specification, found = elaborate(syntax.File((machine, scope)), "built.thence")
    assert specification is None
    assert [diagnostic.code for diagnostic in found] == ["E0152"]


# --- scopes, links, mutants --------------------------------------------------------------------


def workload(settings_: str) -> ir.Workload:
    return typed(protocol() + f"\nscope s of p:\n  {settings_}\n").scopes[0].workload


def test_a_scope_without_settings_is_three_processes_that_send_once_to_any_other() -> None:
    assert workload("expect holds causal") == ir.Workload(3, (1, 1, 1), ((1, 2), (0, 2), (0, 1)))


def test_scope_settings() -> None:
    assert workload("processes 2; sends 4 per process; self sends").destinations == ((0, 1), (0, 1))
    assert workload("processes 3; sends 2, 0, 1; destinations 0 to 1, 2; 2 to 0").destinations == ((1, 2), (), (0,))
    quiet = workload("processes 3; destinations 0 to 1; 1 to 0")
    assert (quiet.sends, quiet.destinations) == ((1, 1, 0), ((1,), (0,), ()))


MACHINE = """
machine q:
  relation network_sent(m: message)
  transition causal_send(m): pass
  transition network_send(m, p):
    require sent(m) and src(m) = p
    network_sent(m) := true
  transition deliver(m): require sent(m) and not delivered(m)
  prove no_creation
"""


def test_clauses_are_typed_by_the_packet_and_the_transition() -> None:
    link = """
scope s of p:
  processes 2

conforms p to q:
  causal_send(m) is causal_send(m)
  deliver m is deliver(m)
  send MSG(x, ...) to j is network_send(x, self), once
  receive ACK() from k is network_send(sent_by(k, OB.size), k)
"""
    checked = typed(protocol() + MACHINE + link).links[0]
    assert (checked.protocol.name, checked.machine.name) == ("p", "q")
    assert [scope.name for scope in checked.scopes] == ["s"]
    sending, acknowledged = checked.clauses[2:]
    assert (sending.parameters, sending.peer, sending.once) == ((ir.Variable("x", MESSAGE),), "j", True)
    (target,) = acknowledged.targets
    assert [show_expression(argument) for argument in target.arguments if argument] == ["sent_by(k, OB.size)", "k"]
    assert codes(protocol() + MACHINE + link.replace(", once", "").replace("(x, self)", "(x, x)")) == ["E0301"]
    assert codes(protocol() + MACHINE + link.replace("MSG(x, ...)", "MSG(x)")) == ["E0607"]


def test_a_mutant_is_its_whole_subject_with_the_changes_in() -> None:
    text = protocol() + "\nmutant mute of p:\n  state: last: nat = 5\n  on receive ACK() from j: last := 1\n"
    specification = typed(text)
    mutated, original = specification.mutants[0].mutated, specification.protocols[0]
    assert isinstance(mutated, ir.Protocol)
    assert [variable.name for variable in mutated.state] == [variable.name for variable in original.state]
    assert {variable.name: variable.type for variable in mutated.state}["last"] == NAT
    assert mutated.handlers[:2] == original.handlers[:2]
    assert len(mutated.handlers[2].body) == 1


def test_a_mutants_error_outside_its_own_text_says_whose_it_is() -> None:
    text = protocol("last := some(m)") + "\nmutant mute of p:\n  state: last: nat\n"
    _, found = outcome(text)
    assert {diagnostic.code for diagnostic in found} == {"E0301"}
    assert all("in mutant `mute` of `p`" in diagnostic.notes for diagnostic in found)


def test_expectations_get_their_workload() -> None:
    text = (
        protocol()
        + """
scope s of p:
  processes 2
  sends 3 per process
  expect refuted fifo

mutant mute of p:
  on receive ACK() from j: pass
  expect refuted delivered in s
  expect refuted causal with processes 2, sends 4 0
  expect holds fifo
"""
    )
    specification = typed(text)
    pair = ((1,), (0,))
    (plain,) = specification.scopes[0].expects
    assert (plain.scope, plain.settings) == (None, None)
    named, given_, default = specification.mutants[0].expects
    assert (named.scope, named.settings) == ("s", ir.Workload(2, (3, 3), pair))
    assert (given_.scope, given_.settings) == (None, ir.Workload(2, (4, 0), pair))
    assert default.settings == ir.Workload(3, (1, 1, 1), ((1, 2), (0, 2), (0, 1)))


# --- robustness --------------------------------------------------------------------------------

WORD = re.compile(r"\w+|[^\w\s]+")
TEXTS = [path.read_text(encoding="utf-8") for path in (*FIXTURES, *LIBRARY)]


@pytest.mark.long
@settings(derandomize=True, deadline=None, max_examples=300)
@given(st.sampled_from(TEXTS), st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 10_000)), max_size=4))
def test_texts_with_words_exchanged_give_a_typed_file_or_errors(text: str, exchanges: list[tuple[int, int]]) -> None:
    for at, by in exchanges:
        words = list(WORD.finditer(text))
        old, new = words[at % len(words)], words[by % len(words)]
        text = text[: old.start()] + new.group() + text[old.end() :]
    tree, _ = parse(text, "test.thence")
    if tree is None:
        return
    specification, found = elaborate(tree, "test.thence")
    assert (specification is None) == any(diagnostic.severity == "error" for diagnostic in found)
    lines = text.count("\n") + 1
    assert all(1 <= diagnostic.span.line <= lines for diagnostic in found)


# --- examined for an editor ----------------------------------------------------------------------


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: path.stem)
def test_examined_as_elaborated(path: Path) -> None:
    tree, _ = parse(path.read_text(encoding="utf-8"), path.name)
    assert tree is not None
    found = examine(tree, path.name)
    assert (found.specification, found.diagnostics) == elaborate(tree, path.name)


def test_types_are_known_beside_errors() -> None:
    text = """
protocol p:
  network reliable, fifo
  message MSG(m: message) carries m
  state:
    Q: queue of message
    M: map process to nat
  on causal_send(m): send MSG(m) to nowhere
  on receive MSG(m) from j:
    for x in Q:
      M[x.src] := M[j] + 1
    deliver m
"""
    tree, _ = parse(text, "typed")
    assert tree is not None
    found = examine(tree, "typed")
    assert [fault.code for fault in found.diagnostics if fault.severity == "error"] == ["E0201"]
    assert found.specification.protocols == ()
    lines = text.split("\n")
    types = {
        lines[span.line - 1][span.column - 1 : span.end_column - 1]: str(type_) for span, type_ in found.types.items()
    }
    assert types["x"] == types["m"] == "message"
    assert types["Q"] == "queue of message"
    assert types["x.src"] == types["j"] == "process"
    assert types["M[j] + 1"] == "nat"


@pytest.mark.parametrize(
    ("body", "codes"),
    [
        ("var c: nat = true", ["E0301"]),
        ("var c = empty", ["E0304"]),
        ("var c = 1; var c = 2", ["E0209"]),
        ("var c = 1; c := true", ["E0301"]),
        ("var c = c", ["E0201"]),
        ("if true: var c = 1\n    c := 2", ["E0201"]),
        ("var c = sum x in {true}. x", ["E0301"]),
        ("var c = sum x in {1}, y in {x}. x", ["E0314"]),
        ("var c: set of process = empty; c.add(self); var d = c.size * 2; d := d + 1", []),
    ],
)
def test_variables_and_sums(body: str, codes: list[str]) -> None:
    text = "protocol p:\n  message MSG(m: message) carries m\n  on causal_send(m):\n    {}\n    send MSG(m) to m.dst\n"
    text = text.format(body.replace("; ", "\n    ")) + "  on receive MSG(m) from j: deliver m\n"
    tree, faults = parse(text, "t.thence")
    assert tree is not None, faults
    assert [fault.code for fault in elaborate(tree, "t.thence")[1]] == codes
