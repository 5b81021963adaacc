"""The server: requests and notifications of the protocol, answered by the features.

Texts are analysed in one thread of their own, so that the server always listens; a request is about the text as it was
when it came. Whatever a feature raises is an answer of this one request: the server goes on.
"""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from thence.dsl.check.explained import explained
from thence.dsl.text.explanations import explanation
from thence.dsl.write.format import format_source
from thence.lsp import completion, conversions, fixes, hover, outline, rename, tokens
from thence.lsp.analysis import Analysis
from thence.lsp.positions import Encoding, Positions
from thence.lsp.running import Limits
from thence.lsp.searching import Search
from thence.lsp.tasks import Task, places, task_from
from thence.lsp.verdicts import CANCEL, RUN, SHOW, Verdicts

EXPLAIN = "thence.explain"
"""The command that explains a code of a diagnostic."""

DEBOUNCE_S = 0.15
"""How long the text stays unchanged before its diagnostics are made."""

Answer = TypeVar("Answer")


class Server(LanguageServer):
    """The server with what it knows of open files."""

    def __init__(self) -> None:
        super().__init__("thence", version("thence"), types.TextDocumentSyncKind.Full)
        self.reader = ThreadPoolExecutor(1, "reader")
        self.analyses: dict[str, Analysis] = {}
        self.checks: dict[str, asyncio.Task[None]] = {}
        self.verdicts = Verdicts(self.refresh)
        self.search = Search()
        self.explains = True
        self.is_shut_down = False
        self.left_early = False

    @property
    def encoding(self) -> Encoding:
        """The encoding in which positions are counted."""
        agreed = str(getattr(self.workspace.position_encoding, "value", self.workspace.position_encoding))
        return "utf-8" if agreed == "utf-8" else "utf-32" if agreed == "utf-32" else "utf-16"

    def analysis(self, uri: str) -> Analysis:
        """What is known of a file as it is now."""
        text = self.workspace.get_text_document(uri).source
        known = self.analyses.get(uri)
        if known is None or known.text != text:
            known = Analysis(text, to_fs_path(uri) or uri)
            if uri in self.workspace.text_documents:
                self.analyses[uri] = known
        return known

    async def about(self, uri: str, answer: Callable[[Analysis, Positions], Answer]) -> Answer:
        """An answer that is found out in the thread that reads texts."""
        analysis, encoding = self.analysis(uri), self.encoding
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self.reader, lambda: answer(analysis, Positions(analysis.text, encoding)))

    def refresh(self, uri: str) -> None:
        """What stands beside the lines of a file has changed."""
        workspace = self.client_capabilities.workspace
        if workspace is not None and workspace.code_lens is not None and workspace.code_lens.refresh_support:
            self.workspace_code_lens_refresh(None)
        self.check(uri, 0)

    def check(self, uri: str, after_s: float = DEBOUNCE_S) -> None:
        """Makes the diagnostics of a file anew, unless it changes before."""
        if uri in self.checks:
            self.checks[uri].cancel()
        self.checks[uri] = asyncio.get_running_loop().create_task(self._publish(uri, after_s))

    async def _publish(self, uri: str, after_s: float) -> None:
        await asyncio.sleep(after_s)
        if uri not in self.workspace.text_documents:
            return
        number = self.workspace.get_text_document(uri).version

        def found(analysis: Analysis, positions: Positions) -> list[types.Diagnostic]:
            faults = [conversions.diagnostic(fault, positions) for fault in analysis.diagnostics]
            return [*faults, *self.verdicts.diagnostics(uri, analysis, positions)]

        diagnostics = await self.about(uri, found)
        if uri in self.workspace.text_documents and self.workspace.get_text_document(uri).version == number:
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, diagnostics, number))

    async def forget(self, uri: str) -> None:
        """A file has been closed."""
        if uri in self.checks:
            self.checks.pop(uri).cancel()
        self.analyses.pop(uri, None)
        await self.verdicts.close(uri)
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    async def announce(self, task: Task, work: asyncio.Task[None]) -> Callable[[str], None]:
        """Shows the progress of a task where the client can, with a way to cancel it; "" ends it."""
        window = self.client_capabilities.window
        if window is None or not window.work_done_progress:
            return lambda said: None
        progress, token = self.work_done_progress, str(uuid.uuid4())
        await progress.create_async(token)
        progress.begin(token, types.WorkDoneProgressBegin(f"Thence: {task.title}", cancellable=True))
        progress.tokens[token].add_done_callback(lambda future: work.cancel() if future.cancelled() else None)

        def say(said: str) -> None:
            if said:
                progress.report(token, types.WorkDoneProgressReport(message=said))
            else:
                progress.end(token, types.WorkDoneProgressEnd())
                progress.tokens.pop(token, None)

        return say

    def shutdown(self) -> None:
        """Ends the server; the reader's last answer is not waited for."""
        self.reader.shutdown(wait=False, cancel_futures=True)
        super().shutdown()  # type: ignore[no-untyped-call]


