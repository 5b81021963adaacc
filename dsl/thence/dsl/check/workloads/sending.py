"""Settings that say how many messages are sent, and when."""

from __future__ import annotations

from thence.dsl import ir
from thence.dsl.check.workloads.by_name import Settings, place_of, report_process
from thence.dsl.check.workloads.defaults import DEFAULT_SENDS
from thence.dsl.text.programs import Programs
from thence.dsl.text.reporter import Reporter
from thence.dsl.text.syntax import Span
from thence.spec.words import counted


def sends_of_each(settings: Settings, processes: int, span: Span, reporter: Reporter) -> tuple[int, ...] | None:
    """How many messages each process sends; None where the numbers are not those of the processes."""
    values = settings["sends"].values if "sends" in settings else (DEFAULT_SENDS,)
    if len(values) == 1:
        return values * processes
    if len(values) != processes:
        reporter.error(
            "E0603",
            place_of(settings, "sends", span),
            f"`sends` has {counted(len(values), 'number')}, but `processes` is {processes}",
            "write one number for each process, or `sends K per process`",
        )
        return None
    return values


def sending_of(
    settings: Settings, sends: tuple[int, ...], programs: Programs, span: Span, reporter: Reporter
) -> ir.Sending | None:
    """The way in which messages are sent; None where the settings contradict one another, which is reported."""
    without_end = ("for_ever", "prompt_sends", "any_number")
    if programs and any(name in settings for name in without_end):
        place = next(setting.span for setting in settings.values() if setting.name in without_end)
        reporter.error(
            "E0621", place, "a program ends, and says when its messages are sent", "leave one of the two out"
        )
        return None
    if "for_ever" in settings and "reactive_sends" in settings:
        place = settings["reactive_sends"].span
        reporter.error("E0621", place, "`reactive sends` are for scopes that end", "leave one of the two out")
        return None
    if "any_number" in settings:
        return _any_number(settings, reporter)
    if "capacity" in settings and "for_ever" not in settings:
        reporter.error("E0621", settings["capacity"].span, "`capacity` without `for ever`", "`sends` bounds what ends")
        return None
    prompt = "prompt_sends" in settings
    if "for_ever" not in settings:
        return ir.Finite(prompt, "reactive_sends" in settings, programs)
    identities = _identities(settings, sends, span, reporter)
    if identities is None:
        return None
    return ir.ForEver(identities, prompt, settings["capacity"].values[0] if "capacity" in settings else None)


def _identities(settings: Settings, sends: tuple[int, ...], span: Span, reporter: Reporter) -> tuple[int, ...] | None:
    """With how many identities each process sends for ever."""
    setting, processes = settings["for_ever"], len(sends)
    for process in setting.values:
        if process >= processes:
            report_process(process, processes, setting.span, reporter)
            return None
    chosen = setting.values or tuple(range(processes))
    if not any(sends[process] for process in chosen):
        reporter.error(
            "E0617",
            place_of(settings, "sends", span),
            "nobody is left to send `for ever`",
            "`sends` says how many messages of a process may be on their way at once",
        )
        return None
    return tuple(count if process in chosen else 0 for process, count in enumerate(sends))


def _any_number(settings: Settings, reporter: Reporter) -> ir.AnyNumber | None:
    """Any number of messages: nothing that only a scope that ends can have goes with it."""
    for name in ("for_ever", "prompt_sends", "reactive_sends", "ticks", "losses", "duplicates", "capacity"):
        if name in settings and (not settings[name].values or any(settings[name].values) or name == "for_ever"):
            said = f"`any number of messages` and `{name.replace('_', ' ')}` do not go together"
            reporter.error("E0621", settings[name].span, said, "leave one of the two out")
            return None
    return ir.AnyNumber()
