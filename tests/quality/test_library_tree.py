"""Trees: the axioms of each step are what the step before proves, and what follows for messages."""

from __future__ import annotations

import pytest

from thence.dsl import ir
from thence.dsl.load import load
from thence.proofs.prove import prove_specification
from thence.proofs.solving.discharge import Options
from thence.spec.verdict import Level, Result, Verdict

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("tree")]  # the proofs of the file are made once


@pytest.fixture(scope="module")
def trees() -> ir.Specification:
    found = load("tree").specification
    assert found is not None
    return found


@pytest.fixture(scope="module")
def results(trees: ir.Specification) -> dict[str, Result]:
    return {result.name: result for result in prove_specification(trees, options=Options(workers=2))}


def theory(trees: ir.Specification, name: str) -> ir.Theory:
    return next(known for known in trees.theories if known.name == name)


def established(trees: ir.Specification, name: str) -> list[ir.Expr]:
    """The theory's axioms, and what its theorems prove from them, in the order of the text."""
    known = [axiom.body for axiom in theory(trees, name).axioms]
    for theorem in trees.theorems:
        if theorem.theory.name == name and not theorem.expects and theorem.name != "printed_3_4":
            assert all(assumed.body in known for assumed in theorem.assume), theorem.name
            known += [goal.body for goal in theorem.prove]
    return known


@pytest.mark.parametrize(("earlier", "later"), [("rooted_trees", "next_hops"), ("next_hops", "tree_paths")])
def test_axioms_of_a_theory_are_theorems_of_the_one_before(trees: ir.Specification, earlier: str, later: str) -> None:
    known = established(trees, earlier)
    axioms = theory(trees, later).axioms
    assert len(axioms) >= 4
    for axiom in axioms:
        assert axiom.body in known, axiom.name


def test_axioms_of_the_machine_are_theorems_about_trees(trees: ir.Specification) -> None:
    """But for that about messages: nobody sends to itself."""
    (machine,) = trees.machines
    known = established(trees, "tree_paths")
    assert [axiom.name for axiom in machine.axioms if axiom.body not in known] == ["others"]
    assert len(machine.axioms) == 10


def test_paths_are_defined_on_the_same_next_hops(trees: ir.Specification) -> None:
    """Figure 4 is stated once; from then on next hops are known by the theorems alone."""
    symbols = {symbol.name: symbol for symbol in theory(trees, "rooted_trees").symbols}
    for name in ("next_hops", "tree_paths"):
        for symbol in theory(trees, name).symbols:
            assert symbol.name == "above" or symbols[symbol.name] == symbol


def test_everything_is_as_the_file_expects(results: dict[str, Result]) -> None:
    assert [name for name, result in results.items() if not result.expected] == []


def test_causal_in_any_tree(trees: ir.Specification, results: dict[str, Result]) -> None:
    (machine,) = trees.machines
    stated = ("history", *(one.name for one in machine.invariants), *machine.prove, "lemma_4_4")
    assert len(machine.invariants) == 11
    assert len(machine.prove) == 6
    for name in stated:
        assert (results[name].verdict, results[name].level) == (Verdict.PROVED, Level.L3), name


def test_a_tree_as_printed_has_one_node(results: dict[str, Result]) -> None:
    """Definition 3.4, second item; both assumptions are needed, and the item as meant has larger trees."""
    needed = {need["name"]: need["needed"] for need in results["printed_3_4"].facts["assumptions"]}
    assert needed == {"neighbours": True, "definition_3_4_printed": True}
    assert results["meant_3_4"].verdict is Verdict.REFUTED


DEPTHS = {
    "routes_beyond: causal": 6,
    "to_oneself: causal": 7,
    "strict_at_the_origin: no_detour": 1,
    "wrong_premise: theorem_4_1": 4,
    "overtaking_between_neighbours: causal": 5,
    "figure_8_second_case: lemma_4_4": 4,
    "figure_8_third_case: lemma_4_4": 4,
    "figure_8_fifth_case: lemma_4_4": 4,
}


@pytest.mark.parametrize("name", DEPTHS)
def test_what_is_false_as_printed_is_refuted_by_a_run(results: dict[str, Result], name: str) -> None:
    assert (results[name].verdict, results[name].facts["depth"]) == (Verdict.REFUTED, DEPTHS[name])
