"""Which invariants are enough in a small universe, held against every set of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import pytest

from thence.dsl import ir
from thence.dsl.check import built_in
from thence.dsl.find import specification
from thence.proofs.infer.budget import Budget
from thence.proofs.infer.finite.solver_process import SolverProcess
from thence.proofs.infer.finite.steps import INDUCTIVE, FiniteSteps, Precondition
from thence.proofs.infer.search.goals import about_states, hidden, stated_goals
from thence.proofs.infer.search.inference import Aids, infer
from thence.proofs.infer.search.kept import beginning
from thence.proofs.infer.search.outcome import Limits, with_conjuncts
from thence.proofs.infer.search.promising import Guess, promising
from thence.proofs.machine.prover import prove_machine
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import SolverPool
from thence.spec.verdict import Verdict

Specify = Callable[[str], ir.Specification]


def names_of(machine: ir.Machine) -> list[str]:
    return [each.name for each in machine.invariants]


def is_closed(steps: FiniteSteps, machine: ir.Machine) -> bool:
    """Whether a machine's statements keep each other in a small universe."""
    goals = stated_goals(machine)
    known = [goal for goal in goals if not isinstance(goal, Precondition)]
    return all(
        isinstance(
            steps.enabled_against(goal, known) if isinstance(goal, Precondition) else steps.lost_or_used(goal, known),
            set,
        )
        for goal in goals
    )


ONE_AT_A_TIME = """
machine one_at_a_time:
  relation network_sent(m: message)
  relation acked(m: message)
  transition causal_send(m): pass
  transition network_send(m):
    require sent(m) and not network_sent(m)
    require forall a. before(a, m) and dst(a) = dst(m) implies acked(a)
    network_sent(m) := true
  transition deliver(m):
    require network_sent(m) and not delivered(m)
  transition receive_ack(m):
    require delivered(m)
    acked(m) := true
  invariant arrived_sent: forall m. delivered(m) implies sent(m)
  invariant sent_first: forall m. network_sent(m) implies sent(m)
  invariant acked_sent: forall m. acked(m) implies network_sent(m)
  invariant acked_delivered: forall m. acked(m) implies delivered(m)
  invariant first_acked: forall a, b. before(a, b) and dst(a) = dst(b) and network_sent(b) implies acked(a)
  prove fifo
"""


@dataclass(frozen=True)
class Small:
    """A machine, the names of its invariants, and what was guessed of them."""

    machine: ir.Machine
    names: list[str]
    guesses: list[Guess]

    def with_only(self, guess: Guess) -> ir.Machine:
        """The machine with the invariants and the clauses of a guess."""
        left = hidden(self.machine, [each for each in self.names if each not in guess.given])
        clauses = [ir.NamedFormula(f"clause{at}", each) for at, each in enumerate(guess.clauses)]
        return with_conjuncts(about_states(left), clauses)

    def is_closed(self, guess: Guess, universes: Sequence[Mapping[str, int]]) -> bool:
        machine = self.with_only(guess)
        facts = [fact.body for fact in built_in.history_facts(machine.delivery)]
        with SolverProcess(Budget(600)) as process:
            return all(is_closed(FiniteSteps(machine, universe, facts, process), machine) for universe in universes)


@pytest.fixture
def small(specify: Specify, pool: SolverPool) -> Small:
    (machine,) = specify(ONE_AT_A_TIME).machines
    session, names = ProofSession(pool, Options(workers=1)), names_of(machine)
    return Small(machine, names, list(promising(session, machine, names, Limits(240.0), lambda _: None)))


def test_the_sets_shrink_and_each_is_enough_in_a_small_universe(small: Small) -> None:
    sizes = [len(small.names), *(len(each.given) for each in small.guesses)]
    assert len(sizes) > 2 and all(less < more for more, less in pairwise(sizes))
    assert all(small.is_closed(each, INDUCTIVE[:1]) for each in small.guesses)


def test_without_clauses_none_of_the_last_set_can_be_left_out(small: Small) -> None:
    """As long as no clause helps, a set is enough in all small universes, and the last one is as small as it can be."""
    plain = [each for each in small.guesses if not each.clauses]
    assert plain and all(small.is_closed(each, INDUCTIVE) for each in plain)
    less = [Guess(each) for each in combinations(plain[-1].given, len(plain[-1].given) - 1)]
    assert less and not any(small.is_closed(each, INDUCTIVE) for each in less)


def test_the_invariants_are_enough_for_the_prover(small: Small, pool: SolverPool) -> None:
    session = ProofSession(pool, Options(workers=1))
    for guess in [each for each in small.guesses if not each.clauses]:
        proved, _ = prove_machine(session, small.with_only(guess))
        assert all(each.verdict is Verdict.PROVED for each in proved.values())


def test_a_search_that_begins_with_clauses_rests_on_the_prover(pool: SolverPool) -> None:
    """A false clause to begin with is not taken; a true one is."""
    machine = hidden(specification("synchronous").machines[0], ["all"])
    session = ProofSession(pool, Options(workers=1))
    plain = infer(session, machine, Limits(240.0), lambda _: None)
    true = [each.formula.body for each in plain.conjuncts]
    false = specification("fifo").machines[0].invariants[0].body
    found = infer(session, machine, Limits(240.0), lambda _: None, Aids(beginning(machine, [*true, false])))
    assert found.proved and found.seconds < 240.0
    assert false not in [each.formula.body for each in found.conjuncts]
