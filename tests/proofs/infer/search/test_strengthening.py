"""Of a group of clauses, those that follow from others are told from the rest; what is enough is closed by itself."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from random import Random

from tests.proofs.infer.candidates.test_orders import small_with_order
from tests.proofs.machine.against_execution.drawn_structures import arbitrary
from tests.proofs.machine.test_prover import TWICE

from thence.dsl import ir
from thence.dsl.find import specification
from thence.dsl.load import library
from thence.dsl.write.show import show_expression
from thence.proofs.infer.budget import Budget
from thence.proofs.infer.candidates.clauses import Clause, of_what_is_possible
from thence.proofs.infer.candidates.shapes import spreading
from thence.proofs.infer.candidates.vocabulary import Template, sorts_of, templates, vocabulary_of
from thence.proofs.infer.finite.runs import SECONDS, FiniteRuns
from thence.proofs.infer.finite.samples import Sampler
from thence.proofs.infer.finite.solver_process import SolverProcess
from thence.proofs.infer.finite.steps import FiniteSteps, Precondition
from thence.proofs.infer.search.inference import infer
from thence.proofs.infer.search.kept import clauses_of
from thence.proofs.infer.search.open_steps import enough_for, lost, open_steps
from thence.proofs.infer.search.outcome import Limits
from thence.proofs.infer.search.proposals import Proposals
from thence.proofs.infer.search.strengthening import Strengthening
from thence.proofs.logic.formula import disj, forall, negation
from thence.proofs.logic.structure import Structure, evaluate
from thence.proofs.machine.goals import TransitionRun
from thence.proofs.machine.transitions import initial
from thence.proofs.prove import solver_pool
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import SolverPool

Specify = Callable[[str], ir.Specification]


def choices_of(machine: ir.Machine) -> list[Template]:
    return [each for number in (1, 2) for each in templates(vocabulary_of(machine, []), sorts_of(machine), number)]


def drawn_clauses(choices: list[Template], chance: Random, number: int) -> list[ir.Expr]:
    found: list[ir.Expr] = []
    for _ in range(number):
        template = chance.choice(choices)
        literals = [chance.choice((each, negation(each))) for each in chance.choices(template.atoms, k=2)]
        found.append(forall(template.variables, disj(literals)))
    return found


def test_a_state_is_against_one_of_a_group_or_each_of_it_follows(specify: Specify) -> None:
    chance = Random(4)
    universe = {"process": 2, "message": 2, "key": 2}
    follow = against = 0
    with SolverProcess(Budget(600)) as process:
        for machine in filter(choices_of, small_with_order(specify)):
            choices = choices_of(machine)
            steps = FiniteSteps(machine, universe, (), process)
            axioms = [axiom.body for axiom in machine.axioms]
            states = [arbitrary(machine, dict(steps.universe), chance) for _ in range(60)]
            for _ in range(8):
                known, goals = drawn_clauses(choices, chance, 3), drawn_clauses(choices, chance, 3)
                found = steps.state_against(goals, known)
                if found is None:
                    follow += 1
                    known_true = [each for each in states if all(evaluate(one, each, {}) for one in [*axioms, *known])]
                    assert all(evaluate(goal, state, {}) for goal in goals for state in known_true)
                else:
                    against += 1
                    assert all(evaluate(each, found, {}) for each in (*axioms, *known))
                    assert not all(evaluate(goal, found, {}) for goal in goals)
                assert (found is None) == all(steps.state_against([goal], known) is None for goal in goals)
    assert follow > 2 and against > 2


def test_values_that_only_rename_elements_change_no_answer(specify: Specify) -> None:
    """Of drawn clauses, with nested quantifiers and orders among them: left out or not, a state is there or is not."""
    chance = Random(29)
    answers = Counter[bool]()
    with SolverProcess(Budget(600)) as process:
        files = ("paxos", "ticket_lock", "quorum_register", "sharded_store")
        known = [
            specification(str(library()[0].parent / "benchmarks" / f"{each}.thence")).machines[0] for each in files
        ]
        for machine in (*filter(choices_of, small_with_order(specify)), *known, specification("fifo").machines[0]):
            choices = choices_of(machine)
            steps = FiniteSteps(machine, {"process": 3, "message": 3}, (), process)
            few, every = steps._case(None, ()), steps._case(None, ())
            few.up_to_names = True
            for _ in range(12):
                known_, goals = drawn_clauses(choices, chance, 3), drawn_clauses(choices, chance, chance.randint(1, 3))
                found = [steps._answer(case, goals, known_, None) for case in (few, every)]
                values = [each.values for each in found if each is not None]
                assert (values[0] is None) == (values[1] is None)
                if values[0] is not None:
                    state = steps._structure(few, values[0])
                    assert all(evaluate(each, state, {}) for each in known_)
                    assert not all(evaluate(goal, state, {}) for goal in goals)
                answers[values[0] is None] += 1
    assert answers[True] > 10 and answers[False] > 10


def test_what_was_enough_before_is_the_same_answer_without_a_question(specify: Specify) -> None:
    """Of drawn clauses and steps: `again` never changes whether a clause is kept, and what it names is enough."""
    chance = Random(11)
    universe = {"process": 2, "message": 2, "key": 2}
    saved = kept = lost = 0
    with SolverProcess(Budget(600)) as process:
        for machine in filter(choices_of, small_with_order(specify)):
            steps, slow = (FiniteSteps(machine, universe, (), process) for _ in range(2))
            clauses = drawn_clauses(choices_of(machine), chance, 6)
            for _ in range(12):
                goal, known = chance.choice(clauses), chance.sample(clauses, 4)
                expected = slow.lost_or_used(goal, known)
                before = process.checks
                found = steps.lost_or_used(goal, known, again=True)
                asked = process.checks - before
                assert isinstance(found, set) == isinstance(expected, set)
                if isinstance(found, set):
                    assert found <= {goal, *known}
                    rest = [each for each in known if each in found]
                    assert isinstance(slow.lost_or_used(goal, rest), set)
                    kept += 1
                    before = process.checks
                    assert steps.lost_or_used(goal, known, again=True) == found
                    assert process.checks == before
                    saved += asked
                else:
                    assert all(evaluate(each, found.state, {}) for each in known)
                    lost += 1
    assert saved > 2 and kept > 5 and lost > 5


def two_phase_commit(pool: SolverPool, process: SolverProcess) -> tuple[FiniteSteps, Strengthening]:
    """The search for a machine of the literature, in which nothing is found yet."""
    (machine,) = specification(str(library()[0].parent / "benchmarks" / "two_phase_commit.thence")).machines
    universe = {"process": 2, "message": 2}
    goals = [each.body for each in machine.invariants if each.name in machine.prove] or [
        each.body for each in machine.invariants
    ]
    sampler = Sampler(ProofSession(pool, Options(workers=1)), machine, universe, 0)
    sampler.more(300, lambda: False)
    proposals = Proposals(machine, vocabulary_of(machine, goals), [sampler], Random(0), Budget(600))
    steps = FiniteSteps(machine, universe, [], process)
    return steps, Strengthening(proposals, [steps], list(goals), [], lambda _: None)


def test_what_can_still_be_decided_is_spoken_of_only_where_that_denies_the_state(pool: SolverPool) -> None:
    """A clause that does not deny the state would be wanted again and again."""
    machine = specification(str(library()[0].parent / "benchmarks" / "toy_consensus.thence")).machines[0]
    universe = {"process": 3, "message": 3}
    sampler = Sampler(ProofSession(pool, Options(workers=1)), machine, universe, 0)
    sampler.more(200, lambda: False)
    proposals = Proposals(machine, vocabulary_of(machine, []), [sampler], Random(0), Budget(600))
    search = Strengthening(proposals, [], [], [], lambda _: None)
    decided = next(each for each, _ in proposals.lost_instead if isinstance(each, ir.Apply))
    v, w = (ir.Local(decided.arguments[0].type, name) for name in ("v", "w"))
    atoms = [replace(decided, arguments=(each,)) for each in (v, w)]
    clause = Clause(tuple(ir.Variable(each.name, each.type) for each in (v, w)), tuple((each, False) for each in atoms))
    seen: Counter[tuple[bool, bool]] = Counter()
    for state in sampler.samples.states:
        both = replace(state, tables={**state.tables, "decided": dict.fromkeys(state.tables["decided"], True)})
        found = search._of_what_is_possible(clause, both)
        possible = [
            each
            for each in of_what_is_possible(clause, proposals.lost_instead)
            if not evaluate(each.formula, both, {}) and proposals.refusal(each.formula) is None
        ]
        assert found in possible if possible else found is clause
        assert not evaluate(found.formula, both, {})
        seen[found is clause, bool(possible)] += 1
    assert set(seen) == {(True, False), (False, True)}, seen


def test_the_fewest_conjuncts_are_closed_and_none_of_them_is_superfluous(pool: SolverPool) -> None:
    with SolverProcess(Budget(600)) as process:
        steps, search = two_phase_commit(pool, process)
        goals = [goal for goal in search.goals if not isinstance(goal, Precondition)]
        search.start()
        assert search.close() is None
        chosen = list(search.fewest())

        def closed(formulas: list[ir.Expr]) -> bool:
            return all(isinstance(steps.lost_or_used(each, [*goals, *formulas]), set) for each in [*goals, *formulas])

        assert chosen and closed(chosen) and len(chosen) < len(search.base) + len(search.wanted)
        assert not any(closed([each for each in chosen if each != one]) for one in chosen)


def test_what_rests_on_a_clause_that_is_given_up_goes_with_it(pool: SolverPool) -> None:
    fell = 0
    with SolverProcess(Budget(600)) as process:
        steps, search = two_phase_commit(pool, process)
        search.start()
        for formula in search.base:
            other = replace(search, base=dict(search.base), wanted={}, dead=set(), cores=dict(search.cores))
            other.give_up(formula)
            stuck = other.close()
            assert all(isinstance(steps.lost_or_used(each, other.known), set) for each in other.base)
            fell += len(other.base) < len(search.base) - 1
            if stuck is None:
                assert set(other.fewest()) <= {*other.base, *other.wanted}
    assert fell


def test_a_clause_is_dropped_only_if_the_goals_are_kept_without_it(pool: SolverPool) -> None:
    did = did_not = 0
    with SolverProcess(Budget(600)) as process:
        steps, search = two_phase_commit(pool, process)
        search.start()
        assert search.close() is None
        for formula in list(search.base):
            before = dict(search.base), dict(search.wanted), dict(search.cores)
            if search.do_without(formula):
                did += 1
                assert formula not in search.base
                known = search.known
                assert all(isinstance(steps.lost_or_used(each, known), set) for each in known)
            else:
                did_not += 1
                assert (search.base, search.wanted, search.cores) == before
    assert did and did_not


def test_a_clause_against_a_state_of_a_larger_universe_stays_or_is_given_up(pool: SolverPool) -> None:
    """The small universe does without it. If it were dropped where a step loses it, it would come back for ever."""
    stayed = lost = 0
    with SolverProcess(Budget(600)) as process:
        steps, search = two_phase_commit(pool, process)
        own = [goal for goal in search.goals if not isinstance(goal, Precondition)]
        search.start()
        assert search.close() is None
        chosen = search.fewest()
        for formula, clause in {**search.base, **search.wanted}.items():
            held = {formula: clause}
            other = replace(search, base={}, wanted=dict(held), must=dict(held), dead=set(), cores={})
            lost += not isinstance(steps.lost_or_used(formula, other.known), set)
            stuck = other.close()
            assert (formula in other.must) != (formula in other.dead)
            if stuck is None and formula in other.must:
                stayed += formula not in chosen
                fewest = list(other.fewest())
                assert formula in fewest
                assert all(isinstance(steps.lost_or_used(each, [*own, *fewest]), set) for each in [*own, *fewest])
    assert stayed and lost


def test_a_state_of_a_larger_universe_is_denied_by_a_clause_that_is_held(pool: SolverPool) -> None:
    denied = 0
    with SolverProcess(Budget(600)) as process:
        steps, search = two_phase_commit(pool, process)
        search.start()
        chance = Random(2)
        for _ in range(12):
            state = arbitrary(search.proposals.machine, dict(steps.universe), chance)
            held = set(search.must)
            search.deny(state, ())
            for formula in set(search.must) - held:
                denied += 1
                assert not evaluate(formula, state, {})
                assert search.proposals.refusal(formula) is None
    assert denied > 2


class Patient(FiniteRuns):
    """Runs that only a patient search finds: `sought` says of what was looked at so whether there is one."""

    sought: dict[ir.Expr, bool]

    def violation(self, formula: ir.Expr, seconds: float = SECONDS) -> TransitionRun | None:
        if seconds < SECONDS:
            return None
        assert formula not in self.sought  # once is enough
        found = FiniteRuns.violation(self, formula, seconds)
        self.sought[formula] = found is not None
        return found


def test_a_false_clause_is_wanted_no_more_once_it_is_lost(pool: SolverPool) -> None:
    """A hasty search finds no run against any clause here. What is lost is looked at again before anything is done
    for it.
    """
    with SolverProcess(Budget(600)) as process, SolverProcess(Budget(600)) as other:
        _, search = two_phase_commit(pool, process)
        search.proposals.samplers.clear()  # samples would tell false clauses; the first state does not
        del search.proposals.learnt[1:]
        runs = search.runs = Patient(search.proposals.machine, {"process": 2, "message": 2, "node": 2}, 6, other)
        runs.sought = {}
        search.close()
        false = {formula for formula, is_false in runs.sought.items() if is_false}
        assert len(false) == search.refused > 2
        assert not false & {*search.wanted, *search.dead}


class Narrow(Strengthening):
    """No state is denied before clauses have four variables; `given_up` has what was given up at that time."""

    given_up: set[ir.Expr]

    def _denial(self, state: Structure) -> Clause | None:
        if self.most_variables < 4:
            return None
        self.given_up = set(self.dead)
        return Strengthening._denial(self, state)


def test_what_nothing_denied_may_come_back_with_more_variables(pool: SolverPool) -> None:
    with SolverProcess(Budget(600)) as process:
        _, search = two_phase_commit(pool, process)
        undenied, unproved = (clause.formula for clause in search.proposals.short()[:2])
        narrow = Narrow(search.proposals, search.finite, search.goals, [], search.note)
        narrow.dead, narrow.undenied = {undenied, unproved}, {undenied}
        narrow.close()
        assert narrow.most_variables == 4
        assert undenied not in narrow.given_up and unproved in narrow.given_up


VOTES = """
machine votes:
  delivery off
  sort node
  relation vote(n: node, c: node)
  transition give(n: node, c: node):
    require forall d. not vote(n, d)
    vote(n, c) := true
  invariant one: forall n, c, d. vote(n, c) and vote(n, d) implies c = d
