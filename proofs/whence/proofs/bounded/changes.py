"""The mutations of collections, as functions from the value before to the value after."""

from __future__ import annotations

from collections.abc import Sequence

from whence.dsl.types import Type
from whence.proofs.bounded.circuit import FALSE, TRUE, Literal
from whence.proofs.bounded.operations import Workshop, item_type, scalar
from whence.proofs.bounded.symbolic import (
    MISSING,
    Choice,
    Flags,
    Index,
    Slots,
    Symbolic,
    Table,
    Window,
    choice,
    choice_of,
    condition_of,
    known,
    merge,
    zero_value,
)


def change(
    workshop: Workshop, method: str, type_: Type, value: Symbolic, arguments: Sequence[Symbolic], when: Literal
) -> Symbolic:
    """The collection after the mutation, where the path condition is true."""
    match value:
        case Slots():
            return _change_queue(workshop, method, item_type(type_), value, arguments, when)
        case Flags():
            return _change_set(workshop, method, value, arguments)
        case Window():
            return _change_window(workshop, method, value, arguments, when)
        case Index():
            return _change_index(workshop, method, item_type(type_), value, arguments, when)
        case Table() if method == "clear":
            return Table(())
        case Table():
            (key,) = arguments
            kept = (
                (known_key, workshop.circuit.conj((there, -condition_of(choice_of(key), known_key))), item)
                for known_key, there, item in value.entries
            )
            return Table(tuple(entry for entry in kept if entry[1] != FALSE))
        case _ if method == "clear":
            return zero_value(type_)
        case _:
            raise AssertionError((method, type_))


def _change_queue(
    workshop: Workshop, method: str, of: Type, queue: Slots, arguments: Sequence[Symbolic], when: Literal
) -> Slots:
    circuit = workshop.circuit
    match method:
        case "push":
            return push(workshop, queue, arguments[0], when)
        case "pop":
            workshop.fail(circuit.conj((when, condition_of(queue.count, 0))))
            return _shift(workshop, queue, [TRUE] * len(queue.items))
        case "clear":
            return Slots(known(0), ())
        case "remove":
            past = FALSE
            shifted = []
            for position, item in enumerate(queue.items):
                here = circuit.conj((workshop.above(queue.count, position), workshop.same(item, arguments[0], of)))
                past = circuit.disj((past, here))
                shifted.append(past)
            return _shift(workshop, queue, shifted)
        case _:
            raise AssertionError(method)


def _shift(workshop: Workshop, queue: Slots, gone: Sequence[Literal]) -> Slots:
    """The queue with the items behind a removed one moved down; `gone[i]`: that at i or before it is removed."""
    if not gone:
        return queue
    circuit = workshop.circuit
    items = tuple(
        merge(circuit, gone[position], queue.items[position + 1], item) if position + 1 < len(queue.items) else item
        for position, item in enumerate(queue.items)
    )
    removed = gone[-1]
    options: dict[int, list[Literal]] = {}
    for value, literal in queue.count.options:
        options.setdefault(value, []).append(circuit.conj((literal, -removed)))
        if value > 0:
            options.setdefault(value - 1, []).append(circuit.conj((literal, removed)))
    return trimmed(Slots(choice(circuit, options), items))


def push(workshop: Workshop, queue: Slots, item: Symbolic, when: Literal) -> Slots:
    """The queue with the item behind; beyond the slots there are, that is said."""
    circuit = workshop.circuit
    workshop.exceed("slots", circuit.conj((when, workshop.above(queue.count, workshop.bounds.slots - 1))))
    items = [*queue.items, MISSING][: workshop.bounds.slots]
    placed = tuple(merge(circuit, condition_of(queue.count, position), item, old) for position, old in enumerate(items))
    larger = ((value + 1, literal) for value, literal in queue.count.options if value < workshop.bounds.slots)
    return trimmed(Slots(Choice(tuple(larger)), placed))


def _change_set(workshop: Workshop, method: str, flags: Flags, arguments: Sequence[Symbolic]) -> Flags:
    circuit = workshop.circuit
    if method == "clear":
        return Flags(())
    item = scalar(arguments[0])
    members: dict[int, Literal] = dict(flags.members)
    for value, literal in item.options:
        before = members.get(value, FALSE)
        members[value] = circuit.disj((before, literal)) if method == "add" else circuit.conj((before, -literal))
    return Flags(tuple((value, literal) for value, literal in sorted(members.items()) if literal != FALSE))


def _change_window(
    workshop: Workshop, method: str, window: Window, arguments: Sequence[Symbolic], when: Literal
) -> Window:
    circuit = workshop.circuit
    empty = workshop.circuit.disj(
        circuit.conj((literal, condition_of(window.next, value))) for value, literal in window.first.options
    )
    match method:
        case "add":
            items = dict(window.items)
            for value, literal in window.next.options:
                if value <= workshop.bounds.number:
                    items[value] = merge(circuit, literal, arguments[0], items.get(value, MISSING))
            return Window(window.first, _successor(workshop, window.next, when), tuple(sorted(items.items(), key=_key)))
        case "remove":
            workshop.fail(circuit.conj((when, empty)))
            return Window(_successor(workshop, window.first, when), window.next, window.items)
        case "clear":
            return Window(window.next, window.next, ())
        case _:
            raise AssertionError(method)


def _successor(workshop: Workshop, number: Choice, when: Literal) -> Choice:
    return workshop.compute(lambda one, other: one + other, number, known(1), when)


def _change_index(
    workshop: Workshop, method: str, of: Type, index: Index, arguments: Sequence[Symbolic], when: Literal
) -> Index:
    circuit = workshop.circuit
    if method == "clear":
        return Index(index.next, ())
    equal = {
        number: circuit.conj((present, workshop.same(item, arguments[0], of)))
        for number, present, item in index.entries
    }
    if method == "remove":
        kept = ((number, circuit.conj((present, -equal[number])), item) for number, present, item in index.entries)
        return Index(index.next, tuple(entry for entry in kept if entry[1] != FALSE))
    new = -circuit.disj(equal.values())
    entries = {number: (present, item) for number, present, item in index.entries}
    for value, literal in index.next.options:
        if value > workshop.bounds.number:
            continue
        here = circuit.conj((new, literal))
        present, item = entries.get(value, (FALSE, MISSING))
        entries[value] = (circuit.disj((present, here)), merge(circuit, here, arguments[0], item))
    following = _successor(workshop, index.next, circuit.conj((when, new)))
    after = choice_of(merge(circuit, new, following, index.next))
    found = ((number, present, item) for number, (present, item) in sorted(entries.items(), key=_key))
    return Index(after, tuple(entry for entry in found if entry[1] != FALSE))


def trimmed(queue: Slots) -> Slots:
    """Without the slots that no possible count reaches."""
    longest = max((value for value, _ in queue.count.options), default=0)
    return Slots(queue.count, queue.items[:longest])


def _key(pair: tuple[int, object]) -> int:
    return pair[0]
