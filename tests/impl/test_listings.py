"""Each line that a module docstring lists is tagged in the code, and nothing else is."""

from __future__ import annotations

import ast
import importlib
import io
import pkgutil
import re
import tokenize
from pathlib import Path
from types import ModuleType
from typing import Protocol

import pytest

import thence.impl
from thence.conformance.implementations import SHIPPED

LABEL = r"[A-Z]+\d*\.\d+"


def implements_a_protocol(module: ModuleType) -> bool:
    classes = [value for value in vars(module).values() if isinstance(value, type)]
    return any(
        known.__module__ == module.__name__ and hasattr(known, "receive") and Protocol not in known.__bases__
        for known in classes
    )


FOUND = [importlib.import_module(f"thence.impl.{entry.name}") for entry in pkgutil.iter_modules(thence.impl.__path__)]
VARIANTS = {"thence.impl.hybrid_remembering": ("R.", 5), "thence.impl.cykas_live": ("L.", 6)}
"""Modules that list only what differs from another implementation: how their labels begin, and how many there are."""

MODULES = [module for module in FOUND if implements_a_protocol(module)]


def test_every_shipped_implementation_is_looked_at() -> None:
    names = {module.__name__ for module in MODULES}
    assert {value.partition(":")[0] for value in SHIPPED.values()} <= names


def listed(source: str) -> list[str]:
    docstring = ast.get_docstring(ast.parse(source)) or ""
    listing = docstring[docstring.index("Listing") : docstring.index("Symbols:")]
    return re.findall(rf"^\s+({LABEL})  ?", listing, flags=re.MULTILINE)


def tagged(source: str) -> list[str]:
    labels: list[str] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and re.fullmatch(rf"# {LABEL}(, {LABEL})*", token.string):
            labels += re.findall(LABEL, token.string)
    return labels


def source_of(module: ModuleType) -> str:
    assert module.__file__ is not None
    return Path(module.__file__).read_text(encoding="utf-8")


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_labels_listed_and_labels_tagged_agree(module: ModuleType) -> None:
    source = source_of(module)
    labels = listed(source)
    if module.__name__ in VARIANTS:
        prefix, number = VARIANTS[module.__name__]
        assert labels == [f"{prefix}{each}" for each in range(1, number + 1)]
    else:
        assert len(labels) >= 7
    assert len(labels) == len(set(labels))
    assert set(labels) == set(tagged(source))


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_module_names_its_source_symbols_and_departures(module: ModuleType) -> None:
    docstring = module.__doc__ or ""
    for heading in ("Source:", "Channels:", "Listing, in our own words", "Symbols:", "Departures:"):
        assert (heading in docstring) or (heading == "Channels:" and "channels" in docstring)
