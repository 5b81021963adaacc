"""What is kept comes back, and nothing that the machine does not allow does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from thence.dsl import ir
from thence.dsl.find import specification
from thence.proofs.infer.candidates.clauses import clause_from
from thence.proofs.infer.finite.samples import Sampler, Samples
from thence.proofs.infer.search.kept import (
    Forest,
    Kept,
    NotKept,
    Taken,
    clauses_of,
    digest,
    forest_of,
    read,
    replayed,
    restore,
    save,
    texts_of,
)
from thence.proofs.prove import solver_pool
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession

MACHINE = specification("synchronous").machines[0]


def sampled(machine: ir.Machine, states: int, kept: tuple[Forest, ...] = ()) -> Samples:
    options = Options(workers=1)
    with solver_pool(options) as pool:
        sampler = Sampler(ProofSession(pool, options), machine, {"process": 2, "message": 3}, 7)
        restore(sampler, machine, kept)
        return sampler.more(states, lambda: False)


def test_samples_are_computed_again() -> None:
    samples = sampled(MACHINE, 200)
    forest = forest_of(MACHINE, samples)
    assert len(samples.states) > 50
    assert [state and state.tables for state in replayed(MACHINE, forest)] == [each.tables for each in samples.states]
    again = sampled(MACHINE, 0, (forest,))
    assert [each.tables for each in again.states] == [each.tables for each in samples.states]
    for number in range(0, len(again.states), 10):
        assert again.run_to(number).states()[-1].tables == again.states[number].tables


def test_a_step_that_is_not_possible_is_left_out_with_all_that_follow() -> None:
    forest = forest_of(MACHINE, sampled(MACHINE, 200))
    at = next(number for number, each in enumerate(forest.records) if isinstance(each, Taken))
    wrong = Taken(0, "deliver", (0,))  # nothing is sent yet
    changed = replace(forest, records=(*forest.records[:at], wrong, *forest.records[at + 1 :]))
    states = replayed(MACHINE, changed)
    assert states[0] is not None and states[at] is None
    followers = [each for each in changed.records if isinstance(each, Taken) and states[each.before] is None]
    assert all(
        states[number] is None for number, each in enumerate(changed.records) if each in followers or each == wrong
    )


@pytest.mark.parametrize(
    "record",
    [
        Taken(5, "causal_send", (0,)),
        Taken(-1, "causal_send", (0,)),
        Taken(0, "nobody", (0,)),
        Taken(0, "causal_send", (3,)),
        Taken(0, "causal_send", (-1,)),
        Taken(0, "causal_send", ()),
        {},
        {"src": [0, 0, 9], "dst": [0, 0, 0]},
        {"src": [0, 0], "dst": [0, 0, 0]},
    ],
)
def test_nonsense_is_left_out(record: Taken | dict[str, list[int]]) -> None:
    start = forest_of(MACHINE, sampled(MACHINE, 5)).records[0]
    states = replayed(MACHINE, Forest({"process": 2, "message": 3}, (start, record)))
    assert states[0] is not None and states[1] is None


def test_clauses_come_back_as_they_were() -> None:
    formulas = [clause_from(each.body).formula for each in MACHINE.invariants]
    assert formulas == [each.body for each in MACHINE.invariants]
    assert list(clauses_of(MACHINE, texts_of(formulas))) == formulas
    assert clauses_of(MACHINE, ["forall a. nobody(a)", "forall a.", "", "sent"]) == {}


def test_an_edit_is_noticed() -> None:
    assert digest(MACHINE) == digest(replace(MACHINE, doc="another"))
    assert digest(MACHINE) != digest(replace(MACHINE, transitions=MACHINE.transitions[:-1]))


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    forest = forest_of(MACHINE, sampled(MACHINE, 20))
    kept = Kept(digest(MACHINE), True, 3, ("forall a. sent(a)",), (), ("true",), (forest,), ())
    path = tmp_path / "kept.json"
    save(path, kept)
    assert read(path) == kept and list(tmp_path.iterdir()) == [path]
    path.write_text(path.read_text()[:-20])
    with pytest.raises(NotKept):
        read(path)
    assert read(tmp_path / "nothing") is None


@pytest.mark.parametrize("size", [-1, 10**30, 10**6])
def test_a_universe_that_no_search_has_is_refused(tmp_path: Path, size: int) -> None:
    """Tables over it would not fit into the memory."""
    path = tmp_path / "kept.json"
    save(path, Kept("m", False, 0, (), (), (), (), (Forest({"process": size}, ({},)),)))
    with pytest.raises(NotKept):
        read(path)
