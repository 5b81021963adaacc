"""A causal key-value store in several data centres."""

from __future__ import annotations

import random
from typing import Any

import pytest

from thence.impl.commands import MustWait, ProtocolError, Send
from thence.impl.cops import COPS, Client, PutAfter, Version

NONE: frozenset[Version] = frozenset()


def test_an_album_waits_for_its_photo() -> None:
    here, there = COPS(0, 2), COPS(1, 2)
    photo = Version("photo", 1, 0)
    assert here.put("photo", "png") == [Send(1, PutAfter("photo", "png", NONE, 1))]
    assert here.put("album", "photo") == [Send(1, PutAfter("album", "photo", frozenset({photo}), 2))]
    assert here.context == {Version("album", 2, 0)}
    assert there.receive(0, PutAfter("album", "photo", frozenset({photo}), 2)) == []
    assert there.value_of("album") is None
    with pytest.raises(MustWait):
        there.get("album", "photo")
    assert there.receive(0, PutAfter("photo", "png", NONE, 1)) == []
    assert there.get("album", "photo") == there.get("photo", "png") == []
    assert there.context == {Version("album", 2, 0), photo}
    assert there.put("album", "empty") == [
        Send(0, PutAfter("album", "empty", frozenset({Version("album", 2, 0), photo}), 3))
    ]


def test_of_two_puts_at_once_the_same_one_stays_everywhere() -> None:
    carol, dan = COPS(0, 2), COPS(1, 2)
    (eight,) = carol.put("party", 8)
    (ten,) = dan.put("party", 10)
    carol.receive(1, ten.packet)  # type: ignore[union-attr]
    dan.receive(0, eight.packet)  # type: ignore[union-attr]
    assert carol.value_of("party") == dan.value_of("party") == 10


def test_an_overwritten_put_is_a_dependency_that_is_met() -> None:
    """The put that comes second loses against the one that is there, and what depends on it need not wait."""
    process = COPS(1, 3)
    process.put("x", "mine")
    process.put("x", "mine again")
    overwritten = Version("x", 1, 0)
    process.receive(2, PutAfter("y", "z", frozenset({overwritten}), 2))
    assert process.value_of("y") is None
    process.receive(0, PutAfter("x", "yours", NONE, 1))
    assert process.value_of("x") == "mine again" and process.value_of("y") == "z"


def test_what_is_newer_does_not_stand_for_what_it_has_overwritten() -> None:
    """The newer put does not depend on what the older one depends on."""
    process = COPS(1, 2)
    first, second = Version("a", 1, 0), Version("x", 2, 0)
    process.receive(0, PutAfter("x", "second", frozenset({first}), 2))
    process.put("x", "newer")
    process.receive(0, PutAfter("y", "third", frozenset({second}), 3))
    assert process.value_of("y") is None
    process.receive(0, PutAfter("a", "first", NONE, 1))
    assert (process.value_of("a"), process.value_of("x"), process.value_of("y")) == ("first", "newer", "third")


def test_a_user_who_moves_is_served_when_the_context_is_written() -> None:
    here, there = COPS(0, 2), COPS(1, 2)
    (put,) = here.put("x", 1)
    (moved,) = here.move(1)
    assert moved == Send(1, Client(frozenset({Version("x", 1, 0)})))
    for _ in range(2):  # two users with the same context
        there.receive(0, moved.packet)
    assert there.context == NONE
    there.receive(0, put.packet)  # type: ignore[union-attr]
    assert there.context == {Version("x", 1, 0)}
    with pytest.raises(MustWait):
        there.move(1)
    with pytest.raises(ValueError, match="not one of"):
        there.move(2)


def test_a_long_chain_is_committed_at_once() -> None:
    here, there = COPS(0, 2), COPS(1, 2)
    puts = [here.put(number, number)[0] for number in range(3_000)]
    for put in reversed(puts):
        assert there.value_of(0) is None
        there.receive(0, put.packet)  # type: ignore[union-attr]
    assert [there.value_of(number) for number in range(3_000)] == list(range(3_000))


def test_random_networks() -> None:
    """Nobody gets what is older than what has been seen; at rest all data centres have the same."""
    for seed in range(300):
        check_a_random_run(random.Random(seed), 2 + seed % 3)


