"""The server over the protocol, by a real client: one session as an editor has it."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls")

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from tests.lsp.client import SERVER, URI, Client, connected, document, position

TEXT = """\
# 𝒳 a remark with astral characters: 😀
protocol hasty:
  \"\"\"Delivers whatever arrives.\"\"\"
  network reliable, reordering
  message MSG(m: message) carries m
  state:
    GOT: set of message    # 😀😀 received
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j:
    (GOT).add(m)
    deliver m
  property causal, fifo, at_most_once

scope small of hasty:
  processes 2
  sends 2, 0
  expect refuted causal, fifo

scope large of hasty:
  processes 4
  sends 4 per process
""".replace("(GOT)", "GOT")

BROKEN = TEXT.replace("deliver m", "deliver n")


def test_a_session_of_an_editor() -> None:
    asyncio.run(check_session())


async def check_session() -> None:
    async with connected() as client:
        client.open(TEXT)
        assert await client.diagnosed(1) == []

        client.change(BROKEN, 2)
        [fault] = await client.diagnosed(2)
        assert (fault.code, fault.severity) == ("E0201", types.DiagnosticSeverity.Error)
        assert fault.range.start == position(BROKEN, "deliver n", 8)
        client.change(TEXT[: TEXT.index("deliver m") + 3], 3)
        client.change(TEXT, 4)
        assert await client.diagnosed(4) == []
        assert client.versions[URI] == 4

        hover = await client.text_document_hover_async(types.HoverParams(document(), position(TEXT, "GOT.add", 1)))
        assert hover is not None and isinstance(hover.contents, types.MarkupContent)
        assert "GOT: set of message" in hover.contents.value

        asked = types.DefinitionParams(document(), position(TEXT, "GOT.add"))
        place = await client.text_document_definition_async(asked)
        assert isinstance(place, types.Location)
        assert place.range.start == position(TEXT, "GOT: set")

        sent = types.ReferenceParams(types.ReferenceContext(True), document(), position(TEXT, "MSG(m) to"))
        found = await client.text_document_references_async(sent)
        assert found is not None and len(found) == 3

        await renames(client)
        await completes(client)
        await formats(client)
        symbols = await client.text_document_document_symbol_async(types.DocumentSymbolParams(document()))
        assert symbols is not None and [symbol.name for symbol in symbols] == ["hasty", "small", "large"]
        folds = await client.text_document_folding_range_async(types.FoldingRangeParams(document()))
        assert folds is not None and len(folds) == 5
        tokens = await client.text_document_semantic_tokens_full_async(types.SemanticTokensParams(document()))
        assert tokens is not None and len(tokens.data) % 5 == 0
        await judges(client)
        await cancels(client)
        await mends(client)


async def renames(client: Client) -> None:
    where = position(TEXT, "GOT.add")
    prepared = await client.text_document_prepare_rename_async(types.PrepareRenameParams(document(), where))
    assert isinstance(prepared, types.PrepareRenamePlaceholder) and prepared.placeholder == "GOT"
    edit = await client.text_document_rename_async(types.RenameParams(document(), where, "SEEN"))
    assert edit is not None and edit.changes is not None
    assert [one.range.start for one in edit.changes[URI]] == [position(TEXT, "GOT: set"), where]
    for taken in ("deliver it", "if", "m", "self"):
        with pytest.raises(JsonRpcException):
            await client.text_document_rename_async(types.RenameParams(document(), where, taken))


async def completes(client: Client) -> None:
    text = TEXT.replace("    deliver m\n", "    deliver m\n    GOT.\n")
    client.change(text, 5)
    found = await client.text_document_completion_async(types.CompletionParams(document(), position(text, "GOT.\n", 4)))
    assert isinstance(found, types.CompletionList)
    assert {"size", "add", "remove", "clear"} == {item.label for item in found.items}


async def formats(client: Client) -> None:
    loose = TEXT.replace("deliver m", "deliver   m")
    client.change(loose, 6)
    options = types.FormattingOptions(2, True)
    edits = await client.text_document_formatting_async(types.DocumentFormattingParams(document(), options))
    assert edits is not None and [edit.new_text for edit in edits] == [TEXT]
    client.change(TEXT, 7)
    assert await client.diagnosed(7) == []


async def lenses(client: Client) -> list[types.Command]:
    found = await client.text_document_code_lens_async(types.CodeLensParams(document()))
    assert found is not None
    return [lens.command for lens in found if lens.command is not None]


async def execute(client: Client, command: types.Command) -> Any:
    return await client.workspace_execute_command_async(types.ExecuteCommandParams(command.command, command.arguments))


async def judges(client: Client) -> None:
    """A lens is clicked; its verdicts stand beside the line, in the diagnostics and in the hover."""
    small, large = await lenses(client)
    assert (small.title, large.title) == ("explore", "explore")
    said = await execute(client, small)
    assert "delivers" in said
    shown, again, _ = await lenses(client)
    assert again.title == "explore again"
    assert shown.title == "2 of 4 hold, causal refuted as expected, fifo refuted as expected"
    await client.until(lambda: len(client.diagnostics[URI]) == 2)
    assert {one.severity for one in client.diagnostics[URI]} == {types.DiagnosticSeverity.Hint}
    await execute(client, shown)
    assert client.logged and "small" in client.logged[-1]
    hover = await client.text_document_hover_async(types.HoverParams(document(), position(TEXT, "small of")))
    assert hover is not None and isinstance(hover.contents, types.MarkupContent)
    assert "causal: refuted" in hover.contents.value
    assert client.progress[0] == "begin" and client.progress[-1] == "end"
    client.change(TEXT.replace("sends 2, 0", "sends 1, 1"), 8)
    assert [one.title for one in await lenses(client)] == ["explore", "explore"], "the verdicts are about another scope"
    client.change(TEXT, 9)


async def cancels(client: Client) -> None:
    """A long exploration is ended by its lens, another one by its progress."""
    *_, large = await lenses(client)
    seen = len(client.progress)
    running = asyncio.create_task(execute(client, large))
    await client.until(lambda: "report" in client.progress[seen:])
    *_, cancel = await lenses(client)
    assert cancel.command == "thence.cancel"
    assert await execute(client, cancel) is True
    assert await running is None
    assert client.progress[-1] == "end"
    seen = len(client.progress)
    running = asyncio.create_task(execute(client, large))
    await client.until(lambda: "report" in client.progress[seen:])
    client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(client.tokens[-1]))
    assert await running is None
    *_, large = await lenses(client)
    assert large.title == "explore"


async def mends(client: Client) -> None:
    text = TEXT.replace("property causal", "property causl")
    client.change(text, 10)
    [fault] = [one for one in await client.diagnosed(10) if one.code == "E0410"]
    context = types.CodeActionContext([fault])
    actions = await client.text_document_code_action_async(types.CodeActionParams(document(), fault.range, context))
    assert actions is not None
    action, explaining = actions
    assert isinstance(action, types.CodeAction) and action.edit is not None and action.edit.changes is not None
    assert [edit.new_text for edit in action.edit.changes[URI]] == ["causal"]
    assert explaining.title == "Explain E0410"  # this client reads it as a command; test_extension executes it
    said = await execute(client, types.Command("", "thence.explain", None, ["E0410"]))
    printed = subprocess.run([*SERVER[:-1], "explain", "E0410"], capture_output=True, text=True, check=True).stdout
    assert said == printed.rstrip("\n")
    await client.until(lambda: said in client.logged)
    for unknown in ("E9999", "", None):
        with pytest.raises(JsonRpcException, match="there is no code"):
            await execute(client, types.Command("", "thence.explain", None, [unknown]))


def test_names_of_all_files_of_the_folder(tmp_path: Path) -> None:
    asyncio.run(check_names_of_all_files(tmp_path))


async def check_names_of_all_files(folder: Path) -> None:
    """Also of what is not open; an open file counts as it is in the editor; a changed file is read again."""
    protocol = "# 😀\nprotocol NAME:\n  message MSG(m: message) carries m\n  on causal_send(m): send MSG(m) to m.dst\n"
    (folder / "deep er").mkdir()
    (folder / ".hidden").mkdir()
    first, second = folder / "first.thence", folder / "deep er" / "sécond.thence"
    first.write_text(protocol.replace("NAME", "first"), encoding="utf-8")
    second.write_text(protocol.replace("NAME", "second"), encoding="utf-8", newline="\r\n")
    (folder / ".hidden" / "third.thence").write_text(protocol.replace("NAME", "third"), encoding="utf-8")
    (folder / "binary.thence").write_bytes(bytes(range(256)))
    (folder / "dangling.thence").symlink_to(folder / "nowhere")
    (folder / "folder.thence").mkdir()

    async def found(query: str) -> list[tuple[str, str, str | None, types.Position]]:
        answer = await client.workspace_symbol_async(types.WorkspaceSymbolParams(query))
        assert answer is not None
        return [
            (Path(one.location.uri).name, one.name, one.container_name, one.location.range.start)
            for one in answer
            if isinstance(one.location, types.Location)
        ]

    async with connected(folder=folder) as client:
        assert await found("second") == [("s%C3%A9cond.thence", "second", None, types.Position(1, 9))]
        assert await found("scnd") == await found("SECOND") == await found("second")
        assert {(name, within) for _, name, within, _ in await found("msg")} == {("MSG", "first"), ("MSG", "second")}
        assert await found("third") == await found("nothing like it") == []
        assert {name for _, name, _, _ in await found("")} >= {"first", "second", "MSG", "causal_send"}
        client.open(protocol.replace("NAME", "unsaved"), first.as_uri())
        assert [name for _, name, _, _ in await found("unsaved")] == ["unsaved"]
        assert await found("first") == []
        second.write_text(protocol.replace("NAME", "changed"), encoding="utf-8")
        assert [name for _, name, _, _ in await found("changed")] == ["changed"]
        assert await found("second") == []


@pytest.mark.process
def test_nothing_is_left_when_the_editor_goes_away() -> None:
    """The server's input ends while an exploration is under way: server and worker end, too."""
    asyncio.run(check_nothing_is_left())


async def check_nothing_is_left() -> None:
    client = Client()
    await client.start_io(*SERVER)
    await client.initialize_async(types.InitializeParams(types.ClientCapabilities()))
    client.open(TEXT)
    *_, large = await lenses(client)
    running = asyncio.create_task(execute(client, large))
    server = client._server
    assert server is not None and server.stdin is not None
    async with asyncio.timeout(20):
        while not (workers := descendants(server.pid)):
            await asyncio.sleep(0.1)
    server.stdin.close()
    await asyncio.wait_for(server.wait(), 20)
    running.cancel()
    await client.stop()
    for _ in range(100):
        if not any(Path(f"/proc/{pid}").exists() for pid in workers):
            return
        await asyncio.sleep(0.1)
    raise AssertionError(workers)


def descendants(pid: int) -> list[int]:
    """The processes that a process has started, and those that these have."""
    if not Path("/proc").is_dir():
        pytest.skip("without /proc")
    told = subprocess.run(["ps", "-e", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    parents = {int(line.split()[0]): int(line.split()[1]) for line in told.splitlines()}
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return sorted(found - {pid, os.getpid()})
