"""The block `initial` of a machine: first values by what never changes, of what is no constant, once each."""

from __future__ import annotations

import pytest

from thence.dsl.check.elaborate import elaborate
from thence.dsl.text.parse import parse
from thence.dsl.write.format import format_source

MACHINE = """machine token:
  constant relation link(p: process, q: process)
  constant function first(): process
  relation holds(p: process)
  relation near(p: process)
  function turns(p: process): nat
  axiom linked: forall p. link(p, p)
  initial:
    forall p: holds(p) := p = first()
    forall q: near(q) := link(first(), q)
  transition causal_send(m): pass
  transition deliver(m):
    require sent(m) and near(dst(m))
    forall p: holds(p) := p = dst(m)
    forall p: turns(p) := if p = dst(m) then turns(p) + 1 else turns(p)
  prove no_creation
"""


def codes(text: str) -> list[str]:
    tree, found = parse(text, "test.thence")
    more = () if tree is None else elaborate(tree, "test.thence")[1]
    return [each.code for each in (*found, *more)]


def test_first_values_are_typed_in_the_order_of_the_text() -> None:
    assert codes(MACHINE) == []
    specification, _ = elaborate(parse(MACHINE, "test.thence")[0], "test.thence")
    [machine] = specification.machines
    assert [update.symbol for update in machine.initial] == ["holds", "near"]
    assert machine.constants == ("link", "first")


def test_what_has_a_first_value_need_not_be_changed() -> None:
    """`near` is changed by nothing else; without its first value it would be empty for ever."""
    assert codes(MACHINE.replace("    forall q: near(q) := link(first(), q)\n", "")) == ["E0642"]


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("holds(p) := p = first()", "holds(p) := turns(p) = 0", "E0523"),
        ("holds(p) := p = first()", "holds(p) := near(p)", "E0523"),
        ("holds(p) := p = first()", "holds(p) := exists m. sent(m) and src(m) = p", "E0523"),
        ("forall p: holds(p) := p = first()\n    forall q", "require link(first(), first())\n    forall q", "E0501"),
        ("forall q: near(q) := link(first(), q)", "forall p, q: link(p, q) := near(q)", "E0643"),
        ("forall q: near(q) := link(first(), q)", "near(first()) := true", "E0505"),
        ("forall q: near(q) := link(first(), q)", "forall q: holds(q) := link(first(), q)", "E0504"),
        ("forall q: near(q) := link(first(), q)", "forall q: past(q) := true", "E0502"),
        ("forall q: near(q) := link(first(), q)", "forall q: nears(q) := true", "E0503"),
        ("forall p. link(p, p)", "forall p. near(p) or link(p, p)", "E0520"),
        ("  transition deliver", "  initial: pass\n  transition deliver", "E0130"),
    ],
)
def test_what_cannot_be_a_first_value(old: str, new: str, code: str) -> None:
    assert old in MACHINE
    assert code in codes(MACHINE.replace(old, new))


def test_a_mutant_of_a_machine_restates_it_and_one_of_a_protocol_cannot() -> None:
    more = "\nmutant two of token:\n  initial:\n    forall p: holds(p) := true\n    forall p: near(p) := true\n"
    assert codes(MACHINE + more) == []
    same = MACHINE[MACHINE.index("  initial:") : MACHINE.index("  transition causal_send")]
    assert codes(MACHINE + "\nmutant same of token:\n" + same) == ["W0911"]
    protocol = "\nprotocol p:\n  message MSG(m: message) carries m\n  on causal_send(m):\n    send MSG(m) to m.dst\n"
    protocol += "  on receive MSG(m) from j:\n    deliver m\n\nmutant no of p:\n  initial: pass\n"
    assert codes(protocol) == ["E0611"]


@pytest.mark.parametrize("text", [MACHINE, MACHINE.replace("  initial:\n", "  initial:  # at first\n")])
def test_it_is_formatted(text: str) -> None:
    assert format_source(text, "test.thence") == (text, ())
    loose = text.replace("    forall p: holds(p) := p = first()", "      forall p : holds( p ) := (p = first( ))")
    loose = loose.replace("    forall q: near", "      forall q: near")
    assert loose != text
    assert format_source(loose, "test.thence")[0] == text
