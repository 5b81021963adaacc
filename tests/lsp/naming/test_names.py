"""Which name means what: every name of the library is known, and a renamed file means what it meant before."""

from __future__ import annotations

import random
import re
import string
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls")

from thence.dsl.check.terms.environment import RESERVED as NAMES_OF_THE_LANGUAGE
from thence.dsl.ir.machine_builtins import HISTORY_TRANSITIONS
from thence.dsl.load import library
from thence.dsl.text import syntax
from thence.dsl.text.parse import keyword_words
from thence.lsp.analysis import Analysis
from thence.lsp.naming.symbols import Symbol
from thence.lsp.positions import contains
from thence.lsp.rename import RenameRefused, renamable, renamed

EVENTS = """
machine asking:
  delivery off
  relation asked(p: process)
  transition ask_once(p: process): asked(p) := true
  invariant always: forall p. asked(p) or not asked(p)
  eventually answered(q: process): asked(q) by:
    ask_once(q)
    ask_once(r) for r: process while not asked(r) and r != q

protocol asks:
  role keeper: process = 0
  message ASK(k: nat)
  state:
    wants: nat
    got: bool
  on ask(n: nat) when wants = 0 and self != keeper:
    wants := n
    send ASK(n) to keeper
  on receive ASK(k) from j: got := true
  periodically again:
    if wants > 0 and self != keeper: send ASK(wants) to keeper
  eventually asked under fair receive, ask, again: got@keeper

scope two of asks:
  processes 2
  keeper = 1
  ask 1 per process
  ask n in 1, 2
  ticks again 1

mutant asks_once of asks:
  \"""The timer does nothing.\"""
  periodically again: pass
  expect holds asked in two
  expect holds asked with processes 2, ask 1 per process, ticks again 1

conforms asks to asking:
  ask(x)             is ask_once(self)
  periodically again is ask_once(self), when wants > 0
  invariant who: forall p: process. asked(p) implies wants@p > 0

scenario once of asks:
  processes Ann, Ben
  keeper = Ann
  Ben does ask(1)
  Ben ticks again
  assert wants@Ben = 1
"""

FILES = library()
BY_NAME = {path.stem: path for path in FILES}


def analysis_of(path: Path) -> Analysis:
    return Analysis(path.read_text(encoding="utf-8"), path.name)


def nodes(tree: Any) -> Iterator[syntax.Node]:
    if isinstance(tree, tuple):
        for part in tree:
            yield from nodes(part)
    elif isinstance(tree, syntax.Node):
        yield tree
        for part in fields(tree):
            if part.name != "span":
                yield from nodes(getattr(tree, part.name))


@pytest.mark.long(but=("cykas", "cbcast", "execution", "fifo", "tree"))
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_name_of_the_library_is_known(path: Path) -> None:
    analysis = analysis_of(path)
    known = [occurrence.span for occurrence in analysis.occurrences]
    places = {(span.line, span.column) for span in known}
    for node in nodes(analysis.tree):
        match node:
            case syntax.Name(text=text) | syntax.Variable(name=text) if text and node.span.line:
                inside = any(contains(span, node.span.end_line, node.span.end_column) for span in known)
                assert (node.span.line, node.span.column) in places or (" " in text and inside), node


def declared(analysis: Analysis) -> list[Symbol]:
    """Everything that a file declares."""
    return list(dict.fromkeys(one.symbol for one in analysis.occurrences if one.declares and one.symbol.span))


def replaced(text: str, analysis: Analysis, symbol: Symbol, name: str) -> str:
    lines = text.split("\n")
    for span in reversed(renamed(analysis, symbol, name)):
        line = lines[span.line - 1]
        lines[span.line - 1] = line[: span.column - 1] + name + line[span.end_column - 1 :]
    return "\n".join(lines)


def fresh(analysis: Analysis, name: str) -> str:
    """A name of the same length, so that all places stay, that is nowhere in the file; empty if there is none."""
    used = set(re.findall(r"\w+", analysis.text)) | NAMES_OF_THE_LANGUAGE | keyword_words()
    letters = string.ascii_letters + "_"
    return next((new for letter in letters if (new := letter + "z" * (len(name) - 1)) not in used), "")


def check_renamed(analysis: Analysis, symbol: Symbol) -> None:
    """The renamed file has the same diagnostics and the same typed form, but for the name."""
    name = fresh(analysis, symbol.name)
    if not name or (symbol.kind == "transition" and symbol.name in HISTORY_TRANSITIONS):
        return
    after = Analysis(replaced(analysis.text, analysis, symbol, name), analysis.file)
    assert [one.code for one in after.diagnostics] == [one.code for one in analysis.diagnostics]
    assert form(after, symbol.name, name) == form(analysis, symbol.name, name), symbol


