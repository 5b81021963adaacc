"""An obligation as formulas without variables: each quantified formula is a name, and lemmas say what it means.

A lemma is one rule for quantifiers: what is true of all is true of a term; what is false of some is false of a term,
which `choose` names. Names of quantified formulas are q0, q1, ..., and of chosen terms c0, c1, ...
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from thence.proofs.certificate.forms.expressions import Tree, trees, words

Term: TypeAlias = "str | tuple[Term, ...]"
"""A word, or the parts of a formula or term in parentheses."""


_LANGUAGE = frozenset({"true", "false", "and", "or", "not", "=>", "=", "+", "-", "*", "<", "<=", "ite"})


@dataclass(frozen=True, slots=True)
class Quantified:
    """A quantified formula without free variables.

    Attributes:
        name: the constant that stands for it.
        binders: its variables with their sorts.
        pattern: the pattern that its body has, or None.
    """

    name: str
    kind: str
    binders: tuple[tuple[str, str], ...]
    body: Term
    pattern: Term | None


@dataclass(frozen=True, slots=True)
class Lemma:
    """A quantified formula and its body, with terms for the variables: the first implies the second, or the reverse.

    Attributes:
        body: of this body, quantified formulas are names.
        values: the terms; None where `choose` gives them.
        implies: whether the quantified formula implies the body.
    """

    quantified: Quantified
    body: Term
    values: tuple[Term, ...] | None
    implies: bool
    pattern: Term | None = None

    @property
    def formula(self) -> Term:
        if self.implies:
            return "or", ("not", self.quantified.name), self.body
        return "or", self.quantified.name, ("not", self.body)


@dataclass(slots=True)
class Ground:
    """The assertions of an obligation, and lemmas about the quantified formulas in them.

    Attributes:
        sorts: the sort of what each function gives, constants among them.
        declarations: the lines of the obligation that declare something.
        defined: what each q and c stands for; a later one may contain an earlier one, and no reverse.
        open: the formulas to be instantiated: those that are used as true of all, or as false of some.
    """

    declarations: tuple[str, ...]
    sorts: dict[str, str]
    assertions: tuple[Term, ...] = ()
    defined: dict[str, Term] = field(default_factory=dict)
    lemmas: list[Lemma] = field(default_factory=list)
    open: list[Quantified] = field(default_factory=list)
    _known: dict[Term, Quantified] = field(default_factory=dict)
    _used: set[tuple[str, bool]] = field(default_factory=set)
    _instances: dict[tuple[str, tuple[Term, ...]], Term] = field(default_factory=dict)

    def instantiate(self, quantified: Quantified, values: Mapping[str, Term]) -> None:
        """Adds the lemma about these terms for the variables of a formula and of those that `merged` adds to it.

        A variable without a term has the one that it is said to equal. Where there is none, or where a term has a name
        that is not known here, nothing is added.
        """
        variables, body = merged(quantified)
        terms = _completed(variables, body, values)
        if terms is None or not all(self._is_known(word) for term in terms for word in _words(term)):
            return
        inner: Quantified | None = quantified
        while terms and inner is not None:
            own, terms = terms[: len(inner.binders)], terms[len(inner.binders) :]
            if (inner.name, own) not in self._instances:
                self._instances[inner.name, own] = self._add(inner, own, own, inner.kind == "forall")
            stated = self._instances[inner.name, own]
            inner = next((each for each in self.open if each.name == stated), None)

    def _is_known(self, word: str) -> bool:
        return word in self.sorts or word in self.defined or word in _LANGUAGE or word.isdigit()

    def is_nested(self, quantified: Quantified) -> bool:
        """Whether a formula has instances, and quantified formulas in the body of the last one that `merged` gives."""
        _, body = merged(quantified)
        instantiated = any(name == quantified.name for name, _ in self._instances)
        return instantiated and any(part in ("forall", "exists") for part in _words(body))

    def stated(self, formula: Term, positive: bool | None) -> Term:
        """The formula with names for its quantified formulas. `positive`: it is used as a truth; None: both ways."""
        if isinstance(formula, str):
            return formula
        turned = None if positive is None else not positive
        match formula:
            case ("forall" | "exists", *_):
                return self._named(formula, positive)
            case ("not", inner):
                return "not", self.stated(inner, turned)
            case ("=>", left, right):
                return "=>", self.stated(left, turned), self.stated(right, positive)
            case ("and" | "or" as operator, *parts):
                return operator, *(self.stated(part, positive) for part in parts)
            case ("ite", condition, then, otherwise):
                return (
                    "ite",
                    self.stated(condition, None),
                    self.stated(then, positive),
                    self.stated(otherwise, positive),
                )
            case (head, *parts):
                return head, *(self.stated(part, None) for part in parts)
            case _:
                raise ValueError("a pair of parentheses with nothing in it")

    def _named(self, formula: Term, positive: bool | None) -> str:
        quantified = self._known.get(formula)
        if quantified is None:
            quantified = _quantified(f"q{len(self._known)}", formula)
            self._known[formula] = quantified
            self.defined[quantified.name] = formula
        for way in (True, False) if positive is None else (positive,):
            if (quantified.name, way) not in self._used:
                self._used.add((quantified.name, way))
                if way == (quantified.kind == "forall"):
                    self.open.append(quantified)
                else:
                    self._choose(quantified)
        return quantified.name

    def _choose(self, quantified: Quantified) -> None:
        """The lemma for the terms that show that not all are, or that some is."""
        if quantified.pattern is not None:
            raise ValueError("a formula with a pattern is not to be shown")
        universal = quantified.kind == "forall"
        chosen: list[Term] = []
        for number, (variable, sort) in enumerate(quantified.binders):
            values = dict(zip((name for name, _ in quantified.binders), chosen, strict=False))
            rest = quantified.binders[number + 1 :]
            inner = substituted(quantified.body, values)
            said: Term = (quantified.kind, rest, inner) if rest else inner
            name = f"c{sum(each.startswith('c') for each in self.defined)}"
            self.defined[name] = ("choose", (variable, sort), ("not", said) if universal else said)
            self.sorts[name] = sort
            chosen.append(name)
        self._add(quantified, None, chosen, not universal)

    def _add(
        self, quantified: Quantified, values: tuple[Term, ...] | None, terms: Sequence[Term], implies: bool
    ) -> Term:
        """Adds a lemma, and gives its body."""
        replaced = dict(zip((name for name, _ in quantified.binders), terms, strict=True))
        body = self.stated(substituted(quantified.body, replaced), implies)
        pattern = None if quantified.pattern is None else substituted(quantified.pattern, replaced)
        self.lemmas.append(Lemma(quantified, body, values, implies, pattern))
        return body


def merged(quantified: Quantified) -> tuple[tuple[tuple[str, str], ...], Term]:
    """The variables of a formula and of those of its kind that its body is, and the body of the last one."""
    variables, body = list(quantified.binders), quantified.body
    while quantified.pattern is None and body[0] == quantified.kind:
        inner = _quantified("", body)
        if inner.pattern is not None:
            break
        variables += inner.binders
        body = inner.body
    return tuple(variables), body


def _quantified(name: str, formula: Term) -> Quantified:
    """A quantified formula by its parts. Raises: ValueError for another form."""
    match formula:
        case (str(kind), tuple(binders), ("!", body, ":pattern", pattern)):
            return Quantified(name, kind, _variables(binders), body, pattern)
        case (str(kind), tuple(binders), body):
            return Quantified(name, kind, _variables(binders), body, None)
        case _:
            raise ValueError("no quantified formula")


def _variables(binders: tuple[Term, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((str(binder[0]), str(binder[1])) for binder in binders)


def ground(text: str) -> Ground:
    """The assertions of an obligation, without instances. Raises: ValueError for a form that is not handled here."""
    lines = [line.partition(" ;")[0] for line in text.splitlines() if line.startswith("(")]
    found = Ground(tuple(line for line in lines if line.startswith("(declare-")), {})
    assertions: list[Term] = []
    for line in lines:
        (command,) = (frozen(tree) for tree in trees(words(line)))
        match command:
            case ("declare-fun", str(name), _, str(sort)) | ("declare-const", str(name), str(sort)):
                found.sorts[name] = sort
            case ("assert", formula):
                assertions.append(found.stated(formula, True))
    found.assertions = tuple(assertions)
    return found


def _completed(variables: Sequence[tuple[str, str]], body: Term, values: Mapping[str, Term]) -> tuple[Term, ...] | None:
    """The terms for all variables: those that are given, and those that a variable without one is said to equal."""
    found = dict(values)
    names = {name for name, _ in variables}
    for name, _ in (*variables, *variables):
        if name in found:
            continue
        for part in parts_of(body):
            if isinstance(part, tuple) and part[0] == "=" and name in part[1:]:
                other = substituted(part[2] if part[1] == name else part[1], found)
                if names.isdisjoint(_words(other)):
                    found[name] = other
                    break
    if not names <= set(found):
        return None
    return tuple(found[name] for name, _ in variables)


def _words(term: Term) -> Iterator[str]:
    """All words of a term, names of functions among them."""
    if isinstance(term, str):
        yield term
    else:
        for part in term:
            yield from _words(part)


def frozen(tree: Tree) -> Term:
    """An expression as a term."""
    return tree if isinstance(tree, str) else tuple(frozen(part) for part in tree)


def substituted(term: Term, values: Mapping[str, Term]) -> Term:
    """The term with values for variables. No name is bound twice in an obligation, and no value has a variable."""
    if not values:
        return term
    if isinstance(term, str):
        return values.get(term, term)
    return tuple(substituted(part, values) for part in term)


def text_of(term: Term) -> str:
    """The term as text."""
    return term if isinstance(term, str) else f"({' '.join(text_of(part) for part in term)})"


def parts_of(term: Term) -> Iterator[Term]:
    """The term, and all terms and formulas in it; the name of a function is none."""
    waiting = [term]
    while waiting:
        found = waiting.pop()
        yield found
        if isinstance(found, tuple):
            waiting.extend(found[1:] if isinstance(found[0], str) else found)
