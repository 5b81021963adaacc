"""What a conjunct may say: atoms over few variables, from the signature and from the text of a machine.

A term is a variable, a function of a variable (`src(a)`), or has a form that the text uses (`nxt(at(m), dst(m))`). The
text also says which role each argument plays: where it compares `k` with `src(m)`, the place of `k` takes senders.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations_with_replacement, product

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, PROCESS, Nat, Sort, Type
from thence.proofs.infer.candidates.orders import order_atoms
from thence.proofs.infer.candidates.reasons import parts, reasons_of
from thence.proofs.logic.compiled import Compiled, compiled_row
from thence.proofs.logic.formula import (
    children,
    equal,
    free_locals,
    local,
    map_children,
    substitute,
    symbols_of,
)
from thence.proofs.logic.number_window import speaks_of_all_numbers
from thence.proofs.machine.transitions import Action, actions, symbols

LETTERS: Mapping[str, str] = {PROCESS.name: "pqr", MESSAGE.name: "abc", str(NAT): "ijk"}
"""The names of variables of the built-in types."""

ENDS = ("src", "dst")
"""The ends of messages."""

ATOMS = 700
"""Limit on the atoms of one template."""

FORMS = 60
"""So many quantified formulas are many: the less likely ones are left out."""

STAGES = 16
"""So many numbers of one kind that the text names are taken, the least ones."""

NUMBERS = 2
"""Limit on the variables of one template that are numbers."""


@dataclass(frozen=True, slots=True)
class Template:
    """Variables, those of one sort different from each other, and the atoms over them."""

    variables: tuple[ir.Variable, ...]
    atoms: tuple[ir.Expr, ...]


@dataclass(frozen=True, slots=True)
class Stages:
    """Numbers that the text names, above zero: how far a program is, `state(t) = 3`.

    Attributes:
        are_ordered: whether the text says that something is at or behind one of them, `state(t) >= 3`.
        are_counted: whether the text does more with numbers of this kind than to name them.
    """

    numbers: tuple[int, ...]
    are_ordered: bool
    are_counted: bool


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What the text of a machine offers.

    Attributes:
        roles: for each argument of each symbol the unary functions whose values the text puts there.
        forms: terms and quantified formulas of the text that have names for all their parts.
        kinds: for each number by its symbol, what it counts, as one of the symbols of that kind.
        ordered: names of the ordered sorts.
        names: what means something in the machine, so that no variable has its name.
        ahead: by how much a number may be above another one, as what is to be proved says: `phase(v) <= phase(w) + 1`.
        is_cut: whether there were so many forms that the less likely ones were left out.
        stages: the numbers above zero that the text names, by the kind of what has them.
        sums: of two numbers of the machine, where the text compares them with another one: `base() + window()`.
    """

    symbols: tuple[ir.Symbol, ...]
    roles: Mapping[tuple[str, int], frozenset[str]]
    forms: tuple[ir.Expr, ...]
    kinds: Mapping[str, str]
    ordered: tuple[str, ...]
    names: frozenset[str]
    ahead: tuple[int, ...] = ()
    is_cut: bool = False
    stages: Mapping[str, Stages] = field(default_factory=dict)
    sums: tuple[ir.Arithmetic, ...] = ()


def vocabulary_of(machine: ir.Machine, goals: Iterable[ir.Expr], *, reasons: bool = False) -> Vocabulary:
    """The vocabulary of the transitions, the axioms, and of what is to be proved.

    Args:
        reasons: with guards that were true of some values of a parameter, `exists q. ...`. Solvers find them hard.
            Where there are many, the less likely ones are left out.
    """
    whole = tuple(dict.fromkeys(goals))
    found = _vocabulary(machine, whole, lambda action: reasons_of(action, machine) if reasons else ())
    if reasons and len(found.forms) > FORMS:
        few = _vocabulary(machine, whole, lambda action: reasons_of(action, machine, few=True))
        return replace(few, is_cut=True)
    return found


