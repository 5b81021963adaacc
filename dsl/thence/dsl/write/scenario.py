"""The steps of scenarios as canonical text."""

from __future__ import annotations

from typing import assert_never

from thence.dsl.text.syntax import Cast, Given, LinkLine, Name, ScenarioStep
from thence.dsl.write.expressions import list_text
from thence.dsl.write.settings import given_text


def step_text(item: Cast | LinkLine | Given | ScenarioStep) -> str:
    """A line of a scenario that is no assertion and no expectation."""
    if isinstance(item, Cast):
        return f"processes {_names(item.names)}"
    if isinstance(item, Given):
        return f"{item.name.text} = {item.value.text if isinstance(item.value, Name) else given_text(item.value)}"
    process = item.process.text
    if isinstance(item, LinkLine):
        return f"link {process} {'with' if item.mutual else 'to'} {_names(item.peers)}"
    match item.event:
        case "sends":
            assert item.subject is not None
            return f"{process} sends {item.subject.text} to {_names(item.peers) or 'none'}"
        case "receives":
            return f"{process} receives {_packet(item)} from {_names(item.peers)}"
        case "cannot":
            return f"{process} cannot receive {_packet(item)} from {_names(item.peers)}"
        case "ticks":
            return f"{process} ticks" if item.subject is None else f"{process} ticks {item.subject.text}"
        case "does":
            return f"{process} does {_packet(item)}"
        case "loses" | "duplicates":
            return f"network {item.event} {_packet(item)} from {process} to {_names(item.peers)}"
        case _:
            assert_never(item.event)


def _names(names: tuple[Name, ...]) -> str:
    return ", ".join(name.text for name in names)


def _packet(step: ScenarioStep) -> str:
    assert step.subject is not None
    arguments = list_text(step.arguments)
    if step.rest:
        arguments = f"{arguments}, ..." if arguments else "..."
    return f"{step.subject.text}({arguments})"
