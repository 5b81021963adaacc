"""What is said of tree networks of any size, held against all small trees, and against graphs that are no trees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations, product

from thence.dsl import ir
from thence.dsl.ir import topology
from thence.dsl.ir.types import BOOL
from thence.dsl.load import load
from thence.dsl.run.machine_run import MachineRun
from thence.proofs.logic.structure import Structure, constant_table, evaluate
from thence.proofs.refinement.premises import premises
from thence.proofs.refinement.states import protocol_symbols
from thence.proofs.refinement.trees import ROOT, WAY, constants_of_trees, tree_facts

MOST = 6
"""Processes."""


@cache
def tree_link() -> ir.Link:
    specification = load("tree").specification
    assert specification is not None
    return specification.links[0]


def rooted_trees() -> Iterator[tuple[int, topology.Edges]]:
    """Each tree of at most MOST processes with each of them as process 0, once: another numbering is the same tree."""
    for processes in range(1, MOST + 1):
        seen = set()
        for parents in product(*(range(child) for child in range(1, processes))):
            below: list[tuple[object, ...]] = [()] * processes
            for child in range(processes - 1, 0, -1):
                parent = parents[child - 1]
                below[parent] = tuple(sorted((*below[parent], below[child]), key=repr))
            if below[0] not in seen:
                seen.add(below[0])
                yield processes, tuple((parent, child) for child, parent in enumerate(parents, 1))


def structure_of(processes: int, edges: topology.Edges) -> Structure:
    """The graph, with its shortest ways; where there are two, it has the one by smaller numbers."""
    universe = {"process": processes, "message": 0, "nat": 1, "packet MSG": 0}
    symbols = (*protocol_symbols(tree_link().protocol), WAY)
    tables = {one.name: dict(constant_table(one, universe, False if one.result == BOOL else 0)) for one in symbols}
    for process in range(processes):
        for other in topology.neighbors(edges, process):
            tables["neighbors@"][process, other] = True
        for other, near in topology.next_hops(edges, process):
            tables["next_hop@"][process, other] = near
            tables["next_hop@.#has"][process, other] = True
    for start, end in product(range(processes), repeat=2):
        for process in topology.path(edges, start, end):
            tables[WAY.name][start, process, end] = True
    return Structure(universe, tables)


def false_of(structure: Structure, formulas: Sequence[ir.NamedFormula]) -> list[str]:
    return [one.name for one in formulas if not is_true(structure, one)]


def is_true(structure: Structure, formula: ir.NamedFormula) -> bool:
    return bool(evaluate(formula.body, structure, {ROOT.name: 0}))


def test_the_facts_are_true_of_every_small_tree() -> None:
    trees = list(rooted_trees())
    assert [sum(processes == size for processes, _ in trees) for size in range(1, MOST + 1)] == [1, 1, 2, 4, 9, 20]
    for processes, edges in trees:
        assert topology.fault_of(edges, processes) is None
        assert not false_of(structure_of(processes, edges), tree_facts(tree_link().protocol)), edges


def test_the_facts_are_false_of_graphs_with_cycles() -> None:
    """All of four processes that are connected, and rings."""
    graphs = [(4, edges) for size in (3, 4, 5, 6) for edges in combinations(combinations(range(4), 2), size)]
    graphs += [(size, tuple((at, (at + 1) % size) for at in range(size))) for size in (3, 5, 6)]
    rejected = 0
    for processes, edges in graphs:
        if len(topology.next_hops(edges, 0)) == processes - 1 and topology.fault_of(edges, processes) is not None:
            graph = structure_of(processes, edges)
            assert not all(is_true(graph, fact) for fact in tree_facts(tree_link().protocol)), edges
            rejected += 1
    assert rejected == 15 + 6 + 1 + 3


def test_a_wrong_next_hop_or_way_is_no_tree() -> None:
    """The facts leave no choice: each single entry of a table that is changed makes one of them false."""
    facts = tree_facts(tree_link().protocol)
    for processes, edges in ((3, ((0, 1), (1, 2))), (4, ((0, 1), (0, 2), (0, 3)))):
        tree = structure_of(processes, edges)
        for name in ("neighbors@", "next_hop@", "next_hop@.#has", WAY.name):
            for key, value in tree.tables[name].items():
                if name == "next_hop@" and key[0] == key[1]:
                    continue  # it says nothing
                others = range(processes) if name == "next_hop@" else (False, True)
                for other in others:
                    if other != value:
                        changed = {**tree.tables, name: {**tree.tables[name], key: other}}
                        graph = Structure(tree.universe, changed)
                        assert not all(is_true(graph, fact) for fact in facts), (name, key, other)


def test_the_constants_of_a_machine_are_those_of_a_run() -> None:
    """Next hops, ways and the root, as a link in a scope chooses them, are what a proof says of them."""
    link = tree_link()
    said = list(constants_of_trees(link))
    assert len(said) == 3
    changed = 0
    for processes, edges in rooted_trees():
        if processes == 1:
            continue  # a run knows no tree without edges
        run = MachineRun(link.machine, processes, (), edges)
        chosen = run.symbols(run.initial())
        tree = structure_of(processes, edges)
        tables = dict(tree.tables)
        for name, arity in (("root", 0), ("nxt", 2), ("btw", 3)):
            keys = product(range(processes), repeat=arity)
            tables[name] = {key: chosen[name](*key) for key in keys}
        structure = Structure(tree.universe, tables)
        assert not false_of(structure, said)
        assert not false_of(structure, premises(link).shown)
        if processes == 4:
            for name in ("nxt", "btw"):
                for key, value in tables[name].items():
                    other = not value if name == "btw" else (value + 1) % processes
                    with_fault = {**tables, name: {**tables[name], key: other}}
                    assert false_of(Structure(tree.universe, with_fault), said) == [f"{name} is of the tree"]
                    changed += 1
    assert changed == 4 * (4**2 + 4**3)