"""


def test_that_arguments_determine_another_is_the_first_denial(specify: Specify, pool: SolverPool) -> None:
    (machine,) = specify(VOTES).machines
    sampler = Sampler(ProofSession(pool, Options(workers=1)), machine, {"node": 3}, 0)
    sampler.more(100, lambda: False)
    proposals = Proposals(machine, vocabulary_of(machine, []), [sampler], Random(0), Budget(600))
    search = Strengthening(proposals, [], [], [], lambda _: None)
    (one_vote,) = proposals.unique  # a node may be voted for by many
    chance, denied = Random(3), 0
    for _ in range(40):
        state = arbitrary(machine, {"node": 3}, chance)
        if any(sum(bool(state.tables["vote"][n, c]) for c in range(3)) > 1 for n in range(3)):
            denied += 1
            assert [denial.clause for denial in search._shortest(state)] == [one_vote]
    assert denied > 5
    search.give_up(one_vote.formula)
    assert one_vote not in [denial.clause for denial in search._shortest(state)]
    start = initial(machine, {"node": 3}, {})
    two = replace(start, tables={"vote": {**start.tables["vote"], (0, 1): True, (0, 2): True}})
    proposals.learn([two])  # a run that refutes it
    assert not proposals.unique


REPORTS = """
machine m:
  delivery off
  sort node
  constant relation below(a: node, b: node)
  constant relation child(a: node, b: node)
  constant function root(): node
  relation idle(n: node)
  relation reported(n: node)
  relation ended()
  axiom rooted: forall a. a = root() or below(a, root())
  axiom by_a_child: forall a, b. below(a, b) implies exists c. child(c, b) and (a = c or below(a, c))
  transition finish(n: node):
    idle(n) := true
  transition report(n: node):
    require idle(n) and forall c. child(c, n) implies reported(c)
    reported(n) := true
  transition end():
    require reported(root())
    ended() := true
  invariant all_done: forall n. ended() implies idle(n)
