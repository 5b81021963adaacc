"""Random machines of every shape, as texts: own sorts, orders, constants, numbers, many destinations, or no messages.

Nobody would write them, and nothing of them need be true. Names of parameters and of bound variables come from one
small stock, so that they meet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TypeAlias

Scope: TypeAlias = Mapping[str, str]

NAMES = {"message": ("m", "x", "y"), "process": ("p", "q", "r"), "key": ("k", "l", "o"), "nat": ("n", "i", "j")}


@dataclass
class _Writer:
    """The symbols of one machine: parameter types and result; "bool" for relations."""

    chance: Random
    delivery: str
    symbols: dict[str, tuple[tuple[str, ...], str]] = field(default_factory=dict)
    own: list[str] = field(default_factory=list)
    constants: list[str] = field(default_factory=list)
    ordered: tuple[str, ...] = ()

    @property
    def sorts(self) -> tuple[str, ...]:
        return ("key",) if self.delivery == "off" else ("process", "message", "key")

    def declare(self) -> list[str]:
        ordered = [name for name in ("key", "process") if name in self.sorts and self.chance.random() < 0.4]
        self.ordered = tuple(ordered)
        lines = [f"  delivery {self.delivery}", f"  sort key{' ordered' if 'key' in ordered else ''}"]
        lines += ["  sort process ordered"] if "process" in ordered else []
        if self.delivery != "off":
            more = ("message",) if self.delivery == "unicast" else ("message", "process")
            self.symbols = {
                "src": (("message",), "process"),
                "sent": (("message",), "bool"),
                "hb": (("message", "message"), "bool"),
                "before": (("message", "message"), "bool"),
                "past": (("process", "message"), "bool"),
                "delivered": (more, "bool"),
                "delivered_before": (("message", *more), "bool"),
                **({"dst": (("message",), "process")} if self.delivery == "unicast" else {"to": (more, "bool")}),
            }
        numbers = self.chance.random() < 0.4
        for number in range(self.chance.choice((3, 4, 5))):
            places = [self.chance.choice(self.sorts) for _ in range(self.chance.choice((0, 1, 1, 2, 2, 3)))]
            if numbers and places and self.chance.random() < 0.4:
                places[self.chance.randrange(len(places))] = "nat"
            result = "bool" if self.chance.random() < 0.6 else self.chance.choice(("nat", "nat", *self.sorts))
            if "nat" in places and result not in ("bool", "nat"):
                result = "nat"
            name = f"s{number}"
            self.symbols[name] = (tuple(places), result)
            constant = number > 0 and self.chance.random() < 0.25
            (self.constants if constant else self.own).append(name)
            given = ", ".join(f"z{place}: {type_}" for place, type_ in enumerate(places))
            kind = "relation" if result == "bool" else "function"
            ending = "" if result == "bool" else f": {result}"
            lines.append(f"  {'constant ' if constant else ''}{kind} {name}({given}){ending}")
        return lines

    def term(self, type_: str, scope: Scope, depth: int, among: frozenset[str]) -> str:
        """A term; literals, too, where there is no name for it."""
        named = [name for name, of in scope.items() if of == type_]
        usable = [
            name
            for name, (places, result) in self.symbols.items()
            if result == type_ and name in among and all(self.sayable(place, scope) for place in places)
        ]
        if type_ == "nat":
            kind = self.chance.random()
            if kind < 0.25 or not (named or usable):
                return str(self.chance.randrange(3))
            if kind < 0.4 and depth and usable:
                known = self.chance.choice(usable)
                return f"({self.apply(known, scope, depth - 1, among)} {self.chance.choice('+-')} 1)"
            if kind < 0.5 and depth and "nat" not in scope.values():
                return self.counted(scope, depth, among)
        if usable and (not named or (depth and self.chance.random() < 0.4)):
            return self.apply(self.chance.choice(usable), scope, depth - 1, among)
        return self.chance.choice(named)

    def sayable(self, type_: str, scope: Scope) -> bool:
        return type_ == "nat" or type_ in scope.values()

    def counted(self, scope: Scope, depth: int, among: frozenset[str]) -> str:
        sort = self.chance.choice(self.sorts)
        name = self.fresh(sort, scope)
        if name is None:
            return "1"
        return f"(count {name}: {sort}. {self.formula({**scope, name: sort}, depth - 1, among)})"

    def apply(self, symbol: str, scope: Scope, depth: int, among: frozenset[str]) -> str:
        places, _ = self.symbols[symbol]
        return f"{symbol}({', '.join(self.term(place, scope, max(depth, 0), among) for place in places)})"

    def fresh(self, sort: str, scope: Scope) -> str | None:
        free = [name for name in NAMES[sort] if name not in scope]
        return self.chance.choice(free) if free else None

    def formula(self, scope: Scope, depth: int, among: frozenset[str]) -> str:
        kind = self.chance.random()
        if depth > 0 and kind < 0.45:
            quantifier, sort = self.chance.choice(("forall", "exists")), self.chance.choice(self.sorts)
            if any("nat" in places for name, (places, _) in self.symbols.items() if name in among):
                sort = self.chance.choice((sort, sort, "nat"))
            name = self.fresh(sort, scope)
            if name is not None:
                return f"({quantifier} {name}: {sort}. {self.formula({**scope, name: sort}, depth - 1, among)})"
        if depth > 0 and kind < 0.8:
            operator = self.chance.choice(("and", "or", "implies", "iff"))
            left, right = (self.formula(scope, depth - 1, among) for _ in range(2))
            return f"({left} {operator} {right})"
        atom = self.atom(scope, depth, among)
        return f"not ({atom})" if self.chance.random() < 0.3 else atom

    def quantified(self, scope: Scope, among: frozenset[str]) -> str:
        """A quantifier over a name that an invariant may well bind, too."""
        sort = self.chance.choice(self.sorts)
        name = self.fresh(sort, scope)
        if name is None:
            return self.formula(scope, 1, among)
        quantifier = self.chance.choice(("forall", "exists"))
        return f"({quantifier} {name}: {sort}. {self.formula({**scope, name: sort}, 1, among)})"

    def atom(self, scope: Scope, depth: int, among: frozenset[str]) -> str:
        relations = [
            name
            for name, (places, result) in self.symbols.items()
            if result == "bool" and name in among and all(self.sayable(place, scope) for place in places)
        ]
        if relations and self.chance.random() < 0.6:
            return self.apply(self.chance.choice(relations), scope, depth, among)
        types = sorted({*scope.values(), "nat"})
        type_ = self.chance.choice(types)
        left, right = (self.term(type_, scope, depth, among) for _ in range(2))
        compared = type_ == "nat" or type_ in self.ordered
        if compared and left == right:
            right = self.term(type_, scope, depth, among)
        operator = self.chance.choice(("=", "!=", "<", "<=", ">", ">=") if compared else ("=", "!="))
        return f"{left} {operator} {right}"

    def update(self, symbol: str, scope: Scope, everything: frozenset[str]) -> str:
        """An update at parameters of the transition, or at names bound for it, in any place."""
        places, result = self.symbols[symbol]
        binders: dict[str, str] = {}
        at: list[str] = []
        for place in places:
            parameters = [name for name, type_ in scope.items() if type_ == place]
            name = self.fresh(place, {**scope, **binders})
            if parameters and (name is None or self.chance.random() < 0.6):
                at.append(self.chance.choice(parameters))
            else:
                assert name is not None
                binders[name] = place
                at.append(name)
        inner = {**scope, **binders}
        if result == "bool":
            value = (
                self.quantified(inner, everything) if self.chance.random() < 0.5 else self.formula(inner, 1, everything)
            )
        else:
            was = f"{symbol}({', '.join(at)})"
            value = self.term(result, inner, 1, everything) if self.sayable(result, inner) else was
            if self.chance.random() < 0.5:
                value = f"if {self.formula(inner, 1, everything)} then {value} else {was}"
        if result == "bool" and any(type_ == "nat" for type_ in binders.values()):
            value = f"({symbol}({', '.join(at)}) and {value})"  # finitely many changes
        elif any(type_ == "nat" for type_ in binders.values()):
            value = f"{symbol}({', '.join(at)})"
        bound = f"forall {', '.join(binders)}: " if binders else ""
        return f"    {bound}{symbol}({', '.join(at)}) := {value}"

    def first_value(self, symbol: str, fixed: frozenset[str]) -> str:
        """What the symbol is at first, by what never changes: at all its arguments, at finitely many numbers."""
        places, result = self.symbols[symbol]
        binders: dict[str, str] = {}
        for place in places:
            name = self.fresh(place, binders)
            assert name is not None
            binders[name] = place
        value = self.formula(binders, 2, fixed) if result == "bool" else self.term(result, binders, 2, fixed)
        numbers = " and ".join(f"{name} < {self.chance.choice((1, 2))}" for name, of in binders.items() if of == "nat")
        if numbers:
            value = f"{numbers} and {value}" if result == "bool" else f"if {numbers} then {value} else 0"
        bound = f"forall {', '.join(f'{name}: {of}' for name, of in binders.items())}: " if binders else ""
        return f"    {bound}{symbol}({', '.join(binders)}) := {value}"


def _first_values(writer: _Writer, chance: Random, fixed: frozenset[str]) -> list[str]:
    """For some machines, what some of their symbols are at first."""
    if chance.random() < 0.4:
        return []
    plain, writer.chance = writer.chance, chance
    usable = {result for name, (_, result) in writer.symbols.items() if name in fixed}
    lines = []
    for symbol in writer.own:
        places, result = writer.symbols[symbol]
        sayable = result in ("bool", "nat") or result in places or result in usable & {"process"} & {*places}
        if sayable and chance.random() < 0.6:
            lines.append(writer.first_value(symbol, fixed))
    writer.chance = plain
    return ["  initial:", *lines] if lines else []


def _declared(seed: int) -> tuple[_Writer, list[str]]:
    """The symbols of the machine of this seed, and the lines that declare them."""
    chance = Random(seed)
    writer = _Writer(chance, chance.choice(("unicast", "unicast", "multicast", "broadcast", "off")))
    return writer, writer.declare()


def drawn_machine(seed: int) -> str:
    """The text of a machine."""
    writer, declared = _declared(seed)
    chance = writer.chance
    lines = ["machine drawn:", *declared]
    everything = frozenset(writer.symbols)
    fixed = frozenset({*writer.constants, *(["src", "dst", "to"] if writer.delivery != "off" else [])})
    if writer.constants and chance.random() < 0.6:
        lines.append(f"  axiom given: {writer.formula({}, 3, fixed & everything)}")
    lines += _first_values(writer, Random(f"initial {seed}"), fixed & everything)
    history = {
        "unicast": {"causal_send": ["message"], "deliver": ["message"]},
        "off": {},
    }.get(writer.delivery, {"causal_send": ["message"], "deliver": ["message", "process"]})
    sorts = (*writer.sorts, "nat") if any("nat" in places for places, _ in writer.symbols.values()) else writer.sorts
    transitions = {**history, "act": [chance.choice(sorts) for _ in range(chance.randrange(4))], "more": []}
    left = list(writer.own)
    for name, types in transitions.items():
        scope: dict[str, str] = {}
        for type_ in types:
            parameter = writer.fresh(type_, scope)
            if parameter is not None:
                scope[parameter] = type_
        given = ", ".join(f"{parameter}: {type_}" for parameter, type_ in scope.items())
        lines.append(f"  transition {name}({given}):")
        if name == "deliver" and chance.random() < 0.7:
            lines.append(f"    require sent({next(iter(scope))})")
        if chance.random() < 0.5:
            lines.append(f"    require {writer.formula(scope, 2, everything)}")
        changed = left if name == "more" else chance.sample(writer.own, chance.randrange(len(writer.own) + 1))
        left = [symbol for symbol in left if symbol not in changed]
        body = [writer.update(symbol, scope, everything) for symbol in changed]
        lines += body or ["    pass"]
    own = frozenset({*writer.own, *writer.constants})  # about these, so that steps matter
    lines += [f"  invariant i{number}: {writer.formula({}, 3, own)}" for number in range(4)]
    lines.append(f"  invariant i4: {writer.formula({}, 3, everything)}")
    sort = chance.choice(writer.sorts)
    name = NAMES[sort][0]
    lines.append(f"  stable kept({name}: {sort}): {writer.formula({name: sort}, 2, everything)}")
    lines += _eventual(writer, transitions, Random(f"eventually {seed}"), everything)
    if writer.delivery != "off":
        claims = ["causal", "fifo", "at_most_once", "no_creation", "total_order", "causally_ordered"]
        claims += ["without deadlock", "without starvation deliver"]
        lines.append(f"  prove {', '.join(chance.sample(claims, 4))}")
    else:
        lines.append("  prove i0")
    return "\n".join(lines) + "\n"


def _eventual(
    writer: _Writer, transitions: Mapping[str, Sequence[str]], chance: Random, everything: frozenset[str]
) -> list[str]:
    """An `eventually` statement, with steps whose variables have the names of other bound variables."""
    writer.chance = chance
    sort = chance.choice(writer.sorts)
    own = {NAMES[sort][1]: sort}
    lines = [f"  eventually comes({NAMES[sort][1]}: {sort}): {writer.formula(own, 1, everything)} leads to"]
    lines[0] += f" {writer.formula(own, 1, everything)} by:"
    without_end = {"nat", *writer.ordered} - {"process"}  # no variable of a step may have such values
    able = sorted(
        name
        for name, types in transitions.items()
        if name != "causal_send" and all(each == sort or each == "nat" or each not in without_end for each in types)
    )
    if not able:
        return []
    for name in chance.sample(able, min(2, len(able))):
        scope, arguments = dict(own), []
        for type_ in transitions[name]:
            fitting = [each for each, of in scope.items() if of == type_]
            fresh = None if type_ in without_end else writer.fresh(type_, scope)
            if fresh is None or (fitting and chance.random() < 0.5):
                fresh = chance.choice(fitting) if fitting else "0"
            scope[fresh] = type_
            arguments.append(fresh)
        scope.pop("0", None)
        bound = ", ".join(f"{each}: {of}" for each, of in scope.items() if each not in own)
        said = f" for {bound}" if bound else ""
        lines.append(f"    {name}({', '.join(arguments)}){said} while {writer.formula(scope, 2, everything)}")
    return lines


# --- by hand ---------------------------------------------------------------------------------------

STAGES = """
machine stages:
  relation network_sent(m: message)
  relation linked(a: message, b: message)
  relation lonely(m: message)
  function done(p: process): nat
  constant function wanted(p: process): nat
  transition causal_send(m):
    forall x: linked(x, m) := exists y. hb(x, y) or before(y, x)
  transition post(m, p):
    require sent(m) and (not network_sent(m) or done(p) < 2)
    network_sent(m) := true
    done(p) := done(p) + 2
  transition deliver(m):
    require network_sent(m)
    forall x: lonely(x) := not (exists y. linked(x, y))
  transition forget(m, x):
    linked(x, m) := false
    forall p: done(p) := min(done(p) + 1, wanted(p))
  invariant lonely_ones: forall y. lonely(y) implies not (exists m. linked(y, m))
  invariant within: forall p. done(p) <= wanted(p)
  stable gone(m, x): linked(x, m) implies delivered(m)
  eventually arrives(m): sent(m) leads to delivered(m) by:
    post(x, src(m)) for x while before(x, m) and not network_sent(x)
    deliver(x) for x while (x = m or hb(x, m)) and not delivered(x)
    forget(m, x) for x while linked(x, m)
  prove csps, sps, causal, fifo, causally_ordered, total_order, no_creation, without deadlock
