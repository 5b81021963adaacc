"""Stability: whatever is proved in the library stays proved under other seeds, orders and names.

Another seed here; `bench/run.py stability` takes twenty.
"""

from __future__ import annotations

import pytest

from thence.dsl.ir.machine_builtins import VACUITY
from thence.dsl.load import library, load
from thence.proofs.prove import proofs, provable_names
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.stability import measure, proved_obligations

SEEDS = 1
FIRST = Options(timeout_ms=40_000, solvers=("z3",))
"""Stability is that of the first solver; the second is for levels. The limit is four times the usual one: a machine
with other work is not to decide."""


def provable(name: str) -> list[str]:
    """What a file states for any number of messages, mutants and vacuity left out."""
    specification = load(name).specification
    assert specification is not None
    mutants = {mutant.name for mutant in specification.mutants}
    refuted = {each.name for each in specification.theorems if any(e.verdict == "refuted" for e in each.expects)}
    names = (each for each in provable_names(specification) if each not in mutants | refuted)
    return [each for each in names if each != VACUITY and each not in {m.name for m in specification.machines}]


FILES = [path.stem for path in library() if provable(path.stem)]


@pytest.mark.long(but=("tree_printed", "rst_mf", "execution"), share=3)
@pytest.mark.parametrize("name", FILES)
def test_no_obligation_flakes(name: str) -> None:
    specification = load(name).specification
    assert specification is not None
    obligations = proved_obligations(proofs(specification, provable(name), FIRST))
    assert len(obligations) >= 5
    measured = measure(obligations, FIRST, SEEDS)
    flaky = [(each.obligation.name, [trial.seed for trial in each.flakes]) for each in measured if each.flakes]
    assert not flaky
    assert sum(len(each.trials) for each in measured) == SEEDS * len(obligations)
