"""Settings of a scope, to a finite workload."""

from __future__ import annotations

from thence.dsl import ir
from thence.dsl.check.terms.environment import listed
from thence.dsl.check.workloads.by_name import Settings, number_of, place_of
from thence.dsl.check.workloads.defaults import DEFAULT_PROCESSES
from thence.dsl.check.workloads.destinations import as_programmed, choices_of, programs_of
from thence.dsl.check.workloads.edges import overlay_of, tree_of
from thence.dsl.check.workloads.inputs import constants_of, inputs_of, inputs_told
from thence.dsl.check.workloads.kind import ANY_PROTOCOL, ProtocolKind
from thence.dsl.check.workloads.sending import sending_of, sends_of_each
from thence.dsl.text.diagnostics import did_you_mean
from thence.dsl.text.programs import NAME
from thence.dsl.text.reporter import Reporter
from thence.dsl.text.syntax import Setting, Span
from thence.spec.words import counted

MOST_PROCESSES = 64
MOST_OF_ANYTHING = 1000

_INSTEAD_OF_NO_END = {
    "for_ever": "scopes of such a protocol have an end: write how many messages are sent, as in `sends 2, 1`",
    "prompt_sends": "scopes of such a protocol have no such order: leave it out; that the application waits for "
    "something can be written as `on causal_send(m) when P`",
}
"""What to write in place of settings that protocols with choices do not take."""

_OF_SENDS = frozenset(
    (
        "sends",
        "self_sends",
        "prompt_sends",
        "reactive_sends",
        "for_ever",
        "any_number",
        "capacity",
        "destinations",
        NAME,
    )
)
"""Settings about the application's messages."""


def build_workload(
    settings: Settings, span: Span, reporter: Reporter, kind: ProtocolKind = ANY_PROTOCOL
) -> ir.Workload | None:
    """The workload; None where the settings are out of range or contradict one another, which is reported.

    `span` is the place where the settings are used, for faults of no single one of them.
    """
    before = reporter.errors
    for setting in settings.values():
        _check_range(setting, reporter)
        _check_timer(setting, kind, reporter)
        if kind.chooses and setting.name in ("for_ever", "prompt_sends"):
            said = f"`{setting.name.replace('_', ' ')}`, but the protocol chooses (`choose`, `either`)"
            reporter.error("E0621", setting.span, said, _INSTEAD_OF_NO_END[setting.name])
        if not kind.sends and setting.name in (*_OF_SENDS, NAME):
            words = setting.name.replace("_", " ")
            said = f"`{words}`, but the application of the protocol sends no messages: it has no `on causal_send`"
            reporter.error("E0625", setting.span, said, *inputs_told(kind))
    if reporter.errors > before:
        return None
    processes = number_of(settings, "processes", DEFAULT_PROCESSES)
    inputs = inputs_of(settings, processes, kind, reporter)
    constants = constants_of(settings, processes, span, kind, reporter)
    delivery = kind.delivery
    programs = programs_of(settings, processes, reporter, delivery)
    tree = tree_of(settings, processes, reporter, kind)
    links = overlay_of(settings, processes, reporter, kind)
    sends = sends_of_each(settings, processes, span, reporter)
    chosen = choices_of(settings, processes, span, reporter, delivery)
    if sends is None or chosen is None or programs is None or tree is None or inputs is None or constants is None:
        return None
    if links is None:
        return None
    if not kind.sends:
        sends = (0,) * processes
    sends, chosen = as_programmed(sends, chosen, programs, "sends" in settings)
    for process, (number, choices) in enumerate(zip(sends, chosen, strict=True)):
        if number == 0 or choices:
            continue
        if "destinations" not in settings:
            hint = "add `self sends` or more processes" if processes == 1 else "add processes"
            reporter.error("E0617", place_of(settings, "sends", span), f"process {process} has nobody to send to", hint)
            return None
        if len(settings["sends"].values if "sends" in settings else ()) > 1:
            reporter.error(
                "E0617",
                place_of(settings, "destinations", span),
                f"process {process} is to send {counted(number, 'message')} but has no destinations",
            )
            return None
        sends = (*sends[:process], 0, *sends[process + 1 :])
    sending = sending_of(settings, sends, programs, span, reporter)
    if sending is None:
        return None
    if isinstance(sending, ir.AnyNumber):
        sends = tuple(min(count, 1) for count in sends)  # one identity for each sender, to begin with
    ticks = settings["ticks"].values[0] if "ticks" in settings else None
    destinations = tuple(tuple(sorted({one for choice in choices for one in choice})) for choices in chosen)
    return ir.Workload(
        processes,
        sends,
        destinations,
        number_of(settings, "duplicates", 0),
        number_of(settings, "losses", 0),
        ticks,
        () if delivery == "unicast" else chosen,
        sending,
        tree,
        "fifo" in settings,
        tuple((setting.about, setting.values[0]) for setting in settings.values() if _is_timer(setting)),
        inputs,
        constants,
        links,
    )


def _check_range(setting: Setting, reporter: Reporter) -> None:
    if setting.name == "given":
        return  # a constant is any number
    least, most = (1, MOST_PROCESSES) if setting.name == "processes" else (0, MOST_OF_ANYTHING)
    for value in setting.values:
        if not least <= value <= most:
            reporter.error(
                "E0602", setting.span, f"`{setting.name}` is a number from {least} to {most}, here is {value}"
            )
            return


def _is_timer(setting: Setting) -> bool:
    return setting.name == "ticks" and bool(setting.about)


def _check_timer(setting: Setting, kind: ProtocolKind, reporter: Reporter) -> None:
    """Checks that the protocol has the timer that a setting is about."""
    if _is_timer(setting) and setting.about not in kind.timers:
        named = [timer for timer in kind.timers if timer != ir.PERIODICALLY]
        others = f"its timers are {listed(named)}" if named else "none of its timers has a name"
        reporter.error(
            "E0623",
            setting.span,
            f"the protocol has no timer `{setting.about}`",
            *did_you_mean(setting.about, named),
            others if kind.timers else "it does nothing `periodically`",
        )
