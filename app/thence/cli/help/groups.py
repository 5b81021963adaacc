"""The commands in the order in which `thence --help` lists them, under headings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of the help, the folder of its commands in `thence.cli.commands`, and their names in order."""

    title: str
    folder: str
    names: tuple[str, ...]


HEADINGS = (
    Heading(
        "Check a specification",
        "specification",
        ("check", "explain", "fmt", "run", "repl", "play", "explore", "export"),
    ),
    Heading("Prove it", "proofs", ("prove", "infer", "bmc", "recheck")),
    Heading("Test code", "code", ("conform", "mutate", "demo", "campaign")),
    Heading("Judge recordings", "recordings", ("trace",)),
    Heading("Check the library", "library", ("verify",)),
    Heading("Compare and study", "study", ("evaluate", "sweep", "compare", "executions", "matrix", "cover")),
    Heading("Work in an editor", "editor", ("lsp",)),
)


def grouped(commands: Iterable[str]) -> list[tuple[str, list[str]]]:
    """The commands under their headings; a heading without a command is left out."""
    there = set(commands)
    sections = [(one.title, [name for name in one.names if name in there]) for one in HEADINGS]
    return [(title, names) for title, names in sections if names]


def folder_of(command: str) -> str:
    """The folder in `thence.cli.commands` in which a command or group is."""
    return next(one.folder for one in HEADINGS if command in one.names)
