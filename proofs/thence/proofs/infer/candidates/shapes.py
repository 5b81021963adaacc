"""Clauses that have a shape of their own: what determines, excludes or includes what; what spreads, or is closed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, permutations, product

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, Type
from thence.proofs.infer.candidates.clauses import Clause
from thence.proofs.infer.candidates.orders import is_ordered
from thence.proofs.infer.candidates.reasons import (
    added,
    closed_to,
    denied,
    lost_where,
    only_grows,
    settled,
    sources,
)
from thence.proofs.infer.candidates.vocabulary import nameless, variables_of
from thence.proofs.logic.formula import (
    FALSE,
    TRUE,
    equal,
    exists,
    free_locals,
    fresh_name,
    local,
    negation,
    operands,
    substitute,
)
from thence.proofs.machine.steps.statements import split
from thence.proofs.machine.transitions import Action, actions

DETERMINED_OVER = 5
"""Limit on the variables of the clause that some arguments of a relation determine another one."""

EXCLUDING_OVER = (4, 5)
"""The clauses that two relations exclude each other have so many variables, at least and at most."""

EXCLUDING = 120
"""Limit on these clauses."""

TOLD_OVER = 3
"""The clauses that what was heard was said have so many variables, at least: those with fewer come by themselves."""

EXCLUDED_OVER = 5
"""Limit on the variables of a clause that what is marked excludes what else could be."""

SEEN_OVER = 7
"""Limit on the variables of a clause about what a transition has seen and closed."""


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


def told(machine: ir.Machine) -> Iterator[Clause]:
    """That what was heard was said, `heard(n, m, v) implies voted(m, v)`, for all values of the variables.

    Messages are not spoken of, as in `determined`.
    """
    for relation in machine.symbols:
        sorts = _sorts(relation)
        if relation.result == BOOL and len(sorts) >= TOLD_OVER and MESSAGE not in sorts:
            variables = variables_of(sorts, [each.name for each in machine.symbols])
            heard = ir.Apply(BOOL, relation.name, tuple(local(each) for each in variables))
            for said in sources(heard, machine):
                if free_locals(said).keys() < free_locals(heard).keys():
                    yield Clause(variables, ((heard, False), (said, True)), apart=False)


def done_together(machine: ir.Machine) -> Iterator[Clause]:
    """That what a transition marks, it does not mark alone: `voted(n, b, v) and c < b implies left(n, c)`, where each
    vote in b says `forall c: left(n, c) := left(n, c) or c < b`. For all values of the variables.

    Only what is never taken back. Messages and numbers are not spoken of, as in `seen`.
    """
    found: dict[ir.Expr, Clause] = {}
    for action in actions(machine):
        for mark, other in permutations(action.updates, 2):
            if mark.value != TRUE or mark.binders or not (only_grows(mark.symbol, machine) and added(other)):
                continue
            marked = ir.Apply(BOOL, mark.symbol, mark.arguments)
            done = ir.Apply(BOOL, other.symbol, other.arguments)
            known = {*free_locals(marked), *(each.name for each in other.binders)}
            for condition in added(other) if only_grows(other.symbol, machine) else ():
                said = [*(() if condition == TRUE else operands(condition, "and")), negation(done)]
                free = {name for each in said for name in free_locals(each)}
                if free <= known and len(free | free_locals(marked).keys()) >= TOLD_OVER:
                    for clause in _clauses(marked, said):
                        found.setdefault(nameless(clause.formula), clause)
    return iter(found.values())


def excluded(machine: ir.Machine) -> Iterator[Clause]:
    """That what is marked excludes whatever else could be: `proposed(b, v) and c < b` implies `v = w`, or that w is
    lost in c. All relations that transitions change may be the mark.

    Of an argument of what is lost it says that it is one of the mark's, or a smaller one, or where there is no order
    another one. Whoever marks may have helped before: n has voted for v in c, and then for w in b, `voted(n, c, v) and
    voted(n, b, w) and c < b` implies `v = w`, or that v is lost in c. Messages and numbers are not spoken of, as in
    `seen`.
    """
    changed = set[str]().union(*(action.changed for action in actions(machine)))
    lost = {(nameless(each.formula), each.where): each for each in lost_where(machine)}
    marks = [each for each in machine.symbols if each.result == BOOL and each.name in changed and each.parameters]
    for relation, each_lost in product(marks, lost.values()):
        gone, where = each_lost.formula, each_lost.where
        if not {MESSAGE, NAT} & {*_sorts(relation), *free_locals(gone).values()}:
            variables = variables_of(_sorts(relation), [each.name for each in machine.symbols])
            mark = ir.Apply(BOOL, relation.name, tuple(local(each) for each in variables))
            for names, apart in _placings(free_locals(gone), variables, machine):
                premises = (*apart, *(_literal(substitute(each, names), False) for each in where))
                said = (*premises, (substitute(gone, names), True))
                new = {each: type_ for literal, _ in said for each, type_ in free_locals(literal).items()}
                every = (*variables, *(ir.Variable(each, new[each]) for each in new if each not in free_locals(mark)))
                own = [(), *(((substitute(each, names), False),) for each in each_lost.given_by(mark.arguments))]
                for known, given in product(_known(mark, machine), own):
                    if len(every) <= EXCLUDED_OVER and not {*known} & {*premises} and (mark, False) not in given:
                        yield Clause(every, ((mark, False), *known, *given, *said), apart=False)


def _placings(
    free: Mapping[str, Type], variables: Sequence[ir.Variable], machine: ir.Machine
) -> Iterator[tuple[Mapping[str, ir.Expr], tuple[tuple[ir.Expr, bool], ...]]]:
    """Arguments for the free names, at least one of them not among the variables, and how it is told from one.

    Where no variable has its type, whatever value there is is meant, in all smaller places: of a mark `free(b)` without
    a value, that all values are lost in c < b.
    """
    new = variables_of(
        [*(each.type for each in variables), *free.values()],
        [each.name for each in machine.symbols],
    )[len(variables) :]
    new_values = [local(each) for each in new]
    choices: list[list[tuple[ir.Expr, tuple[ir.Expr, bool] | None]]] = []
    for type_, other in zip(free.values(), new, strict=True):
        own = [local(each) for each in variables if each.type == type_]
        is_order = is_ordered(type_, machine.ordered)
        told_apart: list[tuple[ir.Expr, bool]] = [
            (ir.Comparison(BOOL, "<", local(other), each), False) if is_order else (equal(each, local(other)), True)
            for each in own
        ]
        choices.append([*((each, None) for each in own), *((local(other), each) for each in told_apart)])
        if not own:
            choices[-1].append((local(other), None))
    for chosen in product(*choices):
        apart = tuple(each for _, each in chosen if each is not None)
        is_any = any(each is None and value in new_values for value, each in chosen)
        if apart and not (is_any and all(affirmed for _, affirmed in apart)):
            yield dict(zip(free, (value for value, _ in chosen), strict=True)), apart


def _known(mark: ir.Apply, machine: ir.Machine) -> Iterator[tuple[tuple[ir.Expr, bool], ...]]:
    """What else may be known of the arguments: nothing, or a fact that never changes, as that one of them is honest."""
    yield ()
    for fact, argument in product(settled(machine), mark.arguments):
        if fact.parameters[0].type == argument.type:
            yield ((ir.Apply(BOOL, fact.name, (argument,)), False),)


def _literal(formula: ir.Expr, affirmed: bool) -> tuple[ir.Expr, bool]:
    return (formula.operand, not affirmed) if isinstance(formula, ir.Not) else (formula, affirmed)


def determined_of(machine: ir.Machine, clauses: Iterable[Clause]) -> Iterator[Clause]:
    """That some arguments determine another one, of elements of which a fact is known that never changes: what an
    honest node has voted."""
    for clause in clauses:
        first, second = (atom for atom, affirmed in clause.literals if not affirmed)
        assert isinstance(first, ir.Apply) and isinstance(second, ir.Apply)
        for known in _known(first, machine):
            if known and free_locals(known[0][0]).keys() <= free_locals(second).keys():
                yield replace(clause, literals=(*known, *clause.literals))


def _of(relation: ir.Symbol, variable: ir.Variable) -> ir.Apply:
    return ir.Apply(BOOL, relation.name, (local(variable),))


def seen(machine: ir.Machine) -> Iterator[Clause]:
    """That what a transition sees, and closes at the same moment, stays so; for all values of the variables.

    A node that reports its latest vote, `forall d, w. voted(n, d, w) implies d <= c`, takes part in no earlier ballot
    any more, `forall d: left(n, d) := left(n, d) or d < b`. So it has no later vote before b, now or ever:
    `reported(n, b, c, v) and voted(n, d, w) and d < b implies d <= c`.

    Where other transitions mark the same, they may have seen something else, and mark that: `promised(n, b) and d < b
    and voted(n, d, w) implies exists c, v. reported(n, b, c, v)`.

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
                        marked = ir.Apply(BOOL, mark.symbol, mark.arguments)
                        found.update(dict.fromkeys(_clauses(marked, said)))
                        otherwise = list(_otherwise(marked, action, machine))
                        if otherwise and all(otherwise):
                            for some in product(*otherwise):
                                found.update(dict.fromkeys(_clauses(marked, [*said, *map(negation, some)])))
    return iter(found)


def _otherwise(marked: ir.Apply, action: Action, machine: ir.Machine) -> Iterator[list[ir.Expr]]:
    """For each other transition that marks the same, what it marks besides, of some arguments that the mark has not."""
    for other in actions(machine):
        marks = [update for update in other.updates if update.value == TRUE and not update.binders]
        for same in (each for each in marks if each.symbol == marked.symbol and other.name != action.name):
            pairs = zip(same.arguments, marked.arguments, strict=True)
            named = {one.name: value for one, value in pairs if isinstance(one, ir.Local)}
            besides: list[ir.Expr] = []
            for update in (each for each in marks if each is not same):
                mark = ir.Apply(BOOL, update.symbol, update.arguments)
                hidden = {name: type_ for name, type_ in free_locals(mark).items() if name not in named}
                taken = {*free_locals(marked), *free_locals(mark)}
                new = {name: ir.Local(type_, fresh_name(name, taken)) for name, type_ in hidden.items()}
                bound = tuple(ir.Variable(each.name, each.type) for each in new.values())
                besides.append(exists(bound, substitute(mark, {**named, **new})))
            yield besides


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
