"""Systems on an overlay: each process is told its neighbors, and the protocol has the same links."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from thence.conformance.cases.network import Settings
from thence.conformance.conform.conform import Report, conform, settings_for
from thence.conformance.conform.rerun import opposite
from thence.conformance.conform.sampling import Sampling
from thence.conformance.systems import contract
from thence.conformance.systems.protocol_subject import ProtocolSystem
from thence.conformance.systems.subject import Subject, SubjectError, class_subject, load_subject
from thence.dsl import ir
from thence.dsl.check.workloads.settings import Unsettled, links_of
from thence.dsl.ir.topology import Edges
from thence.dsl.load import load_bytes

from .flooding import Everywhere, Flood, Unaware

FLOOD = """
protocol flood:
  delivery broadcast
  network fifo, overlay
  message MSG(m: message) carries m
  state:
    seen: set of message
  on causal_send(m):
    seen.add(m)
    for p in neighbors: send MSG(m) to p
  on receive MSG(m) from j:
    if m in seen: return
    seen.add(m)
    deliver m
    for p in neighbors:
      if p != j: send MSG(m) to p
  property at_most_once, no_creation
  eventually delivered

protocol plain:
  network reliable, reordering
  message MSG(m: message) carries m
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j: deliver m
"""

RING: Edges = ((0, 1), (1, 2), (2, 0))
LINE: Edges = ((0, 1), (1, 0), (1, 2), (2, 1))
APART: Edges = ((0, 1), (1, 0))


def protocols() -> tuple[ir.Protocol, ...]:
    found = load_bytes(Path("flood.thence"), FLOOD.encode()).specification
    assert found is not None
    return found.protocols


def run(subject: Subject, links: Edges, cases: int = 60) -> Report:
    protocol = protocols()[0]
    settings = replace(settings_for(protocol), links=links)
    try:
        held = opposite(subject, settings, protocol)
        return conform(subject.make_process, held, settings, Sampling(cases, 8))
    finally:
        subject.close()


def kinds(report: Report) -> set[str]:
    return {str(kind) for each in report.counterexamples for kind in each.kinds}


@pytest.mark.parametrize("links", [(), RING, LINE])
def test_a_class_is_told_its_neighbors(links: Edges) -> None:
    report = run(class_subject("flooding:Flood", Flood), links)
    assert report.failures == 0 and report.matched


def test_a_class_that_sends_elsewhere_differs() -> None:
    """Among three on a complete graph there is no difference; on a ring there is."""
    assert run(class_subject("flooding:Everywhere", Everywhere), ()).failures == 0
    report = run(class_subject("flooding:Everywhere", Everywhere), RING)
    assert kinds(report) == {"nonconformance"}


def test_links_that_leave_a_process_out_are_seen() -> None:
    assert "stuck" in kinds(run(class_subject("flooding:Flood", Flood), APART))


def test_a_class_without_the_argument_is_refused() -> None:
    assert run(class_subject("flooding:Unaware", Unaware), (), 5).failures == 0
    with pytest.raises(SubjectError, match="takes no argument `neighbors`"):
        run(class_subject("flooding:Unaware", Unaware), RING)


def test_a_class_in_a_process_of_its_own_is_told_too() -> None:
    name = f"isolated:{__package__}.flooding:Everywhere"
    assert "nonconformance" in kinds(run(load_subject(name), RING, 5))
    assert run(load_subject(name.replace("Everywhere", "Flood")), RING, 5).failures == 0


@pytest.mark.parametrize("links", [RING, LINE, ((0, 1), (0, 2))])
def test_a_protocol_runs_on_links(links: Edges) -> None:
    """Also where a process has no neighbor at all."""
    report = run(Subject("itself", ProtocolSystem(protocols()[0]), "broadcast"), links, 20)
    assert "nonconformance" not in kinds(report) and report.matched


def test_links_are_for_overlays() -> None:
    protocol = protocols()[1]
    with pytest.raises(SubjectError, match="the network of plain is none"):
        opposite(class_subject("flooding:Flood", Flood), replace(settings_for(protocol), links=RING), protocol)


def test_a_program_is_told_the_links() -> None:
    assert contract.init(Settings(links=RING), [0])["links"] == [[0, 1], [1, 2], [2, 0]]
    assert "links" not in contract.init(Settings(), [0])


def test_settings_keep_links() -> None:
    settings = Settings(links=RING)
    assert Settings.from_json(settings.to_json()) == settings
    assert "links" not in Settings().to_json()


@pytest.mark.parametrize("links", [7, [1], [[0]], [[0, 0]], [[0, 1], [0, 1]], [[0, 3]], [[0, True]], [["a", "b"]]])
def test_other_links_are_refused(links: Any) -> None:
    with pytest.raises(ValueError, match="links"):
        Settings.from_json({"links": links})


def test_links_in_the_words_of_a_scope() -> None:
    assert links_of("0 with 1; 1 with 2", 3) == LINE
    assert links_of("0 to 1; 1 to 2; 2 to 0", 3) == RING
    for text, said in (("0 to 3", "no process 3"), ("0 to 0", "itself"), ("0", "links"), ("0 to 1; 0 with 1", "twice")):
        with pytest.raises(Unsettled, match=said):
            links_of(text, 3)
