"""Finite structures, and the meaning of a formula in one: plain Python, independent of every solver.

Every model that a solver returns is read back into a structure and evaluated here before it is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias, assert_never

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, NAT, Sort, Type
from thence.proofs.logic.formula import Unsupported, outer_foralls, refuse_domains
from thence.proofs.logic.number_window import instances_of_numbers

Value: TypeAlias = int | bool
Table: TypeAlias = Mapping[tuple[int, ...], Value]
"""A relation or function: a value for every tuple of elements."""


class CrossCheckError(AssertionError):
    """A solver and the evaluator disagree about a finite model: a defect of Thence, never of the user's file."""


@dataclass(frozen=True, slots=True)
class Structure:
    """A finite universe (elements of a sort are 0 .. size - 1) and a table for every symbol.

    The elements of an ordered sort are ordered as numbers. Where symbols are over numbers: see NOTE(numbers).
    """

    universe: Mapping[str, int]
    tables: Mapping[str, Table]

    def with_tables(self, tables: Mapping[str, Table]) -> Structure:
        return Structure(self.universe, {**self.tables, **tables})

    def highest_number(self, environment: Mapping[str, Value]) -> int:
        """At least every number that a table has as a value or the environment has, and the window."""
        values = (value for table in self.tables.values() for value in table.values())
        return max([self.universe.get("nat", 0), 0, *map(int, values), *map(int, environment.values())])


def elements(type_: Type, universe: Mapping[str, int]) -> range:
    """The elements of a sort, or the numbers of the window.

    Raises: Unsupported for a type that is not a sort of the universe.
    """
    if (isinstance(type_, Sort) or type_ == NAT) and str(type_) in universe:
        return range(universe[str(type_)])
    raise Unsupported(f"no finite universe for `{type_}`")


def tuples(types: Sequence[Type], universe: Mapping[str, int]) -> Iterator[tuple[int, ...]]:
    """Every tuple of elements of the types, in order."""
    return product(*(elements(type_, universe) for type_ in types))


def zero_of(type_: Type) -> Value:
    """The value that a symbol of the type starts from. Raises: Unsupported for sorts."""
    if type_ == BOOL:
        return False
    if type_ == NAT:
        return 0
    raise Unsupported(f"`{type_}` has no zero")


def beyond_window(type_: Type) -> Value:
    """The value of a symbol at numbers beyond the window: see NOTE(numbers)."""
    return False if type_ == BOOL else 0


def constant_table(symbol: ir.Symbol, universe: Mapping[str, int], value: Value) -> Table:
    """The table that is `value` everywhere."""
    return dict.fromkeys(tuples([parameter.type for parameter in symbol.parameters], universe), value)


def evaluate(expr: ir.Expr, structure: Structure, environment: Mapping[str, Value]) -> Value:
    """The value of a formula or term. The environment maps its free names to elements, numbers or truth values.

    Raises: Unsupported outside the fragment of theories and machines.
    """
    match expr:
        case ir.Literal_():
            return expr.value
        case ir.Zero():
            return zero_of(expr.type)
        case ir.Local():
            return environment[expr.name]
        case ir.Apply():
            key = tuple(int(evaluate(argument, structure, environment)) for argument in expr.arguments)
            table = structure.tables[expr.symbol]
            if any(argument.type == NAT for argument in expr.arguments):
                return table.get(key, beyond_window(expr.type))
            return table[key]
        case ir.Not():
            return not evaluate(expr.operand, structure, environment)
        case ir.Connective():
            return _connective(expr, structure, environment)
        case ir.Comparison():
            return _comparison(expr, structure, environment)
        case ir.Arithmetic():
            return _arithmetic(expr, structure, environment)
        case ir.Conditional():
            chosen = expr.then if evaluate(expr.condition, structure, environment) else expr.otherwise
            return evaluate(chosen, structure, environment)
        case ir.Quantified():
            return _quantified(expr, structure, environment)
        case _:
            raise Unsupported(f"`{type(expr).__name__}` has no meaning in a theory or machine")


