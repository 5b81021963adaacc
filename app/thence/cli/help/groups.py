"""The commands in the order in which `thence --help` lists them, under headings."""

from __future__ import annotations

from collections.abc import Iterable

GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Check a specification", ("check", "explain", "fmt", "run", "repl", "explore", "export")),
    ("Prove it", ("prove", "infer", "bmc", "recheck")),
    ("Test code", ("conform", "mutate", "demo", "campaign")),
    ("Judge recordings", ("trace",)),
    ("Check the library", ("verify",)),
    ("Compare and study", ("evaluate", "sweep", "compare", "executions", "matrix", "cover")),
    ("Work in an editor", ("lsp",)),
)

_REST = "Other tools"


def grouped(commands: Iterable[str]) -> list[tuple[str, list[str]]]:
    """The commands under their headings; one without a heading comes last."""
    there = list(commands)
    sections = [(title, [name for name in names if name in there]) for title, names in GROUPS]
    placed = {name for _, names in GROUPS for name in names}
    sections.append((_REST, [name for name in there if name not in placed]))
    return [(title, names) for title, names in sections if names]
