"""Faults in protocols and machines, as edits of the text."""

from __future__ import annotations

from pathlib import Path

import pytest

from thence.conformance.mutation.edits import Edit, applied, diff, text_of
from thence.conformance.mutation.mutants import meaning, specification_mutants
from thence.conformance.mutation.specification_edits import OPERATORS, protocol_edits
from thence.dsl import ir
from thence.dsl.load import Loaded, load, load_bytes
from thence.dsl.text.syntax import Span


def test_an_edit_replaces_a_stretch_of_text() -> None:
    text = "one two\nthree four\nfive"
    span = Span(1, 5, 2, 6)
    assert text_of(text.split("\n"), span) == "two\nthree"
    changed = applied(text, Edit("x", span, "2 3", "here"))
    assert changed == "one 2 3 four\nfive"
    assert diff(text, changed, "file").splitlines()[3:] == ["-one two", "-three four", "+one 2 3 four", " five"]


@pytest.mark.parametrize("name", ["mf", "cykas", "rst", "hybrid_basic"])
def test_every_edit_of_a_protocol_is_read_by_the_front_end_and_means_something_else(name: str) -> None:
    loaded = load(name)
    protocol = protocol_of(loaded)
    mutants = specification_mutants(loaded, protocol)
    assert len(mutants) > 10
    assert len({mutant.text for mutant in mutants}) == len(mutants)
    for mutant in mutants[::7]:
        changed = meaning(mutant)
        assert changed is not None, mutant.diff
        assert next(one for one in changed.protocols if one.name == protocol.name) != protocol
        assert not changed.machines, "nothing else is read again"


def test_operators() -> None:
    """What the classes of fault seen in the wild come to, in the protocol of Raynal, Schiper and Toueg."""
    loaded = load("rst")
    edits = protocol_edits(protocol_of(loaded), list(loaded.source.lines))
    assert {edit.operator for edit in edits} <= OPERATORS.keys()
    made = {(edit.operator, text_of(list(loaded.source.lines), edit.span), edit.replacement) for edit in edits}
    assert ("drop metadata", "SENT", "empty") in made, "metadata filtered"
    assert any(operator == "skip statement" and was.startswith("SENT[") for operator, was, _ in made), "merge discarded"
    assert ("swap process", "self", "m.src") in made or ("swap process", "self", "m.dst") in made
    assert any(operator == "weaken comparison" and now.strip() == "<" for operator, _, now in made), "< for <="
    assert any(operator == "only the head" for operator, _, _ in made), "only the head of the queue"
    assert any(operator == "off by one" for operator, _, _ in made)
    assert any(operator == "drop the absent" and "= 0 then 0 else max(" in now for operator, _, now in made)


def test_edits_of_a_machine_touch_one_transition() -> None:
    loaded = load("mf")
    assert loaded.specification is not None
    machine = loaded.specification.machines[0]
    for mutant in specification_mutants(loaded, machine)[::5]:
        changed = meaning(mutant)
        assert changed is not None
        other = next(one for one in changed.machines if one.name == machine.name)
        pairs = zip(machine.transitions, other.transitions, strict=True)
        assert sum(before != after for before, after in pairs) == 1, mutant.diff
        assert other.invariants == machine.invariants


def protocol_of(loaded: Loaded) -> ir.Protocol:
    assert loaded.specification is not None
    return loaded.specification.protocols[0]


SHARED = """
def most(a: nat, b: nat): if a < b then b else a

protocol counting:
  message MSG(m: message, n: nat) carries m
  state:
    seen: nat
  on causal_send(m): send MSG(m, seen) to m.dst
  on receive MSG(m, n) from j:
    seen := most(seen, n) + 1
    deliver m
"""


def test_definitions_of_the_file_stand_beside_the_subject() -> None:
    loaded = load_bytes(Path("counting.thence"), SHARED.encode())
    assert loaded.specification is not None
    mutants = specification_mutants(loaded, loaded.specification.protocols[0])
    read = [mutant for mutant in mutants if meaning(mutant) is not None]
    assert read and len(read) > len(mutants) / 2
