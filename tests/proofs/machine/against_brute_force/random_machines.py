"""Random small machines: as text for Thence, and as plain Python that computes what they do, by the definitions.

Nothing of Thence is used here. Happens-before is the closure of its two rules over the processes' own events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from random import Random
from typing import Any, TypeAlias

HOSTILE = (
    "f0", "f1", "k0", "S0", "x0", "h0", "g", "goal", "model", "x", "y", "p", "q", "m_", "Int", "Bool", "select", "div",
    "distinct", "ite", "xor", "step", "start", "rest", "before_", "hb_", "nothing", "sent_", "z3", "unsat", "push",
)  # fmt: skip
"""Names that solvers, encodings or the tool's own text might take for something else."""

Environment: TypeAlias = Mapping[str, int]


@dataclass(frozen=True)
class World:
    """Sizes, ends of messages, and the values of the constants."""

    processes: int
    messages: int
    src: tuple[int, ...]
    dst: tuple[int, ...]
    link: frozenset[tuple[int, int]]
    limit: int


@dataclass(frozen=True)
class State:
    """The events of each process in their order, and the machine's own state. Events: (is a delivery, message)."""

    local: tuple[tuple[tuple[bool, int], ...], ...]
    mark: frozenset[int]
    busy: frozenset[int]
    total: int


class View:
    """A state in its world, as formulas see it."""

    def __init__(self, world: World, state: State) -> None:
        self.world, self.state = world, state
        self.sent = {m for events in state.local for delivery, m in events if not delivery}
        self.delivered = {m for events in state.local for delivery, m in events if delivery}
        pairs = set()
        for events in state.local:
            for later, (delivery, m) in enumerate(events):
                if not delivery:
                    pairs |= {(earlier, m) for _, earlier in events[:later]}
        while True:
            more = {(a, d) for a, b in pairs for c, d in pairs if b == c} - pairs
            if not more:
                break
            pairs |= more
        self.hb = pairs
        self.before = {
            (a, b)
            for events in state.local
            for place, (delivery, b) in enumerate(events)
            if not delivery
            for was_delivery, a in events[:place]
            if not was_delivery
        }
        self.delivered_before = {
            (a, b)
            for events in state.local
            for place, (delivery, b) in enumerate(events)
            if delivery
            for was_delivery, a in events[:place]
            if was_delivery and a != b
        }


Meaning: TypeAlias = Callable[[View, Environment], bool]


@dataclass(frozen=True)
class Formula:
    """A formula as text, with the names of a machine still open, and its meaning."""

    text: str
    holds: Meaning

    def __and__(self, other: Formula) -> Formula:
        return Formula(f"({self.text} and {other.text})", lambda v, e: self.holds(v, e) and other.holds(v, e))

    def implies(self, other: Formula) -> Formula:
        return Formula(f"({self.text} implies {other.text})", lambda v, e: not self.holds(v, e) or other.holds(v, e))

    def denied(self) -> Formula:
        return Formula(f"not ({self.text})", lambda v, e: not self.holds(v, e))


def forall(name: str, sort: str, body: Formula) -> Formula:
    return Formula(
        f"(forall {name}: {sort}. {body.text})",
        lambda v, e: all(body.holds(v, {**e, name: value}) for value in _all(v, sort)),
    )


def exists(name: str, sort: str, body: Formula) -> Formula:
    return Formula(
        f"(exists {name}: {sort}. {body.text})",
        lambda v, e: any(body.holds(v, {**e, name: value}) for value in _all(v, sort)),
    )


def _all(view: View, sort: str) -> range:
    return range(view.world.messages if sort == "message" else view.world.processes)


def of_message(m: str) -> list[Formula]:
    """Atoms about one message."""
    return [
        Formula(f"sent({m})", lambda v, e: e[m] in v.sent),
        Formula(f"delivered({m})", lambda v, e: e[m] in v.delivered),
        Formula(f"{{mark}}({m})", lambda v, e: e[m] in v.state.mark),
        Formula(f"{{busy}}(src({m}))", lambda v, e: v.world.src[e[m]] in v.state.busy),
        Formula(f"{{busy}}(dst({m}))", lambda v, e: v.world.dst[e[m]] in v.state.busy),
        Formula(f"{{link}}(src({m}), dst({m}))", lambda v, e: (v.world.src[e[m]], v.world.dst[e[m]]) in v.world.link),
        Formula(f"src({m}) = dst({m})", lambda v, e: v.world.src[e[m]] == v.world.dst[e[m]]),
        Formula(f"src({m}) != dst({m})", lambda v, e: v.world.src[e[m]] != v.world.dst[e[m]]),
        Formula("{total}() < {limit}()", lambda v, e: v.state.total < v.world.limit),
        Formula("{total}() > 0", lambda v, e: v.state.total > 0),
        Formula("{limit}() = 0", lambda v, e: v.world.limit == 0),
    ]