def _vocabulary(
    machine: ir.Machine, whole: Collection[ir.Expr], reasons: Callable[[Action], Iterable[ir.Expr]]
) -> Vocabulary:
    """The vocabulary with these reasons."""
    texts: list[ir.Expr] = [axiom.body for axiom in machine.axioms]
    roles: dict[tuple[str, int], set[str]] = {}
    for action in actions(machine):
        own = [*(guard.body for guard in action.guards), *(update.value for update in action.updates)]
        texts += own
        for update in action.updates:
            _roles_of_update(update, roles)
        texts += reasons(action)
    texts += whole
    for text in texts:
        _roles_in(text, roles)
    forms: dict[ir.Expr, ir.Expr] = {}
    for text in texts:
        for part in parts(text):
            if _is_form(part) and part not in whole:
                forms.setdefault(nameless(part), part)
    known = symbols(machine)
    names = {*(symbol.name for symbol in known), *(sort.name for sort in machine.sorts)}
    names |= {definition.name for definition in machine.definitions}
    played = {key: frozenset(found) for key, found in roles.items()}
    ahead = tuple(sorted({number for goal in whole for number in _ahead(goal)}))
    kinds = _kinds(machine, texts)
    found = Vocabulary(known, played, tuple(forms.values()), kinds, machine.ordered, frozenset(names), ahead)
    sums = {nameless(each): each for text in texts for each in _sums(text)}
    return replace(found, stages=_stages(machine, texts, kinds), sums=tuple(sums.values()))


def templates(vocabulary: Vocabulary, sorts: Sequence[Type], variables: int) -> Iterator[Template]:
    """The templates with so many variables, in every division among the sorts; numbers are at most `NUMBERS`."""
    for chosen in combinations_with_replacement(sorts, variables):
        if chosen.count(NAT) > NUMBERS:
            continue
        named = variables_of(chosen, vocabulary.names)
        atoms = tuple(dict.fromkeys(_atoms(vocabulary, named)))[:ATOMS]
        if atoms:
            yield Template(named, atoms)


def variables_of(sorts: Sequence[Type], others: Collection[str]) -> tuple[ir.Variable, ...]:
    """A variable for each of the sorts, under names as a reader would choose them, which `others` do not have."""
    counts: dict[str, int] = {}
    found: list[ir.Variable] = []
    taken = set(others)
    for sort in sorts:
        own = str(sort)
        number = counts[own] = counts.get(own, -1) + 1
        letters = LETTERS.get(own, "")
        plain = own[0] if number == 0 else f"{own[0]}{number + 1}"
        name = letters[number] if number < len(letters) else plain
        while name in taken:
            number += 1
            name = letters[number] if number < len(letters) else f"{own[0]}{number + 1}"
        taken.add(name)
        found.append(ir.Variable(name, sort))
    return tuple(found)


# --- the text ----------------------------------------------------------------------------------


def _is_form(expr: ir.Expr) -> bool:
    """A term within a term, or a quantified formula, that a conjunct may repeat."""
    free = free_locals(expr)
    if len(free) > 3 or not all(isinstance(type_, Sort | Nat) for type_ in free.values()):
        return False
    match expr:
        case ir.Apply():
            return (
                bool(free) and expr.type != BOOL and any(isinstance(argument, ir.Apply) for argument in expr.arguments)
            )
        case ir.Quantified():
            return expr.kind != "count" and expr.type == BOOL
        case _:
            return False


def nameless(form: ir.Expr) -> ir.Expr:
    """The form with numbers for names: forms that differ in their names alone say the same."""
    free = free_locals(form).items()
    return _numbered(
        substitute(form, {name: ir.Local(type_, f"free {at}") for at, (name, type_) in enumerate(free)}), 0
    )


def _numbered(expr: ir.Expr, depth: int) -> ir.Expr:
    if not isinstance(expr, ir.Quantified):
        return map_children(expr, lambda part: _numbered(part, depth))
    named = [replace(each, name=f"bound {depth + at}") for at, each in enumerate(expr.variables)]
    pairs = zip(expr.variables, named, strict=True)
    body = substitute(expr.body, {old.name: ir.Local(new.type, new.name) for old, new in pairs})
    return replace(expr, variables=tuple(named), body=_numbered(body, depth + len(named)))


def _roles_in(expr: ir.Expr, roles: dict[tuple[str, int], set[str]]) -> None:
    """The unary functions that stand directly in the arguments of other symbols."""
    for part in parts(expr):
        if isinstance(part, ir.Apply):
            for at, argument in enumerate(part.arguments):
                if isinstance(argument, ir.Apply) and len(argument.arguments) == 1:
                    roles.setdefault((part.symbol, at), set()).add(argument.symbol)


