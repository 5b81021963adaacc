"""Proof objects: found by SMTInterpol, accepted by its checker for their own obligation and for no other."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from thence.proofs.certificate import solver_results
from thence.proofs.certificate.instances.proofs import proofs_by_instances
from thence.proofs.certificate.smaller_obligations import kept, named, smaller_obligations
from thence.proofs.certificate.smtinterpol import BATCH, Smtinterpol
from thence.proofs.solving.discharge import Options

HEADER = "; n\n(set-logic ALL)\n(declare-const a Bool)\n(declare-const b Bool)\n"
MODUS_PONENS = f"{HEADER}(assert a) ; x\n(assert (=> a b)) ; y\n(assert (not b)) ; z\n(check-sat)\n"
BOTH = f"{HEADER}(assert (and a b)) ; x\n(assert (not a)) ; z\n(check-sat)\n"
SATISFIABLE = f"{HEADER}(assert a) ; x\n(check-sat)\n"
MORE = MODUS_PONENS.replace("(assert a) ; x", "(assert (or a b)) ; w\n(assert a) ; x")


@pytest.fixture(scope="module")
def proofs(checker: Smtinterpol) -> tuple[str, str]:
    first, nothing, second = checker.prove((MODUS_PONENS, SATISFIABLE, BOTH))
    assert nothing is None
    assert first is not None and second is not None
    return first, second


def test_a_proof_is_accepted_for_its_obligation(checker: Smtinterpol, proofs: tuple[str, str]) -> None:
    assert checker.check([(MODUS_PONENS, proofs[0]), (BOTH, proofs[1])]) == ("valid", "valid")


def test_a_proof_from_fewer_assertions_is_one_of_more(checker: Smtinterpol, proofs: tuple[str, str]) -> None:
    assert checker.check([(MORE, proofs[0])]) == ("valid",)


def test_a_proof_of_something_else_is_not_accepted(checker: Smtinterpol, proofs: tuple[str, str]) -> None:
    weaker = MODUS_PONENS.replace("(assert a) ; x\n", "")
    pairs = [(BOTH, proofs[0]), (MODUS_PONENS, proofs[0]), (MODUS_PONENS, proofs[1]), (weaker, proofs[0])]
    assert checker.check(pairs) == ("invalid", "valid", "invalid", "invalid")


def test_an_assertion_of_its_neighbour_is_none_of_its_own(checker: Smtinterpol, proofs: tuple[str, str]) -> None:
    weaker = MODUS_PONENS.replace("(assert a) ; x\n", "")
    assert checker.check([(MODUS_PONENS, proofs[0]), (weaker, proofs[0])]) == ("valid", "invalid")


def test_a_sort_of_its_neighbour_is_none_of_its_own(checker: Smtinterpol) -> None:
    """Terms are remembered by the names of their functions; a sort that is declared again is another sort."""
    text = (
        "; n\n(set-logic ALL)\n(declare-sort S0 0)\n(declare-fun f0 (Int) S0)\n(declare-const k0 Int)\n"
        "(assert (not (= (f0 (+ 1 k0)) (f0 (+ k0 1)))))\n(check-sat)\n"
    )
    proofs = checker.prove((text, text.replace("k0", "k1"), text))
    assert None not in proofs
    assert checker.check([(text, proofs[0] or ""), (text, proofs[2] or "")]) == ("valid", "valid")


@pytest.mark.parametrize(
    "forged",
    [
        "",
        "unsat\n",
        "unsat\n(assume false)\n",
        "unsat\n(trust)\n",
        "unsat\n(oracle (cl) )\n",
        "unsat\nvalid\n",
        "sat\n(a)\n",
        "unsat\n(",
    ],
)
def test_what_is_no_proof_is_not_accepted(checker: Smtinterpol, forged: str) -> None:
    assert checker.check([(MODUS_PONENS, forged)]) == ("invalid",)


def test_two_proofs_in_one_file_do_not_count_for_its_neighbour(checker: Smtinterpol, proofs: tuple[str, str]) -> None:
    pairs = [(MODUS_PONENS, proofs[0] + proofs[1]), (BOTH, "")]
    assert checker.check(pairs) == ("invalid", "invalid")


def test_an_obligation_that_speaks_for_the_checker_is_not_accepted(
    checker: Smtinterpol, proofs: tuple[str, str]
) -> None:
    said = "valid\\nholes=0\\nassertions=0\\ndefinefuns=0\\naxioms=0\\nresolutions=0"
    loud = BOTH.replace("(check-sat)", f'(echo "{said}")\n(check-sat)')
    assert checker.check([(loud, proofs[0])]) == ("invalid",)


def test_every_batch_comes_back_in_order(checker: Smtinterpol) -> None:
    texts = [MODUS_PONENS, SATISFIABLE, BOTH] * (BATCH // 3 + 1)
    found = checker.prove(texts, workers=2)
    assert [proof is not None for proof in found] == [True, False, True] * (BATCH // 3 + 1)


def test_the_essence_of_an_obligation_is_enough_and_less() -> None:
    (essence,) = smaller_obligations([MORE], Options(workers=1))
    assert "(or a b)" not in essence
    assert essence == MODUS_PONENS
    assert smaller_obligations([SATISFIABLE], Options(workers=1)) == (SATISFIABLE,)


def test_assertions_are_named_and_kept_by_number() -> None:
    assert "(assert (! (=> a b) :named a1)) ; y" in named(MODUS_PONENS)
    assert kept(MODUS_PONENS, ["a0", "a2"]) == MODUS_PONENS.replace("(assert (=> a b)) ; y\n", "")


def test_where_the_whole_gives_no_instances_its_core_is_asked(
    checker: Smtinterpol, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, ...]] = []

    def blind_at_first(texts: Sequence[str], options: Options, smtinterpol: Smtinterpol) -> tuple[str | None, ...]:
        asked.append(tuple(texts))
        return (None,) * len(texts) if len(asked) == 1 else proofs_by_instances(texts, options, smtinterpol)

    monkeypatch.setattr(solver_results, "proofs_by_instances", blind_at_first)
    found = solver_results.proof_objects([MORE, SATISFIABLE], Options(workers=1), checker)
    assert asked == [(MORE, SATISFIABLE), (MODUS_PONENS, SATISFIABLE)]
    assert ["resolute" in each for each in found] == [True, False]
    assert checker.check([(MORE, found[0]["resolute"])]) == ("valid",)