def of_two(a: str, b: str) -> list[Formula]:
    """Atoms about two messages."""
    return [
        Formula(f"before({a}, {b})", lambda v, e: (e[a], e[b]) in v.before),
        Formula(f"hb({a}, {b})", lambda v, e: (e[a], e[b]) in v.hb),
        Formula(f"dst({a}) = dst({b})", lambda v, e: v.world.dst[e[a]] == v.world.dst[e[b]]),
        Formula(f"src({a}) = src({b})", lambda v, e: v.world.src[e[a]] == v.world.src[e[b]]),
        Formula(f"{a} = {b}", lambda v, e: e[a] == e[b]),
        Formula(f"delivered_before({a}, {b})", lambda v, e: (e[a], e[b]) in v.delivered_before),
    ]


Effect: TypeAlias = Callable[[World, State, int], State]
EFFECTS: tuple[tuple[str, Effect], ...] = (
    ("{mark}(m) := true", lambda w, s, m: State(s.local, s.mark | {m}, s.busy, s.total)),
    ("{mark}(m) := false", lambda w, s, m: State(s.local, s.mark - {m}, s.busy, s.total)),
    (
        "forall r: {busy}(r) := {busy}(r) or r = src(m)",
        lambda w, s, m: State(s.local, s.mark, s.busy | {w.src[m]}, s.total),
    ),
    (
        "forall r: {busy}(r) := {busy}(r) and r != dst(m)",
        lambda w, s, m: State(s.local, s.mark, s.busy - {w.dst[m]}, s.total),
    ),
    ("{total}() := {total}() + 1", lambda w, s, m: State(s.local, s.mark, s.busy, s.total + 1)),
    ("{total}() := {total}() - 1", lambda w, s, m: State(s.local, s.mark, s.busy, max(0, s.total - 1))),
)
WRITES = ("mark", "mark", "busy", "busy", "total", "total")


@dataclass(frozen=True)
class Transition:
    name: str
    guards: tuple[Formula, ...]
    effects: tuple[int, ...]

    def enabled(self, world: World, state: State, m: int) -> bool:
        view = View(world, state)
        if self.name == "causal_send" and m in view.sent:
            return False
        return all(guard.holds(view, {"m": m}) for guard in self.guards)

    def after(self, world: World, state: State, m: int) -> State:
        """All effects read the state before; each is about a part of its own."""
        marked = changed = state
        for number in self.effects:
            changed = EFFECTS[number][1](world, changed, m)
        del marked
        if self.name not in ("causal_send", "deliver"):
            return changed
        delivery = self.name == "deliver"
        at = world.dst[m] if delivery else world.src[m]
        local = list(changed.local)
        if not delivery or (True, m) not in local[at]:
            local[at] = (*local[at], (delivery, m))
        return State(tuple(local), changed.mark, changed.busy, changed.total)


@dataclass(frozen=True)
class Machine:
    names: Mapping[str, str]
    transitions: tuple[Transition, ...]
    axiom: Formula | None
    invariants: Mapping[str, Formula]
    reachable: Mapping[str, Formula]
    stable: Mapping[str, Formula]
    prove: tuple[str, ...] = field(default=())

    @property
    def text(self) -> str:
        lines = [
            "machine random:",
            "  relation {mark}(m: message)",
            "  relation {busy}(r: process)",
            "  function {total}(): nat",
            "  constant relation {link}(r: process, s: process)",
            "  constant function {limit}(): nat",
        ]
        if self.axiom is not None:
            lines.append(f"  axiom given: {self.axiom.text}")
        for transition in self.transitions:
            body = [f"    require {guard.text}" for guard in transition.guards]
            body += [f"    {EFFECTS[number][0]}" for number in transition.effects]
            lines += [f"  transition {transition.name}(m: message):", *(body or ["    pass"])]
        lines += [f"  invariant {name}: {formula.text}" for name, formula in self.invariants.items()]
        lines += [f"  stable {name}: {formula.text}" for name, formula in self.stable.items()]
        lines += [f"  reachable {name}: {formula.text}" for name, formula in self.reachable.items()]
        lines.append(f"  prove {', '.join(self.prove)}")
        return "\n".join(lines).format(**self.names) + "\n"


