"""Operations on symbolic values: comparison, arithmetic, reading collections.

An operation without a value in some case notes a fault of the protocol there, or a bound that is too small.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from thence.dsl.ir.types import Collection, Map, Type, has_zero
from thence.proofs.bounded.circuit import FALSE, TRUE, Circuit, Literal
from thence.proofs.bounded.symbolic import (
    MISSING,
    Choice,
    Fields,
    Flags,
    Index,
    Maybe,
    Missing,
    Slots,
    Symbolic,
    Table,
    Window,
    choice,
    choice_of,
    condition_of,
    in_set,
    known,
    merge,
    present,
    select,
    zero_value,
)


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds of the encoding: elements of a queue, iterations of a loop, and the largest number."""

    slots: int = 4
    iterations: int = 3
    number: int = 6


@dataclass(slots=True)
class Workshop:
    """A circuit, its bounds, and the conditions under which a computation goes wrong.

    The first thing that goes wrong counts: values after it mean nothing. So no fault is noted where a bound was too
    small before, and no bound where a fault came before.

    Attributes:
        fault: the condition of a fault of the protocol.
        overflow: for each bound, by name, the condition under which it is too small.
    """

    circuit: Circuit
    bounds: Bounds
    fault: Literal = FALSE
    overflow: dict[str, Literal] = field(default_factory=dict)

    def fail(self, condition: Literal) -> None:
        """Notes a fault where the condition is true, and no bound was too small before."""
        sound = (-literal for literal in self.overflow.values())
        self.fault = self.circuit.disj((self.fault, self.circuit.conj((condition, *sound))))

    def exceed(self, bound: str, condition: Literal) -> None:
        """Notes that the bound is too small where the condition is true, and no fault came before."""
        condition = self.circuit.conj((condition, -self.fault))
        if condition != FALSE:
            self.overflow[bound] = self.circuit.disj((self.overflow.get(bound, FALSE), condition))

    def adopt(self, other: Workshop, when: Literal) -> None:
        """Notes the faults and exceeded bounds of the other workshop, where the condition is true."""
        self.fail(self.circuit.conj((when, other.fault)))
        for bound, literal in other.overflow.items():
            self.exceed(bound, self.circuit.conj((when, literal)))

    # --- comparison ----------------------------------------------------------------------------

    def same(self, left: Symbolic, right: Symbolic, type_: Type) -> Literal:
        """Whether two values of the type are equal."""
        circuit = self.circuit
        if left is right:
            return TRUE
        match left, right:
            case (Missing(), _) | (_, Missing()):
                return FALSE
            case int(), int():
                return circuit.iff(left, right)
            case Choice(), Choice():
                return circuit.disj(
                    circuit.conj((literal, condition_of(right, value))) for value, literal in left.options
                )
            case Fields(), Fields():
                parts = zip(left.values, right.values, type_.fields, strict=True)  # type: ignore[union-attr]
                return circuit.conj(self.same(one, other, part) for one, other, (_, part) in parts)
            case Maybe(), Maybe():
                both = circuit.conj((left.present, right.present))
                inside = FALSE if both == FALSE else self.same(left.item, right.item, item_type(type_))
                return circuit.disj((circuit.conj((both, inside)), circuit.conj((-left.present, -right.present))))
            case Flags(), Flags():
                members = {element for flags in (left, right) for element, _ in flags.members}
                return circuit.conj(circuit.iff(in_set(left, one), in_set(right, one)) for one in sorted(members))
            case Slots(), Slots():
                return self._same_slots(left, right, item_type(type_))
            case Table(), Table():
                return self._same_tables(left, right, type_)
            case Window(), Window():
                return self._same_windows(left, right, item_type(type_))
            case Index(), Index():
                entries = self._same_entries(left.entries, right.entries, item_type(type_))
                return circuit.conj((self.same(left.next, right.next, type_), entries))
            case _:
                raise AssertionError("two values of different types are compared")

    def _same_slots(self, left: Slots, right: Slots, item: Type) -> Literal:
        parts = [self.same(left.count, right.count, item)]
        for position in range(min(len(left.items), len(right.items))):
            inside = self.above(left.count, position)
            equal = self.same(left.items[position], right.items[position], item)
            parts.append(self.circuit.implies(inside, equal))
        return self.circuit.conj(parts)

    def _same_tables(self, left: Table, right: Table, type_: Type) -> Literal:
        assert isinstance(type_, Map)
        if not has_zero(type_.value):
            return self._same_entries(left.entries, right.entries, type_.value)
        keys = {key for table in (left, right) for key, _, _ in table.entries}
        return self.circuit.conj(
            self.same(self.stored(left, key, type_), self.stored(right, key, type_), type_.value)
            for key in sorted(keys)
        )

    def _same_entries(
        self,
        left: tuple[tuple[int, Literal, Symbolic], ...],
        right: tuple[tuple[int, Literal, Symbolic], ...],
        item: Type,
    ) -> Literal:
        circuit = self.circuit
        sides = [{key: (mapped, value) for key, mapped, value in entries} for entries in (left, right)]
        parts = []
        for key in sorted({*sides[0], *sides[1]}):
            (one, first), (other, second) = (side.get(key, (FALSE, MISSING)) for side in sides)
            both = circuit.conj((one, other))
            equal = FALSE if both == FALSE else self.same(first, second, item)
            parts.append(circuit.disj((circuit.conj((both, equal)), circuit.conj((-one, -other)))))
        return circuit.conj(parts)

    def _same_windows(self, left: Window, right: Window, item: Type) -> Literal:
        parts = [self.same(left.first, right.first, item), self.same(left.next, right.next, item)]
        others = dict(right.items)
        for index, value in left.items:
            if index in others:
                equal = self.same(value, others[index], item)
                parts.append(self.circuit.implies(self.in_window(left, index), equal))
        return self.circuit.conj(parts)

    def less(self, left: Choice, right: Choice) -> Literal:
        """Whether the left number is smaller."""
        return self.circuit.disj(
            self.circuit.conj((literal, self.circuit.disj(one for value, one in left.options if value < bound)))
            for bound, literal in right.options
        )

    def above(self, number: Choice, bound: int) -> Literal:
        """Whether the number is larger than the bound."""
        return self.circuit.disj(literal for value, literal in number.options if value > bound)

    def in_window(self, window: Window, index: int) -> Literal:
        """Whether first <= index < next."""
        reached = self.circuit.disj(literal for value, literal in window.first.options if value <= index)
        return self.circuit.conj((reached, self.above(window.next, index)))

    # --- arithmetic ----------------------------------------------------------------------------

    def compute(self, operation: Callable[[int, int], int], left: Choice, right: Choice, when: Literal) -> Choice:
        """The operation on two numbers, where the path condition `when` is true. Below zero is a fault."""
        circuit = self.circuit
        options: dict[int, list[Literal]] = {}
        for one, first in left.options:
            for other, second in right.options:
                both = circuit.conj((first, second))
                if both == FALSE:
                    continue
                value = operation(one, other)
                if value < 0:
                    self.fail(circuit.conj((when, both)))
                elif value > self.bounds.number:
                    self.exceed("number", circuit.conj((when, both)))
                else:
                    options.setdefault(value, []).append(both)
        return choice(circuit, options)

    def number_of(self, literals: Iterable[Literal]) -> Choice:
        """How many of the literals are true."""
        circuit = self.circuit
        counts: dict[int, Literal] = {0: TRUE}
        for literal in literals:
            following: dict[int, list[Literal]] = {}
            for count, when in counts.items():
                following.setdefault(count, []).append(circuit.conj((when, -literal)))
                following.setdefault(count + 1, []).append(circuit.conj((when, literal)))
            counts = {count: circuit.disj(cases) for count, cases in following.items()}
        return choice(circuit, {count: (when,) for count, when in counts.items()})

    # --- reading collections -------------------------------------------------------------------

    def stored(self, table: Table, key: int, type_: Type) -> Symbolic:
        """The value of a total map at a key."""
        assert isinstance(type_, Map)
        for known_key, mapped, value in table.entries:
            if known_key == key:
                return merge(self.circuit, mapped, value, zero_value(type_.value))
        return zero_value(type_.value)

    def stored_or_junk(self, table: Table, key: int, type_: Type) -> Symbolic:
        """The value of a map at a key that it has."""
        found = next((value for known_key, _, value in table.entries if known_key == key), MISSING)
        return present(found, _value(type_))

    def mapped(self, table: Table, key: int, type_: Type) -> Literal:
        """Whether the map has an entry: in a total map one that is not zero."""
        assert isinstance(type_, Map)
        for known_key, there, value in table.entries:
            if known_key == key:
                if not has_zero(type_.value):
                    return there
                zero = self.same(value, zero_value(type_.value), type_.value)
                return self.circuit.conj((there, -zero))
        return FALSE

    def look_up(self, table: Table, key: Choice, type_: Type, when: Literal) -> Symbolic:
        """The value of a map at a key; a fault where a partial map has none."""
        assert isinstance(type_, Map)
        circuit = self.circuit
        if has_zero(type_.value):
            return select(circuit, [(literal, self.stored(table, value, type_)) for value, literal in key.options])
        entries = {known_key: (there, value) for known_key, there, value in table.entries}
        cases = [(literal, *entries[value]) for value, literal in key.options if value in entries]
        found = circuit.disj(circuit.conj((literal, there)) for literal, there, _ in cases)
        self.fail(circuit.conj((when, -found)))
        return select(circuit, [(literal, value) for literal, _, value in cases])

    def window_item(self, window: Window, index: Choice, when: Literal) -> Symbolic:
        """The item of a sliding array at an index; a fault outside the window."""
        circuit = self.circuit
        inside = circuit.disj(
            circuit.conj((literal, self.in_window(window, value))) for value, literal in index.options
        )
        self.fail(circuit.conj((when, -inside)))
        items = dict(window.items)
        return select(circuit, [(literal, items[value]) for value, literal in index.options if value in items])

    def elements(self, collection: Symbolic, type_: Type) -> list[tuple[Literal, Symbolic]]:
        """The possible elements in their order, each with the condition under which it is there."""
        match collection:
            case Table(entries):
                return [(self.mapped(collection, key, type_), known(key)) for key, _, _ in entries]
            case Flags(members):
                return [(literal, known(element)) for element, literal in members]
            case Slots(count, items):
                return [(self.above(count, position), item) for position, item in enumerate(items)]
            case Window(items=indexed):
                return [(self.in_window(collection, index), item) for index, item in indexed]
            case Index(entries=entries):
                return [(present, item) for _, present, item in entries]
            case Maybe(present, item):
                return [(present, item)]
            case _:
                raise AssertionError(f"{type_} has no elements")

    def contains(self, collection: Symbolic, item: Symbolic, type_: Type) -> Literal:
        """Whether the item is an element, or a key of a map."""
        of = type_.key if isinstance(type_, Map) else item_type(type_)
        return self.circuit.disj(
            self.circuit.conj((there, self.same(item, element, of)))
            for there, element in self.elements(collection, type_)
        )

    def size(self, collection: Symbolic, type_: Type) -> Choice:
        """How many elements there are."""
        if isinstance(collection, Slots):
            return collection.count
        return self.number_of(there for there, _ in self.elements(collection, type_))

    def first_index(self, index: Index) -> Choice:
        """The index of the first element of a sliding map, or next."""
        circuit = self.circuit
        options: dict[int, list[Literal]] = {}
        none_before = TRUE
        for number, there, _ in index.entries:
            options.setdefault(number, []).append(circuit.conj((none_before, there)))
            none_before = circuit.conj((none_before, -there))
        for value, literal in index.next.options:
            options.setdefault(value, []).append(circuit.conj((none_before, literal)))
        return choice(circuit, options)

    def set_of(self, items: Sequence[Symbolic]) -> Flags:
        """The set of the items."""
        options: dict[int, list[Literal]] = {}
        for item in items:
            for value, literal in choice_of(item).options:
                options.setdefault(value, []).append(literal)
        return Flags(choice(self.circuit, options).options)


def _value(type_: Type) -> Type:
    assert isinstance(type_, Map)
    return type_.value


def item_type(type_: Type) -> Type:
    """The type of a collection's elements."""
    assert isinstance(type_, Collection)
    return type_.item
