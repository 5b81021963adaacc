"""The meaning of expressions: each is written as Python text, which is compiled to a function from a frame to a value.

This, `places` and `execute` are the one definition of a protocol's behaviour. Protocols and machines share it: a
frame gives the acting process and its state, the states of all processes (`X@p`), or the relations and
functions of a machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import product
from types import CodeType
from typing import Any, Final, TypeAlias, assert_never

from thence.dsl import ir
from thence.dsl.ir.types import MESSAGE, PROCESS, Collection, Map, Nat, Sort, Type, has_zero
from thence.dsl.run import values
from thence.dsl.run.choices import Choices
from thence.dsl.run.values import ABSENT, Message, Packet, Value, zero

Acts: TypeAlias = Mapping[tuple[str, str | None], tuple[Value, ...]]
"""What was done in a step, as records: deliveries, the arrival, or the input; by verb, and packet kind or input."""


class _Nothing(Mapping[Any, Any]):
    """The mapping without keys. A frame is made for each step: one that all share costs less than its own."""

    __slots__ = ()
    __hash__ = object.__hash__

    def __getitem__(self, key: object) -> Any:
        raise KeyError(key)

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __len__(self) -> int:
        return 0


_NOTHING: Final = _Nothing()


@dataclass
class Frame:
    """The surroundings of an expression while it is evaluated.

    Attributes:
        process: the acting process.
        state: its state variables, by position; changed in place by statements.
        positions: the position of each state variable by name.
        processes: the number of processes.
        all_states: every process's state variables, for `X@p`.
        locals: values of the names that the expression itself does not bind.
        symbols: a machine's relations and functions.
        messages: the universe of messages for quantifiers.
        flying: the packets in flight; where channels keep their order (`fifo`), those of one channel in that order.
        acted: what was done in the step that has just been made, by verb and kind.
        application: takes the place of `deliver`; its second argument computes the message. It may send messages.
        choices: decide what `choose` and `either` take; None: the first alternative.
        scan: gives the elements of a collection the order in which a loop visits them; None: the text's own order.
    """

    process: int = 0
    state: list[Value] = field(default_factory=list)
    processes: int = 0
    all_states: Sequence[Sequence[Value]] = ()
    locals: dict[str, Value] = field(default_factory=dict)
    symbols: Mapping[str, Callable[..., Value]] = _NOTHING
    messages: Sequence[Message] = ()
    flying: Sequence[Packet] = ()
    fifo: bool = False
    acted: Acts = _NOTHING
    emitted: list[Any] = field(default_factory=list)
    guards: list[Any] | None = None
    budget: int = 0
    application: Callable[[Frame, Callable[[Frame], Message]], None] | None = None
    choices: Choices | None = None
    scan: Callable[[Iterable[Value]], Iterable[Value]] | None = None

    @classmethod
    def of_step(cls, process: int, state: list[Value], processes: int) -> Frame:
        """As `Frame(process, state, processes)`, in less time: all else is the class's until it is set."""
        frame = cls.__new__(cls)
        frame.process, frame.state, frame.processes = process, state, processes
        frame.locals, frame.emitted = {}, []
        return frame


Evaluator: TypeAlias = Callable[[Frame], Value]


@dataclass(frozen=True, slots=True)
class Names:
    """The meaning of names while an expression is compiled: positions of state variables."""

    positions: Mapping[str, int]


def compile_expression(expression: ir.Expr, names: Names) -> Evaluator:
    """The function that computes the expression. It raises Fault where the expression has no value."""
    source = Source()
    text = Terms(source, names.positions).bare(expression)
    return source.function("def evaluate(frame):", [f"return {text}"])


def domain_of(bound: ir.Bound, names: Names) -> Callable[[Frame], Iterable[Value]]:
    """The function that gives the values of a bound variable."""
    source = Source()
    text = Terms(source, names.positions).domain(bound)
    return source.function("def domain(frame):", [f"return {text}"])