def random_machine(seed: int) -> Machine:
    chance = Random(seed)
    names = dict(zip(("mark", "busy", "total", "link", "limit"), chance.sample(HOSTILE, 5), strict=True))

    def literal(m: str) -> Formula:
        atom = chance.choice(of_message(m))
        return atom.denied() if chance.random() < 0.4 else atom

    def guard() -> Formula:
        if chance.random() < 0.6:
            return literal("m")
        pair = chance.choice(of_two("o", "m") + of_two("m", "o"))
        if chance.random() < 0.5:
            return forall("o", "message", pair.implies(literal("o")))
        return exists("o", "message", pair & literal("o"))

    def transition(name: str, *least: Formula) -> Transition:
        guards = (*least, *(guard() for _ in range(chance.randrange(3))))
        effects: dict[str, int] = {}
        for number in chance.sample(range(len(EFFECTS)), chance.randrange(3)):
            effects.setdefault(WRITES[number], number)
        return Transition(name, guards, tuple(effects.values()))

    sent, delivered, marked, *_ = of_message("m")
    transitions = [transition("causal_send")]
    if chance.random() < 0.6:
        own = Transition("act", (sent, marked.denied(), *(guard() for _ in range(chance.randrange(2)))), (0,))
        transitions.append(own if chance.random() < 0.6 else transition("act", sent))
    transitions.append(transition("deliver", *((sent,) if chance.random() < 0.9 else ()), delivered.denied()))
    written = {WRITES[number] for each in transitions for number in each.effects}
    for position, kind in enumerate(("mark", "busy", "total")):
        if kind not in written:  # a relation that nothing changes is an error
            last = transitions[-1]
            transitions[-1] = Transition(last.name, last.guards, (*last.effects, 2 * position + chance.randrange(2)))

    def statement() -> Formula:
        if chance.random() < 0.5:
            return forall("m", "message", literal("m").implies(literal("m")))
        if chance.random() < 0.4:
            return exists("m", "message", literal("m") & literal("m"))
        pair = chance.choice(of_two("m", "o"))
        return forall("m", "message", forall("o", "message", (pair & literal("o")).implies(literal("m"))))

    axiom = None
    if chance.random() < 0.3:
        link = Formula("{link}(r, s)", lambda v, e: (e["r"], e["s"]) in v.world.link)
        back = Formula("{link}(s, r)", lambda v, e: (e["s"], e["r"]) in v.world.link)
        axiom = forall("r", "process", forall("s", "process", link.implies(back)))
    claims = ["causal", "fifo", "at_most_once", "no_creation", "total_order", "without deadlock"]
    claims.append("without starvation deliver")
    return Machine(
        names,
        tuple(transitions),
        axiom,
        {f"i{number}": statement() for number in range(2)},
        {"r0": statement()},
        {"s0": statement()},
        tuple(chance.sample(claims, 3)),
    )


def worlds(machine: Machine, chance: Random, processes: int = 2, messages: int = 2) -> Iterator[World]:
    """Every choice of ends, with some choices of the constants that satisfy the axiom."""
    pairs = list(product(range(processes), repeat=2))
    for src in product(range(processes), repeat=messages):
        for dst in product(range(processes), repeat=messages):
            for _ in range(2):
                link = frozenset(pair for pair in pairs if chance.random() < 0.7)
                world = World(processes, messages, src, dst, link, chance.randrange(3))
                if machine.axiom is None or machine.axiom.holds(View(world, first(world)), {}):
                    yield world


def first(world: World) -> State:
    return State(((),) * world.processes, frozenset(), frozenset(), 0)


Edge: TypeAlias = tuple[str, int, State]


@dataclass
class Graph:
    """The reachable states of a world, each with its steps; `whole` is false where states were left out."""

    world: World
    steps: dict[State, list[Edge]]
    whole: bool


def explore(machine: Machine, world: World, limit: int = 600) -> Graph:
    steps: dict[State, list[Edge]] = {}
    waiting = [first(world)]
    while waiting:
        state = waiting.pop()
        if state in steps:
            continue
        if len(steps) >= limit or state.total > 4:
            return Graph(world, steps, False)
        steps[state] = [
            (transition.name, m, transition.after(world, state, m))
            for transition in machine.transitions
            for m in range(world.messages)
            if transition.enabled(world, state, m)
        ]
        waiting += [after for _, _, after in steps[state]]
    return Graph(world, steps, True)


