"""What a thread found a moment ago is looked up no more: the counts are as if it were."""

import pytest

from thence.dsl import ir
from thence.dsl.load import load
from thence.proofs.engines import explore
from thence.proofs.explore.exploration import Exploration, Method, Resources
from thence.proofs.native.code import recent
from thence.proofs.native.code.kernel import compile_kernel
from thence.proofs.scopes.scopes import properties_of


def _explored(name: str, reductions: tuple[str, ...], threads: int) -> Exploration:
    specification = load(name).specification
    assert specification is not None
    protocol = specification.protocols[0]
    others = tuple(tuple(q for q in range(3) if q != p) for p in range(3))
    workload = ir.Workload(3, (2, 2, 1), others)
    compile_kernel.cache_clear()
    method = Method("native", Resources(threads=threads), reductions)
    return explore(protocol, workload, properties_of(protocol), method=method)


@pytest.mark.long(but=("cykas-reductions0-2",))
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("reductions", [(), ("symmetry",)])
@pytest.mark.parametrize("name", ["cykas", "rst"])
def test_the_size_of_the_table_makes_no_difference(
    name: str, reductions: tuple[str, ...], threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_it_is = _explored(name, reductions, threads)
    monkeypatch.setattr(recent, "_MOST_WORDS", 1)
    of_two_places = _explored(name, reductions, threads)
    compile_kernel.cache_clear()
    assert as_it_is.complete
    assert of_two_places.complete
    assert as_it_is.states == of_two_places.states > 100
    assert as_it_is.transitions == of_two_places.transitions
    assert as_it_is.violations.keys() == of_two_places.violations.keys()


def test_a_state_of_zeros_is_not_there_before_it_came() -> None:
    table = recent.table_of(3)
    assert table[0] == 1
    assert table.length // 3 & table.length // 3 - 1 == 0
