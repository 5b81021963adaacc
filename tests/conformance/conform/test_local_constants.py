"""Schedules depend on the seed, and not on the modules that happen to be loaded."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import seed as hypothesis_seed
from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers

from thence.conformance.cases.network import Settings
from thence.conformance.conform.conform import conform
from thence.conformance.conform.local_constants import without_local_constants
from thence.conformance.conform.sampling import Sampling
from thence.impl.mf import MF


def plant(monkeypatch: pytest.MonkeyPatch, *numbers: int) -> None:
    """From now on the loaded modules have these numbers."""
    found = providers.Constants(integers=set(numbers))
    monkeypatch.setattr(providers, "_get_local_constants", lambda: found)
    monkeypatch.setattr(providers, "CONSTANTS_CACHE", {})


def drawn() -> list[int]:
    found: list[int] = []

    @hypothesis_seed(7)
    @settings(max_examples=200, database=None)
    @given(st.lists(st.integers(0, 999)))
    def draw(numbers: list[int]) -> None:
        found.extend(numbers)

    draw()
    return found


def test_numbers_of_modules_are_drawn_outside_of_the_block_only(monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, 777)
    known, cache = providers._get_local_constants, providers.CONSTANTS_CACHE
    with without_local_constants():
        plain = drawn()
    assert providers._get_local_constants is known
    assert providers.CONSTANTS_CACHE is cache
    planted = drawn()
    assert plain.count(777) < 10 < planted.count(777)


def test_a_run_does_not_depend_on_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def calls() -> list[Any]:
        made: list[Any] = []

        class Noting(MF):
            def causal_send(self, destination: int, message: str) -> Any:
                made.append((destination, message))
                return super().causal_send(destination, message)

            def receive(self, sender: int, packet: Any) -> Any:
                made.append((sender, str(packet)))
                return super().receive(sender, packet)

        report = conform(Noting, None, Settings(), Sampling(cases=600, operations=12, seed=3))
        assert next(each for each in report.reaches if each.name == "hypothesis").cases > 50
        return made

    plant(monkeypatch)
    first = calls()
    plant(monkeypatch, *range(0, 999, 7))
    assert calls() == first
