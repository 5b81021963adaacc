"""No name of the tool can be declared where results would carry it, and no two statements of a subject share a name."""

from __future__ import annotations

import random
from itertools import product

import pytest

from thence.dsl.check.built_in import history_facts
from thence.dsl.check.elaborate import elaborate
from thence.dsl.ir.machine_builtins import HISTORY, MACHINE_PROPERTIES, VACUITY
from thence.dsl.text.parse import parse

TOOL_NAMES = (
    HISTORY, VACUITY, *(fact.name for fact in history_facts("unicast")), "ghost_of_mine", "ghost_",
    *MACHINE_PROPERTIES,
)  # fmt: skip
HYPOTHESES = ("not_sent", "quiescent", "waiting")
FORMULAS = {
    "axiom": "  axiom {name}: forall m: message. src(m) = src(m)\n",
    "transition": "  transition {name}(): pass\n",
    "invariant": "  invariant {name}: forall m. not sent(m)\n",
    "stable formula": "  stable {name}: forall m. not sent(m)\n",
    "reachable formula": "  reachable {name}: exists m. sent(m)\n",
}
MACHINE = """machine {machine}:
  transition causal_send(m): pass
  transition deliver(m):
    require sent(m) and not delivered(m)
  invariant right: forall m. delivered(m) implies sent(m)
"""
THEORY = """theory {theory}:
  sort thing
  relation big: thing
  axiom a_{axiom}: forall x. big(x)
  property p_{property}: forall x. big(x)
theorem {theorem} in {theory}:
  prove p_{property}
"""


def codes(text: str) -> set[str]:
    tree, found = parse(text, "names")
    assert tree is not None, found
    specification, later = elaborate(tree, "names")
    said = {each.code for each in later if each.severity == "error"}
    assert (specification is None) == bool(said)
    return said


@pytest.mark.parametrize("name", (*TOOL_NAMES, *HYPOTHESES))
@pytest.mark.parametrize("position", FORMULAS)
def test_no_part_of_a_machine_takes_a_name_of_the_tool(name: str, position: str) -> None:
    assert codes(MACHINE.format(machine="some") + FORMULAS[position].format(name=name)) & {"E0640", "E0519"}


@pytest.mark.parametrize("name", TOOL_NAMES)
@pytest.mark.parametrize("kind", ["machine", "mutant", "theorem"])
def test_no_declaration_that_is_proved_takes_a_name_of_the_tool(name: str, kind: str) -> None:
    text = {
        "machine": MACHINE.format(machine=name),
        "mutant": MACHINE.format(machine="some")
        + f"mutant {name} of some:\n  transition deliver(m):\n    require sent(m)\n  expect proved right\n",
        "theorem": THEORY.format(theory="t", theorem=name, axiom="x", property="x"),
    }[kind]
    assert "E0640" in codes(text)


@pytest.mark.parametrize("name", (*HYPOTHESES, "claim", "chain", "claim_so_far"))
def test_what_the_tool_adds_to_obligations_is_no_name_elsewhere(name: str) -> None:
    protocol = f"""
protocol {name}_of:
  message MSG(m: message) carries m
  state:
    n: nat
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j: deliver m
  invariant {name}: forall p: process. n@p = 0
conforms {name}_of to {name}:
  causal_send(m) is causal_send(m)
  deliver m is deliver(m)
  invariant {name}: forall m: message. true
"""
    assert codes(MACHINE.format(machine=name) + protocol) == set()


@pytest.mark.parametrize("name", [HISTORY, VACUITY, "ghost_fact", "claim", "chain", "claim_so_far"])
@pytest.mark.parametrize("position", ["axiom", "property"])
def test_no_formula_of_a_theory_takes_a_name_of_the_tool(name: str, position: str) -> None:
    other = {"axiom": "property", "property": "axiom"}[position]
    text = THEORY.format(theory="t", theorem="s", **{position: "@", other: "x"})
    assert "E0640" in codes(text.replace(f"{position[0]}_@", name))


@pytest.mark.parametrize("first, second", list(product(FORMULAS, FORMULAS)))
def test_two_statements_of_a_machine_have_two_names(first: str, second: str) -> None:
    text = MACHINE.format(machine="some") + FORMULAS[first].format(name="same")
    assert codes(text) == set()
    assert codes(text + FORMULAS[second].format(name="same")) & {"E0208", "E0641"}


def test_names_made_from_a_position_are_names_too() -> None:
    text = MACHINE.format(machine="some") + "  invariant: forall m. not delivered(m)\n"
    assert codes(text) == set()
    assert codes(text + "  invariant invariant_2: forall m. not sent(m)\n") == {"E0641"}


def test_random_files_with_few_names() -> None:
    """Whatever is accepted has all its names apart: drawn from so few that most files have a collision."""
    chance = random.Random(14)
    accepted = 0
    for _ in range(200):
        text = MACHINE.format(machine=chance.choice("abc"))
        used = [text.split()[1].rstrip(":"), "right", "causal_send", "deliver"]
        for position in chance.choices(list(FORMULAS), k=chance.randrange(4)):
            used.append(chance.choice("abcdefgh"))
            text += FORMULAS[position].format(name=used[-1])
        if not codes(text):
            accepted += 1
            assert len(set(used)) == len(used) or used.count(used[0]) > 1
    assert accepted > 20
