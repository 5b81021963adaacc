"""Which hypotheses concern a goal: those that share with it what few others mention.

NOTE(relevant): an obligation about a handler has up to two hundred hypotheses, of the state at its start, of each loop
and of each message that it sends, and most proofs use fewer than ten. So solvers are asked first about the hypotheses
that concern the goal, for a moment. What follows from some of the hypotheses follows from all of them; that a solver
proves nothing from some of them says nothing. The choice is that of Meng and Paulson, Lightweight relevance filtering
for machine-generated resolution problems, 2009: a symbol weighs the more the fewer hypotheses mention it; a hypothesis
is taken if a sufficient share of its weight is of symbols that the goal or what was taken before mentions.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import log

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, NAT
from thence.proofs.logic.alternation import Alternation, read
from thence.proofs.logic.mentions import Mentioned
from thence.proofs.logic.obligation import Obligation

_STRICTER = 2.4
"""In each round, the share that is still missing to all of the weight is divided by this."""
_WEIGHT = 1_000
"""The weight of a symbol that all mention; a whole number, so that sums do not depend on their order."""


@dataclass(frozen=True, slots=True)
class Choice:
    """How hypotheses are chosen, and the time limit in ms with which a solver is asked about them.

    Attributes:
        share: of the weight of a hypothesis, in the first round, from 0 to 1.
        rounds: how often hypotheses are added by what those before them mention.
    """

    share: float
    rounds: int
    limit_ms: int


def relevant(obligation: Obligation, choice: Choice, known: Mentioned) -> tuple[int, ...]:
    """The positions of the hypotheses that concern the goal, in their order. `known` gets what they speak about."""
    mentioned = [known.by(hypothesis.body).symbols for hypothesis in obligation.hypotheses]
    often = Counter(symbol for symbols in mentioned for symbol in symbols)
    weights = {symbol: round(_WEIGHT * (1 + 2 / log(number + 1))) for symbol, number in often.items()}
    total = [sum(weights[symbol] for symbol in symbols) for symbols in mentioned]
    concerned, share = set(known.by(obligation.goal.body).symbols), choice.share
    left, found = list(range(len(mentioned))), set[int]()
    for _ in range(choice.rounds):
        taken = [at for at in left if sum(weights[symbol] for symbol in mentioned[at] & concerned) >= share * total[at]]
        if not taken:
            break
        found.update(taken)
        left = [at for at in left if at not in found]
        concerned.update(*(mentioned[at] for at in taken))
        share += (1 - share) / _STRICTER
    return tuple(sorted(found))


def making_nothing(obligation: Obligation, known: dict[int, tuple[ir.NamedFormula, bool]]) -> tuple[int, ...]:
    """The positions of the hypotheses that do not say of all elements that there is another one, of a sort that is no
    number. `known` gets what each says: obligations share them."""
    for each in obligation.hypotheses:
        if id(each) not in known:
            known[id(each)] = each, _makes_elements(each)
    return tuple(at for at, each in enumerate(obligation.hypotheses) if not known[id(each)][1])


def _makes_elements(hypothesis: ir.NamedFormula) -> bool:
    edges = read(hypothesis).edges
    return any(isinstance(each, Alternation) and each.inner.type not in (BOOL, NAT) for each in edges)
