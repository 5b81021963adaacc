"""Names in a TLA+ module: an operator, a parameter or a bound variable may not be named like anything in scope."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib.resources import files

_RESERVED = """
ACTION ASSUME ASSUMPTION AXIOM BY CASE CHOOSE CONSTANT CONSTANTS COROLLARY DEF DEFINE DEFS DOMAIN ELSE ENABLED EXCEPT
EXTENDS HAVE HIDE IF IN INSTANCE LAMBDA LEMMA LET LOCAL MODULE NEW OBVIOUS OMITTED ONLY OTHER PICK PROOF PROPOSITION
PROVE QED RECURSIVE SF STATE SUBSET SUFFICES TAKE TEMPORAL THEN THEOREM UNCHANGED UNION USE VARIABLE VARIABLES WF WITH
WITNESS BOOLEAN STRING TRUE FALSE
"""
"""The words of TLA+."""

_OPERATORS = """
Nat Seq Head Tail Append Len SubSeq SelectSeq Cardinality IsFiniteSet Assert Print PrintT Permutations SortSeq
RandomElement Any ToString TLCGet TLCSet TLCEval JavaTime Int Real Succ
"""
"""The operators of the standard modules of TLA+ that `Thence` extends."""

_NOT_A_NAME = re.compile(rf"{'|'.join(_RESERVED.split())}|[\d_]+|[WS]F_\w*")
"""What cannot stand for a name in TLA+: its words, what has no letter, and what reads like a fairness condition."""


def words(text: str) -> tuple[str, ...]:
    """The names in a text."""
    return tuple(re.findall(r"\w+", text))


def field_name(name: str) -> str:
    """The field of a record for a variable or field of this name; for others another one."""
    return f"x{name}" if _NOT_A_NAME.fullmatch(name.lstrip("x")) else name


def prelude() -> str:
    """The text of the module `Thence`, which every exported module extends."""
    return files("thence.dsl.export.tla").joinpath("Thence.tla").read_text(encoding="utf-8")


def defined(text: str) -> frozenset[str]:
    """The operators that a module's text defines at its left margin."""
    return frozenset(re.findall(r"^(\w+)(?:\([^)]*\))? ==", text, re.MULTILINE))


@dataclass(slots=True)
class Names:
    """Hands out names that nothing in the module has."""

    taken: set[str] = field(default_factory=lambda: {*words(_RESERVED + _OPERATORS), *defined(prelude())})

    def fresh(self, wish: str) -> str:
        """`wish`, or with a number where it is taken."""
        base = f"x{wish}" if _NOT_A_NAME.fullmatch(wish) else wish
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
