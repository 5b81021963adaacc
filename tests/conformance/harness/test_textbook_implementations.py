"""The implementations of the textbook's protocols conform to them, and each of their planted faults is caught."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
from faults import TEXTBOOK as FAULTS

from thence.conformance.conform.conform import Report, conform, settings_for
from thence.conformance.conform.sampling import Sampling
from thence.conformance.conform.trials import Opposite
from thence.conformance.implementations import TEXTBOOK
from thence.dsl import ir

Library = Callable[[str], ir.Protocol]

CASES = [(name, fault) for name in FAULTS for fault in FAULTS[name]]


def held_against(system: Any, protocol: ir.Protocol, cases: int) -> Report:
    """A total order is compared strictly: to search another run that explains what was seen takes long."""
    settings = settings_for(protocol, 3)
    opposite = Opposite(protocol, "strictly" if settings.total_order else "as promised")
    return conform(system, opposite, settings, Sampling(cases=cases, seed=1))


def test_each_has_planted_faults() -> None:
    assert set(FAULTS) == set(TEXTBOOK)


@pytest.mark.parametrize("name", TEXTBOOK)
def test_it_conforms(name: str, library: Library) -> None:
    module, _, class_name = TEXTBOOK[name].partition(":")
    report = held_against(getattr(import_module(module), class_name), library(name), 200)
    assert report.counterexamples == ()
    assert report.matched > report.events > 200
    # A total order waits where a causal order need not.
    assert report.vacuous == "" and (report.withheld > 0) == settings_for(library(name), 3).total_order


@pytest.mark.long(
    but=(
        "lamport_mutex:EntersWhenFirst", "ricart_agrawala:TiesLost", "ricart_agrawala:Forgets",
        "chandy_lamport:MarkerLeftOut", "cops:ContextLost",
        "two_phase_commit:RefusalIgnored", "pc_broadcast:UsedAtOnce", "skeen:OwnNumbersOnly",
    ))  # fmt: skip
@pytest.mark.parametrize(("name", "fault"), CASES, ids=[f"{name}:{fault.__name__}" for name, fault in CASES])
def test_a_planted_fault_is_caught(name: str, fault: Any, library: Library) -> None:
    report = held_against(fault, library(name), 400)
    assert report.counterexamples != ()
    assert any(kind in fault.__doc__ for example in report.counterexamples for kind in example.kinds)
