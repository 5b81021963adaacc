"""Theories and machines: inference, built-in symbols, guards and updates."""

from __future__ import annotations

import pytest

from thence.dsl import ir
from thence.dsl.check import built_in
from thence.dsl.check.elaborate import elaborate
from thence.dsl.ir import machine_builtins
from thence.dsl.ir.traversal import depth, nodes
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, PROCESS, Sort
from thence.dsl.text.diagnostics import Diagnostic
from thence.dsl.text.parse import parse
from thence.dsl.write.show import show_expression

MACHINE = """
machine q:
  relation network_sent(m: message)
  relation waits(m: message, x: message)
  relation knows(p: process, m: message)
  function num(m: message): nat
  function leader(p: process): process
  transition causal_send(m): {send}
  transition deliver(m): require sent(m) and not delivered(m)
  {more}
  transition changes_the_rest(m: message, x: message, p: process):
    network_sent(m) := true
    waits(m, x) := true
    knows(p, m) := true
    num(m) := 1
    leader(p) := p
  prove causal, fifo, csps
"""


MULTICAST = """
machine q:
  delivery {delivery}
  relation network_sent(m: message)
  transition causal_send(m): pass
  transition deliver(m, p): require {guard}
  {more}
  transition changes_the_rest(m: message):
    network_sent(m) := true
  prove causal
"""

DELIVERIES: tuple[ir.Delivery, ...] = ("unicast", "multicast", "broadcast")


def outcome(text: str) -> tuple[ir.Specification | None, tuple[Diagnostic, ...]]:
    tree, diagnostics = parse(text, "test.thence")
    assert tree is not None, diagnostics
    return elaborate(tree, "test.thence")


def machine(more: str = "", send: str = "pass") -> ir.Machine:
    specification, diagnostics = outcome(MACHINE.format(more=more, send=send))
    assert specification is not None, diagnostics
    return specification.machines[0]


def codes(more: str = "", send: str = "pass") -> list[str]:
    return [diagnostic.code for diagnostic in outcome(MACHINE.format(more=more, send=send))[1]]


def binder_types(formula: ir.Expr) -> dict[str, str]:
    return {node.name: str(node.type) for node in nodes(formula) if isinstance(node, ir.Bound)}


@pytest.mark.parametrize(
    ("formula", "types"),
    [
        ("forall p, a. past(p, a) implies sent(a)", {"p": "process", "a": "message"}),
        ("forall a, b. a = b and sent(b) implies sent(a)", {"a": "message", "b": "message"}),
        ("forall p. exists a. src(a) = p", {"p": "process", "a": "message"}),
        ("forall a. exists b. b = a and sent(a)", {"a": "message", "b": "message"}),
        ("forall p, q. (if p = q then q else leader(p)) = leader(q)", {"p": "process", "q": "process"}),
        ("forall x, y: process. leader(x) = y", {"x": "process", "y": "process"}),
        ("forall x. x = x and (x = x and sent(x))", {"x": "message"}),
    ],
)
def test_binders_get_their_types_from_use(formula: str, types: dict[str, str]) -> None:
    assert binder_types(machine(f"invariant i: {formula}").invariants[0].body) == types


def test_parameters_of_transitions_get_their_types_from_the_body() -> None:
    more = "transition learn(p, a, n):\n    require num(n) < 3\n    knows(p, a) := sent(a)"
    transition = machine(more).transitions[2]
    assert [parameter.type for parameter in transition.parameters] == [PROCESS, MESSAGE, MESSAGE]
    assert codes("transition learn(p):\n    require p = p") == ["E0303"]


def test_updates_name_their_arguments_and_binders() -> None:
    update = machine(send="forall x: waits(m, x) := network_sent(x) and dst(x) = src(m)").transitions[0].updates[0]
    assert update.symbol == "waits"
    assert update.arguments == (ir.Local(MESSAGE, "m"), ir.Local(MESSAGE, "x"))
    assert update.binders == (ir.Variable("x", MESSAGE),)
    assert show_expression(update.value) == "network_sent(x) and dst(x) = src(m)"


