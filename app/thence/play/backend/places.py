"""Where a run begins: a protocol or a mutant of it in a scope, or a scenario of the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from thence.api.targets import Choice, Target, targets
from thence.dsl import ir
from thence.dsl.find import known
from thence.dsl.run.scenario import Played, play
from thence.spec.user_error import UserError
from thence.stepping.session import Session


class BadQuestion(UserError):
    """A question that the player does not ask: a field is missing, or has a value of another kind."""


@dataclass(frozen=True, slots=True)
class Place:
    """The beginning of a run.

    Attributes:
        played: of a scenario, how it went.
    """

    target: Target
    session: Session
    scenario: ir.Scenario | None = None
    played: Played | None = None
    names: Mapping[str, str] = field(default_factory=dict)


def text_of(asked: Mapping[str, Any], name: str) -> str | None:
    """A field that is a text, or is not there. Raises: BadQuestion."""
    value = asked.get(name)
    if value is not None and not isinstance(value, str):
        raise BadQuestion(f"{name} is not a text")
    return value


def number_of(asked: Mapping[str, Any], name: str, least: int, most: int, default: int) -> int:
    """A field that is a number in this range. Raises: BadQuestion."""
    value = asked.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise BadQuestion(f"{name} is not a number from {least:,} to {most:,}")
    return value


def texts_of(asked: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """A field that is a list of texts; empty where it is not there. Raises: BadQuestion."""
    value = asked.get(name, [])
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise BadQuestion(f"{name} is not a list of texts")
    return tuple(value)


def steps_of(asked: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The recorded steps of a question; none where it names none. Raises: BadQuestion."""
    value = asked.get("steps", [])
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise BadQuestion("steps is not a list of recorded steps")
    return value


def target_of(content: ir.Specification, file: str, asked: Mapping[str, Any]) -> Target:
    """The protocol and the scope that are asked for; where none is named, the first one whose runs end."""
    mutant, scope, protocol = text_of(asked, "mutant"), text_of(asked, "scope"), text_of(asked, "protocol")
    sends = text_of(asked, "sends")
    processes = number_of(asked, "processes", 1, 1_000, 1) if "processes" in asked else None
    choice = Choice(file, scope, processes, sends, mutant, texts_of(asked, "settings"))
    found = targets(choice, content)
    if protocol is not None:
        names = tuple(one.name for one in content.protocols)
        known(protocol, names, "protocol")
        own = [one for one in found if one.subject.partition("/")[0] == protocol]
        if not own:
            others = Choice(file, None, processes, sends, mutant, texts_of(asked, "settings"))
            alone = ir.Specification(
                content.file, content.doc, protocols=tuple(one for one in content.protocols if one.name == protocol),
                scopes=tuple(one for one in content.scopes if one.protocol == protocol), mutants=content.mutants,
            )  # fmt: skip
            own = targets(others, alone)
        found = own
    return next((one for one in found if one.workload.ends), found[0])


def place_of(content: ir.Specification, file: str, asked: Mapping[str, Any]) -> Place:
    """The beginning of the run that is asked for, or the whole of a scenario.

    Raises:
        UserError: a name or a setting is at fault.
    """
    name = text_of(asked, "scenario")
    if name is None:
        target = target_of(content, file, asked)
        return Place(target, Session(target.subject, target.protocol, target.workload))
    known(name, tuple(one.name for one in content.scenarios), "scenario")
    scenario = next(one for one in content.scenarios if one.name == name)
    played = play(scenario)
    session = Session(scenario.subject, played.system.protocol, scenario.workload)
    session.system = played.system
    session.steps = list(played.steps)
    names = {f"p{number}": process for number, process in enumerate(scenario.processes)}
    names |= {message.name: known_as for message, known_as in played.messages.items()}
    target = Target(scenario.subject, scenario.protocol, None, scenario.workload, scenario.expects)
    return Place(target, session, scenario, played, names)
