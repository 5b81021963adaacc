"""Names in a TLA+ module: an operator, a parameter or a bound variable may not be named like anything in scope."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib.resources import files

_WORDS = """
ASSUME ASSUMPTION AXIOM CASE CHOOSE CONSTANT CONSTANTS DOMAIN ELSE ENABLED EXCEPT EXTENDS IF IN INSTANCE LET LOCAL
MODULE OTHER SF SUBSET THEN THEOREM UNCHANGED UNION VARIABLE VARIABLES WF WITH RECURSIVE LAMBDA BOOLEAN STRING
TRUE FALSE Nat Seq Head Tail Append Len SubSeq SelectSeq Cardinality IsFiniteSet Assert Print PrintT Permutations
SortSeq RandomElement Any ToString TLCGet TLCSet TLCEval JavaTime Int Real Succ
"""
"""The words of TLA+, and the operators of its standard modules that `Thence` extends."""


def words(text: str) -> tuple[str, ...]:
    """The names in a text."""
    return tuple(re.findall(r"\w+", text))


def prelude() -> str:
    """The text of the module `Thence`, which every exported module extends."""
    return files("thence.dsl.export.tla").joinpath("Thence.tla").read_text(encoding="utf-8")


def defined(text: str) -> frozenset[str]:
    """The operators that a module's text defines at its left margin."""
    return frozenset(re.findall(r"^(\w+)(?:\([^)]*\))? ==", text, re.MULTILINE))


@dataclass(slots=True)
class Names:
    """Hands out names that nothing in the module has."""

    taken: set[str] = field(default_factory=lambda: {*words(_WORDS), *defined(prelude())})

    def fresh(self, wish: str) -> str:
        """`wish`, or with a number where it is taken."""
        base = wish if re.fullmatch(r"\w*[A-Za-z]\w*", wish) else f"x{wish}"
        name, number = base, 1
        while name in self.taken:
            number += 1
            name = f"{base}_{number}"
        self.taken.add(name)
        return name

    def inside(self) -> Names:
        """The names inside one operator: what is taken there is free again outside."""
        return Names(set(self.taken))

    def reserve(self, names: Iterable[str]) -> None:
        """Takes names that the module itself defines."""
        self.taken.update(names)
