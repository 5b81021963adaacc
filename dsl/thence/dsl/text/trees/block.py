"""From the reductions of the grammar to syntax trees: the block of a declaration."""

from __future__ import annotations

from typing import Any

from thence.dsl.text import syntax
from thence.dsl.text.lines import Word
from thence.dsl.text.syntax import Formula, Name, Node
from thence.dsl.text.trees.body import BodyBuilder, Children, Doc, NameList, Section, pick
from thence.spec.value import record


@record(frozen=True, slots=True)
class Stated(Node):
    """An axiom, a property or an invariant on its way to its declaration."""

    keyword: str
    formula: Formula


class Block:
    """The items of a declaration's block, and its documentation string."""

    def __init__(self, children: Children) -> None:
        colon = next(i for i, child in enumerate(children) if isinstance(child, Word) and child.type == "COLON")
        self.items: list[Any] = []
        self.doc = ""
        for child in children[colon + 1 :]:
            if isinstance(child, Section):
                self.items += child.items
            elif isinstance(child, Doc):
                self.doc = child.text
            elif not isinstance(child, Word):
                self.items.append(child)

    def stated(self, keyword: str) -> tuple[Formula, ...]:
        return tuple(item.formula for item in pick(self.items, Stated) if item.keyword == keyword)

    def names(self, keyword: str) -> tuple[Name, ...]:
        return tuple(name for item in pick(self.items, NameList) if item.keyword == keyword for name in item.names)


class BlockBuilder(BodyBuilder):
    """What is checked of a block before it becomes a declaration."""

    def no_doc(self, block: Block, c: Children) -> None:
        if block.doc:
            note = "it follows the first line of a top-level declaration or formula; here, use `#`"
            self.report("E0134", "no documentation string can stand here", pick(c, Doc)[0].span, note)

    def the_initial(self, block: Block) -> syntax.Initial | None:
        first, *others = pick(block.items, syntax.Initial) or (None,)
        for extra in others:
            self.report("E0130", "a second `initial`", extra.span, "a machine has at most one")
        return first
