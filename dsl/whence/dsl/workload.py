"""Settings of a scope, to a finite workload."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from whence.dsl import ir
from whence.dsl.names import plural
from whence.dsl.reporter import Reporter
from whence.dsl.syntax import Setting, Span

DEFAULT_PROCESSES = 3
DEFAULT_SENDS = 1
MOST_PROCESSES = 64
MOST_OF_ANYTHING = 1000

Settings = Mapping[str, Setting]
"""Settings by name; what is absent has its default."""


def overridden(base: Settings, settings: Iterable[Setting]) -> Settings:
    """The base with these settings in place of its own of the same name."""
    return {**base, **{setting.name: setting for setting in settings}}


def build_workload(settings: Settings, span: Span, reporter: Reporter) -> ir.Workload | None:
    """The workload; None where the settings are out of range or contradict one another, which is reported.

    `span` is where the settings are used, for what is the fault of no single one of them.
    """
    before = reporter.errors
    for setting in settings.values():
        _check_range(setting, reporter)
    if reporter.errors > before:
        return None
    processes = _number(settings, "processes", DEFAULT_PROCESSES)
    sends = _sends(settings, processes, span, reporter)
    destinations = _destinations(settings, processes, span, reporter)
    if sends is None or destinations is None:
        return None
    for process, (number, targets) in enumerate(zip(sends, destinations, strict=True)):
        if number == 0 or targets:
            continue
        if "destinations" not in settings:
            hint = "add `self sends` or more processes" if processes == 1 else "add processes"
            reporter.error("W0617", _place(settings, "sends", span), f"process {process} has nobody to send to", hint)
            return None
        if len(settings["sends"].values if "sends" in settings else ()) > 1:
            reporter.error(
                "W0617",
                _place(settings, "destinations", span),
                f"process {process} is to send {plural(number, 'message')} but has no destinations",
            )
            return None
        sends = (*sends[:process], 0, *sends[process + 1 :])
    ticks = settings["ticks"].values[0] if "ticks" in settings else None
    return ir.Workload(
        processes, sends, destinations, _number(settings, "duplicates", 0), _number(settings, "losses", 0), ticks
    )


def silent_senders(settings: Settings, workload: ir.Workload) -> tuple[int, ...]:
    """Processes that could send by `sends`, but for which `destinations` has no line: they send nothing."""
    if "destinations" not in settings:
        return ()
    number = settings["sends"].values[0] if "sends" in settings else DEFAULT_SENDS
    return tuple(process for process, targets in enumerate(workload.destinations) if not targets and number > 0)


def _place(settings: Settings, name: str, otherwise: Span) -> Span:
    return settings[name].span if name in settings and settings[name].span.line else otherwise


def _number(settings: Settings, name: str, default: int) -> int:
    return settings[name].values[0] if name in settings else default


def _check_range(setting: Setting, reporter: Reporter) -> None:
    least, most = (1, MOST_PROCESSES) if setting.name == "processes" else (0, MOST_OF_ANYTHING)
    for value in setting.values:
        if not least <= value <= most:
            reporter.error(
                "W0602", setting.span, f"`{setting.name}` is a number from {least} to {most}, here is {value}"
            )
            return


def _sends(settings: Settings, processes: int, span: Span, reporter: Reporter) -> tuple[int, ...] | None:
    values = settings["sends"].values if "sends" in settings else (DEFAULT_SENDS,)
    if len(values) == 1:
        return values * processes
    if len(values) != processes:
        reporter.error(
            "W0603",
            _place(settings, "sends", span),
            f"`sends` has {plural(len(values), 'number')}, but `processes` is {processes}",
            "write one number for each process, or `sends K per process`",
        )
        return None
    return values


def _destinations(
    settings: Settings, processes: int, span: Span, reporter: Reporter
) -> tuple[tuple[int, ...], ...] | None:
    to_itself = "self_sends" in settings
    if "destinations" not in settings:
        everyone = range(processes)
        return tuple(tuple(other for other in everyone if to_itself or other != process) for process in everyone)
    place = _place(settings, "destinations", span)
    targets: list[set[int]] = [set() for _ in range(processes)]
    for source, edges in settings["destinations"].edges:
        for process in (source, *edges):
            if process >= processes:
                reporter.error(
                    "W0604", place, f"there is no process {process}", f"the processes are 0 to {processes - 1}"
                )
                return None
        if source in edges and not to_itself:
            reporter.error("W0605", place, f"process {source} sends to itself", "if this is meant, add `self sends`")
            return None
        targets[source].update(edges)
    return tuple(tuple(sorted(target)) for target in targets)