def field_position(type_: Type, name: str) -> int:
    """The position of a field in a record."""
    labels = [label for label, _ in type_.fields]  # type: ignore[union-attr]
    return labels.index(name)


# --- text ------------------------------------------------------------------------------------

DEEPEST: Final = 60
"""Brackets inside one another in one line of text; Python reads 200."""


MOST_LOOPS: Final = 10
"""Loops inside one another in a function for quantifiers; Python takes 20."""


@dataclass(slots=True)
class Source:
    """Python text that is being written.

    Attributes:
        objects: what the text refers to, by name.
        parts: functions of the function that is being written, for expressions that are nested deeply.
    """

    objects: dict[str, Any] = field(default_factory=lambda: dict(_GIVEN))
    parts: list[str] = field(default_factory=list)
    _numbers: int = 0

    def fresh(self, name: str) -> str:
        """A new name of Python, which reminds of `name`."""
        self._numbers += 1
        return f"{name if name.isascii() and name.isidentifier() else 'name'}_{self._numbers}"

    def object(self, value: Any) -> str:
        """The name by which the text refers to this object."""
        name = self.fresh("given")
        self.objects[name] = value
        return name

    def part(self, text: str, bound: Iterable[str]) -> str:
        """The text as a call of a function of its own; `bound` are the names of Python that the text itself binds."""
        name, parameters = self.fresh("part"), ", ".join(bound)
        self.parts.append(f"def {name}({parameters}): return {text}")
        return f"{name}({parameters})"

    def every(self, bound: Iterable[str], wanted: bool, loops: Sequence[tuple[str, str]], body: str) -> str:
        """A call of a function of its own, which gives `wanted` unless the body has the other value somewhere.

        Each loop is a name of Python and the values that it takes. A function with loops is faster than generators.
        """
        name, parameters = self.fresh("every" if wanted else "some"), ", ".join(bound)
        lines = [f"def {name}({parameters}):"]
        for depth, (item, domain) in enumerate(loops, 1):
            lines.append(f"{' ' * depth}for {item} in {domain}:")
        inside = " " * (len(loops) + 1)
        lines.append(f"{inside}if {f'not ({body})' if wanted else body}: return {not wanted}")
        self.parts += [*lines, f" return {wanted}"]
        return f"{name}({parameters})"

    def lines(self, head: str, body: Iterable[str], first: Iterable[str] = ()) -> list[str]:
        """A function: its first line, and the lines of its body; of these `first` come before its parts."""
        inside = [*first, *self.parts, *body]
        self.parts.clear()
        return [head, *(f" {line}" for line in inside)]

    def function(self, head: str, body: Iterable[str]) -> Callable[..., Any]:
        """The one function of the text."""
        (found,) = self.functions(self.lines(head, body)).values()
        return found

    def functions(self, lines: Iterable[str]) -> dict[str, Callable[..., Any]]:
        """The functions of the text, by name."""
        found: dict[str, Any] = {}
        exec(_compiled("\n".join(lines)), self.objects, found)  # text that this module and `execute` write
        self.objects.update(found)
        return found


@lru_cache(maxsize=4096)
def _compiled(text: str) -> CodeType:
    return compile(text, "<protocol>", "exec")


def _in_flight(frame: Frame, kind: str) -> Value:
    """The packets of a kind. Behind the fields that a text knows, each has its place among all that are in flight."""
    flying = enumerate(frame.flying)
    return tuple([(*each.arguments, each.src, each.dst, at) for at, each in flying if each.kind == kind])


def _ahead(frame: Frame, kind: str, other: Any) -> Value:
    """The packets of a kind that arrive before this one, from its channel."""
    if not frame.fifo:
        return ()
    *_, src, dst, place = other
    return tuple(
        (*each.arguments, src, dst, at)
        for at, each in enumerate(frame.flying[:place])
        if (each.kind, each.src, each.dst) == (kind, src, dst)
    )


