"""Tree networks of any size, as formulas about next hops, neighbors and the ways between processes.

NOTE(trees): a tree of the processes never changes, so it is said by the protocol's own variables `next_hop` and
`neighbors`, and a relation for ways. The facts are true of every finite tree, and no other finite graph satisfies them:
a next hop comes nearer, so all is connected; of two neighbors one is nearer to any process, and a way leads along each
detour, so there are no cycles. Infinite trees satisfy them, too.
"""

from __future__ import annotations

from collections.abc import Iterator

from thence.dsl import ir
from thence.dsl.ir.topology import BUILT_IN, NEIGHBORS, NEXT_HOP
from thence.dsl.ir.types import BOOL, PROCESS
from thence.dsl.run.machine_run import given_symbols
from thence.proofs.logic.formula import conj, disj, equal, forall, free_locals, holds, implies, local, negation
from thence.proofs.refinement.expressions import role, roles
from thence.proofs.refinement.shapes.flat import locals_of, term_of, variables
from thence.proofs.refinement.shapes.kinds import Members, Parts, Shape, Table, Term
from thence.proofs.refinement.states import State, variable_name
from thence.proofs.refinement.symbols import shape_of

_ENDS = (ir.Variable("p", PROCESS), ir.Variable("q", PROCESS))

WAY = ir.Symbol("on the way", (_ENDS[0], ir.Variable("w", PROCESS), _ENDS[1]), BOOL)
"""The second process is on the way from the first to the third, which includes both. No text has such a name."""

ROOT = ir.Local(PROCESS, "#root of the tree")
"""Process 0, in which the constants of a machine see the root; the protocol has no root."""


def tree_symbols(protocol: ir.Protocol) -> tuple[ir.Symbol, ...]:
    """What is said of the tree besides the protocol's variables."""
    return (WAY,) if protocol.network.tree else ()


def hop(process: Term, towards: Term) -> Term:
    """The neighbor of a process towards another one; towards itself any process."""
    return term_of(_next_hops(process).at((towards,)))


def has_hop(process: Term, towards: Term) -> Term:
    """Whether `next_hop` of the process has a value there."""
    return _next_hops(process).has((towards,))


def _next_hops(process: Term) -> Table:
    shape = tree_variable(NEXT_HOP, process)
    assert isinstance(shape, Table)
    return shape


def is_linked(process: Term, other: Term) -> Term:
    """Whether the two are neighbors."""
    shape = tree_variable(NEIGHBORS, process)
    assert isinstance(shape, Members)
    return shape.has((other,))


def tree_variable(name: str, process: Term) -> Shape:
    """`neighbors` or `next_hop` of a process, at all times."""
    return shape_of(variable_name(name), (process,), BUILT_IN["tree"][name])


def is_between(start: Term, process: Term, end: Term) -> Term:
    """Whether the process is on the way from start to end."""
    return holds(WAY.name, start, process, end)


def tree_facts(protocol: ir.Protocol) -> tuple[ir.NamedFormula, ...]:
    """What is true of the tree of every tree network; nothing for other networks."""
    if not protocol.network.tree:
        return ()
    p, q, v, w = (ir.Local(PROCESS, name) for name in ("p", "q", "v", "w"))
    apart = negation(equal(p, q))
    facts = {
        "next hops": ir.Connective(BOOL, "iff", has_hop(p, q), apart),
        "a next hop": implies(apart, conj((is_linked(p, hop(p, q)), is_between(p, hop(p, q), q)))),
        "the only next hop": implies(conj((is_linked(p, v), is_between(p, v, q))), equal(hop(p, q), v)),
        "neighbors": implies(is_linked(p, q), conj((apart, is_linked(q, p)))),
        "nobody between neighbors": implies(
            conj((is_linked(p, q), is_between(p, w, q))), disj((equal(w, p), equal(w, q)))
        ),
        "a way begins": is_between(p, p, q),
        "a way back": implies(is_between(p, w, q), is_between(q, w, p)),
        "no way round": implies(is_between(p, w, p), equal(w, p)),
        "parts of a way": implies(
            conj((is_between(p, v, q), is_between(v, w, q))), conj((is_between(p, w, q), is_between(p, v, w)))
        ),
        "no detour": implies(is_between(p, w, q), disj((is_between(p, w, v), is_between(v, w, q)))),
        "one neighbor is nearer": implies(is_linked(p, v), disj((is_between(p, v, q), is_between(v, p, q)))),
    }
    return tuple(ir.NamedFormula(f"trees: {name}", _of_all(body)) for name, body in facts.items())


def _of_all(body: Term) -> Term:
    return forall((ir.Variable(name, type_) for name, type_ in free_locals(body).items()), body)


def facts_of_flight(protocol: ir.Protocol, state: State) -> Iterator[ir.NamedFormula]:
    """Packets go between neighbors: a step that sends another one is a fault, and changes nothing."""
    if not protocol.network.tree:
        return
    numbers = iter(range(1_000))
    for kind in protocol.packets:
        for group in state.network[kind.name]:
            bound = variables(group.types, lambda: f"link#{next(numbers)}")
            there, packet = group.item(locals_of(bound))
            assert isinstance(packet, Parts)
            ends = (term_of(packet.fields[len(kind.parameters) + at]) for at in range(2))
            yield ir.NamedFormula("packets go between neighbors", forall(bound, implies(there, is_linked(*ends))))


def constants_of_trees(link: ir.Link) -> Iterator[ir.NamedFormula]:
    """What a run chooses by the tree for the constants of the machine: see NOTE(order) in `dsl.run.machine_run`.

    And which roles of the protocol are the root.
    """
    if not link.protocol.network.tree:
        return
    for constant in roles(link.protocol):
        same = equal(role(constant), ROOT)
        said = same if constant.value == 0 else negation(same)
        yield ir.NamedFormula(f"role {constant.name} and the root", said)
    given = given_symbols(link.machine)
    p, q, w = (ir.Variable(name, PROCESS) for name in ("p", "q", "w"))
    for symbol in link.machine.symbols:
        types = [parameter.type for parameter in symbol.parameters]
        if symbol.name not in given or any(type_ != PROCESS for type_ in types):
            continue
        match len(types), symbol.result == PROCESS, symbol.result == BOOL:
            case 0, True, _:
                body = equal(ir.Apply(PROCESS, symbol.name, ()), ROOT)
            case 2, True, _:
                body = forall((p, q), _is_next(symbol.name, local(p), local(q)))
            case 3, _, True:
                way = is_between(local(p), local(w), local(q))
                same = ir.Connective(BOOL, "iff", holds(symbol.name, local(p), local(w), local(q)), way)
                body = forall((p, w, q), same)
            case _:
                continue
        yield ir.NamedFormula(f"{symbol.name} is of the tree", body)


def _is_next(symbol: str, process: Term, towards: Term) -> Term:
    """The next hop, and towards itself the parent, which the root is of itself."""
    said = ir.Apply(PROCESS, symbol, (process, towards))
    own, root = equal(process, towards), equal(process, ROOT)
    return conj(
        (
            implies(negation(own), equal(said, hop(process, towards))),
            implies(conj((own, root)), equal(said, ROOT)),
            implies(conj((own, negation(root))), equal(said, hop(process, ROOT))),
        )
    )