def test_numbers_in_machines() -> None:
    update = machine(send="num(m) := num(m) + 1").transitions[0].updates[0]
    assert update.value.type == NAT
    less = machine(send="num(m) := num(m) - 1").transitions[0].updates[0].value
    assert isinstance(less, ir.Conditional) and less.otherwise == ir.Literal_(NAT, 0)
    assert codes("invariant i: forall n: nat. n = n") == []


def test_guards_are_named_by_their_text() -> None:
    guards = machine().transitions[1].requires
    assert [guard.name for guard in guards] == ["sent(m) and not delivered(m)"]


def test_statements_of_protocols_are_refused() -> None:
    for statement in ("let x = m", "send MSG(m) to m", "deliver m", "if sent(m): pass", "return"):
        assert codes(send=f"\n    {statement}") == ["E0501"], statement


@pytest.mark.parametrize("symbol", machine_builtins.SYMBOLS, ids=lambda symbol: symbol.name)
def test_built_in_symbols_can_be_read_but_not_declared_or_updated(symbol: ir.Symbol) -> None:
    names = "ab"[: len(symbol.parameters)]
    application = f"{symbol.name}({', '.join(names)})"
    formula = application if symbol.result == BOOL else f"{application} = {application}"
    assert codes(f"invariant i: forall {', '.join(names)}. {formula}") == []
    parameters = ", ".join(f"{parameter.name}: {parameter.type}" for parameter in symbol.parameters)
    assert codes(f"relation {symbol.name}({parameters})") == ["E0502"]
    update = f"forall {', '.join(names)}: {application} := {application}"
    assert "E0502" in codes(send=update)


def facts_of(delivery: ir.Delivery) -> list[ir.NamedFormula]:
    properties = (name for name in machine_builtins.MACHINE_PROPERTIES if name != "at_most_once")
    stated = [built_in.property_formula(name, delivery) for name in properties]
    return [*built_in.built_in_axioms(delivery), *built_in.history_facts(delivery), *stated]


@pytest.mark.parametrize(
    ("formula", "found"),
    [
        ("forall p: process, q. p = q", {"p": "process", "q": "process"}),
        ("forall q, p: process, r. r = p or q = r", {"p": "process", "q": "process", "r": "process"}),
        ("forall s: process. forall x in held@s, n: process, y. y = n", {"n": "process", "y": "process"}),
        ("forall MSG(m) from a to b in flight, q. q = b", {"q": "process"}),
        ("forall p: process, q. p = p", "E0303"),
        ("forall p: process, q. q = q and p = p", "E0303"),
        ("forall s: process. forall x in held@s, y. x = y", "E0415"),
        ("forall MSG(m) from a to b in flight, q. q = m", "E0415"),
    ],
)
def test_a_variable_has_the_type_of_another_one_of_its_list(formula: str, found: dict[str, str] | str) -> None:
    specification, diagnostics = outcome(
        "protocol p:\n  message MSG(m: message) carries m\n  state:\n    held: set of message\n"
        "  on causal_send(m):\n    held.add(m)\n    send MSG(m) to m.dst\n  on receive MSG(m) from j: deliver m\n"
        f"  invariant i: {formula}\n"
    )
    if isinstance(found, str):
        assert [each.code for each in diagnostics if each.severity == "error"] == [found]
    else:
        assert specification is not None, diagnostics
        assert found.items() <= binder_types(specification.protocols[0].invariants[0].body).items()


@pytest.mark.parametrize("delivery", DELIVERIES)
def test_built_in_formulas_are_what_their_text_means(delivery: ir.Delivery) -> None:
    """Shown, parsed and typed again, with the types of the bound variables inferred, the formula is the same."""
    for fact in facts_of(delivery):
        again = f"invariant again: {show_expression(fact.body)}"
        checked = machine(again).invariants[0] if delivery == "unicast" else multicast(again, delivery).invariants[0]
        assert checked.body == fact.body, fact.name


def multicast(more: str = "", delivery: ir.Delivery = "multicast", guard: str = "sent(m) and to(m, p)") -> ir.Machine:
    text = MULTICAST.format(more=more, delivery=delivery, guard=guard)
    specification, diagnostics = outcome(text)
    assert specification is not None, diagnostics
    return specification.machines[0]


