"""A link proved for any number of processes and messages; or the first obligations that are not proved.

Nothing is refuted here. An obligation that fails does so in a state that need not be reachable, so the link is
`unknown` then, and the state is shown; `proofs.links.breaking` looks for a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from thence.dsl import ir
from thence.proofs.logic.formula import Unsupported
from thence.proofs.logic.obligation import Obligation
from thence.proofs.machine.inductive_set import InductiveSet, proved_conjuncts
from thence.proofs.machine.steps.effort import all_proved
from thence.proofs.refinement.drawing import Reader, reader_of
from thence.proofs.refinement.execution import Execution
from thence.proofs.refinement.failure import Failure, failure_of
from thence.proofs.refinement.obligations import Claimed, claims, contradiction
from thence.proofs.refinement.premises import premises
from thence.proofs.refinement.states import any_state
from thence.proofs.solving.assessment import Assessment, unknown
from thence.proofs.solving.discharge import QUICK_MS, Discharge, level_of, solver_facts
from thence.proofs.solving.finite_models import Model
from thence.proofs.solving.open_obligation import diagnose, undecided, with_fragment
from thence.proofs.solving.session import ProofSession
from thence.spec.verdict import Verdict
from thence.spec.words import counted

_FIRST_MS = 2_000
"""Time limit of the first solver for each obligation, before anything takes long."""

_FEW = 8
"""So many obligations that the first solver leaves get the whole time limit; with more the link is given up."""

_HOPELESS = 24
"""With more that the first solver leaves at once, the link is given up at once. Of the library's links, which have up
to 1,054 obligations, it leaves four at most."""


def prove_link(session: ProofSession, link: ir.Link, inductive: InductiveSet | None) -> Assessment:
    """The assessment of a link; `inductive` has the proved invariants of its machine, None where nothing is proved.

    Raises: CrossCheckError where a solver and the evaluator disagree.
    """
    facts: dict[str, Any] = {"property": "link", "machine": link.machine.name}
    if link.invariants:
        facts["invariants"] = [each.name for each in link.invariants]
    facts |= premises(link).as_facts()
    if inductive is None:
        return unknown(f"nothing is proved of machine `{link.machine.name}`", facts)
    known = tuple(each.formula for each in proved_conjuncts(link.machine, inductive))
    try:
        claimed = claims(link, known)
    except Unsupported as reason:
        return unknown(str(reason), facts)
    found = [each.obligation for each in claimed]
    (vacuous,) = session.silent().discharge((contradiction(link),))
    if vacuous.countermodel is None:
        return unknown("no processes were found of which all is true that is known of them", facts)
    left, model = with_a_false_one_first(session, left_at_first(session, found))
    asked = [each.obligation for each in left]
    if asked and (model is not None or len(asked) > _FEW or not all_proved(session, asked, look_for_models=False)):
        return _not_proved(session, link, known, left, claimed, facts, model)
    done = session.discharge(found, look_for_models=False)
    open_ = [each for each in done if not each.proved]
    if open_:
        left, model = with_a_false_one_first(session, open_)
        return _not_proved(session, link, known, left, claimed, facts, model)
    everything = (*inductive.discharges, *done)
    facts |= {"own_obligations": len(found), **solver_facts(everything, session.options)}
    own = counted(len(found), "obligation")
    text = f"from any state in which the invariants are true, each step is one of the machine and keeps them: {own}"
    proved = Assessment(Verdict.PROVED, level_of(everything), facts, text, "", everything)
    return with_fragment(proved, found) if session.options.fragment else proved


def left_at_first(session: ProofSession, found: Sequence[Obligation]) -> Sequence[Discharge]:
    """What is not proved while little time is spent: by the first solver at once, by any at once, by the first solver
    in a longer time. What one solver does not prove in a short time another one often does.
    """
    first, left = session.with_one_solver(), list[Discharge]()
    for each in (first.within(QUICK_MS), session.within(QUICK_MS), first.within(_FIRST_MS)):
        left = [done for done in each.discharge(found, look_for_models=False) if not done.proved]
        found = [done.obligation for done in left]
        if len(left) > _HOPELESS:
            break
    return left


def with_a_false_one_first(
    session: ProofSession, left: Sequence[Discharge]
) -> tuple[Sequence[Discharge], Model | None]:
    """What is left, in the order in which it is told; and a finite state in which the first of them fails, with which
    no solver proves it however long it is asked. None: none is found for the first `_FEW`."""
    for at, each in enumerate(left[:_FEW]):
        model = session.within(_FIRST_MS).countermodel(each.obligation)
        if model is not None:
            return (each, *left[:at], *left[at + 1 :]), model
    return left, None


def _not_proved(
    session: ProofSession,
    link: ir.Link,
    known: Sequence[ir.NamedFormula],
    left: Sequence[Discharge],
    claimed: Sequence[Claimed],
    facts: dict[str, Any],
    model: Model | None,
) -> Assessment:
    """The first obligation, with the finite state from which it fails if there is one, and which part of it is false
    there; and the names of the others."""
    first, *others = [each.obligation for each in left]
    reason = f"not proved: {first.name}"
    rest = f", and {counted(len(others), 'other')}" if others else ""
    more = f"{rest}, of {counted(len(claimed), 'obligation')}"
    lines = [f"{reason}{more}", *(f"  {each.name}" for each in others[:_FEW])]
    if model is not None:
        of_first = next(each for each in claimed if each.obligation is first)
        failure, text = _told(link, known, of_first, model)
        return unknown(f"{reason}{more}", {**facts, "fails": failure.to_json()}, "\n".join((*lines, *text)))
    blamed = diagnose(session.silent(), left[0])
    if blamed is not None and blamed.fragment.within:
        blamed = None  # with many that are open, --timeout was not tried, so it is not known whether time was missing
    return undecided(f"{reason}{more}", facts, "\n".join(lines), [blamed])


def failing_state(
    session: ProofSession, link: ir.Link, known: Sequence[ir.NamedFormula], claimed: Claimed
) -> tuple[Failure, tuple[str, ...]] | None:
    """A finite state in which an obligation of the link fails, and this in words; None where none is found.

    Args:
        known: what is proved of the machine.

    Raises: CrossCheckError where a solver and the evaluator disagree.
    """
    model = session.within(_FIRST_MS).countermodel(claimed.obligation)
    return None if model is None else _told(link, known, claimed, model)


def _told(
    link: ir.Link, known: Sequence[ir.NamedFormula], claimed: Claimed, model: Model
) -> tuple[Failure, tuple[str, ...]]:
    """How an obligation of the link fails in a finite state."""
    reader = reader_of(model)
    failure = failure_of(link, claimed, reader)
    head = f"`{claimed.obligation.name}` fails in this state, which need not be reachable:"
    return failure, (head, *failure.text(), *_not_told(link, known, reader))


def _not_told(link: ir.Link, known: Sequence[ir.NamedFormula], reader: Reader) -> list[str]:
    """What is false in the state of a model though it is known to be true: of counts solvers are told a part only."""
    state = any_state(link)
    wrong: list[str] = []
    for fact in (*Execution(link, state).invariants(state), *known):
        with suppress(KeyError, Unsupported):  # what has no table in the model is not judged
            if not reader.is_true(fact.body):
                wrong.append(f"`{fact.name}`")
    if not wrong:
        return []
    said = ", ".join(dict.fromkeys(wrong))
    return [f"  this state cannot be: {said} is false in it; of invariants that count, solvers are told a part"]