"""
NUMBERS = """
machine numbers:
  relation seen(p: process, n: nat)
  function level(p: process): nat
  constant function most(): nat
  transition causal_send(m):
    forall p: level(p) := if p = src(m) then max(level(p), most()) else level(p)
  transition deliver(m):
    require sent(m) and exists n: nat. n < most() and seen(dst(m), n)
  transition look(p: process, n: nat):
    require n <= most() and not (exists i: nat. i < n and seen(p, i))
    seen(p, n) := true
    level(p) := min(n, level(p) - 1)
  invariant somebody: forall p. level(p) = 0 or exists n: nat. seen(p, n)
  invariant low: forall p: process, n: nat. seen(p, n) implies n < most() + 1
  invariant far: forall p: process, n: nat. seen(p, n) or 0 < n + 1
  invariant near: forall p. level(p) < 2 or most() < level(p) + 1
  invariant gap: forall p. seen(p, 1) iff exists n: nat. n < 1 and seen(p, n)
  stable once(p: process, n: nat): seen(p, n) and exists i: nat. n < i and not seen(p, i)
  prove no_creation
"""

ORDERS = """
machine orders:
  sort round ordered
  sort process ordered
  relation joined(p: process, r: round)
  relation late(m: message)
  function at(p: process): round
  constant function of(m: message): round
  transition causal_send(m):
    require of(m) >= at(src(m))
    forall p: at(p) := if p = src(m) then of(m) else at(p)
  transition deliver(m):
    require sent(m) and not delivered(m)
    require forall x. sent(x) and src(x) < src(m) and not delivered(x) implies of(m) <= of(x)
    forall x: late(x) := late(x) or of(x) < of(m)
    forall p: at(p) := if p = dst(m) and at(p) < of(m) then of(m) else at(p)
  transition join(p: process, r: round):
    require at(p) < r and (forall q. q < p implies joined(q, r))
    forall s: joined(p, s) := joined(p, s) or (at(p) < s and s <= r)
  invariant caught_up: forall m. sent(m) implies of(m) <= at(src(m))
  invariant in_turn: forall p, q, r. joined(p, r) and q < p implies joined(q, r)
  invariant lower: forall p, r, s. joined(p, r) and s < r implies joined(p, s)
  invariant some_late: forall m. late(m) implies exists x. of(m) < of(x)
  stable beyond(p, r: round): r < at(p)
  prove no_creation, fifo
