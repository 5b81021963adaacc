"""Files of the language, loaded: what one declares, and the faults of its text."""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from typing import TypeAlias

from thence.api.errors import BadRequest
from thence.dsl import ir
from thence.dsl.find import Rejected
from thence.dsl.load import Loaded, load_bytes
from thence.dsl.load import load as load_file
from thence.dsl.text.diagnostics import Diagnostic, render


@dataclass(frozen=True, slots=True, repr=False)
class Specification:
    """A file without errors. What it declares is named by the properties."""

    loaded: Loaded
    content: ir.Specification

    @property
    def file(self) -> str:
        """The file, as it was found."""
        return str(self.loaded.path)

    @property
    def text(self) -> str:
        """Its text."""
        return self.loaded.source.text

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What is suspicious in the text."""
        return self.loaded.diagnostics

    @property
    def protocols(self) -> tuple[str, ...]:
        """The names of its protocols."""
        return tuple(one.name for one in self.content.protocols)

    @property
    def scopes(self) -> tuple[str, ...]:
        """The names of its scopes."""
        return tuple(one.name for one in self.content.scopes)

    @property
    def machines(self) -> tuple[str, ...]:
        """The names of its machines."""
        return tuple(one.name for one in self.content.machines)

    @property
    def theorems(self) -> tuple[str, ...]:
        """The names of its theorems."""
        return tuple(one.name for one in self.content.theorems)

    @property
    def mutants(self) -> tuple[str, ...]:
        """The names of its mutants."""
        return tuple(one.name for one in self.content.mutants)

    @property
    def links(self) -> tuple[str, ...]:
        """The names of its links."""
        return tuple(one.name for one in self.content.links)

    @property
    def scenarios(self) -> tuple[str, ...]:
        """The names of its scenarios."""
        return tuple(one.name for one in self.content.scenarios)

    def __repr__(self) -> str:
        return f"Specification({self.file!r}: {', '.join(f'{kind} {names}' for kind, names in self._declared())})"

    def _declared(self) -> list[tuple[str, str]]:
        kinds = ("protocols", "scopes", "machines", "theorems", "mutants", "links", "scenarios")
        return [(kind, " ".join(names)) for kind in kinds if (names := getattr(self, kind))]

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(f"<tr><th>{kind}</th><td>{escape(names)}</td></tr>" for kind, names in self._declared())
        return f"<div><b>{escape(self.file)}</b><table>{rows}</table></div>"


Source: TypeAlias = str | PathLike[str] | Specification
"""A file, the bare name of a library file, or what `load` returned."""


@dataclass(frozen=True, slots=True)
class Check:
    """The faults of files.

    Attributes:
        loaded: each file, with its text.
    """

    loaded: tuple[Loaded, ...] = field(repr=False)

    @property
    def files(self) -> tuple[str, ...]:
        """The files that were read."""
        return tuple(str(each.path) for each in self.loaded)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Errors and warnings, each with its code, place and notes."""
        return tuple(diagnostic for each in self.loaded for diagnostic in each.diagnostics)

    @property
    def ok(self) -> bool:
        """Whether there are no errors."""
        return all(each.specification is not None for each in self.loaded)

    def __str__(self) -> str:
        return "\n\n".join(render(found, each.source) for each in self.loaded for found in each.diagnostics)

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(str(self))}</pre>" if self.diagnostics else "<div>no errors</div>"


def check(*sources: Source) -> Check:
    """Parses, resolves and types files; every fault with its place.

    Raises:
        SourceError: a file cannot be found or read.
    """
    if not sources:
        raise BadRequest("check: name a file")
    return Check(tuple(_loaded(source) for source in sources))


def load(source: Source) -> Specification:
    """The content of a file, or of a library file by its bare name.

    Raises:
        SourceError: the file cannot be found or read.
        Rejected: its text has errors, which a note of the exception shows; `loaded.diagnostics` has them.
    """
    return source if isinstance(source, Specification) else _accepted(_loaded(source))


def loads(text: str, name: str = "text.thence") -> Specification:
    """The content of a text; `name` is its file in diagnostics. Raises: SourceError, Rejected as `load`."""
    return _accepted(load_bytes(Path(name), text.encode()))


def _loaded(source: Source) -> Loaded:
    return source.loaded if isinstance(source, Specification) else load_file(fspath(source))


def _accepted(loaded: Loaded) -> Specification:
    if loaded.specification is None:
        error = Rejected(loaded)
        error.add_note(str(Check((loaded,))))
        raise error
    return Specification(loaded, loaded.specification)


def file_of(source: Source) -> str:
    """The name of the file of a source, as results and messages call it."""
    return source.file if isinstance(source, Specification) else fspath(source)


def protocol_name(protocol: Source | None) -> str | None:
    """FILE or FILE:PROTOCOL of what a system or a recording is held against, which is read again.

    Raises:
        BadRequest: it is a text without a file.
    """
    if isinstance(protocol, Specification) and not protocol.loaded.path.is_file():
        raise BadRequest(f"{protocol.file} is not a file: write the text to one, and name it")
    return None if protocol is None else file_of(protocol)
