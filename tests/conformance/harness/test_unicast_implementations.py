"""The unicast implementations follow their protocols, and each of their planted faults is caught and shortened."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest
from faults import FAULTS

from thence.conformance.cases.network import Settings
from thence.conformance.conform.conform import Report, conform, settings_for
from thence.conformance.conform.sampling import Sampling
from thence.conformance.conform.trials import Opposite
from thence.dsl import ir

Library = Callable[[str], ir.Protocol]

CLASSES = {
    "fifo": "thence.impl.fifo:Fifo",
    "client_server": "thence.impl.client_server:ClientServer",
    "ses": "thence.impl.ses:SES",
    "rst_mf": "thence.impl.rst_mf:RSTMF",
    "rst_hunch": "thence.impl.rst_hunch:RSTHunch",
    "mf_pipelined": "thence.impl.mf_pipelined:MFPipelined",
    "synchronous": "thence.impl.synchronous:Synchronous",
    "tree": "thence.impl.tree:Tree",
}
CONTROLS = {"fifo": "causal", "client_server": "causal", "synchronous": "stuck"}
"""What these do not promise, and what the oracle finds, and nothing else, if it is asked to judge it all the same."""

CASES = [(name, fault) for name in CLASSES for fault in FAULTS[name]]


def shipped(name: str) -> Any:
    module, _, class_name = CLASSES[name].partition(":")
    return getattr(import_module(module), class_name)


def kinds(report: Report) -> dict[str, int]:
    return {kind: len(example.operations) for example in report.counterexamples for kind in example.kinds}


@pytest.mark.long(but=("3-synchronous", "2-synchronous", "5-synchronous", "2-tree"))
@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("processes", [2, 3, 5])
def test_it_follows_its_protocol_event_for_event(name: str, processes: int, library: Library) -> None:
    settings = settings_for(library(name), processes)
    report = conform(shipped(name), Opposite(library(name), "strictly"), settings, Sampling(cases=200, seed=1))
    assert report.counterexamples == ()
    assert report.matched > report.events > 1_000
    assert report.withheld == 0 < report.arrivals


@pytest.mark.parametrize(("name", "finding"), CONTROLS.items())
def test_a_control_fails_as_it_should(name: str, finding: str, library: Library) -> None:
    settings = replace(settings_for(library(name)), causal=True, delivered=True)
    report = conform(shipped(name), Opposite(library(name), "strictly"), settings, Sampling(cases=200, seed=1))
    assert set(kinds(report)) == {finding}
    assert report.matched > report.events


@pytest.mark.parametrize("name", ["fifo", "rst_hunch", "mf_pipelined"])
def test_messages_to_oneself_conform_where_the_protocol_has_them(name: str, library: Library) -> None:
    channels = "reordering" if library(name).network.reordering else "fifo"
    settings = Settings(2, channels=channels, self_sends=True)
    report = conform(shipped(name), Opposite(library(name), "strictly"), settings, Sampling(cases=100))
    assert set(kinds(report)) <= ({CONTROLS[name]} if name in CONTROLS else set())
    assert report.matched > report.events


@pytest.mark.long(
    but=("synchronous:AckMissing", "synchronous:AcceptsTwice", "mf_pipelined:AckMissing", "tree:ShortcutTaken"),
)
@pytest.mark.parametrize(("name", "fault"), CASES, ids=[f"{name}:{fault.__name__}" for name, fault in CASES])
def test_a_planted_fault_is_caught_and_shortened(name: str, fault: Any, library: Library) -> None:
    settings = Settings(
        channels="fifo" if "fifo" in fault.NEEDS else "reordering",
        loss="loss" in fault.NEEDS,
        duplication="duplication" in fault.NEEDS,
        prompt=True,
    )
    found = kinds(conform(fault, Opposite(library(name), "strictly"), settings, Sampling(cases=120)))
    assert fault.FINDINGS[0] in found
    if "crash" in found:  # which ends a case, before the protocol is asked
        found.setdefault("nonconformance", found["crash"])
    assert found["nonconformance"] <= 6
