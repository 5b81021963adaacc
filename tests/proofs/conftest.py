"""Solver processes shared by the tests, and specifications from text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from zlib import crc32

import pytest
from tests.proofs.careful_code import careful_kernel

from thence.dsl import ir
from thence.dsl.load import load, load_bytes
from thence.proofs.native import search
from thence.proofs.solving.solver import SolverPool


@pytest.fixture(scope="session")
def pool() -> Iterator[SolverPool]:
    with SolverPool(2) as shared:
        yield shared


@pytest.fixture(autouse=True)
def optimised_code(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small searches take code that was made in haste. In every other test, by its name, they take optimised code."""
    if crc32(request.node.nodeid.encode()) % 2:
        monkeypatch.setattr(search, "compile_kernel", careful_kernel)


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
