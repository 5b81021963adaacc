"""Formulas over a small universe, every quantifier expanded: propositional text that Z3 decides in milliseconds.

SMT solvers find satisfiable queries with quantifiers hard. So every search for a model uses this encoding:
counterexamples, needed assumptions, vacuity, reachable violations.

A relation's cell is the name of a Bool constant (or `true`, `false`); a nat or an element of a sort that is named as
`ordered` is an Int term, for sorts of many elements; an element of another sort is a choice: for each element the
condition under which it is that one. Choices are compared, too: elements are in the order of their numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, product
from operator import eq, le, lt
from typing import NamedTuple, TypeAlias, assert_never

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, NAT, Sort, Type
from thence.proofs.logic.formula import Unsupported, refuse_domains
from thence.proofs.logic.number_window import NUMBERS_BELOW, instances_of_numbers
from thence.proofs.logic.structure import Table, Value, elements, tuples, zero_of

Choice: TypeAlias = Mapping[int, str]
Term: TypeAlias = str | Choice
Cells: TypeAlias = Mapping[tuple[int, ...], Term]
State: TypeAlias = Mapping[str, Cells]
"""For every symbol its cells: unknown constants, or known values."""

_COMPARE: Mapping[str, Callable[[int, int], bool]] = {"=": eq, "<": lt, "<=": le}


class Mark(NamedTuple):
    """How much was said so far. `highest` is what quantifiers over numbers have been expanded to, if to anything."""

    constants: int
    assertions: int
    numbers: int
    highest: int | None


@dataclass(slots=True)
class Grounding:
    """A universe, the constants declared so far and the assertions about them."""

    universe: Mapping[str, int]
    ordered: frozenset[str] = frozenset()
    constants: dict[str, str] = field(default_factory=dict)
    assertions: list[str] = field(default_factory=list)
    _numbers: list[str] = field(default_factory=list)
    _highest: int | None = None

    # --- cells ---------------------------------------------------------------------------------

    def fresh_cells(self, symbol: ir.Symbol) -> dict[tuple[int, ...], Term]:
        """Unknown cells for a symbol, with the constraints that make them values of its type."""
        types = [parameter.type for parameter in symbol.parameters]
        return {
            key: self.fresh_term("!".join([symbol.name, *map(str, key)]), symbol.result)
            for key in tuples(types, self.universe)
        }

    def fresh_term(self, name: str, type_: Type) -> Term:
        if type_ == BOOL:
            self.constants[name] = "Bool"
            return quoted(name)
        if type_ == NAT or self.is_ordered(type_):
            self.constants[name] = "Int"
            self.assertions.append(f"(<= 0 {quoted(name)})")
            if isinstance(type_, Sort):
                self.assertions.append(f"(< {quoted(name)} {self.universe[type_.name]})")
            else:
                self.keep_in_window(quoted(name))
            return quoted(name)
        choice = {value: quoted(f"{name}={value}") for value in elements(type_, self.universe)}
        self.constants.update((f"{name}={value}", "Bool") for value in choice)
        self.assertions.append(any_of(choice.values()))
        self.assertions.extend(
            any_of((negated(choice[a]), negated(choice[b]))) for a in choice for b in choice if a < b
        )
        return choice

    def known_cells(self, symbol: ir.Symbol) -> dict[tuple[int, ...], Term]:
        """Cells that are false or 0 everywhere; of a function into a sort, its first element."""
        types = [parameter.type for parameter in symbol.parameters]
        nothing = self.element(0, symbol.result) if isinstance(symbol.result, Sort) else literal(zero_of(symbol.result))
        return dict.fromkeys(tuples(types, self.universe), nothing)

    def keep_in_window(self, number: str) -> None:
        """If quantifiers range over numbers, now or later, no number is above the window: see NOTE(numbers)."""
        self._numbers.append(number)
        highest = self.universe.get("nat", self._highest)
        if highest is not None:
            self.assertions.append(f"(<= {number} {highest})")

    def _highest_number(self) -> int:
        """No number is above it, from now on. Where no symbol has numbers as arguments, it is below `NUMBERS_BELOW`."""
        if "nat" in self.universe:
            return self.universe["nat"]
        if self._highest is None:
            self._highest = NUMBERS_BELOW - 1
            self.assertions.extend(f"(<= {number} {self._highest})" for number in self._numbers)
        return self._highest

    def is_ordered(self, type_: Type) -> bool:
        return isinstance(type_, Sort) and type_.name in self.ordered

    def named(self, name: str, text: str) -> str:
        """A name for a truth value, so that its text is written once."""
        if text in ("true", "false") or text.startswith("|"):
            return text
        self.constants[name] = "Bool"
        self.assertions.append(f"(= {quoted(name)} {text})")
        return quoted(name)

    def mark(self) -> Mark:
        """How much was said so far."""
        return Mark(len(self.constants), len(self.assertions), len(self._numbers), self._highest)

    def repeat(self, since: Mark, until: Mark, renamed: Callable[[str], str]) -> None:
        """Says once more what was said in between, about other names."""
        again = islice(tuple(self.constants.items()), since.constants, until.constants)
        self.constants.update((renamed(name), sort) for name, sort in again)
        self.assertions.extend(map(renamed, self.assertions[since.assertions : until.assertions]))
        self._numbers.extend(map(renamed, self._numbers[since.numbers : until.numbers]))

    # --- formulas ------------------------------------------------------------------------------

    def formula(self, expr: ir.Expr, state: State, environment: Mapping[str, Term]) -> str:
        """A truth value as text, constants folded. Raises: Unsupported outside the fragment."""
        match expr:
            case ir.Literal_():
                return literal(expr.value)
            case ir.Zero():
                return literal(zero_of(expr.type))
            case ir.Local() | ir.Apply():
                return _text(self.term(expr, state, environment))
            case ir.Not():
                return negated(self.formula(expr.operand, state, environment))
            case ir.Connective():
                return self._connective(expr, state, environment)
            case ir.Comparison():
                return self._comparison(expr, state, environment)
            case ir.Conditional():
                condition, then, otherwise = (
                    self.formula(part, state, environment) for part in (expr.condition, expr.then, expr.otherwise)
                )
                return if_else(condition, then, otherwise)
            case ir.Quantified() if expr.kind != "count":
                refuse_domains(expr)
                instances = (self.formula(expr.body, state, inner) for inner in self._instances(expr, environment))
                return all_of(instances) if expr.kind == "forall" else any_of(instances)
            case _:
                raise Unsupported(f"`{type(expr).__name__}` is not a formula of a theory or machine")

    def _connective(self, expr: ir.Connective, state: State, environment: Mapping[str, Term]) -> str:
        left = self.formula(expr.left, state, environment)
        match expr.operator:
            case "and":
                return "false" if left == "false" else all_of((left, self.formula(expr.right, state, environment)))
            case "or":
                return "true" if left == "true" else any_of((left, self.formula(expr.right, state, environment)))
            case "implies":
                if left == "false":
                    return "true"
                return any_of((negated(left), self.formula(expr.right, state, environment)))
            case "iff":
                return same(left, self.formula(expr.right, state, environment))
            case _ as never:
                assert_never(never)

    def _comparison(self, expr: ir.Comparison, state: State, environment: Mapping[str, Term]) -> str:
        if expr.left.type == BOOL:
            return same(self.formula(expr.left, state, environment), self.formula(expr.right, state, environment))
        left, right = self.term(expr.left, state, environment), self.term(expr.right, state, environment)
        if isinstance(left, str) or isinstance(right, str):
            return _compared(expr.operator, _text(left), _text(right))
        is_so = _COMPARE[expr.operator]
        pairs = ((one, other) for one in left for other in right if is_so(one, other))
        return any_of(all_of((left[one], right[other])) for one, other in pairs)

    def _instances(self, expr: ir.Quantified, environment: Mapping[str, Term]) -> Iterable[dict[str, Term]]:
        names = [variable.name for variable in expr.variables]
        types = [variable.type for variable in expr.variables]
        universe = self.universe
        if NAT in types:
            if expr.kind == "count":
                raise Unsupported("`count` over all numbers")
            known = (int(term) for term in environment.values() if isinstance(term, str) and term.isdigit())
            universe = {**universe, "nat": len(instances_of_numbers(expr, max([self._highest_number(), *known])))}
        for values in tuples(types, universe):
            terms = (self.element(value, type_) for value, type_ in zip(values, types, strict=True))
            yield {**environment, **dict(zip(names, terms, strict=True))}

    def element(self, value: int, type_: Type) -> Term:
        """A known element, as a term."""
        return str(value) if type_ == NAT or self.is_ordered(type_) else {value: "true"}

    def term(self, expr: ir.Expr, state: State, environment: Mapping[str, Term]) -> Term:
        """A term of any type. Raises: Unsupported outside the fragment."""
        match expr:
            case ir.Local():
                return environment[expr.name]
            case ir.Apply():
                return self._application(expr, state, environment)
            case ir.Literal_() if isinstance(expr.type, Sort):  # element 0, for numbers beyond the window
                return self.element(expr.value, expr.type)
            case ir.Literal_():
                return literal(expr.value)
            case ir.Zero():
                return literal(zero_of(expr.type))
            case ir.Arithmetic():
                left = _text(self.term(expr.left, state, environment))
                right = _text(self.term(expr.right, state, environment))
                if expr.operator == "+" and left.isdigit() and right.isdigit():
                    return str(int(left) + int(right))
                if expr.operator in ("+", "-"):
                    return f"({expr.operator} {left} {right})"
                larger, smaller = (left, right) if expr.operator == "max" else (right, left)
                return f"(ite (<= {right} {left}) {larger} {smaller})"
            case ir.Conditional() if expr.type != BOOL:
                condition = self.formula(expr.condition, state, environment)
                then, otherwise = (self.term(part, state, environment) for part in (expr.then, expr.otherwise))
                return choose(condition, then, otherwise)
            case ir.Quantified() if expr.kind == "count":
                refuse_domains(expr)
                bodies = (self.formula(expr.body, state, inner) for inner in self._instances(expr, environment))
                return f"(+ 0 {' '.join(f'(ite {body} 1 0)' for body in bodies)})"
            case _:
                return self.formula(expr, state, environment)

    def _application(self, expr: ir.Apply, state: State, environment: Mapping[str, Term]) -> Term:
        """The value of a symbol. What says which element or number an argument is has a name where it is longer, so
        that it is there once: `(let ((?0 (+ k 1))) ...)`. So terms inside one another stay short."""
        terms = [self.term(argument, state, environment) for argument in expr.arguments]
        known = tuple(value for term in terms if (value := _known_element(term)) is not None)
        if len(known) == len(terms):
            cell = state[expr.symbol].get(known)
            if cell is not None:  # else a number beyond the table
                return cell
        longer: dict[str, str] = {}

        def short(name: str, text: str) -> str:
            if not text.startswith("("):
                return text
            longer[name] = text
            return name

        choices: list[Choice] = []
        for place, (argument, term) in enumerate(zip(expr.arguments, terms, strict=True)):
            if isinstance(term, str):
                choices.append(self._choice(short(f"?{place}", term), argument.type))
            else:
                named = {value: short(f"?{place}_{value}", when) for value, when in term.items()}
                choices.append(self._choice(named, argument.type))
        found = self._cell(expr, state[expr.symbol], choices)
        if isinstance(found, str):
            return _with_names(longer, found)
        return {value: _with_names(longer, when) for value, when in found.items()}

    def _cell(self, expr: ir.Apply, cells: Cells, choices: Sequence[Choice]) -> Term:
        """The cell that the arguments choose."""
        if all(_known_element(choice) is not None for choice in choices):
            return cells[tuple(value for choice in choices for value in choice)]
        cases = [
            (all_of(choice[value] for choice, value in zip(choices, key, strict=True)), cells[key])
            for key in product(*choices)
        ]
        cases = [(condition, cell) for condition, cell in cases if condition != "false"]
        if expr.type == BOOL:
            return any_of(all_of((condition, _text(cell))) for condition, cell in cases)
        if any(argument.type == NAT for argument in expr.arguments):
            beyond: Term = "0" if expr.type == NAT or self.is_ordered(expr.type) else {0: "true"}
            outside = negated(any_of(condition for condition, _ in cases))
            if outside != "false":
                cases = [*cases, (outside, beyond)]
        result = cases[-1][1]
        if all(isinstance(cell, str) for _, cell in cases):
            for condition, cell in reversed(cases[:-1]):
                result = choose(condition, cell, result)
            return result
        merged: dict[int, list[str]] = {}
        for condition, cell in cases:
            assert not isinstance(cell, str)
            for value, when in cell.items():
                merged.setdefault(value, []).append(all_of((condition, when)))
        return {value: any_of(conditions) for value, conditions in merged.items()}

    def _choice(self, term: Term, type_: Type) -> Choice:
        """A term as a choice of elements, to index cells with."""
        if not isinstance(term, str):
            return {value: when for value, when in term.items() if when != "false"}
        if not self.is_ordered(type_) and type_ != NAT:
            raise Unsupported(f"a relation over `{type_}` has no finite table")
        if term.isdigit():
            return {int(term): "true"} if int(term) in elements(type_, self.universe) else {}
        return {value: f"(= {term} {value})" for value in elements(type_, self.universe)}

    # --- inductive relations -------------------------------------------------------------------

    def least_fixpoint(self, together: Sequence[ir.Inductive], state: State) -> dict[str, Cells]:
        """Cells of the least relations closed under the rules of all: the iteration from empty relations, unrolled, and
        asserted to have settled. For a single relation it settles within the unrolling whenever its rules end in
        transitivity."""
        relations: dict[str, Cells] = {}
        for inductive in together:
            types = [parameter.type for parameter in inductive.parameters]
            relations[inductive.name] = dict.fromkeys(tuples(types, self.universe), "false")
        rounds = len(together) * (2 + max(1, *map(len, relations.values())).bit_length())
        for number in range(rounds):
            current = {**state, **relations}
            relations = {each.name: self._derived(each, current, number) for each in together}
        self.assertions.append(
            all_of(
                same(_text(current[name][key]), _text(cells[key])) for name, cells in relations.items() for key in cells
            )
        )
        return relations

    def _derived(self, inductive: ir.Inductive, current: State, number: int) -> Cells:
        """What the rules derive from the current relations, in names for this round."""
        cells: dict[tuple[int, ...], Term] = {}
        for key in current[inductive.name]:
            given = {each.name: self.element(v, each.type) for each, v in zip(inductive.parameters, key, strict=True)}
            derived = any_of(self.formula(rule.body, current, given) for rule in inductive.rules)
            cells[key] = self.named("!".join([f"{inductive.name}~{number}", *map(str, key)]), derived)
        return cells

    # --- models --------------------------------------------------------------------------------

    def table(self, cells: Cells, values: Mapping[str, Value]) -> Table:
        """The table of a symbol in a model."""
        return {key: _read(term, values) for key, term in cells.items()}


def quoted(name: str) -> str:
    return f"|{name}|"


def literal(value: int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _with_names(named: Mapping[str, str], text: str) -> str:
    """The text with a name for each text that it mentions by this name."""
    used = " ".join(f"({name} {term})" for name, term in named.items() if name in text)
    return f"(let ({used}) {text})" if used else text


def negated(text: str) -> str:
    if text in ("true", "false"):
        return "false" if text == "true" else "true"
    return f"(not {text})"


def all_of(parts: Iterable[str]) -> str:
    """Whether all parts are true. Nothing after a false one is asked for."""
    return _joined(parts, "and", "true", "false")


def any_of(parts: Iterable[str]) -> str:
    """Whether some part is true. Nothing after a true one is asked for."""
    return _joined(parts, "or", "false", "true")


def _joined(parts: Iterable[str], operator: str, neutral: str, decided: str) -> str:
    kept: dict[str, None] = {}
    for part in parts:
        if part == decided:
            return decided
        if part != neutral:
            kept[part] = None
    if len(kept) < 2:
        return next(iter(kept), neutral)
    return f"({operator} {' '.join(kept)})"


def _known_element(term: Term) -> int | None:
    """The one element or number that a term is, whatever is true; None where that depends."""
    if isinstance(term, str):
        return int(term) if term.isdigit() else None
    if len(term) != 1:
        return None
    ((value, when),) = term.items()
    return value if when == "true" else None


def same(left: str, right: str) -> str:
    if left == right:
        return "true"
    if left in ("true", "false"):
        left, right = right, left
    if right in ("true", "false"):
        return left if right == "true" else negated(left)
    return f"(= {left} {right})"


def if_else(condition: str, then: str, otherwise: str) -> str:
    """A choice between truth values."""
    if condition in ("true", "false"):
        return then if condition == "true" else otherwise
    return then if then == otherwise else f"(ite {condition} {then} {otherwise})"


def choose(condition: str, then: Term, otherwise: Term) -> Term:
    """A choice between terms of one type."""
    if condition in ("true", "false"):
        return then if condition == "true" else otherwise
    if isinstance(then, str) or isinstance(otherwise, str):
        return if_else(condition, _text(then), _text(otherwise))
    return {
        value: if_else(condition, then.get(value, "false"), otherwise.get(value, "false"))
        for value in sorted({*then, *otherwise})
    }


def _text(term: Term) -> str:
    assert isinstance(term, str), "a truth value or number was expected"
    return term


def _compared(operator: str, left: str, right: str) -> str:
    if left.isdigit() and right.isdigit():
        return literal(_COMPARE[operator](int(left), int(right)))
    return f"({operator} {left} {right})"


def _read(term: Term, values: Mapping[str, Value]) -> Value:
    if isinstance(term, str):
        if term in ("true", "false"):
            return term == "true"
        return values[term.strip("|")] if term.startswith("|") else int(term)
    chosen = [value for value, when in term.items() if _read(when, values)]
    assert len(chosen) == 1, "a choice has exactly one value"
    return chosen[0]
