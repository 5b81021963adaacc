"""What is told of invariants that count is implied by them: drawn invariants in drawn structures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.proofs.refinement.test_execution import Drawn

from thence.dsl import ir
from thence.dsl.load import load_bytes
from thence.proofs.logic.counting import has_counts
from thence.proofs.logic.formula import free_locals, outer_foralls, substitute
from thence.proofs.logic.obligation import Obligation
from thence.proofs.logic.structure import Structure, evaluate, tuples
from thence.proofs.refinement import obligations as module
from thence.proofs.refinement.obligations import obligations

HEAD = """
machine roads:
  function going: process, process to nat
  function copies: message to nat
  relation open(p: process, q: process)
  transition causal_send(m):
    copies(m) := copies(m) + 1
  transition tell(p, q):
    require open(p, q)
    going(p, q) := going(p, q) + 1
  transition widen(p, q):
    open(p, q) := true
  transition land(p, q):
    require going(p, q) > 0
    going(p, q) := going(p, q) - 1
  transition come(m):
    require copies(m) > 0
    copies(m) := copies(m) - 1
  transition deliver(m):
    require sent(m) and not delivered(m)
  prove at_most_once

protocol tellers:
  network reliable, reordering
  message TELL()
  message COPY(m: message, by: process) carries m
  state:
    S: set of process
    ready: bool
  on causal_send(m): send COPY(m, self) to m.dst
  on tell(p: process): send TELL() to p
  on receive TELL() from j:
    S.add(j)
    if ready: send TELL() to j
  on receive COPY(m, b) from j:
    if b in S: S.remove(b)
    deliver m

conforms tellers to roads:
  causal_send(m) is causal_send(m)
  tell(p) is tell(self, p)
  receive TELL() from j is land(j, self)
  receive COPY(m, b) from j is come(m)
  deliver m is deliver(m)
