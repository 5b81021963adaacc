"""Expressions of the abstract syntax, to typed expressions of the IR.

One checker serves theories, machines and protocols; the vocabulary's place decides which names and forms are
available. A part that is at fault is reported once and has no type (None) from there on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, assert_never

from thence.dsl import ir
from thence.dsl.check.terms.binders import check_quantified, shared_type
from thence.dsl.check.terms.delivery import report_dst
from thence.dsl.check.terms.environment import (
    UNKNOWN,
    Expected,
    LocalName,
    Locals,
    Unknown,
    Vocabulary,
    a,
    here,
    listed,
)
from thence.dsl.check.terms.names import apply_name, resolve_at, resolve_variable
from thence.dsl.check.terms.queries import ATTRIBUTES, can_be_empty, element_type, index_types, operations, queries
from thence.dsl.check.terms.values import make_record, make_set, make_window, make_zero
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, PROCESS, Collection, Map, Record, Sort, Type
from thence.dsl.text import syntax
from thence.dsl.text.diagnostics import did_you_mean
from thence.dsl.text.foreign import FIELDS, hint
from thence.dsl.text.reporter import Reporter
from thence.dsl.text.syntax import Span
from thence.spec.words import counted


@dataclass(frozen=True, slots=True)
class ExpressionChecker:
    """Checks expressions under the names that are in reach.

    `elsewhere` are the names that other blocks of the same handler bind, for the note that says so. `packet` is the
    packet in flight of the innermost quantifier around, of which others may be `ahead`; `element` the element of a
    queue, with the queue.
    """

    vocabulary: Vocabulary
    reporter: Reporter
    locals: Locals
    elsewhere: Mapping[str, Span]
    packet: ir.Local | None = None
    element: tuple[ir.Local, ir.Expr] | None = None

    def within(self, names: Mapping[str, LocalName]) -> ExpressionChecker:
        """The checker for an inner block, where these names are in reach too."""
        return replace(self, locals={**self.locals, **names})

    def about(
        self, packet: ir.Local | None = None, element: tuple[ir.Local, ir.Expr] | None = None
    ) -> ExpressionChecker:
        """The checker for what is said of a packet in flight, or of an element of a queue."""
        return replace(self, packet=packet or self.packet, element=element or self.element)

    @property
    def formal(self) -> bool:
        """Whether this is a formula of a theory or machine: relations and functions only."""
        return self.vocabulary.place in ("theory", "machine")

    def check(self, expr: syntax.Expr, expected: Type | Unknown, why: str = "") -> ir.Expr | None:
        """The typed expression, of the expected type; `why` says where that type comes from."""
        found = self.infer(expr, expected)
        if found is None or isinstance(expected, Unknown) or found.type == expected:
            return found
        notes = [why] if why else []
        if expected == Collection("option", found.type):
            notes.append("an option holds a value as `some(...)`")
        if found.type == Collection("option", expected):
            notes.append("the value in an option is `.value`, where it is not `none`")
        if expected == PROCESS:
            notes += self._role_for(expr)
        notes += self._shared_type(expr)
        self.reporter.error("E0301", expr.span, f"this is {a(found.type)}, but {a(expected)} is expected", *notes)
        return None

    def infer(self, expr: syntax.Expr, expected: Expected = None) -> ir.Expr | None:
        """The typed expression; `expected` only helps where the expression itself does not tell its type."""
        found = self._inferred(expr, expected)
        if found is not None and self.reporter.typed is not None:
            self.reporter.typed.append((expr.span, found.type))
        return found

    def _inferred(self, expr: syntax.Expr, expected: Expected) -> ir.Expr | None:
        if self.formal and not self._is_formal(expr):
            return None
        span = expr.span
        match expr:
            case syntax.Number(value=number):
                return ir.Literal_(NAT, number, span=span)
            case syntax.Truth(value=truth):
                return ir.Literal_(BOOL, truth, span=span)
            case syntax.Nothing():
                return make_zero(self, expr, expected, "none")
            case syntax.Empty():
                return make_zero(self, expr, expected, "empty")
            case syntax.Variable():
                return resolve_variable(self, expr)
            case syntax.FieldAccess():
                return self._field(expr)
            case syntax.IndexAccess():
                return self._index(expr)
            case syntax.Apply():
                return self._apply(expr, expected)
            case syntax.Construct():
                return make_record(self, expr)
            case syntax.SetDisplay(items=items):
                return make_set(self, items, expected, span)
            case syntax.Not(operand=operand):
                inner = self.check(operand, BOOL)
                return None if inner is None else ir.Not(BOOL, inner, span=span)
            case syntax.Binary():
                return self._binary(expr)
            case syntax.IsTest():
                return self._is_test(expr)
            case syntax.Conditional():
                return self._conditional(expr, expected)
            case syntax.Quantified():
                return check_quantified(self, expr)
            case syntax.At():
                return resolve_at(self, expr)
            case _:
                assert_never(expr)

    def _is_formal(self, expr: syntax.Expr) -> bool:
        """Whether a theory or machine has this form of expression; reports it if not."""
        place = self.vocabulary.place
        match expr:
            case syntax.FieldAccess(name=name) if name.text in ATTRIBUTES:
                multicast = self.vocabulary.delivery != "unicast"
                instead = (
                    "`src` is a function and `to` a relation here: write `src(m)`, `to(m, p)`"
                    if multicast
                    else "`src` and `dst` are functions here: write `src(m)`, `dst(m)`"
                )
                self.reporter.error("E0518", expr.span, f"a {place} has no `.{name.text}`", instead)
                return False
            case syntax.At():
                self.reporter.error(
                    "E0401", expr.span, f"`{expr.variable.text}@` is of protocols; a {place} has no state of a process"
                )
                return False
            case syntax.Quantified(kind="count") if place == "theory":
                what = "`count`"
            case syntax.Quantified(kind="sum"):
                what = "`sum`"
            case syntax.Binary(operator="in" | "not in" | "*" as operator):
                what = f"`{operator}`"
            case syntax.Binary(operator="+" | "-" as operator) if place == "theory":
                what = f"`{operator}`"
            case syntax.Number() if place == "theory":
                what = "a number"
            case syntax.Nothing():
                what = "`none`"
            case syntax.Empty() | syntax.IsTest(what="empty"):
                what = "`empty`"
            case syntax.IsTest():
                what = "`is none`"
            case syntax.FieldAccess() | syntax.IndexAccess():
                what = "a field or an index"
            case syntax.Construct() | syntax.SetDisplay():
                what = "a record or set"
            case _:
                return True
        self.reporter.error(
            "E0314", expr.span, f"{what} is not available in a {place}", "a formula is made of relations and functions"
        )
        return False

    def _field(self, expr: syntax.FieldAccess) -> ir.Expr | None:
        target = self.infer(expr.target)
        if target is None:
            return None
        label = expr.name.text
        known = queries(target.type)
        result = known.get(label)
        if result is None:
            self.reporter.error(
                "E0206",
                expr.name.span,
                f"{a(target.type)} has no `{label}`",
                *(_own_state(target, label, self.vocabulary) or _field_notes(target.type, label)),
                *self._shared_type(expr.target),
            )
            return None
        if isinstance(target.type, Record):
            return ir.FieldOf(result, target, label, span=expr.span)
        if label == "dst" and self.vocabulary.delivery != "unicast":
            report_dst(".dst", self.vocabulary.delivery, expr.name.span, "the destinations are `.dsts`", self.reporter)
            return None
        match label:
            case "src" | "dst" | "dsts":
                return ir.Attribute(result, target, label, span=expr.span)
            case "size" | "first" | "next" | "peek" | "value":
                return ir.Query(result, target, label, span=expr.span)
            case _:
                raise AssertionError(label)

    def _index(self, expr: syntax.IndexAccess) -> ir.Expr | None:
        target = self.infer(expr.target)
        if target is None:
            self.infer(expr.key, UNKNOWN)
            return None
        types = index_types(target.type, numbered=self.vocabulary.numbered)
        if types is None:
            self.infer(expr.key, UNKNOWN)
            head = (
                "; the head of a queue is `.first`"
                if isinstance(target.type, Collection) and target.type.kind == "queue"
                else ""
            )
            said = f"maps and sliding arrays do{head}"
            self.reporter.error("E0306", expr.span, f"{a(target.type)} takes no index", said)
            return None
        key = self.check(expr.key, types[0], f"the index of {a(target.type)} is {a(types[0])}")
        if key is None:
            return None
        if isinstance(target.type, Map):
            return ir.Lookup(types[1], target, key, span=expr.span)
        return ir.ElementAt(types[1], target, key, span=expr.span)

    def arguments(
        self,
        what: str,
        written: tuple[syntax.Expr, ...],
        parameters: tuple[ir.Variable, ...] | None,
        span: Span,
        notes: tuple[str, ...] = (),
    ) -> tuple[ir.Expr, ...] | None:
        """Arguments by their parameters; None where that has been reported (or the parameters are not known). `notes`
        help where they do not fit."""
        if parameters is None:
            for argument in written:
                self.infer(argument, UNKNOWN)
            return None
        if len(written) != len(parameters):
            for argument in written:
                self.infer(argument, UNKNOWN)
            takes = listed(f"{p.name}: {p.type}" if p.name else str(p.type) for p in parameters)
            self.reporter.error(
                "E0302",
                span,
                f"{what} takes {counted(len(parameters), 'argument')}, {here(len(written))}",
                *((f"it takes {takes}",) if parameters else ()),
                *notes,
            )
            return None
        found = [
            self.check(argument, parameter.type, "; ".join((f"{what} takes {a(parameter.type)} here", *notes)))
            for argument, parameter in zip(written, parameters, strict=True)
        ]
        complete = tuple(argument for argument in found if argument is not None)
        return complete if len(complete) == len(found) else None

    def _apply(self, expr: syntax.Apply, expected: Expected) -> ir.Expr | None:
        name, written, span = expr.function.text, expr.arguments, expr.span
        if name in ("max", "min") and name not in self.vocabulary.symbols and self.vocabulary.place != "theory":
            pair = (ir.Variable("", NAT), ir.Variable("", NAT))
            numbers = self.arguments(f"`{name}`", written, pair, span)
            operator: Literal["max", "min"] = "max" if name == "max" else "min"
            return None if numbers is None else ir.Arithmetic(NAT, operator, numbers[0], numbers[1], span=span)
        if not self.formal:
            match name:
                case "some" if len(written) == 1:
                    is_option = isinstance(expected, Collection) and expected.kind == "option"
                    inside = expected.item if is_option and isinstance(expected, Collection) else None
                    item = self.infer(written[0], UNKNOWN if isinstance(expected, Unknown) else inside)
                    return None if item is None else ir.Some(Collection("option", item.type), item, span=span)
                case "window":
                    return make_window(self, expr, expected)
                case _:
                    pass
        return apply_name(self, expr)

    def _role_for(self, expr: syntax.Expr) -> list[str]:
        """How a process is named for which its number was written, in handlers."""
        if self.formal or not isinstance(expr, syntax.Number):
            return []
        return [f"a process that all processes know is a role: `role first: process = {expr.value}`"]

    def _shared_type(self, expr: syntax.Expr) -> tuple[str, ...]:
        """Where a bound name has the type of a later one, that it does."""
        return shared_type(self.locals.get(expr.name)) if isinstance(expr, syntax.Variable) else ()

    def _pair(self, left: syntax.Expr, right: syntax.Expr, span: Span, what: str) -> tuple[ir.Expr, ir.Expr] | None:
        """Two expressions of one type; the one that tells its type is asked first."""
        swapped = isinstance(left, syntax.Nothing | syntax.Empty)
        one, other = (right, left) if swapped else (left, right)
        first = self.infer(one)
        second = self.infer(other, UNKNOWN if first is None else first.type)
        if first is None or second is None:
            return None
        if first.type != second.type:
            one_type, other_type = (second.type, first.type) if swapped else (first.type, second.type)
            self.reporter.error(
                "E0301",
                span,
                f"{what} {a(one_type)} and {a(other_type)}",
                "both sides have to be of one type",
                *(
                    ("a count stands in parentheses: `(count p: process. P) <= 1`",)
                    if (one_type, other_type) == (BOOL, NAT)
                    else ()
                ),
                *(note for side in (left, right) for note in self._role_for(side) if PROCESS in (one_type, other_type)),
                *(note for side in (left, right) for note in self._shared_type(side)),
            )
            return None
        return (second, first) if swapped else (first, second)

    def _binary(self, expr: syntax.Binary) -> ir.Expr | None:
        span = expr.span
        match expr.operator:
            case "and" | "or" | "implies" | "iff" as connective:
                left, right = self.check(expr.left, BOOL), self.check(expr.right, BOOL)
                if left is None or right is None:
                    return None
                return ir.Connective(BOOL, connective, left, right, span=span)
            case "=" | "!=":
                pair = self._pair(expr.left, expr.right, span, "this compares")
                if pair is None:
                    return None
                equal = ir.Comparison(BOOL, "=", pair[0], pair[1], span=span)
                return equal if expr.operator == "=" else ir.Not(BOOL, equal, span=span)
            case "<" | "<=" | ">" | ">=":
                return self._order(expr)
            case "in" | "not in":
                return self._member(expr)
            case "+" | "-" | "*" as arithmetic:
                why = f"`{arithmetic}` is of numbers"
                left, right = self.check(expr.left, NAT, why), self.check(expr.right, NAT, why)
                if left is None or right is None:
                    return None
                result = ir.Arithmetic(NAT, arithmetic, left, right, span=span)
                return result if arithmetic != "-" or not self.formal else _cut_off(result)
            case "leads to":
                said = "`leads to` stands only in an `eventually`, around all of it"
                written = "NAME(x): P leads to Q by:" if self.formal else "NAME: forall p: process. P leads to Q"
                self.reporter.error("E0433", span, said, f"write `eventually {written}`")
                return None
            case _:
                assert_never(expr.operator)

    def _order(self, expr: syntax.Binary) -> ir.Expr | None:
        pair = self._pair(expr.left, expr.right, expr.span, f"`{expr.operator}` compares")
        if pair is None:
            return None
        left, right = pair
        ordered = isinstance(left.type, Sort) and left.type.name in self.vocabulary.ordered
        by_number = left.type == PROCESS and not self.formal
        if left.type != NAT and not ordered and not by_number:
            fitting = (
                "only `nat` and sorts that are declared `ordered` have an order"
                if self.formal
                else "only `nat` and processes have an order"
            )
            self.reporter.error("E0305", expr.span, f"`{left.type}` has no order", fitting)
            return None
        if expr.operator in (">", ">="):
            left, right = right, left
        return ir.Comparison(BOOL, "<" if expr.operator in ("<", ">") else "<=", left, right, span=expr.span)

    def _member(self, expr: syntax.Binary) -> ir.Expr | None:
        collection = self.infer(expr.right)
        element = None if collection is None else element_type(collection.type)
        if collection is None or element is None:
            self.infer(expr.left, UNKNOWN)
            if collection is not None:
                self.reporter.error("E0306", expr.right.span, f"{a(collection.type)} has no elements")
            return None
        parts = "keys" if isinstance(collection.type, Map) else "elements"
        item = self.check(
            expr.left,
            element,
            f"the {parts} of {a(collection.type)} are `{element}`",
        )
        if item is None:
            return None
        member = ir.Member(BOOL, item, collection, span=expr.span)
        return member if expr.operator == "in" else ir.Not(BOOL, member, span=expr.span)

    def _is_test(self, expr: syntax.IsTest) -> ir.Expr | None:
        target = self.infer(expr.target)
        if target is None:
            return None
        test: ir.Expr
        if expr.what == "empty" and can_be_empty(target.type):
            test = ir.IsEmpty(BOOL, target, span=expr.span)
        elif expr.what == "none" and isinstance(target.type, Collection) and target.type.kind == "option":
            test = ir.IsNone(BOOL, target, span=expr.span)
        else:
            fitting = "collections and maps can be `empty`" if expr.what == "empty" else "options can be `none`"
            self.reporter.error("E0306", expr.span, f"{a(target.type)} is never `{expr.what}`", fitting)
            return None
        return ir.Not(BOOL, test, span=expr.span) if expr.negated else test

    def _conditional(self, expr: syntax.Conditional, expected: Expected) -> ir.Expr | None:
        condition = self.check(expr.condition, BOOL)
        if expected is None:
            pair = self._pair(expr.then, expr.otherwise, expr.span, "the two cases are")
        else:
            then, otherwise = self.check(expr.then, expected), self.check(expr.otherwise, expected)
            pair = None if then is None or otherwise is None else (then, otherwise)
        if condition is None or pair is None:
            return None
        return ir.Conditional(pair[0].type, condition, pair[0], pair[1], span=expr.span)


def _own_state(target: ir.Expr, label: str, words: Vocabulary) -> tuple[str, ...]:
    """The note on `self.x` and `p.x`, where x is a state variable."""
    if label not in words.state or target.type != PROCESS:
        return ()
    if isinstance(target, ir.SelfProcess):
        return (f"a process names its own state without `self`: write `{label}`",)
    return (f"in properties, p's copy is `{label}@p`; a handler sees the state of its own process only",)


def _field_notes(type_: Type, label: str) -> tuple[str, ...]:
    """Suggestions for a field that the type does not have."""
    if any(operation.method == label for operation in operations(type_)):
        return (f"`{label}` changes the collection: it is a statement of its own",)
    known = queries(type_)
    notes = list(did_you_mean(label, known) or hint(FIELDS, label))
    if known:
        notes.append(f"it has {listed(known)}")
    if isinstance(type_, Collection) and label in queries(type_.item):
        notes.append(
            f"the value in an option is `.value`: write `.value.{label}`"
            if type_.kind == "option"
            else f"its elements have `{label}`"
        )
    elif isinstance(type_, Sort) and type_ != MESSAGE:
        notes.append(f"{a(type_)} has no fields")
    return tuple(notes)


def _cut_off(difference: ir.Arithmetic) -> ir.Expr:
    """A difference in a machine, which is zero where a protocol would be at fault."""
    enough = ir.Comparison(BOOL, "<=", difference.right, difference.left, span=difference.span)
    return ir.Conditional(NAT, enough, difference, ir.Literal_(NAT, 0), span=difference.span)
