"""A growing set of false statements, none of which may ever be proved.

Every file states what it expects of the false ones (`refuted`, or `unknown` where no finite or reachable
counterexample exists); what it does not mention is beside the point. In `vacuous.thence` nothing is false: there
the report must say that the machine cannot do anything.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from thence.dsl import ir
from thence.dsl.load import load
from thence.proofs.prove import prove_specification
from thence.proofs.solving.discharge import Options
from thence.spec.verdict import Result, Verdict

FOLDER = Path(__file__).parent / "false_statements"
FILES = sorted(path.stem for path in FOLDER.glob("*.thence"))


def specification_of(name: str) -> ir.Specification:
    loaded = load(str(FOLDER / f"{name}.thence"))
    assert loaded.specification is not None, [diagnostic.message for diagnostic in loaded.diagnostics]
    return loaded.specification


def stated_false(specification: ir.Specification) -> dict[tuple[str, str], Verdict]:
    """(subject, name) of every false statement, and the verdict that its file expects."""
    found: dict[tuple[str, str], Verdict] = {}
    for theorem in specification.theorems:
        assert theorem.expects, theorem.name
        found[(theorem.theory.name, theorem.name)] = Verdict(theorem.expects[0].verdict)
    for machine in specification.machines:
        for expectation in machine.expects:
            found |= {(machine.name, name): Verdict(expectation.verdict) for name in expectation.names}
    return found


def test_the_set_is_large_enough() -> None:
    assert sum(len(stated_false(specification_of(name))) for name in FILES) >= 50


@pytest.mark.long(but=("vacuous", "contradictions"))
@pytest.mark.parametrize("name", FILES)
def test_none_is_proved(name: str) -> None:
    specification = specification_of(name)
    results = prove_specification(specification, options=Options(timeout_ms=1_500))
    by_name = {(result.subject, result.name): result for result in results}
    for statement, expected in stated_false(specification).items():
        assert expected is not Verdict.PROVED
        assert by_name[statement].verdict is expected, (statement, by_name[statement].explanation)


def test_what_can_never_happen_is_reported() -> None:
    results = prove_specification(specification_of("vacuous"), options=Options(timeout_ms=1_500))
    found: dict[str, list[Result]] = {}
    for result in results:
        found.setdefault(result.subject, []).append(result)
    stuck = {result.name: result for result in found["never_ready"]}
    assert stuck["vacuity"].verdict is Verdict.REFUTED
    assert not stuck["vacuity"].expected
    assert stuck["vacuity"].facts["impossible"] == ["get_ready", "deliver"]
    assert all(result.verdict is not Verdict.PROVED for result in found["no_such_system"])
