"""The environment of a protocol in words."""

from __future__ import annotations

from thence.dsl import ir
from thence.dsl.check.workloads.defaults import MOST_MULTICAST, all_choices
from thence.dsl.check.workloads.settings import links_setting
from thence.dsl.text.programs import describe as describe_program
from thence.dsl.write.settings import given_text, setting_text
from thence.spec.words import counted


def describe(workload: ir.Workload) -> str:
    """A workload in words."""
    words = [counted(workload.processes, "process")]
    if isinstance(workload.sending, ir.AnyNumber):
        words.append("any number of messages")
    elif len(set(workload.sends)) > 1:
        words.append(f"sends {', '.join(map(str, workload.sends))}")
    elif any(workload.sends) or not workload.inputs:
        words.append(f"{counted(workload.sends[0], 'send')} each")
    others = tuple(tuple(q for q in range(workload.processes) if q != p) for p in range(workload.processes))
    everyone = tuple(tuple(range(workload.processes)) for _ in range(workload.processes))
    if workload.groups:
        words += _groups(workload)
    elif workload.destinations == everyone:
        words.append("to anybody, oneself included")
    elif any(
        sends and chosen != any_other
        for sends, chosen, any_other in zip(workload.sends, workload.destinations, others, strict=True)
    ):
        edges = [f"{p} to {', '.join(map(str, chosen))}" for p, chosen in enumerate(workload.destinations) if chosen]
        words.append("; ".join(edges))
    if isinstance(workload.sending, ir.ForEver) and not workload.ends:
        senders = [str(process) for process, identities in enumerate(workload.sending.identities) if identities]
        words.append(f"for ever by {', '.join(senders)}")
    if workload.capacity is not None:
        words.append(f"capacity {workload.capacity}")
    if workload.prompt and not isinstance(workload.sending, ir.AnyNumber):
        words.append("sent promptly")
    if workload.reactive:
        words.append("also sent inside deliveries")
    if workload.fifo:
        words.append("on FIFO channels")
    if workload.tree:
        words.append(f"tree {', '.join(f'{a}-{b}' for a, b in workload.tree)}")
    if workload.links:
        words.append(setting_text(links_setting(workload.links)))
    words += [f"{name} = {given_text(value)}" for name, value in workload.constants]
    for process, program in enumerate(workload.programs):
        if program is not None:
            words.append(f"program {process}: {describe_program(program)}")
    words += [f"{number} {what}" for number, what in _faults(workload) if number]
    if workload.ticks is not None:
        words.append(f"{counted(workload.ticks, 'tick')} each")
    for use in workload.inputs:
        alike = len(set(use.limits)) == 1
        words.append(f"{use.name} {f'{use.limits[0]} each' if alike else ', '.join(map(str, use.limits))}")
    words += [f"{counted(number, 'tick')} of {timer} each" for timer, number in workload.timers]
    return ", ".join(words)


def _groups(workload: ir.Workload) -> list[str]:
    """The sets of processes to which messages go, where the kind of delivery does not imply them."""
    count = workload.processes
    usual = {}
    if count <= MOST_MULTICAST:
        usual[all_choices(count, "multicast", True)] = "to any"
        usual[all_choices(count, "multicast", False)] = "to any others"
    usual[all_choices(count, "broadcast", True)] = "to all"
    usual[all_choices(count, "broadcast", False)] = "to all others"
    if workload.groups in usual:
        return [usual[workload.groups]]
    return [
        f"{process} to {' or '.join('+'.join(map(str, choice)) or 'none' for choice in choices)}"
        for process, choices in enumerate(workload.groups)
        if choices and workload.sends[process]
    ]


def _faults(workload: ir.Workload) -> list[tuple[int, str]]:
    return [(workload.duplicates, "duplicated"), (workload.losses, "lost")]