CAUSAL_PAIRS: Mapping[str, Callable[[View], set[tuple[int, int]]]] = {
    "causal": lambda view: view.hb,
    "fifo": lambda view: view.before,
}


def false_in(machine: Machine, name: str, graph: Graph) -> bool:
    """Whether the statement is false in this world, by its definition."""
    world = graph.world
    if name == "without starvation deliver":
        return _starves(graph)
    for state, steps in graph.steps.items():
        view = View(world, state)
        if name in machine.invariants and not machine.invariants[name].holds(view, {}):
            return True
        if name in machine.reachable and machine.reachable[name].holds(view, {}):
            return True  # of its denial
        if name in machine.stable and machine.stable[name].holds(view, {}):
            after = (View(world, then) for _, _, then in steps)
            if not all(machine.stable[name].holds(then, {}) for then in after):
                return True
        if name in CAUSAL_PAIRS:
            for a, b in CAUSAL_PAIRS[name](view):
                if world.dst[a] == world.dst[b] and b in view.delivered and (a, b) not in view.delivered_before:
                    return True
        if name == "no_creation" and not view.delivered <= view.sent:
            return True
        if name == "at_most_once" and any(kind == "deliver" and m in view.delivered for kind, m, _ in steps):
            return True
        if name == "total_order" and any((b, a) in view.delivered_before for a, b in view.delivered_before):
            return True
        if name == "without deadlock" and view.sent - view.delivered and _rests(state, steps):
            return True
    return False


def _rests(state: State, steps: list[Edge]) -> bool:
    return all(name == "causal_send" or after == state for name, _, after in steps)


def _starves(graph: Graph) -> bool:
    """Whether a fair run without further sends never delivers some message that was sent."""
    for m in range(graph.world.messages):
        left = {
            state for state in graph.steps if m in (view := View(graph.world, state)).sent and m not in view.delivered
        }
        if any(_rests(state, graph.steps[state]) for state in left):
            return True
        moves = {
            state: [
                (name, number, then)
                for name, number, then in graph.steps[state]
                if name != "causal_send" and then != state
            ]
            for state in left
        }
        for component in _components(left, moves):
            inside = [(edge, state) for state in component for edge in moves[state] if edge[2] in component]
            taken = {(name, number) for (name, number, _), _ in inside}
            always = set.intersection(*({(name, number) for name, number, _ in moves[state]} for state in component))
            if inside and always <= taken:
                return True
    return False


def _components(states: set[State], moves: Mapping[State, list[Edge]]) -> Iterator[set[State]]:
    """The strongly connected components: states that reach each other."""
    reach: dict[State, set[State]] = {}
    for start in states:
        seen = {start}
        waiting = [start]
        while waiting:
            for _, _, then in moves[waiting.pop()]:
                if then in states and then not in seen:
                    seen.add(then)
                    waiting.append(then)
        reach[start] = seen
    left = set(states)
    while left:
        start = left.pop()
        component = {start} | {other for other in left if other in reach[start] and start in reach[other]}
        left -= component
        yield component


def world_of(machine: Machine, start: Any) -> World:
    """The world of a structure in which a run of the tool starts."""
    names, tables = machine.names, start.tables
    processes, messages = start.universe["process"], start.universe["message"]
    return World(
        processes,
        messages,
        tuple(tables["src"][(m,)] for m in range(messages)),
        tuple(tables["dst"][(m,)] for m in range(messages)),
        frozenset(pair for pair, true in tables[names["link"]].items() if true),
        tables[names["limit"]][()],
    )


def replayed(machine: Machine, run: Any) -> tuple[World, list[State]]:
    """The states of a run of the tool, step by step; an assertion fails where it is no run."""
    world = world_of(machine, run.start)
    assert machine.axiom is None or machine.axiom.holds(View(world, first(world)), {})
    by_name = {transition.name: transition for transition in machine.transitions}
    states = [first(world)]
    for action, (m,) in run.steps:
        transition = by_name[action.name]
        assert transition.enabled(world, states[-1], m), f"{action.name}({m}) is not enabled"
        states.append(transition.after(world, states[-1], m))
    return world, states
