"""Invariants of a protocol follow from its proved link: what is proved holds in scopes, what does not follow is said.

Random formulas about the protocol's states are asked about and explored: none that a run breaks is ever proved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

import pytest

from thence.dsl import ir
from thence.dsl.ir.observability import own_invariants
from thence.proofs.engines import explore
from thence.proofs.machine.inductive_set import InductiveSet, proved_conjuncts
from thence.proofs.machine.prover import proved_set
from thence.proofs.prove import UnknownName, prove_specification
from thence.proofs.refinement.carrying.invariants import claimed_of, prove_invariant
from thence.proofs.refinement.prover import prove_link
from thence.proofs.solving.assessment import Assessment
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import SolverPool
from thence.spec.verdict import Level, Verdict

Specify = Callable[[str], ir.Specification]

TEXT = """machine permits:
  delivery off
  relation asked(p: process)
  relation granted(p: process)
  transition ask(p: process):
    require not asked(p)
    asked(p) := true
  transition grant(p: process):
    require asked(p) and forall q: process. not granted(q)
    asked(p) := false
    granted(p) := true
  transition free(p: process):
    require granted(p)
    granted(p) := false
  invariant one: forall p, q: process. granted(p) and granted(q) implies p = q

protocol permit:
  network reliable, reordering
  role keeper: process = 0
  message ASK()
  message GRANT()
  message FREE()
  state:
    holds: bool
    asked: bool
    taken: bool
    waiting: queue of process
  on acquire() when not asked and not holds:
    asked := true
    send ASK() to keeper
  on release() when holds:
    holds := false
    send FREE() to keeper
  on receive ASK() from j:
    if taken: waiting.push(j)
    else:
      taken := true
      send GRANT() to j
  on receive GRANT() from j:
    asked := false
    holds := true
  on receive FREE() from j:
    if waiting is empty: taken := false
    else:
      send GRANT() to waiting.first
      waiting.pop()
  invariant one_permit: forall p, q: process. holds@p and holds@q implies p = q
  invariant counted: forall p: process. asked@p implies not holds@p

conforms permit to permits:
  receive ASK() from j  is ask(j)
  send GRANT() to j     is grant(j)
  receive FREE() from j is free(j)
  invariant taken: forall p: process. granted(p) implies taken@keeper
  invariant waits: forall p: process. p in waiting@keeper iff asked(p)
  invariant waits_once: forall p: process. forall x in waiting@p. forall y ahead. y != x
  invariant asks: forall ASK() from p to k in flight. k = keeper and asked@p and not asked(p)
  invariant asks_once: forall p: process. (count ASK() from a to b in flight. a = p) <= 1
  invariant waiting_ask: forall p: process. asked(p) implies asked@p
  invariant grants: forall GRANT() from k to p in flight. granted(p) and asked@p and not asked(p)
  invariant no_ask: forall ASK() from p to k in flight. not exists GRANT() from a to b in flight. b = p
  invariant grants_once: forall p: process. (count GRANT() from a to b in flight. b = p) <= 1
  invariant holds: forall p: process. holds@p implies granted(p) and not asked@p
  invariant frees: forall FREE() from p to k in flight. k = keeper and granted(p) and not holds@p
  invariant no_grant: forall FREE() from p to k in flight. not exists GRANT() from a to b in flight. b = p
  invariant frees_once: forall p: process. (count FREE() from a to b in flight. a = p) <= 1
  expect proved
  expect proved one_permit, counted

scope two of permit:
  processes 2
  acquire 2 per process
  release 2 per process

scope three of permit:
  processes 3
  acquire 1 per process
  release 1 per process
"""

OWN = TEXT[TEXT.index("  invariant one_permit") : TEXT.index("conforms")]
"""The protocol's own invariants."""

EXPECTED = "  expect proved one_permit, counted\n"


def stating(specify: Specify, *formulas: str) -> ir.Specification:
    """The file with these invariants of the protocol, named f0, f1, ..."""
    lines = "".join(f"  invariant f{at}: {formula}\n" for at, formula in enumerate(formulas))
    return specify(TEXT.replace(OWN, f"{lines}\n").replace(EXPECTED, ""))


@pytest.fixture(scope="module")
def session() -> Iterator[ProofSession]:
    options = Options(timeout_ms=5_000, workers=1)
    with SolverPool(options.workers) as pool:
        yield ProofSession(pool, options)


@pytest.fixture
def inductive(specify: Specify, session: ProofSession) -> InductiveSet | None:
    return proved_set(session, specify(TEXT).machines[0])