"""


def test_what_is_true_of_a_node_spreads_to_all_below_it(specify: Specify) -> None:
    """A tree may be of any depth: of three nodes, children that have reported say it all."""
    (machine,) = specify(REPORTS).machines
    shown = {show_expression(clause.formula) for clause in spreading(machine)}
    assert len(shown) == 2 * 2 * 2 * 2  # relations, directions, facts known and said
    assert "forall n, n2. below(n, n2) and reported(n2) implies idle(n)" in shown
    options = Options(workers=1)
    with solver_pool(options) as pool:
        found = infer(ProofSession(pool, options), machine, Limits(240), lambda _: None)
    assert found.proved
    assert any("below" in show_expression(each.formula.body) for each in found.conjuncts)


def test_few_of_the_formulas_at_hand_are_enough(specify: Specify, pool: SolverPool) -> None:
    (machine,) = specify(REPORTS).machines
    session = ProofSession(pool, Options(workers=1))
    failed = open_steps(session, machine, 2_000)
    assert [each.discharge.obligation.name for each in failed] == ["end keeps all_done"]
    at_hand = [clause.formula for clause in spreading(machine)]
    (idle,) = clauses_of(machine, ["forall n: node. reported(n) implies idle(n)"])
    named = [ir.NamedFormula(f"f{number}", each) for number, each in enumerate([*at_hand, idle])]
    held = enough_for(session, failed, named, 2_000)
    assert idle in held and len(held) == 2
    assert enough_for(session, failed, named[:-1], 1_000) == enough_for(session, failed, [], 1_000) == []


def test_an_open_at_most_once_is_shown_as_a_step(specify: Specify, pool: SolverPool) -> None:
    (machine,) = specify(TWICE["unicast"]).machines
    shown = lost(ProofSession(pool, Options(workers=1)), machine)
    again = re.search(r"step:   deliver\((m\d)\)", shown)
    assert shown.startswith("`at_most_once` does not follow") and again is not None
    before, after = shown.split("after:")
    assert f"delivered({again[1]})" in before and f"gone({again[1]})" in after
