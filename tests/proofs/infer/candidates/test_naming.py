"""Names of what is found can stand in a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from thence.dsl import ir
from thence.dsl.check.stated.machine_formula import machine_formula
from thence.dsl.load import load_bytes
from thence.proofs.infer.candidates.clauses import clause_from
from thence.proofs.infer.candidates.naming import line_of, name_of, names_of


@pytest.mark.parametrize(
    "name", ["None", "Empty", "In", "Is", "Pass", "Count", "History", "ghost_x", "Quiescent", "Fifo", "plain"]
)
def test_a_name_is_no_reserved_or_kept_word(name: str) -> None:
    text = f"""machine m:
  delivery off
  sort node
  relation {name}(n: node)
  transition go(n: node):
    {name}(n) := true
  invariant some: forall n. {name}(n) or not {name}(n)
"""
    specification = load_bytes(Path("m.thence"), text.encode()).specification
    assert specification is not None
    (machine,) = specification.machines
    body, _ = machine_formula(machine, f"forall n. {name}(n)", "here")
    assert body is not None
    clause = clause_from(body)
    line = line_of(ir.NamedFormula(name_of(clause, names_of(machine)), clause.formula))
    assert load_bytes(Path("m.thence"), f"{text}  {line}\n".encode()).specification is not None, line
