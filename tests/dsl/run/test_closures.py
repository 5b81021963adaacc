"""The text that protocols are compiled to does what a walk of the tree does, which shares no code with it.

Every step of random protocols is taken by both, in the states that a search meets: with and without observation, with
what is visited, by each script of choices, in the text's order of loops and in another one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.dsl.run.closures.interpreter import Compared
from tests.proofs.random_choices import with_choices
from tests.proofs.random_overlays import drawn_links, with_overlay
from tests.proofs.test_random_overlays import judged_of
from tests.proofs.test_random_protocols import Draw, Specify

from thence.conformance.implementations import SHIPPED
from thence.dsl import ir
from thence.dsl.load import load, load_bytes
from thence.dsl.run import execute, system
from thence.dsl.run.choices import Choices, TooManyOutcomes
from thence.dsl.run.system import System
from thence.dsl.run.values import Fault, Packet
from thence.proofs.explore.exploration import ExplorationRequest
from thence.proofs.explore.interpreted import Interpretation


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Whatever a system runs is compared. The numbers are those of `Compared.steps`."""
    steps = [0, 0, 0]

    def both(*arguments: Any) -> Compared:
        interpreter = Compared(*arguments)
        interpreter.steps = steps
        return interpreter

    monkeypatch.setattr(system, "Interpreter", both)
    monkeypatch.setattr(execute, "STEP_BUDGET", 200)
    return steps


def searched(protocol: ir.Protocol, workload: ir.Workload, limit: int = 60) -> None:
    request = ExplorationRequest(System(protocol, workload), judged_of(protocol), limit=limit)
    with suppress(TooManyOutcomes):
        Interpretation(request).run()


@pytest.mark.long(but=("0",))
@pytest.mark.parametrize("start", range(0, 150, 30))
def test_steps_of_random_protocols(specify: Specify, compared: list[int], start: int) -> None:
    for seed in range(start, start + 30):
        draw = Draw(seed)
        text = draw.text()
        if seed % 3 == 1:
            text = with_choices(text, seed)
        if seed % 3 == 2:
            text = with_overlay(text, seed)
        (protocol,) = specify(text).protocols
        workload = draw.workload(protocol)
        if seed % 3 == 2:
            workload = replace(workload, links=drawn_links(seed, workload.processes))
        searched(protocol, workload)
    steps, _, guards = compared
    assert steps > 1_000 and guards > 100, compared


@pytest.mark.long(but=("ks", "hybrid_multicast", "newtop"))
@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_steps_of_the_library(compared: list[int], name: str) -> None:
    file = load(name).specification
    assert file is not None
    for scope in file.scopes:
        (protocol,) = (each for each in file.protocols if each.name == scope.protocol)
        searched(protocol, scope.workload, 300)
    assert compared[0] > 100


STATE = """
    n: nat
    f: bool
    S: set of nat
    P: set of Pair
    Q: queue of nat
    QP: queue of Pair
    QQ: queue of queue of nat
    M: map nat to nat
    MM: map nat to map nat to nat
    MQ: map nat to queue of nat
    MS: map nat to set of nat
    PART: map nat to Pair
    A: sliding array of Pair = window(1)
    W: sliding map of nat
    L: option of nat
"""

