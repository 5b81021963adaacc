"""Clauses that are true in every sample: short ones by enumeration, others as the denial of a state.

NOTE(rows): for one assignment to the variables of a template, the truth values of its atoms are the bits of a number,
a row. What the samples show of a template is its set of rows. A clause is true in all samples if every row has one of
its literals; for each literal the rows that have it are again the bits of a number, so this is one `or` for each.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import combinations, permutations, product
from math import log2
from typing import Any, TypeAlias

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, Type
from thence.proofs.infer.orders import as_premise, compares_variables, is_ordered
from thence.proofs.infer.reasons import closed_to, denied, parts
from thence.proofs.infer.vocabulary import Template, cost, nameless, variables_of
from thence.proofs.logic.compiled import Compiled, compiled_row
from thence.proofs.logic.formula import (
    FALSE,
    TRUE,
    conj,
    disj,
    equal,
    forall,
    free_locals,
    fresh_name,
    implies,
    local,
    names_apart,
    negation,
    operands,
    outer_foralls,
    substitute,
)
from thence.proofs.logic.structure import Structure
from thence.proofs.machine.steps.statements import split
from thence.proofs.machine.transitions import Action, actions

DOUBT = 4.0
"""Weight of each halving of the rows that speak for a clause, below 32."""

ATTEMPTS = 8
"""Number of times that a smaller denial of one row is looked for, in random orders."""

DETERMINED_OVER = 5
"""Limit on the variables of the clause that some arguments of a relation determine another one."""

EXCLUDING_OVER = (4, 5)
"""The clauses that two relations exclude each other have so many variables, at least and at most."""

EXCLUDING = 120
"""Limit on these clauses."""

SEEN_OVER = 7
"""Limit on the variables of a clause about what a transition has seen and closed."""


def _placed(atom: ir.Expr) -> set[str]:
    """The variables that are arguments somewhere, or compared with something that is no variable."""
    found: set[str] = set()
    for part in parts(atom):
        match part:
            case ir.Apply():
                places = part.arguments
            case ir.Comparison() if not (isinstance(part.left, ir.Local) and isinstance(part.right, ir.Local)):
                places = (part.left, part.right)
            case _:
                continue
        found |= {each.name for each in places if isinstance(each, ir.Local)}
    return found


@dataclass(frozen=True, slots=True)
class Clause:
    """A disjunction of literals, for all different values of the variables.

    Attributes:
        apart: whether variables of one sort must be different; if not, it is for all values.
        literals: atoms, each with whether it is affirmed; in one order, so that equal clauses are the same.
    """

    variables: tuple[ir.Variable, ...]
    literals: tuple[tuple[ir.Expr, bool], ...]
    apart: bool = True

    @property
    def weight(self) -> int:
        """How much there is to read."""
        return 3 * len(self.literals) + sum(cost(atom) for atom, _ in self.literals) + len(self.variables)

    @property
    def connected(self) -> bool:
        """Whether its variables belong together: each atom shares one with another, directly or by others.

        Some of them are used otherwise than in comparisons: nothing else says of which type they are. A number that is
        only compared says nothing, since there is always a larger one.
        """
        return len(self._groups) <= 1 and self._says_of_which_type

    @property
    def connected_by_difference(self) -> bool:
        """The same, where variables of one sort belong together since they are different ones."""
        sorts = [{each.type for each in self.variables if each.name in group} for group in self._groups]
        together = self.apart and all(sort & other - {NAT} for sort in sorts for other in sorts)
        return (len(sorts) <= 1 or together) and self._says_of_which_type

    @property
    def _groups(self) -> list[set[str]]:
        """The variables that atoms share, directly or by others."""
        groups: list[set[str]] = []
        for own in (set(free_locals(atom)) for atom, _ in self.literals):
            if own:
                apart = [group for group in groups if not group & own]
                groups = [*apart, own.union(*(group for group in groups if group & own))]
        return groups

    @property
    def _says_of_which_type(self) -> bool:
        used = set[str]().union(*(free_locals(atom).keys() & _placed(atom) for atom, _ in self.literals))
        numbers = {variable.name for variable in self.variables if variable.type == NAT}
        return all(group & used and group & numbers <= used for group in self._groups)

    @property
    def formula(self) -> ir.Expr:
        """The clause as an implication: what is denied, then what is affirmed."""
        premises = [atom for atom, affirmed in self.literals if not affirmed]
        conclusions = [atom for atom, affirmed in self.literals if affirmed]
        compared = [set(free_locals(atom)) for atom in premises if compares_variables(atom)]
        premises += [
            negation(equal(local(one), local(other)))
            for at, one in enumerate(self.variables)
            for other in self.variables[at + 1 :]
            if self.apart and one.type == other.type and {one.name, other.name} not in compared
        ]
        body = implies(conj(premises), disj(conclusions)) if conclusions else negation(conj(premises))
        return names_apart(forall(self.variables, body))


@dataclass(frozen=True, slots=True)
class Denial:
    """A clause that is false in some state, and in no sample.

    `speaking`: in so many situations of the samples the clause is true by one literal only; for the literal of which
    this is least. `weight` is that of the clause. `doubt` is the weight, and more where few situations speak for the
    clause.
    """

    clause: Clause
    speaking: int
    weight: int

    @property
    def doubt(self) -> float:
        return self.weight + DOUBT * max(0.0, 5 - log2(self.speaking))


def clause_of(template: Template, literals: Iterable[tuple[ir.Expr, bool]]) -> Clause:
    """The clause under the names that come first of all that its variables could have."""
    chosen = list(literals)
    used: dict[str, None] = {}
    for atom, _ in chosen:
        used.update(dict.fromkeys(free_locals(atom)))
    variables = [each for each in template.variables if each.name in used]
    by_sort: dict[str, list[ir.Variable]] = {}
    for each in template.variables:
        by_sort.setdefault(str(each.type), []).append(each)
    groups = [[each for each in variables if str(each.type) == sort] for sort in by_sort]
    best: tuple[str, tuple[tuple[ir.Expr, bool], ...], tuple[ir.Variable, ...]] | None = None
    for orders in product(*(permutations(group) for group in groups)):
        renamed: dict[str, ir.Expr] = {}
        named: list[ir.Variable] = []
        for all_of_sort, order in zip(by_sort.values(), orders, strict=True):
            for old, new in zip(order, all_of_sort, strict=False):
                renamed[old.name] = local(new)
                named.append(new)
        changed = [as_premise(_ordered(substitute(atom, renamed)), affirmed) for atom, affirmed in chosen]
        changed.sort(key=lambda each: (each[1], _sort_key(each[0])))
        key = repr([(_sort_key(atom), affirmed) for atom, affirmed in changed])
        if best is None or key < best[0]:
            best = (key, tuple(changed), tuple(named))
    assert best is not None
    return Clause(best[2], best[1])


def clause_from(formula: ir.Expr) -> Clause:
    """The clause that says what a closed formula says, under its names: an implication is taken apart."""
    variables, body = outer_foralls(formula)
    denied: tuple[ir.Expr, ...] = ()
    if isinstance(body, ir.Connective) and body.operator == "implies":
        denied, body = operands(body.left, "and"), body.right
    elif isinstance(body, ir.Not):
        return Clause(variables, tuple((each, False) for each in operands(body.operand, "and")), apart=False)
    literals = (*((each, False) for each in denied), *((each, True) for each in operands(body, "or")))
    return Clause(variables, literals, apart=False)


def determined(symbols: Iterable[ir.Symbol], taken: Collection[str]) -> Iterator[Clause]:
    """That some arguments of a relation determine another one, `R(x, y) and R(x, z) implies y = z`, for all values of
    the variables; the fewest variables first. `taken` are names that no variable gets.

    Different messages are not spoken of: samples have so few that a relation seldom has two of them.
    """
    found: list[Clause] = []
    for symbol in symbols:
        sorts = [parameter.type for parameter in symbol.parameters]
        for last, fixed in product(range(len(sorts)), product((True, False), repeat=len(sorts))):
            free = [at for at, is_fixed in enumerate(fixed) if not is_fixed]
            few = len(sorts) + len(free) <= DETERMINED_OVER and MESSAGE not in [sorts[at] for at in free]
            if symbol.result == BOOL and last in free and few:
                variables = variables_of([*sorts, *(sorts[at] for at in free)], taken)
                one = [local(variable) for variable in variables[: len(sorts)]]
                other = list(one)
                for at, variable in zip(free, variables[len(sorts) :], strict=True):
                    other[at] = local(variable)
                both = [(ir.Apply(BOOL, symbol.name, tuple(each)), False) for each in (one, other)]
                found.append(Clause(variables, (*both, (equal(one[last], other[last]), True)), apart=False))
    return iter(sorted(found, key=lambda clause: len(clause.variables)))


def excluding(symbols: Iterable[ir.Symbol], taken: Collection[str]) -> Iterator[Clause]:
    """That two relations exclude each other where they have some arguments in common, `not (R(x, y) and S(x, z))`, for
    all values of the variables; those with the most variables, which say most, first.

    Only those with more variables than templates have at first. Messages are not spoken of, as in `determined`.
    """
    relations = [each for each in symbols if each.result == BOOL and MESSAGE not in _sorts(each)]
    found: dict[Clause, None] = {}
    for one, other in combinations(relations, 2):
        for matched in _matchings(_sorts(one), _sorts(other)):
            own = [sort for at, sort in enumerate(_sorts(other)) if at not in matched]
            if EXCLUDING_OVER[0] <= len(one.parameters) + len(own) <= EXCLUDING_OVER[1]:
                variables = variables_of([*_sorts(one), *own], taken)
                rest = iter(variables[len(one.parameters) :])
                first = tuple(local(each) for each in variables[: len(one.parameters)])
                second = tuple(
                    first[matched[at]] if at in matched else local(next(rest)) for at in range(len(other.parameters))
                )
                literals = ((ir.Apply(BOOL, one.name, first), False), (ir.Apply(BOOL, other.name, second), False))
                found[Clause(variables, literals, apart=False)] = None
    return iter(sorted(found, key=lambda clause: -len(clause.variables))[:EXCLUDING])


def including(symbols: Iterable[ir.Symbol], ordered: Collection[str], taken: Collection[str]) -> Iterator[Clause]:
    """That a relation with many arguments is true only of those of which another one is, `R(w, x, y, z) implies
    S(x, z)`, or which are in an order, for all values of the variables.

    Only those with more variables than templates have at first. Messages are not spoken of, as in `determined`.
    """
    relations = [each for each in symbols if each.result == BOOL and MESSAGE not in _sorts(each)]
    found: dict[Clause, None] = {}
    for one in relations:
        if EXCLUDING_OVER[0] <= len(one.parameters) <= EXCLUDING_OVER[1]:
            variables = variables_of(_sorts(one), taken)
            arguments = tuple(local(each) for each in variables)
            premise = (ir.Apply(BOOL, one.name, arguments), False)
            said: list[ir.Expr] = [
                ir.Apply(BOOL, other.name, tuple(arguments[matched[at]] for at in range(len(matched))))
                for other in sorted(relations, key=lambda each: -len(each.parameters))
                if other.parameters and other is not one
                for matched in _matchings(_sorts(one), _sorts(other))
                if len(matched) == len(other.parameters)
            ]
            said += [
                ir.Comparison(BOOL, "<", low, high)
                for low, high in permutations(arguments, 2)
                if low.type == high.type and is_ordered(low.type, ordered)
            ]
            found.update((Clause(variables, (premise, (each, True)), apart=False), None) for each in said)
    return iter(list(found)[:EXCLUDING])


def spreading(machine: ir.Machine) -> Iterator[Clause]:
    """That what is true of one element is true of all that are related to it, or something else is, `R(x, y) and P(y)
    implies Q(x)`, for a relation that is given: of all nodes below one that has reported.

    Where the relation has no end, as the order of a tree, steps from one node to the next say it of small trees only.
    """
    changed = set[str]().union(*(action.changed for action in actions(machine)))
    facts = [
        each for each in machine.symbols if each.result == BOOL and each.name in changed and len(each.parameters) == 1
    ]
    for relation in machine.symbols:
        sorts = _sorts(relation)
        if relation.result != BOOL or relation.name in changed or len(sorts) != 2 or sorts[0] != sorts[1]:
            continue
        variables = variables_of(sorts, [each.name for each in machine.symbols])
        related = ir.Apply(BOOL, relation.name, tuple(local(each) for each in variables))
        for one, other in product([each for each in facts if _sorts(each) == sorts[:1]], repeat=2):
            for known, said in permutations(variables):
                literals = (related, False), (_of(one, known), False), (_of(other, said), True)
                yield Clause(variables, literals, apart=False)


def _of(relation: ir.Symbol, variable: ir.Variable) -> ir.Apply:
    return ir.Apply(BOOL, relation.name, (local(variable),))


def seen(machine: ir.Machine) -> Iterator[Clause]:
    """That what a transition sees, and closes at the same moment, stays so; for all values of the variables.

    A node that reports its latest vote, `forall d, w. voted(n, d, w) implies d <= c`, takes part in no earlier ballot
    any more, `forall d: left(n, d) := left(n, d) or d < b`. So it has no later vote before b, now or ever:
    `reported(n, b, c, v) and voted(n, d, w) and d < b implies d <= c`.

    Messages and numbers are not spoken of: samples have few of them.
    """
    found: dict[Clause, None] = {}
    for action in actions(machine):
        marks = [update for update in action.updates if update.value == TRUE and not update.binders]
        for bound, facts in _absent(action):
            for fact in facts:
                for values, closing in _closings(action, bound, fact, machine):
                    for mark in marks:
                        said = [substitute(each, values) for each in (*facts, *closing)]
                        found.update(dict.fromkeys(_clauses(ir.Apply(BOOL, mark.symbol, mark.arguments), said)))
    return iter(found)


def _clauses(mark: ir.Expr, said: Iterable[ir.Expr]) -> Iterator[Clause]:
    """That these facts are not all true of what is marked."""
    literals = [(mark, False)]
    for each in said:
        literals.append((each.operand, True) if isinstance(each, ir.Not) else (each, False))
    free = {name: type_ for literal, _ in literals for name, type_ in free_locals(literal).items()}
    if len(free) <= SEEN_OVER and not {MESSAGE, NAT} & set(free.values()):
        variables = tuple(ir.Variable(name, type_) for name, type_ in free.items())
        yield Clause(variables, tuple(dict.fromkeys(literals)), apart=False)


def _absent(action: Action) -> Iterator[tuple[tuple[str, ...], tuple[ir.Expr, ...]]]:
    """Facts that were not true together of any values of some names, as a guard says; under names of their own."""
    own = {parameter.name for parameter in action.parameters}
    for guard in action.guards:
        for part in split(guard.body):
            if isinstance(part, ir.Quantified) and part.kind == "forall":
                taken = {*own, *free_locals(part.body)}
                renamed: dict[str, ir.Expr] = {}
                for each in part.variables:
                    name = fresh_name(each.name, taken) if each.name in own else each.name
                    taken.add(name)
                    renamed[each.name] = ir.Local(each.type, name)
                body = substitute(part.body, renamed)
                yield tuple(free_locals(body).keys() - own), operands(denied(body), "and")


def _closings(
    action: Action, bound: Iterable[str], fact: ir.Expr, machine: ir.Machine
) -> Iterator[tuple[Mapping[str, ir.Expr], tuple[ir.Expr, ...]]]:
    """For what values of the names a transition makes sure that the fact becomes true no more, and where else."""
    if not isinstance(fact, ir.Apply) or fact.type != BOOL:
        return
    for lock in closed_to(fact, machine):
        for update in action.updates:
            if isinstance(lock, ir.Comparison):
                itself = ir.Apply(update.value.type, update.symbol, update.arguments)
                if not update.binders and itself in (lock.left, lock.right):
                    left, right = (update.value if side == itself else side for side in (lock.left, lock.right))
                    yield {}, (replace(lock, left=left, right=right),)
            elif isinstance(lock, ir.Apply) and update.symbol == lock.symbol:
                values = _matched(update, lock, set(bound))
                for also in operands(update.value, "or") if values is not None else ():
                    assert values is not None
                    itself = ir.Apply(BOOL, update.symbol, update.arguments)
                    if also not in (itself, FALSE):
                        where = () if also == TRUE else (substitute(also, values),)
                        yield {name: value for name, value in values.items() if name in bound}, where


def _matched(update: ir.Update, lock: ir.Apply, bound: set[str]) -> dict[str, ir.Expr] | None:
    """Values of the binders of the update, and of the bound names, for which it is about the lock."""
    binders = {binder.name for binder in update.binders}
    values: dict[str, ir.Expr] = {}
    for own, other in zip(update.arguments, lock.arguments, strict=True):
        if isinstance(own, ir.Local) and own.name in binders:
            if values.setdefault(own.name, other) != other:
                return None
        elif isinstance(other, ir.Local) and other.name in bound:
            if values.setdefault(other.name, own) != own:
                return None
        elif own != other:
            return None
    return values


def _sorts(symbol: ir.Symbol) -> list[Type]:
    return [parameter.type for parameter in symbol.parameters]


def _matchings(one: Sequence[Type], other: Sequence[Type]) -> Iterator[dict[int, int]]:
    """The places of the second that have an argument in common with the first, each with its place there; some have."""
    choices = [[None, *(place for place, sort in enumerate(one) if sort == own)] for own in other]
    for chosen in product(*choices):
        matched = {at: place for at, place in enumerate(chosen) if place is not None}
        if matched and len(set(matched.values())) == len(matched):
            yield matched


def generalized(clause: Clause, taken: Collection[str]) -> Iterator[Clause]:
    """Clauses that say more: with a new variable for one of two equal arguments in a premise, for all values of the
    variables or for different ones of the old; and the clause for all values. `taken` are names that no variable gets.

    There are none of a clause about messages: runs have so few of these that none may make it false.
    """
    if any(each.type == MESSAGE for each in clause.variables):
        return
    unequal = [
        (equal(local(one), local(other)), True)
        for at, one in enumerate(clause.variables)
        for other in clause.variables[at + 1 :]
        if clause.apart and one.type == other.type
    ]
    for number, (atom, affirmed) in enumerate(clause.literals):
        if affirmed or not isinstance(atom, ir.Apply):
            continue
        for at, argument in enumerate(atom.arguments):
            if isinstance(argument, ir.Local) and atom.arguments.count(argument) > 1:
                alike = [argument.type for each in clause.variables if each.type == argument.type]
                new = variables_of([*alike, argument.type], taken)[-1]
                arguments = (*atom.arguments[:at], local(new), *atom.arguments[at + 1 :])
                literals = list(clause.literals)
                literals[number] = (replace(atom, arguments=arguments), False)
                yield Clause((*clause.variables, new), tuple(literals), apart=False)
                if unequal:
                    yield Clause((*clause.variables, new), (*literals, *unequal), apart=False)
    if unequal:
        yield replace(clause, apart=False)


def of_what_is_possible(clause: Clause, instead: Iterable[tuple[ir.Expr, ir.Expr]]) -> Iterator[Clause]:
    """The clauses that say it of what can still be, instead of what is. `instead` has formulas that say that something
    is, each with one that says that it can be no more."""
    for number, (atom, affirmed) in enumerate(clause.literals):
        for said, lost in () if affirmed else instead:
            if nameless(atom) == nameless(said):
                pairs = zip(free_locals(said), free_locals(atom).items(), strict=True)
                names = {old: ir.Local(type_, new) for old, (new, type_) in pairs}
                if free_locals(lost).keys() <= names.keys():
                    literals = (
                        *clause.literals[:number],
                        *clause.literals[number + 1 :],
                        (substitute(lost, names), True),
                    )
                    used = {name for each, _ in literals for name in free_locals(each)}
                    variables = tuple(each for each in clause.variables if each.name in used)
                    yield replace(clause, variables=variables, literals=literals)


def linked(clause: Clause) -> Iterator[Clause]:
    """The clauses that say more: an affirmed `exists y. ...` about a message y later than one of the variables."""
    for number, (atom, affirmed) in enumerate(clause.literals):
        some = _some(atom, affirmed)
        if some is None:
            continue
        bound, body = some
        for variable in clause.variables:
            link = ir.Apply(BOOL, "before", (local(variable), ir.Local(bound.type, bound.name)))
            free = free_locals(atom)
            if (
                variable.type == MESSAGE
                and variable.name not in (bound.name, *free)
                and link not in operands(body, "and")
            ):
                more = ir.Quantified(BOOL, "exists", (bound,), conj((body, link)))
                literals = (*clause.literals[:number], *clause.literals[number + 1 :], (more, True))
                yield replace(clause, literals=literals)


def _some(atom: ir.Expr, affirmed: bool) -> tuple[ir.Bound, ir.Expr] | None:
    """The message y and the P of a literal that says `exists y. P(y)`, perhaps as the denial of a `forall`."""
    if not isinstance(atom, ir.Quantified) or len(atom.variables) != 1 or atom.variables[0].type != MESSAGE:
        return None
    (bound,) = atom.variables
    if affirmed and atom.kind == "exists":
        return bound, atom.body
    if affirmed or atom.kind != "forall":
        return None
    return bound, denied(atom.body)


def _ordered(atom: ir.Expr) -> ir.Expr:
    """An equality with its sides in one order."""
    if isinstance(atom, ir.Comparison) and atom.operator == "=" and _sort_key(atom.right) < _sort_key(atom.left):
        return equal(atom.right, atom.left)
    return atom


def _sort_key(expr: ir.Expr) -> str:
    return repr(expr)


Shared: TypeAlias = dict[str, Any]
"""What rows of one state share: see `compiled_row`."""


@dataclass(slots=True)
class Rows:
    """What samples show of a template. `false_in(j)` has a bit for each row in which atom j is false."""

    template: Template
    function: Compiled
    known: set[int] = field(default_factory=set)
    seen: int = 0
    columns: list[int] = field(default_factory=list)
    full: int = 0
    _costs: list[int] = field(default_factory=list)
    _made: dict[tuple[tuple[int, bool], ...], tuple[Clause, int]] = field(default_factory=dict)

    def shown_in(self, state: Structure, shared: Shared) -> set[int]:
        """The rows of a state."""
        return {row for _, row in self.function(state.universe, state.tables, shared)}

    def learn(self, shown: Set[int]) -> None:
        """Adds rows of states."""
        new = shown - self.known
        if not self.columns:
            self.columns = [0] * len(self.template.atoms)
            self._costs = [cost(atom) for atom in self.template.atoms]
        if new:
            self._append(sorted(new))

    def _append(self, rows: Sequence[int]) -> None:
        """Rows become bits of the columns."""
        width, first = len(self.columns), len(self.known)
        digits = [format(row, f"0{width}b") for row in reversed(rows)]
        for at in range(width):
            self.columns[at] |= int("".join(digit[width - 1 - at] for digit in digits), 2) << first
        self.known.update(rows)
        self.full = (1 << len(self.known)) - 1

    def short_clauses(self) -> Iterator[Clause]:
        """The clauses of one and two literals that are true in all samples and do not say less than another one."""
        atoms = self.template.atoms
        varying: list[tuple[int, bool, int]] = []
        for at, column in enumerate(self.columns):
            if column in (self.full, 0):
                yield clause_of(self.template, [(atoms[at], column == self.full)])
            else:
                varying += [(at, True, column), (at, False, self.full ^ column)]
        for number, (at, affirmed, column) in enumerate(varying):
            for other, also, second in varying[:number]:
                if at != other and column | second == self.full:
                    yield clause_of(self.template, [(atoms[at], affirmed), (atoms[other], also)])

    def denials(
        self, state: Structure, chance: random.Random, check: Callable[[], None], shared: Shared
    ) -> Iterator[Denial]:
        """Clauses that are true in all samples and false in the state, as short as a few attempts find them.

        `check` is called for each attempt, and may raise.
        """
        for row in dict.fromkeys(row for _, row in self.function(state.universe, state.tables, shared)):
            if row not in self.known:
                yield from self._denials_of(row, chance, check)

    def _denials_of(self, row: int, chance: random.Random, check: Callable[[], None]) -> Iterator[Denial]:
        agreeing = [column if row >> at & 1 else self.full ^ column for at, column in enumerate(self.columns)]
        found: set[tuple[int, ...]] = set()
        for attempt in range(ATTEMPTS):
            check()
            chosen = self._cover(agreeing, chance, attempt)
            if chosen is not None and chosen not in found:
                found.add(chosen)
                clause, weight = self._clause(tuple((at, not row >> at & 1) for at in chosen))
                yield Denial(clause, self._support(agreeing, chosen), weight)

    def _clause(self, literals: tuple[tuple[int, bool], ...]) -> tuple[Clause, int]:
        """The clause of these atoms, each affirmed or not, and its weight: many rows have the same."""
        if literals not in self._made:
            atoms = self.template.atoms
            clause = clause_of(self.template, [(atoms[at], affirmed) for at, affirmed in literals])
            self._made[literals] = clause, clause.weight
        return self._made[literals]

    def _support(self, agreeing: Sequence[int], chosen: Sequence[int]) -> int:
        """The number of rows that only one of the literals makes true, for the literal of which it is smallest."""
        counts: list[int] = []
        for at in chosen:
            rest = self.full
            for other in chosen:
                if other != at:
                    rest &= agreeing[other]
            counts.append(rest.bit_count())
        return min(counts)

    def _cover(self, agreeing: Sequence[int], chance: random.Random, attempt: int) -> tuple[int, ...] | None:
        """Atoms on all of which no sample agrees with the row; none of them can be left out."""
        left, chosen = self.full, list[int]()
        order = list(range(len(agreeing)))
        chance.shuffle(order)
        while left:
            noise = (1.0, 1.5)[attempt % 2]
            best = min(
                order,
                key=lambda at: (
                    (left & agreeing[at]).bit_count() * (1.0 if attempt == 0 else chance.uniform(1.0, noise + attempt)),
                    self._costs[at],
                ),
            )
            if left & agreeing[best] == left:
                return None
            left &= agreeing[best]
            chosen.append(best)
        for at in sorted(chosen, key=lambda each: -self._costs[each]):
            rest = self.full
            for other in chosen:
                if other != at:
                    rest &= agreeing[other]
            if not rest:
                chosen.remove(at)
        return tuple(sorted(chosen))


def rows_of(template: Template) -> Rows:
    """No rows yet. Raises: Unsupported."""
    return Rows(template, compiled_row(template.atoms, template.variables))
