"""Fields of packets that bear the protocol's names are held against the protocol's, and others are left alone."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from thence.conformance.cases.schedulers import SCHEDULERS
from thence.conformance.conform.conform import settings_for
from thence.conformance.harness.harness import run_scheduled
from thence.conformance.implementations import SHIPPED
from thence.conformance.replay.packet_fields import Differs, PacketFields, difference, exact_form
from thence.conformance.replay.permissive import PermissiveReplay
from thence.conformance.replay.plain_values import Incomparable, plain, stands_for
from thence.conformance.replay.replay import Replay
from thence.conformance.systems.contract import Foreign
from thence.conformance.systems.subject import load_subject
from thence.dsl import ir
from thence.dsl.ir.types import BOOL, NAT, PROCESS, Collection, Map, Record, Type
from thence.dsl.load import load_bytes
from thence.dsl.run.values import Packet, Value, ascending
from thence.impl.commands import Send

Library = Callable[[str], ir.Protocol]
SEEDS = range(200)


def drawn_type(random: Random, depth: int = 2) -> Type:
    shape = random.randrange(3 if depth == 0 else 8)

    def inner() -> Type:
        return drawn_type(random, depth - 1)

    match shape:
        case 0 | 1 | 2:
            return (NAT, BOOL, PROCESS)[shape]
        case 3:
            return Collection("option", drawn_type(random, 0))
        case 4:
            return Collection("set", drawn_type(random, 0))
        case 5:
            return Collection("queue", inner())
        case 6:
            return Map(random.choice((NAT, PROCESS)), inner())
        case _:
            return Record("Pair", (("left", inner()), ("right", inner())))


class Pair(NamedTuple):
    left: Any
    right: Any


def drawn(random: Random, type_: Type) -> tuple[Value, Any]:
    """A value of the protocol, and a value of Python that stands for it."""
    match type_:
        case Record(fields=fields):
            left, right = (drawn(random, kind) for _, kind in fields)
            return (left[0], right[0]), Pair(left[1], right[1])
        case Collection("option", item):
            if random.random() < 0.3:
                return None, None
            ours, theirs = drawn(random, item)
            return (ours,), theirs
        case Collection("set", item):
            pairs = dict(drawn(random, item) for _ in range(random.randrange(4)))
            return tuple(ascending(pairs)), set(pairs.values())
        case Collection(item=item):
            drawn_items = [drawn(random, item) for _ in range(random.randrange(4))]
            return tuple(one for one, _ in drawn_items), [one for _, one in drawn_items]
        case Map(value=item):
            entries = {key: drawn(random, item) for key in random.sample(range(3), random.randrange(4))}
            kept = {key: ours for key, (ours, _) in entries.items() if has_value(ours, item)}
            return tuple(sorted(kept.items())), {key: theirs for key, (_, theirs) in entries.items()}
        case _:
            value = random.randrange(2) == 1 if type_ == BOOL else random.randrange(3)
            return value, value


def has_value(value: Value, type_: Type) -> bool:
    """Whether a map keeps an entry with the value."""
    return type_ == PROCESS or isinstance(type_, Record) or value not in (0, False, None, ())


@pytest.mark.parametrize("seed", SEEDS)
def test_what_stands_for_a_value_is_equal_to_it_and_to_no_other(seed: int) -> None:
    random = Random(seed)
    type_ = drawn_type(random)
    drawn_values = [drawn(random, type_) for _ in range(12)]
    for ours, theirs in drawn_values:
        for other, _ in drawn_values:
            assert (stands_for(type_)(theirs) == plain(type_)(other)) is (ours == other), (type_, ours, other)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_json_keeps_of_a_value_stands_for_it_too(seed: int) -> None:
    random = Random(seed)
    type_ = drawn_type(random)
    ours, theirs = drawn(random, type_)
    read = json.loads(json.dumps(as_json(theirs)))
    assert stands_for(type_)(read) == plain(type_)(ours)


def as_json(value: Any) -> Any:
    match value:
        case Pair(left, right):
            return {"left": as_json(left), "right": as_json(right)}
        case set():
            return [as_json(part) for part in value]
        case list():
            return [as_json(part) for part in value]
        case dict():
            return {str(key): as_json(part) for key, part in value.items()}
        case _:
            return value


@pytest.mark.parametrize(
    ("value", "type_"),
    [("1", NAT), (True, NAT), (1, BOOL), (1.0, NAT), (None, NAT), ([1, 1], Collection("set", NAT)), ("p1", PROCESS)],
)
def test_other_values_are_not_compared(value: Any, type_: Type) -> None:
    with pytest.raises(Incomparable):
        stands_for(type_)(value)


def test_a_vector_stands_for_a_map_by_processes() -> None:
    assert stands_for(Map(PROCESS, NAT))([0, 2, 1]) == plain(Map(PROCESS, NAT))(((1, 2), (2, 1)))


TWINS = """protocol twins:
  network reliable, reordering
  message PING(k: nat)
  state:
    asked: nat
  on ask(p: process):
    asked := asked + 1
    send PING(asked) to p
    send PING(asked + 1) to p
  on receive PING(k) from j:
    if k > 2: send PING(k - 2) to j
  invariant small: forall p: process. asked@p < 100
