"""The results of runs: the files that `thence verify --json` and `thence prove FILE --json` print."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from thence.dsl import ir
from thence.dsl.load import library, load

Found: TypeAlias = Mapping[str, Any]
"""A result as JSON values."""


def read_results(files: Sequence[Path]) -> list[Found]:
    """The results in the files, in their order."""
    return [result for file in files for result in json.loads(file.read_text(encoding="utf-8"))["results"]]


def library_specifications() -> dict[str, ir.Specification]:
    """The files of the library, by name."""
    found = {}
    for path in library():
        specification = load(str(path)).specification
        assert specification is not None, path
        found[path.stem] = specification
    return found
