"""No axiom of a machine gets into a verdict about a protocol but by a proof, or by its name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from random import Random

import pytest

from thence.dsl import ir
from thence.dsl.check.workloads.defaults import all_choices
from thence.dsl.ir.declarations import Delivery
from thence.dsl.run.machine_run import MachineRun
from thence.proofs.logic.structure import Structure, evaluate
from thence.proofs.machine.prover import proved_set
from thence.proofs.prove import is_claimed
from thence.proofs.refinement.obligations import obligations
from thence.proofs.refinement.premises import Systems, premises
from thence.proofs.refinement.prover import prove_link
from thence.proofs.scopes.link import check_link
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import SolverPool
from thence.spec.verdict import Verdict

Specify = Callable[[str], ir.Specification]

TEXT = """
machine handing:
  delivery unicast
  constant relation below(p: process, q: process)
  constant function number(p: process): nat
  constant relation kept(m: message)
  AXIOMS
  transition causal_send(m): pass
  transition deliver(m): require sent(m) and not delivered(m)
  prove at_most_once, no_creation

protocol plain:
  delivery unicast
  network reliable, reordering
  message MSG(m: message) carries m
  state: seen: set of message
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j:
    if m not in seen:
      seen.add(m)
      deliver m
  property at_most_once, no_creation

scope small of plain:
  processes 2
  sends 1, 1

conforms plain to handing:
  causal_send(m) is causal_send(m)
  deliver m is deliver(m)
  invariant on_its_way: forall MSG(m) from p to q in flight. sent(m) and dst(m) = q
  invariant has_seen: forall p: process, m: message. delivered(m) and dst(m) = p implies m in seen@p
  expect proved
"""

SPREAD = """
machine handing:
  delivery broadcast
  constant relation below(p: process, q: process)
  constant function number(p: process): nat
  AXIOMS
  transition causal_send(m): pass
  transition deliver(m, p): require sent(m) and to(m, p) and not delivered(m, p)
  prove at_most_once, no_creation

protocol plain:
  delivery broadcast
  network reliable, reordering
  message MSG(m: message) carries m
  state: seen: set of message
  on causal_send(m):
    for p in process: if p != self: send MSG(m) to p
  on receive MSG(m) from j:
    if m not in seen:
      seen.add(m)
      deliver m
  property at_most_once, no_creation

scope small of plain:
  processes 2
  sends 1, 1

conforms plain to handing:
  causal_send(m) is causal_send(m)
  deliver m is deliver(m, self)
  invariant on_its_way: forall MSG(m) from p to q in flight. sent(m) and src(m) = p and q != p
  invariant has_seen: forall p: process, m: message. delivered(m, p) implies m in seen@p
  expect proved