scope one of twins:
  ask 2
"""


def twins() -> ir.Protocol:
    loaded = load_bytes("twins.thence", TWINS.encode()).specification
    assert loaded is not None
    return loaded.protocols[0]


@dataclass
class Ping:
    k: Any
    kind: str = "PING"
    message: None = None


class Twins:
    """Sends the two packets of a step in another order than the text."""

    def __init__(self, identity: int, processes: int) -> None:
        self.asked = 0

    def ask(self, p: int) -> list[Send]:
        self.asked += 1
        return [Send(p, Ping(self.asked + 1)), Send(p, Ping(self.asked))]

    def receive(self, sender: int, packet: Ping) -> list[Send]:
        return [Send(sender, Ping(packet.k - 2))] if packet.k > 2 else []


class Twice(Twins):
    """Sends the same packet twice."""

    def ask(self, p: int) -> list[Send]:
        self.asked += 1
        return [Send(p, Ping(self.asked)), Send(p, Ping(self.asked))]


class Silent(Twins):
    """Its packets say nothing of their field."""

    def ask(self, p: int) -> list[Send]:
        return [Send(p, replace(sent.packet, k=str(sent.packet.k))) for sent in reversed(super().ask(p))]

    def receive(self, sender: int, packet: Ping) -> list[Send]:
        return [Send(sender, Ping(str(int(packet.k) - 2)))] if int(packet.k) > 2 else []


def findings(make: Any, protocol: ir.Protocol, cases: int = 20) -> tuple[list[str], set[str]]:
    found, compared = [], set()
    for seed in range(cases):
        outcome = run_scheduled(
            make, SCHEDULERS["uniform"], seed, 12, settings_for(protocol, 2), PermissiveReplay(protocol, 2)
        )
        found += [str(each) for each in outcome.findings]
        compared |= outcome.compared
    return found, compared


def test_packets_that_differ_in_nothing_else_may_change_places() -> None:
    assert findings(Twins, twins()) == ([], {"PING.k"})
    found, _ = findings(Twice, twins())
    assert found and all("`k` of the subject's PING is" in each for each in found)


def test_a_field_that_stands_for_nothing_is_not_compared() -> None:
    assert findings(Silent, twins()) == ([], set())


def test_pairs_are_found_where_a_greedy_choice_fails() -> None:
    """The first packet goes with both of the protocol's, the second with the first only."""
    kind = ir.PacketKind("K", (ir.Variable("a", NAT), ir.Variable("b", NAT)), None)
    fields = PacketFields(replace(twins(), packets=(kind,)))
    ours = [Packet("K", 0, 1, (1, 2)), Packet("K", 0, 1, (1, 3))]

    class Half:
        def __init__(self, **known: int) -> None:
            self.__dict__ |= known

    def paired_of(theirs: tuple[Half, Half]) -> object:
        known = [fields.of(each) for each in ours]
        return fields.paired(known.__getitem__, (1, 0), theirs, ("x", "x"), set(), free=True)

    paired = paired_of((Half(a=1), Half(a=1, b=3)))
    assert paired == [0, 1]
    refused = paired_of((Half(a=1, b=3), Half(a=1, b=3)))
    assert isinstance(refused, Differs) and refused.field == "b"


def test_what_a_type_cannot_say_is_not_compared() -> None:
    """None stands for an option; what the protocol's option holds is never compared."""
    window = Collection("option", Collection("sliding array", NAT))
    kind = ir.PacketKind("K", (ir.Variable("a", window),), None)
    fields, compared = PacketFields(replace(twins(), packets=(kind,))), set[str]()
    ours = Packet("K", 0, 1, (((0, (1,)),),))
    theirs = (SimpleNamespace(a=None),)
    assert fields.paired(lambda _: fields.of(ours), (0,), theirs, ("x",), compared, free=False) == (0,)
    assert compared == set()


def altered(random: Random, value: Any) -> Any:
    """A value that is equal in Python, or close: true for 1, 1.0 for 1, a list for a tuple, one more."""
    if type(value) in (int, bool):
        return random.choice((value, value, int(value), bool(value), float(value), value + 1))
    if type(value) in (list, tuple):
        parts = [altered(random, part) for part in value]
        return random.choice((tuple, list))(parts)
    if type(value) is dict:
        pairs = [(key, altered(random, part)) for key, part in value.items()]
        random.shuffle(pairs)
        return dict(pairs)
    return value