"""

FEW = "at most one is counted"

COUNTS_OF_TWO = (
    "count TELL() from a to b in flight. a = p and b = q",
    "count COPY(x, y) from a to b in flight. y = p and b = q",
    "count r in S@p. r = q or open(p, r)",
    "count r: process. r in S@p and open(r, q)",
    "count r in S@q. r != p and open(p, r)",
    "count n: message. n.src = p and n.dst = q",
)
COUNTS_OF_A_MESSAGE = (
    "count COPY(x, y) in flight. x = m",
    "count COPY(x, y) from a to b in flight. x = m and b = p",
    "count r: process. r = m.dst or open(r, m.src)",
    "count r: process. exists n: message. n.src = r and copies(n) = copies(m)",
)
VALUES = ("0", "1", "2", "going(p, q)", "going(q, p)", "(if open(p, q) then 1 else 0)", "(if p = q then 1 else 0)")
VALUES_OF_A_MESSAGE = ("0", "1", "2", "copies(m)", "going(m.src, m.dst)", "(if open(m.src, p) then 1 else 0)")
PREFIXES = (
    "forall p, q: process. ",
    "forall p: process. forall q: process. ",
    "forall q, p: process. ",
    "forall p: process. exists q: process. ",
    "exists p: process. forall q: process. ",
    "forall p: process. ready@p implies forall q: process. ",
    "forall p: process. not forall q: process. ",
)
PREFIXES_OF_A_MESSAGE = (
    "forall m: message, p: process. ",
    "forall p: process. forall m: message. ",
    "forall p: process. exists m: message. ",
    "exists p: process. forall m: message. ",
    "forall m: message. exists p: process. ",
    "exists m: message. forall p: process. ",
)


def drawn_invariant(one: Random) -> str:
    if one.random() < 0.5:
        prefix, counts, values = one.choice(PREFIXES), COUNTS_OF_TWO, VALUES
    else:
        prefix, counts, values = one.choice(PREFIXES_OF_A_MESSAGE), COUNTS_OF_A_MESSAGE, VALUES_OF_A_MESSAGE
    body = f"({one.choice(counts)}) {one.choice(('<=', '=', '>=', '!=', '<'))} {one.choice(values)}"
    if one.random() < 0.3:
        body = f"({body}) {one.choice(('and', 'or', 'implies'))} (count u: process. ready@u) <= 1"
    return prefix + body


def drawn_link(one: Random) -> ir.Link:
    text = HEAD + "".join(f"  invariant i{at}: {drawn_invariant(one)}\n" for at in range(4))
    loaded = load_bytes(Path("drawn.thence"), text.encode())
    assert loaded.specification is not None, [(each.message, each.span.line) for each in loaded.diagnostics]
    return loaded.specification.links[0]


def untold(patch: pytest.MonkeyPatch, link: ir.Link) -> tuple[Obligation, ...]:
    """The obligations with the invariants as they are."""
    with patch.context() as apart:
        apart.setattr(module._Maker, "_counted", lambda _, facts, goal: (facts, goal))
        return obligations(link, ())


def drawn_structure(link: ir.Link, one: Random) -> Structure:
    """A state in which some of what is counted is what the machine says it is, so that invariants are true."""
    drawn = Drawn(link, one.choice((1, 2, 2, 3)), one)
    structure = drawn.structure
    tables: dict[str, Any] = {name: dict(table) for name, table in structure.tables.items()}
    if one.random() < 0.7:
        ends = Counter((each.src, each.dst) for each in drawn.packets if each.kind == "TELL")
        tables["going"].update({key: ends[key] for key in tables["going"]})
    if one.random() < 0.7:
        carried = Counter(drawn.messages.index(each.arguments[0]) for each in drawn.packets if each.kind == "COPY")
        tables["copies"].update({key: carried[key[0]] for key in tables["copies"]})
    if one.random() < 0.3:
        tables["sent"] = dict.fromkeys(tables["sent"], True)
    return replace(structure, tables=tables)


def all_true(body: ir.Expr, structure: Structure, given: dict[str, int]) -> bool:
    """Whether it is true whatever those of its names are that are not given."""
    left = {name: type_ for name, type_ in free_locals(body).items() if name not in given}
    return all(
        evaluate(body, structure, {**given, **dict(zip(left, values, strict=True))})
        for values in tuples(list(left.values()), structure.universe)
    )


def compared(patch: pytest.MonkeyPatch, seed: int) -> Counter[str]:
    """What is told of each invariant is true where the invariant is, and a goal that is false stays false for some."""
    one, happened = Random(seed), Counter[str]()
    link = drawn_link(one)
    plain, told = untold(patch, link), obligations(link, ())
    structures = [drawn_structure(link, one) for _ in range(12)]
    for before, after in zip(plain, told, strict=True):
        known = {each.name for each in before.hypotheses} | {FEW}
        assert {each.name for each in after.hypotheses} <= known
        facts = [each for each in before.hypotheses if has_counts(each.body)]
        for structure in structures:
            names = {each.name: each.type for each in before.constants}
            given = {name: one.randrange(structure.universe[str(type_)]) for name, type_ in names.items()}
            for fact in facts:
                about = [each for each in after.hypotheses if each.name == fact.name]
                happened["told"] += bool(about)
                if evaluate(fact.body, structure, given):
                    happened["true"] += bool(about)
                    assert all(all_true(each.body, structure, given) for each in about), (seed, before.name, fact.name)
            few = [each for each in after.hypotheses if each.name == FEW]
            happened["few"] += len(few)
            assert all(all_true(each.body, structure, given) for each in few), (seed, before.name)
            if not evaluate(before.goal.body, structure, given):
                happened["open"] += 1
                assert not all_true(after.goal.body, structure, given), (seed, before.name)
    return happened


@pytest.mark.long(but=("0",))
@pytest.mark.parametrize("start", range(0, 60, 6))
def test_what_is_told_is_implied(monkeypatch: pytest.MonkeyPatch, start: int) -> None:
    happened = Counter[str]()
    for seed in range(start, start + 6):
        happened += compared(monkeypatch, seed)
    assert all(happened[kind] > 200 for kind in ("told", "true", "few", "open")), happened


def without_exists(formula: ir.Expr) -> tuple[tuple[ir.Variable, ...], ir.Expr]:
    """As if `exists` were `forall`."""
    variables, body = outer_foralls(formula)
    if isinstance(body, ir.Quantified) and body.kind == "exists":
        more = tuple(ir.Variable(bound.name, bound.type) for bound in body.variables)
        return (*variables, *more), body.body
    return variables, body


def without_premise(formula: ir.Expr, values: dict[str, ir.Expr]) -> ir.Expr:
    """As if a message that is spoken of had been sent."""
    found = substitute(formula, values)
    return found.right if isinstance(found, ir.Connective) and found.operator == "implies" else found


def at_most_two(count: ir.Quantified) -> ir.NamedFormula:
    """As if no two were counted where at most 2 are."""
    fact = at_most_one(count)
    assert isinstance(fact.body, ir.Connective) and isinstance(fact.body.left, ir.Comparison)
    more = replace(fact.body.left, right=replace(fact.body.left.right, value=2))  # type: ignore[call-arg]
    return replace(fact, body=replace(fact.body, left=more))


at_most_one = module._at_most_one


@pytest.mark.parametrize(
    ("name", "fault"),
    [("outer_foralls", without_exists), ("substitute", without_premise), ("_at_most_one", at_most_two)],
)
def test_a_planted_fault_is_found(monkeypatch: pytest.MonkeyPatch, name: str, fault: Callable[..., object]) -> None:
    monkeypatch.setattr(module, name, fault)
    with pytest.raises(AssertionError):
        for seed in range(6):
            compared(monkeypatch, seed)
