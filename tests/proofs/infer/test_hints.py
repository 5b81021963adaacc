"""The fewest hints, held against every set of names that can be enough."""

from __future__ import annotations

from collections.abc import Collection, Generator, Sequence
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thence.dsl.find import specification
from thence.proofs.infer.hints import MOST_ATTEMPTS, Hints, fewest_hints
from thence.proofs.infer.search.inference import INTERRUPTED
from thence.proofs.infer.search.outcome import Inference
from thence.proofs.infer.search.promising import Guess

MACHINE = specification("synchronous").machines[0]
LATE = "the time limit is over"


def asked(names: str, enough: Collection[str], guesses: Sequence[str] = (), last: int = 10_000) -> Hints:
    """Any superset of one of the words in `enough` is enough. The attempt after `last` ones is interrupted."""
    made: list[tuple[str, ...]] = []

    def attempt(guess: Guess) -> Inference:
        assert guess.given not in made
        made.append(guess.given)
        if len(made) > last:
            return Inference(MACHINE, (), reason=INTERRUPTED)
        return Inference(MACHINE, (), reason="" if is_enough(guess.given, enough) else LATE)

    return fewest_hints(tuple(names), attempt, lambda: guessed(guesses))


def guessed(guesses: Sequence[str]) -> Generator[Guess, None, None]:
    for each in guesses:
        yield Guess(tuple(each))


def is_enough(given: Collection[str], enough: Collection[str]) -> bool:
    return any(set(word) <= set(given) for word in enough)


@pytest.mark.parametrize(
    ("enough", "size"),
    [([""], 0), (["c"], 1), (["ab", "c"], 1), (["ab", "de"], 2), (["ade"], 3), (["abcd", "ce"], 2), (["abcde"], 5)],
)
def test_the_fewest_are_found(enough: list[str], size: int) -> None:
    found = asked("abcde", enough)
    assert found.given is not None and len(found.given) == size and found.inference.proved
    assert any(set(word) == set(found.given) for word in enough)
    assert found.standing == "the fewest" or size > 2


WORDS = st.lists(st.sets(st.sampled_from("abcde")).map(lambda word: "".join(sorted(word))), max_size=4)


@given(WORDS, WORDS, st.integers(0, 40))
@settings(max_examples=300)
def test_the_words_say_what_was_tried(enough: list[str], guesses: list[str], last: int) -> None:
    guesses.sort(key=len, reverse=True)
    found = asked("abcde", enough, guesses, last)
    if found.given is None:
        assert found.standing == "enough" and not found.inference.proved
        assert found.interrupted or not enough
        return
    assert found.inference.proved and is_enough(found.given, enough)
    assert found.interrupted == (found.standing == "enough")
    less = list(combinations(found.given, max(0, len(found.given) - 1)))
    if found.given and found.standing != "enough":
        assert not any(is_enough(each, enough) for each in less)
    if found.standing == "the fewest":
        smaller = [each for size in range(len(found.given)) for each in combinations("abcde", size)]
        assert not any(is_enough(each, enough) for each in smaller)


def test_nothing_is_called_fewest_that_was_not_compared() -> None:
    names = "abcdefghijkl"
    found = asked(names, ["abc", "kl"])
    assert found.given is not None and set(found.given) in (set("abc"), set("kl"))
    assert (found.standing == "the fewest") == (found.given == ("k", "l"))
    assert found.attempts <= 2 + MOST_ATTEMPTS + 2 * len(names)


def test_a_guess_saves_attempts() -> None:
    names = "abcdefghijkl"
    found, alone = asked(names, ["abc"], ["abcde", "abcd", "abc"]), asked(names, ["abc"])
    assert found.given == alone.given == tuple("abc")
    assert found.attempts < alone.attempts


def test_all_may_not_be_enough() -> None:
    found = asked("abc", [])
    assert found.given is None and found.standing == "enough" and found.inference.reason and found.attempts == 1


def test_an_interrupt_leaves_what_is_enough() -> None:
    assert asked("ab", ["a"], last=0).given is None
    found = asked("abc", ["a"], last=2)
    assert found.given is not None and len(found.given) in (2, 3) and found.interrupted and found.inference.proved

    def interrupted() -> Generator[Guess, None, None]:
        yield Guess(("b",))
        raise KeyboardInterrupt

    found = fewest_hints(("a", "b"), lambda _: Inference(MACHINE, ()), interrupted)
    assert found.given == ("b",) and found.standing == "enough" and found.interrupted
