"""Links that nobody wrote, with several events of the machine in one step: nothing is proved that a run refutes.

Of each drawn link, the invariants are chosen from many that may be true, as far as they are kept. Then all is asked
that the prover says of a link: that it is proved, and with it the properties of its machine, and that its fair runs do
what the machine's statement waits for. What is proved is explored in small scopes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import pytest
from tests.proofs.refinement.drawn_links import BETWEEN, INVARIANTS, DrawnLink, drawn_link, workloads
from tests.proofs.refinement.kept_facts import BY_INTERPRETER, SOON_MS, facts_not_kept, refuted_facts

from thence.dsl import ir
from thence.proofs.engines import explore
from thence.proofs.logic.formula import Unsupported
from thence.proofs.logic.obligation import Obligation
from thence.proofs.machine.inductive_set import InductiveSet, proved_conjuncts
from thence.proofs.machine.prover import proved_set
from thence.proofs.machine.steps.leads_to import leads_to_obligations, pursuit
from thence.proofs.machine.steps.prover import prove_steps
from thence.proofs.refinement.carrying import progress
from thence.proofs.refinement.prover import prove_link
from thence.proofs.refinement.reactions import sends_between_rounds
from thence.proofs.scopes.link import LinkCheck, check_link
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import SolverPool
from thence.spec.verdict import Verdict

Specify: TypeAlias = Callable[[str], ir.Specification]

MOST_STATES = 2_000

MACHINES = 6
"""So many machines are drawn for one protocol, until one has a proved statement."""


@pytest.fixture(scope="module")
def session() -> Iterator[ProofSession]:
    options = Options(timeout_ms=2_000, solvers=("z3",), workers=1)
    with SolverPool(options.workers) as pool:
        yield ProofSession(pool, options)


@dataclass(frozen=True, slots=True)
class Judged:
    """What is proved of a drawn link, and what is false of it in a small scope."""

    text: str
    proved: frozenset[str]
    false: frozenset[str]


def judged(specify: Specify, session: ProofSession, seed: int) -> Judged | None:
    """None where no statement of the drawn machines is proved, or where a part of the link has no encoding."""
    for attempt in range(MACHINES):
        draw = drawn_link(seed, attempt)
        (link,) = specify(draw.with_facts((), ())).links
        if seed % 2:
            (answering,) = specify(draw.answering(seed).with_facts((), ())).links
            if sends_between_rounds(answering):
                draw, link = draw.answering(seed), answering
        inductive = proved_set(session, link.machine)
        if inductive is not None and has_proved_statement(session, link.machine, inductive):
            return judged_link(specify, session, draw, inductive)
    return None


def has_proved_statement(session: ProofSession, machine: ir.Machine, inductive: InductiveSet) -> bool:
    (statement,) = machine.eventually
    asked = leads_to_obligations(machine, pursuit(machine, statement), proved_conjuncts(machine, inductive))
    soon = session.within(SOON_MS).discharge(asked, look_for_models=False)
    if not all(each.proved for each in soon):
        return False
    return prove_steps(session, machine, [statement.name], inductive)[statement.name].verdict is Verdict.PROVED


def judged_link(specify: Specify, session: ProofSession, draw: DrawnLink, inductive: InductiveSet) -> Judged | None:
    text, false = as_explored(specify, draw)
    if "link" not in false:
        try:
            text = as_kept(specify, session, draw, text, inductive)
        except Unsupported:
            return None
    (link,) = specify(text.of(draw)).links
    shown = prove_link(session, link, inductive)
    proved = {"link"} if shown.verdict is Verdict.PROVED else set()
    carried = progress.prove_progress(session, link, inductive, shown)
    proved |= {"delivered"} if carried.verdict is Verdict.PROVED else set()
    if proved:
        false |= {"link"} if any(check.refuted for check in checks(link)) else set()
        proved |= {"at_most_once", "no_creation"}
    for workload in workloads(link):
        asked = ["delivered", "at_most_once", "no_creation"]
        found = explore(link.protocol, workload, asked, limit=MOST_STATES, method=BY_INTERPRETER)
        false |= found.violations.keys()
    return Judged(text.of(draw), frozenset(proved), frozenset(false))


@dataclass(frozen=True, slots=True)
class Chosen:
    """Names of `INVARIANTS` and of `BETWEEN`."""

    invariants: tuple[str, ...] = tuple(INVARIANTS)
    between: tuple[str, ...] = tuple(BETWEEN)

    def of(self, draw: DrawnLink) -> str:
        return draw.with_facts(self.invariants, self.between)

    def without(self, names: Collection[str]) -> Chosen:
        invariants, between = (
            tuple(each for each in some if each not in names) for some in (self.invariants, self.between)
        )
        return Chosen(invariants, between)


def checks(link: ir.Link) -> Iterator[LinkCheck]:
    for workload in workloads(link):
        yield check_link(link, link.protocol, workload, limit=MOST_STATES, method=BY_INTERPRETER)


def as_explored(specify: Specify, draw: DrawnLink) -> tuple[Chosen, set[str]]:
    """What no run of the scopes refutes; and `link` where the machine refuses an event."""
    chosen, false = Chosen(), set[str]()
    while True:
        (link,) = specify(chosen.of(draw)).links
        found = list(checks(link))
        wrong = refuted_facts(found)
        if not wrong:
            false |= {"link"} if any(each.broken for each in found) else set()
            return chosen, false
        chosen = chosen.without(wrong)


def as_kept(
    specify: Specify, session: ProofSession, draw: DrawnLink, chosen: Chosen, inductive: InductiveSet
) -> Chosen:
    """What is kept by each step, as far as the solver sees that soon. Raises: Unsupported."""
    known = tuple(each.formula for each in proved_conjuncts(specify(draw.with_facts((), ())).machines[0], inductive))
    while True:
        (link,) = specify(chosen.of(draw)).links
        lost = facts_not_kept(session, link, known)
        if not lost:
            return chosen
        chosen = chosen.without(lost)


def agree(specify: Specify, session: ProofSession, seeds: Sequence[int]) -> Counter[str]:
    """How much is proved and how much is false of drawn links; nothing is both."""
    met: Counter[str] = Counter()
    for seed in seeds:
        found = judged(specify, session, seed)
        if found is not None:
            assert not found.proved & found.false, f"{found.proved & found.false} in seed {seed}:\n{found.text}"
            met.update(f"proved {name}" for name in found.proved)
            met.update(f"false {name}" for name in found.false)
    return met


SHORT = ("13", "21")


@pytest.mark.long(but=SHORT, share=2)
@pytest.mark.parametrize("seed", range(1, 61))
def test_nothing_is_proved_that_a_run_refutes(specify: Specify, session: ProofSession, seed: int) -> None:
    found = judged(specify, session, seed)
    assert found is None or not found.proved & found.false, found.text


@pytest.mark.long
def test_much_is_proved_and_much_is_false(specify: Specify, session: ProofSession) -> None:
    met = agree(specify, session, range(61, 81))
    assert met["proved link"] >= 6 and met["proved delivered"] >= 3
    assert met["false delivered"] >= 3 and met["false link"] >= 1


def never(*_: object) -> Iterator[Obligation]:
    return iter(())


def always(*_: object) -> bool:
    return True


PLANTED: dict[str, tuple[str, Callable[..., object], int]] = {
    "true inside a step only": ("_true_when_delivered", never, 13),
    "packets are taken to be sent once": ("is_sent_once", always, 21),
}
"""A part of the rule, what stands in its place, and a seed with which it is found out."""


@pytest.mark.parametrize("fault", list(PLANTED))
def test_what_is_unsound_is_found(
    specify: Specify, session: ProofSession, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    part, instead, seed = PLANTED[fault]
    monkeypatch.setattr(progress, part, instead)
    with pytest.raises(AssertionError, match=f"'delivered'.* in seed {seed}"):
        agree(specify, session, [seed])
