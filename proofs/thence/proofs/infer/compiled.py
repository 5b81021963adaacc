"""Formulas as Python functions: the meaning of `structure.evaluate`, some hundred times as fast.

Inference evaluates millions of small formulas. What it finds is proved elsewhere, so this second meaning need not be
trusted; a test holds it against `evaluate` on random structures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, assert_never

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, NAT, Sort
from thence.proofs.logic.formula import Unsupported, refuse_domains, symbols_of
from thence.proofs.logic.structure import Structure, Table, Value, zero_of

Compiled: TypeAlias = Callable[..., Any]
"""Called with a universe, the tables, and a value for each of its parameters."""


def compiled(expr: ir.Expr, parameters: Sequence[str]) -> Compiled:
    """The value of one formula or term. Raises: Unsupported where it quantifies over numbers."""
    return _function(parameters, _code(expr, dict(_renamed(parameters))), symbols_of(expr))


def compiled_row(atoms: Sequence[ir.Expr], variables: Sequence[ir.Variable]) -> Compiled:
    """A function of a universe and tables: for every assignment of different elements to the variables of one sort,
    the truth values of the atoms, as the bits of a number; one pair (assignment, number) each.

    Raises: Unsupported where an atom quantifies over numbers.
    """
    names = dict(_renamed([variable.name for variable in variables]))
    bits = " | ".join(f"(bool({_code(atom, names)}) << {at})" for at, atom in enumerate(atoms)) or "0"
    loops = " ".join(f"for {names[variable.name]} in range(U[{_sort(variable)!r}])" for variable in variables)
    apart = " and ".join(
        f"{names[one.name]} != {names[other.name]}"
        for at, one in enumerate(variables)
        for other in variables[:at]
        if one.type == other.type
    )
    assigned = ", ".join(names[variable.name] for variable in variables)
    symbols = frozenset[str]().union(*(symbols_of(atom) for atom in atoms))
    return _function((), f"[(({assigned},), {bits}) {loops}{f' if {apart}' if apart else ''}]", symbols)


def value_in(function: Compiled, structure: Structure, *arguments: Value) -> Any:
    """The value of a compiled formula in a structure."""
    return function(structure.universe, structure.tables, *arguments)


Tables: TypeAlias = Mapping[str, Table]


def _sort(variable: ir.Variable | ir.Bound) -> str:
    if isinstance(variable.type, Sort):
        return variable.type.name
    raise Unsupported(f"no finite universe for `{variable.type}`")


def _renamed(names: Sequence[str]) -> list[tuple[str, str]]:
    return [(name, f"v{number}") for number, name in enumerate(names)]


def _function(parameters: Sequence[str], code: str, symbols: frozenset[str]) -> Compiled:
    """The code as a function. It is made of numbered names and operators alone; symbols are looked up once a call."""
    own = sorted(symbols)
    arguments = ", ".join(("U", "T", *(new for _, new in _renamed(parameters))))
    lines = [f"def function({arguments}):"]
    lines += [f"    T_{_identifier(symbol)} = T[{symbol!r}]" for symbol in own]
    lines.append(f"    return {code}")
    made: dict[str, Any] = {}
    exec(compile("\n".join(lines), "<a formula>", "exec"), made)
    function: Compiled = made["function"]
    return function


def _identifier(symbol: str) -> str:
    return "".join(character if character.isalnum() else f"_{ord(character)}_" for character in symbol)


def _code(expr: ir.Expr, names: Mapping[str, str]) -> str:
    match expr:
        case ir.Literal_():
            return repr(expr.value)
        case ir.Zero():
            return repr(zero_of(expr.type))
        case ir.Local():
            return names[expr.name]
        case ir.Apply():
            key = "".join(f"{_code(argument, names)}, " for argument in expr.arguments)
            table = f"T_{_identifier(expr.symbol)}"
            if any(argument.type == NAT for argument in expr.arguments):
                return f"{table}.get(({key}), {'False' if expr.type == BOOL else '0'})"
            return f"{table}[({key})]"
        case ir.Not():
            return f"(not {_code(expr.operand, names)})"
        case ir.Connective():
            return _connective(expr, names)
        case ir.Comparison():
            operator = "==" if expr.operator == "=" else expr.operator
            return f"({_code(expr.left, names)} {operator} {_code(expr.right, names)})"
        case ir.Arithmetic():
            return _arithmetic(expr, names)
        case ir.Conditional():
            then, otherwise = _code(expr.then, names), _code(expr.otherwise, names)
            return f"({then} if {_code(expr.condition, names)} else {otherwise})"
        case ir.Quantified():
            return _quantified(expr, names)
        case _:
            raise Unsupported(f"`{type(expr).__name__}` has no meaning in a theory or machine")


def _connective(expr: ir.Connective, names: Mapping[str, str]) -> str:
    left, right = _code(expr.left, names), _code(expr.right, names)
    match expr.operator:
        case "and":
            return f"({left} and {right})"
        case "or":
            return f"({left} or {right})"
        case "implies":
            return f"(not {left} or {right})"
        case "iff":
            return f"(bool({left}) == bool({right}))"
        case _ as never:
            assert_never(never)


def _arithmetic(expr: ir.Arithmetic, names: Mapping[str, str]) -> str:
    left, right = _code(expr.left, names), _code(expr.right, names)
    match expr.operator:
        case "+" | "-":
            return f"({left} {expr.operator} {right})"
        case "max" | "min":
            return f"{expr.operator}({left}, {right})"
        case _ as never:
            assert_never(never)


def _quantified(expr: ir.Quantified, names: Mapping[str, str]) -> str:
    refuse_domains(expr)
    inner = dict(names)
    loops: list[str] = []
    for variable in expr.variables:
        inner[variable.name] = f"v{len(inner)}"
        while list(inner.values()).count(inner[variable.name]) > 1:
            inner[variable.name] += "_"
        loops.append(f"for {inner[variable.name]} in range(U[{_sort(variable)!r}])")
    body = f"{_code(expr.body, inner)} {' '.join(loops)}"
    match expr.kind:
        case "forall":
            return f"all({body})"
        case "exists":
            return f"any({body})"
        case "count":
            return f"sum(bool(x) for x in ({body}))"
        case _ as never:
            assert_never(never)
