"""Settings of a scope, to a finite workload."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import combinations
from typing import assert_never

from thence.dsl import ir
from thence.dsl.check.terms.constants import wrong_value
from thence.dsl.check.terms.environment import listed
from thence.dsl.ir import topology
from thence.dsl.ir.types import PROCESS
from thence.dsl.text.diagnostics import did_you_mean
from thence.dsl.text.programs import NAME, Programs, sends_of, setting_key
from thence.dsl.text.reporter import Reporter
from thence.dsl.text.syntax import ProgramStep, Setting, Span
from thence.spec.value import record
from thence.spec.words import counted

DEFAULT_PROCESSES = 3
DEFAULT_SENDS = 1
MOST_PROCESSES = 64
MOST_OF_ANYTHING = 1000
MOST_MULTICAST = 8
"""Processes whose every set of destinations is explored where a multicast scope does not name the sets."""

Settings = Mapping[str, Setting]
"""Settings by name (see `setting_key`); absent ones have their defaults."""


@record(frozen=True, slots=True)
class ProtocolKind:
    """The part of a protocol that its scopes depend on: the delivery of messages, whether the network is a tree or an
    overlay, the names of its timers, whether its application sends messages, and what else it does: each input with the
    names and types of its parameters. `constants`: name, type and value of each constant and role. `chooses`: whether a
    step may have several outcomes.
    """

    delivery: ir.Delivery = "unicast"
    tree: bool = False
    timers: tuple[str, ...] = ()
    sends: bool = True
    inputs: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()
    constants: tuple[tuple[str, str, int | bool], ...] = ()
    chooses: bool = False
    overlay: bool = False


ANY_PROTOCOL = ProtocolKind()


def kind_of(protocol: ir.Protocol) -> ProtocolKind:
    """The kind of a checked protocol."""
    inputs = tuple(
        (each.kind or "", tuple((parameter.name, str(parameter.type)) for parameter in each.parameters))
        for each in protocol.inputs
    )
    constants = tuple((one.name, str(one.type), one.value) for one in protocol.constants)
    return ProtocolKind(
        protocol.delivery, protocol.network.tree, protocol.timers, protocol.sends, inputs, constants, protocol.chooses,
        protocol.network.overlay,
    )  # fmt: skip


def overridden(base: Settings, settings: Iterable[Setting]) -> Settings:
    """The base with these settings in place of its own of the same name."""
    return {**base, **{setting_key(setting): setting for setting in settings}}


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
            reporter.error("E0625", setting.span, said, *_inputs_told(kind))
    if reporter.errors > before:
        return None
    processes = _number(settings, "processes", DEFAULT_PROCESSES)
    inputs = _inputs(settings, processes, kind, reporter)
    constants = _constants(settings, processes, span, kind, reporter)
    delivery = kind.delivery
    programs = _programs(settings, processes, reporter, delivery)
    tree = _tree(settings, processes, reporter, kind)
    links = _links(settings, processes, reporter, kind)
    sends = _sends(settings, processes, span, reporter)
    chosen = _choices(settings, processes, span, reporter, delivery)
    if sends is None or chosen is None or programs is None or tree is None or inputs is None or constants is None:
        return None
    if links is None:
        return None
    if not kind.sends:
        sends = (0,) * processes
    sends, chosen = _as_programmed(sends, chosen, programs, "sends" in settings)
    for process, (number, choices) in enumerate(zip(sends, chosen, strict=True)):
        if number == 0 or choices:
            continue
        if "destinations" not in settings:
            hint = "add `self sends` or more processes" if processes == 1 else "add processes"
            reporter.error("E0617", _place(settings, "sends", span), f"process {process} has nobody to send to", hint)
            return None
        if len(settings["sends"].values if "sends" in settings else ()) > 1:
            reporter.error(
                "E0617",
                _place(settings, "destinations", span),
                f"process {process} is to send {counted(number, 'message')} but has no destinations",
            )
            return None
        sends = (*sends[:process], 0, *sends[process + 1 :])
    sending = _sending(settings, sends, programs, span, reporter)
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
        _number(settings, "duplicates", 0),
        _number(settings, "losses", 0),
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


def all_choices(processes: int, delivery: ir.Delivery, to_itself: bool) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """For each process every set of destinations that a message may have, if the scope does not narrow it down."""
    everyone = range(processes)
    found: list[tuple[tuple[int, ...], ...]] = []
    for process in everyone:
        others = tuple(other for other in everyone if to_itself or other != process)
        match delivery:
            case "unicast":
                found.append(tuple((other,) for other in others))
            case "multicast":
                sizes = range(1, len(others) + 1)
                found.append(tuple(choice for size in sizes for choice in combinations(others, size)))
            case "broadcast":
                found.append((others,) if others else ())
            case _:
                assert_never(delivery)
    return tuple(found)


def default_sends(processes: int) -> tuple[int, ...]:
    """How many messages each process sends where nobody says so: the first two, the others one.

    With three processes that is the least that can violate causal order in unicast: two messages of one process, and
    one of a process that has been handed the second.
    """
    return tuple(DEFAULT_SENDS + (process == 0) for process in range(processes))


def default_workloads(protocol: ir.Protocol) -> tuple[ir.Workload, ...]:
    """The scopes of a protocol for which nobody states one.

    Three processes, without faults of the network; and, where the protocol has timers or its network loses or
    duplicates, two processes of which one sends two messages, each fault once, and timers that fire once at any moment.
    There are more processes where a role is another one.
    """
    network = protocol.network
    least = least_processes(protocol)
    timers = any(handler.event == "periodically" for handler in protocol.handlers)
    plain = workload_for(protocol, default_sends(max(DEFAULT_PROCESSES, least)))
    if not (network.lossy or network.duplicating or timers):
        return (plain,)
    faulty = replace(
        workload_for(protocol, (2, *(0,) * (max(2, least) - 1))),
        duplicates=int(network.duplicating),
        losses=int(network.lossy),
        ticks=1 if timers else None,
    )
    return plain, faulty


def least_processes(protocol: ir.Protocol) -> int:
    """As many processes as the protocol has at least: its roles are among them."""
    return 1 + max((one.value for one in protocol.constants if one.type == PROCESS), default=0)


def workload_for(protocol: ir.Protocol, sends: tuple[int, ...], inputs: int = 1) -> ir.Workload:
    """So many messages of each process, to any other, where the application sends any; and each input so often."""
    if not protocol.sends:
        sends = (0,) * len(sends)
    count = len(sends)
    uses = [
        ir.InputUse(
            name, (inputs,) * count, tuple((parameter, domain(type_, count)) for parameter, type_ in parameters)
        )
        for name, parameters in kind_of(protocol).inputs
    ]
    choices = all_choices(len(sends), protocol.delivery, False)
    destinations = tuple(tuple(sorted({one for choice in each for one in choice})) for each in choices)
    return ir.Workload(
        len(sends), sends, destinations, groups=() if protocol.delivery == "unicast" else choices, inputs=tuple(uses)
    )


def silent_senders(settings: Settings, workload: ir.Workload) -> tuple[int, ...]:
    """Processes that could send by `sends`, but for which `destinations` has no line: they send nothing."""
    if "destinations" not in settings:
        return ()
    if isinstance(workload.sending, ir.AnyNumber):  # there, this is how to say who sends
        return ()
    numbers = settings["sends"].values if "sends" in settings else (DEFAULT_SENDS,)
    if len(numbers) > 1:
        return ()
    return tuple(process for process in range(workload.processes) if not workload.choices(process) and numbers[0] > 0)


def _place(settings: Settings, name: str, otherwise: Span) -> Span:
    return settings[name].span if name in settings and settings[name].span.line else otherwise


def _number(settings: Settings, name: str, default: int) -> int:
    return settings[name].values[0] if name in settings else default


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

ANY_NUMBER = (0, 1)
"""The values of an input's parameter of type nat where the scope names none."""


