"""The inputs of applications that do more than send messages, as cases draw them.

A system has a method for each input of its protocol, named after it. It is called with the arguments, and returns
commands as any other method. Where the `when` of the protocol's text is false, it raises `MustWait`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from keyword import iskeyword
from typing import Any, Final

from thence.dsl import ir
from thence.dsl.check.workloads.defaults import domain
from thence.dsl.check.workloads.kind import kind_of
from thence.spec.user_error import UserError

TAKEN: Final = frozenset(
    {"causal_send", "receive", "tick", "react", "blocked", "delivery", "channels", "delivers_own", "facts"}
)
"""The names that mean something else in the interface of implementations."""

MOST_CHOICES: Final = 1_000
"""Most combinations of arguments of an input."""


@dataclass(frozen=True, slots=True)
class InputChoices:
    """An input, and the arguments with which cases have it; `processes` are the places of those that are processes."""

    name: str
    choices: tuple[tuple[int, ...], ...]
    processes: tuple[int, ...] = ()

    @property
    def method(self) -> str:
        """The name of the method of an implementation: that of the input; `pass_` for `pass`, which Python reserves."""
        return method_of(self.name)


def method_of(name: str) -> str:
    """The method of an implementation that is called for the input."""
    return f"{name}_" if iskeyword(name) else name


def inputs_of(protocol: ir.Protocol, processes: int) -> tuple[InputChoices, ...]:
    """The inputs of the protocol's application, with all processes and truth values as arguments, and small numbers.

    Raises:
        UserError: an input has the name of something else in the interface, or too many combinations of arguments.
    """
    found = []
    for name, parameters in kind_of(protocol).inputs:
        if name in TAKEN:
            raise UserError(
                f"no system can be held against {protocol.name}: its input {name} has the name of something else in the"
                " interface of implementations; rename the input"
            )
        values = [domain(type_, processes) for _, type_ in parameters]
        if _combinations(values) > MOST_CHOICES:
            raise UserError(
                f"the input {name} has more than {MOST_CHOICES:,} combinations of arguments; too many to draw"
            )
        places = tuple(place for place, (_, type_) in enumerate(parameters) if type_ == "process")
        found.append(InputChoices(name, tuple(product(*values)), places))
    return tuple(found)


def _combinations(values: list[tuple[int, ...]]) -> int:
    count = 1
    for each in values:
        count *= len(each)
    return count


def inputs_to_json(inputs: tuple[InputChoices, ...]) -> dict[str, Any]:
    """JSON values: for each input, by name, lists of arguments, and the places of those that are processes."""
    return {
        each.name: {"arguments": [list(one) for one in each.choices], "processes": list(each.processes)}
        for each in inputs
    }


def inputs_from_json(value: object) -> tuple[InputChoices, ...]:
    """The inputs as `inputs_to_json` wrote them. Raises: ValueError."""
    if not isinstance(value, Mapping):
        raise ValueError("inputs are an object: for each input its arguments")
    return tuple(_input(_name(name), given) for name, given in value.items())


def _input(name: str, value: object) -> InputChoices:
    """Raises: ValueError."""
    if not isinstance(value, Mapping) or not {*value} <= {"arguments", "processes"}:
        raise ValueError(f"of the input {name} `arguments` and `processes` are known")
    choices, places = _choices(name, value.get("arguments")), value.get("processes", [])
    if not are_arguments(places) or not all(place < len(choices[0]) for place in places):
        raise ValueError(f"the places of the processes among the arguments of the input {name} are a list of numbers")
    return InputChoices(name, choices, tuple(places))


def _name(name: object) -> str:
    if not isinstance(name, str) or not name.isidentifier() or name in TAKEN:
        raise ValueError(f"there can be no input {name!r}")
    return name


def _choices(name: str, value: Any) -> tuple[tuple[int, ...], ...]:
    if not isinstance(value, list) or not 0 < len(value) <= MOST_CHOICES or not all(map(are_arguments, value)):
        raise ValueError(f"the arguments of the input {name} are a list of lists of natural numbers and truth values")
    return tuple(tuple(each) for each in value)


def are_arguments(value: object) -> bool:
    """Whether this is a list of natural numbers and truth values."""
    return isinstance(value, list) and all(isinstance(one, int) and one >= 0 for one in value)
