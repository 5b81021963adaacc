"""Counterexamples as schedules: whatever the library's mutants do wrong can be written down and read again."""

from typing import Any

import pytest

from thence.conformance.cases.schedule import Send
from thence.conformance.harness import distinguishing as distinguishing_module
from thence.conformance.harness.distinguishing import distinguishing
from thence.conformance.harness.guided import Corpus
from thence.dsl import ir
from thence.dsl.load import load
from thence.proofs.engines import explore
from thence.proofs.explore.exploration import Exploration


@pytest.mark.parametrize("name", ["hybrid_multicast", "cykas"])
def test_the_corpus_survives_its_json(name: str) -> None:
    specification = load(name).specification
    assert specification is not None
    corpus = distinguishing(specification, specification.protocols[0], limit=2_000)
    assert corpus.schedules
    assert not any(
        isinstance(operation, Send) and operation.destination == ()
        for schedule in corpus.schedules
        for operation in schedule
    )
    assert Corpus.from_json(corpus.to_json()) == corpus


def test_nothing_is_explored_for_what_is_reachable(monkeypatch: pytest.MonkeyPatch) -> None:
    """That a formula is `reachable` is refuted by no run."""
    asked: list[str] = []

    def noting(subject: ir.Protocol, workload: ir.Workload, names: list[str], **rest: Any) -> Exploration:
        asked.extend(names)
        return explore(subject, workload, names, **rest)

    monkeypatch.setattr(distinguishing_module, "explore", noting)
    specification = load("cops").specification
    assert specification is not None
    (protocol,) = (each for each in specification.protocols if each.name == "cops")
    assert "a_user_waits" in protocol.witnesses
    distinguishing(specification, protocol, limit=100)
    assert asked and "a_user_waits" not in asked
