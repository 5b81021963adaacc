"""The arguments and options of all commands: the word that stands for a value, and the values that a shell offers.

A parameter that several commands have means the same in each, so its name decides. A word for a value is a noun in
capitals.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import typer.completion

from thence.cli.help.names import SUFFIX, declared, is_specification, library_names, properties

_typer: Any = typer.completion

Offer: TypeAlias = tuple[str, str]
"""A value and the words that explain it."""
Completer: TypeAlias = Callable[[str, str], list[Offer]]
"""Values for a file that the command line names ("" if none) and the beginning of a word."""


@dataclass(frozen=True, slots=True)
class Value:
    """The values of a parameter; `offers` is None where a shell lists files, as it does of itself."""

    word: str
    offers: Completer | None = None


def _files(_file: str, begun: str) -> list[Offer]:
    """Specifications: those of this folder or of the folder begun, folders, and, for a bare word, the library's."""
    folder = Path(begun).parent if not begun.endswith("/") else Path(begun)
    prefix = begun[: begun.rfind("/") + 1]
    offers: list[Offer] = []
    try:
        there = sorted(folder.iterdir())
    except OSError:
        there = []
    for path in there:
        if path.name.startswith("."):
            continue
        if path.is_dir():
            offers.append((f"{prefix}{path.name}/", "a folder"))
        elif path.suffix == SUFFIX:
            offers.append((f"{prefix}{path.name}", "a file of this folder"))
    if "/" not in begun:
        offers = [*((name, "in the library") for name in library_names()), *offers]
    return offers


def _of(*kinds: str) -> Completer:
    def offers(file: str, _begun: str) -> list[Offer]:
        return [(name, kind) for kind in kinds for name in declared(file, kind)]

    return offers


def _properties(file: str, _begun: str) -> list[Offer]:
    return [(name, "a property") for name in properties(file)]


def _choice(noun: str, *words: str) -> Value:
    return Value(noun, lambda _file, _begun: [(word, "") for word in words])


_FILE = Value("FILE", _files)
_OUTPUT = Value("FILE")
_SECONDS = Value("SECONDS")
_SHARE = Value("SHARE")

VALUES: dict[str, Value] = {
    "file": _FILE,
    "files": _FILE,
    "protocol": Value("PROTOCOL", _files),
    "protocols": Value("PROTOCOL", _files),
    "against": Value("PROTOCOL", _files),
    "names": Value("NAME", _of("theorem", "machine", "mutant", "protocol")),
    "name": Value("NAME", _of("machine", "protocol", "mutant")),
    "only": Value("NAME", _of("theorem", "machine", "mutant", "protocol", "scope", "scenario")),
    "scope": Value("SCOPE", _of("scope")),
    "mutant": Value("MUTANT", _of("mutant")),
    "scenario": Value("SCENARIO", _of("scenario")),
    "property_": Value("PROPERTY", _properties),
    "setting": Value("SETTING"),
    "sends": Value("COUNTS"),
    "directory": Value("DIRECTORY"),
    "folder": Value("DIRECTORY"),
    "hide": Value("INVARIANT"),
    "codes": Value("CODE"),
    "study": Value("STUDY"),
    "engine": _choice("ENGINE", "auto", "native", "interpreted"),
    "reductions": _choice("KIND", "auto", "none", "symmetry"),
    "storage": _choice("KIND", "exact", "layers", "disk"),
    "channels": _choice("KIND", "fifo", "reordering"),
    "delivery": _choice("KIND", "unicast", "multicast", "broadcast"),
    "carrier": _choice("CARRIER", "udp", "tcp"),
    "to": _choice("FORMAT", "ndjson", "itf", "shiviz"),
    "format_": _choice("FORMAT", "ndjson", "itf", "shiviz", "jepsen", "otlp"),
    "claim": _choice("CLAIM", "conforming", "causal", "fifo", "delivered", "once", "prompt", "total_order"),
    "scheduler": _choice("SCHEDULER", "portfolio", "starve_one_channel", "uniform", "pct", "swarm", "guided"),
    "impl": Value("MODULE:CLASS"),
    "exec_": Value("COMMAND"),
    "exec_per_process": Value("COMMAND"),
    "memory": Value("SIZE"),
    "memory_limit": Value("SIZE"),
    "payload": Value("BYTES"),
    "bandwidth": Value("RATE"),
    "time": _SECONDS,
    "time_limit": _SECONDS,
    "reply_limit": _SECONDS,
    "start_limit": _SECONDS,
    "case_limit": _SECONDS,
    "budget": _SECONDS,
    "timeout": _SECONDS,
    "delay": Value("MILLISECONDS"),
    "interval": Value("TIME"),
    "latency": Value("DISTRIBUTION"),
    "target": Value("PATTERN"),
    "jobs": Value("N"),
    "loss_rate": _SHARE,
    "duplication_rate": _SHARE,
    "answers": _SHARE,
    "at_least": _SHARE,
    "cache": Value("DIRECTORY"),
    "certificate": Value("DIRECTORY"),
    "output": Value("PATH"),
    "out": Value("DIRECTORY"),
    "results": Value("DIRECTORY"),
    "survivors": Value("DIRECTORY"),
    "author": Value("NAME"),
    "master": Value("URL"),
    "schedules_from": _OUTPUT,
    "py_files": _OUTPUT,
    "archives": _OUTPUT,
    **dict.fromkeys(
        ("svg", "itf", "trace", "pytest", "save", "replay", "replayed", "transcript", "report", "html", "csv"), _OUTPUT
    ),
    "program": _OUTPUT,
    "systems": _OUTPUT,
}

_BY_TYPE = {int: "N", float: "NUMBER"}


def word_for(parameter: Any) -> str:
    """The word that stands for a parameter's value."""
    found = VALUES.get(parameter.name)
    if found is not None:
        return found.word
    declared_as = getattr(parameter.type_descriptor, "annotation", str)
    return next((word for type_, word in _BY_TYPE.items() if declared_as is type_), "TEXT")


def make_readable(parameter: Any) -> None:
    """Gives a parameter its word, and the values that a shell offers."""
    parameter.metavar = word_for(parameter)
    found = VALUES.get(parameter.name)
    if found is None or found.offers is None:
        return
    offers = found.offers

    def complete(context: Any, _parameter: Any, begun: str) -> list[Any]:
        item = _typer.shell_completion.CompletionItem
        return [item(value, help=says) for value, says in _offered(offers, context, begun)]

    parameter._custom_shell_complete = complete


def _offered(offers: Completer, context: Any, begun: str) -> Iterator[Offer]:
    for value, says in offers(_file_named(context), begun):
        if value.startswith(begun):
            yield value, says


def _file_named(context: Any) -> str:
    """The file of the command line. Before the value of an option is there, only the shell's words tell it."""
    named = context.params.get("file") or context.params.get("protocol")
    words = [str(named)] if named else _words()
    for word in words:
        file = word if Path(word).exists() else word.partition(":")[0]
        if is_specification(file):
            return file
    return ""


def _words() -> list[str]:
    """The words of the command line, as the shell gives them."""
    given = os.environ.get("_TYPER_COMPLETE_ARGS") or os.environ.get("COMP_WORDS") or ""
    return [word.strip("'\"") for word in given.split()[2:]]
