"""Formulas as Python functions: the meaning of `structure.evaluate`, some hundred times as fast.

Inference and random runs evaluate millions of small formulas. What they find is proved or replayed elsewhere, so this
second meaning need not be trusted; a test holds it against `evaluate` on random structures.

In the text of a function, `U` is the universe, `T` the tables, and `H` a number that no number known is above.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, assert_never

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, NAT, Sort, Type
from thence.proofs.logic.formula import (
    Unsupported,
    children,
    free_locals,
    negation,
    outer_foralls,
    refuse_domains,
    substitute,
    symbols_of,
)
from thence.proofs.logic.number_window import instances_of_numbers
from thence.proofs.logic.structure import Structure, Table, Value, zero_of

Compiled: TypeAlias = Callable[..., Any]
"""Called with a universe, the tables, and a value for each of its parameters."""


def compiled(expr: ir.Expr, parameters: Sequence[str]) -> Compiled:
    """The value of one formula or term. Raises: Unsupported where it counts numbers, or adds two of all."""
    names = dict(_renamed(parameters))
    return _made(("U", "T", *names.values()), [f"return {_code(expr, names)}"], [expr])


def compiled_row(atoms: Sequence[ir.Expr], variables: Sequence[ir.Variable]) -> Compiled:
    """A function of a universe and tables: for every assignment of different elements to the variables of one sort,
    the truth values of the atoms, as the bits of a number; one pair (assignment, number) each. A number is at most one
    above all that are known.

    The function may be given a dictionary, `M`: functions that are given the same one share in one structure what
    quantified formulas say there, which takes longest.

    Raises: Unsupported where an atom counts numbers, or adds two of all.
    """
    row = _Row(dict(_renamed([variable.name for variable in variables])))
    lines = row.loops(variables, [(row.code(atom), free_locals(atom).keys()) for atom in atoms])
    return _made(("U", "T", "M=None"), ["M = {} if M is None else M", *row.tables, *lines], atoms)


def compiled_choices(conditions: Sequence[ir.Expr], variables: Sequence[ir.Variable], numbers_below: int) -> Compiled:
    """A function of a universe and tables: the assignments to the variables of which all conditions are true, in order.

    Each condition is evaluated in the outermost loop that has its variables. Numbers are assigned from 0 to below the
    bound.

    Raises: Unsupported where a condition counts numbers, or adds two of all, or there are more than 20 variables.
    """
    loops = _loops(conditions, variables, "found", f"range({numbers_below})")
    assigned = "".join(f"v{number}, " for number in range(len(variables)))
    lines = ["found = []", *loops, f"{'    ' * len(variables)}found.append(({assigned}))", "return found"]
    return _made(("U", "T"), lines, conditions)


def compiled_denial(formula: ir.Expr) -> Compiled:
    """Whether a closed formula is false: the denial of `compiled`, and sooner where its leading variables are many.

    Each premise and each alternative is evaluated in the outermost loop that has its variables; of numbers, which other
    numbers bound, none is.

    Raises: Unsupported as `compiled`, or where there are more than 20 leading variables.
    """
    variables, body = outer_foralls(formula)
    if any(not isinstance(variable.type, Sort) for variable in variables):
        variables, body = (), formula
    conditions = list(_denied(body))
    loops = _loops(conditions, variables, "False")
    return _made(("U", "T"), [*loops, f"{'    ' * len(variables)}return True", "return False"], conditions)


def _denied(body: ir.Expr) -> Iterator[ir.Expr]:
    """Formulas that are true together where the body is false."""
    match body:
        case ir.Connective(operator="implies"):
            yield from _affirmed(body.left)
            yield from _denied(body.right)
        case ir.Connective(operator="or"):
            yield from _denied(body.left)
            yield from _denied(body.right)
        case ir.Not():
            yield from _affirmed(body.operand)
        case _:
            yield negation(body)


def _affirmed(body: ir.Expr) -> Iterator[ir.Expr]:
    """Formulas that are true together where the body is true."""
    if isinstance(body, ir.Connective) and body.operator == "and":
        yield from _affirmed(body.left)
        yield from _affirmed(body.right)
    else:
        yield body


def _loops(
    conditions: Sequence[ir.Expr], variables: Sequence[ir.Variable], nothing: str, numbers: str = ""
) -> list[str]:
    """A loop for each variable, the i-th with the name `vi`, with each condition in the outermost one that has its
    variables; `nothing` is returned where one without variables is false. `numbers` is the text of all numbers."""
    names = dict(_renamed([variable.name for variable in variables]))
    within = {variable.name: depth for depth, variable in enumerate(variables, 1)}
    tests: list[list[str]] = [["True"] for _ in range(len(variables) + 1)]
    for condition in conditions:
        tests[max((within[name] for name in free_locals(condition)), default=0)].append(_code(condition, names))
    lines = [f"if not ({' and '.join(tests[0])}): return {nothing}"]
    for depth, variable in enumerate(variables):
        indent = "    " * depth
        every = numbers if variable.type == NAT else _elements(variable.type)
        lines.append(f"{indent}for {names[variable.name]} in {every}:")
        lines.append(f"{indent}    if not ({' and '.join(tests[depth + 1])}): continue")
    return lines


def value_in(function: Compiled, structure: Structure, *arguments: Value) -> Any:
    """The value of a compiled formula in a structure."""
    return function(structure.universe, structure.tables, *arguments)


Tables: TypeAlias = Mapping[str, Table]


def _elements(type_: Type) -> str:
    """The text of all elements of a sort, or of the numbers up to the first above all that are known."""
    return f"range(U[{type_.name!r}])" if isinstance(type_, Sort) else "range(H + 2)"


def _renamed(names: Sequence[str]) -> list[tuple[str, str]]:
    return [(name, f"v{number}") for number, name in enumerate(names)]


def _made(arguments: Sequence[str], body: Sequence[str], exprs: Sequence[ir.Expr]) -> Compiled:
    """A function of the code of expressions. It is made of numbered names and operators alone; symbols are looked up
    once a call."""
    symbols = frozenset[str]().union(*(symbols_of(expr) for expr in exprs))
    lines = [f"def function({', '.join(arguments)}):"]
    lines += [f"    T_{_identifier(symbol)} = T[{symbol!r}]" for symbol in sorted(symbols)]
    if any("H" in line for line in body):
        numbers = sorted({name for expr in exprs for name in _number_symbols(expr)})
        values = "".join(f", *T_{_identifier(symbol)}.values()" for symbol in numbers)
        lines.append(f"    H = max(0, U.get('nat', 0){values})")
    lines += [f"    {line}" for line in body]
    made: dict[str, Any] = {}
    try:
        exec(compile("\n".join(lines), "<a formula>", "exec"), made)
    except (SyntaxError, RecursionError, MemoryError) as fault:  # Python's limits on what is nested
        raise Unsupported("a formula is nested too deeply") from fault
    function: Compiled = made["function"]
    return function


def _number_symbols(expr: ir.Expr) -> Iterator[str]:
    """The functions in an expression whose values are numbers."""
    if isinstance(expr, ir.Apply) and expr.type == NAT:
        yield expr.symbol
    for part in children(expr):
        yield from _number_symbols(part)


class _Row:
    """The text of a row: a loop for each variable, in which what does not depend on later ones is computed once.

    Attributes:
        tables: lines that make the tables of quantified formulas. Formulas that differ in the names of their free
            variables share one.
    """

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        self._known: dict[ir.Expr, str] = {}
        self.tables: list[str] = []

    def code(self, atom: ir.Expr) -> str:
        """The text of an atom. What it quantifies stands in a table, but for what has another formula around it."""
        if not isinstance(atom, ir.Quantified):
            return _code(atom, self._names)
        free = free_locals(atom)
        plain = {name: ir.Local(type_, f"free {at}") for at, (name, type_) in enumerate(free.items())}
        general = substitute(atom, plain)
        if general not in self._known:
            table = self._known[general] = f"Q{len(self._known)}"
            names = {local.name: f"f{at}" for at, local in enumerate(plain.values())}
            key = "".join(f"{name}, " for name in names.values())
            loops = " ".join(f"for {names[local.name]} in {_elements(local.type)}" for local in plain.values())
            value = _code(general, names)
            text = f"{{({key}): {value} {loops}}}" if free else f"{{(): {value}}}"
            if "H" in text:  # of which numbers it is, depends on the row
                self.tables.append(f"{table} = {text}")
            else:
                self.tables += [f"{table} = M.get({text!r})", f"if {table} is None: {table} = M[{text!r}] = {text}"]
        return f"{self._known[general]}[({''.join(f'{self._names[name]}, ' for name in free)})]"

    def loops(self, variables: Sequence[ir.Variable], atoms: Sequence[tuple[str, Collection[str]]]) -> list[str]:
        """The lines of the loops; each atom is evaluated in the outermost loop that has its variables."""
        within = {variable.name: depth for depth, variable in enumerate(variables, 1)}
        bits: list[list[str]] = [[] for _ in range(len(variables) + 1)]
        for at, (text, free) in enumerate(atoms):
            bits[max((within[name] for name in free), default=0)].append(f"({1 << at} if {text} else 0)")
        lines = ["found = []", f"b0 = {' | '.join(['0', *bits[0]])}"]
        for depth, variable in enumerate(variables):
            indent, name = "    " * depth, self._names[variable.name]
            lines.append(f"{indent}for {name} in {_elements(variable.type)}:")
            others = [self._names[other.name] for other in variables[:depth] if other.type == variable.type]
            if others:
                lines.append(f"{indent}    if {' or '.join(f'{name} == {other}' for other in others)}: continue")
            lines.append(f"{indent}    b{depth + 1} = {' | '.join([f'b{depth}', *bits[depth + 1]])}")
        assigned = "".join(f"{self._names[variable.name]}, " for variable in variables)
        lines += [f"{'    ' * len(variables)}found.append((({assigned}), b{len(variables)}))", "return found"]
        return lines


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
        case "*":
            raise Unsupported("a product")
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
        all_of_them = _numbers(expr, names) if variable.type == NAT else _elements(variable.type)
        loops.append(f"for {inner[variable.name]} in {all_of_them}")
    body = f"{_code(expr.body, inner)} {' '.join(loops)}"
    match expr.kind:
        case "forall":
            return f"all({body})"
        case "exists":
            return f"any({body})"
        case "count":
            return f"sum(bool(x) for x in ({body}))"
        case "sum":
            return f"sum({body})"
        case _ as never:
            assert_never(never)


def _numbers(expr: ir.Quantified, names: Mapping[str, str]) -> str:
    """The text of the numbers that stand for all. See NOTE(numbers): their amount is linear in the highest known."""
    if expr.kind == "count":
        raise Unsupported("`count` over all numbers")
    known = [names[name] for name, type_ in free_locals(expr).items() if type_ == NAT]
    highest = f"max({', '.join(['H', *known])})" if known else "H"
    at_zero, at_one = (len(instances_of_numbers(expr, number)) for number in (0, 1))
    return f"range({at_zero} + {at_one - at_zero} * {highest})"