def test_a_message_of_a_multicast_machine_has_a_set_of_destinations() -> None:
    machine = multicast("invariant i: forall m, p. delivered(m, p) implies to(m, p)")
    assert machine.delivery == "multicast"
    assert machine.transitions[1].parameters == (ir.Variable("m", MESSAGE), ir.Variable("p", PROCESS))
    assert binder_types(machine.invariants[0].body) == {"m": "message", "p": "process"}
    assert machine.axioms == ()


def test_a_broadcast_goes_to_everyone_else() -> None:
    (axiom,) = multicast(delivery="broadcast").axioms
    assert show_expression(axiom.body) == "forall m, p. p != src(m) implies to(m, p)"


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ("invariant i: forall m. dst(m) = src(m)", "E0419"),
        ("relation dst(m: message)", "E0502"),
        ("relation to(m: message, p: process)", "E0502"),
        ("invariant i: forall m. delivered(m)", "E0302"),
        ("invariant i: forall a, b. delivered_before(a, b)", "E0302"),
        ("invariant i: forall m. m.dsts = m.dsts", "E0518"),
        ("axiom i: forall m, p. to(m, p) implies sent(m)", "E0520"),
        ("transition t(m, p):\n    to(m, p) := true", "E0502"),
    ],
)
def test_what_a_multicast_machine_does_not_have(more: str, code: str) -> None:
    text = MULTICAST.format(more=more, delivery="multicast", guard="sent(m)")
    assert code in [diagnostic.code for diagnostic in outcome(text)[1]]


def test_destinations_are_rigid_and_an_axiom_may_speak_of_them() -> None:
    assert multicast("axiom own: forall m. to(m, src(m))").axioms[0].name == "own"


def test_a_unicast_machine_may_use_the_words_of_multicast() -> None:
    more = "constant relation to(p: process)\n  invariant i: forall p. to(p) implies to(p)"
    assert "to" in [symbol.name for symbol in machine(more).symbols]


def test_at_most_once_is_about_the_parameter_of_deliver() -> None:
    formula = machine_builtins.at_most_once(ir.Variable("packet", MESSAGE))
    assert show_expression(formula.body) == "not delivered(packet)"
    at_one = machine_builtins.at_most_once(ir.Variable("m", MESSAGE), ir.Variable("p", PROCESS))
    assert show_expression(at_one.body) == "not delivered(m, p)"
    with pytest.raises(ValueError, match="at_most_once"):
        built_in.property_formula("at_most_once")


def test_a_mutant_of_a_machine() -> None:
    text = MACHINE.format(more="", send="pass") + (
        "\nmutant again of q:\n  transition deliver(m): require sent(m)\n  expect refuted at_most_once\n"
    )
    specification, _ = outcome(text)
    assert specification is not None
    mutant = specification.mutants[0]
    assert isinstance(mutant.mutated, ir.Machine)
    assert [guard.name for guard in mutant.mutated.transitions[1].requires] == ["sent(m)"]
    assert mutant.expects[0].names == ("at_most_once",)
    assert mutant.expects[0].settings is None


THEORY = """
theory t:
  sort process, message, time ordered
  function src, dst: message to process
  function c: message to time
  relation sent: message
  axiom apart: forall a, b. c(a) = c(b) and sent(a) implies a = b
  inductive hb(a, b):
    local: sent(a) and src(a) = src(b) and c(a) < c(b)
    step: exists x. hb(a, x) and hb(x, b)
  property later: forall a, b. hb(a, b) implies c(a) < c(b)
  property calm: forall a. sent(a)

theorem one in t:
  assume calm
  prove later
  by induction on hb(x, y) claim: c(x) <= c(y)
  needs calm
  expect proved
"""


def test_a_theory() -> None:
    specification, diagnostics = outcome(THEORY)
    assert specification is not None, diagnostics
    theory = specification.theories[0]
    assert (theory.sorts, theory.ordered) == ((PROCESS, MESSAGE, Sort("time")), ("time",))
    assert [symbol.name for symbol in theory.symbols] == ["src", "dst", "c", "sent"]
    assert [axiom.name for axiom in theory.axioms] == ["apart"]
    hb = theory.inductives[0]
    assert hb.parameters == (ir.Variable("a", MESSAGE), ir.Variable("b", MESSAGE))
    assert [rule.name for rule in hb.rules] == ["local", "step"]


