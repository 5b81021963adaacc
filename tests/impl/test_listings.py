"""Each line that a module docstring lists is tagged in the code, and nothing else is."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from pathlib import Path
from types import ModuleType

import pytest

from whence.impl import cykas, hybrid_basic, hybrid_optimal, mf, rst

LABEL = r"[A-Z]+\d*\.\d+"
MODULES = [mf, rst, cykas, hybrid_basic, hybrid_optimal]


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
    assert len(labels) >= 7
    assert len(labels) == len(set(labels))
    assert set(labels) == set(tagged(source))


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_module_names_its_source_symbols_and_departures(module: ModuleType) -> None:
    docstring = module.__doc__ or ""
    for heading in ("Source:", "Channels:", "Listing, in our own words", "Symbols:", "Departures:"):
        assert (heading in docstring) or (heading == "Channels:" and "channels" in docstring)
