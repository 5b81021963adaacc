"""Clauses about what there is once, wherever it is: a token is in flight, or with the one process that has it.

A place is a kind of packets in flight, or a flag that is set at a process, of a variable or of the machine. At most one
process has a flag set; there is at most one packet of a kind; and where there is a packet of a kind, there is none of
another one, and a flag is set nowhere.
"""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, PROCESS
from thence.proofs.infer.links.atoms import atoms_of
from thence.proofs.infer.links.candidates import Candidate
from thence.proofs.infer.links.scenes import Scene, Words, scenes, words_of

LABEL = "alone"


def alone(link: ir.Link) -> tuple[Candidate, ...]:
    """That two places are not taken at once, and none twice."""
    words = words_of(link)
    kinds = {f"{each.name}_in_flight": each for each in link.protocol.packets}
    packets = [each for each in scenes(link) if each.label in kinds]
    one = words.fresh(PROCESS, ())
    other = words.fresh(PROCESS, (one,))
    found: list[Candidate] = []
    flags = _flags(link)
    for first, second in combinations_with_replacement(flags, 2):
        said = f"({one} = {other} or not {first.format(one)} or not {second.format(other)})"
        found.append(Candidate(LABEL, f"forall {one}, {other}: process. ", said))
    for scene in packets:
        inner = scene.prefix.removeprefix("forall ").removesuffix(". ")
        found.append(Candidate(f"{scene.label}_{LABEL}", "", f"(count {inner}. true) <= 1"))
        free = words.fresh(PROCESS, scene.taken)
        for flag in flags:
            said = f"(forall {free}: process. not {flag.format(free)})"
            found.append(Candidate(f"{scene.label}_{LABEL}", scene.prefix, said))
    for scene, another in combinations(packets, 2):
        said = f"(not exists {_packets(kinds[another.label], scene, words)} in flight. true)"
        found.append(Candidate(f"{scene.label}_{LABEL}", scene.prefix, said))
    return tuple(found)


def _flags(link: ir.Link) -> list[str]:
    """What is true of a process, or not, in its place `{}`: its variables, and the machine's relations."""
    unary = [
        each.name
        for each in atoms_of(link).symbols
        if each.result == BOOL and [one.type for one in each.parameters] == [PROCESS]
    ]
    own = [f"{each.name}@{{}}" for each in link.protocol.state if each.type == BOOL]
    return [*own, *(f"{each}({{}})" for each in unary)]


def _packets(kind: ir.PacketKind, outer: Scene, words: Words) -> str:
    """The packets of a kind, with names that are free inside a scene."""
    names: list[str] = []
    for parameter in kind.parameters:
        names.append(words.fresh(parameter.type, (*outer.taken, *names)))
    return f"{kind.name}({', '.join(names)})"
