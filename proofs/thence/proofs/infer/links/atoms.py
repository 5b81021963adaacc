"""What is said in a scene: the machine's relations and functions of the values there, and the variables of processes.

`plain` atoms are relations, equalities and memberships; `ordered` ones compare numbers, `of_states` read variables of
the processes that the scene names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations, product

from thence.dsl import ir
from thence.dsl.ir.machine_builtins import built_in_symbols
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, PROCESS, Collection, Map, Type, has_zero
from thence.proofs.infer.links.scenes import Scene, Term, Words, words_of

_NOT_TOLD = ("hb", "past", "delivered_before")
"""The parts of the history of which links do without."""

MOST_ARGUMENTS = 30
"""A symbol that can be given more lists of arguments is left out of a scene."""


@dataclass(frozen=True, slots=True)
class Atoms:
    """The atoms of a link."""

    link: ir.Link
    words: Words
    symbols: tuple[ir.Symbol, ...]

    def plain(self, scene: Scene) -> Iterator[str]:
        """Relations of the machine and their denials, equalities, memberships, `none` and `empty`."""
        said = self._without_order(scene)
        return self._about(scene, said)

    def ordered(self, scene: Scene) -> Iterator[str]:
        """Comparisons of numbers, one of them the protocol's where the scene has one."""
        own = [term.text for term in scene.of(NAT)]
        told = [each.text for each in self.applied(scene.terms, NAT)]
        states = [each.text for each in self._states(scene) if each.type == NAT and each.text not in own]
        for one, other in permutations((*own, *told, *states), 2) if own else permutations(told, 2):
            if not own or one in own or other in own:
                yield from self._about(scene, (f"{one} <= {other}", f"{one} < {other}"))
        yield from self._about(scene, (f"0 < {one}" for one in own))
        yield from self._about(scene, (f"{one} = {other}" for one, other in product(own, states)))

    def of_states(self, scene: Scene) -> Iterator[str]:
        """What the variables of the processes of a scene say of its values."""
        for term in self._states(scene):
            if term.text not in scene.about and f" in {term.text}. " not in scene.prefix:
                if term.type == BOOL:
                    yield from self._about(scene, (term.text, f"not {term.text}"))
                else:
                    yield from self._about(scene, self._members(scene, term))

    def _about(self, scene: Scene, atoms: Iterable[str]) -> Iterator[str]:
        for atom in atoms:
            if not scene.about or any(speaks_of(atom, text) for text in scene.about):
                yield atom

    def _without_order(self, scene: Scene) -> Iterator[str]:
        processes = scene.of(PROCESS)
        relations = [each.text for each in self.applied(scene.terms, BOOL)]
        for relation in relations:
            yield relation
            yield f"not {relation}"
        for at, one in enumerate(processes):
            for other in processes[:at]:
                yield f"{other.text} = {one.text}"
                yield f"{other.text} != {one.text}"
        for type_ in (PROCESS, NAT, MESSAGE):
            for value, told in product(scene.of(type_), tuple(self.applied(scene.terms, type_))):
                yield f"{value.text} = {told.text}" if "@" in value.text else f"{told.text} = {value.text}"
        yield from self._of_ends(scene)
        for term in scene.terms:
            yield from self._said_of(scene, term, relations)

    def _of_ends(self, scene: Scene) -> Iterator[str]:
        """Functions to processes of the ends of a message: `nxt(p, dst(m)) = q`."""
        ends = [Term(f"dst({each.text})", PROCESS) for each in scene.of(MESSAGE)]
        if self.link.machine.delivery == "unicast":
            for end, value in product(ends, scene.of(PROCESS)):
                for told in self.applied((*scene.of(PROCESS), end), PROCESS, must=(end.text,)):
                    if told.text != f"{value.text}" and f"({value.text}" not in told.text:
                        yield f"{told.text} = {value.text}"

    def _said_of(self, scene: Scene, term: Term, relations: Sequence[str]) -> Iterator[str]:
        """What a value of the protocol says, by its type."""
        match term.type:
            case ir.types.Bool():
                yield from (term.text, f"not {term.text}")
                yield from (f"({term.text} iff {relation})" for relation in relations)
            case Collection(kind="option", item=item):
                yield from (f"{term.text} is none", f"{term.text} is not none")
                yield from self._exactly_where(scene, (f"{term.text} is not none",), relations)
                yield from (f"{term.text} = some({each.text})" for each in scene.of(item))
                if item == PROCESS:
                    yield from self._each_key(scene, item, lambda key: f"{term.text} = some({key})", BOOL)
            case Collection(item=item):
                yield from (f"{term.text} is empty", *self._members(scene, term))
                yield from self._exactly_where(scene, self._there(scene, term), relations)
                yield from self._each_key(scene, item, lambda key: f"{key} in {term.text}", BOOL)
            case Map(key=key, value=Map(key=inner, value=value)):
                yield from self._each_entry(scene, term, key, inner, value)
            case Map(key=key, value=value):
                yield from self._exactly_where(scene, self._there(scene, term), relations)
                yield from self._each_key(scene, key, lambda name: f"{name} in {term.text}", BOOL)
                if not has_zero(value) or not scene.about:
                    yield from self._each_key(scene, key, lambda name: f"{term.text}[{name}]", value)
            case _:
                pass

    def _exactly_where(self, scene: Scene, facts: Iterable[str], relations: Sequence[str]) -> Iterator[str]:
        """That a variable has a value, or has this one, means what a relation of the machine means."""
        if scene.about:
            yield from (f"({fact} iff {relation})" for fact, relation in product(facts, relations))

    def _there(self, scene: Scene, term: Term) -> Iterator[str]:
        return (each for each in self._members(scene, term) if " not in " not in each)

    def _members(self, scene: Scene, term: Term) -> Iterator[str]:
        if isinstance(term.type, Collection) and term.type.kind in ("set", "queue"):
            item = term.type.item
        elif isinstance(term.type, Map):
            item = term.type.key
        else:
            return
        for value in scene.of(item):
            yield f"{value.text} in {term.text}"
            yield f"{value.text} not in {term.text}"

    def _each_key(self, scene: Scene, key: Type, said: object, value: Type) -> Iterator[str]:
        """`forall k: process. v[k] = f(m, k)`."""
        assert callable(said)
        if key not in (PROCESS, MESSAGE):
            return
        name = self.words.fresh(key, scene.taken)
        equal = "iff" if value == BOOL else "="
        for told in self.applied((*scene.terms, Term(name, key)), value, must=(name,)):
            yield f"(forall {name}: {key}. {said(name)} {equal} {told.text})"
        if key == MESSAGE and value == BOOL:
            yield from self._each_message(name, said(name), scene)

    def _each_message(self, name: str, member: str, scene: Scene) -> Iterator[str]:
        """`forall m: message. m in V@p iff delivered(m) and dst(m) = p`."""
        ends = [f"{end}({name}) = {each.text}" for end in ("src", "dst") for each in scene.of(PROCESS)]
        literals = [each.text for each in self.applied((Term(name, MESSAGE),), BOOL)]
        for literal, end in product(literals, ends if self.link.machine.delivery == "unicast" else ()):
            yield f"(forall {name}: message. {member} iff {literal} and {end})"
        for one, other in product(literals, literals):
            if one != other:
                yield f"(forall {name}: message. {member} iff {one} and not {other})"

    def _each_entry(self, scene: Scene, term: Term, outer: Type, inner: Type, value: Type) -> Iterator[str]:
        """`forall k, l: process. t[k][l] = f(m, k, l)`."""
        if outer == inner == PROCESS:
            one = self.words.fresh(PROCESS, scene.taken)
            other = self.words.fresh(PROCESS, (*scene.taken, one))
            both = (Term(one, PROCESS), Term(other, PROCESS))
            equal = "iff" if value == BOOL else "="
            for told in self.applied((*scene.terms, *both), value, must=(one, other)):
                yield f"(forall {one}, {other}: process. {term.text}[{one}][{other}] {equal} {told.text})"

    def _states(self, scene: Scene) -> Iterator[Term]:
        """The variables of the processes that have a name in the scene."""
        processes = [term for term in scene.of(PROCESS) if term.text.isidentifier()]
        for variable, process in product(self.link.protocol.state, processes):
            text, type_ = f"{variable.name}@{process.text}", variable.type
            yield Term(text, type_)
            if isinstance(type_, Map):
                for key in scene.of(type_.key):
                    if key != process:
                        yield Term(f"{text}[{key.text}]", type_.value)

    def applied(self, terms: Sequence[Term], result: Type, must: Sequence[str] = ()) -> Iterator[Term]:
        """The machine's symbols with this result, of different terms; `must` are among these."""
        for symbol in self.symbols:
            if symbol.result == result:
                values = [[each for each in terms if each.type == one.type] for one in symbol.parameters]
                found = [
                    arguments
                    for arguments in product(*values)
                    if len(set(arguments)) == len(arguments)
                    and all(any(each.text == name for each in arguments) for name in must)
                ]
                if len(found) <= MOST_ARGUMENTS:
                    for arguments in found:
                        yield Term(f"{symbol.name}({', '.join(each.text for each in arguments)})", result)


def speaks_of(text: str, term: str) -> bool:
    """Whether the term stands in the text, not as a part of a longer name."""
    return re.search(rf"(?<![\w.]){re.escape(term)}(?!\w)", text) is not None


def atoms_of(link: ir.Link) -> Atoms:
    declared = (*built_in_symbols(link.machine.delivery), *link.machine.symbols)
    hidden = {each.name for each in link.protocol.definitions}
    symbols = tuple(each for each in declared if each.name not in (*_NOT_TOLD, *hidden))
    return Atoms(link, words_of(link), symbols)
