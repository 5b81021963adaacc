"""Right certificates on busy machines: whether much or little was decided in time, none is called wrong.

A busy machine is one on which some questions have no answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.proofs.certificate.conftest import SPREAD

from thence.proofs.certificate import recheck
from thence.proofs.certificate.solver_results import Note, solve
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.solver import Answer, Check, SolverPool, SolverRequest

Forge = Callable[[Path], Any]
Late = Callable[[SolverRequest], bool]

HANDED_ON = """\
machine handed_on:
  relation posted(m: message)
  transition causal_send(m): pass
  transition post(m):
    require sent(m)
    posted(m) := true
  transition deliver(m):
    require posted(m) and not delivered(m)
  invariant had_sent: forall m. posted(m) implies sent(m)
  invariant had_posted: forall m. delivered(m) implies posted(m)
  prove no_creation
"""


def about(name: str) -> Late:
    return lambda asked: isinstance(asked, Check) and asked.text.startswith(f"; {name}\n")


@pytest.fixture
def busy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Late], None]]:
    """Has questions of a kind unanswered."""
    served = SolverPool._serve

    def late(is_late: Late) -> None:
        def answer(pool: SolverPool, request: SolverRequest, key: bytes) -> Answer:
            return Answer("unknown", "busy", 0.0) if is_late(request) else served(pool, request, key)

        monkeypatch.setattr(SolverPool, "_serve", answer)

    yield late
    monkeypatch.undo()


@pytest.mark.parametrize(
    ("lost", "kept"),
    [
        ("post keeps had_sent", {"had_posted", "vacuity"}),
        ("deliver keeps had_posted", {"history", "had_sent", "no_creation", "vacuity"}),
    ],
)
def test_what_was_open_when_it_was_written_need_not_be_open_later(
    certify: Callable[..., Any],
    forge: Forge,
    busy: Callable[[Late], None],
    monkeypatch: pytest.MonkeyPatch,
    lost: str,
    kept: set[str],
) -> None:
    """Elsewhere more is kept; that what was kept is kept without it is confirmed all the same."""
    busy(about(lost))
    made, directory = certify("handed_on", HANDED_ON, checked=False)
    monkeypatch.undo()
    assert {each.name for each in made.manifest.statements} == kept
    assert forge(directory).recheck().confirmed


def test_evidence_that_an_assumption_is_needed_may_be_missing(
    certify: Callable[..., Any], forge: Forge, monkeypatch: pytest.MonkeyPatch
) -> None:
    from thence.proofs.theory import prover

    with monkeypatch.context() as late:
        late.setattr(prover, "_need", lambda session, theorem, assumption: prover.Need(assumption.name, None))
        made, directory = certify("needless", SPREAD, checked=False)
    assert not any(each.shows == "needed" for statement in made.manifest.statements for each in statement.evidence)
    assert forge(directory).recheck().confirmed


@pytest.mark.parametrize("open_one", ["post keeps had_sent", "deliver keeps ghost_past_sent"])
def test_what_is_not_decided_in_time_is_open(
    certify: Callable[..., Any], forge: Forge, monkeypatch: pytest.MonkeyPatch, open_one: str
) -> None:
    """Without it less is proved, from less. That is no fault of the certificate."""
    directory = certify("handed_on", HANDED_ON, checked=False)[1]

    def answers(texts: list[str], options: Options, note: Note | None = None) -> tuple[Any, ...]:
        found = solve(texts, options, note)
        late = about(open_one)
        asked = zip(texts, found, strict=True)
        return tuple(dict.fromkeys(said, "unknown") if late(Check("z3", text, 1, 0)) else said for text, said in asked)

    monkeypatch.setattr(recheck, "solve", answers)
    found = forge(directory).recheck()
    assert not found.faults and not found.confirmed
    assert all(each.reasons for each in found.confirmations if each.statement.obligations)
