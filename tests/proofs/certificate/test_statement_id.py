"""Statement ids: equal for what says the same, different for what does not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from thence.dsl import ir
from thence.proofs.certificate.ids.statement_id import digest, machine_statement_id, theorem_id

Specify = Callable[[str], ir.Specification]

THEORY = """
theory t:
  sort node
  relation good: node
  relation edge(a: node, b: node)
  axiom first: forall a. exists b. edge(a, b)
  axiom second: forall a, b. edge(a, b) implies good(b)
  property p: forall a, b. edge(a, b) and good(a) implies good(b)
  property q: exists a. good(a)
theorem th in t:
  assume p
  prove q
"""

SAME = {
    "comments and documentation": ("theorem th in t:", 'theorem th in t:\n  """New words."""  # and a comment'),
    "bound variables": ("forall a, b. edge(a, b) implies good(b)", "forall x, y. edge(x, y) implies good(y)"),
    "parameter names": ("relation edge(a: node, b: node)", "relation edge(from_: node, to_: node)"),
    "names of axioms": ("axiom first", "axiom other"),
    "the theorem's name": ("theorem th", "theorem other"),
    "order of declarations": (
        "  relation good: node\n  relation edge(a: node, b: node)",
        "  relation edge(a: node, b: node)\n  relation good: node",
    ),
    "what is needed": ("  prove q", "  prove q\n  needs p"),
    "an unused property": ("  property q", "  property r: forall a. good(a)\n  property q"),
}

DIFFERENT = {
    "an axiom": ("forall a. exists b. edge(a, b)", "forall a. exists b. edge(b, a)"),
    "one axiom less": ("  axiom first: forall a. exists b. edge(a, b)\n", ""),
    "the hypothesis": ("edge(a, b) and good(a) implies good(b)", "edge(a, b) or good(a) implies good(b)"),
    "no hypothesis": ("  assume p\n", ""),
    "the goal": ("property q: exists a. good(a)", "property q: forall a. good(a)"),
    "a quantifier": ("axiom first: forall a. exists b", "axiom first: exists a. exists b"),
    "which variable": ("edge(a, b) implies good(b)", "edge(a, b) implies good(a)"),
    "a symbol's name": ("good", "fine"),
}


def id_of(specify: Specify, text: str) -> str:
    (theorem,) = specify(text).theorems
    return theorem_id(theorem)


@pytest.mark.parametrize("change", SAME)
def test_what_says_the_same_has_the_same_id(specify: Specify, change: str) -> None:
    old, new = SAME[change]
    assert old in THEORY
    assert id_of(specify, THEORY.replace(old, new)) == id_of(specify, THEORY)


@pytest.mark.parametrize("change", DIFFERENT)
def test_what_says_something_else_has_another_id(specify: Specify, change: str) -> None:
    old, new = DIFFERENT[change]
    assert old in THEORY
    assert id_of(specify, THEORY.replace(old, new)) != id_of(specify, THEORY)


def test_a_claim_is_a_hint_and_does_not_count(specify: Specify) -> None:
    text = """
theory t:
  sort node
  relation good: node
  relation edge(a: node, b: node)
  inductive reach(a, b):
    direct: edge(a, b)
    further: exists x. reach(a, x) and reach(x, b)
  property p: forall a, b. edge(a, b) and good(a) implies good(b)
  property q: forall a, b. reach(a, b) and good(a) implies good(b)
theorem th in t:
  assume p
  prove q
  by induction on reach(a, b) claim: good(a) implies good(b)
"""
    other = text.replace("claim: good(a) implies good(b)", "claim: not good(a) or good(b)")
    assert id_of(specify, other) == id_of(specify, text)
    assert id_of(specify, text.replace("    direct: edge(a, b)", "    direct: edge(b, a)")) != id_of(specify, text)


MACHINE = """
machine m:
  relation seen: message
  transition causal_send(m):
    require not seen(m)
  transition deliver(m):
    require sent(m) and not delivered(m)
    seen(m) := true
  invariant one: forall m. seen(m) implies sent(m)
  invariant two: forall m. seen(m) implies delivered(m)
  prove causal, at_most_once
