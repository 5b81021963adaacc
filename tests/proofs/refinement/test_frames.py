"""What a loop leaves as it was is known behind it, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from thence.dsl import ir
from thence.dsl.ir.traversal import nodes
from thence.proofs.machine.prover import proved_set
from thence.proofs.refinement.effects import changes_of, names_given
from thence.proofs.refinement.frames import only_added_to, only_key
from thence.proofs.refinement.prover import prove_link
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import SolverPool
from thence.spec.verdict import Verdict

Specify = Callable[[str], ir.Specification]

TEXT = """
machine nothing_more:
  transition causal_send(m): pass
  transition deliver(m): require sent(m) and not delivered(m)
  prove at_most_once, no_creation

protocol loops:
  network reliable, reordering
  message LETTER(m: message) carries m
  state:
    todo: nat
    line: queue of nat
    seen: set of nat
    kept: sliding array of nat
    given: sliding map of nat
    held: map process to set of nat
    flags: map process to bool
  on causal_send(m):
    todo := 3
    LOOP
    send LETTER(m) to m.dst
  on receive LETTER(m) from j:
    while todo > 0:
      todo := todo - 1
      IN_ROUNDS
    deliver m
  property at_most_once, no_creation

conforms loops to nothing_more:
  causal_send(m) is causal_send(m)
  deliver m      is deliver(m)
  invariant letters: forall LETTER(m) from p to q in flight. sent(m) and not delivered(m) and dst(m) = q
  invariant once: forall m: message. (count LETTER(x) in flight. x = m) <= 1
  between steps stays: CLAIM
  expect proved
"""

NOTHING = "todo := 0"


def linked(specify: Specify, rounds: str, claim: str, before: str = NOTHING) -> ir.Link:
    text = TEXT.replace("LOOP", before).replace("IN_ROUNDS", rounds).replace("CLAIM", claim)
    (link,) = specify(text).links
    return link


def body_of(link: ir.Link) -> tuple[ir.Stmt, ...]:
    (loop,) = (node for node in nodes(link.protocol.handlers) if isinstance(node, ir.While))
    return loop.body


@pytest.fixture(scope="module")
def session() -> Iterator[ProofSession]:
    options = Options(timeout_ms=2_000, workers=1)
    with SolverPool(options.workers) as pool:
        yield ProofSession(pool, options)


@pytest.mark.parametrize(
    ("rounds", "variable", "only"),
    [
        ("line.push(todo)", "line", True),
        ("if todo > 1: line.push(todo)", "line", True),
        ("line.push(todo)\n      line.pop()", "line", False),
        ("line.push(todo)\n      line.clear()", "line", False),
        ("line.push(todo)\n      line := line", "line", False),
        ("kept.add(todo)", "kept", True),
        ("kept.add(todo)\n      kept.remove()", "kept", False),
        ("kept.add(todo)\n      kept[kept.first] := 0", "kept", False),
        ("given.add(todo)", "given", True),
        ("given.add(todo)\n      given.remove(todo)", "given", False),
        ("seen.add(todo)", "seen", True),
        ("held[j].add(todo)", "held", False),
    ],
)
def test_what_is_only_added_to(specify: Specify, rounds: str, variable: str, only: bool) -> None:
    link = linked(specify, rounds, "forall p: process. todo@p = 0")
    changes = changes_of(link, body_of(link))
    assert only_added_to(changes[variable]) is only


@pytest.mark.parametrize(
    ("rounds", "variable", "key"),
    [
        ("held[j].add(todo)", "held", "j"),
        ("held[j].add(todo)\n      held[j].clear()", "held", "j"),
        ("flags[self] := true", "flags", "self"),
        ("flags[j] := true\n      flags[self] := false", "flags", None),
        ("held.remove(j)", "held", None),
        ("for p in process: flags[p] := true", "flags", None),
        ("let q = m.src\n      flags[q] := true", "flags", None),
        ("flags[m.src] := true", "flags", None),
        ("flags[self] := true\n      for ref f in flags: f := false", "flags", None),
    ],
)
def test_the_one_key_that_a_loop_changes(specify: Specify, rounds: str, variable: str, key: str | None) -> None:
    link = linked(specify, rounds, "forall p: process. todo@p = 0")
    given = names_given(body_of(link))
    assert given is not None
    found = only_key(changes_of(link, body_of(link))[variable], given)
    assert (
        None if found is None else "self" if isinstance(found, ir.SelfProcess) else getattr(found, "name", "")
    ) == key


STAYS = {
    "a queue that is pushed to": (
        "line.push(todo)",
        "forall p: process. flags@p[p] implies line@p is not empty and line@p.first = 7",
        "if line is empty: line.push(7)\n    flags[self] := line.first = 7",
    ),
    "a set that is added to": (
        "seen.add(todo)",
        "forall p: process. flags@p[p] implies 7 in seen@p",
        "seen.add(7)\n    flags[self] := true",
    ),
    "a sliding array that is added to": ("kept.add(todo)", "forall p: process. kept@p.first = 0", NOTHING),
    "a sliding map that is added to": ("given.add(todo)", "forall p: process. given@p.first = 0", NOTHING),
    "another entry": ("flags[self] := true", "forall p, q: process. p = q or not flags@p[q]", NOTHING),
}
"""Loops, with a claim that is true before them and behind them, whatever a round does, since what it says stays."""


@pytest.mark.parametrize("what", list(STAYS))
def test_what_stays_is_known_behind_the_loop(specify: Specify, session: ProofSession, what: str) -> None:
    rounds, claim, before = STAYS[what]
    link = linked(specify, rounds, claim, before)
    assert prove_link(session, link, proved_set(session, link.machine)).verdict is Verdict.PROVED


FALSE = {
    "all entries by ref": (
        "flags[self] := true\n      for ref f in flags: f := true",
        "forall p, q: process. p = q or not flags@p[q]",
        "flags[m.dst] := false",
    ),
    "taken out": ("line.push(7)\n      line.pop()", "forall p: process. line@p is not empty", "line.push(7)"),
    "another number": ("kept.add(7)\n      kept.remove()", "forall p: process. kept@p.first = 0", NOTHING),
    "the entry itself": ("flags[j] := true", "forall p, q: process. not flags@p[q]", NOTHING),
    "entries of several": ("flags[j] := true\n      flags[self] := true", "forall p: process. not flags@p[p]", NOTHING),
    "an empty one grows": ("line.push(7)", "forall p: process. line@p is empty", NOTHING),
}
"""Loops, with a claim that they make false."""


@pytest.mark.parametrize("what", list(FALSE))
def test_what_does_not_stay_is_not_claimed(specify: Specify, session: ProofSession, what: str) -> None:
    rounds, claim, before = FALSE[what]
    link = linked(specify, rounds, claim, before)
    assert prove_link(session, link, proved_set(session, link.machine)).verdict is not Verdict.PROVED


@pytest.mark.parametrize("domain", ["process", "who"])
def test_the_variable_of_a_loop_is_no_key_behind_it(specify: Specify, session: ProofSession, domain: str) -> None:
    text = TEXT.replace("LOOP", NOTHING).replace("CLAIM", "forall p, q: process. p = q or not flags@p[q]")
    text = text.replace("    while todo > 0:", f"    for k in {domain}:").replace("IN_ROUNDS", "flags[k] := true")
    text = text.replace("  on causal_send", "    who: queue of process\n  on causal_send").replace(
        "todo := 3", "who.push(m.dst)"
    )
    (link,) = specify(text).links
    assert prove_link(session, link, proved_set(session, link.machine)).verdict is not Verdict.PROVED
