"""Counterexamples as schedules: whatever the library's mutants do wrong can be written down and read again."""

import pytest

from thence.conformance.cases.schedule import Send
from thence.conformance.harness.distinguishing import distinguishing
from thence.conformance.harness.guided import Corpus
from thence.dsl.load import load


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
