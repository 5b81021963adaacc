"""Settings of inputs, constants and roles."""

from __future__ import annotations

from collections.abc import Mapping

from thence.dsl import ir
from thence.dsl.check.terms.constants import wrong_value
from thence.dsl.check.terms.environment import listed
from thence.dsl.check.workloads.by_name import Settings, place_of
from thence.dsl.check.workloads.defaults import domain
from thence.dsl.check.workloads.kind import ProtocolKind
from thence.dsl.text.diagnostics import did_you_mean
from thence.dsl.text.reporter import Reporter
from thence.dsl.text.syntax import Setting, Span
from thence.spec.words import counted

SETTING_WORDS = (
    "processes",
    "sends",
    "duplicates",
    "losses",
    "ticks",
    "capacity",
    "destinations",
    "tree",
    "links",
    "fifo",
)
"""The words of settings that a misspelt one may be meant for."""


def inputs_told(kind: ProtocolKind) -> tuple[str, ...]:
    """A note that names the inputs of a protocol, if it has some."""
    names = [name for name, _ in kind.inputs]
    return (f"its inputs are {listed(names)}: write `{names[0]} 1 per process`",) if names else ()


def inputs_of(
    settings: Settings, processes: int, kind: ProtocolKind, reporter: Reporter
) -> tuple[ir.InputUse, ...] | None:
    """How often the application has each input, and with which arguments; None where a setting does not fit."""
    before = reporter.errors
    known = dict(kind.inputs)
    for setting in settings.values():
        if setting.name in ("input", "values"):
            _check_input(setting, processes, known, reporter)
    if reporter.errors > before:
        return None
    found = []
    for name, parameters in kind.inputs:
        use = settings.get(f"input {name}")
        if use is None or not any(use.values):
            continue
        limits = use.values * processes if len(use.values) == 1 else use.values
        values = []
        for parameter, type_ in parameters:
            chosen = settings.get(f"values {name} {parameter}")
            own = domain(type_, processes) if chosen is None else tuple(dict.fromkeys(chosen.values))
            values.append((parameter, own))
        found.append(ir.InputUse(name, limits, tuple(values)))
    return tuple(found)


def constants_of(
    settings: Settings, processes: int, span: Span, kind: ProtocolKind, reporter: Reporter
) -> tuple[tuple[str, int | bool], ...] | None:
    """The constants and roles that the scope gives a value; None where one does not fit, or a role is nobody."""
    before = reporter.errors
    known = {name: type_ for name, type_, _ in kind.constants}
    given: dict[str, int | bool] = {}
    for setting in settings.values():
        if setting.name != "given":
            continue
        name, value = setting.about, setting.values[0]
        if name not in known:
            said = f"the protocol has no constant or role `{name}`"
            others = (f"it has {listed(known)}",) if known else ()
            reporter.error("E0626", setting.span, said, *did_you_mean(name, known), *others)
        elif isinstance(value, bool) != (known[name] == "bool"):
            said = f"`{name}` is a {known[name]}, but its value here is {wrong_value(value)}"
            reporter.error("E0627", setting.span, said)
        else:
            given[name] = value
    for name, type_, value in kind.constants:
        owner = given.get(name, value)
        if type_ == "process" and owner >= processes:
            said = f"role `{name}` is process {owner}, but the processes are 0 to {processes - 1}"
            place = settings[f"given {name}"].span if name in given else place_of(settings, "processes", span)
            reporter.error("E0627", place, said, f"write `{name} = 0`, or add processes")
    return None if reporter.errors > before else tuple(given.items())


def _check_input(
    setting: Setting, processes: int, known: Mapping[str, tuple[tuple[str, str], ...]], reporter: Reporter
) -> None:
    """Checks that the protocol has the input, or the parameter, that a setting is about."""
    name, _, parameter = setting.about.partition(" ")
    if name not in known:
        reporter.error(
            "E0624",
            setting.span,
            f"the protocol has no input `{name}`",
            *did_you_mean(name, (*known, *SETTING_WORDS)),
            *((f"its inputs are {listed(known)}",) if known else ()),
        )
    elif setting.name == "input" and len(setting.values) not in (1, processes):
        reporter.error(
            "E0603",
            setting.span,
            f"`{name}` has {counted(len(setting.values), 'number')}, but `processes` is {processes}",
            f"write one number for each process, or `{name} K per process`",
        )
    elif setting.name == "values":
        types = dict(known[name])
        if parameter not in types:
            said = f"`{name}` has no parameter `{parameter}`"
            reporter.error("E0624", setting.span, said, *did_you_mean(parameter, types))
        elif types[parameter] != "nat":
            said = f"`{parameter}` is a {types[parameter]}: it has every value that there is"
            reporter.error("E0624", setting.span, said, "values are named for parameters of type nat")