"""

OTHERS, SEVERAL = "nobody sends to itself", "there are two processes or more"


@pytest.fixture(scope="module")
def session() -> Iterator[ProofSession]:
    with SolverPool(2, None) as pool:
        yield ProofSession(pool, Options(timeout_ms=2_000))


def link_with(specify: Specify, text: str, *axioms: str) -> ir.Link:
    lines = "\n  ".join(f"axiom a{number}: {each}" for number, each in enumerate(axioms))
    (link,) = specify(text.replace("  AXIOMS\n", f"  {lines}\n" if axioms else "")).links
    return link


@pytest.mark.parametrize(
    ("text", "axiom", "where"),
    [
        (TEXT, "forall m. src(m) != dst(m)", [OTHERS, SEVERAL]),
        (TEXT, "forall p, q. p = q or below(p, q) or below(q, p)", []),
        (TEXT, "forall p, q. number(p) = number(q) implies p = q", []),
        (TEXT, "exists p. number(p) != 0", [SEVERAL]),
        (SPREAD, "forall m. not to(m, src(m))", [OTHERS]),
        (SPREAD, "forall m, p. to(m, p)", ["each message goes to its sender, too"]),
        (SPREAD, "forall m, p. to(m, p) or p = src(m)", []),
    ],
)
def test_what_follows_from_the_application_and_the_processes_is_shown(
    specify: Specify, session: ProofSession, text: str, axiom: str, where: list[str]
) -> None:
    link = link_with(specify, text, axiom)
    found = prove_link(session, link, proved_set(session, link.machine))
    assert found.verdict is Verdict.PROVED
    assert (found.facts.get("where", []), "assumes" in found.facts) == (where, False)
    assert "axiom a0" in {each.name for each in obligations(link, ())}


@pytest.mark.parametrize(
    ("text", "axiom"),
    [
        (TEXT, "forall m, n. src(m) = src(n)"),
        (TEXT, "forall m. src(m) = dst(m)"),
        (TEXT, "forall m. below(src(m), dst(m))"),
        (TEXT, "forall m. kept(m)"),
        (SPREAD, "forall m. number(src(m)) = 0"),
        (SPREAD, "forall m, p. to(m, p) implies number(p) < 2"),
    ],
)
def test_what_runs_break_is_named(specify: Specify, session: ProofSession, text: str, axiom: str) -> None:
    link = link_with(specify, text, axiom)
    found = prove_link(session, link, proved_set(session, link.machine))
    assert found.verdict is not Verdict.PROVED or found.facts["assumes"] == ["a0"]
    assert "axiom a0" not in {each.name for each in obligations(link, ())}


@pytest.mark.parametrize(
    "axiom", ["forall p. number(p) < 2", "forall p, q. below(p, q) or p = q", "exists p. below(p, p)"]
)
def test_what_is_false_of_processes_is_not_taken(specify: Specify, session: ProofSession, axiom: str) -> None:
    """Nobody can promise it: what it speaks about is given."""
    link = link_with(specify, TEXT, axiom)
    found = prove_link(session, link, proved_set(session, link.machine))
    assert found.verdict is Verdict.UNKNOWN


def test_a_multicast_is_no_broadcast(specify: Specify, session: ProofSession) -> None:
    """The machine has it built in that a message goes to all others. A message of this protocol need not."""
    text = SPREAD.replace("protocol plain:\n  delivery broadcast", "protocol plain:\n  delivery multicast")
    text = text.replace("sent(m) and to(m, p) and not", "sent(m) and p != src(m) and not")
    link = link_with(specify, text, "forall m. not to(m, src(m))")
    found = prove_link(session, link, proved_set(session, link.machine))
    assert found.verdict is Verdict.PROVED and found.facts["assumes"] == ["ghost_broadcast"]
    assert check_link(link, link.protocol, link.scopes[0].workload).refuted is None


MANY = SPREAD.replace("delivery broadcast", "delivery multicast")
"""The same, of messages to some."""


def test_that_somebody_is_to_get_a_multicast_is_named(specify: Specify, session: ProofSession) -> None:
    """No formula says it of applications. In scopes it is so, and there the machine runs along; a link whose machine
    says so assumes it, and is not proved without."""
    text = MANY.replace("sent(m) and to(m, p) and not", "sent(m) and (exists q. to(m, q)) and p != src(m) and not")
    plain, named = (link_with(specify, text, *axioms) for axioms in ([], ["forall m. exists p. to(m, p)"]))
    assert prove_link(session, plain, proved_set(session, plain.machine)).verdict is Verdict.UNKNOWN
    found = prove_link(session, named, proved_set(session, named.machine))
    assert found.verdict is Verdict.PROVED and found.facts["assumes"] == ["a0"]
    checked = check_link(named, named.protocol, named.scopes[0].workload)
    assert checked.refuted is None and checked.complete


def test_axioms_of_multicasts_are_shown_only_where_they_are_true(specify: Specify, session: ProofSession) -> None:
    """Each drawn axiom that solvers prove is true of all multicasts among four processes; what is false there is named
    or not proved, and an axiom that says that somebody gets a message is not shown."""
    shown = named = 0
    for seed in range(40):
        draw = Random(seed)
        said = ["to(m, p)", "not to(m, p)", "to(n, p)", "p = src(m)", "p != src(n)", "src(m) = src(n)"]
        body = f" {draw.choice(['and', 'or', 'implies'])} ".join(f"({each})" for each in draw.sample(said, 2))
        binders = f"{draw.choice(['forall', 'exists'])} p: process"
        link = link_with(specify, MANY, f"forall m: message, n: message. {binders}. {body}")
        asked = premises(link)
        own = [each for each in obligations(link, ()) if each.name == "axiom a0"]
        answers = session.discharge(own, look_for_models=False)
        larger = larger_systems(asked.systems, link)
        assert len(own) == len([each for each in asked.shown if each.name == "a0"])
        if own and answers[0].proved:
            assert not any("a0" in run.broken_axioms() for run in larger), seed
            shown += 1
        else:
            named += "a0" in {each.name for each in asked.assumed}
    assert shown >= 3 and named >= 3, (shown, named)


def test_nothing_is_assumed_of_the_library(library: Callable[[str], ir.Specification]) -> None:
    for name in ("cbcast", "synchronous", "tree", "newtop", "ricart_agrawala", "two_phase_commit", "client_server"):
        for link in library(name).links:
            if is_claimed(link):
                assert not premises(link).assumed, name


ACTING = {
    "  on receive MSG": "  on act(): seen := seen\n  on receive MSG",
    "  transition deliver": "  transition act(p: process): require GUARD\n  transition deliver",
    "  invariant on_its_way": "  act() is act(self)\n  invariant on_its_way",
    "scope small": "scope one of plain:\n  processes 1\n  sends 0\n  act 1 per process\n\nscope small",
    "  sends 1, 1\n": "  sends 1, 1\n  act 1 per process\n",
}


@pytest.mark.parametrize(
    ("text", "axioms", "guard", "where"),
    [
        (TEXT, ["forall m. src(m) != dst(m)"], "exists q. q != p", [OTHERS, SEVERAL]),
        (TEXT, ["forall m. src(m) != dst(m)"], "exists m. src(m) = src(m)", [OTHERS, SEVERAL]),
        (TEXT, [], "exists m. src(m) = src(m)", []),
        (SPREAD, ["forall m. not to(m, src(m))"], "exists m. src(m) = src(m)", [OTHERS]),
        (SPREAD, [], "exists m. src(m) = src(m)", []),
    ],
)
def test_what_is_proved_is_true_of_a_process_that_has_nobody_to_send_to(
    specify: Specify, session: ProofSession, text: str, axioms: list[str], guard: str, where: list[str]
) -> None:
    """Solvers take it that there is a message, which need not be so."""
    for old, new in ACTING.items():
        text = text.replace(old, new.replace("GUARD", guard))
    link = link_with(specify, text, *axioms)
    found = prove_link(session, link, proved_set(session, link.machine))
    assert (found.verdict, found.facts.get("where", [])) == (Verdict.PROVED, where)
    checks = {each.workload.processes: check_link(link, link.protocol, each.workload) for each in link.scopes}
    assert not any(each.refuted for each in checks.values())
    assert checks[2].complete and checks[1].complete == (SEVERAL not in where)


# --- held against what applications do ------------------------------------------------------------


def sets_of_destinations(delivery: Delivery, processes: int) -> Iterator[tuple[int, ...]]:
    """Whatever formulas can speak about; a multicast to nobody is none."""
    for told in product((False, True), repeat=processes):
        some = tuple(process for process, there in enumerate(told) if there)
        if len(some) == 1 or (delivery != "unicast" and some):
            yield some


@pytest.mark.parametrize("delivery", ["unicast", "multicast", "broadcast"])
@pytest.mark.parametrize("self_sends", [False, True, None])
def test_the_facts_are_those_of_the_messages_that_can_be_sent(
    specify: Specify, delivery: Delivery, self_sends: bool | None
) -> None:
    """Of all that a message could be, the facts allow what some scope allows; but for a broadcast to some."""
    protocol = link_with(specify, TEXT if delivery == "unicast" else SPREAD).protocol
    text = SPREAD.replace("delivery broadcast", "delivery multicast")
    protocol = link_with(specify, text).protocol if delivery == "multicast" else protocol
    facts = Systems(self_sends).facts(protocol)
    for processes in (2, 3):
        meant = (False, True) if self_sends is None else (self_sends,)
        allowed = {
            (source, ends)
            for to_itself in meant
            for source, choices in enumerate(all_choices(processes, delivery, to_itself))
            for ends in choices
        }
        found = set()
        for source, ends in product(range(processes), sets_of_destinations(delivery, processes)):
            to = {(0, process): process in ends for process in range(processes)}
            tables = {"src": {(0,): source}, "dst": {(0,): ends[0]}, "to": to}
            message = Structure({"process": processes, "message": 1}, tables)
            if all(evaluate(fact.body, message, {}) for fact in facts):
                found.add((source, ends))
        assert found == allowed


TERMS = ("src(m)", "dst(m)", "src(n)", "dst(n)", "p")
SAID = ("{} = {}", "{} != {}", "below({}, {})", "number({}) < number({})", "number({}) = 0 or p = {}")


def drawn_axiom(draw: Random) -> str:
    """About two messages and a process."""

    def atom() -> str:
        one, other = draw.choice(TERMS), draw.choice(TERMS)
        said = draw.choice(
            ["{} = {}", "{} != {}", "below({}, {})", "number({}) < number({})", "number({}) = 0 or p = {}"]
        )
        return said.format(one, other)

    parts = [atom() for _ in range(draw.randint(1, 3))]
    body = f" {draw.choice(['and', 'or', 'implies'])} ".join(f"({part})" for part in parts[:2])
    body = f"({body}) or ({parts[2]})" if len(parts) > 2 else body
    return f"forall m: message, n: message. {draw.choice(['forall', 'exists'])} p: process. {body}"


def test_drawn_axioms_are_shown_only_where_they_are_true(specify: Specify, session: ProofSession) -> None:
    """What solvers prove is true among four processes, too, which the choice of axioms does not look at; what is false
    there is named or not proved."""
    shown = named = 0
    for seed in range(40):
        link = link_with(specify, TEXT, drawn_axiom(Random(seed)))
        asked = premises(link)
        own = [each for each in obligations(link, ()) if each.name == "axiom a0"]
        assert len(own) == len(asked.shown) == 1 - len(asked.assumed)
        answers = session.discharge(own, look_for_models=False)
        larger = larger_systems(asked.systems, link)
        if answers and answers[0].proved:
            assert not any("a0" in run.broken_axioms() for run in larger), seed
            shown += 1
        else:
            assert any("a0" in run.broken_axioms() for run in larger) or answers, seed
            named += 1
    assert shown >= 5 and named >= 5, (shown, named)


def larger_systems(systems: Systems, link: ir.Link) -> list[MachineRun]:
    kinds = (False, True) if systems.self_sends is None else (systems.self_sends,)
    return [
        MachineRun(link.machine, 4, [(source, ends) for source, own in enumerate(each) for ends in own])
        for each in (all_choices(4, link.protocol.delivery, to_itself) for to_itself in kinds)
    ]
