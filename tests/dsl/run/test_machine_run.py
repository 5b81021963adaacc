"""Machines run step by step, against the independent evaluator of machines over finite structures.

The structure holds every message of the run from the start and one more of each pair of ends that is never
sent; the run knows a message when it is sent, and stand-ins. That both agree is the soundness of stand-ins.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TypeAlias

import pytest

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE
from thence.dsl.run.machine_run import HISTORY_RELATIONS, SENT, MachineRun, MachineState, Refusal
from thence.dsl.run.values import Message, Value
from thence.proofs.logic.structure import Structure, Table
from thence.proofs.machine import transitions

Specify: TypeAlias = Callable[[str], ir.Specification]

PROCESSES = 3
Ends: TypeAlias = tuple[tuple[int, tuple[int, ...]], ...]
ENDS: Ends = tuple((src, (dst,)) for src, dst in product(range(PROCESSES), repeat=2) if src != dst)
GROUPS: Ends = tuple((src, group) for src in range(PROCESSES) for group in ((), (0,), (0, 1), (1, 2), (0, 1, 2)))
"""Ends of multicast messages: to nobody, to some, to oneself."""

COUNTERS = """
machine counters:
  relation owed(p: process, m: message)
  relation open(m: message)
  relation pair(a: message, b: message)
  function rank(m: message): nat
  function seen(p: process): nat
  transition causal_send(m):
    require forall a. before(a, m) implies rank(a) <= 3
    forall x: pair(m, x) := open(x) and src(x) = src(m)
    forall p: owed(p, m) := p != src(m)
  transition deliver(m):
    require sent(m) and not delivered(m)
    require forall x. pair(x, m) implies rank(x) < 4
    open(m) := true
    rank(m) := rank(m) + 1
  transition settle(p, m):
    require owed(p, m) and (delivered(m) or hb(m, m))
    owed(p, m) := false
    seen(p) := if rank(m) > seen(p) then rank(m) else seen(p) + 1
    forall x: open(x) := open(x) and (dst(x) != p or not delivered_before(x, m))
  transition close(m):
    require open(m) and exists p. past(p, m) and seen(p) > 0
    forall x, y: pair(x, y) := pair(x, y) or open(y) and not sent(x) and src(y) = src(x)
    open(m) := false
  invariant trivial: forall m. open(m) implies sent(m)
