"""The mutations of collections, as functions from the value before to the value after."""

from __future__ import annotations

from collections.abc import Sequence

from thence.dsl.ir.types import Collection, Type
from thence.proofs.bounded.circuit import FALSE, TRUE, Literal
from thence.proofs.bounded.operations import Workshop, item_type
from thence.proofs.bounded.ordering import precedes
from thence.proofs.bounded.symbolic import (
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
        case Slots() if isinstance(type_, Collection) and type_.kind == "set":
            return _change_bag(workshop, method, item_type(type_), value, arguments, when)
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


def _change_bag(
    workshop: Workshop, method: str, of: Type, bag: Slots, arguments: Sequence[Symbolic], when: Literal
) -> Slots:
    """A set whose elements stand in slots, ascending."""
    if method != "add":
        return _change_queue(workshop, method, of, bag, arguments, when)
    return inserted(workshop, of, bag, arguments[0], when)


def inserted(workshop: Workshop, of: Type, bag: Slots, item: Symbolic, when: Literal) -> Slots:
    """The ascending slots with the item at its place, where it is not there yet."""
    circuit = workshop.circuit
    there = [workshop.above(bag.count, position) for position in range(len(bag.items))]
    known_already = circuit.disj(
        circuit.conj((inside, workshop.same(item, old, of))) for inside, old in zip(there, bag.items, strict=True)
    )
    before = [
        circuit.conj((inside, precedes(workshop, old, item, of))) for inside, old in zip(there, bag.items, strict=True)
    ]
    room = workshop.bounds.slots
    new = circuit.conj((when, -known_already))
    workshop.exceed("slots", circuit.conj((new, workshop.above(bag.count, room - 1))))
    items: list[Symbolic] = []
    for position in range(min(len(bag.items) + 1, room)):
        own = bag.items[position] if position < len(bag.items) else MISSING
        stays = before[position] if position < len(bag.items) else FALSE
        here = TRUE if position == 0 else before[position - 1]
        moved = item if position == 0 else merge(circuit, here, item, bag.items[position - 1])
        items.append(merge(circuit, circuit.disj((stays, known_already)), own, moved))
    options: dict[int, list[Literal]] = {}
    for value, literal in bag.count.options:
        options.setdefault(value, []).append(circuit.conj((literal, known_already)))
        if value < room:
            options.setdefault(value + 1, []).append(circuit.conj((literal, -known_already)))
    return trimmed(Slots(choice(circuit, options), tuple(items)))


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
    """The queue with the item at its end; a queue longer than the bound is noted."""
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
    item = choice_of(arguments[0])
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