def _placed(queue: Any, other: Any = None) -> Value:
    """The elements of a queue with their places: all, or those before another one."""
    return tuple((item, at) for at, item in enumerate(queue if other is None else queue[: other[1]]))


_GIVEN: Final[dict[str, Any]] = {
    **{
        function.__name__: function
        for function in (
            values.added, values.all_but, values.ascending, values.entry, values.entry_or, values.first_index,
            values.first_of_pair, values.head, values.indices, values.items_of, values.keys, values.maps, values.minus,
            values.next_index, values.peek, values.queue_item, values.rest, values.size_of_window, values.value_of,
            values.window_item, values.with_entry, values.with_entry_or, values.with_index, values.with_queue_item,
            values.with_window_item, values.without_first, values.without_head, values.without_item,
            values.numbered_item,
        )
    },
    "ABSENT": ABSENT, "ahead": _ahead, "in_flight": _in_flight, "placed": _placed, "product": product,
}  # fmt: skip
"""The names that every text knows."""

_OPERATORS: Final = {"=": "==", "<": "<", "<=": "<=", "iff": "=="}


@dataclass(frozen=True, slots=True)
class Terms:
    """Writes expressions.

    Attributes:
        source: the text of which they become a part.
        positions: the position of each state variable by name.
        known: how names are read that the text binds; others are locals of the frame.
        bound: the names of Python that the expression itself binds.
        frame: how parts of the frame are read, where the text has them at hand.
        applied: how symbols of a machine are applied, where the text has them at hand, with {} for the arguments.
    """

    source: Source
    positions: Mapping[str, int]
    known: Mapping[str, str] = field(default_factory=dict)
    bound: tuple[str, ...] = ()
    frame: Mapping[str, str] = field(default_factory=dict)
    applied: Mapping[str, str] = field(default_factory=dict)

    def of_frame(self, name: str) -> str:
        """The part of the frame with this name."""
        return self.frame.get(name, f"frame.{name}")

    def bare(self, expression: ir.Expr) -> str:
        """The expression as a text that stands alone, or between brackets and commas."""
        text = self._written(expression)
        if len(text) > DEEPEST and _depth(text) > DEEPEST:
            return self.source.part(text, self.bound)
        return text

    def text(self, expression: ir.Expr) -> str:
        """The expression as an operand."""
        text = self.bare(expression)
        return f"({text})" if _is_operation(expression) else text

    def _written(self, expression: ir.Expr) -> str:
        text, bare = self.text, self.bare
        match expression:
            case ir.Literal_(value=constant):
                return repr(constant)
            case ir.Zero(type=type_):
                return zero_text(type_)
            case ir.Local(name=name):
                return self.known.get(name) or f"frame.locals[{name!r}]"
            case ir.SelfProcess():
                return self.of_frame("process")
            case ir.StateOf(name=name, process=None):
                return f"{self.of_frame('state')}[{self.positions[name]}]"
            case ir.StateOf(name=name, process=owner):
                assert owner is not None
                return f"frame.all_states[{bare(owner)}][{self.positions[name]}]"
            case ir.FieldOf(target=target, name=name):
                return f"{text(target)}[{field_position(target.type, name)}]"
            case ir.Attribute(target=target, name="src"):
                return f"{text(target)}.src"
            case ir.Attribute(target=target, name="dst"):
                return f"{text(target)}.dsts[0]"
            case ir.Attribute(target=target):
                return f"frozenset({text(target)}.dsts)"
            case ir.Lookup(target=target, key=key):
                return entry_text(bare(target), bare(key), target.type)
            case ir.ElementAt(target=target, index=index):
                return f"{_element_at(target.type)}({bare(target)}, {bare(index)})"
            case ir.Query(target=target, name=name):
                return _query(bare(target), target.type, name)
            case ir.Construct(values=parts):
                return f"({''.join(f'{bare(part)}, ' for part in parts)})"
            case ir.SetOf(items=items):
                return f"frozenset(({''.join(f'{bare(item)}, ' for item in items)}))"
            case ir.Some(item=item):
                return f"({bare(item)},)"
            case ir.Apply(symbol="window", arguments=arguments):
                return f"({bare(arguments[0])}, ())"
            case ir.Apply(symbol=symbol, arguments=arguments):
                applied = self.applied.get(symbol, f"frame.symbols[{symbol!r}]({{}})")
                return applied.format(", ".join(map(bare, arguments)))
            case ir.Not(operand=operand):
                return f"not {text(operand)}"
            case ir.Connective(operator="and" | "or" as operator, left=left, right=right):
                first = bare(left) if isinstance(left, ir.Connective) and left.operator == operator else text(left)
                return f"{first} {operator} {text(right)}"
            case ir.Connective(operator="implies", left=left, right=right):
                return f"not {text(left)} or {text(right)}"
            case (
                ir.Connective(operator=operator, left=left, right=right)
                | ir.Comparison(operator=operator, left=left, right=right)
            ):
                return f"{text(left)} {_OPERATORS[operator]} {text(right)}"
            case ir.Member(item=item, collection=collection):
                return self._member(item, collection)
            case ir.Arithmetic(operator="+" | "*" as operator, left=left, right=right):
                first = bare(left) if isinstance(left, ir.Arithmetic) and left.operator == operator else text(left)
                return f"{first} {operator} {text(right)}"
            case ir.Arithmetic(operator=operator, left=left, right=right):
                function = "minus" if operator == "-" else operator
                return f"{function}({bare(left)}, {bare(right)})"
            case ir.IsEmpty(target=target):
                return f"not {self._held(target)}"
            case ir.IsNone(target=target):
                return f"{text(target)} is None"
            case ir.Conditional(condition=condition, then=then, otherwise=otherwise):
                return f"{text(then)} if {text(condition)} else {text(otherwise)}"
            case ir.InFlight(kind=kind, ahead=other):
                return f"in_flight(frame, {kind!r})" if other is None else f"ahead(frame, {kind!r}, {bare(other)})"
            case ir.Placed(queue=queue, ahead=other):
                return f"placed({bare(queue)})" if other is None else f"placed({bare(queue)}, {bare(other)})"
            case ir.Acted(verb=verb, kind=kind):
                return f"frame.acted.get({(verb, kind)!r}, ())"
            case ir.Quantified():
                return self._quantified(expression)
            case _:
                assert_never(expression)

    def _held(self, collection: ir.Expr) -> str:
        """The tuple or set of the elements."""
        text = self.text(collection)
        return f"{text}[1]" if _slides(collection.type) else text

    def _member(self, item: ir.Expr, collection: ir.Expr) -> str:
        match collection.type:
            case Map():
                return f"maps({self.bare(collection)}, {self.bare(item)})"
            case Collection("set" | "queue"):
                return f"{self.text(item)} in {self.text(collection)}"
            case _:
                return f"{self.text(item)} in {self.elements(collection)}"

    def elements(self, collection: ir.Expr) -> str:
        """The elements in order, as a sequence: see `values.elements`."""
        match collection.type:
            case Map():
                return f"keys({self.bare(collection)})"
            case Collection("set", Nat() | Sort("process" | "message")):
                return f"sorted({self.bare(collection)})"
            case Collection("set"):
                return f"ascending({self.bare(collection)})"
            case Collection("queue"):
                return self.text(collection)
            case Collection("sliding array"):
                return f"{self.text(collection)}[1]"
            case Collection("sliding map"):
                return f"items_of({self.bare(collection)})"
            case Collection("option"):
                return f"({self.text(collection)} or ())"
            case type_:
                raise AssertionError(f"{type_} has no elements")

    def domain(self, bound: ir.Bound) -> str:
        """The values of a bound variable."""
        if bound.domain is not None:
            return self.elements(bound.domain)
        if bound.type == PROCESS:
            return f"range({self.of_frame('processes')})"
        if bound.type == MESSAGE:
            return "frame.messages"
        raise AssertionError(f"no domain for {bound.type}")

    def binding(self, names: Mapping[str, str]) -> Terms:
        """The terms of an expression in which the names are bound, to these names of Python."""
        return replace(self, known={**self.known, **names}, bound=(*self.bound, *names.values()))

    def _quantified(self, expression: ir.Quantified) -> str:
        if expression.kind in ("forall", "exists") and len(expression.variables) == 1:
            return self._all_or_any(expression)
        domains = [self.domain(bound) for bound in expression.variables]
        names = {bound.name: self.source.fresh(bound.name) for bound in expression.variables}
        body = self.binding(names).text(expression.body)
        values_of = domains[0] if len(domains) == 1 else f"product({', '.join(domains)})"
        loop = f"for {', '.join(names.values())} in {values_of}"
        match expression.kind:
            case "forall":
                return f"all({body} {loop})"
            case "exists":
                return f"any({body} {loop})"
            case "sum":
                return f"sum({body} {loop})"
            case _:
                return f"sum(1 {loop} if {body})"

    def _all_or_any(self, expression: ir.Quantified) -> str:
        """A function with a loop for each quantifier that stands right inside another one of its kind."""
        kind, inner = expression.kind, self
        loops: list[tuple[str, str]] = []
        part: ir.Expr = expression
        while isinstance(part, ir.Quantified) and part.kind == kind and len(part.variables) == 1:
            if len(loops) == MOST_LOOPS:
                break
            (variable,) = part.variables
            name, domain = self.source.fresh(variable.name), inner.domain(variable)
            loops.append((name, domain))
            inner = inner.binding({variable.name: name})
            part = part.body
        return self.source.every(self.bound, kind == "forall", loops, inner.bare(part))


