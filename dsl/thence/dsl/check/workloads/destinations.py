"""Settings that say to whom messages go: destinations and programs."""

from __future__ import annotations

from thence.dsl import ir
from thence.dsl.check.workloads.by_name import Settings, place_of, report_process
from thence.dsl.check.workloads.defaults import DEFAULT_SENDS, MOST_MULTICAST, all_choices
from thence.dsl.text.programs import NAME, Programs, sends_of
from thence.dsl.text.reporter import Reporter
from thence.dsl.text.syntax import ProgramStep, Span


def choices_of(
    settings: Settings, processes: int, span: Span, reporter: Reporter, delivery: ir.Delivery
) -> tuple[tuple[tuple[int, ...], ...], ...] | None:
    """For each process the sets of destinations: in unicast sets of one, in multicast the targets of an edge."""
    to_itself = "self_sends" in settings
    if "destinations" not in settings:
        if delivery == "multicast" and processes > MOST_MULTICAST:
            reporter.error(
                "E0602",
                place_of(settings, "processes", span),
                f"{processes} processes have too many sets of destinations: at most {MOST_MULTICAST} go without a list",
                "name the sets: `destinations 0 to 1, 2; 1 to 0`",
            )
            return None
        return all_choices(processes, delivery, to_itself)
    place = place_of(settings, "destinations", span)
    if delivery == "broadcast":
        reporter.error(
            "E0620", place, "`destinations`, but delivery is `broadcast`", "every message goes to every other process"
        )
        return None
    chosen: list[set[tuple[int, ...]]] = [set() for _ in range(processes)]
    for source, edges in settings["destinations"].edges:
        for process in (source, *edges):
            if process >= processes:
                report_process(process, processes, place, reporter)
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


def programs_of(settings: Settings, processes: int, reporter: Reporter, delivery: ir.Delivery) -> Programs | None:
    """The programs; empty where no process has one."""
    given = [setting for setting in settings.values() if setting.name == NAME]
    found: list[tuple[ProgramStep, ...] | None] = [None] * processes
    before = reporter.errors
    for setting in given:
        owner = setting.values[0]
        for process in (owner, *(other for _, others in setting.steps for other in others)):
            if process >= processes:
                report_process(process, processes, setting.span, reporter)
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


def as_programmed(
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
