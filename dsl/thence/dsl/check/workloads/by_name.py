"""Settings of a scope by name, and what is said of them in several places."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from thence.dsl.text.programs import setting_key
from thence.dsl.text.reporter import Reporter
from thence.dsl.text.syntax import Setting, Span

Settings = Mapping[str, Setting]
"""Settings by name (see `setting_key`); absent ones have their defaults."""


def overridden(base: Settings, settings: Iterable[Setting]) -> Settings:
    """The base with these settings in place of its own of the same name."""
    return {**base, **{setting_key(setting): setting for setting in settings}}


def place_of(settings: Settings, name: str, otherwise: Span) -> Span:
    """Where the setting stands; `otherwise`, where it stands nowhere."""
    return settings[name].span if name in settings and settings[name].span.line else otherwise


def number_of(settings: Settings, name: str, default: int) -> int:
    """The number of a setting that has one."""
    return settings[name].values[0] if name in settings else default


def report_process(process: int, processes: int, place: Span, reporter: Reporter) -> None:
    """Reports a process that a setting names and the scope does not have."""
    reporter.error("E0604", place, f"there is no process {process}", f"the processes are 0 to {processes - 1}")
