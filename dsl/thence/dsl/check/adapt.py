"""A scope with some of its settings given anew: what a command line adds to a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from thence.dsl import ir
from thence.dsl.check.workload import ProtocolKind, Settings, all_choices, build_workload, overridden
from thence.dsl.text import syntax
from thence.dsl.text.diagnostics import Diagnostic
from thence.dsl.text.parse import parse
from thence.dsl.text.programs import NAME
from thence.dsl.text.reporter import Reporter
from thence.dsl.text.syntax import NOWHERE, Setting


class Unsettled(ValueError):
    """The settings are not understood, or make no scope; the message says why, for people."""


def adapt(workload: ir.Workload, settings: Sequence[str], kind: ProtocolKind) -> ir.Workload:
    """The workload with these settings, as a scope has them (`losses 1`), in the place of its own.

    Raises: Unsettled.
    """
    given = [setting for text in settings for setting in _read(text)]
    reporter = Reporter("the command line")
    found = build_workload(overridden(settings_of(workload, kind.delivery), given), NOWHERE, reporter, kind)
    if found is None:
        raise Unsettled(_said(reporter.found[0]))
    return found


def settings_of(workload: ir.Workload, delivery: ir.Delivery) -> Settings:
    """The settings that make this workload."""
    to_itself = any(process in others for process, others in enumerate(workload.destinations))
    alike = len(set(workload.sends)) == 1
    found: list[Setting] = [
        Setting("processes", (workload.processes,)),
        Setting("sends", workload.sends[:1] if alike else workload.sends),
        Setting("duplicates", (workload.duplicates,)),
        Setting("losses", (workload.losses,)),
    ]
    choices = tuple(workload.choices(process) for process in range(workload.processes))
    if not workload.programs and choices != all_choices(workload.processes, delivery, to_itself):
        edges = tuple((process, choice) for process, chosen in enumerate(choices) for choice in chosen)
        found.append(Setting("destinations", (), edges))
    if workload.ticks is not None:
        found.append(Setting("ticks", (workload.ticks,)))
    if workload.room is not None:
        found.append(Setting("room", (workload.room,)))
    if workload.unbounded:
        found.append(Setting("any_number"))
    elif any(workload.endless):
        found.append(Setting("for_ever", tuple(p for p, identities in enumerate(workload.endless) if identities)))
    flags: list[tuple[Any, bool]] = [
        ("self_sends", to_itself),
        ("prompt_sends", workload.prompt and not workload.unbounded),
        ("reactive_sends", workload.reactive),
        ("fifo", workload.fifo),
    ]
    found += [Setting(name) for name, is_set in flags if is_set]
    if workload.tree:
        found.append(Setting("tree", (), tuple((a, (b,)) for a, b in workload.tree)))
    found += [
        Setting(NAME, (process,), steps=program)
        for process, program in enumerate(workload.programs)
        if program is not None
    ]
    return overridden({}, found)


def _read(text: str) -> tuple[Setting, ...]:
    tree, diagnostics = parse(f"scope given of given:\n  {text}\n", "the command line")
    if tree is None or "\n" in text:
        raise Unsettled(f"`{text}`: {_said(diagnostics[0])}" if diagnostics else f"`{text}` is more than one line")
    (scope,) = tree.declarations
    assert isinstance(scope, syntax.Scope)
    if scope.expects or not scope.settings:
        raise Unsettled(f"`{text}` is no setting of a scope")
    return scope.settings


def _said(diagnostic: Diagnostic) -> str:
    return "; ".join((diagnostic.message, *diagnostic.notes[:1]))