NATS = (
    "0", "1", "2", "n", "g", "v", "n + 1", "max(n, g)", "min(v, 2)", "n * v", "Q.first", "Q.size", "M[g]",
    "MM[1][g]", "MQ[g].first", "PART[g].left", "PART[n].left", "A[n].left", "A.first", "A.next", "A.peek.left",
    "W.first", "W.next", "L.value", "(count z in S. z < n)", "(sum z in Q. z + g)", "(if f then n else v)", "r", "e",
    "MM[g].size", "QP.first.left",
)  # fmt: skip
TRUTHS = (
    "f", "not f", "n = g", "n < v", "g <= 1", "n in S", "n in M", "n in Q", "A.size > 0", "Q is empty", "L is none",
    "f and n = 0", "f or Q.first = 1", "f implies v = 0", "(forall z in S. z < n)", "(exists z in MM, y in S. z = y)",
    "Pair(left: n, right: none) in P", "2 in PART", "n in W", "r = 1", "f iff n = 0", "M = MM[n]", "S = {1, n}",
    "exists z in Q. z = n", "MS[g] = S", "A.peek.right is none", "W.size = 1",
)  # fmt: skip
PLACES = ("n", "M[{}]", "MM[{}][{}]", "PART[{}].left", "A[{}].left", "v", "r")
CHANGES = (
    "S.add({})", "S.remove({})", "Q.push({})", "Q.pop()", "Q.remove({})", "QQ.push(Q)", "MQ[{}].push({})",
    "MQ[{}].pop()", "MS[{}].add({})", "MS[{}].remove({})", "M.remove({})", "MM[{}].remove({})", "PART.remove({})",
    "PART[{}] := Pair(left: {}, right: some({}))", "A.add(Pair(left: {}, right: none))", "A.remove()", "n := n - {}",
    "W.add({})", "W.remove({})", "W.clear()", "L := some({})", "L := none", "S.clear()", "M.clear()", "A.clear()",
    "f := not f", "P.add(Pair(left: {}, right: L))", "QP.push(Pair(left: {}, right: none))", "MM[{}] := M",
    "MS[{}] := S", "Q := MQ[{}]", "send NOTE({}) to self", "A[{}].right := L", "PART[{}].right := none", "again({})",
)  # fmt: skip
LOOPS = (
    "for x in S:", "for x in M:", "for x in Q:", "for x in W:", "for ref r in M:", "for ref r in Q:",
    "for ref r in MM[{}]:", "while n < {}:", "for x in MS[{}]:", "choose x in S such that x < {}:", "choose x in Q:",
    "if {t}:", "for ref q in MQ:", "for ref a in A:", "for x in process:",
)  # fmt: skip


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


@dataclass(slots=True)
class Statements:
    """Random statements over `STATE`, of which most use parts of values."""

    draw: Random

    def nat(self, names: tuple[str, ...]) -> str:
        usable = [each for each in NATS if not {"r", "e", "v"} & {*words(each)} - {*names}]
        return self.draw.choice([*usable, *[each for each in names if each not in ("q", "a")]])

    def truth(self, names: tuple[str, ...]) -> str:
        return self.draw.choice([each for each in TRUTHS if not {"r", "v"} & {*words(each)} - {*names}])

    def filled(self, text: str, names: tuple[str, ...]) -> str:
        while "{}" in text:
            text = text.replace("{}", self.nat(names), 1)
        return text.replace("{t}", self.truth(names))

    def block(self, names: tuple[str, ...], depth: int, margin: str) -> list[str]:
        """`names` are locals; a ref and a var are places."""
        lines = []
        for _ in range(self.draw.randint(1, 4)):
            kind = self.draw.random()
            if kind < 0.3:
                places = [each for each in PLACES if each not in ("v", "r") or each in names]
                lines.append(self.filled(f"{self.draw.choice(places)} := {{}}", names))
            elif kind < 0.65 or not depth:
                lines.append(self.filled(self.draw.choice(CHANGES), names))
            elif kind < 0.75 and "v" not in names:
                lines.append(self.filled("var v = {}", names))
                names = (*names, "v")
                if "r" not in names:  # the place stays where it is when the variable changes
                    lines += ["ref r = M[v]", self.filled("v := {}", names), self.filled("r := {}", names)]
                    names = (*names, "r")
            elif kind < 0.8 and "e" not in names:
                lines.append(self.filled("let e = {}", names))
                names = (*names, "e")
            elif kind < 0.85 and "r" not in names:
                place = self.draw.choice(("M[{}]", "MM[{}][{}]", "PART[{}].left", "A[{}].left", "n"))
                lines.append(self.filled(f"ref r = {place}", names))
                names = (*names, "r")
            else:
                head = self.draw.choice([
                    each for each in LOOPS if not {"x", "r", "q", "a"} & {*names, "-"} & set(each[:-1].split())
                ])  # fmt: skip
                more = [each for each in ("x", "r", "q", "a") if each in head.split()[:3]]
                lines.append(self.filled(head, names))
                lines += [f"  {line}" for line in self.block((*names, *more), depth - 1, margin)]
                if "q" in more:
                    lines.append(self.filled("  q.push({})", names))
                if "a" in more:
                    lines.append(self.filled("  a.left := {}", names))
                if head.startswith(("if", "choose")):
                    lines += ["else:", *[f"  {line}" for line in self.block(names, depth - 1, margin)]]
        return lines

    def text(self) -> str:
        body, again = self.block(("g",), 2, ""), self.block(("g",), 0, "")
        return "\n".join([
            "protocol drawn:", "  message NOTE(g: nat)", "  record Pair: left: nat; right: option of nat",
            "  state:", *STATE.strip("\n").splitlines(), "  on receive NOTE(g) from j:",
            *[f"    {line}" for line in body], "  procedure again(g: nat):",
            *[f"    {line}" for line in again if "again" not in line],
            "    n := n", "  on start(): send NOTE(1) to self", "",
        ])  # fmt: skip


