"""A formula apart from its machine means what it means as an invariant of it."""

from __future__ import annotations

import pytest

from thence.dsl import ir
from thence.dsl.check.stated.machine_formula import machine_formula
from thence.dsl.find import specification
from thence.dsl.load import library
from thence.dsl.write.show import show_expression


@pytest.mark.parametrize("name", ["fifo", "skeen", "hybrid_multicast", "ricart_agrawala"])
def test_invariants_come_back(name: str) -> None:
    for machine in specification(name).machines:
        for invariant in machine.invariants:
            body, faults = machine_formula(machine, show_expression(invariant.body), "a test")
            assert body == invariant.body and faults == ()


def test_sorts_and_mutants_are_known() -> None:
    content = specification(str(library()[0].parent / "benchmarks" / "paxos.thence"))
    for machine in (*content.machines, *(each.mutated for each in content.mutants)):
        assert isinstance(machine, ir.Machine)
        body, faults = machine_formula(machine, "forall b: ballot. asked(b)", "a test")
        assert body is not None and faults == ()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("nobody", "E0201"),
        ("forall a. nobody(a)", "E0205"),
        ("forall a. sent(a) implies", "E0119"),
        ("", "E0107"),
        ("# a comment", "E0107"),
        ("\n  prove causal", "E0107"),
    ],
)
def test_faults_have_codes(text: str, code: str) -> None:
    body, faults = machine_formula(specification("fifo").machines[0], text, "a test")
    assert body is None and code in [each.code for each in faults]