def test_it_is_one_verdict_from_machine_to_protocol(specify: Specify) -> None:
    found = prove_specification(specify(TEXT), ["one_permit"], Options(timeout_ms=5_000))
    assert [(each.subject, each.name, each.verdict, each.level) for each in found] == [
        ("permit to permits", "every event is enabled in permits", Verdict.PROVED, Level.L3),
        ("permit to permits", "one_permit follows from it", Verdict.PROVED, Level.L3),
    ]


def test_without_names_what_the_link_expects_is_proved(specify: Specify) -> None:
    found = prove_specification(specify(TEXT.replace("one_permit, counted", "counted")), (), Options(timeout_ms=5_000))
    about = {each.name: (each.verdict, each.expected) for each in found if each.subject == "permit to permits"}
    assert about == {
        "every event is enabled in permits": (Verdict.PROVED, True),
        "counted follows from it": (Verdict.PROVED, True),
    }


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("forall p: process. holds@p implies p = keeper", "`p = keeper` on line"),
        ("forall p: process. not taken@p or p = keeper", "is false for p = "),
        ("forall p: process. asked@p implies waiting@keeper.first = p", "has no value"),
    ],
)
def test_what_does_not_follow_is_unknown_with_a_state(
    specify: Specify, session: ProofSession, inductive: InductiveSet, formula: str, said: str
) -> None:
    (link,) = stating(specify, formula).links
    found = prove_invariant(session, link, "f0", inductive, prove_link(session, link, inductive))
    assert (found.verdict, found.facts["unknown"]) == (Verdict.UNKNOWN, "not proved: f0 follows")
    assert said in found.facts["fails"]["false"][0]


def test_nothing_follows_from_a_link_that_is_not_proved(
    specify: Specify, session: ProofSession, inductive: InductiveSet
) -> None:
    (link,) = specify(TEXT).links
    found = prove_invariant(session, link, "counted", inductive, Assessment(Verdict.UNKNOWN, Level.L0, {}, ""))
    assert (found.verdict, found.facts["unknown"]) == (Verdict.UNKNOWN, "the link itself is not proved")


@pytest.mark.parametrize(
    "formula", ["when p receives GRANT() from q: asked@p", "forall p: process. (sum q: process. 1) >= 1"]
)
def test_what_cannot_be_said_is_refused(
    specify: Specify, session: ProofSession, inductive: InductiveSet, formula: str
) -> None:
    specification = stating(specify, formula)
    (link,) = specification.links
    if "f0" in own_invariants(link.protocol):
        shown = Assessment(Verdict.PROVED, Level.L3, {}, "")
        assert prove_invariant(session, link, "f0", inductive, shown).verdict is Verdict.UNKNOWN
    else:
        with pytest.raises(UnknownName):
            prove_specification(specification, ["f0"])


def test_no_formula_is_proved_that_a_run_breaks(
    specify: Specify, session: ProofSession, inductive: InductiveSet
) -> None:
    random = Random(20)
    specification = stating(specify, *(formula(random) for _ in range(80)))
    (link,) = specification.links
    assert prove_link(session, link, inductive).verdict is Verdict.PROVED
    broken: set[str] = set()
    for scope in specification.scopes:
        broken |= explore(link.protocol, scope.workload, list(own_invariants(link.protocol))).violations.keys()
    known = tuple(each.formula for each in proved_conjuncts(link.machine, inductive))
    quick = session.within(100).with_one_solver()
    proved = set[str]()
    for name in own_invariants(link.protocol):
        (done,) = quick.discharge((claimed_of(link, name, known).obligation,), look_for_models=False)
        proved |= {name} if done.proved else set()
    assert not broken & proved
    assert len(broken) >= 40 and len(proved) >= 8, (len(broken), len(proved))


ATOMS = (
    "holds@{}", "asked@{}", "taken@{}", "{} in waiting@{}", "waiting@{} is empty", "{} = {}", "{} = keeper",
    "waiting@{}.size <= 1", "waiting@keeper.first = {}", "(exists ASK() from a to b in flight. a = {})",
    "(exists GRANT() from a to b in flight. b = {})", "(exists FREE() from a to b in flight. a = {})",
    "(count GRANT() from a to b in flight. b = {}) <= 1", "(forall x in waiting@{}. asked@x)",
)  # fmt: skip
"""What random formulas are made of."""


def formula(random: Random) -> str:
    """`forall p, q: process. A and B implies C or D`, or a part of that; each of A to D an atom or its denial."""

    def literal() -> str:
        atom = random.choice(ATOMS)
        said = atom.format(*(random.choice("pq") for _ in range(atom.count("{}"))))
        return f"not ({said})" if random.random() < 0.4 else said

    given = [literal() for _ in range(random.choice((0, 1, 1, 2)))]
    goal = " or ".join(literal() for _ in range(random.choice((1, 1, 2))))
    return f"forall p, q: process. {' and '.join(given)} implies {goal}" if given else f"forall p, q: process. {goal}"