def _roles_of_update(update: ir.Update, roles: dict[tuple[str, int], set[str]]) -> None:
    """Where the new value compares a binder with a unary function, the binder's place takes its values."""
    places = {argument.name: at for at, argument in enumerate(update.arguments) if isinstance(argument, ir.Local)}
    for part in parts(update.value):
        if isinstance(part, ir.Comparison) and part.operator == "=":
            for one, other in ((part.left, part.right), (part.right, part.left)):
                unary = isinstance(other, ir.Apply) and len(other.arguments) == 1
                if isinstance(one, ir.Local) and one.name in places and unary:
                    assert isinstance(other, ir.Apply)
                    roles.setdefault((update.symbol, places[one.name]), set()).add(other.symbol)


def _kinds(machine: ir.Machine, texts: Iterable[ir.Expr]) -> dict[str, str]:
    """Numbers are of one kind where the text compares them, or makes one from the other; a name that it has for a
    number, too. Of a machine with relations over numbers, all are of one kind."""
    own = {symbol.name for symbol in symbols(machine) if symbol.result == NAT}
    together = [own] if NAT in sorts_of(machine) else [_numbers(each) for text in texts for each in _compared(text)]
    for action in actions(machine):
        together += [{update.symbol, *_numbers(update.value)} for update in action.updates if update.symbol in own]
    kinds = {name: name for name in own.union(*together)}
    for group in together:
        merged = {kinds[name] for name in group}
        kinds = {name: min(merged) if kind in merged else kind for name, kind in kinds.items()}
    return kinds


def _stages(machine: ir.Machine, texts: Iterable[ir.Expr], kinds: Mapping[str, str]) -> dict[str, Stages]:
    """By their kind, the numbers that the text names: `require state(t) = 3`, `state(t) := 3`.

    Of what is counted, 1 alone is none of them: that it is not zero says enough.
    """
    own = {symbol.name for symbol in symbols(machine) if symbol.result == NAT}
    named: dict[str, set[int]] = {}
    counted, ordered = set[str](), set[str]()
    for update in (*machine.initial, *(each for action in actions(machine) for each in action.updates)):
        if update.symbol in own:
            kind = kinds[update.symbol]
            for value in _choices(update.value):
                if isinstance(value, ir.Literal_):
                    named.setdefault(kind, set()).add(int(value.value))
                elif not (isinstance(value, ir.Apply) and value.symbol == update.symbol):  # the rest is as before
                    counted.add(kind)
    for each in (each for text in texts for each in _compared(text)):
        for one, other in ((each.left, each.right), (each.right, each.left)):
            its = {kinds[name] for name in _numbers(one) if name in kinds}
            if isinstance(other, ir.Literal_) and isinstance(one, ir.Apply):
                for kind in its:
                    named.setdefault(kind, set()).add(int(other.value))
                ordered |= its if each.operator != "=" else set()
            elif not isinstance(one, ir.Literal_):
                counted |= its
    return {
        kind: Stages(tuple(sorted(numbers - {0}))[:STAGES], kind in ordered, kind in counted)
        for kind, numbers in named.items()
        if numbers - {0} and not (kind in counted and numbers <= {0, 1})
    }


def _choices(value: ir.Expr) -> Iterator[ir.Expr]:
    """The values that a term chooses from."""
    if isinstance(value, ir.Conditional):
        yield from _choices(value.then)
        yield from _choices(value.otherwise)
    else:
        yield value


def _ahead(goal: ir.Expr) -> Iterator[int]:
    """The numbers n of comparisons `t <= u + n`."""
    for each in _compared(goal):
        match each:
            case ir.Comparison(operator="<=", right=ir.Arithmetic(operator="+", right=ir.Literal_(value=int(number)))):
                yield number


def _sums(text: ir.Expr) -> Iterator[ir.Arithmetic]:
    """Sums of two numbers of the machine that are compared as a whole."""
    for each in _compared(text):
        for side in (each.left, each.right):
            match side:
                case ir.Arithmetic(operator="+", left=ir.Apply(), right=ir.Apply()) if len(free_locals(side)) <= 2:
                    yield side


def _compared(text: ir.Expr) -> Iterator[ir.Comparison]:
    return (part for part in parts(text) if isinstance(part, ir.Comparison) and part.left.type == NAT)


def _numbers(expr: ir.Expr) -> set[str]:
    """The numbers that a number is made from, or that a comparison compares: their symbols and names."""
    if isinstance(expr, ir.Apply):
        return {expr.symbol}
    if isinstance(expr, ir.Local):
        return {expr.name}
    return {name for part in children(expr) if part.type == NAT for name in _numbers(part)}


# --- atoms -------------------------------------------------------------------------------------


