"""Obligations as SMT-LIB2 text: one text for each, the same for every solver and every run.

Names are canonical: sorts, symbols, constants and bound variables are numbered in order of appearance, so that
renaming anything in a file cannot change what a solver does. A comment says which number stands for which name.
An ordered sort gets a relation with the axioms of a strict total order; a nat is an `Int` that is not negative.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import assert_never

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, NAT, Sort, Type
from thence.proofs.logic.counting import without_counts
from thence.proofs.logic.formula import Unsupported, refuse_domains
from thence.proofs.logic.mentions import Mentioned
from thence.proofs.logic.obligation import Obligation, Signature
from thence.proofs.logic.structure import zero_of


@dataclass(slots=True)
class Written:
    """What was written of formulas, by identity: the obligations of a machine share most hypotheses.

    Attributes:
        texts: by signature, constants and formula; the signature and the formula are kept, so that no other has their
            place in memory.
        mentioned: what formulas speak about.
        counted: by identity, obligations in which something is, each with the one without counts.
    """

    texts: dict[tuple[int, tuple[ir.Variable, ...], int], tuple[Signature, ir.Expr, str]] = field(default_factory=dict)
    mentioned: Mentioned = field(default_factory=Mentioned)
    counted: dict[int, tuple[Obligation, Obligation]] = field(default_factory=dict)

    def without_counts(self, obligation: Obligation) -> Obligation:
        """The obligation with functions for its counts."""
        if not self.counts(obligation):
            return obligation
        if id(obligation) not in self.counted:
            self.counted[id(obligation)] = obligation, without_counts(obligation, self._counts)
        return self.counted[id(obligation)][1]

    def counts(self, obligation: Obligation) -> bool:
        """Whether anything is counted in the obligation."""
        return any(self._counts(each.body) for each in (*obligation.hypotheses, obligation.goal))

    def _counts(self, formula: ir.Expr) -> bool:
        return self.mentioned.by(formula).counts

    def formula(self, writer: _Writer, body: ir.Expr) -> str:
        """The text of a closed formula of the writer's obligation."""
        signature = writer.obligation.signature
        key = id(signature), writer.obligation.constants, id(body)
        if key not in self.texts:
            self.texts[key] = signature, body, writer.formula(body, {})
        return self.texts[key][2]


def smt_text(obligation: Obligation, *, named: bool = False, written: Written | None = None) -> str:
    """The negated obligation, up to and including `(check-sat)`: unsatisfiable iff the obligation is valid.

    Args:
        named: gives the hypotheses the names h0, h1, ... and the goal the name g, for unsatisfiable cores. The
            canonical text, which is proved and cited, has none.
        written: what was written of other obligations; it gets what is written of this one.

    Counts become functions with facts about them, see NOTE(counting). Raises: Unsupported for a formula that SMT-LIB2
    with these sorts cannot express.
    """
    written = Written() if written is None else written
    obligation = written.without_counts(obligation)
    writer = _Writer(obligation)
    lines = [f"; {obligation.name}", "(set-logic ALL)", *writer.declarations()]
    if named:
        lines.insert(1, "(set-option :produce-unsat-cores true)")
    for number, hypothesis in enumerate(obligation.hypotheses):
        stated = _named(written.formula(writer, hypothesis.body), f"h{number}" if named else "")
        lines.append(f"(assert {stated}) ; {hypothesis.name}")
    goal = _named(f"(not {written.formula(writer, obligation.goal.body)})", "g" if named else "")
    lines.append(f"(assert {goal}) ; the goal {obligation.goal.name}")
    lines.append("(check-sat)")
    return "\n".join(lines) + "\n"


def _named(formula: str, name: str) -> str:
    return f"(! {formula} :named {name})" if name else formula


