"""Values: frozen dataclasses that are cheap to make."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, fields, is_dataclass, replace
from typing import Any, ClassVar

import pytest

from thence.spec.value import value


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
