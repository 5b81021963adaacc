"""Values: frozen dataclasses that are cheap to make."""

from __future__ import annotations

import pickle
import re
from copy import copy
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields, is_dataclass, replace
from inspect import signature
from itertools import product
from random import Random
from typing import Any, ClassVar

import pytest

from thence.spec.value import record, value


@value
class Point:
    """Two fields, and one of the class."""

    kind: ClassVar[str] = "POINT"
    x: int
    y: tuple[int, ...]


@value
class Nothing:
    """No fields."""


def test_a_value_is_a_frozen_dataclass() -> None:
    point: Any = Point(1, (2, 3))
    assert is_dataclass(point)
    assert [field.name for field in fields(point)] == ["x", "y"]
    assert repr(point) == "Point(x=1, y=(2, 3))"
    assert point == Point(y=(2, 3), x=1)
    assert len({point, Point(1, (2, 3)), Point(2, ())}) == 2
    assert replace(point, x=5) == Point(5, (2, 3))
    assert not hasattr(point, "__dict__")
    with pytest.raises(FrozenInstanceError):
        point.x = 3  # type: ignore[misc]
    match point:
        case Point(x, y):
            assert (x, y) == (1, (2, 3))


def test_a_value_is_pickled() -> None:
    assert pickle.loads(pickle.dumps(Point(1, ()))) == Point(1, ())


def test_what_is_missing_or_too_much_is_refused() -> None:
    make: Any = Point
    with pytest.raises(TypeError, match=r"Point\.__init__\(\) missing"):
        make(1)
    with pytest.raises(TypeError):
        make(1, (), 3)
    assert Nothing() == Nothing()


def test_a_default_is_refused() -> None:
    class Late:
        x: int = 3

    with pytest.raises(AssertionError, match="given all that it has"):
        value(Late)


def drawn_class(random: Random, make: Any, base: type | None, number: int) -> type:
    """A class of drawn fields, made by `make`: the same for the same draws."""
    annotations: dict[str, Any] = {}
    members: dict[str, Any] = {"__annotations__": annotations, "__doc__": "Drawn.", "__qualname__": f"Drawn{number}"}
    for place in range(random.randrange(4)):
        name = f"f{number}_{place}"
        annotations[name] = int
        kept = random.random() < 0.8
        match random.randrange(4):
            case 0:
                members[name] = field(default=place, kw_only=True, compare=kept, repr=kept)
            case 1:
                members[name] = field(kw_only=True, compare=kept)
            case 2 if base is None:
                members[name] = field(compare=kept, repr=random.random() < 0.8)
            case _:
                members[name] = field(default=place + 7, compare=kept)
    bases = (base,) if base is not None else ()
    ordered = {name: members.pop(name) for name in sorted(annotations, key=lambda one: _has_default(members[one]))}
    members["__annotations__"] = dict.fromkeys(ordered, int)
    return make(type(f"Drawn{number}", bases, members | ordered))  # type: ignore[no-any-return]


def _has_default(held: Any) -> bool:
    return held.default is not MISSING and held.kw_only is not True


@pytest.mark.parametrize("seed", range(60))
def test_a_record_is_what_a_frozen_dataclass_is(seed: int) -> None:
    plain, fast = dataclass(frozen=True, slots=True), record(frozen=True, slots=True)
    pairs: list[list[Any]] = []
    for make in (plain, fast):
        random = Random(seed)
        base = drawn_class(random, make, None, 0)
        pairs.append([base, drawn_class(random, make, base, 1)])
    random = Random(seed)
    for old, new in zip(*pairs, strict=True):
        assert [each.name for each in fields(old)] == [each.name for each in fields(new)]
        assert old.__match_args__ == new.__match_args__
        assert signature(old) == signature(new)
        made = []
        for _ in range(20):
            given = {each.name: random.randrange(2) for each in fields(old) if random.random() < 0.7}
            try:
                first = old(**given)
            except TypeError as error:
                with pytest.raises(TypeError, match=re.escape(str(error))):
                    new(**given)
                continue
            second = new(**given)
            assert repr(first) == repr(second)
            assert hash(first) == hash(second)
            assert not hasattr(second, "__dict__")
            assert copy(second) == second
            changed = dict.fromkeys(given, 5)
            assert repr(replace(first, **changed)) == repr(replace(second, **changed))
            for name in given:
                with pytest.raises(FrozenInstanceError) as told:
                    setattr(first, name, 1)
                with pytest.raises(FrozenInstanceError, match=re.escape(str(told.value))):
                    setattr(second, name, 1)
                with pytest.raises(FrozenInstanceError):
                    delattr(second, name)
            made.append((first, second))
        for one, other in product(made, repeat=2):
            assert (one[0] == other[0]) == (one[1] == other[1])
            assert one[0] != other[1]


@record(frozen=True, slots=True)
class Leaf:
    """A record, and one that extends it."""

    place: int = field(default=0, compare=False, repr=False, kw_only=True)


@record(frozen=True, slots=True)
class Named(Leaf):
    """A record with a name."""

    name: str


def test_a_record_is_pickled_whole() -> None:
    found = pickle.loads(pickle.dumps(Named("a", place=4)))
    assert (found, found.place) == (Named("a"), 4)
    assert repr(found) == "Named(name='a')"
    assert found != Leaf()


def test_a_record_has_no_default_of_its_own_for_each() -> None:
    class Listed:
        held: list[int] = field(default_factory=list)

    with pytest.raises(AssertionError, match="plain fields"):
        record(frozen=True, slots=True)(Listed)