"""

UNSEEN = {
    "another invariant": ("  invariant two: forall m. seen(m) implies delivered(m)\n", ""),
    "a parameter": (
        "transition deliver(m):\n    require sent(m) and not delivered(m)\n    seen(m) := true",
        "transition deliver(k):\n    require sent(k) and not delivered(k)\n    seen(k) := true",
    ),
    "the invariant's variable": ("one: forall m. seen(m) implies sent(m)", "one: forall z. seen(z) implies sent(z)"),
}

SEEN = {
    "a guard": ("require not seen(m)", "require seen(m)"),
    "an update": ("seen(m) := true", "seen(m) := false"),
    "another update": ("seen(m) := true", "seen(m) := sent(m)"),
    "a relation more": ("  relation seen: message", "  relation seen: message\n  constant relation more: message"),
}


@pytest.mark.parametrize("name", ["one", "causal", "at_most_once", "history", "vacuity"])
def test_a_machine_statement_is_the_machine_and_the_goal(specify: Specify, name: str) -> None:
    def of(text: str) -> str:
        (machine,) = specify(text).machines
        return machine_statement_id(machine, name)

    assert all(old in MACHINE for old, _ in (*UNSEEN.values(), *SEEN.values()))
    assert {of(MACHINE.replace(*change)) for change in UNSEEN.values()} == {of(MACHINE)}
    assert of(MACHINE) not in {of(MACHINE.replace(*change)) for change in SEEN.values()}


def test_different_statements_of_a_machine_have_different_ids(specify: Specify) -> None:
    (machine,) = specify(MACHINE).machines
    names = ("one", "two", "causal", "at_most_once", "history", "vacuity")
    assert len({machine_statement_id(machine, name) for name in names}) == len(names)


def test_what_leads_to_what_by_which_fair_transitions(specify: Specify) -> None:
    """What is left to do is a hint; the transitions that runs are fair to are part of the statement."""
    text = (
        MACHINE
        + """  eventually live(m): sent(m) leads to delivered(m) by:
    deliver(m)
"""
    )

    def of(old: str = "", new: str = "") -> str:
        assert old in text
        (machine,) = specify(text.replace(old, new)).machines
        return machine_statement_id(machine, "live")

    assert of("    deliver(m)\n", "    deliver(x) for x while x = m\n") == of()
    assert of("sent(m) leads to delivered(m)", "sent(m) leads to seen(m)") != of()
    assert of("sent(m) leads to delivered(m)", "delivered(m)") != of()


def test_delivery_to_several_is_another_machine(specify: Specify) -> None:
    unicast, multicast = (
        specify(f"machine m:\n{item}  transition causal_send(m):\n    require true\n"
                f"  transition deliver({given}):\n    require sent(m)\n  prove no_creation\n").machines[0]
        for item, given in (("", "m"), ("  delivery multicast\n", "m, p"))
    )  # fmt: skip
    assert machine_statement_id(unicast, "no_creation") != machine_statement_id(multicast, "no_creation")


def test_an_order_is_part_of_the_machine(specify: Specify) -> None:
    text = "machine m:\n  delivery off\n  sort round{}\n{}  relation used(r: round)\n" + (
        "  transition use(r: round): used(r) := true\n  invariant all: forall r. used(r) implies used(r)\n"
    )
    orders = (("", ""), (" ordered", ""), ("", "  sort process ordered\n"), (" ordered", "  sort process ordered\n"))
    made = [specify(text.format(*order)).machines[0] for order in orders]
    assert len({machine_statement_id(machine, "all") for machine in made}) == len(orders)


def test_a_digest_is_sha256_of_one_way_of_writing() -> None:
    assert digest({"b": 1, "a": [True, "x"]}) == digest({"a": [True, "x"], "b": 1})
    assert digest(["a", "b"]) != digest(["b", "a"])
    assert digest({}) == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