def _atoms(vocabulary: Vocabulary, variables: tuple[ir.Variable, ...]) -> Iterator[ir.Expr]:
    """The atoms over the variables. An atom need not have all of them."""
    names = [local(variable) for variable in variables]
    values = list(_values(vocabulary, names))
    yield from _relations(vocabulary, names)
    yield from (
        equal(one, other)
        for at, one in enumerate(values)
        for other in values[:at]
        if one.type == other.type and not (isinstance(one, ir.Local) and isinstance(other, ir.Local))
    )
    yield from order_atoms(values, vocabulary.ordered)
    instances = [instance for form in vocabulary.forms for instance in _instances(form, variables)]
    terms = [instance for instance in instances if instance.type not in (BOOL, NAT)]
    yield from (instance for instance in instances if instance.type == BOOL)
    yield from (equal(term, value) for term in terms for value in values if value.type == term.type)
    yield from _comparisons(vocabulary, names, [each for each in instances if each.type == NAT])


def _values(vocabulary: Vocabulary, names: Sequence[ir.Local]) -> Iterator[ir.Expr]:
    """The variables, the constants, and the functions of one variable, with values in a sort."""
    yield from names
    for symbol in vocabulary.symbols:
        if symbol.result in (BOOL, NAT):
            continue
        if not symbol.parameters:
            yield ir.Apply(symbol.result, symbol.name, ())
        elif len(symbol.parameters) == 1:
            yield from (
                ir.Apply(symbol.result, symbol.name, (name,))
                for name in names
                if name.type == symbol.parameters[0].type
            )


def _relations(vocabulary: Vocabulary, names: Sequence[ir.Local]) -> Iterator[ir.Expr]:
    """Every relation of the variables, and of the functions of one variable that play a role there."""
    for symbol in vocabulary.symbols:
        if symbol.result != BOOL:
            continue
        for arguments in _arguments(vocabulary, symbol, names):
            repeated = len(set(arguments)) < len(arguments)
            free = {name for argument in arguments for name in free_locals(argument)}
            ends = any(isinstance(argument, ir.Apply) and argument.symbol in ENDS for argument in arguments)
            mixed = ends and len(free) > 1  # a variable for the process says the same
            if not mixed and (not repeated or len(names) <= max(2, len(symbol.parameters))):
                yield ir.Apply(BOOL, symbol.name, arguments)


def _arguments(vocabulary: Vocabulary, symbol: ir.Symbol, names: Sequence[ir.Local]) -> Iterator[tuple[ir.Expr, ...]]:
    """The arguments that a symbol may have. Functions of more than one variable are not mixed."""
    places: list[list[ir.Expr]] = []
    for at, parameter in enumerate(symbol.parameters):
        plain: list[ir.Expr] = [name for name in names if name.type == parameter.type]
        for role in sorted(vocabulary.roles.get((symbol.name, at), ())):
            function = next((each for each in vocabulary.symbols if each.name == role), None)
            if function is not None and function.result == parameter.type:
                plain += [
                    ir.Apply(function.result, role, (name,))
                    for name in names
                    if name.type == function.parameters[0].type
                ]
        places.append(plain)
    for arguments in product(*places):
        owners = {
            argument.arguments[0] for argument in arguments if isinstance(argument, ir.Apply) and argument.arguments
        }
        if len(owners) <= 1:
            yield arguments


def _comparisons(vocabulary: Vocabulary, names: Sequence[ir.Local], instances: Sequence[ir.Expr]) -> Iterator[ir.Expr]:
    """Numbers compared: with each other, with zero, and with the numbers that the text names."""
    terms: dict[ir.Expr, None] = {}
    for symbol in vocabulary.symbols:
        if symbol.result == NAT:
            for arguments in _arguments(vocabulary, symbol, names):
                terms[ir.Apply(NAT, symbol.name, arguments)] = None
    terms.update(dict.fromkeys(instances))
    numbers = [name for name in names if name.type == NAT]
    yield from (equal(term, ir.Literal_(NAT, 0)) for term in (*terms, *numbers))
    for term in terms:
        if (stages := vocabulary.stages.get(_kind(term, vocabulary))) is not None:
            for stage in (ir.Literal_(NAT, number) for number in stages.numbers):
                yield equal(term, stage)
                if stages.are_ordered:
                    yield ir.Comparison(BOOL, "<=", stage, term)
    for number, term in product(numbers, terms):
        if number.name not in free_locals(term):
            yield equal(number, term)
            yield ir.Comparison(BOOL, "<", number, term)
            yield ir.Comparison(BOOL, "<", term, number)
    for at, one in enumerate(terms):
        kind = _kind(one, vocabulary)
        stages = vocabulary.stages.get(kind)
        others = list(terms)[:at] if stages is None or stages.are_counted else ()
        for other in others:
            if kind == _kind(other, vocabulary) and _comparable(one, other):
                yield ir.Comparison(BOOL, "<=", one, other)
                yield ir.Comparison(BOOL, "<=", other, one)
                for more in vocabulary.ahead:
                    yield ir.Comparison(BOOL, "<=", one, _plus(other, more))
                    yield ir.Comparison(BOOL, "<=", other, _plus(one, more))
    variables = [ir.Variable(name.name, name.type) for name in names]
    for total in (each for form in vocabulary.sums for each in _instances(form, variables)):
        assert isinstance(total, ir.Arithmetic)
        same = [each for each in terms if _kind(each, vocabulary) == _kind(total.left, vocabulary)]
        for term in (*numbers, *(each for each in same if each not in (total.left, total.right))):
            yield ir.Comparison(BOOL, "<", term, total)
            yield ir.Comparison(BOOL, "<=", term, total)


