"""Numbers in what infer finds: relations over numbers, statements about all of them; and names that a file can have."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from thence.dsl import ir
from thence.dsl.check.stated.machine_formula import machine_formula
from thence.dsl.find import specification
from thence.dsl.load import library
from thence.dsl.write.show import show_expression
from thence.proofs.infer.candidates.clauses import clause_of
from thence.proofs.infer.candidates.vocabulary import sorts_of, templates, vocabulary_of
from thence.proofs.infer.search.inference import infer
from thence.proofs.infer.search.outcome import Inference, Limits
from thence.proofs.logic.formula import children, symbols_of
from thence.proofs.prove import solver_pool
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession

Specify = Callable[[str], ir.Specification]

REGISTER = """
machine register:
  delivery off
  sort client
  function version(): nat
  function seen(c: client): nat
  relation reads(c: client)
  relation wrote(c: client, n: nat)
  transition read(c: client):
    seen(c) := version()
    reads(c) := true
  transition swap(c: client):
    require reads(c) and seen(c) = version()
    version() := version() + 1
    reads(c) := false
    forall n: wrote(c, n) := wrote(c, n) or n = version() + 1
  invariant one_writer: forall c, d, n. wrote(c, n) and wrote(d, n) implies c = d
"""

HIDING = """
machine hiding:
  delivery off
  sort client, node, quorum
  constant relation c(n: node, q: quorum)
  relation n(x: client, y: node)
  relation won(x: client)
  axiom some: forall q. exists k. c(k, q)
  transition ask(x: client, y: node):
    require forall z. not n(z, y)
    n(x, y) := true
  transition win(x: client, q: quorum):
    require forall k. c(k, q) implies n(x, k)
    won(x) := true
  invariant asked: forall x. won(x) implies exists y. n(x, y)
"""
"""Relations have the names that variables would have, and a guard binds a name that a variable may have."""


def inferred(machine: ir.Machine) -> Inference:
    options = Options(workers=1)
    with solver_pool(options) as pool:
        return infer(ProofSession(pool, options), machine, Limits(240.0), lambda _: None)


def test_a_statement_about_all_numbers_is_proved(specify: Specify) -> None:
    (machine,) = specify(REGISTER).machines
    found = inferred(machine)
    assert found.proved and found.conjuncts


def test_a_false_statement_about_all_numbers_ends_in_a_run(specify: Specify) -> None:
    wrong = REGISTER.replace("seen(c) = version()", "seen(c) <= version()")
    (machine,) = specify(wrong.replace("version() + 1", "seen(c) + 1")).machines
    found = inferred(machine)
    assert found.refuted is not None and found.refuted.name == "one_writer"
    assert "one_writer is now false for" in found.refuted.text


@pytest.mark.parametrize("source", [REGISTER, HIDING, "paxos", "leader_ring", "mf", "pc_broadcast"])
def test_clauses_can_be_written_into_the_file(source: str, specify: Specify) -> None:
    """Whatever a clause says, the language takes its text, and it means the clause."""
    benchmark = library()[0].parent / "benchmarks" / f"{source}.thence"
    if "\n" in source:
        machine = specify(source).machines[0]
    else:
        machine = specification(str(benchmark) if benchmark.exists() else source).machines[0]
    chance = Random(1)
    bound_inside = 0
    for reasons in (False, True):
        vocabulary = vocabulary_of(machine, [each.body for each in machine.invariants], reasons=reasons)
        several = [each for number in (1, 2, 3) for each in templates(vocabulary, sorts_of(machine), number)]
        for _ in range(150):
            template = chance.choice(several)
            chosen = dict.fromkeys(chance.sample(template.atoms, min(len(template.atoms), chance.randrange(1, 4))))
            clause = clause_of(template, [(atom, chance.random() < 0.5) for atom in chosen])
            formula = clause.formula
            if not clause.connected or not symbols_of(formula):
                continue
            text = show_expression(formula)
            read, faults = machine_formula(machine, text, "a clause")
            assert read is not None, (text, faults)
            assert show_expression(read) == text
            bound_inside += _quantifiers(formula) > 1
    assert bound_inside > 0 or source in (REGISTER, "mf")


def _quantifiers(expr: ir.Expr) -> int:
    return isinstance(expr, ir.Quantified) + sum(_quantifiers(part) for part in children(expr))
