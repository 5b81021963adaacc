"""What a clause is, how it is read from a formula, and which clauses say a little more."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import permutations, product

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE, NAT
from thence.proofs.infer.candidates.orders import as_premise, compares_variables
from thence.proofs.infer.candidates.reasons import denied, parts
from thence.proofs.infer.candidates.vocabulary import Template, cost, nameless, variables_of
from thence.proofs.logic.formula import (
    conj,
    disj,
    equal,
    forall,
    free_locals,
    implies,
    local,
    names_apart,
    negation,
    operands,
    outer_foralls,
    substitute,
)


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
