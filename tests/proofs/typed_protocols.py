"""Random handlers of every type and statement, as texts: terms are drawn by their types, so anything meets anything.

Names come from one small stock of words that mean something to programs or to solvers. They meet again in the branches,
loops and procedures of one body, where the language lets them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Literal, TypeAlias

from thence.dsl.check.terms.queries import element_type, operations, place_type
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, PROCESS, Collection, Map, Record, Type, has_zero
from thence.dsl.run.values import Message, ascending, zero

Scope: TypeAlias = Mapping[str, Type]
"""Terms with their types."""

WORDS = (
    "x", "X", "x_1", "int", "def_", "lambda", "assert", "select", "store", "frame", "len", "range", "Int", "yield",
    "goal", "when_", "struct", "void", "None", "True", "TRUE", "self_", "sorted", "Bool", "Seq", "CHOOSE", "Len",
)  # fmt: skip
"""Names that mean something elsewhere."""

QUERIES = ("value", "first", "next", "peek", "size", "src", "dst", "dsts")
"""What is read of a value and cannot be changed."""

SCALARS = (NAT, BOOL, PROCESS)


@dataclass(slots=True)
class Writer:
    """Writes one protocol.

    Attributes:
        partial: how often a term may have no value.
        without: what the engine that is compared does not have: `keys` that are collections, `products`, `sums` and
            counts over several variables, `choices`, `variables` of a body, `sets` with truth values inside, `sizes` of
            other collections than queues, `refs`, loops over `everyone`, `orders` of processes, `dst` of messages.
    """

    chance: Random
    partial: float = 0.04
    without: frozenset[str] = frozenset()
    records: list[Record] = field(default_factory=list)
    state: dict[str, Type] = field(default_factory=dict)
    kinds: dict[str, dict[str, Type]] = field(default_factory=dict)
    procedures: dict[str, dict[str, Type]] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)

    # --- types -------------------------------------------------------------------------------

    def type(self, depth: int) -> Type:
        """Any type."""
        one = self.chance
        if depth == 0 or one.random() < 0.3:
            return one.choice((*SCALARS, *([MESSAGE] if one.random() < 0.3 else [])))
        if self.records and one.random() < 0.2:
            return one.choice(self.records)
        if one.random() < 0.3:
            return Map(self.key(depth - 1), self.type(depth - 1))
        kinds: tuple[Literal["option", "set", "queue", "sliding array", "sliding map"], ...] = (
            "option", "set", "set", "queue", "queue", "sliding array", "sliding map",
        )  # fmt: skip
        kind, item = one.choice(kinds), self.type(depth - 1)
        while kind == "set" and "sets" in self.without and BOOL in (item, *within(item)):
            item = self.type(depth - 1)
        return Collection(kind, item)

    def key(self, depth: int) -> Type:
        if "keys" in self.without or self.chance.random() < 0.8:
            return self.chance.choice((NAT, PROCESS, PROCESS))
        return self.type(depth)

    def state_type(self) -> Type:
        """A type that starts with a value."""
        while True:
            found = self.type(self.chance.choice((0, 1, 1, 2, 2, 3)))
            if has_zero(found):
                return found

    def word(self, scope: Scope) -> str:
        """A name that hides nothing."""
        taken = {*(name.split("@")[0] for name in scope), *self.state, *self.procedures, *self.kinds}
        free = [word for word in self.words if word not in taken]
        return self.chance.choice(free) if free else f"y{len(taken)}"

    # --- terms -------------------------------------------------------------------------------

    def term(self, type_: Type, scope: Scope, depth: int) -> str:
        """A term of the type; it stands in brackets where it has an operator."""
        one = self.chance
        ways = [*self.readings(type_, scope, depth)]
        if ways and one.random() < (0.45 if depth > 0 else 0.8):
            return one.choice(ways)
        if depth > 0 and one.random() < 0.07:
            return (
                f"(if {self.truth(scope, depth - 1)} then {self.term(type_, scope, depth - 1)} else "
                f"{self.term(type_, scope, depth - 1)})"
            )
        match type_:
            case _ if type_ == NAT:
                return self.number(scope, depth)
            case _ if type_ == BOOL:
                return self.truth(scope, depth)
            case _ if type_ == PROCESS:
                return one.choice(["self", *ways] if "self" in scope else [*ways] or ["p"])
            case Record(name=name, fields=fields):
                given = ", ".join(f"{label}: {self.term(part, scope, depth - 1)}" for label, part in fields)
                return f"{name}({given})"
            case Collection(kind="option", item=item):
                return (
                    f"some({self.term(item, scope, depth - 1)})"
                    if one.random() < 0.7 and self.can(item, scope)
                    else "none"
                )
            case Collection(kind="set", item=item) if self.can(item, scope) and one.random() < 0.7:
                items = [self.term(item, scope, depth - 1) for _ in range(one.choice((1, 1, 2)))]
                return "{" + ", ".join(items) + "}"
            case _ if type_ == MESSAGE:
                return one.choice([*ways] or [name for name, of in scope.items() if of == MESSAGE])
            case _:
                return one.choice(ways) if ways and one.random() < 0.6 else "empty"

    def can(self, type_: Type, scope: Scope) -> bool:
        """Whether there is a term of the type."""
        if isinstance(type_, Record):
            return all(self.can(part, scope) for _, part in type_.fields)
        return type_ != MESSAGE or any(of == MESSAGE for of in scope.values())

    def readings(self, wanted: Type, scope: Scope, depth: int) -> Iterator[str]:
        """Names, and parts of what names stand for."""
        for name, type_ in scope.items():
            yield from self.parts(name, type_, wanted, scope, min(depth, 2))

    def parts(self, text: str, type_: Type, wanted: Type, scope: Scope, depth: int) -> Iterator[str]:
        one = self.chance
        if type_ == wanted:
            yield text
        if depth <= 0:
            return
        safe = one.random() >= self.partial
        match type_:
            case Record(fields=fields):
                for label, part in fields:
                    yield from self.parts(f"{text}.{label}", part, wanted, scope, depth - 1)
            case Map(key=key, value=value):
                if (has_zero(value) or not safe) and one.random() < 0.6 and self.can(key, scope):
                    yield from self.parts(
                        f"{text}[{self.term(key, scope, depth - 2)}]", value, wanted, scope, depth - 1
                    )
            case Collection(kind="option", item=item) if not safe:
                yield from self.parts(f"{text}.value", item, wanted, scope, depth - 1)
            case Collection(kind="queue", item=item) if not safe:
                yield from self.parts(f"{text}.first", item, wanted, scope, depth - 1)
            case Collection(kind="sliding array", item=item):
                if wanted == NAT:
                    yield from (f"{text}.first", f"{text}.next")
                if not safe:
                    index = one.choice((f"{text}.first", self.term(NAT, scope, 0)))
                    yield from self.parts(f"{text}[{index}]", item, wanted, scope, depth - 1)
                    yield from self.parts(f"{text}.peek", item, wanted, scope, depth - 1)
            case Collection(kind="sliding map") if wanted == NAT:
                yield from (f"{text}.first", f"{text}.next")
            case _ if type_ == MESSAGE and wanted == PROCESS:
                yield from (f"{text}.src",) if "dst" in self.without else (f"{text}.src", f"{text}.dst")
            case _ if type_ == MESSAGE and wanted == Collection("set", PROCESS):
                yield f"{text}.dsts"
            case _:
                pass

    def some(self, fits: Callable[[Type], bool], scope: Scope, depth: int) -> tuple[str, Type] | None:
        """A name, or a part of what a name stands for, whose type fits."""
        found = []
        for name, type_ in scope.items():
            for inner in dict.fromkeys((type_, *within(type_))):
                if fits(inner):
                    found += [(text, inner) for text in self.parts(name, type_, inner, scope, min(depth, 2))]
        return self.chance.choice(found) if found else None

    def collection(self, scope: Scope, depth: int) -> tuple[str, Type]:
        """A term with elements, and their type."""
        found = self.some(lambda each: element_type(each) is not None, scope, depth)
        if found is None or self.chance.random() < 0.1:
            item = self.chance.choice((NAT, PROCESS))
            return self.shown(Collection("set", item), scope, depth), item
        item_of = element_type(found[1])
        assert item_of is not None
        return found[0], item_of

    def shown(self, type_: Collection, scope: Scope, depth: int) -> str:
        """A set whose type shows."""
        items = [self.term(type_.item, scope, depth - 1) for _ in range(self.chance.choice((1, 2, 2)))]
        return "{" + ", ".join(items) + "}"

    def number(self, scope: Scope, depth: int) -> str:
        one = self.chance
        kind = one.random()
        if depth > 0 and kind < 0.25:
            left, right = self.term(NAT, scope, depth - 1), self.term(NAT, scope, depth - 1)
            operator = one.choice(("+", "+", "+", "+" if "products" in self.without else "*"))
            return f"({left} {operator} {right})"
        if depth > 0 and kind < 0.35:
            name = one.choice(("max", "min"))
            return f"{name}({self.term(NAT, scope, depth - 1)}, {self.term(NAT, scope, depth - 1)})"
        if depth > 0 and kind < 0.35 + self.partial:
            return f"({self.term(NAT, scope, depth - 1)} - {self.term(NAT, scope, depth - 1)})"
        if depth > 0 and kind < 0.6:
            binder, inner = self.binder(scope, depth, one="sums" in self.without)
            if "sums" not in self.without and one.random() < 0.4:
                return f"(sum {binder}. {self.term(NAT, inner, depth - 1)})"
            return f"(count {binder}. {self.truth(inner, depth - 1)})"
        if depth > 0 and kind < 0.75:
            found = self.some(lambda each: element_type(each) is not None, scope, depth)
            if found is not None and ("sizes" not in self.without or is_queue(found[1])):
                return f"{found[0]}.size"
        return str(one.choice((0, 0, 1, 1, 2, 3)))

    def binder(self, scope: Scope, depth: int, *, one: bool = False) -> tuple[str, dict[str, Type]]:
        """Some bound variables, and the scope of the body."""
        names: dict[str, Type] = {}
        texts = []
        for _ in range(self.chance.choice((1,) if one else (1, 1, 1, 2))):
            name = self.word({**scope, **names})
            if self.chance.random() < 0.35:
                names[name] = PROCESS
                texts.append(f"{name}: process")
                continue
            domain = self.collection(scope, depth - 1)
            names[name] = domain[1]
            texts.append(f"{name} in {domain[0]}")
        return ", ".join(texts), {**scope, **names}

    def truth(self, scope: Scope, depth: int) -> str:
        one = self.chance
        kind = one.random()
        if depth > 0 and kind < 0.3:
            operator = one.choice(("and", "or", "implies", "iff"))
            return f"({self.truth(scope, depth - 1)} {operator} {self.truth(scope, depth - 1)})"
        if depth > 0 and kind < 0.37:
            return f"(not {self.truth(scope, depth - 1)})"
        if depth > 0 and kind < 0.55:
            binder, inner = self.binder(scope, depth)
            return f"({one.choice(('forall', 'exists'))} {binder}. {self.truth(inner, depth - 1)})"
        if kind < 0.65:
            found = self.some(can_be_asked, scope, depth)
            if found is not None:
                word = "none" if isinstance(found[1], Collection) and found[1].kind == "option" else "empty"
                return f"({found[0]} is {one.choice(('', 'not '))}{word})"
        if kind < 0.75:
            found = self.some(lambda each: element_type(each) is not None, scope, depth)
            if found is not None:
                item = element_type(found[1])
                assert item is not None
                if self.can(item, scope):
                    return f"({self.term(item, scope, depth - 1)} {one.choice(('in', 'not in'))} {found[0]})"
        if kind < 0.93:
            named = self.some(lambda each: self.can(each, scope), scope, depth)
            if named is not None:
                text, type_ = named
                ordered = (NAT,) if "orders" in self.without else (NAT, PROCESS)
                operators = ("=", "!=", "<", "<=", ">", ">=") if type_ in ordered else ("=", "!=")
                return f"({text} {one.choice(operators)} {self.term(type_, scope, depth - 1)})"
        return one.choice([*self.readings(BOOL, scope, depth), "true", "false"])

    # --- statements --------------------------------------------------------------------------

    def block(self, body: Body, depth: int, indent: str) -> list[str]:
        """Some statements; the names that they introduce hold to the end."""
        lines: list[str] = []
        for _ in range(self.chance.choice((1, 2, 2, 3))):
            more, body = self.statement(body, depth, indent)
            lines += more
        return lines

    def statement(self, body: Body, depth: int, indent: str) -> tuple[list[str], Body]:
        one, scope = self.chance, body.scope
        kind = one.random()
        inner = indent + "  "
        if depth > 0 and kind < 0.14:
            lines = [f"{indent}if {self.truth(scope, 2)}:", *self.block(body, depth - 1, inner)]
            if one.random() < 0.3:
                lines += [f"{indent}else if {self.truth(scope, 1)}:", *self.block(body, depth - 1, inner)]
            if one.random() < 0.5:
                lines += [f"{indent}else:", *self.block(body, depth - 1, inner)]
            return lines, body
        if depth > 0 and kind < 0.3:
            return self.loop(body, depth, indent), body
        if depth > 0 and "choices" not in self.without and kind < 0.36:
            return self.choice_of(body, depth, indent), body
        if kind < 0.48:
            name = self.word(scope)
            named = self.some(anything, {**scope}, 2)
            if named is None:
                return [f"{indent}pass"], body
            form = one.random()
            if form < 0.35:
                return [f"{indent}let {name} = {named[0]}"], body.with_value(name, named[1])
            if form < 0.7 and "variables" not in self.without:
                value = self.term(named[1], scope, 1) if one.random() < 0.5 and self.can(named[1], scope) else named[0]
                return [f"{indent}var {name}: {named[1]} = {value}"], body.with_place(name, named[1])
            place = self.place(body)
            if "refs" in self.without:
                return [f"{indent}{place[0]} := {place[0]}"], body
            return [f"{indent}ref {name} = {place[0]}"], body.with_place(name, place[1])
        if kind < 0.55 and self.kinds:
            able = [each for each in self.kinds if each > body.kind]
            able = [each for each in able if all(self.can(part, scope) for part in self.kinds[each].values())]
            if able:
                to_kind = one.choice(able)
                given = ", ".join(self.term(part, scope, 2) for part in self.kinds[to_kind].values())
                return [f"{indent}send {to_kind}({given}) to {self.term(PROCESS, scope, 1)}"], body
        if kind < 0.58 and any(of == MESSAGE for of in scope.values()):
            return [f"{indent}deliver {self.term(MESSAGE, scope, 1)}"], body
        if kind < 0.61 and body.procedures:
            name = one.choice([*body.procedures])
            if all(self.can(part, scope) for part in self.procedures[name].values()):
                given = ", ".join(self.term(part, scope, 1) for part in self.procedures[name].values())
                return [f"{indent}{name}({given})"], body
        if kind < 0.62 and depth < 2:
            return [f"{indent}if {self.truth(scope, 1)}: return"], body
        return [indent + self.change(body)], body

    def change(self, body: Body) -> str:
        """An assignment, or a change in place."""
        one, scope = self.chance, body.scope
        text, type_ = self.place(body)
        if (
            isinstance(type_, Map)
            and one.random() < 0.6
            and self.can(type_.key, scope)
            and self.can(type_.value, scope)
        ):
            key = self.term(type_.key, scope, 1)
            return f"{text}[{key}] := {self.term(type_.value, scope, 2)}"
        able = [
            each
            for each in operations(type_)
            if all(self.can(part, scope) for part in each.parameters) and (each.parameters or one.random() < 0.3)
        ]
        if able and one.random() < 0.75:
            operation = one.choice(able)
            given = ", ".join(self.term(part, scope, 2) for part in operation.parameters)
            said = f"{text}.{operation.method}({given})"
            if not given and operation.method in ("pop", "remove") and one.random() > self.partial:
                return f"if {text} is not empty: {said}"
            return said
        if not self.can(type_, scope):
            return "pass"
        return f"{text} := {self.term(type_, scope, 3)}"

    def place(self, body: Body) -> tuple[str, Type]:
        """A place that may be changed, and its type."""
        found = []
        for name in body.places:
            type_ = body.scope[name]
            for inner in dict.fromkeys((type_, *within(type_))):
                found += [(text, inner) for text in self.parts(name, type_, inner, body.scope, 2) if is_place(text)]
        return self.chance.choice(found)

    def loop(self, body: Body, depth: int, indent: str) -> list[str]:
        one, scope = self.chance, body.scope
        name, inner = self.word(scope), indent + "  "
        kind = one.random()
        if kind < 0.25:
            if "everyone" in self.without:
                return [f"{indent}pass"]
            return [f"{indent}for {name} in process:", *self.block(body.with_value(name, PROCESS), depth - 1, inner)]
        if kind < 0.65:
            domain = self.collection(scope, 1)
            return [
                f"{indent}for {name} in {domain[0]}:",
                *self.block(body.with_value(name, domain[1]), depth - 1, inner),
            ]
        if kind < 0.85:
            able = [each for _ in range(6) if place_type((each := self.place(body))[1]) is not None]
            if able:
                item = place_type(able[0][1])
                assert item is not None
                return [
                    f"{indent}for ref {name} in {able[0][0]}:",
                    *self.block(body.with_place(name, item), depth - 1, inner),
                ]
        numbers = [each for each in body.places if body.scope[each] == NAT]
        queues = [each for each in body.places if is_queue(body.scope[each])]
        if queues and one.random() < 0.5:
            queue = one.choice(queues)
            more = self.block(body, depth - 1, inner)
            return [f"{indent}while {queue} is not empty:", *more, f"{inner}if {queue} is not empty: {queue}.pop()"]
        if numbers:
            number = one.choice(numbers)
            more = self.block(body, depth - 1, inner)
            less = f"{number} := {number} - min({number}, {one.choice('12')})"
            return [f"{indent}while {number} > 0:", *more, inner + less]
        return [f"{indent}pass"]

    def choice_of(self, body: Body, depth: int, indent: str) -> list[str]:
        one, scope, inner = self.chance, body.scope, indent + "  "
        if one.random() < 0.5:
            return [f"{indent}either:", *self.block(body, 0, inner), f"{indent}or:", *self.block(body, 0, inner)]
        name = self.word(scope)
        domain = self.collection(scope, 1)
        bound = body.with_value(name, domain[1])
        such = f" such that {self.truth(bound.scope, 1)}" if one.random() < 0.6 else ""
        lines = [f"{indent}choose {name} in {domain[0]}{such}:", *self.block(bound, depth - 1, inner)]
        if one.random() < 0.4:
            lines += [f"{indent}else:", *self.block(body, 0, inner)]
        return lines

    # --- the protocol ------------------------------------------------------------------------

    def declarations(self, variables: int) -> list[str]:
        """Records, packets and state."""
        one = self.chance
        self.words = one.sample(WORDS, 9)
        lines = []
        for name in ("Int_", "Pair"):
            labels = one.sample(("some", "value_", "first_", "size_", "is_", "next_"), one.choice((1, 2, 3)))
            record = Record(name, tuple((label, self.type(1)) for label in labels))
            lines.append(f"  record {name}: " + "; ".join(f"{label}: {type_}" for label, type_ in record.fields))
            self.records.append(record)
        for kind in ("A", "B", "C"):
            self.kinds[kind] = {f"f{at}": self.type(2) for at in range(one.choice((0, 1, 2)))}
        given = [", ".join(f"{name}: {type_}" for name, type_ in parts.items()) for parts in self.kinds.values()]
        lines += [f"  message {kind}({said})" for kind, said in zip(self.kinds, given, strict=True)]
        lines.append("  state:")
        for _ in range(variables):
            name = one.choice([word for word in WORDS if word not in self.state and word not in self.words])
            self.state[name] = self.state_type()
            lines.append(f"    {name}: {self.state[name]}")
        self.state["n"], self.state["zs"] = NAT, Collection("queue", NAT)
        return [*lines, "    n: nat", "    zs: queue of nat"]

    def handlers(self) -> list[str]:
        """Procedures, and what happens."""
        one = self.chance
        lines: list[str] = []
        below: tuple[str, ...] = ()
        for name in ("main", "print_"):
            given = {self.words[at]: self.type(1) for at in range(one.choice((0, 1, 2)))}
            self.procedures[name] = {}
            body = Body({"self": PROCESS, **self.state, **given}, tuple(self.state), "A", below)
            written = self.block(body, 2, "    ")
            self.procedures[name] = given
            lines += [f"  procedure {name}({', '.join(f'{at}: {of}' for at, of in given.items())}):", *written]
            below = (*below, name)
        for head, given, kind in (
            ("on causal_send(m)", {"m": MESSAGE}, ""),
            ("on go(q: process, k: nat)", {"q": PROCESS, "k": NAT}, ""),
            ("periodically", {}, ""),
            *(
                (f"on receive {kind}({', '.join(parts)}) from j", {**parts, "j": PROCESS}, kind)
                for kind, parts in self.kinds.items()
            ),
        ):
            body = Body({"self": PROCESS, **self.state, **given}, tuple(self.state), kind, below)
            lines += [f"  {head}:", *self.block(body, 3, "    ")]
        return lines

    def invariants(self, count: int) -> list[str]:
        """Formulas about the states of two processes."""
        lines = []
        for at in range(count):
            scope = {f"{name}@{whose}": type_ for name, type_ in self.state.items() for whose in "pq"}
            stated = self.truth({**scope, "p": PROCESS, "q": PROCESS}, 3)
            lines.append(f"  invariant i{at}: forall p, q: process. {stated}")
        return lines


@dataclass(frozen=True, slots=True)
class Body:
    """What a body may read, what it may change, whom it may call, and the kind of packet that it answers."""

    scope: dict[str, Type]
    places: tuple[str, ...]
    kind: str
    procedures: tuple[str, ...]

    def with_value(self, name: str, type_: Type) -> Body:
        return replace(self, scope={**self.scope, name: type_})

    def with_place(self, name: str, type_: Type) -> Body:
        return replace(self, scope={**self.scope, name: type_}, places=(*self.places, name))


def drawn_value(one: Random, type_: Type, processes: int, messages: Sequence[Message]) -> Any:
    """A value of the type, in the interpreter's form."""

    def value(of: Type) -> Any:
        return drawn_value(one, of, processes, messages)

    match type_:
        case Record(fields=fields):
            return tuple(value(part) for _, part in fields)
        case Collection(kind="option", item=item):
            return None if one.random() < 0.4 else (value(item),)
        case Collection(kind="set", item=item):
            return frozenset(value(item) for _ in range(one.randrange(3)))
        case Collection(kind="queue", item=item):
            return tuple(value(item) for _ in range(one.randrange(3)))
        case Collection(kind="sliding array", item=item):
            return one.randrange(3), tuple(value(item) for _ in range(one.randrange(3)))
        case Collection(kind="sliding map", item=item):
            following = one.randrange(6)
            there = sorted(one.sample(range(following), one.randint(0, following)))
            items = dict.fromkeys(value(item) for _ in there)
            return following, tuple(zip(there, items, strict=False))
        case Map(key=key, value=of):
            pairs = {value(key): value(of) for _ in range(one.randrange(4))}
            kept = {at: its for at, its in pairs.items() if not (has_zero(of) and its == zero(of))}
            return tuple((at, kept[at]) for at in ascending(kept))
        case _ if type_ == NAT:
            return one.randrange(4)
        case _ if type_ == BOOL:
            return one.random() < 0.5
        case _ if type_ == PROCESS:
            return one.randrange(processes)
        case _:
            return one.choice(messages)