def domain(type_: str, processes: int) -> tuple[int, ...]:
    """The values of an input's parameter of this type where the scope names none."""
    match type_:
        case "process":
            return tuple(range(processes))
        case "bool":
            return (False, True)
        case _:
            return ANY_NUMBER


def _inputs_told(kind: ProtocolKind) -> tuple[str, ...]:
    names = [name for name, _ in kind.inputs]
    return (f"its inputs are {listed(names)}: write `{names[0]} 1 per process`",) if names else ()


def _inputs(
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


def _constants(
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
            place = settings[f"given {name}"].span if name in given else _place(settings, "processes", span)
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


def _sends(settings: Settings, processes: int, span: Span, reporter: Reporter) -> tuple[int, ...] | None:
    values = settings["sends"].values if "sends" in settings else (DEFAULT_SENDS,)
    if len(values) == 1:
        return values * processes
    if len(values) != processes:
        reporter.error(
            "E0603",
            _place(settings, "sends", span),
            f"`sends` has {counted(len(values), 'number')}, but `processes` is {processes}",
            "write one number for each process, or `sends K per process`",
        )
        return None
    return values


def _sending(
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
            _report_process(process, processes, setting.span, reporter)
            return None
    chosen = setting.values or tuple(range(processes))
    if not any(sends[process] for process in chosen):
        reporter.error(
            "E0617",
            _place(settings, "sends", span),
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


def _choices(
    settings: Settings, processes: int, span: Span, reporter: Reporter, delivery: ir.Delivery
) -> tuple[tuple[tuple[int, ...], ...], ...] | None:
    """For each process the sets of destinations: in unicast sets of one, in multicast the targets of an edge."""
    to_itself = "self_sends" in settings
    if "destinations" not in settings:
        if delivery == "multicast" and processes > MOST_MULTICAST:
            reporter.error(
                "E0602",
                _place(settings, "processes", span),
                f"{processes} processes have too many sets of destinations: at most {MOST_MULTICAST} go without a list",
                "name the sets: `destinations 0 to 1, 2; 1 to 0`",
            )
            return None
        return all_choices(processes, delivery, to_itself)
    place = _place(settings, "destinations", span)
    if delivery == "broadcast":
        reporter.error(
            "E0620", place, "`destinations`, but delivery is `broadcast`", "every message goes to every other process"
        )
        return None
    chosen: list[set[tuple[int, ...]]] = [set() for _ in range(processes)]
    for source, edges in settings["destinations"].edges:
        for process in (source, *edges):
            if process >= processes:
                _report_process(process, processes, place, reporter)
                return None
        if source in edges and not to_itself:
            reporter.error("E0605", place, f"process {source} sends to itself", "if this is meant, add `self sends`")
            return None
        if delivery == "unicast" and not edges:
            reporter.error(
                "E0620", place, f"process {source} sends to none, but delivery is `unicast`", "name one process or more"
            )
            return None
        chosen[source] |= {tuple(sorted(set(edges)))} if delivery == "multicast" else {(edge,) for edge in edges}
    return tuple(tuple(sorted(choices, key=lambda choice: (len(choice), choice))) for choices in chosen)


def _report_process(process: int, processes: int, place: Span, reporter: Reporter) -> None:
    reporter.error("E0604", place, f"there is no process {process}", f"the processes are 0 to {processes - 1}")


def _tree(settings: Settings, processes: int, reporter: Reporter, kind: ProtocolKind) -> topology.Edges | None:
    """The edges of a tree network, where the scope gives them."""
    if "tree" not in settings:
        return ()
    setting = settings["tree"]
    if not kind.tree:
        reporter.error(
            "E0621", setting.span, "`tree`, but the network of the protocol is not a `tree`",
            "who sends to whom is said by `destinations`",
        )  # fmt: skip
        return None
    edges = tuple((source, target) for source, targets in setting.edges for target in targets)
    for process in (process for edge in edges for process in edge):
        if process >= processes:
            _report_process(process, processes, setting.span, reporter)
            return None
    fault = topology.fault_of(edges, processes)
    if fault is not None:
        reporter.error("E0622", setting.span, f"this is not a tree of the {processes} processes: {fault}")
        return None
    return edges


def _links(settings: Settings, processes: int, reporter: Reporter, kind: ProtocolKind) -> topology.Edges | None:
    """The links of an overlay, in ascending order, where the scope gives them."""
    if "links" not in settings:
        return ()
    setting = settings["links"]
    if not kind.overlay:
        reporter.error(
            "E0621", setting.span, "`links`, but the network of the protocol is not an `overlay`",
            "write `network ..., overlay` in the protocol; who sends to whom is said by `destinations`",
        )  # fmt: skip
        return None
    found: list[tuple[int, int]] = []
    for (source, others), mutual in zip(setting.edges, setting.mutual, strict=True):
        for process in (source, *others):
            if process >= processes:
                _report_process(process, processes, setting.span, reporter)
                return None
        found += topology.directed(source, others, mutual)
    fault = topology.fault_of_links(tuple(found))
    if fault is not None:
        reporter.error("E0632", setting.span, f"these are not the links of an overlay: {fault}")
        return None
    return tuple(sorted(found))


def _programs(settings: Settings, processes: int, reporter: Reporter, delivery: ir.Delivery) -> Programs | None:
    """The programs; empty where no process has one."""
    given = [setting for setting in settings.values() if setting.name == NAME]
    found: list[tuple[ProgramStep, ...] | None] = [None] * processes
    before = reporter.errors
    for setting in given:
        owner = setting.values[0]
        for process in (owner, *(other for _, others in setting.steps for other in others)):
            if process >= processes:
                _report_process(process, processes, setting.span, reporter)
                return None
        for verb, others in setting.steps:
            if verb == "send" and owner in others and "self_sends" not in settings:
                reporter.error(
                    "E0605", setting.span, f"process {owner} sends to itself", "if this is meant, add `self sends`"
                )
            elif verb == "send" and (delivery == "unicast" and len(others) != 1):
                reporter.error("E0620", setting.span, "a message goes to one process: delivery is `unicast`")
            elif (
                verb == "send"
                and delivery == "broadcast"
                and (others,) != all_choices(processes, delivery, "self_sends" in settings)[owner]
            ):
                reporter.error("E0620", setting.span, "a message goes to every other process: delivery is `broadcast`")
        found[owner] = setting.steps
    if reporter.errors > before:
        return None
    return tuple(found) if given else ()


def _as_programmed(
    sends: tuple[int, ...], chosen: tuple[tuple[tuple[int, ...], ...], ...], programs: Programs, said: bool
) -> tuple[tuple[int, ...], tuple[tuple[tuple[int, ...], ...], ...]]:
    """The number of messages of each process and their destinations: a program says so itself.

    Where the scope does not say how many messages the others send (`said`), they send none.
    """
    if not programs:
        return sends, chosen
    numbers, choices = list(sends), list(chosen)
    for process, program in enumerate(programs):
        if program is None:
            numbers[process] = sends[process] if said else 0
            continue
        own = sends_of(program)
        numbers[process], choices[process] = len(own), tuple(sorted(set(own), key=lambda choice: (len(choice), choice)))
    return tuple(numbers), tuple(choices)