@dataclass(slots=True)
class _Writer:
    """Canonical names of one obligation."""

    obligation: Obligation
    sorts: dict[str, str] = field(init=False)
    symbols: dict[str, str] = field(init=False)
    constants: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        signature = self.obligation.signature
        self.sorts = {sort.name: f"S{number}" for number, sort in enumerate(signature.sorts)}
        self.symbols = {symbol.name: f"f{number}" for number, symbol in enumerate(signature.symbols)}
        self.constants = {constant.name: f"k{number}" for number, constant in enumerate(self.obligation.constants)}

    def sort(self, type_: Type) -> str:
        if type_ == BOOL:
            return "Bool"
        if type_ == NAT:
            return "Int"
        if isinstance(type_, Sort) and type_.name in self.sorts:
            return self.sorts[type_.name]
        raise Unsupported(f"no SMT sort for `{type_}`")

    def declarations(self) -> list[str]:
        signature = self.obligation.signature
        lines = [f"(declare-sort {self.sorts[sort.name]} 0) ; {sort.name}" for sort in signature.sorts]
        for name in signature.ordered:
            lines.extend(_order_axioms(self.sorts[name]))
        for symbol in signature.symbols:
            parameters = " ".join(self.sort(parameter.type) for parameter in symbol.parameters)
            canonical = self.symbols[symbol.name]
            lines.append(f"(declare-fun {canonical} ({parameters}) {self.sort(symbol.result)}) ; {symbol.name}")
            if symbol.result == NAT:
                lines.append(self._natural(canonical, symbol))
        for constant in self.obligation.constants:
            canonical = self.constants[constant.name]
            lines.append(f"(declare-const {canonical} {self.sort(constant.type)}) ; {constant.name}")
            if constant.type == NAT:
                lines.append(f"(assert (<= 0 {canonical}))")
        return lines

    def _natural(self, canonical: str, symbol: ir.Symbol) -> str:
        if not symbol.parameters:
            return f"(assert (<= 0 {canonical}))"
        names = [f"x{number}" for number in range(len(symbol.parameters))]
        binders = " ".join(
            f"({name} {self.sort(parameter.type)})" for name, parameter in zip(names, symbol.parameters, strict=True)
        )
        application = f"({canonical} {' '.join(names)})"
        return f"(assert (forall ({binders}) (! (<= 0 {application}) :pattern ({application}))))"

    def formula(self, expr: ir.Expr, bound: Mapping[str, str]) -> str:
        match expr:
            case ir.Literal_():
                return _literal(expr.value)
            case ir.Zero():
                return _literal(zero_of(expr.type))
            case ir.Local():
                return bound[expr.name] if expr.name in bound else self.constants[expr.name]
            case ir.Apply():
                arguments = " ".join(self.formula(argument, bound) for argument in expr.arguments)
                symbol = self.symbols[expr.symbol]
                return f"({symbol} {arguments})" if arguments else symbol
            case ir.Not():
                return f"(not {self.formula(expr.operand, bound)})"
            case ir.Connective():
                operator = {"and": "and", "or": "or", "implies": "=>", "iff": "="}[expr.operator]
                return f"({operator} {self.formula(expr.left, bound)} {self.formula(expr.right, bound)})"
            case ir.Comparison():
                return self._comparison(expr, bound)
            case ir.Arithmetic():
                return self._arithmetic(expr, bound)
            case ir.Conditional():
                condition, then, otherwise = (
                    self.formula(part, bound) for part in (expr.condition, expr.then, expr.otherwise)
                )
                return f"(ite {condition} {then} {otherwise})"
            case ir.Quantified():
                return self._quantified(expr, bound)
            case _:
                raise Unsupported(f"`{type(expr).__name__}` has no meaning in a theory or machine")

    def _comparison(self, expr: ir.Comparison, bound: Mapping[str, str]) -> str:
        left, right = self.formula(expr.left, bound), self.formula(expr.right, bound)
        if expr.operator == "=":
            return f"(= {left} {right})"
        if expr.left.type == NAT:
            return f"({expr.operator} {left} {right})"
        if not isinstance(expr.left.type, Sort) or expr.left.type.name not in self.obligation.signature.ordered:
            raise Unsupported(f"`{expr.left.type}` has no order")
        less = f"(lt_{self.sorts[expr.left.type.name]} {left} {right})"
        return less if expr.operator == "<" else f"(or {less} (= {left} {right}))"

    def _arithmetic(self, expr: ir.Arithmetic, bound: Mapping[str, str]) -> str:
        left, right = self.formula(expr.left, bound), self.formula(expr.right, bound)
        match expr.operator:
            case "+" | "-":
                return f"({expr.operator} {left} {right})"
            case "max":
                return f"(ite (<= {left} {right}) {right} {left})"
            case "min":
                return f"(ite (<= {left} {right}) {left} {right})"
            case "*":
                raise Unsupported("a product")
            case _ as never:
                assert_never(never)

    def _quantified(self, expr: ir.Quantified, bound: Mapping[str, str]) -> str:
        refuse_domains(expr)
        assert expr.kind != "count", "counts have been replaced"
        inner = dict(bound)
        binders: list[str] = []
        guards: list[str] = []
        for variable in expr.variables:
            name = f"x{len(inner)}"
            while name in inner.values():
                name += "_"
            inner[variable.name] = name
            binders.append(f"({name} {self.sort(variable.type)})")
            if variable.type == NAT:
                guards.append(f"(<= 0 {name})")
        body = self.formula(expr.body, inner)
        if guards:
            guard = guards[0] if len(guards) == 1 else f"(and {' '.join(guards)})"
            body = f"(=> {guard} {body})" if expr.kind == "forall" else f"(and {guard} {body})"
        return f"({expr.kind} ({' '.join(binders)}) {body})"


def _literal(value: int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _order_axioms(sort: str) -> list[str]:
    """A strict total order on a sort: irreflexive, transitive, total."""
    less = f"lt_{sort}"
    return [
        f"(declare-fun {less} ({sort} {sort}) Bool)",
        f"(assert (forall ((x {sort})) (not ({less} x x))))",
        f"(assert (forall ((x {sort}) (y {sort}) (z {sort})) (=> (and ({less} x y) ({less} y z)) ({less} x z))))",
        f"(assert (forall ((x {sort}) (y {sort})) (or ({less} x y) ({less} y x) (= x y))))",
    ]
