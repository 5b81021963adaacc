"""Scenes with one thing more: a message and a process, two processes and a message, an element and a message.

What a message has to do with a process is where it is until the process has it: in flight to it, or in one of its
variables. `forall m: message. forall q: process. received(m, q) or (there is a MSG with m in flight to q)`. What it has
to do with two is what is said of their link: `safe@p(q) implies on_link(p, q, m) or acknowledged(p, q, m)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import permutations, product

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, PROCESS, Collection, Map, Type
from thence.proofs.infer.links.atoms import Atoms, atoms_of
from thence.proofs.infer.links.candidates import Candidate, each_once
from thence.proofs.infer.links.rows import Rows
from thence.proofs.infer.links.scenes import Scene, Term, fields, scenes, words_of
from thence.proofs.infer.links.several import clauses_of, is_positive, steering

MOST_FACTS = 14
"""So many facts of a scene make clauses of up to four."""


def wider_facts(link: ir.Link, rows: Callable[[str, Sequence[str]], Rows]) -> tuple[Candidate, ...]:
    """The clauses of wider scenes that are true in all rows, in each scene those first for which most rows speak."""
    whole = atoms_of(link)
    found: list[Candidate] = []
    if link.machine.delivery == "off":
        return ()
    wanted = steering(link.machine)
    atoms = replace(whole, symbols=tuple(each for each in whole.symbols if each.name in wanted))
    for scene, there in _wider(link, atoms):
        said = dict.fromkeys((*atoms.of_states(scene), *atoms.plain(scene), *_defined(link, scene)))
        facts = [each for each in said if is_positive(each)]
        found += clauses_of(scene, facts, there, rows, 4 if len(facts) <= MOST_FACTS else 3)
    return each_once(found)


def own_entries(link: ir.Link) -> Iterator[Candidate]:
    """The order of a packet's number and the entry of its sender, or receiver, for itself; of two processes' entries.

    `forall NULL(c) from p to q in flight. c <= last@p[p]`, and `forall p, q: process. last@p[q] <= last@q[q]`.
    """
    words = words_of(link)
    one = words.fresh(PROCESS, ())
    other = words.fresh(PROCESS, (one,))
    names = [each.name for each in link.protocol.state if each.type == Map(PROCESS, NAT)]
    for name in names:
        entries = [f"{name}@{a}[{b}]" for a in (one, other) for b in (one, other)]
        for smaller, larger in permutations(entries, 2):
            yield Candidate(name, f"forall {one}, {other}: process. ", f"{smaller} <= {larger}")
        for scene in scenes(link):
            ends = [each.text for each in scene.of(PROCESS) if each.text.isidentifier()]
            for number, end in product(scene.of(NAT), ends):
                entry = f"{name}@{end}[{end}]"
                if "@" not in number.text:
                    yield from (
                        Candidate(scene.label, scene.prefix, said)
                        for said in (
                            f"{number.text} <= {entry}",
                            f"{number.text} < {entry}",
                            f"{entry} < {number.text}",
                        )
                    )


def _wider(link: ir.Link, atoms: Atoms) -> Iterator[tuple[Scene, tuple[str, ...]]]:
    """The scenes, each with the places where its message may be."""
    words = atoms.words
    m, p = words.fresh(MESSAGE, ()), words.fresh(PROCESS, ())
    q = words.fresh(PROCESS, (p,))
    message, one, other = Term(m, MESSAGE), Term(p, PROCESS), Term(q, PROCESS)
    if link.machine.delivery != "unicast":
        prefix = f"forall {p}: process. forall {m}: message. "
        scene = Scene("there", prefix, (message, one), (), frozenset((m, p)))
        yield scene, tuple(_places(link, atoms, m, p))
    prefix = f"forall {p}, {q}: process. forall {m}: message. "
    yield Scene("between_of", prefix, (message, one, other), (), frozenset((m, p, q))), ()
    for scene in scenes(link):
        if scene.label.startswith("in_") and "forall" in scene.prefix and not scene.of(MESSAGE):
            m = words.fresh(MESSAGE, scene.taken)
            prefix = f"{scene.prefix}forall {m}: message. "
            terms = (*scene.terms, Term(m, MESSAGE))
            yield Scene(f"{scene.label}_of", prefix, terms, (), scene.taken | {m}), ()


def _places(link: ir.Link, atoms: Atoms, message: str, process: str) -> Iterator[str]:
    """A packet with the message is in flight to the process; or a variable of the process holds the message."""
    taken = (message, process)
    for kind in link.protocol.packets:
        names: list[str] = []
        for parameter in kind.parameters:
            names.append(atoms.words.fresh(parameter.type, (*taken, *names)))
        ends = [atoms.words.fresh(PROCESS, (*taken, *names))]
        ends.append(atoms.words.fresh(PROCESS, (*taken, *names, *ends)))
        head = f"exists {kind.name}({', '.join(names)}) from {ends[0]} to {ends[1]} in flight. "
        for name, parameter in zip(names, kind.parameters, strict=True):
            if parameter.type == MESSAGE:
                yield f"({head}{name} = {message} and {ends[1]} = {process})"
    for variable in link.protocol.state:
        text, type_ = f"{variable.name}@{process}", variable.type
        yield from _held(atoms, text, type_, message, taken)
        if isinstance(type_, Map) and type_.key == PROCESS:
            yield from _held(atoms, f"{text}[src({message})]", type_.value, message, taken)


def _held(atoms: Atoms, text: str, type_: Type, message: str, taken: Sequence[str]) -> Iterator[str]:
    """An element of a set or queue is the message, or has it in a field."""
    if isinstance(type_, Collection) and type_.kind in ("set", "queue"):
        element = atoms.words.fresh(type_.item, taken)
        for term in fields(element, type_.item):
            if term.type == MESSAGE and term.text != element:
                yield f"(exists {element} in {text}. {term.text} = {message})"


def _defined(link: ir.Link, scene: Scene) -> Iterator[str]:
    """What the protocol defines of the values of a scene: about a process, or about no state."""
    processes = [each for each in scene.of(PROCESS) if each.text.isidentifier()]
    for definition in link.protocol.definitions:
        types = [each.type for each in definition.parameters]
        if definition.body.type != BOOL or not set(types) <= {PROCESS, MESSAGE}:
            continue
        for values in permutations((*processes, *scene.of(MESSAGE)), len(types)):
            if [each.type for each in values] == types:
                arguments = f"({', '.join(each.text for each in values)})"
                if definition.reads == "nothing":
                    yield definition.name + arguments
                elif definition.reads == "self":
                    yield from (f"{definition.name}@{each.text}{arguments}" for each in processes if each not in values)
