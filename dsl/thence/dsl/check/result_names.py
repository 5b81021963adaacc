"""The names that results carry: those that the tool keeps, and one namespace for the statements of each subject.

A result, a certificate and an expectation find a statement by its name. So no two statements of a subject share a name,
and no declaration takes a name under which the tool reports something of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from thence.dsl.ir.machine_builtins import HISTORY, MACHINE_PROPERTIES, VACUITY
from thence.dsl.text import syntax
from thence.dsl.text.reporter import Reporter
from thence.dsl.text.syntax import Formula, Name, Span

FACT_PREFIX = "ghost_"
"""The names of the facts about the history begin with it."""

_RESULTS = frozenset({HISTORY, VACUITY})
OF_MACHINES = frozenset({"not_sent", "quiescent", "waiting"})
_OF_THEORIES = frozenset({"claim", "chain", "claim_so_far"})
"""The hypotheses that the tool adds to obligations, by the names under which `--cores` reports them."""


def article(what: str) -> str:
    """The kind of a declaration with its article."""
    return f"an {what}" if what.lstrip("`")[0] in "aeio" else f"a {what}"


def is_kept(name: str) -> bool:
    """Whether the tool keeps the name for results of its own."""
    return name in _RESULTS or name.startswith(FACT_PREFIX)


def check_not_kept(name: Name, what: str, reporter: Reporter, hypotheses: frozenset[str] = frozenset()) -> bool:
    """Reports a declared name that the tool keeps, for its results or for these hypotheses."""
    if not is_kept(name.text) and name.text not in hypotheses:
        return True
    kept = ", ".join(f"`{each}`" for each in sorted(_RESULTS | hypotheses))
    note = f"choose another name: {kept} and names with `{FACT_PREFIX}` at their beginning are kept"
    reporter.error("E0640", name.span, f"{what} `{name.text}` takes a name that the tool keeps", note)
    return False


def check_names_of_machine(machine: syntax.Machine, reporter: Reporter) -> None:
    """One namespace for all that results of a machine name."""
    namespace = _Namespace(reporter, OF_MACHINES)
    namespace.enter("transition", machine.transitions)
    namespace.enter("axiom", machine.axioms)
    namespace.enter("invariant", machine.invariants)
    namespace.enter("stable formula", machine.stable)
    namespace.enter("reachable formula", machine.reachable)
    namespace.enter("`eventually` statement", machine.eventual)
    for formula in (*machine.invariants, *machine.stable, *machine.reachable, *machine.eventual):
        if formula.name.text in MACHINE_PROPERTIES:
            what = f"`{formula.name.text}` is the name of a built-in property"
            reporter.error("E0519", formula.name.span, what, "write `prove` to prove it")
    for name in (*(each.name for each in machine.transitions), *(axiom.name for axiom in machine.axioms)):
        if name.text in MACHINE_PROPERTIES:
            reporter.error("E0640", name.span, f"`{name.text}` is the name of a built-in property")


def _check_names_of_theory(theory: syntax.Theory, reporter: Reporter) -> None:
    """One namespace for axioms and properties."""
    namespace = _Namespace(reporter, _OF_THEORIES)
    for inductive in theory.inductives:
        for rule in inductive.rules:
            check_not_kept(rule.name, "rule", reporter, _OF_THEORIES)
    namespace.enter("axiom", theory.axioms)
    namespace.enter("property", theory.properties)


@dataclass(frozen=True, slots=True)
class _Namespace:
    """The names so far, each with its kind and place. Two written ones of one kind are reported there.

    A name is written, or made from the position of a formula without one.
    """

    reporter: Reporter
    hypotheses: frozenset[str]
    names: dict[str, tuple[str, bool, Span]] = field(default_factory=dict)

    def enter(self, what: str, declared: Sequence[Formula | syntax.Transition]) -> None:
        """Enters the names of one kind; a formula without a name is named by its position."""
        for position, part in enumerate(declared, start=1):
            written = bool(part.name.text)
            name = part.name if written else Name(f"{what}_{position}", span=part.span)
            if not check_not_kept(name, what, self.reporter, self.hypotheses):
                continue
            first, told, place = self.names.setdefault(name.text, (what, written, name.span))
            if place != name.span and not (first == what and told and written):
                self.reporter.error(
                    "E0641",
                    name.span,
                    f"{what} `{name.text}` has the name of {article(first)}",
                    f"it is declared on line {place.line}; results are found by their names",
                )


def check_names_of_file(file: syntax.File, reporter: Reporter) -> None:
    """The declarations that `prove` and `verify` find by name have names of their own, and none of the tool's.

    Mutants of different subjects may have the same name: their results name the subject too.
    """
    names: dict[str, tuple[str, Span]] = {}
    for declaration in file.declarations:
        match declaration:
            case syntax.Theory():
                what = "theory"
            case syntax.Theorem():
                what = "theorem"
            case syntax.Machine():
                what = "machine"
            case syntax.Protocol():
                what = "protocol"
            case syntax.Mutant():
                what = "mutant"
            case _:
                continue
        name = declaration.name
        if isinstance(declaration, syntax.Theory):
            _check_names_of_theory(declaration, reporter)
        check_not_kept(name, what, reporter)
        if what in ("theorem", "machine", "mutant") and name.text in MACHINE_PROPERTIES:
            reporter.error("E0640", name.span, f"{what} `{name.text}` takes the name of a built-in property")
        first = names.get(name.text)
        if first is not None and first[0] != what and {first[0], what} != {"machine", "protocol"}:
            reporter.error(
                "E0641",
                name.span,
                f"{what} `{name.text}` has the name of {article(first[0])}",
                f"it is first declared on line {first[1].line}; results are found by their names",
            )
        names.setdefault(name.text, (what, name.span))
    for machine in file.declarations:
        if isinstance(machine, syntax.Machine):
            for formula in (*machine.invariants, *machine.stable, *machine.reachable, *machine.eventual):
                other = names.get(formula.name.text)
                if other is not None and other[0] in ("theorem", "machine", "mutant"):
                    reporter.error(
                        "E0641",
                        formula.name.span,
                        f"statement `{formula.name.text}` has the name of {article(other[0])}",
                        f"it is declared on line {other[1].line}; results are found by their names",
                    )
