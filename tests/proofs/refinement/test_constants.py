"""A proof of a link takes constants to have the values of the text, and its verdict says so."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from thence.dsl import ir
from thence.proofs.engines import explore
from thence.proofs.prove import prove_specification
from thence.proofs.refinement.premises import premises
from thence.proofs.solving.discharge import Options
from thence.spec.verdict import Verdict

Specify = Callable[[str], ir.Specification]

TEXT = """
machine anything:
  delivery off
  relation told(p: process)
  transition tell(p: process):
    told(p) := true
  invariant all: true

protocol capped:
  network reliable, reordering
  constant cap: nat = 2
  constant on: bool = true
  role boss: process = 0
  role deputy: process = 1
  state:
    n: nat
  on up() when on and n < cap: n := n + 1
  on hail() when self = boss: n := n
  on heed() when self = deputy: n := n
  invariant small: forall p: process. n@p <= 2
  invariant apart: boss != deputy

conforms capped to anything:
  up() is tell(self)
  invariant capped: forall p: process. n@p <= cap
  expect proved
  expect proved small, apart

scope two of capped:
  processes 2
  up 3 per process
  hail 1 per process
  heed 1 per process

scope other of capped:
  processes 2
  cap = 3
  deputy = 0
  up 3 per process
  hail 1 per process
  heed 1 per process
"""

VALUES = ("cap = 2", "on = true", "boss = 0", "deputy = 1")

ONE_ROLE = TEXT.replace("  role deputy: process = 1\n", "").replace("deputy", "boss")

NUMBERS = """  constant function number(p: process): nat
  constant function limit(): nat
  relation told(p: process)
"""


def test_what_other_values_break_is_proved_where_the_values_are_those_of_the_text(specify: Specify) -> None:
    specification = specify(TEXT)
    (link,) = specification.links
    found = {each.name: each for each in prove_specification(specification, (), Options(timeout_ms=5_000))}
    broken = {
        scope.name: explore(link.protocol, scope.workload, ["small", "apart"]).violations.keys()
        for scope in specification.scopes
    }
    assert broken == {"two": set(), "other": {"small", "apart"}}
    for name in ("every event is enabled in anything", "small follows from it", "apart follows from it"):
        assert found[name].verdict is Verdict.PROVED
        assert found[name].facts["where"] == list(VALUES)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (ONE_ROLE, ("cap = 2", "on = true")),
        (ONE_ROLE.replace("  relation told(p: process)\n", NUMBERS), ("cap = 2", "on = true", "boss = 0")),
        (ONE_ROLE.replace("reliable, reordering", "reliable, reordering, tree"), ("cap = 2", "on = true", "boss = 0")),
    ],
    ids=["one", "numbers", "tree"],
)
def test_a_role_by_itself_is_any_process_unless_something_tells_it_apart(
    specify: Specify, text: str, words: tuple[str, ...]
) -> None:
    (link,) = specify(text).links
    assert premises(link).words() == words
