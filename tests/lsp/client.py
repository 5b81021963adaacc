"""A real client of the language server: it starts `thence lsp` as a process and speaks the protocol with it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient

URI = "file:///nowhere/tested.thence"
LONGEST_S = 60.0
SERVER = (sys.executable, "-c", "from thence.cli import main; main()", "lsp")


class Client(LanguageClient):
    """A client that keeps what the server sends without being asked."""

    def __init__(self) -> None:
        super().__init__("tests", "1")
        self.diagnostics: dict[str, list[types.Diagnostic]] = {}
        self.versions: dict[str, int | None] = {}
        self.progress: list[str] = []
        self.tokens: list[types.ProgressToken] = []
        self.refreshed = 0
        self.logged: list[str] = []
        self.told = asyncio.Event()

        @self.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: types.PublishDiagnosticsParams) -> None:
            self.diagnostics[params.uri] = list(params.diagnostics)
            self.versions[params.uri] = params.version
            self.told.set()

        @self.feature(types.WINDOW_WORK_DONE_PROGRESS_CREATE)
        def created(params: types.WorkDoneProgressCreateParams) -> None:
            self.tokens.append(params.token)

        @self.feature(types.PROGRESS)
        def progressed(params: types.ProgressParams) -> None:
            value = params.value
            self.progress.append(value["kind"] if isinstance(value, dict) else value.kind)
            self.told.set()

        @self.feature(types.WORKSPACE_CODE_LENS_REFRESH)
        def refreshed(params: Any) -> None:
            self.refreshed += 1
            self.told.set()

        @self.feature(types.WINDOW_LOG_MESSAGE)
        def logged(params: types.LogMessageParams) -> None:
            self.logged.append(params.message)

        @self.feature(types.WINDOW_SHOW_MESSAGE)
        def shown(params: types.ShowMessageParams) -> None:
            self.logged.append(params.message)

    async def until(self, true: Callable[[], bool]) -> None:
        """Waits until something is true that the server's messages make true."""
        async with asyncio.timeout(LONGEST_S):
            while not true():
                self.told.clear()
                await self.told.wait()

    def open(self, text: str, uri: str = URI) -> None:
        """Opens a file with this text."""
        item = types.TextDocumentItem(uri, "thence", 1, text)
        self.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def change(self, text: str, version: int, uri: str = URI) -> None:
        """Replaces the text of an open file."""
        whole = types.TextDocumentContentChangeWholeDocument(text)
        document = types.VersionedTextDocumentIdentifier(version, uri)
        self.text_document_did_change(types.DidChangeTextDocumentParams(document, [whole]))

    async def diagnosed(self, version: int, uri: str = URI) -> list[types.Diagnostic]:
        """The diagnostics of a version."""
        await self.until(lambda: self.versions.get(uri) == version)
        return self.diagnostics[uri]


@asynccontextmanager
async def connected(options: dict[str, Any] | None = None, folder: Path | None = None) -> AsyncIterator[Client]:
    """A client with a server of its own, which is shut down in the end and leaves no process behind."""
    client = Client()
    await client.start_io(*SERVER)
    capabilities = types.ClientCapabilities(
        workspace=types.WorkspaceClientCapabilities(
            code_lens=types.CodeLensWorkspaceClientCapabilities(refresh_support=True)
        ),
        window=types.WindowClientCapabilities(work_done_progress=True),
    )
    folders = None if folder is None else [types.WorkspaceFolder(folder.as_uri(), folder.name)]
    await client.initialize_async(
        types.InitializeParams(capabilities, initialization_options=options, workspace_folders=folders)
    )
    client.initialized(types.InitializedParams())
    try:
        yield client
    finally:
        async with asyncio.timeout(LONGEST_S):
            await client.shutdown_async(None)
            client.exit(None)
            assert client._server is not None
            assert await client._server.wait() == 0
            await client.stop()


def position(text: str, needle: str, shift: int = 0) -> types.Position:
    """Where a needle begins in a text, in UTF-16."""
    offset = text.index(needle) + shift
    start = text.rfind("\n", 0, offset) + 1
    return types.Position(text.count("\n", 0, offset), len(text[start:offset].encode("utf-16-le")) // 2)


def document(uri: str = URI) -> types.TextDocumentIdentifier:
    """A file."""
    return types.TextDocumentIdentifier(uri)
