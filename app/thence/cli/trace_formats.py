"""The formats of recorded executions, as commands name them."""

from __future__ import annotations

from collections.abc import Sequence

from thence.cli.output import BadInput


def known_format(format_: str | None, formats: Sequence[str]) -> None:
    """Raises BadInput for a format that is none."""
    if format_ is not None and format_ not in formats:
        raise BadInput(f"there is no format {format_!r} here: {', '.join(formats)}")
