"""Obligations as SMT-LIB2 text: one text for each, the same for every solver and every run.

Names are canonical: sorts, symbols, constants and bound variables are numbered in order of appearance, so that
renaming anything in a file cannot change what a solver does. A comment says which number stands for which name.
An ordered sort gets a relation with the axioms of a strict total order; a nat is an `Int` that is not negative.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from thence.dsl import ir
from thence.dsl.ir.types import NAT
from thence.proofs.logic.counting import without_counts
from thence.proofs.logic.mentions import Mentioned
from thence.proofs.logic.obligation import Obligation, Signature
from thence.proofs.logic.smt_formula import Names, SmtFormula, smt_formula, sort_text


@dataclass(slots=True)
class Written:
    """What was written of formulas, by identity: the obligations of a machine share most hypotheses.

    Attributes:
        formulas: each with the formula that it is the text of, so that no other has its place in memory.
        signatures: the names of sorts and symbols, and their declarations.
        mentioned: what formulas speak about.
        counted: obligations in which something is counted, each with the one without counts.
    """

    formulas: dict[int, tuple[ir.Expr, SmtFormula]] = field(default_factory=dict)
    signatures: dict[int, tuple[Signature, Names, list[str]]] = field(default_factory=dict)
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

    def formula(self, body: ir.Expr) -> SmtFormula:
        """A closed formula, or one whose free names are constants. Raises: Unsupported."""
        if id(body) not in self.formulas:
            self.formulas[id(body)] = body, smt_formula(body)
        return self.formulas[id(body)][1]

    def refuse(self, obligation: Obligation) -> None:
        """Raises: Unsupported for an obligation that has no text, without writing it."""
        names, _ = self.named(obligation)
        for each in (*obligation.hypotheses, obligation.goal):
            self.formula(each.body).refuse(names)

    def named(self, obligation: Obligation) -> tuple[Names, list[str]]:
        """The canonical names of an obligation, and the lines that declare them."""
        signature = obligation.signature
        if id(signature) not in self.signatures:
            self.signatures[id(signature)] = signature, *_of_signature(signature)
        _, shared, declared = self.signatures[id(signature)]
        names, lines = Names(shared), list(declared)
        for number, constant in enumerate(obligation.constants):
            canonical = names.constant(constant.name, f"k{number}")
            lines.append(f"(declare-const {canonical} {names.filled(sort_text(constant.type))}) ; {constant.name}")
            if constant.type == NAT:
                lines.append(f"(assert (<= 0 {canonical}))")
        return names, lines


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
    names, declared = written.named(obligation)
    lines = [f"; {obligation.name}", "(set-logic ALL)", *declared]
    if named:
        lines.insert(1, "(set-option :produce-unsat-cores true)")
    for number, hypothesis in enumerate(obligation.hypotheses):
        stated = _named(written.formula(hypothesis.body).text(names), f"h{number}" if named else "")
        lines.append(f"(assert {stated}) ; {hypothesis.name}")
    goal = _named(f"(not {written.formula(obligation.goal.body).text(names)})", "g" if named else "")
    lines.append(f"(assert {goal}) ; the goal {obligation.goal.name}")
    lines.append("(check-sat)")
    return "\n".join(lines) + "\n"


def _named(formula: str, name: str) -> str:
    return f"(! {formula} :named {name})" if name else formula


def _of_signature(signature: Signature) -> tuple[Names, list[str]]:
    """The names of sorts and symbols, and their declarations."""
    names = Names()
    lines: list[str] = []
    for number, sort in enumerate(signature.sorts):
        lines.append(f"(declare-sort {names.sort(sort.name, f'S{number}')} 0) ; {sort.name}")
    for ordered in signature.ordered:
        lines.extend(_order_axioms(*names.ordered(ordered)))
    for number, symbol in enumerate(signature.symbols):
        canonical = names.symbol(symbol.name, f"f{number}")
        sorts = [names.filled(sort_text(parameter.type)) for parameter in symbol.parameters]
        result = names.filled(sort_text(symbol.result))
        lines.append(f"(declare-fun {canonical} ({' '.join(sorts)}) {result}) ; {symbol.name}")
        if symbol.result == NAT:
            lines.append(_natural(canonical, sorts))
    return names, lines


def _natural(canonical: str, sorts: list[str]) -> str:
    """A number is not negative."""
    if not sorts:
        return f"(assert (<= 0 {canonical}))"
    values = [f"x{number}" for number in range(len(sorts))]
    binders = " ".join(f"({name} {sort})" for name, sort in zip(values, sorts, strict=True))
    application = f"({canonical} {' '.join(values)})"
    return f"(assert (forall ({binders}) (! (<= 0 {application}) :pattern ({application}))))"


def _order_axioms(sort: str, less: str) -> list[str]:
    """A strict total order on a sort: irreflexive, transitive, total."""
    return [
        f"(declare-fun {less} ({sort} {sort}) Bool)",
        f"(assert (forall ((x {sort})) (not ({less} x x))))",
        f"(assert (forall ((x {sort}) (y {sort}) (z {sort})) (=> (and ({less} x y) ({less} y z)) ({less} x z))))",
        f"(assert (forall ((x {sort}) (y {sort})) (or ({less} x y) ({less} y x) (= x y))))",
    ]
