"""A second meaning of machines: what they do, computed as the reference says it, to hold obligations against.

Nothing of `thence.proofs` is used but `Structure`, as data. Formulas become Python text; a step changes tables; the
history is kept by the rules in `machine_builtins`, and the built-in properties are written out by their definitions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count, product
from typing import Any, TypeAlias

from thence.dsl import ir
from thence.dsl.ir.traversal import nodes
from thence.dsl.ir.types import BOOL, NAT, Type
from thence.proofs.logic.structure import Structure

Environment: TypeAlias = Mapping[str, Any]
Table: TypeAlias = Mapping[tuple[Any, ...], Any]

FAR = 12
"""Quantifiers over numbers look this far beyond the highest number known."""

_known: dict[int, tuple[ir.Expr, Callable[..., Any], tuple[str, ...]]] = {}


def value(expr: ir.Expr, state: Structure, environment: Environment) -> Any:
    """The value of a formula in a state."""
    if id(expr) not in _known:
        free = tuple(dict.fromkeys(node.name for node in nodes(expr) if isinstance(node, ir.Local)))
        names = {name: f"a{number}" for number, name in enumerate(free)}
        text = python(expr, names, count())
        arguments = ", ".join(["tables", "sizes", "top", *(f"{name}=None" for name in names.values())])
        _known[id(expr)] = (expr, eval(f"lambda {arguments}: {text}"), free)
    _, function, free = _known[id(expr)]
    given = {f"a{number}": environment[name] for number, name in enumerate(free) if name in environment}
    return function(state.tables, state.universe, _top(state, environment), **given)


def _top(state: Structure, environment: Environment) -> int:
    if "nat" not in state.universe:
        return FAR
    numbers = [value for table in state.tables.values() for value in table.values()]
    return max([state.universe["nat"], *map(int, numbers), *map(int, environment.values())]) + FAR


def python(expr: ir.Expr, names: Mapping[str, str], fresh: Iterator[int]) -> str:
    """The formula as Python text; `names` are the Python names of its free names."""

    def sub(part: ir.Expr) -> str:
        return python(part, names, fresh)

    match expr:
        case ir.Literal_(value=constant):
            return repr(constant)
        case ir.Zero(type=type_):
            return "False" if type_ == BOOL else "0"
        case ir.Local(name=name):
            return names[name]
        case ir.Apply(symbol=symbol, arguments=arguments):
            key = "".join(f"{sub(argument)}, " for argument in arguments)
            return f"tables[{symbol!r}].get(({key}), {'False' if expr.type == BOOL else 0})"
        case ir.Not(operand=operand):
            return f"(not {sub(operand)})"
        case ir.Connective(operator="implies", left=left, right=right):
            return f"({sub(right)} if {sub(left)} else True)"
        case ir.Connective(operator="iff", left=left, right=right):
            return f"(bool({sub(left)}) is bool({sub(right)}))"
        case ir.Connective(operator=operator, left=left, right=right):
            return f"({sub(left)} {operator} {sub(right)})"
        case ir.Comparison(operator=operator, left=left, right=right):
            return f"({sub(left)} {'==' if operator == '=' else operator} {sub(right)})"
        case ir.Arithmetic(operator="-", left=left, right=right):
            return f"max(0, {sub(left)} - {sub(right)})"
        case ir.Arithmetic(operator="+", left=left, right=right):
            return f"({sub(left)} + {sub(right)})"
        case ir.Arithmetic(operator=operator, left=left, right=right):
            return f"{operator}({sub(left)}, {sub(right)})"
        case ir.Conditional(condition=condition, then=then, otherwise=otherwise):
            return f"({sub(then)} if {sub(condition)} else {sub(otherwise)})"
        case ir.Quantified(kind=kind, variables=variables, body=body):
            own = {variable.name: f"v{next(fresh)}" for variable in variables}
            bounds = {each.name: "top" if each.type == NAT else f"sizes[{str(each.type)!r}]" for each in variables}
            ranges = " ".join(f"for {own[name]} in range({bound})" for name, bound in bounds.items())
            inside = f"bool({python(body, {**names, **own}, fresh)}) {ranges}"
            return f"{'all' if kind == 'forall' else 'any' if kind == 'exists' else 'sum'}({inside})"
        case _:
            raise AssertionError(f"{type(expr).__name__} stands in no machine")


# --- steps and initial states -------------------------------------------------------------------


def began(machine: ir.Machine, state: Structure) -> Structure:
    """The initial state that has the constants, the ends of messages and the functions into a sort of `state`.

    So does what no transition changes and an axiom speaks about. `initial` gives others their values, from these. All
    else is false or zero.
    """
    changed = {update.symbol for transition in machine.transitions for update in transition.updates}
    spoken = {node.symbol for axiom in machine.axioms for node in nodes(axiom.body) if isinstance(node, ir.Apply)}
    given = {*machine.constants, "src", "dst", "to", *(spoken - changed)}
    given -= {"sent", "delivered", "before", "past", "hb", "delivered_before"}
    given |= {symbol.name for symbol in machine.symbols if symbol.result not in (BOOL, NAT)}
    tables = {
        name: table if name in given else {key: type(was)(0) for key, was in table.items()}
        for name, table in state.tables.items()
    }
    begun = Structure(state.universe, tables)
    for update in machine.initial:
        table = dict(tables[update.symbol])
        names = [binder.name for binder in update.binders]
        for values in product(*(_domain(binder.type, begun, {}) for binder in update.binders)):
            local = dict(zip(names, values, strict=True))
            key = tuple(local[argument.name] for argument in update.arguments if isinstance(argument, ir.Local))
            table[key] = value(update.value, begun, local)
        tables[update.symbol] = table
    return Structure(_with_numbers(machine, state.universe, tables), tables)


def stepped(
    machine: ir.Machine, transition: ir.Transition, arguments: Sequence[Any], state: Structure
) -> Structure | None:
    """The state after the transition; None where it is not enabled."""
    local = {parameter.name: value for parameter, value in zip(transition.parameters, arguments, strict=True)}
    keeps_history = machine.delivery != "off" and transition.name in ("causal_send", "deliver")
    if keeps_history and transition.name == "causal_send" and state.tables["sent"][(arguments[0],)]:
        return None
    if not all(value(guard.body, state, local) for guard in transition.requires):
        return None
    tables = {name: dict(table) for name, table in state.tables.items()}
    for update in transition.updates:
        for values in product(*(_domain(binder.type, state, local) for binder in update.binders)):
            inner = {**local, **{binder.name: value for binder, value in zip(update.binders, values, strict=True)}}
            key = tuple(inner[argument.name] for argument in update.arguments if isinstance(argument, ir.Local))
            tables[update.symbol][key] = value(update.value, state, inner)
    if keeps_history:
        recorded = _sent if transition.name == "causal_send" else _delivered
        recorded(machine.delivery == "unicast", state, tables, *arguments)
    return Structure(_with_numbers(machine, state.universe, tables), tables)


def _with_numbers(machine: ir.Machine, universe: Mapping[str, int], tables: Mapping[str, Table]) -> Mapping[str, int]:
    """The universe, with all numbers at which something is not zero."""
    highest = max((key[at] for key, at in _numbers(machine, tables)), default=0)
    return {**universe, "nat": max(universe["nat"], highest + 1)} if "nat" in universe else universe


def _numbers(machine: ir.Machine, tables: Mapping[str, Table]) -> Iterator[tuple[tuple[Any, ...], int]]:
    """Where relations and functions over numbers are not zero."""
    for symbol in machine.symbols:
        for at, parameter in enumerate(symbol.parameters):
            if parameter.type == NAT:
                yield from ((key, at) for key, told in tables[symbol.name].items() if told)


def _domain(type_: Type, state: Structure, local: Environment) -> range:
    return range(_top(state, local) if type_ == NAT else state.universe[str(type_)])


def _sent(unicast: bool, state: Structure, tables: dict[str, dict[Any, Any]], m: int) -> None:
    was = state.tables
    sender = was["src"][(m,)]
    for x in range(state.universe["message"]):
        tables["hb"][(x, m)] = was["past"][(sender, x)]
        tables["before"][(x, m)] = was["sent"][(x,)] and was["src"][(x,)] == sender
    tables["past"][(sender, m)] = True
    tables["sent"][(m,)] = True


def _delivered(
    unicast: bool, state: Structure, tables: dict[str, dict[Any, Any]], m: int, place: int | None = None
) -> None:
    was = state.tables
    at = was["dst"][(m,)] if place is None else place
    where = () if unicast else (at,)
    for x in range(state.universe["message"]):
        here = was["delivered"][(x, *where)] and (not unicast or was["dst"][(x,)] == at)
        tables["delivered_before"][(x, m, *where)] = here and x != m
        if x == m or was["hb"][(x, m)]:
            tables["past"][(at, x)] = True
    tables["delivered"][(m, *where)] = True


def same(one: Structure, other: Structure) -> bool:
    """Whether two states are the same: beyond the numbers that are written down, all is false or zero."""
    names = one.tables.keys()
    return names == other.tables.keys() and all(_told(one.tables[name]) == _told(other.tables[name]) for name in names)


def _told(table: Table) -> Table:
    return {key: told for key, told in table.items() if told}


# --- the built-in properties --------------------------------------------------------------------


def has_property(name: str, machine: ir.Machine, state: Structure) -> bool:
    """Whether the state has the built-in property, by its definition."""
    t, unicast = state.tables, machine.delivery == "unicast"
    messages, processes = range(state.universe["message"]), range(state.universe["process"])

    def to(m: int, p: int) -> bool:
        return bool(t["dst"][(m,)] == p if unicast else t["to"][(m, p)])

    def delivered(m: int, p: int) -> bool:
        return bool(t["delivered"][(m,)] and to(m, p) if unicast else t["delivered"][(m, p)])

    def first(a: int, b: int, p: int) -> bool:
        return bool(t["delivered_before"][(a, b)] if unicast else t["delivered_before"][(a, b, p)])

    def ordered(relation: str) -> bool:
        """Of two related messages to one process the first is delivered first, if the second is delivered."""
        return all(
            delivered(a, p) and first(a, b, p)
            for a, b, p in product(messages, messages, processes)
            if t[relation][(a, b)] and to(a, p) and to(b, p) and delivered(b, p)
        )

    def posted(a: int, m: int) -> bool:
        return bool(t["network_sent"][(m,)] and t["hb"][(a, m)] and t["src"][(a,)] != t["src"][(m,)])

    match name:
        case "causal":
            return ordered("hb")
        case "fifo":
            return ordered("before")
        case "causally_ordered":
            pairs = product(messages, messages, processes)
            both = ((a, b, p) for a, b, p in pairs if t["hb"][(a, b)] and delivered(a, p) and delivered(b, p))
            return all(first(a, b, p) for a, b, p in both)
        case "csps":
            return all(
                delivered(a, p) for a, m, p in product(messages, messages, processes) if posted(a, m) and to(a, p)
            )
        case "sps":
            return all(
                delivered(a, p)
                for a, m, p, q in product(messages, messages, processes, processes)
                if posted(a, m) and to(a, p) and p != t["src"][(m,)] and to(m, q) and t["src"][(a,)] != q
            )
        case "no_creation":
            places = ((m, p) for m, p in product(messages, processes) if delivered(m, p))
            return all(t["sent"][(m,)] and to(m, p) for m, p in places)
        case "total_order":
            return not any(
                first(a, b, p) and first(b, a, q) for a, b, p, q in product(messages, messages, processes, processes)
            )
        case _:
            raise AssertionError(f"{name} is not a built-in property")


def goes_everywhere(machine: ir.Machine, state: Structure) -> bool:
    """What `delivery broadcast` says of destinations: every process but the sender is one of each message."""
    if machine.delivery != "broadcast":
        return True
    t, pairs = state.tables, product(range(state.universe["message"]), range(state.universe["process"]))
    return all(t["to"][(m, p)] or t["src"][(m,)] == p for m, p in pairs)


# --- what statements about steps speak of ---------------------------------------------------------


def rests(machine: ir.Machine, state: Structure) -> bool:
    """No transition but `causal_send` is enabled with an effect."""
    for transition in machine.transitions:
        if transition.name != "causal_send":
            for arguments in product(*(_domain(each.type, state, {}) for each in transition.parameters)):
                then = stepped(machine, transition, arguments, state)
                if then is not None and not same(state, then):
                    return False
    return True


def is_undelivered(machine: ir.Machine, state: Structure, m: int) -> bool:
    """The message was sent and is not delivered at some destination."""
    t = state.tables
    if not t["sent"][(m,)]:
        return False
    if machine.delivery == "unicast":
        return not t["delivered"][(m,)]
    return any(t["to"][(m, p)] and not t["delivered"][(m, p)] for p in range(state.universe["process"]))
