"""Boolean circuits: literals, gates that exist once each, and their text for a solver.

A literal is a number, its negation the negative number; 1 is true and -1 is false. Gates are simplified when they
are made, so that a value that depends on no input is a constant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

Literal: TypeAlias = int

TRUE: Literal = 1
FALSE: Literal = -1


@dataclass(slots=True)
class Circuit:
    """The inputs and gates so far. `take_text` returns the part that the solver does not have yet."""

    inputs: int = 0
    gates: int = 0
    _last: int = 1
    _conjunctions: dict[tuple[Literal, ...], Literal] = field(default_factory=dict)
    _choices: dict[tuple[Literal, Literal, Literal], Literal] = field(default_factory=dict)
    _known: dict[int, Literal] = field(default_factory=dict)
    _text: list[str] = field(default_factory=lambda: ["(declare-const n1 Bool)(assert n1)"])

    def fresh(self) -> Literal:
        """A new input: true or false, as a solver likes."""
        self.inputs += 1
        self._last += 1
        self._text.append(f"(declare-const n{self._last} Bool)")
        return self._last

    def conj(self, literals: Iterable[Literal]) -> Literal:
        """True iff all of them are."""
        kept: set[Literal] = set()
        for given in literals:
            literal = self.now(given) if self._known else given
            if literal == FALSE or -literal in kept:
                return FALSE
            if literal != TRUE:
                kept.add(literal)
        if not kept:
            return TRUE
        if len(kept) == 1:
            return kept.pop()
        key = tuple(sorted(kept))
        gate = self._conjunctions.get(key)
        if gate is None:
            gate = self._gate(f"(and {' '.join(map(name, key))})")
            self._conjunctions[key] = gate
        return self.now(gate)

    def disj(self, literals: Iterable[Literal]) -> Literal:
        """True iff some of them is."""
        return -self.conj(-literal for literal in literals)

    def ite(self, condition: Literal, then: Literal, otherwise: Literal) -> Literal:
        """`then` where the condition is true, else `otherwise`."""
        condition, then, otherwise = self.now(condition), self.now(then), self.now(otherwise)
        if condition == TRUE or then == otherwise:
            return then
        if condition == FALSE:
            return otherwise
        if condition < 0:
            condition, then, otherwise = -condition, otherwise, then
        if then in (TRUE, condition):
            return self.disj((condition, otherwise))
        if then in (FALSE, -condition):
            return self.conj((-condition, otherwise))
        if otherwise in (FALSE, condition):
            return self.conj((condition, then))
        if otherwise in (TRUE, -condition):
            return self.disj((-condition, then))
        if then < 0:
            return -self.ite(condition, -then, -otherwise)
        key = (condition, then, otherwise)
        gate = self._choices.get(key)
        if gate is None:
            gate = self._gate(f"(ite {name(condition)} {name(then)} {name(otherwise)})")
            self._choices[key] = gate
        return self.now(gate)

    def iff(self, left: Literal, right: Literal) -> Literal:
        """True iff both are the same."""
        return self.ite(left, right, -right)

    def implies(self, left: Literal, right: Literal) -> Literal:
        """False iff the left one is true and the right one is not."""
        return -self.conj((left, -right))

    def now(self, literal: Literal) -> Literal:
        """The literal, or the truth value that it is known to have."""
        value = self._known.get(abs(literal))
        return literal if value is None else value if literal > 0 else -value

    def learn(self, literals: Mapping[Literal, bool] | Iterable[Literal]) -> None:
        """From here on these are true in every model that matters: gates made later are simplified by it."""
        for literal in literals:
            if abs(literal) != TRUE:
                self._known[abs(literal)] = TRUE if literal > 0 else FALSE
                self.require(literal)

    def require(self, literal: Literal) -> None:
        """Every model makes it true."""
        self._text.append(f"(assert {name(literal)})")

    def take_text(self) -> str:
        """SMT-LIB2 declarations and assertions since the last time."""
        text = "".join(self._text)
        self._text.clear()
        return text

    def _gate(self, meaning: str) -> Literal:
        self.gates += 1
        self._last += 1
        self._text.append(f"(declare-const n{self._last} Bool)(assert (= n{self._last} {meaning}))")
        return self._last


def name(literal: Literal) -> str:
    """The literal in a solver's text."""
    if abs(literal) == TRUE:
        return "true" if literal > 0 else "false"
    return f"n{literal}" if literal > 0 else f"(not n{-literal})"
