"""What concerns a goal: held against the definition of a share, and proofs from it against proofs from everything."""

from __future__ import annotations

from random import Random

import pytest
from tests.proofs.solving.rules import X, fact, rule, signature_of

from thence.proofs.logic.mentions import Mentioned
from thence.proofs.logic.obligation import Obligation
from thence.proofs.solving.discharge import Options, discharge_all
from thence.proofs.solving.relevance import Choice, relevant
from thence.proofs.solving.solver import SolverPool

NAMES = tuple(f"r{at}" for at in range(40))
SIGNATURE = signature_of(NAMES)
ONLY_THE_GOAL, WIDELY = Choice(1.0, 1, 20), Choice(0.3, 3, 20)


def drawn(random: Random) -> tuple[Obligation, bool]:
    """Rules among relations, one fact and a goal; and whether the goal is reached from the fact."""
    pairs = [tuple(random.sample(NAMES, 2)) for _ in range(random.randint(11, 80))]
    start, goal = random.sample(NAMES, 2)
    reached = {start}
    while True:
        more = {after for before, after in pairs if before in reached} - reached
        if not more:
            break
        reached |= more
    rules = tuple(rule(before, after) for before, after in pairs)
    name = f"{start} to {goal}"
    return Obligation(name, SIGNATURE, (*rules, fact(start)), fact(goal), (X,)), goal in reached


@pytest.mark.parametrize("seed", range(6))
def test_the_same_is_proved_whatever_is_asked_first(seed: int, pool: SolverPool) -> None:
    """Few and many rules: the first choices, where they are asked about, hold some of them only, so that the whole is
    asked, too."""
    random = Random(seed)
    cases = [drawn(random) for _ in range(12)]
    done = discharge_all(pool, [obligation for obligation, _ in cases], Options())
    assert {expected for _, expected in cases} == {True, False}
    for (obligation, expected), found in zip(cases, done, strict=True):
        assert (found.proved, found.provers, found.failed) == (expected, 2 * expected, not expected), obligation.name


@pytest.mark.parametrize("seed", range(20))
def test_what_is_chosen(seed: int) -> None:
    obligation, _ = drawn(Random(seed))
    known = Mentioned()
    (goal,) = known.by(obligation.goal.body).symbols
    mentioned = [known.by(hypothesis.body).symbols for hypothesis in obligation.hypotheses]
    narrow, wide = relevant(obligation, ONLY_THE_GOAL, known), relevant(obligation, WIDELY, known)
    assert narrow == tuple(at for at, symbols in enumerate(mentioned) if symbols == {goal})
    assert set(narrow) <= set(wide)
    assert all(
        at in wide for at, symbols in enumerate(mentioned) if goal in symbols and is_rare(goal, symbols, mentioned)
    )


def is_rare(goal: str, symbols: frozenset[str], mentioned: list[frozenset[str]]) -> bool:
    """Whether no other symbol of a hypothesis is mentioned by fewer hypotheses."""
    often = {symbol: sum(symbol in each for each in mentioned) for symbol in symbols}
    return often[goal] == min(often.values())
