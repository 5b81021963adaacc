"""Places: the left sides of `:=`, and the collections before `.push(...)`.

A place is bound once, and its indices are evaluated then. From there on it can be read and changed, as `ref` needs:
the text keeps the indices under names of Python. Values are immutable: a change of a part rebuilds the values around
it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from thence.dsl import ir
from thence.dsl.ir.types import Map, Type, has_zero
from thence.dsl.run.evaluate import Terms, entry_text, field_position, zero_text

Kind: TypeAlias = Literal["field", "entry", "queue element", "window element"]


@dataclass(frozen=True, slots=True)
class Part:
    """A way from a value to a part of it.

    Attributes:
        kind: of part.
        key: the name of the part, as a text that stays what it is: a position, or a name of Python for a key or an
            index.
        type: of the value.
    """

    kind: Kind
    key: str
    type: Type

    def read(self, value: str) -> str:
        """The part."""
        match self.kind:
            case "field":
                return f"{value}[{self.key}]"
            case "entry":
                return entry_text(value, self.key, self.type)
            case "queue element":
                return f"queue_item({value}, {self.key})"
            case _:
                return f"window_item({value}, {self.key})"

    def changed(self, value: str, part: str) -> str:
        """The value after a change of the part."""
        match self.kind:
            case "field":
                position = int(self.key)
                return f"(*{value}[:{position}], {part}, *{value}[{position + 1}:])"
            case "entry":
                assert isinstance(self.type, Map)
                if has_zero(self.type.value):
                    return f"with_entry_or({value}, {self.key}, {part}, {zero_text(self.type.value)})"
                return f"with_entry({value}, {self.key}, {part})"
            case "queue element":
                return f"with_queue_item({value}, {self.key}, {part})"
            case _:
                return f"with_window_item({value}, {self.key}, {part})"


@dataclass(frozen=True, slots=True)
class Place:
    """A bound place.

    Attributes:
        root: the variable that it is in, as text: one of the state, or one of Python.
        parts: the way from there to the place.
    """

    root: str
    parts: tuple[Part, ...] = ()

    def read(self) -> str:
        """The value. It raises a fault where a partial map has none."""
        value = self.root
        for part in self.parts:
            value = part.read(value)
        return value

    def written(self, value: str, fresh: Callable[[str], str]) -> list[str]:
        """The statements that put the value of this text there."""
        return self._rebuilt(lambda _: value, self.parts[:-1], fresh)

    def changed(self, change: Callable[[str], str], fresh: Callable[[str], str], *, often: bool) -> list[str]:
        """The statements that put there the value that `change` makes of the text of the value before. `often`: unless
        it is the very same, then the values around it stay as they are."""
        if not often or not self.parts:
            return self._rebuilt(change, self.parts, fresh)
        after = fresh("after")
        *lines, last = self._rebuilt(lambda _: after, self.parts, fresh)
        held = lines[-1].partition(" = ")[0]
        return [*lines, f"{after} = {change(held)}", f"if {after} is not {held}:", f" {last}"]

    def _rebuilt(self, change: Callable[[str], str], read: tuple[Part, ...], fresh: Callable[[str], str]) -> list[str]:
        """`read` are the parts on the way whose values are read, from the root."""
        lines, held = [], [self.root]
        for part in read:
            name = fresh("held")
            lines.append(f"{name} = {part.read(held[-1])}")
            held.append(name)
        value = change(held[-1])
        for part, around in zip(reversed(self.parts), reversed(held[: len(self.parts)]), strict=True):
            value = part.changed(around, value)
        return [*lines, f"{self.root} = {value}"]

    def inside(self, kind: Kind, key: str, type_: Type) -> Place:
        """A part of this place, which has this type."""
        return Place(self.root, (*self.parts, Part(kind, key, type_)))


def bound_place(expression: ir.Expr, terms: Terms, places: Mapping[str, Place]) -> tuple[list[str], Place]:
    """The statements that evaluate the indices, and the place that the expression denotes from there on.

    `places` are those of the names that `ref` and `var` introduce.
    """
    match expression:
        case ir.StateOf(name=name, process=None):
            return [], Place(f"{terms.of_frame('state')}[{terms.positions[name]}]")
        case ir.Local(name=name):
            return [], places[name]
        case ir.FieldOf(target=target, name=name):
            lines, place = bound_place(target, terms, places)
            return lines, place.inside("field", str(field_position(target.type, name)), target.type)
        case ir.Lookup(target=target, key=key):
            lines, place = bound_place(target, terms, places)
            more, stays = _kept(key, terms, places)
            return [*lines, *more], place.inside("entry", stays, target.type)
        case ir.ElementAt(target=target, index=index):
            lines, place = bound_place(target, terms, places)
            more, stays = _kept(index, terms, places)
            return [*lines, *more], place.inside("window element", stays, target.type)
        case _:
            raise AssertionError(f"not a place: {expression}")


def _kept(expression: ir.Expr, terms: Terms, places: Mapping[str, Place]) -> tuple[list[str], str]:
    """The statements that give the value a name, where it has none that keeps it; and the name."""
    match expression:
        case ir.Local(name=name) if name in places:
            pass
        case ir.Local() | ir.Literal_() | ir.SelfProcess():
            return [], terms.bare(expression)
        case _:
            pass
    name = terms.source.fresh("key")
    return [f"{name} = {terms.bare(expression)}"], name
