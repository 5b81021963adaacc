"""From the reductions of the grammar to syntax trees: mutants and their edits."""

from __future__ import annotations

from typing import Any

from thence.dsl.text import syntax
from thence.dsl.text.lines import Word
from thence.dsl.text.syntax import Expect, Handler, Name
from thence.dsl.text.trees.block import Block
from thence.dsl.text.trees.body import Children, extent, pick
from thence.dsl.text.trees.link import LinkBuilder


class MutantBuilder(LinkBuilder):
    """One method for each kind of edit."""

    def mutant(self, c: Children) -> syntax.Mutant:
        block = Block(c)
        return syntax.Mutant(
            c[1],
            c[3],
            state=pick(block.items, syntax.StateVar),
            handlers=pick(block.items, Handler),
            procedures=pick(block.items, syntax.Procedure),
            transitions=pick(block.items, syntax.Transition),
            invariants=block.stated("invariant"),
            stable=block.stated("stable"),
            reachable=block.stated("reachable"),
            rest=block.stated("at"),
            promises=pick(block.items, syntax.Promise),
            network=block.names("network"),
            expects=pick(block.items, Expect),
            definitions=pick(block.items, syntax.Definition),
            values=pick(block.items, syntax.NamedValue),
            changes=pick(block.items, syntax.Change),
            initial=self.the_initial(block),
            doc=block.doc,
            span=extent(c),
        )

    def change(self, c: Children) -> syntax.Change:
        """`change on receive KIND: EDITS`."""
        colon = next(at for at, child in enumerate(c) if isinstance(child, Word) and child.type == "COLON")
        words, names = [str(word) for word in c[1:colon] if isinstance(word, Word)], pick(c[1:colon], Name)
        event: Any = "input" if words == ["on"] else words[-1]
        return syntax.Change(event, names[0] if names else None, pick(c, syntax.Edit), span=extent(c))

    def header(self, c: Children) -> syntax.Stmt:
        """The header of a statement, as one with an empty body."""
        match str(c[0]):
            case "if":
                return syntax.If(c[1], (), span=extent(c))
            case "while":
                return syntax.While(c[1], (), span=extent(c))
            case "choose":
                return syntax.Choose(c[1], c[3], c[6] if len(c) > 4 else None, (), span=extent(c))
            case _:
                ref = isinstance(c[1], Word)
                return syntax.For(c[1 + ref], c[3 + ref], (), ref, span=extent(c))

    def edit(self, c: Children) -> syntax.Edit:
        """`replace S by: BODY`, `drop S`, `before S: BODY`, `after S: BODY`."""
        action: Any = str(c[0])
        return syntax.Edit(action, c[1], c[-1] if len(c) > 2 else (), span=extent(c))

    replace_edit = drop_edit = before_edit = after_edit = edit

    def header_edit(self, c: Children) -> syntax.Edit:
        """`replace if P by if Q`."""
        if type(c[1]) is not type(c[3]):
            note = "a whole statement is replaced by a body: `replace if P by: ...`"
            self.report("E0131", "a header is replaced by one of its kind", c[3].span, note)
        return syntax.Edit("header", c[1], (c[3],), span=extent(c))

    def inside_edit(self, c: Children) -> syntax.Edit:
        """`inside if P: EDITS`."""
        return syntax.Edit("inside", c[1], edits=pick(c[2:], syntax.Edit), span=extent(c))
