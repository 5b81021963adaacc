"""The text that solvers are given, with one structure prescribed: sat exactly where the structure refutes it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, NAT, Type
from thence.proofs.logic.counting import Count, with_symbols
from thence.proofs.logic.obligation import Obligation
from thence.proofs.logic.smt import smt_text
from thence.proofs.logic.structure import Structure, Table, evaluate, tuples

_SORT = re.compile(r"^\(declare-sort (\S+) 0\) ; (.*)$")
_SYMBOL = re.compile(r"^\(declare-fun (\S+) \((.*?)\) \S+\) ; (.*)$")
_ORDER = re.compile(r"^\(declare-fun lt_(\S+) ")
_CONSTANT = re.compile(r"^\(declare-const (\S+) \S+\) ; (.*)$")


def closed_text(obligation: Obligation, state: Structure, environment: Mapping[str, Any]) -> str:
    """The obligation's own text, with sorts of exactly these elements in this order, and every symbol and constant as
    given.

    What stands for a count is prescribed as the count that it stands for, so that each fact about it must be true.
    """
    enlarged, counts = with_symbols(obligation)
    tables = dict(state.tables)
    for count, symbol in counts.items():  # a count within another stands before it
        tables[symbol.name] = _counted(count, state.with_tables(tables), environment)
    types = {symbol.name: symbol for symbol in enlarged.signature.symbols}
    lines: list[str] = []
    sorts: dict[str, str] = {}
    said: list[str] = []
    for line in smt_text(obligation).splitlines():
        if match := _SORT.match(line):
            name, sort = match.groups()
            sorts[sort] = name
            elements = " ".join(f"({name}_{number})" for number in range(state.universe[sort]))
            lines.append(f"(declare-datatypes (({name} 0)) (({elements})))")
            continue
        if match := _SYMBOL.match(line):
            said += _prescribed(match.group(1), types[match.group(3)], tables[match.group(3)], sorts, state)
        if match := _CONSTANT.match(line):
            constant = next(each for each in obligation.constants if each.name == match.group(2))
            said.append(f"(= {match.group(1)} {_element(environment[constant.name], constant.type, sorts)})")
        if match := _ORDER.match(line):
            size = state.universe[next(sort for sort, name in sorts.items() if name == match.group(1))]
            said += [_less(match.group(1), one, other) for one in range(size) for other in range(size)]
        if line == "(check-sat)":
            lines += [f"(assert {each})" for each in said]
        lines.append(line)
    return "\n".join(lines) + "\n"


def _less(sort: str, one: int, other: int) -> str:
    """The elements of an ordered sort are ordered as their numbers."""
    less = f"(lt_{sort} {sort}_{one} {sort}_{other})"
    return less if one < other else f"(not {less})"


def _counted(count: Count, state: Structure, environment: Mapping[str, Any]) -> Table:
    """The count for all values of its free names; it may name constants of the obligation, too."""
    counting = ir.Quantified(
        NAT, "count", tuple(ir.Bound(variable.type, variable.name) for variable in count.counted), count.body
    )
    names = [variable.name for variable in count.free]
    return {
        key: evaluate(counting, state, {**environment, **dict(zip(names, key, strict=True))})
        for key in tuples([variable.type for variable in count.free], state.universe)
    }


def _prescribed(
    name: str, symbol: ir.Symbol, table: Table, sorts: Mapping[str, str], state: Structure
) -> Iterator[str]:
    types = [parameter.type for parameter in symbol.parameters]
    highest = state.universe.get("nat", 0)
    for key in {*tuples(types, state.universe), *table}:
        arguments = [_element(value, type_, sorts) for value, type_ in zip(key, types, strict=True)]
        value = _element(table.get(key, 0), symbol.result, sorts)
        yield f"(= {_applied(name, arguments)} {value})"
        highest = max([highest, *(value + 1 for value, type_ in zip(key, types, strict=True) if type_ == NAT)])
    if NAT in types:
        names = [f"x{number}" for number in range(len(types))]
        bound = " ".join(
            f"({each} {'Int' if type_ == NAT else sorts[str(type_)]})" for each, type_ in zip(names, types, strict=True)
        )
        beyond = " ".join(f"(<= {highest} {each})" for each, type_ in zip(names, types, strict=True) if type_ == NAT)
        nothing = f"(= {_applied(name, names)} {_element(0, symbol.result, sorts)})"
        yield f"(forall ({bound}) (=> (or {beyond}) {nothing}))"


def _applied(name: str, arguments: list[str]) -> str:
    return f"({name} {' '.join(arguments)})" if arguments else name


def _element(value: Any, type_: Type, sorts: Mapping[str, str]) -> str:
    if type_ == BOOL:
        return "true" if value else "false"
    return str(int(value)) if type_ == NAT else f"{sorts[str(type_)]}_{int(value)}"
