"""Links that nobody wrote, about several messages: to one process, to a set, or to all; also sent inside deliveries.

Of each drawn link, the invariants are chosen from many that may be true, as far as they are kept. What is then proved
of the link, and of its machine, is explored in small scopes: nothing is refuted there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import pytest
from tests.proofs.refinement.drawn_orders import PROPERTIES, DrawnOrder, drawn_order, workloads
from tests.proofs.refinement.kept_facts import BY_INTERPRETER, facts_not_kept, refuted_facts

from thence.dsl import ir
from thence.proofs.engines import explore
from thence.proofs.logic.formula import Unsupported
from thence.proofs.machine.inductive_set import proved_conjuncts
from thence.proofs.machine.prover import prove_machine
from thence.proofs.refinement import prover
from thence.proofs.refinement.following import Enabled
from thence.proofs.refinement.obligations import Claimed, claims
from thence.proofs.scopes.link import check_link
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import SolverPool
from thence.spec.verdict import Verdict

Specify: TypeAlias = Callable[[str], ir.Specification]

MOST_STATES = 1_500


@pytest.fixture(scope="module")
def session() -> Iterator[ProofSession]:
    options = Options(timeout_ms=2_000, solvers=("z3",), workers=1)
    with SolverPool(options.workers) as pool:
        yield ProofSession(pool, options)


@dataclass(frozen=True, slots=True)
class Judged:
    """What is proved of a drawn link and its machine, and what of it is refuted in a small scope."""

    text: str
    delivery: str
    proved: frozenset[str] = frozenset()
    refuted: frozenset[str] = frozenset()


def judged(specify: Specify, session: ProofSession, seed: int) -> Judged:
    draw = drawn_order(seed)
    names = as_explored(specify, draw)
    (machine,) = specify(draw.with_facts(())).machines
    of_machine, inductive = prove_machine(session, machine)
    nothing = Judged(draw.text, machine.delivery)
    if inductive is None:
        return nothing
    known = tuple(each.formula for each in proved_conjuncts(machine, inductive))
    try:
        names = as_kept(specify, session, draw, names, known)
    except Unsupported:
        return nothing
    text = draw.with_facts(names)
    (link,) = specify(text).links
    if prover.prove_link(session, link, inductive).verdict is not Verdict.PROVED:
        return nothing
    proved = {name for name in PROPERTIES if of_machine[name].verdict is Verdict.PROVED}
    refuted: set[str] = set()
    for workload in workloads(link):
        checked = check_link(link, link.protocol, workload, limit=MOST_STATES, method=BY_INTERPRETER)
        refuted |= {"link"} if checked.refuted else set()
        refuted |= explore(
            link.protocol, workload, sorted(proved), limit=MOST_STATES, method=BY_INTERPRETER
        ).violations.keys()
    return Judged(text, machine.delivery, frozenset({"link", *proved}), frozenset(refuted))


def as_explored(specify: Specify, draw: DrawnOrder) -> Sequence[str]:
    """The invariants that no run of some scopes refutes."""
    names = tuple(draw.invariants)
    while True:
        (link,) = specify(draw.with_facts(names)).links
        found = [
            check_link(link, link.protocol, workload, limit=300, method=BY_INTERPRETER)
            for workload in workloads(link)[:4]
        ]
        wrong = refuted_facts(found)
        if not wrong:
            return names
        names = tuple(name for name in names if name not in wrong)


def as_kept(
    specify: Specify, session: ProofSession, draw: DrawnOrder, names: Sequence[str], known: tuple[ir.NamedFormula, ...]
) -> Sequence[str]:
    """What is kept by each step, as far as the solver sees that soon. Raises: Unsupported."""
    while True:
        (link,) = specify(draw.with_facts(names)).links
        lost = facts_not_kept(session, link, known)
        if not lost:
            return names
        names = tuple(name for name in names if name not in lost)


SHORT = ("1",)


@pytest.mark.long(but=SHORT, share=2)
@pytest.mark.parametrize("seed", range(1, 61))
def test_nothing_is_proved_that_a_run_refutes(specify: Specify, session: ProofSession, seed: int) -> None:
    found = judged(specify, session, seed)
    assert not found.proved & found.refuted, found.text


@pytest.mark.long
def test_much_is_proved(specify: Specify, session: ProofSession) -> None:
    found = [judged(specify, session, seed) for seed in range(61, 81)]
    assert not [each.text for each in found if each.proved & each.refuted]
    met = Counter(name for each in found for name in each.proved)
    assert met["link"] >= 8 and met["fifo"]
    assert {each.delivery for each in found if each.proved} == {"unicast", "multicast", "broadcast"}


def without_guards(link: ir.Link, known: tuple[ir.NamedFormula, ...]) -> tuple[Claimed, ...]:
    return tuple(each for each in claims(link, known) if not isinstance(each.claim, Enabled))


def test_what_is_unsound_is_found(specify: Specify, session: ProofSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prover, "claims", without_guards)
    found = judged(specify, session, 18)
    assert "link" in found.proved & found.refuted
