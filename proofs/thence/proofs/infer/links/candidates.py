"""The clauses that are tried, as text: in ranks, of which the first is the smallest.

Rank 0: plain atoms. Rank 1: the order of numbers, variables of other processes, counts, what is at two places at once,
`exists` of a message, the order of queues, where a message is. Rank 2: two facts of a scene. Rank 3: what two processes
have to do with each other, and with a packet between them. Rank 4: see `several`. Rank 5: see `numbers`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, PROCESS, Collection, Map
from thence.proofs.infer.links.atoms import Atoms, atoms_of, speaks_of
from thence.proofs.infer.links.rows import Rows
from thence.proofs.infer.links.scenes import Scene, Term, scenes

RANKS = 6
PAIRS = 2
"""The rank of clauses of two facts; that of clauses about two processes is next, then that of more facts, and the last
one is that of numbers."""

BETWEEN = 3

SEVERAL = 4

MOST_ATOMS = 24
"""So many atoms of a scene make pairs."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A clause: how it begins, and what it says there.

    Attributes:
        facts: where it says that there is something of which all of them are true: more facts say more.
        choices: where it says that one of them is true: fewer say more.
    """

    label: str
    prefix: str
    atom: str
    facts: frozenset[str] = frozenset()
    choices: frozenset[str] = frozenset()

    @property
    def text(self) -> str:
        return self.prefix + self.atom

    @property
    def bare(self) -> str:
        """What it says, without brackets around the whole."""
        depth = 0
        for at, letter in enumerate(self.atom):
            depth += (letter == "(") - (letter == ")")
            if depth == 0 and (at == 0 or at + 1 < len(self.atom)):
                return self.atom
        return self.atom[1:-1]

    def says_more_than(self, other: Candidate) -> bool:
        if (self.label, self.prefix) != (other.label, other.prefix):
            return False
        more_facts = bool(other.facts) and other.facts < self.facts
        return more_facts or (bool(self.choices) and self.choices < other.choices)


def candidates(link: ir.Link, rank: int) -> tuple[Candidate, ...]:
    """The clauses of a rank below `PAIRS`, each once."""
    atoms, all_scenes = atoms_of(link), scenes(link)
    found: list[Candidate] = []
    for scene in all_scenes:
        if rank == 0:
            found.extend(_said(scene, atoms.plain(scene)))
        else:
            found.extend(_said(scene, (*atoms.ordered(scene), *atoms.of_states(scene))))
            found.extend(_some_message(link, atoms, scene))
            found.extend(_in_order(link, atoms, scene))
    if rank == 1:
        for scene in all_scenes:
            found.extend(_once(atoms, scene))
            found.extend(_not_both(atoms, scene, all_scenes))
        found.extend(_somewhere(link, atoms))
    return each_once(found)


def pairs_of_scenes(link: ir.Link, rows: Callable[[str, Sequence[str]], Rows]) -> tuple[Candidate, ...]:
    """The clauses of rank 2: of two facts of a scene, one is true, or not.

    `rows` gives those of some facts behind the beginning of a scene: a fact that is always true there, or never, makes
    no pairs. Variables of the protocol come before what the machine says of the same: a clause about them alone rests
    on fewer others.
    """
    atoms, found = atoms_of(link), list[Candidate]()
    for scene in wide_scenes(link, atoms):
        said = dict.fromkeys((*atoms.of_states(scene), *atoms.plain(scene)))
        positive = [
            each for each in said if not each.startswith(("not ", "(")) and " != " not in each and " not " not in each
        ]
        positive.sort(key=lambda each: "@" not in each)
        table = rows(scene.prefix, positive)
        facts = _different(scene, table)[:MOST_ATOMS]
        for some in table.clauses(2, facts):
            choices = [
                f"not {closed(table.facts[each.fact])}" if each.denied else table.facts[each.fact] for each in some
            ]
            said_ = f"({' or '.join(choices)})"
            found.append(Candidate(f"{scene.label}_or", scene.prefix, said_, choices=frozenset(choices)))
    return each_once(found)


def _different(scene: Scene, table: Rows) -> list[str]:
    """The facts that are true of some of what the scene is about and false of some.

    What is said of a name is not said again of another one that is always equal. Of a variable and a relation that are
    always the same of the same processes, one is left.
    """
    always, varying = table.always, [table.facts[each.fact] for each in table.literals() if not each.denied]
    again = {names[1] for each in always if (names := equal_names(each)) is not None}
    left = [each for each in varying if not any(speaks_of(each, name) for name in again)]
    told = {each: [term.text for term in scene.of(PROCESS) if speaks_of(each, term.text)] for each in left}
    gone = {
        other
        for one, other in combinations(left, 2)
        if told[one] == told[other] and ("@" in one) != ("@" in other) and table.are_alike(one, other)
    }
    return [each for each in left if each not in gone]


def equal_names(atom: str) -> tuple[str, str] | None:
    """The two names of which an atom says that they are equal, if that is what it says."""
    one, is_equality, other = atom.partition(" = ")
    return (one, other) if is_equality and one.isidentifier() and other.isidentifier() else None


def between_processes(link: ir.Link, true: Callable[[Sequence[str]], frozenset[str]]) -> tuple[Candidate, ...]:
    """The clauses of rank 3: of two facts about two processes one is true, or not, or a packet is between them.

    `forall p, q: process. p = q or not asked(p, q) or heard(q, p) or (exists ASK(n) from r to s in flight. ...)`.
    `true` says which of some formulas are so in all states: a fact of which that is known says nothing more.
    """
    atoms = atoms_of(link)
    one = atoms.words.fresh(PROCESS, ())
    other = atoms.words.fresh(PROCESS, (one,))
    scene = Scene("", "", (Term(one, PROCESS), Term(other, PROCESS)))
    prefix, found = f"forall {one}, {other}: process. ", list[Candidate]()
    said = [each for each in (*atoms.plain(scene), *atoms.of_states(scene)) if is_simple(each)]
    alone = {each: [f"{prefix}{one} = {other} or {no}{closed(each)}" for no in ("", "not ")] for each in said}
    known = true([text for both in alone.values() for text in both])
    facts = [each for each in said if not known.intersection(alone[each])][:MOST_ATOMS]
    of_both = [each for each in facts if speaks_of(each, one) and speaks_of(each, other)]
    for packet in (None, *_packets_between(link, atoms, one, other)):
        told = of_both if packet is None else facts
        for some in (*((each,) for each in told), *combinations(facts, 2)):
            if packet is None and not any(each in of_both for each in some):
                continue
            for signs in product((False, True), repeat=len(some)):
                literals = [f"not {closed(each)}" if no else each for each, no in zip(some, signs, strict=True)]
                choices = (f"{one} = {other}", *literals, *(() if packet is None else (packet,)))
                found.append(Candidate("between", prefix, f"({' or '.join(choices)})", choices=frozenset(choices)))
    return each_once(found)


def is_simple(atom: str) -> bool:
    return not atom.startswith(("not ", "(")) and " = " not in atom and " != " not in atom and " not " not in atom


def _packets_between(link: ir.Link, atoms: Atoms, one: str, other: str) -> Iterator[str]:
    """There is a packet of a kind from one process to the other, with a number that a function of the machine gives."""
    for kind in link.protocol.packets:
        if any(parameter.type == MESSAGE for parameter in kind.parameters):
            continue
        names = [one, other]
        for parameter in kind.parameters:
            names.append(atoms.words.fresh(parameter.type, names, parameter.name))
        own = names[2:]
        ends = [atoms.words.fresh(PROCESS, names)]
        ends.append(atoms.words.fresh(PROCESS, (*names, *ends)))
        head = f"exists {kind.name}({', '.join(own)}) from {ends[0]} to {ends[1]} in flight. "
        there = f"{ends[0]} = {one} and {ends[1]} = {other}"
        yield f"({head}{there})"
        for name, parameter in zip(own, kind.parameters, strict=True):
            for symbol in atoms.symbols:
                if symbol.result == parameter.type == NAT and _types(symbol) == [PROCESS]:
                    yield f"({head}{there} and {name} = {symbol.name}({one}))"


def each_once(found: Iterable[Candidate]) -> tuple[Candidate, ...]:
    first: dict[str, Candidate] = {}
    for each in found:
        first.setdefault(each.text, each)
    return tuple(first.values())


def wide_scenes(link: ir.Link, atoms: Atoms) -> Iterator[Scene]:
    """The scenes, those of a variable in one: what is said of each process."""
    one = atoms.words.fresh(PROCESS, ())
    constants = tuple(Term(each.name, each.type) for each in link.protocol.constants)
    flags = tuple(Term(f"{each.name}@{one}", each.type) for each in link.protocol.state if each.type == BOOL)
    every = (Term(one, PROCESS), *flags, *constants)
    yield Scene("of_each", f"forall {one}: process. ", every, (), frozenset({one}))
    yield from (scene for scene in scenes(link) if not scene.about)


def closed(atom: str) -> str:
    return f"({atom})" if " " in atom and not atom.endswith(")") else atom


def _said(scene: Scene, atoms: Iterator[str] | Sequence[str]) -> Iterator[Candidate]:
    for atom in atoms:
        yield Candidate(scene.label, scene.prefix, atom)


def _ends(link: ir.Link, message: str, processes: Sequence[Term]) -> list[tuple[str, ...]]:
    """The ways to say who sends a message, and to whom."""
    if link.machine.delivery == "off":
        return []
    receives = "dst({m}) = {q}" if link.machine.delivery == "unicast" else "to({m}, {q})"
    sends = [f"src({message}) = {each.text}" for each in processes]
    gets = [receives.format(m=message, q=each.text) for each in processes]
    both = [(one, other) for one, other in product(sends, gets) if one.split(" = ")[-1] not in other]
    return [*((one,) for one in sends), *((one,) for one in gets), *both]


def _some_message(link: ir.Link, atoms: Atoms, scene: Scene) -> Iterator[Candidate]:
    """There is a message of a process of which one or two facts are true; or a variable says that there is one."""
    processes = [each for each in scene.of(PROCESS) if each.text.isidentifier()]
    if not processes or scene.of(MESSAGE) or link.machine.delivery == "off":
        return
    message = atoms.words.fresh(MESSAGE, scene.taken)
    one_message = Scene("", "", (Term(message, MESSAGE), *processes, *scene.of(NAT)), (message,))
    literals = [
        each for each in atoms.plain(one_message) if "=" not in each and "src(" not in each and "to(" not in each
    ]
    numbers = [
        each
        for each in atoms.plain(one_message)
        if " = " in each and any(speaks_of(each, n.text) for n in scene.of(NAT))
    ]
    chosen: list[tuple[str, ...]] = [(each,) for each in literals]
    chosen += [pair for pair in combinations(literals, 2) if f"not {pair[0]}" != pair[1]]
    flags = [term.text for term in scene.of(BOOL) if term.text in scene.about]
    for ends, facts in product(_ends(link, message, processes), chosen):
        for number in ((), *((each,) for each in numbers)):
            whole = (*ends, *facts, *number)
            some = f"exists {message}: message. {' and '.join(whole)}"
            if scene.about:
                yield from (
                    Candidate(scene.label, scene.prefix, f"({flag} iff {some})") for flag in flags if len(ends) == 1
                )
            else:
                yield Candidate(scene.label, scene.prefix, f"({some})", frozenset(whole))


def _once(atoms: Atoms, scene: Scene) -> Iterator[Candidate]:
    """A message, or a process, is at one place of a scene at most."""
    packets = scene.label.endswith("_in_flight")
    inner = scene.prefix.split("forall ")[-1].removesuffix(". ")
    label = f"{scene.label}_once"
    for term in scene.of(MESSAGE):
        name = atoms.words.fresh(MESSAGE, scene.taken)
        counted = f"(count {inner}. {term.text} = {name}) <= 1"
        before = "" if packets else scene.prefix[: scene.prefix.rindex("forall ")]
        if packets or " in " in inner:
            yield Candidate(label, f"{before}forall {name}: message. ", counted)
        element = term.text.partition(".")[0]
        if not packets and _is_queue(atoms.link, scene) and element != term.text:
            other = atoms.words.fresh(BOOL, scene.taken)
            said = f"forall {other} ahead. {other}{term.text.removeprefix(element)} != {term.text}"
            yield Candidate(label, scene.prefix, f"({said})")
    ends = [each.text for each in scene.of(PROCESS)][-2:] if packets else []
    if len(ends) == 2 and scene.taken >= set(ends):
        one = atoms.words.fresh(PROCESS, scene.taken)
        other = atoms.words.fresh(PROCESS, (*scene.taken, one))
        for at in range(2):
            yield Candidate(label, f"forall {one}: process. ", f"(count {inner}. {ends[at]} = {one}) <= 1")
        of_both = f"(count {inner}. {ends[0]} = {one} and {ends[1]} = {other})"
        yield Candidate(label, f"forall {one}, {other}: process. ", f"{of_both} <= 1")
        for symbol in atoms.symbols:
            if symbol.result == NAT and [each.type for each in symbol.parameters] == [PROCESS, PROCESS]:
                counted = f"{of_both} = {symbol.name}({one}, {other})"
                yield Candidate(label, f"forall {one}, {other}: process. ", counted)
            if symbol.result == NAT and [each.type for each in symbol.parameters] == [PROCESS]:
                for at in range(2):
                    counted = f"(count {inner}. {ends[at]} = {one}) = {symbol.name}({one})"
                    yield Candidate(label, f"forall {one}: process. ", counted)


def _not_both(atoms: Atoms, scene: Scene, others: Sequence[Scene]) -> Iterator[Candidate]:
    """What is in flight is not in a variable, nor a message in packets of two kinds."""
    if not scene.label.endswith("_in_flight"):
        return
    for term in scene.of(MESSAGE):
        for other in others:
            if other.label.startswith("in_") and "forall" in other.prefix:
                renamed, inside = _renamed(atoms, other, scene.taken)
                for there in inside:
                    atom = f"({renamed}{there} != {term.text})"
                    yield Candidate(f"{scene.label}_not_{other.label}", scene.prefix, atom)


def _renamed(atoms: Atoms, scene: Scene, taken: frozenset[str]) -> tuple[str, list[str]]:
    """The beginning of a scene with names that are free inside another one, and its messages."""
    text, inside = scene.prefix, [each.text for each in scene.of(MESSAGE)]
    bound = set(taken)
    types = {term.text: term.type for term in scene.terms}
    for old in sorted(scene.taken):
        name = atoms.words.fresh(types.get(old, BOOL), bound | scene.taken)
        bound.add(name)
        text, *inside = (with_name(each, old, name) for each in (text, *inside))
    return text, inside


def with_name(text: str, old: str, new: str) -> str:
    """The text with another name in the place of one, where it stands for itself."""
    return re.sub(rf"(?<![\w.]){re.escape(old)}(?!\w)", new, text)


def _in_order(link: ir.Link, atoms: Atoms, scene: Scene) -> Iterator[Candidate]:
    """What is said of those that stand before an element of a queue, or a packet on a channel."""
    in_flight = scene.label.endswith("_in_flight")
    if in_flight and link.protocol.network.reordering:
        return
    if not in_flight and not _is_queue(link, scene):
        return
    element = scene.prefix.split("forall ")[-1].split(" in ")[0]
    label = f"{scene.label}_in_order"
    relations = [each.name for each in atoms.symbols if _types(each) == [MESSAGE, MESSAGE] and each.result == BOOL]
    if in_flight:
        for kind in link.protocol.packets:
            names: list[str] = []
            for parameter in kind.parameters:
                names.append(atoms.words.fresh(parameter.type, (*scene.taken, *names)))
            head = f"forall {kind.name}({', '.join(names)}) in flight ahead. "
            pairs_ = [
                (name, term)
                for name, parameter in zip(names, kind.parameters, strict=True)
                for term in scene.terms
                if term.type == parameter.type and "@" not in term.text
            ]
            yield Candidate(label, scene.prefix, f"({head}false)")
            yield from _ahead(label, scene, head, relations, [(name, term) for name, term in pairs_])
            yield from _all_earlier(atoms, scene, label, head, relations)
            unary = [each.name for each in atoms.symbols if _types(each) == [MESSAGE] and each.result == BOOL]
            for name, parameter in zip(names, kind.parameters, strict=True):
                if parameter.type == MESSAGE:
                    for one in unary:
                        yield Candidate(label, scene.prefix, f"({head}{one}({name}))")
                        yield Candidate(label, scene.prefix, f"({head}not {one}({name}))")
            yield from _behind(atoms, scene, label, head)
        return
    other = atoms.words.fresh(MESSAGE if element in _texts(scene, MESSAGE) else BOOL, scene.taken)
    told = [(term.text.replace(element, other, 1), term) for term in scene.terms if term.text.startswith(element)]
    told = [each for each in told if each[1].text == element or each[1].text.startswith(f"{element}.")]
    yield from _ahead(label, scene, f"forall {other} ahead. ", relations, told)


def _behind(atoms: Atoms, scene: Scene, label: str, head: str) -> Iterator[Candidate]:
    """What is so of a message behind a packet of a kind; or of one with no such packet ahead, perhaps for its ends."""
    ends = [each.text for each in scene.of(PROCESS)][-2:]
    there = f"({head.replace('forall', 'exists', 1)}true)"
    of_ends = [
        f"{each.name}({', '.join(ends)})"
        for each in atoms.symbols
        if each.result == BOOL and _types(each) == [PROCESS, PROCESS]
    ]
    for term in scene.of(MESSAGE):
        for each in atoms.symbols:
            if each.result == BOOL and _types(each) == [MESSAGE]:
                for fact in (f"{each.name}({term.text})", f"not {each.name}({term.text})"):
                    yield Candidate(label, scene.prefix, f"({head}{fact})")
                    for some in ((), *((one,) for one in of_ends)):
                        choices = (fact, *some, there)
                        yield Candidate(label, scene.prefix, f"({' or '.join(choices)})", choices=frozenset(choices))


def _ahead(
    label: str, scene: Scene, head: str, relations: Sequence[str], told: Sequence[tuple[str, Term]]
) -> Iterator[Candidate]:
    for earlier, term in told:
        if term.type == MESSAGE:
            for relation in relations:
                yield Candidate(label, scene.prefix, f"({head}{relation}({earlier}, {term.text}))")
        if term.type == NAT:
            yield Candidate(label, scene.prefix, f"({head}{earlier} < {term.text})")


def _all_earlier(atoms: Atoms, scene: Scene, label: str, head: str, relations: Sequence[str]) -> Iterator[Candidate]:
    """Each message that a relation puts before that of a packet is in flight before it."""
    some = head.replace("forall", "exists", 1)
    inner = some.partition("(")[2].partition(")")[0].split(", ")
    for term in scene.of(MESSAGE):
        other = atoms.words.fresh(MESSAGE, (*scene.taken, *inner))
        for name, relation in product((each for each in inner if each), relations):
            said = f"(forall {other}: message. {relation}({other}, {term.text}) implies {some}{name} = {other})"
            yield Candidate(label, scene.prefix, said)


def _is_queue(link: ir.Link, scene: Scene) -> bool:
    name = scene.label.removeprefix("in_")
    for variable in link.protocol.state:
        if scene.label.startswith("in_") and variable.name == name:
            type_ = variable.type
            while isinstance(type_, Map):
                type_ = type_.value
            return isinstance(type_, Collection) and type_.kind == "queue" and "not none" not in scene.prefix
    return False


def _types(symbol: ir.Symbol) -> list[ir.types.Type]:
    return [each.type for each in symbol.parameters]


def _texts(scene: Scene, type_: ir.types.Type) -> list[str]:
    return [each.text for each in scene.of(type_)]


def _somewhere(link: ir.Link, atoms: Atoms) -> Iterator[Candidate]:
    """Where a message is: in flight, or in a variable of its sender or receiver, unless one or two facts are true."""
    if link.machine.delivery == "off":
        return
    ends = ("src", "dst") if link.machine.delivery == "unicast" else ("src",)
    m = atoms.words.fresh(MESSAGE, ())
    places: list[str] = []
    for scene in scenes(link):
        for term in scene.of(MESSAGE):
            x = atoms.words.fresh(MESSAGE, (m,))
            if scene.label.endswith("_in_flight") and term.text in scene.taken:
                inner = with_name(scene.prefix.split("forall ")[-1].split(" from ")[0], term.text, x)
                places.append(f"(exists {inner} in flight. {x} = {m})")
    for variable in link.protocol.state:
        if isinstance(variable.type, Collection) and variable.type.item == MESSAGE:
            for end in ends:
                there = f"{variable.name}@({end}({m}))"
                if variable.type.kind in ("queue", "set"):
                    places.append(f"{m} in {there}")
                elif variable.type.kind == "option":
                    places.append(f"{there} = some({m})")
    one = Scene("", "", (Term(m, MESSAGE),))
    facts = [each for each in atoms.plain(one) if "=" not in each]
    for place in places:
        for some in ((), *((each,) for each in facts), *combinations(facts, 2)):
            yield from _one_of(m, (*some, place))
    for two in combinations(places, 2):
        for some in ((), *((each,) for each in facts)):
            yield from _one_of(m, (*some, *two))


def _one_of(message: str, choices: Sequence[str]) -> Iterator[Candidate]:
    if not any(f"not {each}" in choices for each in choices):
        said = f"({' or '.join(choices)})"
        yield Candidate("somewhere", f"forall {message}: message. ", said, choices=frozenset(choices))
