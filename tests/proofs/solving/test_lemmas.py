"""Lemmas: what was enough for a goal settles it again while all of that is there, and only from the cache."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.proofs.solving.rules import M, X, fact, rule, signature_of

from thence.dsl import ir
from thence.proofs.logic.obligation import Obligation
from thence.proofs.prove import proofs_by
from thence.proofs.solving.answer_cache import AnswerCache
from thence.proofs.solving.discharge import Options, discharge_all
from thence.proofs.solving.lemmas import Lemmas
from thence.proofs.solving.solver import SolverPool
from thence.proofs.solving.stability import proved_obligations

Specify = Callable[[str], ir.Specification]

NAMES = ("sent", "posted", "got", "idle")
SIGNATURE = signature_of(NAMES)


CHAIN = Obligation(
    "chain",
    SIGNATURE,
    (rule("sent", "posted"), rule("idle", "got"), rule("posted", "got"), fact("sent")),
    fact("got"),
    (X,),
)
MORE = replace(CHAIN, hypotheses=(rule("got", "idle"), *CHAIN.hypotheses))


@pytest.fixture
def learnt(tmp_path: Path) -> tuple[Path, Lemmas]:
    lemmas = Lemmas()
    options = Options(cache=tmp_path, lemmas=lemmas)
    with SolverPool(2, AnswerCache(tmp_path)) as pool:
        (done,) = discharge_all(pool, (CHAIN,), options)
        lemmas.learn(pool, [(CHAIN, done.prover)], options.solvers, options.timeout_ms, options.seed, lambda: False)
    return tmp_path, lemmas


def test_what_was_enough_is_known_without_the_rest(learnt: tuple[Path, Lemmas]) -> None:
    smaller = learnt[1].smaller(MORE)
    assert smaller is not None
    assert [each.name for each in smaller.hypotheses] == ["sent_posted", "posted_got", "is_sent"]
    assert smaller.goal == CHAIN.goal


@pytest.mark.parametrize("gone", [0, 2, 3])
def test_where_one_of_them_is_gone_nothing_is_known(learnt: tuple[Path, Lemmas], gone: int) -> None:
    hypotheses = tuple(each for at, each in enumerate(CHAIN.hypotheses) if at != gone)
    assert learnt[1].smaller(replace(CHAIN, hypotheses=hypotheses)) is None


def test_another_goal_is_not_known(learnt: tuple[Path, Lemmas]) -> None:
    assert learnt[1].smaller(replace(CHAIN, goal=fact("idle"))) is None
    assert learnt[1].smaller(replace(CHAIN, constants=(X, M))) is None


def test_more_hypotheses_need_no_solver(learnt: tuple[Path, Lemmas]) -> None:
    directory, lemmas = learnt
    with SolverPool(2, AnswerCache(directory)) as pool:
        (done,) = discharge_all(pool, (MORE,), Options(cache=directory, lemmas=lemmas))
        assert (pool.solved, done.provers) == (0, 2)
        (changed,) = discharge_all(
            pool, (replace(MORE, hypotheses=MORE.hypotheses[1:3]),), Options(cache=directory, lemmas=lemmas)
        )
        assert pool.solved > 0 and not changed.proved


def test_without_the_cache_everything_is_solved(learnt: tuple[Path, Lemmas]) -> None:
    _, lemmas = learnt
    with SolverPool(2) as pool:
        (done,) = discharge_all(pool, (MORE,), Options(lemmas=lemmas))
        assert (pool.recalled, pool.solved, done.provers) == (0, 2, 2)


def test_it_stops_when_told(pool: SolverPool) -> None:
    lemmas = Lemmas()
    lemmas.learn(pool, [(CHAIN, "z3")], ("z3",), 5_000, 0, lambda: True)
    assert not lemmas.known


COUNTING = """
machine counting:
  relation posted(m: message)
  function posts(p: process): nat
  transition causal_send(m): pass
  transition post(m):
    require sent(m) and not posted(m)
    posted(m) := true
    forall p: posts(p) := if p = src(m) then posts(p) + 1 else posts(p)
  transition deliver(m):
    require posted(m) and not delivered(m)
  invariant came_from: forall m. posted(m) implies sent(m)
  invariant counted: forall p. posts(p) = count m: message. posted(m) and src(m) = p
  {more}
  prove no_creation
"""


def test_an_edited_invariant_leaves_most_proofs_as_they_are(specify: Specify, tmp_path: Path) -> None:
    """With counts, whose facts are in the text and not among the hypotheses."""
    lemmas = Lemmas()
    options = Options(cache=tmp_path, lemmas=lemmas, cores=True)
    with SolverPool(2, AnswerCache(tmp_path)) as pool:
        first = list(proofs_by(pool, specify(COUNTING.format(more="")), (), options))
        assert all(proof.result.expected for proof in first), [proof.result.explanation for proof in first]
        pairs = [(each.obligation, each.prover) for each in proved_obligations(first)]
        lemmas.learn(pool, pairs, options.solvers, options.timeout_ms, options.seed, lambda: False)
        plain = replace(options, cores=False)
        solved = pool.solved
        more = "invariant more: forall m. delivered(m) implies posted(m)"
        second = list(proofs_by(pool, specify(COUNTING.format(more=more)), (), plain))
        with_lemmas = pool.solved - solved
    assert all(proof.result.expected for proof in second)
    with SolverPool(2) as pool:
        list(proofs_by(pool, specify(COUNTING.format(more=more)), (), Options()))
        assert with_lemmas < pool.solved / 2
