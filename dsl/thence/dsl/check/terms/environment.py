"""The names in reach of an expression that is checked, and the report of an unknown one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal, TypeAlias

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, PROCESS, Record, Type
from thence.dsl.text.reporter import Reporter
from thence.dsl.text.syntax import Name, Span
from thence.spec.value import record

LocalKind: TypeAlias = Literal["parameter", "constant", "variable", "reference", "loop", "bound"]
"""`let` makes a constant, `var` a variable, `ref` and `for ref` a reference, `for` a loop name, a quantifier a bound
one."""

Place: TypeAlias = Literal["theory", "machine", "property", "handler", "initial", "clause"]
"""The place of an expression: it decides which names and forms are allowed."""

PROTOCOL_TYPES: Mapping[str, Type | None] = MappingProxyType(
    {"process": PROCESS, "message": MESSAGE, "bool": BOOL, "nat": NAT}
)
RESERVED = frozenset({"process", "message", "bool", "nat", "self"})
BUILT_IN_FUNCTIONS = ("max", "min", "some", "window")


@record(frozen=True, slots=True)
class LocalName:
    """A parameter, `let`, `ref`, `for` or bound name; without a type where that could not be found out.

    `typed_behind`: another name of the same quantifier, if the type is written behind that one only.
    """

    type: Type | None
    span: Span
    kind: LocalKind
    typed_behind: str = ""


Locals: TypeAlias = Mapping[str, LocalName]


@record(frozen=True, slots=True)
class Unknown:
    """The expected type where the context is at fault: whatever is found is accepted in silence."""


UNKNOWN = Unknown()
Expected: TypeAlias = Type | Unknown | None
"""The type that the context asks for, or anything (None), or anything in silence."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The names of a declaration, as its expressions see them.

    A name whose declaration is erroneous maps to None: it is known, and nothing more is said about it.
    `ordered` names the sorts with an order; `delivery` is that of the machine or protocol.
    `fixed` are the names that nothing changes: those that a tree network or an overlay gives. `constants` are a
    protocol's constants and roles, `kinds` its packet kinds and `inputs` its inputs, with their parameters. `sent`: a
    formula may quantify over the messages that were sent. `actions`: it may be about an action (`when p delivers m:
    P`). `followed` are the definitions of the machine that a link's protocol follows; `hidden`, by name, says of its
    relations and functions that a definition of the protocol hides them. `numbered`: elements of sliding maps may be
    named by their numbers.
    """

    place: Place
    types: Mapping[str, Type | None] = field(default_factory=dict)
    symbols: Mapping[str, ir.Symbol | None] = field(default_factory=dict)
    state: Mapping[str, Type | None] = field(default_factory=dict)
    ordered: frozenset[str] = frozenset()
    procedures: frozenset[str] = frozenset()
    delivery: ir.MachineDelivery = "unicast"
    fixed: frozenset[str] = frozenset()
    definitions: Mapping[str, ir.Definition | None] = field(default_factory=dict)
    followed: Mapping[str, ir.Definition] = field(default_factory=dict)
    hidden: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, Type | None] = field(default_factory=dict)
    kinds: Mapping[str, tuple[ir.Variable, ...] | None] = field(default_factory=dict)
    inputs: Mapping[str, tuple[ir.Variable, ...] | None] = field(default_factory=dict)
    sent: bool = False
    actions: bool = False
    numbered: bool = False

    def at(self, place: Place) -> Vocabulary:
        """The same names, for an expression that stands elsewhere."""
        return replace(self, place=place)

    def definition(self, name: str, of_process: bool) -> ir.Definition | None:
        """What a definition stands for, `f(x)` or `f@p(x)`; None if it is erroneous or there is none.

        Where protocol and machine of a link have the same name, `f(x)` is the machine's if the other needs `@`.
        """
        own = self.definitions.get(name)
        if not of_process and name in self.followed and (own is None or own.reads == "self"):
            return self.followed[name]
        return own

    def has_faulty_symbols(self) -> bool:
        """Whether a relation or function is erroneous, so that types of names may be unknown only for that."""
        return None in self.symbols.values()

    @property
    def records(self) -> dict[str, Record]:
        return {name: type_ for name, type_ in self.types.items() if isinstance(type_, Record)}


def report_taken(name: Name, words: Vocabulary, reporter: Reporter) -> bool:
    """Reports a definition with a name that something else has; whether the name is free."""
    what = taken_by(name.text, words)
    if what is not None:
        reporter.error("E0209", name.span, f"definition `{name.text}` hides {what}", "choose another name")
    return what is None


def taken_by(name: str, words: Vocabulary) -> str | None:
    """What has a name already that a definition could have; None: nothing."""
    for known, what in (
        (words.state, "a state variable"),
        (words.constants, "a constant or role"),
        (words.symbols, "a relation or function"),
        (words.types, "a type"),
        (words.procedures, "a procedure"),
    ):
        if name in known:
            return what
    return None


def a(type_: Type) -> str:
    """A type for a message, with its article: a `nat`, an `option of message`."""
    return f"an `{type_}`" if str(type_)[0] in "aeio" else f"a `{type_}`"


def listed(names: Iterable[str]) -> str:
    """Names for a message: `a`, `b` and `c`."""
    quoted = [f"`{name}`" for name in names]
    if len(quoted) < 2:
        return "".join(quoted)
    return f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def here(number: int) -> str:
    """A number in words: `here is 1`, `here are 2`."""
    return "here is 1" if number == 1 else f"here are {number}"


def declare(name: Name, what: str, known: dict[str, Span], reporter: Reporter) -> bool:
    """Enters a declared name; reports a second declaration, or a name that the language keeps for itself."""
    if name.text in RESERVED:
        reporter.error("E0212", name.span, f"`{name.text}` is a name of the language and cannot be declared")
        return False
    if name.text in known:
        reporter.error(
            "E0208",
            name.span,
            f"{what} `{name.text}` is declared twice",
            f"first declared on line {known[name.text].line}",
        )
        return False
    known[name.text] = name.span
    return True