"""

QUEUES = """
machine queues:
  function item(p: process, n: nat): message
  function length(p: process): nat
  function first(p: process): nat
  transition causal_send(m):
    forall p, n: item(p, n) := if p = src(m) and n = length(p) then m else item(p, n)
    forall p: length(p) := if p = src(m) then length(p) + 1 else length(p)
  transition deliver(m):
    require sent(m) and not delivered(m)
    require m = item(src(m), first(src(m))) and first(src(m)) < length(src(m))
    forall p: first(p) := if p = src(m) then first(p) + 1 else first(p)
  invariant own: forall p, n. n < length(p) implies src(item(p, n)) = p and sent(item(p, n))
  invariant waiting_in_it: forall p, n. first(p) <= n and n < length(p) implies not delivered(item(p, n))
  invariant gone: forall p, n. n < length(p) implies delivered(item(p, n))
  prove at_most_once, no_creation
"""

FIRST = """
machine tokens:
  sort place ordered
  constant relation open(x: place)
  constant function chief(): process
  constant function most(): nat
  relation holds(p: process)
  relation met(x: place, y: place)
  relation fresh(m: message)
  function at(p: process): process
  function left(p: process): nat
  relation near(n: nat)
  initial:
    forall p: holds(p) := p = chief()
    forall x, y: met(x, y) := open(x) and not (exists q: place. q < y and open(q))
    forall y: fresh(y) := src(y) = chief() and (forall p. p = dst(y) or exists x: place. open(x))
    forall q: at(q) := if exists x: place. open(x) then chief() else q
    forall p: left(p) := if p = chief() then 0 else most() + 1
    forall n: near(n) := n < 2 and n <= most()
  transition causal_send(m):
    require fresh(m)
    fresh(m) := false
  transition deliver(m):
    require sent(m)
    forall p: holds(p) := p = dst(m)
    forall p: at(p) := if p = src(m) then dst(m) else at(p)
  transition meet(x: place, y: place, p: process):
    require holds(p) and left(p) > 0
    met(x, y) := not met(y, x)
    left(p) := left(p) - 1
    forall n: near(n) := near(n) or n = left(p)
  invariant one: forall p, q. holds(p) and holds(q) implies p = q
  invariant some: exists p. holds(p)
  invariant few: forall p. left(p) <= most() + 1
  invariant unsent: forall x. fresh(x) implies not sent(x)
  invariant there: forall x, y: place. met(x, y) implies open(x)
  invariant own: forall p. at(p) = p
  invariant low: forall n: nat. near(n) implies n <= most() + 1
  prove no_creation
