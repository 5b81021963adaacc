"""A search is kept while it goes on: from time to time, and at no other."""

from __future__ import annotations

import pytest

from thence.proofs.infer.search import kept
from thence.proofs.infer.search.kept import Keeping, Kept

KEPT = Kept("m", False, 0, ("a",), (), (), (), ())


class Clock:
    """A time that stands still until it is moved; each thing that is kept takes `costs_s`."""

    def __init__(self, costs_s: float) -> None:
        self.now_s, self.costs_s = 0.0, costs_s
        self.written: list[float] = []

    def monotonic(self) -> float:
        return self.now_s

    def write(self, found: Kept) -> None:
        assert found is KEPT
        self.written.append(self.now_s)
        self.now_s += self.costs_s


@pytest.mark.parametrize("costs_s", (0.0, 0.1, 3.0))
def test_it_is_kept_soon_and_then_rarely(costs_s: float, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(costs_s)
    monkeypatch.setattr(kept, "time", clock)
    told: list[str] = []
    note = Keeping(clock.write).noting(told.append, lambda: KEPT)
    for number in range(1_000):
        note(str(number))
        clock.now_s += 0.5
    assert told == [str(number) for number in range(1_000)]
    assert clock.written[0] == kept.FIRST_KEPT_S
    waits = [later - earlier - costs_s for earlier, later in zip(clock.written, clock.written[1:], strict=False)]
    assert len(waits) > 1
    assert all(wait >= max(kept.KEPT_EVERY_S, costs_s / kept.KEPT_SHARE) - 1e-6 for wait in waits)


def test_where_nothing_is_there_or_nothing_can_be_written_the_search_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(0.0)
    monkeypatch.setattr(kept, "time", clock)
    told: list[str] = []

    def full(_found: Kept) -> None:
        raise OSError(28, "No space left on device")

    nowhere, empty = Keeping(), Keeping(clock.write)
    clock.now_s = 100.0
    for note in (
        nowhere.noting(told.append, lambda: KEPT),
        empty.noting(told.append, lambda: None),
        Keeping(full).noting(told.append, lambda: KEPT),
    ):
        note("a")
        clock.now_s += 100.0
        note("b")
    assert told == ["a", "b"] * 3 and clock.written == []