def within(type_: Type) -> list[Type]:
    """The types of the parts of a value, of any depth."""
    match type_:
        case Record(fields=fields):
            inside = [part for _, part in fields]
        case Map(value=value):
            inside = [value]
        case Collection(item=item):
            inside = [item]
        case _:
            inside = []
    return [*inside, *(deeper for part in inside for deeper in within(part))]


def anything(type_: Type) -> bool:
    return True


def can_be_asked(type_: Type) -> bool:
    return isinstance(type_, Collection | Map)


def is_queue(type_: Type) -> bool:
    return isinstance(type_, Collection) and type_.kind == "queue"


def is_place(text: str) -> bool:
    """Whether a part that was read can be changed: not what a query gives."""
    return not any(part in QUERIES for part in re.split(r"[.\[\]]", text)[1:])


def drawn_protocol(
    seed: int,
    variables: int = 6,
    invariants: int = 5,
    without: frozenset[str] = frozenset(),
    environment: Sequence[str] = ("network reliable, reordering",),
) -> str:
    """The text of a protocol; `environment` has the lines about delivery and network."""
    writer = Writer(Random(seed), without=without)
    head = writer.declarations(variables)
    lines = ["protocol drawn:", *(f"  {line}" for line in environment), *head, *writer.handlers()]
    return "\n".join([*lines, *writer.invariants(invariants)]) + "\n"
