"""A workload as settings of a scope, and back: the one form in which workloads are written outside memory.

`lines_of` writes a workload as the lines of a scope that make it; `workload_of` reads lines with the ordinary parser
and checker. Reading the lines of a workload gives the same workload, with one exception. The destinations of processes
that send nothing may become the usual ones, where no process sends anything or delivery is broadcast.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import assert_never

from thence.dsl import ir
from thence.dsl.check.workloads.by_name import Settings, overridden
from thence.dsl.check.workloads.defaults import ANY_NUMBER, MOST_MULTICAST, all_choices
from thence.dsl.check.workloads.kind import ProtocolKind
from thence.dsl.check.workloads.workload import build_workload
from thence.dsl.ir import topology
from thence.dsl.text import syntax
from thence.dsl.text.diagnostics import Diagnostic
from thence.dsl.text.parse import parse
from thence.dsl.text.programs import NAME
from thence.dsl.text.reporter import Reporter
from thence.dsl.text.syntax import NOWHERE, Setting
from thence.dsl.write.settings import setting_text


class Unsettled(ValueError):
    """The settings are not understood, or make no scope; the message says why, for people."""


def lines_of(workload: ir.Workload, kind: ProtocolKind) -> tuple[str, ...]:
    """The lines of a scope that make this workload of a protocol of this kind: `processes 4`, `sends 0, 2, 1, 1`."""
    return tuple(setting_text(setting) for setting in settings_of(workload, kind))


def workload_of(lines: Iterable[str], kind: ProtocolKind) -> ir.Workload:
    """The workload of a scope with these lines.

    Raises: Unsettled.
    """
    return _built((), lines, kind)


def links_of(text: str, processes: int) -> topology.Edges:
    """The links of an overlay that `links TEXT` gives among so many processes: `0 to 1; 1 with 2`.

    Raises: Unsettled.
    """
    return workload_of([f"processes {processes}", f"links {text}"], ProtocolKind(overlay=True)).links


def adapt(workload: ir.Workload, lines: Sequence[str], kind: ProtocolKind) -> ir.Workload:
    """The workload with the settings of these lines in the place of its own.

    Raises: Unsettled.
    """
    return _built(settings_of(workload, kind), lines, kind)


def about_single_processes(workload: ir.Workload, kind: ProtocolKind) -> tuple[Setting, ...]:
    """The settings of the workload that are about processes by their numbers, other than how much each of them does:
    they say nothing of another number of processes."""
    found = []
    for setting in settings_of(workload, kind):
        some = setting.name == "for_ever" and len(setting.values) < workload.processes
        if some or setting.name in ("destinations", "tree", "links", NAME):
            found.append(setting)
    return tuple(found)


def names_given(lines: Iterable[str]) -> frozenset[str]:
    """The names of the settings in these lines.

    Raises: Unsettled.
    """
    return frozenset(setting.name for line in lines for setting in _read(line))


def settings_of(workload: ir.Workload, kind: ProtocolKind) -> tuple[Setting, ...]:
    """The settings that make this workload."""
    given = (Setting("given", (value,), about=name) for name, value in workload.constants)
    inputs = (*_inputs(workload, kind), *given)
    if not kind.sends:
        return (*_numbers(workload, kind), *_channels(workload), *inputs)
    destinations, sending = _destinations(workload, kind.delivery), _sending(workload)
    return (*_numbers(workload, kind), *destinations, *_channels(workload), *sending, *inputs)


def _inputs(workload: ir.Workload, kind: ProtocolKind) -> Iterable[Setting]:
    types = {(name, parameter): type_ for name, parameters in kind.inputs for parameter, type_ in parameters}
    for use in workload.inputs:
        yield Setting("input", use.limits[:1] if len(set(use.limits)) == 1 else use.limits, about=use.name)
        for parameter, values in use.parameters:
            if types.get((use.name, parameter)) == "nat" and values != ANY_NUMBER:
                yield Setting("values", values, about=f"{use.name} {parameter}")


def _numbers(workload: ir.Workload, kind: ProtocolKind) -> Iterable[Setting]:
    any_number = isinstance(workload.sending, ir.AnyNumber)
    sends = tuple(min(count, 1) for count in workload.sends) if any_number else workload.sends
    yield Setting("processes", (workload.processes,))
    if kind.sends:
        yield Setting("sends", sends[:1] if len(set(sends)) == 1 else sends)
    if workload.duplicates:
        yield Setting("duplicates", (workload.duplicates,))
    if workload.losses:
        yield Setting("losses", (workload.losses,))
    if workload.ticks is not None:
        yield Setting("ticks", (workload.ticks,))
    for timer, number in workload.timers:
        yield Setting("ticks", (number,), about=timer)


def _destinations(workload: ir.Workload, delivery: ir.Delivery) -> Iterable[Setting]:
    to_itself = any(process in others for process, others in enumerate(workload.destinations))
    if to_itself:
        yield Setting("self_sends")
    if delivery == "broadcast":
        return
    everyone = range(workload.processes)
    chosen = [workload.choices(process) for process in everyone]
    free = [process for process in everyone if not workload.programs or workload.programs[process] is None]
    crowd = delivery == "multicast" and workload.processes > MOST_MULTICAST
    usual = None if crowd else all_choices(workload.processes, delivery, to_itself)
    if usual is not None and (not any(chosen) or all(chosen[process] == usual[process] for process in free)):
        return
    edges = tuple((process, choice) for process in everyone for choice in chosen[process])
    yield Setting("destinations", (), _merged(edges) if delivery == "unicast" else edges or ((0, ()),))


def _merged(edges: Iterable[tuple[int, tuple[int, ...]]]) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """The edges next to each other of one source as one."""
    return tuple(
        (source, tuple(target for _, targets in group for target in targets))
        for source, group in groupby(edges, key=lambda edge: edge[0])
    )


def _sending(workload: ir.Workload) -> Iterable[Setting]:
    match workload.sending:
        case ir.AnyNumber():
            yield Setting("any_number")
            return
        case ir.ForEver(identities, _, capacity) if any(identities):
            yield Setting("for_ever", tuple(process for process, count in enumerate(identities) if count))
            if capacity is not None:
                yield Setting("capacity", (capacity,))
        case ir.ForEver() | ir.Finite():
            pass
        case _:
            assert_never(workload.sending)
    if workload.prompt:
        yield Setting("prompt_sends")
    if workload.reactive:
        yield Setting("reactive_sends")
    for process, program in enumerate(workload.programs):
        if program is not None:
            yield Setting(NAME, (process,), steps=program)


def _channels(workload: ir.Workload) -> Iterable[Setting]:
    if workload.fifo:
        yield Setting("fifo")
    if workload.tree:
        yield Setting("tree", (), _merged((a, (b,)) for a, b in workload.tree))
    if workload.links:
        yield links_setting(workload.links)


def links_setting(links: topology.Edges) -> Setting:
    """The setting that makes these links of an overlay: those in both directions first, as such."""
    mutual = _merged((a, (b,)) for a, b in links if a < b and (b, a) in links)
    single = _merged((a, (b,)) for a, b in links if (b, a) not in links)
    return Setting("links", (), (*mutual, *single), mutual=(*(True for _ in mutual), *(False for _ in single)))


def _built(base: Iterable[Setting], lines: Iterable[str], kind: ProtocolKind) -> ir.Workload:
    given = [setting for line in lines for setting in _read(line)]
    settings: Settings = overridden(overridden({}, base), given)
    reporter = Reporter("the command line")
    found = build_workload(settings, NOWHERE, reporter, kind)
    if found is None:
        raise Unsettled(_said(reporter.found[0]))
    return found


def _read(line: str) -> tuple[Setting, ...]:
    tree, diagnostics = parse(f"scope given of given:\n  {line}\n", "the command line")
    if tree is None or "\n" in line:
        raise Unsettled(f"`{line}`: {_said(diagnostics[0])}" if diagnostics else f"`{line}` is more than one line")
    (scope,) = tree.declarations
    assert isinstance(scope, syntax.Scope)
    if scope.expects or not scope.settings:
        raise Unsettled(f"`{line}` is no setting of a scope")
    return scope.settings


def _said(diagnostic: Diagnostic) -> str:
    return "; ".join((diagnostic.message, *diagnostic.notes[:1]))