"""


def _is_further_stand_in(value: object) -> bool:
    """The structure has one unsent message for each pair of ends; the run may have more of them."""
    return isinstance(value, Message) and value.number < -1


@dataclass
class Both:
    """A run in both: message k of the structure is `messages[k]`; the last ones are stand-ins, never sent."""

    machine: ir.Machine
    messages: list[Message]
    ends: Ends = ENDS
    run: MachineRun = field(init=False)
    state: MachineState = field(init=False)
    structure: Structure = field(init=False)

    def __post_init__(self) -> None:
        self.run = MachineRun(self.machine, PROCESSES, self.ends)
        self.state = self.run.initial()
        universe = {"process": PROCESSES, "message": len(self.messages)}
        given: dict[str, Table] = {
            "src": {(at,): message.src for at, message in enumerate(self.messages)},
        }
        if self.machine.delivery == "unicast":
            given["dst"] = {(at,): message.dsts[0] for at, message in enumerate(self.messages)}
        else:
            cells = product(enumerate(self.messages), range(PROCESSES))
            given["to"] = {(at, process): process in message.dsts for (at, message), process in cells}
        self.structure = transitions.initial(self.machine, universe, given)

    def known(self) -> list[int]:
        """The messages that the run can speak about: those sent, and the stand-ins."""
        sent = {message for (message,) in self.state[SENT]}
        return [at for at, message in enumerate(self.messages) if message in sent or message.number < 0]

    def next_sends(self) -> list[int]:
        """Of each process, the next message."""
        sent = {message for (message,) in self.state[SENT]}
        counts = {src: sum(message.src == src for message in sent) for src in range(PROCESSES)}
        return [at for at, message in enumerate(self.messages) if message.number == counts[message.src]]

    def values(self, action: transitions.Action, arguments: Sequence[int]) -> list[Value]:
        types = [parameter.type for parameter in action.parameters]
        return [self.messages[at] if type_ == MESSAGE else at for at, type_ in zip(arguments, types, strict=True)]

    def enabled(self) -> list[tuple[transitions.Action, tuple[int, ...]]]:
        """What the structure enables; the run must enable and refuse the same, naming a guard that is false."""
        found = []
        for action in transitions.actions(self.machine):
            messages = self.next_sends() if action.name == "causal_send" else self.known()
            domains = [messages if item.type == MESSAGE else range(PROCESSES) for item in action.parameters]
            for arguments in product(*domains):
                after = self.run.step(self.state, action.name, self.values(action, arguments))
                expected = transitions.enabled(action, arguments, self.structure)
                assert isinstance(after, Refusal) != expected, (action.name, arguments, after)
                if expected:
                    found.append((action, arguments))
        return found

    def take(self, action: transitions.Action, arguments: tuple[int, ...]) -> None:
        after = self.run.step(self.state, action.name, self.values(action, arguments))
        assert not isinstance(after, Refusal)
        self.state = after
        self.structure = transitions.step(action, arguments, self.structure)
        self.compare()

    def compare(self) -> None:
        """Every relation and function is the same on what the run can speak about."""
        known = self.known()
        symbols = {symbol.name: symbol for symbol in transitions.symbols(self.machine)}
        names = [*HISTORY_RELATIONS, *[symbol.name for symbol in self.machine.symbols]]
        for table, name in zip(self.state, names, strict=True):
            symbol = symbols[name]
            domains = [known if item.type == MESSAGE else range(PROCESSES) for item in symbol.parameters]
            expected = set()
            for key in product(*domains):
                value = self.structure.tables[name][key]
                if value:
                    shown = [
                        self.messages[at] if item.type == MESSAGE else at
                        for at, item in zip(key, symbol.parameters, strict=True)
                    ]
                    expected.add(tuple(shown) if symbol.result == BOOL else (*shown, value))
            shared = {entry for entry in table if not any(_is_further_stand_in(value) for value in entry)}
            assert shared == expected, name


def messages_of(draw: random.Random, number: int, ends: Ends) -> list[Message]:
    counts = [0] * PROCESSES
    messages = []
    for _ in range(number):
        src, dsts = draw.choice(ends)
        messages.append(Message(src, counts[src], dsts))
        counts[src] += 1
    return [*messages, *[Message(src, -1, dsts) for src, dsts in ends]]


def agree(machine: ir.Machine, seeds: int, messages: int, steps: int, ends: Ends = ENDS) -> set[str]:
    """Random runs agree; the transitions that were taken."""
    taken = set()
    for seed in range(seeds):
        draw = random.Random(seed)
        both = Both(machine, messages_of(draw, messages, ends), ends)
        for _ in range(steps):
            by_name: dict[str, list[tuple[transitions.Action, tuple[int, ...]]]] = {}
            for action, arguments in both.enabled():
                by_name.setdefault(action.name, []).append((action, arguments))
            if not by_name:
                break
            action, arguments = draw.choice(by_name[draw.choice(sorted(by_name))])
            taken.add(action.name)
            both.take(action, arguments)
    return taken


@pytest.mark.parametrize(("file", "name"), [("mf", "buffers"), ("hybrid_basic", "permits")])
def test_machines_of_the_library(library: Specify, file: str, name: str) -> None:
    machine = next(machine for machine in library(file).machines if machine.name == name)
    assert agree(machine, 6, 4, 18) == {transition.name for transition in machine.transitions}


def test_mutants_of_machines(library: Specify) -> None:
    machines = [
        mutant.mutated
        for file in ("mf", "hybrid_basic")
        for mutant in library(file).mutants
        if isinstance(mutant.mutated, ir.Machine)
    ]
    assert len(machines) >= 10
    for machine in machines:
        assert {"causal_send", "deliver"} <= agree(machine, 2, 3, 24)


def test_functions_and_updates_for_all(specify: Specify) -> None:
    machine = specify(COUNTERS).machines[0]
    assert agree(machine, 12, 3, 16) == {"causal_send", "deliver", "settle", "close"}


PERMITS = """
machine several:
  delivery multicast
  relation acked(m: message, p: process)
  relation missing(m: message, p: process)
  relation waits(m: message, x: message)
  transition causal_send(m):
    forall x: waits(m, x) := missing(x, src(m))
  transition deliver(m, p):
    require sent(m) and to(m, p)
    require forall a. before(a, m) and to(a, p) implies delivered(a, p)
    require forall x. waits(m, x) implies not missing(x, src(m))
    missing(m, p) := exists q. p != q and to(m, q)
  transition acknowledge(m, p):
    require delivered(m, p)
    acked(m, p) := exists a. delivered_before(a, m, p) or hb(a, m)
  transition permit(m, p):
    require missing(m, p) and (past(p, m) and forall q. to(m, q) implies delivered(m, q))
    missing(m, p) := false
  invariant trivial: forall m, p. acked(m, p) implies sent(m)
"""


def test_messages_with_several_destinations(specify: Specify) -> None:
    machine = specify(PERMITS).machines[0]
    assert agree(machine, 10, 4, 16, GROUPS) == {"causal_send", "deliver", "acknowledge", "permit"}


ORDERED = """
machine ordered:
  relation lower(p: process, q: process)
  relation open(p: process, q: process)
  relation apart(p: process, q: process)
  function rank(p: process): nat
  function level(p: process): nat
  axiom total: forall p, q. p = q or lower(p, q) or lower(q, p)
  axiom ranked: forall p, q. rank(p) = rank(q) implies p = q
  axiom circle: forall p. apart(p, p) {holds}
  transition causal_send(m):
    require lower(src(m), dst(m)) and rank(src(m)) < rank(dst(m)) and not open(src(m), dst(m))
    forall p: level(p) := if p = src(m) then level(p) + 1 else level(p)
    forall p, q: open(p, q) := open(p, q) or p = src(m) and q = dst(m)
  transition deliver(m): require sent(m) and not delivered(m)
  invariant trivial: forall m. delivered(m) implies sent(m)
