"""The fewest hints, held against every set of names that can be enough."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from thence.dsl.find import specification
from thence.proofs.infer.hints import MOST_ATTEMPTS, Hints, fewest_hints
from thence.proofs.infer.inference import INTERRUPTED, Inference

MACHINE = specification("synchronous").machines[0]


def asked(names: str, enough: Collection[str]) -> Hints:
    """Any superset of one of the words in `enough` is enough."""

    def attempt(given: tuple[str, ...]) -> Inference:
        proved = any(set(word) <= set(given) for word in enough)
        return Inference(MACHINE, (), reason="" if proved else "the time limit is over")

    return fewest_hints(tuple(names), attempt)


@pytest.mark.parametrize(
    ("enough", "size"),
    [([""], 0), (["c"], 1), (["ab", "c"], 1), (["ab", "de"], 2), (["ade"], 3), (["abcd", "ce"], 2), (["abcde"], 5)],
)
def test_the_fewest_are_found(enough: list[str], size: int) -> None:
    found = asked("abcde", enough)
    assert found.given is not None and len(found.given) == size and found.inference.proved
    assert any(set(word) == set(found.given) for word in enough)
    assert found.fewest or size > 2


def test_nothing_is_called_fewest_that_was_not_compared() -> None:
    names = "abcdefghijkl"
    found = asked(names, ["abc", "kl"])
    assert found.given is not None and set(found.given) in (set("abc"), set("kl"))
    assert found.fewest == (found.given == ("k", "l"))
    assert found.attempts <= 2 + MOST_ATTEMPTS + 2 * len(names)


def test_all_may_not_be_enough() -> None:
    found = asked("abc", [])
    assert found.given is None and not found.fewest and found.inference.reason


def test_an_interrupt_ends_it() -> None:
    found = fewest_hints(("a", "b"), lambda _: Inference(MACHINE, (), reason=INTERRUPTED))
    assert found.given is None and found.attempts == 1
