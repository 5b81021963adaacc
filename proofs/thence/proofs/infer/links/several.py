"""The clauses of rank 4: of up to three facts of a scene one is true, the order of numbers among them.

A scene here is also a pair of different processes. Of channels that keep their order, a clause of two or three facts
may also say that there is a packet ahead. So many clauses are true of some samples that only those are tried for which
most samples speak: each of their facts is alone true in many rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

from thence.dsl import ir
from thence.dsl.ir.machine_builtins import built_in_symbols
from thence.dsl.ir.traversal import nodes
from thence.dsl.ir.types import NAT, PROCESS, Map
from thence.proofs.infer.links.atoms import Atoms, atoms_of
from thence.proofs.infer.links.candidates import Candidate, closed, each_once, wide_scenes, with_name
from thence.proofs.infer.links.rows import Literal, Rows
from thence.proofs.infer.links.scenes import Scene, Term

APART = "apart"
"""The scene of two processes."""

MOST_OF_SIZE = {1: 12, 2: 24, 3: 16, 4: 8, 5: 8}
"""So many clauses of a scene are tried, by the number of their facts."""

MOST_ALIKE = 3
"""So many facts are said to be true just where another one is."""


def several_facts(link: ir.Link, rows: Callable[[str, Sequence[str]], Rows]) -> tuple[Candidate, ...]:
    """The clauses of rank 4 that are true in all rows, in each scene those first for which most rows speak."""
    whole, found = atoms_of(link), list[Candidate]()
    wanted = steering(link.machine)
    atoms = replace(whole, symbols=tuple(each for each in whole.symbols if each.name in wanted))
    for scene in (*wide_scenes(link, atoms), _two_processes(atoms)):
        there = tuple(_ahead_of(link, atoms, scene))
        said = dict.fromkeys((*atoms.of_states(scene), *atoms.plain(scene), *_numbers(link, atoms, scene)))
        found += clauses_of(scene, [each for each in said if is_positive(each)], there, rows)
    return each_once(found)


def clauses_of(
    scene: Scene, said: Sequence[str], there: Sequence[str], rows: Callable[[str, Sequence[str]], Rows], most: int = 3
) -> list[Candidate]:
    """The clauses of up to `most` of these facts that are true in all rows, and perhaps of one that is only `there`."""
    facts = sorted(said, key=lambda each: "@" not in each)
    table = rows(scene.prefix, (*facts, *there))
    found = _settled(scene, table, facts)
    alike = table.apart(facts)
    for one, others in alike.items():
        found += [said for other in _of_other_kind(one, others) for said in _alike(scene, one, other)]
    chosen = _ordered(alike)
    by_size: dict[int, list[tuple[Literal, ...]]] = {}
    for some in table.clauses(most, chosen, there):
        compared = [frozenset(_sides(table.facts[each.fact])) for each in some]
        if len(set(compared)) < len(compared):
            continue  # the order of two numbers is total, whatever they are
        by_size.setdefault(len(some), []).append(some)
    for size, clauses in sorted(by_size.items()):
        best = sorted(clauses, key=lambda each: -table.support(each))
        found += _turned_once([_candidate(scene, table, some) for some in best], scene)[: MOST_OF_SIZE[size]]
    return found


def steering(machine: ir.Machine) -> frozenset[str]:
    """The symbols on which it depends, now or later, which steps the machine allows; and those that are built in.

    Others only record something: a link keeps what it needs without them.
    """
    found = {each.name for each in built_in_symbols(machine.delivery)}
    new = {name for each in machine.transitions for formula in each.requires for name in _mentioned(formula.body)}
    while new:
        found |= new
        updates = [one for each in machine.transitions for one in each.updates if one.symbol in new]
        new = {name for one in updates for name in _mentioned(one.value)} - found
    return frozenset(found)


def _mentioned(expression: ir.Expr) -> Iterator[str]:
    return (each.symbol for each in nodes(expression) if isinstance(each, ir.Apply))


def _turned_once(clauses: Sequence[Candidate], scene: Scene) -> list[Candidate]:
    """Of two clauses about a pair of processes that say the same with the two exchanged, the first."""
    if scene.label != APART:
        return list(clauses)
    one, other = (each.text for each in scene.terms)
    known: set[frozenset[str]] = set()
    kept: list[Candidate] = []
    for each in clauses:
        turned = frozenset(
            with_name(with_name(with_name(some, one, "#"), other, one), "#", other) for some in each.choices
        )
        if turned not in known:
            known.add(each.choices)
            kept.append(each)
    return kept


def _two_processes(atoms: Atoms) -> Scene:
    one = atoms.words.fresh(PROCESS, ())
    other = atoms.words.fresh(PROCESS, (one,))
    prefix = f"forall {one}, {other}: process. {one} != {other} implies "
    return Scene(APART, prefix, (Term(one, PROCESS), Term(other, PROCESS)), (), frozenset({one, other}))


def _numbers(link: ir.Link, atoms: Atoms, scene: Scene) -> Iterator[str]:
    """The order of numbers; of entries of variables, with the process itself as their key too, the machine's own."""
    yield from atoms.ordered(scene)
    processes = [each.text for each in scene.of(PROCESS) if each.text.isidentifier()]
    told = [each.text for each in atoms.applied(scene.terms, NAT)]
    for variable in link.protocol.state:
        if isinstance(variable.type, Map) and variable.type.key == PROCESS and variable.type.value == NAT:
            for owner in processes:
                for key in processes:
                    entry = f"{variable.name}@{owner}[{key}]"
                    if not scene.of(NAT):
                        for value in told:
                            yield from (f"{entry} <= {value}", f"{value} <= {entry}", f"{entry} = {value}")


