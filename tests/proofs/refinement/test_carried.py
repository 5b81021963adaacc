"""A protocol has what its machine has, where the link is proved and sends and deliveries are the machine's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import pytest

from thence.dsl import ir
from thence.proofs.refinement.carried import OF_DELIVERIES, at_new_levels, carried, carries
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
    results = (
        Result("at_most_once", "machine", "handing", machine, Level.L2, True),
        Result("every event is enabled in handing", "link", asked.name, link, level, True),
    )
    (found,) = carried([asked], ["at_most_once", "no_creation"], results)
    assert (found.subject, found.name, found.verdict, found.level) == ("direct", "at_most_once", *expected)
    assert found.expected == (expected[0] is PROVED)
    for alone in results:
        assert [*carried([asked], ["at_most_once"], [alone])] == []


def test_its_level_follows_those_that_it_rests_on(specify: Specify) -> None:
    asked = link_of(specify)
    own = Result("at_most_once", "machine", "handing", PROVED, Level.L2, True)
    shown = Result("every event is enabled in handing", "link", asked.name, PROVED, Level.L3, True)
    (found,) = carried([asked], ["at_most_once"], (own, shown))
    raised = (replace(own, level=Level.L4), replace(shown, level=Level.L3), found)
    assert [each.level for each in at_new_levels(raised)] == [Level.L4, Level.L3, Level.L3]
    assert at_new_levels(raised)[:2] == raised[:2]
