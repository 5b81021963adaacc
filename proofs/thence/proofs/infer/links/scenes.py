"""What invariants of a link speak about: each packet in flight, each element that a variable holds, each variable.

A scene is the beginning of a formula, `forall MSG(m, n) from p to q in flight.`, and the values that have names there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from itertools import product

from thence.dsl import ir
from thence.dsl.check.link import names_of_link
from thence.dsl.ir.types import MESSAGE, NAT, PROCESS, Map, Record, Type, has_zero
from thence.dsl.ir.types import Collection as CollectionType
from thence.dsl.text.vocabulary import RESERVED

_NAMES = {PROCESS: ("p", "q", "r", "s", "u"), MESSAGE: ("m", "a", "b", "c"), NAT: ("n", "i", "k")}
_OTHERS = ("x", "y", "z", "v", "w")


@dataclass(frozen=True, slots=True)
class Term:
    """An expression of the language, as text, and its type."""

    text: str
    type: Type


@dataclass(frozen=True, slots=True)
class Scene:
    """Something of which clauses are said.

    Attributes:
        label: what it is, as a name: `MSG_in_flight`, `in_unacked`, `blocked`.
        prefix: how each clause begins.
        terms: the values that have names there.
        about: each clause speaks of one of these; none: of anything.
        taken: the names that are bound.
    """

    label: str
    prefix: str
    terms: tuple[Term, ...]
    about: tuple[str, ...] = ()
    taken: frozenset[str] = frozenset()

    def of(self, type_: Type) -> tuple[Term, ...]:
        return tuple(term for term in self.terms if term.type == type_)


@dataclass(frozen=True, slots=True)
class Words:
    """The names that the formulas of a link cannot bind."""

    names: frozenset[str]

    def fresh(self, type_: Type, taken: Collection[str], wanted: str = "") -> str:
        """A name for a value of this type."""
        usual = _NAMES.get(type_, _OTHERS)
        numbered = (f"{usual[0]}{number}" for number in range(1, 1_000))
        for name in (*([wanted] if wanted else []), *usual, *numbered):
            if name not in taken and name not in self.names:
                return name
        raise AssertionError("no name is left")


def words_of(link: ir.Link) -> Words:
    return Words(RESERVED | names_of_link(link))


def scenes(link: ir.Link) -> tuple[Scene, ...]:
    """All scenes of a link: packets first, then variables in the order of the text, then those of each role."""
    words = words_of(link)
    constants = tuple(Term(each.name, each.type) for each in link.protocol.constants)
    found = [_flight(kind, words) for kind in link.protocol.packets]
    for variable in link.protocol.state:
        found.extend(_Variable(words, variable.name).scenes(variable.type))
    for variable, role in product(link.protocol.state, [each.text for each in constants if each.type == PROCESS]):
        own = _Variable(words, variable.name, role).scenes(variable.type)
        found.extend(scene for scene in own if scene.about)
    return tuple(replace(scene, terms=tuple(dict.fromkeys((*scene.terms, *constants)))) for scene in found)


def fields(text: str, type_: Type) -> Iterator[Term]:
    """A value, or the fields of a record."""
    if isinstance(type_, Record):
        for label, part in type_.fields:
            yield from fields(f"{text}.{label}", part)
    else:
        yield Term(text, type_)


def _flight(kind: ir.PacketKind, words: Words) -> Scene:
    taken: list[str] = []
    terms: list[Term] = []
    for parameter in kind.parameters:
        name = words.fresh(parameter.type, taken, parameter.name)
        taken.append(name)
        terms.extend(fields(name, parameter.type))
    ends: list[str] = []
    for _ in range(2):
        ends.append(words.fresh(PROCESS, (*taken, *ends)))
    prefix = f"forall {kind.name}({', '.join(taken)}) from {ends[0]} to {ends[1]} in flight. "
    whole = (*terms, *(Term(end, PROCESS) for end in ends))
    return Scene(f"{kind.name}_in_flight", prefix, whole, (), frozenset((*taken, *ends)))


@dataclass(slots=True)
class _Variable:
    """The scenes of a state variable, of each process or of one role."""

    words: Words
    name: str
    role: str = ""
    _found: list[Scene] = field(default_factory=list)

    def scenes(self, type_: Type) -> list[Scene]:
        own = self.role or self.words.fresh(PROCESS, ())
        self._value(f"{self.name}@{own}", type_, (Term(own, PROCESS),))
        return self._found

    def _value(self, text: str, type_: Type, bound: tuple[Term, ...]) -> None:
        taken = [term.text for term in bound]
        if isinstance(type_, Map) and type_.key in (PROCESS, MESSAGE) and has_zero(type_.value):
            key = Term(self.words.fresh(type_.key, taken), type_.key)
            self._value(f"{text}[{key.text}]", type_.value, (*bound, key))
            if not isinstance(type_.value, Map):
                self._add(self.name, self._every(bound), (*bound, Term(text, type_)), (text,), bound)
        elif isinstance(type_, Map) and type_.key in (PROCESS, MESSAGE, NAT):
            key = Term(self.words.fresh(type_.key, taken), type_.key)
            inside = (*bound, key, *fields(f"{text}[{key.text}]", type_.value))
            self._add(f"in_{self.name}", f"{self._every(bound)}forall {key.text} in {text}. ", inside, (), (key,))
            self._add(self.name, self._every(bound), (*bound, Term(text, type_)), (text,), bound)
        elif isinstance(type_, CollectionType) and type_.kind == "option":
            self._add(self.name, self._every(bound), (*bound, Term(text, type_)), (text,), bound)
            inside = (*bound, *fields(f"{text}.value", type_.item))
            self._add(f"in_{self.name}", f"{self._every(bound)}{text} is not none implies ", inside, (), bound)
        elif isinstance(type_, CollectionType):
            self._add(self.name, self._every(bound), (*bound, Term(text, type_)), (text,), bound)
            if type_.kind in ("set", "queue"):
                element = self.words.fresh(type_.item, taken)
                inside = (*bound, *fields(element, type_.item))
                one = Term(element, type_.item)
                prefix = f"{self._every(bound)}forall {element} in {text}. "
                self._add(f"in_{self.name}", prefix, inside, (), (*bound, one))
        else:
            own = tuple(fields(text, type_))
            self._add(self.name, self._every(bound), (*bound, *own), tuple(term.text for term in own), bound)

    def _add(
        self, label: str, prefix: str, terms: tuple[Term, ...], about: tuple[str, ...], bound: tuple[Term, ...]
    ) -> None:
        names = frozenset(term.text for term in (*terms, *bound) if term.text.isidentifier())
        self._found.append(Scene(label, prefix, terms, about, names))

    def _every(self, bound: tuple[Term, ...]) -> str:
        """`forall p, q: process. forall m: message. `"""
        said = ""
        for type_ in (PROCESS, MESSAGE):
            names = [term.text for term in bound if term.type == type_ and term.text != self.role]
            said += f"forall {', '.join(names)}: {type_}. " if names else ""
        return said
