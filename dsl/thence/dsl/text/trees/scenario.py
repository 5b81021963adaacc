"""From the reductions of the grammar to syntax trees: scenarios and their steps."""

from __future__ import annotations

from typing import Any

from thence.dsl.text import syntax
from thence.dsl.text.lines import Word
from thence.dsl.text.syntax import Assertion, Cast, Expect, Given, LinkLine, Name, Node, ScenarioStep
from thence.dsl.text.trees.block import Block, BlockBuilder
from thence.dsl.text.trees.body import Children, extent, pick
from thence.spec.value import record


@record(frozen=True, slots=True)
class Packet(Node):
    """`KIND(x, y, ...)`: a packet that a step is about."""

    kind: Name
    arguments: tuple[syntax.Expr, ...]
    rest: bool


@record(frozen=True, slots=True)
class Rest(Node):
    """The `, ...` of a packet."""


def given_value(word: Word) -> int | bool:
    """The value of a constant or role as it is written."""
    return int(word) if word.type == "NUMBER" else str(word) == "true"


class ScenarioBuilder(BlockBuilder):
    """One method for a scenario, and for each of its steps."""

    def scenario(self, c: Children) -> syntax.Scenario:
        block = Block(c)
        casts = pick(block.items, Cast)
        for extra in casts[1:]:
            self.report("E0130", "`processes` a second time", extra.span, f"first on line {casts[0].span.line}")
        names = pick(c[: next(at for at, child in enumerate(c) if str(child) == ":")], Name)
        steps = tuple(item for item in block.items if isinstance(item, syntax.ScenarioStep | syntax.Assertion))
        return syntax.Scenario(
            names[0],
            names[1],
            names[2] if len(names) > 2 else None,
            casts[0].names if casts else (),
            steps,
            pick(block.items, Expect),
            pick(block.items, syntax.LinkLine),
            pick(block.items, syntax.Given),
            doc=block.doc,
            span=extent(c),
        )

    def cast(self, c: Children) -> Cast:
        return Cast(c[1], span=extent(c))

    def link_line(self, c: Children) -> LinkLine:
        return LinkLine(c[1], c[3], str(c[2]) == "with", span=extent(c))

    def given_line(self, c: Children) -> Given:
        return Given(c[0], c[2] if isinstance(c[2], Name) else given_value(c[2]), span=extent(c))

    def sends_step(self, c: Children) -> ScenarioStep:
        sender, message = pick(c, Name)
        peers: tuple[Name, ...] = next((child for child in c if isinstance(child, tuple)), ())
        return ScenarioStep("sends", sender, peers, message, span=extent(c))

    def receives_step(self, c: Children) -> ScenarioStep:
        return self.of_packet("receives", c[0], c[-1], c)

    def cannot_step(self, c: Children) -> ScenarioStep:
        return self.of_packet("cannot", c[0], c[-1], c)

    def ticks_step(self, c: Children) -> ScenarioStep:
        return ScenarioStep("ticks", c[0], subject=c[2] if len(c) > 2 else None, span=extent(c))

    def does_step(self, c: Children) -> ScenarioStep:
        arguments = tuple(child for child in c[3:] if not isinstance(child, Word))
        return ScenarioStep("does", c[0], (), c[2], arguments, span=extent(c))

    def network_step(self, c: Children) -> ScenarioStep:
        event: Any = str(c[1])
        sender, receiver = pick(c, Name)
        return self.of_packet(event, sender, receiver, c)

    def of_packet(self, event: Any, process: Name, peer: Name, c: Children) -> ScenarioStep:
        """A step that is about a packet in flight."""
        packet = pick(c, Packet)[0]
        return ScenarioStep(event, process, (peer,), packet.kind, packet.arguments, packet.rest, span=extent(c))

    def packet(self, c: Children) -> Packet:
        only_rest = any(isinstance(child, Word) and child.type == "ELLIPSIS" for child in c)
        rest = only_rest or any(isinstance(child, Rest) for child in c)
        arguments = tuple(child for child in c[1:] if not isinstance(child, Word | Rest))
        return Packet(c[0], arguments, rest, span=extent(c))

    def rest(self, c: Children) -> Rest:
        return Rest(span=extent(c))

    def assertion(self, c: Children) -> Assertion:
        return Assertion(c[1], span=extent(c))