def _plus(term: ir.Expr, number: int) -> ir.Expr:
    return ir.Arithmetic(NAT, "+", term, ir.Literal_(NAT, number))


def _kind(term: ir.Expr, vocabulary: Vocabulary) -> str:
    assert isinstance(term, ir.Apply)
    return vocabulary.kinds[term.symbol]


def _comparable(one: ir.Expr, other: ir.Expr) -> bool:
    """Whether a comparison of the terms could say something.

    Two terms of one form can be compared: the numbers of two messages. Entries of vectors and matrices are compared at
    one place, or where the terms have the same arguments in some order, or one more than the other. A number of a
    message is compared with what is counted for its ends.
    """
    if not isinstance(one, ir.Apply) or not isinstance(other, ir.Apply):
        return bool(free_locals(one).keys() & free_locals(other).keys())
    if not one.arguments or not other.arguments:
        return True
    if len(one.arguments) == 1 and len(other.arguments) == 1:
        return True
    if len(one.arguments) == 1 or len(other.arguments) == 1:
        return (
            len(
                _owners(one)
                | _owners(other)
                | {
                    each
                    for each in (*one.arguments, *other.arguments)
                    if isinstance(each, ir.Local) and each.type == MESSAGE
                }
            )
            <= 1
        )
    if one.arguments[1:] == other.arguments[1:] or set(one.arguments) == set(other.arguments):
        return True
    fewer, more = sorted((one.arguments, other.arguments), key=len)
    return len(fewer) < len(more) and len(set(fewer)) == len(fewer) and set(fewer) <= set(more)


def _owners(term: ir.Expr) -> frozenset[ir.Expr]:
    return frozenset(
        inner.arguments[0]
        for part in parts(term)
        if isinstance(part, ir.Apply)
        for inner in part.arguments
        if isinstance(inner, ir.Apply) and inner.arguments
    )


def _instances(form: ir.Expr, variables: Sequence[ir.Variable]) -> Iterator[ir.Expr]:
    """A form of the text with variables of the template for its free names, different ones for different names."""
    free = free_locals(form)
    choices = [[variable for variable in variables if variable.type == type_] for type_ in free.values()]
    for chosen in product(*choices):
        if len(set(chosen)) == len(chosen):
            yield substitute(form, {name: local(variable) for name, variable in zip(free, chosen, strict=True)})


def sorts_of(machine: ir.Machine) -> tuple[Type, ...]:
    """The sorts that symbols of the machine are over; and numbers, if symbols are over them, or statements are."""
    found: dict[Type, None] = {}
    for symbol in symbols(machine):
        found.update(dict.fromkeys(parameter.type for parameter in symbol.parameters))
    over_numbers = NAT in found or any(speaks_of_all_numbers(each.body) for each in machine.invariants)
    return (*(type_ for type_ in found if isinstance(type_, Sort)), *((NAT,) if over_numbers else ()))


def cost(atom: ir.Expr) -> int:
    """How much there is to read in an atom."""
    return sum(1 for _ in parts(atom)) - len(free_locals(atom)) + (2 if symbols_of(atom) else 0)


def shown_rows(machine: ir.Machine, vocabulary: Vocabulary) -> dict[Template, Compiled]:
    """What random runs look at, to find states that show something new: rows of templates, see NOTE(rows)."""
    return {
        template: compiled_row(template.atoms, template.variables)
        for variables in (1, 2)
        for template in templates(vocabulary, sorts_of(machine), variables)
        if len(template.atoms) <= 100
    }