def _comparison(expr: ir.Comparison, structure: Structure, environment: Mapping[str, Value]) -> bool:
    left, right = evaluate(expr.left, structure, environment), evaluate(expr.right, structure, environment)
    match expr.operator:
        case "=":
            return left == right
        case "<":
            return left < right
        case "<=":
            return left <= right
        case _ as never:
            assert_never(never)


def _arithmetic(expr: ir.Arithmetic, structure: Structure, environment: Mapping[str, Value]) -> int:
    left, right = evaluate(expr.left, structure, environment), evaluate(expr.right, structure, environment)
    match expr.operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            raise Unsupported("a product")
        case "max":
            return max(left, right)
        case "min":
            return min(left, right)
        case _ as never:
            assert_never(never)


def _connective(expr: ir.Connective, structure: Structure, environment: Mapping[str, Value]) -> bool:
    left = bool(evaluate(expr.left, structure, environment))
    match expr.operator:
        case "and":
            return left and bool(evaluate(expr.right, structure, environment))
        case "or":
            return left or bool(evaluate(expr.right, structure, environment))
        case "implies":
            return not left or bool(evaluate(expr.right, structure, environment))
        case "iff":
            return left == bool(evaluate(expr.right, structure, environment))
        case _ as never:
            assert_never(never)


def _quantified(expr: ir.Quantified, structure: Structure, environment: Mapping[str, Value]) -> Value:
    refuse_domains(expr)
    names = [variable.name for variable in expr.variables]
    universe = structure.universe
    if any(variable.type == NAT for variable in expr.variables):
        if expr.kind == "count":
            raise Unsupported("`count` over all numbers")
        universe = {**universe, "nat": len(instances_of_numbers(expr, structure.highest_number(environment)))}
    instances = (
        bool(evaluate(expr.body, structure, {**environment, **dict(zip(names, values, strict=True))}))
        for values in tuples([variable.type for variable in expr.variables], universe)
    )
    match expr.kind:
        case "forall":
            return all(instances)
        case "exists":
            return any(instances)
        case "count":
            return sum(instances)
        case "sum":
            raise Unsupported("`sum`")
        case _ as never:
            assert_never(never)


def violations(formula: ir.NamedFormula, structure: Structure) -> Iterator[dict[str, int]]:
    """The instances of the leading universal variables for which a closed formula is false."""
    variables, body = outer_foralls(formula.body)
    universe = structure.universe
    if any(variable.type == NAT for variable in variables):
        assert isinstance(formula.body, ir.Quantified)
        universe = {**universe, "nat": len(instances_of_numbers(formula.body, structure.highest_number({})))}
    for values in tuples([variable.type for variable in variables], universe):
        environment = {variable.name: value for variable, value in zip(variables, values, strict=True)}
        if not evaluate(body, structure, environment):
            yield environment


def least_relations(together: Sequence[ir.Inductive], structure: Structure) -> dict[str, Table]:
    """The least relations closed under the rules of all, by iteration from empty ones. Their tables in `structure` are
    ignored.

    Raises: Unsupported where the iteration does not settle (a rule that uses one of the relations negatively).
    """
    tables: dict[str, Table] = {}
    for inductive in together:
        types = [parameter.type for parameter in inductive.parameters]
        tables[inductive.name] = dict.fromkeys(tuples(types, structure.universe), False)
    for _ in range(1 + sum(map(len, tables.values()))):
        current = structure.with_tables(tables)
        after = {inductive.name: _derived(inductive, current) for inductive in together}
        if after == tables:
            return tables
        tables = after
    raise Unsupported(f"the rules of {' and '.join(f'`{name}`' for name in tables)} do not settle")


def _derived(inductive: ir.Inductive, structure: Structure) -> Table:
    """The relation with what one use of its rules adds."""
    names = [parameter.name for parameter in inductive.parameters]

    def derives(key: tuple[int, ...]) -> bool:
        values = dict(zip(names, key, strict=True))
        return any(bool(evaluate(rule.body, structure, values)) for rule in inductive.rules)

    return {key: value or derives(key) for key, value in structure.tables[inductive.name].items()}
