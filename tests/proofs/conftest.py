"""Solver processes shared by the tests, and specifications from text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from thence.dsl import ir
from thence.dsl.load import load, load_bytes
from thence.proofs.solving.solver import SolverPool


@pytest.fixture(scope="session")
def pool() -> Iterator[SolverPool]:
    with SolverPool(2) as shared:
        yield shared


@pytest.fixture
def specify() -> Callable[[str], ir.Specification]:
    """Types a text; its errors fail the test."""

    def typed(text: str) -> ir.Specification:
        loaded = load_bytes(Path("test.thence"), text.encode())
        assert loaded.specification is not None, [diagnostic.message for diagnostic in loaded.diagnostics]
        return loaded.specification

    return typed


@pytest.fixture(scope="session")
def library() -> Callable[[str], ir.Specification]:
    """A file of the shipped library, typed."""

    def typed(name: str) -> ir.Specification:
        specification = load(name).specification
        assert specification is not None
        return specification

    return typed