"""


def test_what_is_given_is_chosen_by_the_numbers_of_the_processes(specify: Specify) -> None:
    """See NOTE(order): where the axioms are satisfied, and nowhere else, the run speaks for the machine."""
    machine = specify(ORDERED.format(holds="implies lower(p, p)")).machines[0]
    run = MachineRun(machine, PROCESSES, ENDS)
    assert run.broken_axioms() == ()
    assert isinstance(run.step(run.initial(), "causal_send", [Message(2, 0, (1,))]), Refusal)
    assert not isinstance(run.step(run.initial(), "causal_send", [Message(0, 0, (2,))]), Refusal)
    tables = dict(
        zip([symbol.name for symbol in machine.symbols], run.initial()[len(HISTORY_RELATIONS) :], strict=True)
    )
    assert tables["lower"] == tables["apart"] == {(0, 1), (0, 2), (1, 2)}
    assert tables["rank"] == {(1, 1), (2, 2)}
    assert tables["open"] == tables["level"] == frozenset()
    impossible = specify(ORDERED.format(holds="and not lower(p, p)")).machines[0]
    assert MachineRun(impossible, PROCESSES, ENDS).broken_axioms() == ("circle",)


def test_what_is_given_on_a_tree_network_is_the_tree(library: Specify) -> None:
    """See NOTE(order): the next hop, to itself the parent; who is on the way. Without a tree the axioms are false."""
    machine = next(machine for machine in library("tree").machines if machine.name == "queues")
    edges = ((0, 1), (1, 2), (1, 3))
    run = MachineRun(machine, 4, [(0, (2,)), (2, (3,))], edges)
    assert run.broken_axioms() == ()
    tables = dict(
        zip([symbol.name for symbol in machine.symbols], run.initial()[len(HISTORY_RELATIONS) :], strict=True)
    )
    hops = {(one, other): hop for one, other, hop in tables["nxt"]}
    assert [hops[2, other] for other in range(4)] == [1, 1, 1, 1]
    assert [hops[1, other] for other in range(4)] == [0, 0, 2, 3]
    assert [hops[0, other] for other in range(4)] == [0, 1, 1, 1]
    assert {via for one, via, other in tables["btw"] if (one, other) == (2, 3)} == {2, 1, 3}
    assert {via for one, via, other in tables["btw"] if one == other} == {0, 1, 2, 3}
    assert MachineRun(machine, 4, [(0, (2,))]).broken_axioms() != ()


def test_a_refusal_names_the_first_guard_that_fails(library: Specify) -> None:
    machine = next(machine for machine in library("mf").machines if machine.name == "buffers")
    run = MachineRun(machine, 2, [(0, (1,)), (1, (0,))])
    first, second = Message(0, 0, (1,)), Message(0, 1, (1,))
    state = run.initial()
    for message in (first, second):
        after = run.step(state, "causal_send", [message])
        assert not isinstance(after, Refusal)
        state = after
    again = run.step(state, "causal_send", [first])
    assert isinstance(again, Refusal)
    assert again.guard == "not sent(m)"
    refused = run.step(state, "network_send", [second])
    assert isinstance(refused, Refusal)
    guards = next(known.requires for known in machine.transitions if known.name == "network_send")
    assert refused.transition == "network_send"
    assert refused.requirement is guards[1]
    assert refused.guard == guards[1].name


def test_what_holds_of_a_stand_in_holds_of_the_message_it_becomes(specify: Specify) -> None:
    """`close` speaks about messages that are not sent; the message sent afterwards has inherited that."""
    machine = specify(COUNTERS).machines[0]
    both = Both(machine, [Message(0, 0, (1,)), Message(0, 1, (1,)), *[Message(src, -1, dsts) for src, dsts in ENDS]])
    actions = {action.name: action for action in transitions.actions(machine)}
    both.take(actions["causal_send"], (0,))
    both.take(actions["deliver"], (0,))
    both.take(actions["settle"], (1, 0))
    both.take(actions["close"], (0,))
    pair = len(HISTORY_RELATIONS) + 2
    assert (Message(0, -1, (1,)), Message(0, 0, (1,))) in both.state[pair]
    # The next send overwrites pair(m, x); what it was paired with by others stays.
    both.take(actions["causal_send"], (1,))
    assert (Message(0, -1, (1,)), Message(0, 0, (1,))) in both.state[pair]