def test_a_theorem() -> None:
    specification, _ = outcome(THEORY)
    assert specification is not None
    theorem = specification.theorems[0]
    assert [formula.name for formula in (*theorem.assume, *theorem.prove)] == ["calm", "later"]
    [induction] = theorem.inductions
    [part] = induction.parts
    assert part.variables == (ir.Variable("x", MESSAGE), ir.Variable("y", MESSAGE))
    assert [(claim.name, show_expression(claim.body)) for claim in induction.claims] == [("claim", "c(x) <= c(y)")]
    assert theorem.needs == ("calm",)


def test_depth_counts_what_stands_in_one_another() -> None:
    leaf = ir.Literal_(BOOL, True)
    assert depth(ir.Not(BOOL, ir.Not(BOOL, leaf))) - depth(leaf) == 2
    assert sum(1 for node in nodes(ir.Not(BOOL, leaf)) if isinstance(node, ir.Literal_)) == 1


@pytest.mark.parametrize("operator", ["max", "min"])
def test_the_greater_and_the_smaller_of_two_numbers(operator: str) -> None:
    """In machines, which have numbers; a function of this name that the machine declares comes first."""
    found = machine(f"invariant i: forall m. {operator}(num(m), 1) <= num(m) + 1")
    (arithmetic,) = (
        node for node in nodes(found.invariants[0].body) if isinstance(node, ir.Arithmetic) and node.operator != "+"
    )
    assert (arithmetic.operator, arithmetic.type) == (operator, NAT)
    assert codes(f"invariant i: forall m. {operator}(src(m), 1) = 1") == ["E0301"]
    assert codes(f"invariant i: forall m. {operator}(num(m)) = 1") == ["E0302"]
    theory = f"theory t:\n  sort message\n  relation r: message\n  property p: forall m: message. {operator}(m, m) = m"
    assert [diagnostic.code for diagnostic in outcome(theory)[1]] == ["E0205"]
    declared = machine(
        f"constant function {operator}(p: process): nat\n  invariant i: forall m. {operator}(src(m)) = 0"
    )
    assert not [node for node in nodes(declared.invariants[0].body) if isinstance(node, ir.Arithmetic)]


@pytest.mark.parametrize("formula", ["(sum m. num(m)) = 0", "forall m. num(m) * 2 < 3"])
def test_machines_have_no_sums_and_products(formula: str) -> None:
    text = MACHINE.format(send="pass", more=f"invariant said: {formula}")
    tree, _ = parse(text, "t.thence")
    assert tree is not None
    assert [fault.code for fault in elaborate(tree, "t.thence")[1]] == ["E0314"]


ROUNDS = """
machine rounds:
  delivery off
  sort node, round ordered
  sort process ordered, age ordered
  relation used(p: process, r: round)
  constant function first(): round
  transition use(p: process, r: round):
    require first() < r and forall q, s. used(q, s) implies s <= r and p > q
    used(p, r) := true
  invariant low: forall p, r. used(p, r) implies r >= first()
"""


def test_ordered_sorts_of_a_machine() -> None:
    specification, diagnostics = outcome(ROUNDS)
    assert specification is not None, diagnostics
    (found,) = specification.machines
    assert found.sorts == (Sort("node"), Sort("round"), Sort("age"))
    assert found.ordered == ("round", "process", "age")
    assert show_expression(found.transitions[0].requires[0].body) == (
        "first() < r and (forall q, s. used(q, s) implies s <= r and q < p)"
    )


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("sort node, round ordered", "sort node, round", "E0305"),
        ("sort process ordered", "sort node ordered", "E0208"),
        ("sort process ordered", "sort process", "E0521"),
        ("sort process ordered", "sort message ordered", "E0521"),
        ("age ordered", "process ordered", "E0521"),
        ("s <= r and p > q", "s <= q", "E0301"),
        ("r >= first()", "max(r, first()) = r", "E0301"),
    ],
)
def test_orders_that_are_not_there(old: str, new: str, code: str) -> None:
    assert old in ROUNDS
    specification, diagnostics = outcome(ROUNDS.replace(old, new, 1))
    assert specification is None
    assert code in {each.code for each in diagnostics}, diagnostics
