"""Settings of a scope as text."""

from __future__ import annotations

from collections.abc import Sequence

from thence.dsl.text.syntax import ProgramStep, Setting


def setting_text(setting: Setting) -> str:
    """A setting, as a line of a scope and in an expectation: a comma stands between its numbers."""
    match setting.name:
        case "self_sends" | "prompt_sends" | "reactive_sends" | "fifo":
            return setting.name.replace("_", " ")
        case "any_number":
            return "any number of messages"
        case "for_ever":
            return f"for ever {_numbers(setting.values)}".rstrip()
        case "sends" if len(setting.values) == 1:
            return f"sends {setting.values[0]} per process"
        case "destinations" | "tree":
            edges = (f"{source} to {_numbers(targets) or 'none'}" for source, targets in setting.edges)
            return f"{setting.name} {'; '.join(edges)}"
        case "links":
            ways = ("with" if mutual else "to" for mutual in setting.mutual)
            linked = (f"{a} {way} {_numbers(others)}" for (a, others), way in zip(setting.edges, ways, strict=True))
            return f"links {'; '.join(linked)}"
        case "program":
            return f"program {setting.values[0]}: {'; '.join(_step(step) for step in setting.steps)}"
        case "input":
            if len(setting.values) == 1:
                return f"{setting.about} {setting.values[0]} per process"
            return f"{setting.about} {_numbers(setting.values)}"
        case "values":
            return f"{setting.about} in {_numbers(setting.values)}"
        case "given":
            return f"{setting.about} = {given_text(setting.values[0])}"
        case "ticks" if setting.about:
            return f"ticks {setting.about} {setting.values[0]}"
        case _:
            return f"{setting.name} {_numbers(setting.values)}"


def given_text(value: int | bool) -> str:
    """The value of a constant or role."""
    return str(value).lower()


def _step(step: ProgramStep) -> str:
    verb, others = step
    shown = _numbers(others)
    if verb == "send":
        return f"send to {shown or 'none'}"
    return f"receive from {shown}" if shown else "receive"


def _numbers(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
