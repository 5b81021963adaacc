"""The specification that a command works on."""

from __future__ import annotations

from whence.conformance.cli.session import Output
from whence.dsl import ir
from whence.dsl.load import Loaded, load


class Rejected(Exception):
    """The file has errors; `output` shows them."""

    def __init__(self, loaded: Loaded) -> None:
        super().__init__(f"{loaded.path} has errors")
        self.output = Output(diagnostics=tuple((diagnostic, loaded) for diagnostic in loaded.diagnostics))


def specification(name: str) -> ir.Specification:
    """The typed content of a file. Raises SourceError, and Rejected where the text has errors."""
    loaded = load(name)
    if loaded.specification is None:
        raise Rejected(loaded)
    return loaded.specification