@pytest.mark.parametrize("seed", range(20))
def test_a_value_that_need_not_be_read_again_is_judged_as_if_it_was(seed: int) -> None:
    """NOTE(exact): a packet that has been compared before, against the same packet that never was."""
    random, found, without = Random(seed), Counter[bool](), 0
    for _ in range(40):
        type_ = drawn_type(random)
        kind = ir.PacketKind("K", (ir.Variable("a", type_),), None)
        fields = PacketFields(replace(twins(), packets=(kind,)))
        (value, own), (_, another) = drawn(random, type_), drawn(random, type_)
        ours = Packet("K", 0, 1, (value,))
        known = fields.of(ours)
        for _ in range(30):
            given = random.choice((own, altered(random, own), another))
            theirs = SimpleNamespace(a=given) if random.random() < 0.7 else Foreign(0, "K", None, {"a": given})
            compared, again = set[str](), set[str]()
            without += bool(known.agreed and known.agreed[0] and known.agreed[0] == exact_form(given))
            difference_ = difference(known, theirs, compared)
            assert difference_ == difference(fields.of(ours), theirs, again)
            assert compared == again
            found[difference_ is None and bool(compared)] += 1
    assert found[True] > 200 and found[False] > 100
    assert without > 100


def test_a_form_is_exact() -> None:
    assert len({exact_form(value) for value in (1, True, 1.0, "1", (1,), [1], {1: 1}, {1: True}, frozenset({1}))}) == 9
    assert exact_form(({"a": [1, None]},)) == exact_form(({"a": [1, None]},)) != b""

    class Number(int):
        pass

    for value in (Pair(1, 2), SimpleNamespace(a=1), Number(1), [Number(1)], (Pair(1, 2),), object()):
        assert exact_form(value) == b""


def test_a_program_says_fields_in_one_place_only() -> None:
    """What else is known of its packets is no field, however the protocol's fields are called."""
    kind = ir.PacketKind("K", (ir.Variable("content", NAT),), None)
    fields = PacketFields(replace(twins(), packets=(kind,)))
    ours = Packet("K", 0, 1, (2,))

    def paired(theirs: Foreign) -> object:
        return fields.paired(lambda _: fields.of(ours), (0,), (theirs,), ("x",), set(), free=False)

    assert paired(Foreign(7, "K")) == (0,)
    assert paired(Foreign(7, "K", None, {"content": 2})) == (0,)
    assert isinstance(paired(Foreign(2, "K", None, {"content": 7})), Differs)


COMPARED = {"rst": "meta", "cbcast": "vt", "hybrid_basic": "mid", "hybrid_multicast": "pid", "skeen": "number"}


@pytest.mark.parametrize("name", COMPARED)
def test_a_shipped_implementation_with_another_field_is_refuted(name: str, library: Library) -> None:
    """One packet of a case is sent with the field's value of the packet before."""
    protocol, label = library(name), COMPARED[name]
    make, settings = load_subject(SHIPPED[name]).make_process, settings_for(library(name))
    refuted = 0
    for seed in range(12):
        last: list[Any] = []

        def spoilt(commands: Any, last: list[Any] = last) -> list[Any]:
            given = []
            for command in commands:
                packet = getattr(command, "packet", None)
                if hasattr(packet, label):
                    value = getattr(packet, label)
                    if len(last) == 1 and last[0] != value:
                        command = Send(command.destination, changed(packet, label, last[0]))
                        last.append(value)
                    last[:1] = last[:1] or [value]
                given.append(command)
            return given

        def faulty(identity: int, processes: int, spoilt: Any = spoilt) -> Any:
            return Spoilt(make(identity, processes), spoilt)

        outcome = run_scheduled(faulty, SCHEDULERS["uniform"], seed, 25, settings, Replay(protocol, 3))
        if len(last) == 2:
            refuted += 1
            assert any(f"`{label}` of the subject's" in str(each) for each in outcome.findings), seed
    assert refuted > 3


def changed(packet: Any, label: str, value: Any) -> Any:
    return packet._replace(**{label: value}) if hasattr(packet, "_replace") else replace(packet, **{label: value})


class Spoilt:
    """A process whose commands are changed on their way."""

    def __init__(self, inner: Any, spoilt: Any) -> None:
        self._inner, self._spoilt = inner, spoilt

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if name not in ("causal_send", "receive", "tick"):
            return found
        return lambda *given: self._spoilt(found(*given))
