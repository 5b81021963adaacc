"""Settings of a scope as text."""

from __future__ import annotations

from thence.dsl.text.syntax import ProgramStep, Setting


def setting_text(setting: Setting, within_line: bool = False) -> str:
    """A setting; `within_line`: among others that commas separate."""
    comma = " " if within_line else ", "
    match setting.name:
        case "self_sends" | "prompt_sends" | "reactive_sends" | "fifo":
            return setting.name.replace("_", " ")
        case "any_number":
            return "any number of messages"
        case "for_ever":
            return f"for ever {comma.join(map(str, setting.values))}".rstrip()
        case "sends" if len(setting.values) == 1:
            return f"sends {setting.values[0]} per process"
        case "destinations" | "tree":
            edges = (f"{source} to {comma.join(map(str, targets)) or 'none'}" for source, targets in setting.edges)
            return f"{setting.name} {'; '.join(edges)}"
        case "program":
            return f"program {setting.values[0]}: {'; '.join(_step(step, comma) for step in setting.steps)}"
        case "input":
            if len(setting.values) == 1:
                return f"{setting.about} {setting.values[0]} per process"
            return f"{setting.about} {comma.join(map(str, setting.values))}"
        case "values":
            return f"{setting.about} in {comma.join(map(str, setting.values))}"
        case "given":
            return f"{setting.about} = {given_text(setting.values[0])}"
        case "ticks" if setting.about:
            return f"ticks {setting.about} {setting.values[0]}"
        case _:
            return f"{setting.name} {comma.join(map(str, setting.values))}"


def given_text(value: int | bool) -> str:
    """The value of a constant or role."""
    return str(value).lower()


def _step(step: ProgramStep, comma: str) -> str:
    verb, others = step
    shown = comma.join(map(str, others))
    if verb == "send":
        return f"send to {shown or 'none'}"
    return f"receive from {shown}" if shown else "receive"