"""

BY_HAND = {"stages": STAGES, "numbers": NUMBERS, "orders": ORDERS, "queues": QUEUES, "first": FIRST}
"""Names that meet, updates at every place, quantifiers over numbers, orders, and properties that the library seldom
states."""


# --- lemmas ----------------------------------------------------------------------------------------


def candidates(seed: int, number: int) -> list[str]:
    """Formulas about the machine of this seed that may be invariants, and may need one another.

    Some count with a variable from outside.
    """
    writer, chance = _declared(seed)[0], Random(f"candidates {seed}")
    writer.chance = chance
    own = frozenset({*writer.own, *writer.constants})
    among = own if len(own) > 1 else frozenset(writer.symbols)
    return [_candidate(writer, chance.choice((own, among, frozenset(writer.symbols)))) for _ in range(number)]


def _candidate(writer: _Writer, among: frozenset[str]) -> str:
    chance = writer.chance
    scope: dict[str, str] = {}
    numbers = any("nat" in writer.symbols[name][0] for name in among)
    for _ in range(chance.choice((0, 1, 1, 2, 2))):
        sort = chance.choice((*writer.sorts, "nat") if numbers else writer.sorts)
        name = writer.fresh(sort, scope)
        if name is not None:
            scope[name] = sort
    kind = chance.random()
    counted = chance.choice(writer.sorts)
    name = writer.fresh(counted, scope)
    if kind < 0.3 and name is not None:
        count = f"(count {name}: {counted}. {writer.formula({**scope, name: counted}, 1, among)})"
        bound = chance.choice(("0", "1", "1", "2", writer.term("nat", scope, 1, among)))
        body = f"{count} {chance.choice(('<=', '<=', '<', '=', '>='))} {bound}"
        if chance.random() < 0.4:
            body = f"({writer.atom(scope, 0, among)} implies {body})"
    elif kind < 0.8:
        premise = " and ".join(_literal(writer, scope, among) for _ in range(chance.choice((1, 2))))
        body = f"({premise} implies {_literal(writer, scope, among)})"
    else:
        body = writer.formula(scope, 2, among)
    bound = ", ".join(f"{each}: {sort}" for each, sort in scope.items())
    return f"forall {bound}. {body}" if bound else body


def _literal(writer: _Writer, scope: Scope, among: frozenset[str]) -> str:
    atom = writer.atom(scope, 1, among)
    return f"not ({atom})" if writer.chance.random() < 0.4 else atom