@pytest.mark.long(but=("0",))
@pytest.mark.parametrize("start", range(0, 1_000, 200))
def test_random_statements(compared: list[int], start: int) -> None:
    """In the states that earlier steps lead to; a step at fault changes nothing."""
    accepted = 0
    for seed in range(start, start + 200):
        draw = Random(seed)
        loaded = load_bytes(Path("drawn.thence"), Statements(draw).text().encode())
        if loaded.specification is None:
            continue
        accepted += 1
        interpreter = Compared(loaded.specification.protocols[0], 3, steps=compared)
        for _ in range(25):
            packet = Packet("NOTE", draw.randrange(3), 0, (draw.randrange(3),))
            script = tuple(draw.randrange(2) for _ in range(4))
            with suppress(Fault):
                interpreter.step(0, drawn_state(draw), packet, choices=Choices(script))
    steps, faults, guards = compared
    assert accepted > 150
    assert faults > steps // 20 and steps - faults > steps // 20 and guards > 20, compared


def drawn_state(draw: Random) -> tuple[Any, ...]:
    """A state of `STATE`, whose collections are seldom empty."""

    def some(item: Callable[[], Any]) -> list[Any]:
        return [item() for _ in range(draw.choice((0, 1, 2, 3, 3)))]

    def nat() -> int:
        return draw.randrange(4)

    def pair() -> Any:
        return nat(), draw.choice((None, (nat(),)))

    def mapped(item: Callable[[], Any]) -> Any:
        return tuple((key, value) for key in range(4) if draw.random() < 0.7 and (value := item()))

    items = tuple(dict.fromkeys(some(nat)))
    return (
        nat(), draw.random() < 0.5, frozenset(some(nat)), frozenset(some(pair)), tuple(some(nat)), tuple(some(pair)),
        tuple(tuple(some(nat)) for _ in range(2)), mapped(nat), mapped(lambda: mapped(nat)),
        mapped(lambda: tuple(some(nat))), mapped(lambda: frozenset(some(nat))), mapped(pair),
        (draw.randrange(2), (*some(pair), pair())), (len(items), tuple(enumerate(items))),
        draw.choice((None, (nat(),))),
    )  # fmt: skip


def test_text_that_is_nested_deeply(compared: list[int]) -> None:
    """Python reads 200 brackets, 100 levels of blocks, and 20 loops inside one another."""
    blocks = [f"{'  ' * at}for x{at} in process:" for at in range(30)]
    sums = "".join("(1 + max(n, " for _ in range(22)) + "g" + "))" * 22
    text = "\n".join([
        "protocol deep:", "  message NOTE(g: nat)", "  state:", "    n: nat", "    f: bool",
        "  on receive NOTE(g) from j:", *[f"    {line}" for line in blocks],
        f"    {'  ' * 30}n := n + g", f"    {'  ' * 30}if n > 3: return",
        "  on receive SUM(g) from j:", f"    n := {sums}",
        f"    f := {' and '.join(['n > 0'] * 90)}",
        "  message SUM(g: nat)", "  on start(): send NOTE(1) to self", "",
    ])  # fmt: skip
    loaded = load_bytes(Path("deep.thence"), text.encode())
    assert loaded.specification is not None, [one.message for one in loaded.diagnostics]
    interpreter = Compared(loaded.specification.protocols[0], 1, steps=compared)
    assert interpreter.step(0, (0, False), Packet("NOTE", 0, 0, (4,))).state == (4, False)
    assert interpreter.step(0, (0, False), Packet("NOTE", 0, 0, (1,))).state == (1, False)
    assert interpreter.step(0, (0, False), Packet("SUM", 0, 0, (1,))).state == (23, True)