def entry_text(map_: str, key: str, type_: Type) -> str:
    """A map at a key."""
    assert isinstance(type_, Map)
    if has_zero(type_.value):
        return f"entry_or({map_}, {key}, {zero_text(type_.value)})"
    return f"entry({map_}, {key})"


def zero_text(type_: Type) -> str:
    """The zero of a type, as text."""
    return repr(zero(type_))


def _slides(type_: Type) -> bool:
    return isinstance(type_, Collection) and type_.kind in ("sliding array", "sliding map")


def _element_at(type_: Type) -> str:
    """The function that gives an element by its number."""
    return "numbered_item" if isinstance(type_, Collection) and type_.kind == "sliding map" else "window_item"


def _query(target: str, type_: Type, name: str) -> str:
    match name, type_:
        case "size", _:
            return f"size_of_window({target})" if _slides(type_) else f"len({target})"
        case "first", Collection("sliding array"):
            return f"first_of_pair({target})"
        case "next", Collection("sliding array"):
            return f"next_index({target})"
        case "first", Collection("sliding map"):
            return f"first_index({target})"
        case "next", Collection("sliding map"):
            return f"first_of_pair({target})"
        case "peek", Collection("sliding array"):
            return f"peek({target})"
        case "first", Collection("queue"):
            return f"head({target})"
        case "value", Collection("option"):
            return f"value_of({target})"
        case _:
            raise AssertionError((name, type_))


def _is_operation(expression: ir.Expr) -> bool:
    """Whether the text is no name, call, display or subscript: it needs brackets beside operators."""
    match expression:
        case ir.Not() | ir.Connective() | ir.Comparison() | ir.Member() | ir.IsEmpty() | ir.IsNone() | ir.Conditional():
            return not (isinstance(expression, ir.Member) and isinstance(expression.collection.type, Map))
        case ir.Arithmetic(operator=operator):
            return operator in "+*"
        case _:
            return False


def _depth(text: str) -> int:
    """How many brackets are inside one another."""
    depth = deepest = 0
    for character in text:
        if character in "([":
            depth += 1
            deepest = max(deepest, depth)
        elif character in ")]":
            depth -= 1
    return deepest
