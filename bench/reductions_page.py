"""The page of docs that shows what `bench/reductions.py` found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def page(rows: Mapping[str, Mapping[str, Any]]) -> str:
    """The page as Markdown."""
    return "\n".join(sorted(rows))