def check_a_random_run(draw: random.Random, count: int) -> None:
    """`past` has all that a put depends on, by a definition of its own: what its data centre has seen."""
    group = [COPS(identity, count) for identity in range(count)]
    flight: list[tuple[int, Send, set[Version]]] = []
    past: dict[Version, set[Version]] = {}
    seen: list[set[Version]] = [set() for _ in range(count)]
    value_by_version: dict[Version, int] = {}
    version_by_value: dict[Any, Version] = {}

    def newest(process: COPS, key: Any) -> Version | None:
        return version_by_value.get(process.value_of(key))

    def check(at: int) -> None:
        for key in range(3):
            shown = newest(group[at], key)
            needed = set(seen[at])
            for other in range(3):
                held = newest(group[at], other)
                needed |= past[held] if held else set()
            for version in needed:
                if version.key == key:
                    assert shown is not None
                    assert (shown.time, shown.origin) >= (version.time, version.origin)

    for step in range(40):
        at = draw.randrange(count)
        chosen = draw.random()
        if flight and (chosen < 0.4 or step >= 30):
            sender, send, carried = flight.pop(draw.randrange(len(flight)))
            at = send.destination
            group[at].receive(sender, send.packet)
            if isinstance(send.packet, Client) and group[at].context >= send.packet.nearest:
                seen[at] |= carried
        elif chosen < 0.7:
            key = draw.randrange(3)
            commands = group[at].put(key, step)
            (version,) = group[at].context
            past[version] = set(seen[at])
            seen[at].add(version)
            value_by_version[version], version_by_value[step] = step, version
            flight += [(at, each, set()) for each in commands if isinstance(each, Send)]
        elif chosen < 0.9:
            held = newest(group[at], draw.randrange(3))
            if held is not None:
                group[at].get(held.key, value_by_version[held])
                seen[at] |= {held} | past[held]
        else:
            commands = group[at].move((at + 1) % count)
            flight += [(at, each, set(seen[at])) for each in commands if isinstance(each, Send)]
        check(at)
    while flight:
        sender, send, _ = flight.pop(draw.randrange(len(flight)))
        group[send.destination].receive(sender, send.packet)
    for key in range(3):
        assert len({process.value_of(key) for process in group}) == 1


@pytest.mark.parametrize(
    ("sender", "packet", "reason"),
    [
        (1, "PUT_AFTER", "not a packet"),
        (0, Client(NONE), "nothing to itself"),
        (2, Client(NONE), "not one of"),
        (1, PutAfter("x", 1, NONE, 0), "not the time"),
        (1, PutAfter("x", 1, NONE, True), "not the time"),
        (1, PutAfter([], 1, NONE, 1), "neither a key nor a value"),  # type: ignore[arg-type]
        (1, PutAfter("x", {}, NONE, 1), "neither a key nor a value"),  # type: ignore[arg-type]
        (1, PutAfter("x", 1, {Version("y", 1, 1)}, 2), "not a set of versions"),  # type: ignore[arg-type]
        (1, PutAfter("x", 1, frozenset({"y"}), 2), "not a set of versions"),  # type: ignore[arg-type]
        (1, PutAfter("x", 1, frozenset({Version("y", 2, 1)}), 2), "depends on a later one"),
        (1, PutAfter("x", 1, frozenset({Version("y", 1, 0)}), 2), "ours that was not made"),
        (1, PutAfter("x", 1, NONE, 7), "comes again"),
        (1, Client(frozenset({Version("y", 0, 1)})), "not the time"),
        (1, Client(frozenset({Version("y", 1, 2)})), "not the number of a data centre"),
        (1, Client(frozenset({Version("y", 1, 0)})), "ours that was not made"),
    ],
)
def test_what_no_correct_peer_sends(sender: int, packet: Any, reason: str) -> None:
    process = COPS(0, 2)
    process.receive(1, PutAfter("x", 7, NONE, 7))
    with pytest.raises(ProtocolError, match=reason):
        process.receive(sender, packet)
    assert process.value_of("x") == 7 and process.context == NONE
    assert process.put("x", 8) == [Send(1, PutAfter("x", 8, NONE, 8))]
