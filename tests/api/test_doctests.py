"""The examples in the documentation strings of the Python interface."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import thence.api

MODULES = sorted(path.stem for path in Path(str(thence.api.__file__)).parent.glob("*.py") if path.stem != "__init__")


@pytest.mark.parametrize("module", MODULES)
def test_examples(module: str) -> None:
    found = doctest.testmod(import_module(f"thence.api.{module}"))
    assert found.failed == 0


@pytest.mark.parametrize("name", ["explore", "prove", "conform", "simulate", "play"])
def test_what_does_something_has_an_example(name: str) -> None:
    assert ">>> " in str(getattr(thence.api, name).__doc__)