def make_server() -> Server:
    """A server that knows all requests."""
    server = Server()
    _add_documents(server)
    _add_questions(server)
    _add_edits(server)
    _add_commands(server)
    return server


def serve() -> bool:
    """Serves a client on standard input and output until it leaves. False if it left without a shutdown.

    Meanwhile, what is printed goes to standard error: the output is the protocol's.
    """
    server = make_server()
    given, answers, kept = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb"), os.dup(1)
    os.dup2(2, 1)
    try:
        server.start_io(given, answers)
    finally:
        os.dup2(kept, 1)
        os.close(kept)
    return not server.left_early


def _add_documents(server: Server) -> None:
    """Files are opened, changed, closed."""

    @server.feature(types.INITIALIZE)
    def initialize(ls: Server, params: types.InitializeParams) -> None:
        options = params.initialization_options
        if isinstance(options, dict):
            ls.explains = options.get("showsExplanations") is not True
            seconds, memory = options.get("seconds"), options.get("memoryMegabytes")
            limits = Limits()
            ls.verdicts.limits = Limits(
                float(seconds) if isinstance(seconds, int | float) and seconds > 0 else limits.seconds,
                int(memory) << 20 if isinstance(memory, int | float) and memory > 0 else limits.memory,
            )

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(ls: Server, params: types.DidOpenTextDocumentParams) -> None:
        ls.check(params.text_document.uri, 0)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(ls: Server, params: types.DidChangeTextDocumentParams) -> None:
        ls.check(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
        await ls.forget(params.text_document.uri)

    @server.feature(types.SHUTDOWN)
    async def shutdown(ls: Server, params: None) -> None:
        ls.is_shut_down = True
        await ls.verdicts.close()

    @server.feature(types.EXIT)
    def left(ls: Server, params: None) -> None:
        ls.left_early = not ls.is_shut_down


def _add_questions(server: Server) -> None:
    """What changes nothing."""

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hovered(ls: Server, params: types.HoverParams) -> types.Hover | None:
        uri = params.text_document.uri

        def answer(analysis: Analysis, positions: Positions) -> types.Hover | None:
            line, column = positions.place(params.position)
            found = hover.explain(analysis, line, column)
            if found is None:
                return None
            verdict = ls.verdicts.told(uri, analysis, line) if analysis.is_sound else ""
            text = f"{found.markdown}\n\n```text\n{verdict}\n```" if verdict else found.markdown
            return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text), positions.range(found.span))

        return await ls.about(uri, answer)

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def definition(ls: Server, params: types.DefinitionParams) -> types.Location | None:
        uri = params.text_document.uri

        def answer(analysis: Analysis, positions: Positions) -> types.Location | None:
            found = analysis.occurrence_at(*positions.place(params.position))
            if found is None or found.symbol.span is None:
                return None
            return types.Location(uri, positions.range(found.symbol.span))

        return await ls.about(uri, answer)

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    async def references(ls: Server, params: types.ReferenceParams) -> list[types.Location]:
        uri = params.text_document.uri

        def answer(analysis: Analysis, positions: Positions) -> list[types.Location]:
            found = analysis.occurrence_at(*positions.place(params.position))
            if found is None or found.symbol.span is None:
                return []
            named = analysis.of_symbol(found.symbol)
            wanted = [one for one in named if params.context.include_declaration or one.span != found.symbol.span]
            return [types.Location(uri, positions.range(one.span)) for one in wanted]

        return await ls.about(uri, answer)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    async def highlight(ls: Server, params: types.DocumentHighlightParams) -> list[types.DocumentHighlight]:
        def answer(analysis: Analysis, positions: Positions) -> list[types.DocumentHighlight]:
            found = analysis.occurrence_at(*positions.place(params.position))
            if found is None:
                return []
            return [types.DocumentHighlight(positions.range(one.span)) for one in analysis.of_symbol(found.symbol)]

        return await ls.about(params.text_document.uri, answer)

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=[".", "@"]))
    async def complete(ls: Server, params: types.CompletionParams) -> types.CompletionList:
        def answer(analysis: Analysis, positions: Positions) -> types.CompletionList:
            choices = completion.completions(analysis, *positions.place(params.position))
            items = [conversions.completion_item(choice, number) for number, choice in enumerate(choices)]
            return types.CompletionList(False, items)

        return await ls.about(params.text_document.uri, answer)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def symbols(ls: Server, params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        return await ls.about(
            params.text_document.uri,
            lambda analysis, positions: [
                conversions.document_symbol(entry, positions) for entry in outline.outline(analysis)
            ],
        )

    @server.feature(types.WORKSPACE_SYMBOL)
    async def named(ls: Server, params: types.WorkspaceSymbolParams) -> list[types.WorkspaceSymbol]:
        paths = (to_fs_path(folder.uri) for folder in ls.workspace.folders.values())
        folders = [Path(path) for path in paths if path is not None]
        opened = {uri: ls.analysis(uri) for uri in ls.workspace.text_documents if uri.endswith(".thence")}
        encoding = ls.encoding

        def answer() -> list[types.WorkspaceSymbol]:
            texts: dict[str, Positions] = {}
            found = []
            for one in ls.search.found(params.query, folders, opened):
                if one.uri not in texts:
                    texts[one.uri] = Positions(one.analysis.text, encoding)
                found.append(conversions.workspace_symbol(one, texts[one.uri]))
            return found

        return await asyncio.get_running_loop().run_in_executor(ls.reader, answer)

    @server.feature(types.TEXT_DOCUMENT_FOLDING_RANGE)
    async def folds(ls: Server, params: types.FoldingRangeParams) -> list[types.FoldingRange]:
        return await ls.about(
            params.text_document.uri,
            lambda analysis, positions: [
                types.FoldingRange(positions.position(first, 1).line, positions.position(last, 1).line)
                for first, last in outline.folds(analysis)
            ],
        )

    @server.feature(
        types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL,
        types.SemanticTokensLegend(list(tokens.TYPES), list(tokens.MODIFIERS)),
    )
    async def coloured(ls: Server, params: types.SemanticTokensParams) -> types.SemanticTokens:
        return await ls.about(
            params.text_document.uri,
            lambda analysis, positions: types.SemanticTokens(
                conversions.token_data(tokens.tokens(analysis), positions)
            ),
        )

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensOptions(resolve_provider=False))
    async def lenses(ls: Server, params: types.CodeLensParams) -> list[types.CodeLens]:
        uri = params.text_document.uri
        return await ls.about(uri, lambda analysis, positions: list(ls.verdicts.lenses(uri, analysis, positions)))


