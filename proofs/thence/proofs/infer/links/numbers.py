"""What the numbers of a link have to do with each other: counts, and sums of two numbers, at all times or under a flag.

`requesting@p implies outstanding@p = (count q: process. asked(p, q) or (there is a REPLY from q to p))`, and
`EAGER_SENT@p[q].size + tolds(p, q) = eagers(p, q)`. No formula is evaluated for each of them: all numbers of a scene
stand in one row for each thing in each sample, and what is true of all rows is found from these.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import combinations, permutations

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, PROCESS, Map
from thence.dsl.ir.types import Collection as CollectionType
from thence.proofs.infer.links.atoms import Atoms, atoms_of, speaks_of
from thence.proofs.infer.links.candidates import Candidate, closed, each_once, is_simple
from thence.proofs.infer.links.rows import Rows
from thence.proofs.infer.links.scenes import Scene, Term

MOST_COUNTED = 16
"""So many facts about two processes are counted, and each two of them together."""

MOST_NUMBERS = 24
"""So many numbers of a scene are added."""

MOST_SAID = 24
"""So many clauses of a scene are tried."""

Told = Callable[[str, Sequence[str], Sequence[str]], Rows]
"""Which of some facts are true together behind a beginning, with some numbers."""


def numbers_of_processes(link: ir.Link, told: Told) -> tuple[Candidate, ...]:
    """What is true of the numbers of each process, and of each two, in all rows."""
    atoms = atoms_of(link)
    one = atoms.words.fresh(PROCESS, ())
    other = atoms.words.fresh(PROCESS, (one,))
    each_one, each_two = f"forall {one}: process. ", f"forall {one}, {other}: process. "
    own = list(_numbers_of(atoms, (one,)))
    numbers = [*own, *_flying(link, atoms, (one,))]
    found = _counts(atoms, (one, other), each_one, own, told)
    found += _sums("sum", each_one, told(each_one, (), numbers), numbers)
    between = [
        *_numbers_of(atoms, (one, other)),
        *_flying(link, atoms, (one, other)),
        *_flying(link, atoms, (other, one)),
    ]
    found += _sums("sum_between", each_two, told(each_two, (), between), between)
    return each_once(found)


def _numbers_of(atoms: Atoms, processes: Sequence[str]) -> Iterator[str]:
    """The numbers of a process, or of two: variables, entries, sizes of queues, and the machine's functions."""
    terms = [Term(each, PROCESS) for each in processes]
    ways = list(permutations(processes))
    for variable in atoms.link.protocol.state:
        for way in ways:
            text, type_ = f"{variable.name}@{way[0]}", variable.type
            if len(way) > 1:
                if not isinstance(type_, Map) or type_.key != PROCESS:
                    continue
                text, type_ = f"{text}[{way[1]}]", type_.value
            if type_ == NAT:
                yield text
            elif isinstance(type_, CollectionType) and type_.kind == "queue":
                yield f"{text}.size"
    yield from (each.text for each in atoms.applied(terms, NAT, must=processes))


def _flying(link: ir.Link, atoms: Atoms, processes: Sequence[str]) -> Iterator[str]:
    """How many packets of a kind come from a process, and to one; or go from the first of two to the second."""
    for kind in link.protocol.packets:
        head, ends = _flight(atoms, kind, processes)
        if len(processes) == 1:
            yield from (f"(count {head}{end} = {processes[0]})" for end in ends)
        else:
            yield f"(count {head}{' and '.join(f'{end} = {each}' for end, each in zip(ends, processes, strict=True))})"


def _flight(atoms: Atoms, kind: ir.PacketKind, taken: Collection[str]) -> tuple[str, list[str]]:
    """`MSG(m, n) from r to s in flight. ` with names that are free, and the names of its ends."""
    names = list(taken)
    for parameter in kind.parameters:
        names.append(atoms.words.fresh(parameter.type, names, parameter.name))
    own = names[len(taken) :]
    ends = [atoms.words.fresh(PROCESS, names)]
    ends.append(atoms.words.fresh(PROCESS, (*names, *ends)))
    return f"{kind.name}({', '.join(own)}) from {ends[0]} to {ends[1]} in flight. ", ends


def _counts(
    atoms: Atoms, processes: tuple[str, str], prefix: str, numbers: Sequence[str], told: Told
) -> list[Candidate]:
    """A number of a process is that of the processes of which one fact is true, or one of two."""
    one, other = processes
    pair = Scene("", "", (Term(one, PROCESS), Term(other, PROCESS)))
    said = dict.fromkeys((*atoms.plain(pair), *atoms.of_states(pair)))
    facts = [each for each in said if is_simple(each) and speaks_of(each, other)]
    for kind in atoms.link.protocol.packets:
        if all(parameter.type != MESSAGE for parameter in kind.parameters):
            head, (start, end) = _flight(atoms, kind, processes)
            facts += [f"(exists {head}{start} = {p} and {end} = {q})" for p, q in (processes, (other, one))]
    apart = list(told(f"forall {one}, {other}: process. ", facts, ()).apart(facts))[:MOST_COUNTED]
    choices = [*((each,) for each in apart), *combinations(apart, 2)]
    counted = [f"(count {other}: process. {' or '.join(closed(each) for each in some)})" for some in choices]
    flags = [f"{each.name}@{one}" for each in atoms.link.protocol.state if each.type == BOOL]
    table = told(prefix, flags, [*numbers, *counted])
    found: list[Candidate] = []
    for number in numbers:
        for condition, rows in _conditions(table, flags):
            there = _varying(table, (number,), rows)
            alike = [each for each in counted if there and _at(table, each, rows) == there[number]]
            if alike:
                found += [Candidate("counts", prefix, f"({condition}{number} = {each})") for each in alike[:2]]
                if not condition:
                    break
    return found[:MOST_SAID]


def _conditions(table: Rows, flags: Sequence[str]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Nothing, or what a flag says, as a condition; with the rows of which it is so."""
    yield "", tuple(range(len(table.rows)))
    for flag in flags:
        if flag in table.facts:
            column = table.column(flag)
            yield f"{flag} implies ", tuple(at for at, each in enumerate(column) if each)
            yield f"not {flag} implies ", tuple(at for at, each in enumerate(column) if not each)


def _sums(label: str, prefix: str, table: Rows, numbers: Sequence[str]) -> list[Candidate]:
    """Two numbers are one together."""
    there = _varying(table, numbers, range(len(table.rows)))
    chosen = list(there)[:MOST_NUMBERS]
    by_values = {there[each]: each for each in reversed(chosen)}
    found: list[Candidate] = []
    for one, other in combinations(chosen, 2):
        whole = by_values.get(tuple([a + b for a, b in zip(there[one], there[other], strict=True)]))
        if whole is not None:
            found.append(Candidate(label, prefix, f"({one} + {other} = {whole})"))
    return found[:MOST_SAID]


def _varying(table: Rows, numbers: Sequence[str], rows: Sequence[int]) -> dict[str, tuple[int, ...]]:
    """The columns of those numbers that are not the same in all of these rows."""
    found = {each: _at(table, each, rows) for each in numbers if each in table.facts}
    return {each: column for each, column in found.items() if len(set(column)) > 1}


def _at(table: Rows, number: str, rows: Sequence[int]) -> tuple[int, ...]:
    if number not in table.facts:
        return ()
    column = table.column(number)
    return tuple([column[at] for at in rows])