def _ahead_of(link: ir.Link, atoms: Atoms, scene: Scene) -> Iterator[str]:
    """There is a packet of a kind ahead, perhaps with a number that a function of the machine gives of the sender."""
    if link.protocol.network.reordering or not scene.label.endswith("_in_flight"):
        return
    ends = [each.text for each in scene.of(PROCESS) if each.text.isidentifier()][-2:]
    for kind in link.protocol.packets:
        names: list[str] = []
        for parameter in kind.parameters:
            names.append(atoms.words.fresh(parameter.type, (*scene.taken, *names)))
        head = f"exists {kind.name}({', '.join(names)}) in flight ahead. "
        yield f"({head}true)"
        for name, parameter in zip(names, kind.parameters, strict=True):
            for symbol in atoms.symbols:
                types = [each.type for each in symbol.parameters]
                if symbol.result == parameter.type == NAT and types == [PROCESS]:
                    yield f"({head}{name} = {symbol.name}({ends[0]}))"


def is_positive(atom: str) -> bool:
    return not atom.startswith(("not ", "(")) and " != " not in atom and " not " not in atom


def _settled(scene: Scene, table: Rows, facts: Sequence[str]) -> list[Candidate]:
    """The comparisons of entries that are always true, and the equalities that are never true."""
    always = [each for each in table.always if "]" in each and each in facts and len(_sides(each)) > 1]
    never = [f"not {closed(each)}" for each in table.never if " = " in each and each in facts]
    said = (*always[: MOST_OF_SIZE[1]], *never[: MOST_OF_SIZE[1]])
    return [Candidate(scene.label, scene.prefix, f"({each})") for each in said]


def _alike(scene: Scene, one: str, other: str) -> list[Candidate]:
    """Of two facts that are alike in all rows, each implies the other one; in general perhaps only one of them does."""
    both = ((f"not {closed(one)}", other), (one, f"not {closed(other)}"))
    return [
        Candidate(f"{scene.label}_some", scene.prefix, f"({' or '.join(choices)})", choices=frozenset(choices))
        for choices in both
    ]


def _of_other_kind(one: str, others: Sequence[str]) -> list[str]:
    """Comparisons that are true just where a relation or membership is, or the other way round."""
    return [each for each in others if (len(_sides(each)) > 1) != (len(_sides(one)) > 1)][:MOST_ALIKE]


def _ordered(facts: Collection[str]) -> list[str]:
    """The facts without equalities of what has an order."""
    ordered = {frozenset(_sides(each)) for each in facts if " < " in each or " <= " in each}
    return [each for each in facts if " = " not in each or frozenset(_sides(each)) not in ordered]


def _sides(fact: str) -> list[str]:
    """The two sides of a comparison; another fact, alone."""
    return re.split(" <= | < | = ", fact) if not fact.startswith("(") else [fact]


def _candidate(scene: Scene, table: Rows, some: Sequence[Literal]) -> Candidate:
    said = [table.facts[each.fact] for each in some]
    choices = [f"not {closed(fact)}" if each.denied else fact for fact, each in zip(said, some, strict=True)]
    return Candidate(f"{scene.label}_some", scene.prefix, f"({' or '.join(choices)})", choices=frozenset(choices))
