"""The values of the features, as the types of the protocol."""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types

from thence.dsl.text.diagnostics import Diagnostic
from thence.lsp.completion import Choice, ChoiceKind
from thence.lsp.naming.symbols import SymbolKind
from thence.lsp.outcomes import GOOD, Outcome, remark
from thence.lsp.outline import Entry
from thence.lsp.positions import Positions
from thence.lsp.searching import Found
from thence.lsp.tasks import Place
from thence.lsp.tokens import TYPES, Token

SOURCE = "thence"
"""The source of diagnostics: faults of the text."""

VERDICTS = "thence verdicts"
"""The source of diagnostics that are verdicts."""

_SYMBOLS: dict[SymbolKind, types.SymbolKind] = {
    "theory": types.SymbolKind.Namespace, "theorem": types.SymbolKind.Constant, "machine": types.SymbolKind.Class,
    "protocol": types.SymbolKind.Class, "scope": types.SymbolKind.Package, "mutant": types.SymbolKind.Class,
    "scenario": types.SymbolKind.Event, "sort": types.SymbolKind.TypeParameter, "function": types.SymbolKind.Function,
    "relation": types.SymbolKind.Function, "statement": types.SymbolKind.Constant, "rule": types.SymbolKind.Constant,
    "transition": types.SymbolKind.Method, "packet kind": types.SymbolKind.EnumMember,
    "record": types.SymbolKind.Struct, "field": types.SymbolKind.Field, "state variable": types.SymbolKind.Variable,
    "procedure": types.SymbolKind.Function, "definition": types.SymbolKind.Function,
    "handler": types.SymbolKind.Method, "input": types.SymbolKind.Event, "timer": types.SymbolKind.Event,
    "named value": types.SymbolKind.Constant,
}  # fmt: skip

_CHOICES: dict[ChoiceKind, types.CompletionItemKind] = {
    "keyword": types.CompletionItemKind.Keyword, "type": types.CompletionItemKind.TypeParameter,
    "record": types.CompletionItemKind.Struct, "sort": types.CompletionItemKind.TypeParameter,
    "operation": types.CompletionItemKind.Method, "field": types.CompletionItemKind.Field,
    "property": types.CompletionItemKind.Constant, "statement": types.CompletionItemKind.Constant,
    "function": types.CompletionItemKind.Function, "relation": types.CompletionItemKind.Function,
    "procedure": types.CompletionItemKind.Function, "definition": types.CompletionItemKind.Function,
    "named value": types.CompletionItemKind.Constant,
    "transition": types.CompletionItemKind.Event,
    "packet kind": types.CompletionItemKind.EnumMember, "protocol": types.CompletionItemKind.Class,
    "machine": types.CompletionItemKind.Class, "mutant": types.CompletionItemKind.Class,
    "theory": types.CompletionItemKind.Module, "scope": types.CompletionItemKind.Module,
}  # fmt: skip


def diagnostic(fault: Diagnostic, positions: Positions) -> types.Diagnostic:
    """A fault of the text with its notes."""
    severity = types.DiagnosticSeverity.Error if fault.severity == "error" else types.DiagnosticSeverity.Warning
    unused = fault.code in ("W0901", "W0904", "W0908")
    return types.Diagnostic(
        positions.range(fault.span),
        "\n".join((fault.message, *fault.notes)),
        severity=severity,
        code=fault.code,
        source=SOURCE,
        tags=[types.DiagnosticTag.Unnecessary] if unused else None,
    )


def verdict_diagnostics(place: Place, outcome: Outcome, positions: Positions) -> Iterable[types.Diagnostic]:
    """The verdicts that a reader wants to see in the text: what is refuted or unknown, and what is not as expected."""
    for one in outcome.judged:
        if one.verdict in GOOD and one.expected:
            continue
        hinted = place.expects and one.expected
        severity = types.DiagnosticSeverity.Hint if hinted else types.DiagnosticSeverity.Information
        why = (one.explanation or one.unknown).strip()
        message = f"{place.task.name}: {remark(one, place.expects)}" + (f"\n{why}" if why else "")
        yield types.Diagnostic(positions.range(place.span), message, severity=severity, source=VERDICTS)


def document_symbol(entry: Entry, positions: Positions) -> types.DocumentSymbol:
    """An entry of the outline with its parts."""
    return types.DocumentSymbol(
        entry.name,
        _SYMBOLS.get(entry.kind, types.SymbolKind.Variable),
        positions.range(entry.span),
        positions.range(entry.name_span),
        detail=entry.detail,
        children=[document_symbol(part, positions) for part in entry.parts],
    )


def workspace_symbol(found: Found, positions: Positions) -> types.WorkspaceSymbol:
    """A name with its place in its file; a part of a declaration says of which one."""
    return types.WorkspaceSymbol(
        types.Location(found.uri, positions.range(found.entry.name_span)),
        found.entry.name,
        _SYMBOLS.get(found.entry.kind, types.SymbolKind.Variable),
        container_name=found.within or None,
    )


def completion_item(choice: Choice, order: int) -> types.CompletionItem:
    """A choice; the order in which the choices come is kept."""
    return types.CompletionItem(
        choice.text,
        kind=_CHOICES.get(choice.kind, types.CompletionItemKind.Variable),
        detail=choice.detail or None,
        documentation=types.MarkupContent(types.MarkupKind.Markdown, choice.doc) if choice.doc else None,
        sort_text=f"{order:04}",
    )


def token_data(tokens: Iterable[Token], positions: Positions) -> list[int]:
    """Tokens as the protocol encodes them: each place relative to the one before."""
    data: list[int] = []
    line = character = 0
    for token in tokens:
        place = positions.range(token.span)
        length = place.end.character - place.start.character
        if place.start.line != place.end.line or length <= 0:
            continue
        same = place.start.line == line
        ahead = place.start.character - character if same else place.start.character
        data += [place.start.line - line, ahead, length, TYPES.index(token.type), token.modifiers]
        line, character = place.start.line, place.start.character
    return data
