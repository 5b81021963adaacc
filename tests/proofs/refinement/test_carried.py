"""A protocol has what its machine has, where the link is proved and sends and deliveries are the machine's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import pytest

from thence.dsl import ir
from thence.proofs.logic.formula import TRUE
from thence.proofs.logic.obligation import Obligation, Signature
from thence.proofs.refinement.carrying.properties import OF_DELIVERIES, carried, carries, carrying
from thence.proofs.solving.assessment import Assessment, Proof
from thence.proofs.solving.discharge import Discharge
from thence.proofs.solving.solver import Answer
from thence.spec.verdict import Level, Result, Verdict

Specify: TypeAlias = Callable[[str], ir.Specification]

TEXT = """
protocol direct:
  network reliable, reordering
  message MSG(m: message) carries m
  state: late: bool
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j:
    if not late: deliver m
    late := true
  property at_most_once, fifo

machine handing:
  relation noticed(m: message)
  transition causal_send(m): pass
  transition deliver(m):
    require sent(m) and not delivered(m)
  transition give(m):
    noticed(m) := true
  prove at_most_once, no_creation

conforms direct to handing:
  causal_send(m) is causal_send(m)
  deliver m is deliver(m)
  expect proved
"""


def link_of(specify: Specify, *changed: str) -> ir.Link:
    text = TEXT
    for old, new in zip(changed[::2], changed[1::2], strict=True):
        assert old in text
        text = text.replace(old, new)
    (link,) = specify(text).links
    return link


def test_what_both_state_is_carried(specify: Specify) -> None:
    link = link_of(specify)
    assert [name for name in OF_DELIVERIES if carries(link, name)] == ["at_most_once"]


@pytest.mark.parametrize(
    "changed",
    [
        ("deliver m is deliver(m)", "deliver m is deliver(m), once"),
        ("  property at_most_once, fifo", "  property fifo"),
        ("  prove at_most_once, no_creation", "  prove no_creation"),
    ],
    ids=lambda changed: changed[1].strip(),
)
def test_other_links_carry_nothing(specify: Specify, changed: tuple[str, str]) -> None:
    assert not any(carries(link_of(specify, *changed), name) for name in OF_DELIVERIES)


PROVED, REFUTED, UNKNOWN = Verdict.PROVED, Verdict.REFUTED, Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("machine", "link", "level", "expected"),
    [
        (PROVED, PROVED, Level.L3, (PROVED, Level.L2)),
        (PROVED, PROVED, Level.L2, (PROVED, Level.L2)),
        (PROVED, UNKNOWN, Level.L0, (UNKNOWN, Level.L0)),
        (PROVED, REFUTED, Level.L2, (UNKNOWN, Level.L0)),
        (UNKNOWN, PROVED, Level.L3, (UNKNOWN, Level.L0)),
        (REFUTED, PROVED, Level.L3, (UNKNOWN, Level.L0)),
    ],
)
def test_it_needs_both_proofs(
    specify: Specify, machine: Verdict, link: Verdict, level: Level, expected: tuple[Verdict, Level]
) -> None:
    asked = link_of(specify)
    proofs = (
        proof("at_most_once", "machine", "handing", machine, Level.L2),
        proof("every event is enabled in handing", "link", asked.name, link, level),
    )
    (found,) = carried([asked], ["at_most_once", "no_creation"], proofs)
    assert (found.result.subject, found.result.name) == ("direct", "at_most_once")
    assert (found.result.verdict, found.result.level) == (found.assessment.verdict, found.assessment.level) == expected
    assert found.result.expected == (expected[0] is PROVED)
    own, shown = (each.assessment.discharges for each in proofs)
    assert found.assessment.discharges == ((*own, *shown) if expected[0] is PROVED else ())
    for alone in proofs:
        assert [*carried([asked], ["at_most_once"], [alone])] == []


def proof(name: str, kind: Literal["machine", "link"], subject: str, verdict: Verdict, level: Level) -> Proof:
    """One that rests on an obligation of its own."""
    obligation = Obligation(f"of {name}", Signature((), (), ()), (), ir.NamedFormula(name, TRUE))
    done = Discharge(obligation, {"z3": Answer("unsat", "", 0.0)})
    return Proof(Result(name, kind, subject, verdict, level, True), Assessment(verdict, level, {}, "", "", (done,)))


def test_a_link_that_claims_its_proof_comes_first(specify: Specify) -> None:
    more = TEXT[TEXT.index("machine handing") : TEXT.index("conforms")].replace("handing", "giving")
    unclaimed = TEXT[TEXT.index("conforms") :].replace("handing", "giving").replace("  expect proved\n", "")
    parts = TEXT.replace("conforms", f"{more}{unclaimed}\nconforms")
    links = specify(parts).links
    assert [link.machine.name for link in links] == ["giving", "handing"]
    for some in (links, links[::-1]):
        found = carrying(some, "direct", "at_most_once")
        assert found is not None and found.machine.name == "handing"
    assert carrying(links[:1], "direct", "at_most_once") is links[0]
    assert carrying(links, "direct", "fifo") is carrying(links, "other", "at_most_once") is None