def form(analysis: Analysis, old: str, new: str) -> str:
    """The typed form of a file as text, in which each name that is one of the two is a third one."""
    return re.sub(rf"\b(?:{old}|{new})\b", "\N{MIDDLE DOT}", repr(analysis.examined.specification))


@pytest.mark.long(but=("cykas_printed", "rst_mf", "execution", "fifo", "synchronous"))
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_renamed_file_means_the_same(path: Path) -> None:
    """Some declared things of each file, drawn by its name."""
    analysis = analysis_of(path)
    symbols = declared(analysis)
    for symbol in random.Random(path.stem).sample(symbols, min(3, len(symbols))):
        check_renamed(analysis, symbol)


@pytest.mark.long
@pytest.mark.parametrize("path", [BY_NAME["cykas_printed"], BY_NAME["rst_mf"]], ids=lambda path: path.stem)
def test_every_name_of_a_file_can_be_changed(path: Path) -> None:
    analysis = analysis_of(path)
    for symbol in declared(analysis):
        check_renamed(analysis, symbol)


def test_inputs_timers_and_roles_are_renamed_wherever_they_stand() -> None:
    """In handlers, promises, scopes, settings of expectations, mutants, links and scenarios."""
    analysis = Analysis(EVENTS, "events.thence")
    assert analysis.diagnostics == ()
    places = {symbol.name: len(list(analysis.of_symbol(symbol))) for symbol in declared(analysis)}
    assert {name: places[name] for name in ("ask", "n", "again", "keeper")} == {
        "ask": 7,
        "n": 4,
        "again": 7,
        "keeper": 8,
    }
    for symbol in declared(analysis):
        check_renamed(analysis, symbol)


@pytest.mark.long(but=("cykas_printed", "rst_mf"))
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_taken_name_changes_nothing_or_is_refused(path: Path) -> None:
    """The new name is one of the file's own: what is not refused means the same."""
    analysis = analysis_of(path)
    draw = random.Random(path.stem)
    symbols = declared(analysis)
    names = sorted({symbol.name for symbol in symbols} | {"causal", "delivered", "src", "max", "state", "to", "link"})
    for _ in range(6):
        symbol, name = draw.choice(symbols), draw.choice(names)
        if symbol.name == name:
            continue
        try:
            text = replaced(analysis.text, analysis, symbol, name)
        except RenameRefused:
            continue
        after = Analysis(text, analysis.file)
        assert not [one for one in after.diagnostics if one.severity == "error"]
        assert [o.symbol.kind for o in after.occurrences] == [o.symbol.kind for o in analysis.occurrences]


@pytest.mark.parametrize("name", ["", "2a", "a b", "if", "self", "process", "queué", "a-b", "M"])
def test_refused_names(name: str) -> None:
    analysis = analysis_of(BY_NAME["rst_mf"])
    held = next(symbol for symbol in declared(analysis) if symbol.name == "held")
    with pytest.raises(RenameRefused):
        renamed(analysis, held, name)


def test_what_cannot_be_renamed() -> None:
    text = "machine m:\n  transition causal_send(x):\n    require not sent(x)\n"
    analysis = Analysis(text, "m.thence")
    with pytest.raises(RenameRefused, match="name of the language"):
        renamable(analysis, 3, 17)
    with pytest.raises(RenameRefused, match="nothing"):
        renamable(analysis, 3, 6)
    with pytest.raises(RenameRefused, match="mend"):
        renamable(Analysis(text + "machine\n", "m.thence"), 2, 28)


def test_the_transitions_of_the_history_keep_their_names() -> None:
    text = BY_NAME["cykas"].read_text(encoding="utf-8")
    analysis = Analysis(text, "cykas.thence")
    symbol = next(one for one in declared(analysis) if (one.kind, one.name) == ("transition", "deliver"))
    with pytest.raises(RenameRefused):
        renamed(analysis, symbol, "hand_over")


def test_a_starvation_claim_names_its_transition() -> None:
    analysis = analysis_of(BY_NAME["cykas"])
    symbol = next(one for one in declared(analysis) if (one.kind, one.name) == ("transition", "network_send"))
    lines = analysis.text.split("\n")
    named = {lines[one.span.line - 1].strip() for one in analysis.of_symbol(symbol)}
    assert any("without starvation" in line for line in named)