def _add_edits(server: Server) -> None:
    """What changes a text."""

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    async def formatted(ls: Server, params: types.DocumentFormattingParams) -> list[types.TextEdit]:
        def answer(analysis: Analysis, positions: Positions) -> list[types.TextEdit]:
            text, _ = format_source(analysis.text, analysis.file)
            return [] if text is None or text == analysis.text else [types.TextEdit(positions.whole(), text)]

        return await ls.about(params.text_document.uri, answer)

    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    async def prepare(ls: Server, params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder:
        def answer(analysis: Analysis, positions: Positions) -> types.PrepareRenamePlaceholder:
            found = rename.renamable(analysis, *positions.place(params.position))
            return types.PrepareRenamePlaceholder(positions.range(found.span), found.symbol.name)

        return await _refusing(ls.about(params.text_document.uri, answer))

    @server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    async def renamed(ls: Server, params: types.RenameParams) -> types.WorkspaceEdit:
        uri = params.text_document.uri

        def answer(analysis: Analysis, positions: Positions) -> types.WorkspaceEdit:
            found = rename.renamable(analysis, *positions.place(params.position))
            places = rename.renamed(analysis, found.symbol, params.new_name)
            return types.WorkspaceEdit(
                {uri: [types.TextEdit(positions.range(place), params.new_name) for place in places]}
            )

        return await _refusing(ls.about(uri, answer))

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])
    )
    async def actions(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
        uri = params.text_document.uri

        def answer(analysis: Analysis, positions: Positions) -> list[types.CodeAction]:
            found: list[types.CodeAction] = []
            explained_already: set[str] = set()
            for fault in analysis.diagnostics:
                shown = conversions.diagnostic(fault, positions)
                if not params.range.start.line <= shown.range.start.line <= params.range.end.line:
                    continue
                for number, fix in enumerate(fixes.fixes(analysis, fault)):
                    edit = types.TextEdit(positions.range(fix.span), fix.text)
                    found.append(
                        types.CodeAction(
                            fix.title,
                            kind=types.CodeActionKind.QuickFix,
                            diagnostics=[shown],
                            is_preferred=number == 0,
                            edit=types.WorkspaceEdit({uri: [edit]}),
                        )
                    )
                if fault.code not in explained_already:
                    explained_already.add(fault.code)
                    title = f"Explain {fault.code}"
                    found.append(
                        types.CodeAction(
                            title,
                            kind=types.CodeActionKind.QuickFix,
                            diagnostics=[shown],
                            command=types.Command(title, EXPLAIN, None, [fault.code]),
                        )
                    )
            return found

        return await ls.about(uri, answer)


def _add_commands(server: Server) -> None:
    """What lenses and actions do when they are clicked."""

    @server.command(RUN)
    async def run(ls: Server, uri: Any = None, task: Any = None) -> str | None:
        """Runs a task to its end, and returns what came out."""
        wanted = _task(task)
        analysis = ls.analysis(str(uri))
        found = await ls.about(str(uri), lambda analysis, _: places(analysis))
        place = next((place for place in found if place.task == wanted), None)
        if place is None:
            raise JsonRpcInvalidParams(message=f"this file has nothing to {wanted.title}")
        work = ls.verdicts.start(str(uri), place, analysis, ls.announce)
        await asyncio.wait([work])
        if work.cancelled():
            return None
        work.result()
        outcome = ls.verdicts.finished.get((str(uri), wanted))
        return None if outcome is None else ls.verdicts.told(str(uri), analysis, task=wanted)

    @server.command(CANCEL)
    def cancel(ls: Server, uri: Any = None, task: Any = None) -> bool:
        """Ends a task that is under way."""
        return ls.verdicts.cancel(str(uri), _task(task))

    @server.command(SHOW)
    async def show(ls: Server, uri: Any = None, task: Any = None) -> str:
        """Writes what came out of a task to the client's log, and returns it."""
        wanted = _task(task)
        said = await ls.about(str(uri), lambda analysis, _: ls.verdicts.told(str(uri), analysis, task=wanted))
        if said:
            ls.window_log_message(types.LogMessageParams(types.MessageType.Info, said))
        return said

    @server.command(EXPLAIN)
    def explain(ls: Server, code: Any = None) -> str:
        """Returns the explanation of a code, and shows it unless the client does."""
        known = explanation(str(code))
        if known is None:
            raise JsonRpcInvalidParams(message=f"there is no code {code}")
        text = explained(known)
        if ls.explains:
            ls.window_show_message(types.ShowMessageParams(types.MessageType.Info, text))
        return text


def _task(value: Any) -> Task:
    fields = value if isinstance(value, dict) else getattr(value, "__dict__", None) or _fields(value)
    try:
        return task_from(fields)
    except ValueError as error:
        raise JsonRpcInvalidParams(message=str(error)) from error


def _fields(value: Any) -> Any:
    """An object of the client, as pygls makes it of JSON, as a dictionary."""
    return value._asdict() if hasattr(value, "_asdict") else value


async def _refusing(answer: Awaitable[Answer]) -> Answer:
    """The answer; a refusal is told to the client as one."""
    try:
        return await answer
    except rename.RenameRefused as error:
        raise JsonRpcException(str(error), types.LSPErrorCodes.RequestFailed) from error
