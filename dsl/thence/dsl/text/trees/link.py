"""From the reductions of the grammar to syntax trees: links between a protocol and a machine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from thence.dsl.text import syntax
from thence.dsl.text.lines import Word
from thence.dsl.text.syntax import Clause, Expect, Formula, Name, Node
from thence.dsl.text.trees.block import Block, Stated
from thence.dsl.text.trees.body import Children, FormulaBody, NameList, extent, pick
from thence.dsl.text.trees.scope import ScopeBuilder
from thence.spec.value import record


@record(frozen=True, slots=True)
class Once(Node):
    """The `, once` of a clause."""


@record(frozen=True, slots=True)
class When(Node):
    """The `, when P` of a clause."""

    condition: syntax.Expr


class LinkBuilder(ScopeBuilder):
    """One method for each kind of clause, and those of its parts."""

    def conforms(self, c: Children) -> syntax.Conforms:
        block = Block(c)
        protocol, machine = c[1], c[3]
        scopes = c[5] if isinstance(c[5], tuple) else ()
        name = Name(f"{protocol.text} to {machine.text}", span=extent([protocol, machine]))
        return syntax.Conforms(
            name,
            protocol,
            machine,
            pick(block.items, Clause),
            scopes,
            pick(block.items, Expect),
            block.names("internal"),
            block.stated("invariant"),
            block.stated("between"),
            block.names("delivered"),
            self.settings(block.items),
            doc=block.doc,
            span=extent(c),
        )

    def between_steps(self, c: Children) -> Stated:
        body: FormulaBody = c[-1]
        span = extent(c)
        return Stated("between", Formula(c[2], body.body, body.doc, span=span), span=span)

    def delivered_by(self, c: Children) -> NameList:
        """`eventually delivered by NAME`."""
        if c[1].text != "delivered":
            self.report("E0413", f"a link carries `delivered`, and not `{c[1].text}`", c[1].span, "write `delivered`")
        return NameList("delivered", (c[-1],), span=extent(c))

    def message_clause(self, c: Children) -> Clause:
        """`causal_send(m) is t(m)`, `deliver m is t(m)`."""
        event: Any = str(c[0])
        parameter = next(child for child in c if isinstance(child, Name))
        return replace(self.right_side(c), event=event, parameters=(parameter,))

    def packet_clause(self, c: Children) -> Clause:
        """`send KIND(m, ...) to j is t(m), once`, `receive KIND(n) from j is t(n)`."""
        event: Any = str(c[0])
        pattern = c[: self.verb(c)]
        kind, *parameters, peer = pick(pattern, Name)
        rest = any(isinstance(child, Word) and child.type == "ELLIPSIS" for child in pattern)
        return replace(self.right_side(c), event=event, kind=kind, parameters=tuple(parameters), peer=peer, rest=rest)

    def input_clause(self, c: Children) -> Clause:
        """`request(k) is t(self, k)`."""
        kind, *parameters = pick(c[: self.verb(c)], Name)
        return replace(self.right_side(c), event="input", kind=kind, parameters=tuple(parameters))

    def timer_clause(self, c: Children) -> Clause:
        """`periodically is t(self)`, `periodically retransmit is t(self)`."""
        timer = c[1] if isinstance(c[1], Name) else None
        return replace(self.right_side(c), event="periodically", kind=timer)

    def verb(self, c: Children) -> int:
        """The place of the `is` of a clause."""
        return next(index for index, child in enumerate(c) if isinstance(child, Word) and child.type == "IS")

    def right_side(self, c: Children) -> Clause:
        """A clause of which the event is still to be filled in."""
        rest = c[self.verb(c) + 1 :]
        once = any(isinstance(child, Once) for child in rest)
        when = next((child.condition for child in rest if isinstance(child, When)), None)
        return Clause("deliver", None, (), None, pick(rest, syntax.Target), once, when=when, span=extent(c))

    def target(self, c: Children) -> syntax.Target:
        transition, *arguments = (child for child in c if not isinstance(child, Word))
        return syntax.Target(transition, tuple(arguments), span=extent(c))

    def any_that_enables(self, c: Children) -> syntax.AnyThatEnables:
        return syntax.AnyThatEnables(span=extent(c))

    def once(self, c: Children) -> Once:
        return Once(span=extent(c))

    def when(self, c: Children) -> When:
        return When(c[-1], span=extent(c))
