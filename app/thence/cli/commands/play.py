"""`thence play`: a protocol in the browser."""

from __future__ import annotations

import sys
import webbrowser
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from thence.cli.options import File, Json, MutantName, Processes, ScopeName, Sends, SettingTexts
from thence.cli.output import AS_EXPECTED, BadInput, Output
from thence.cli.session import Session, run_command


def play(
    file: File,
    scope: ScopeName = None,
    processes: Processes = None,
    sends: Sends = None,
    mutant: MutantName = None,
    setting: SettingTexts = None,
    scenario: Annotated[Optional[str], typer.Option(help="A scenario of the file.")] = None,  # noqa: UP045
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port. By default, a free one.")] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the browser. By default, it is opened.")
    ] = True,
    json: Json = False,
) -> None:
    """Serves the player to this machine's browser, until Ctrl-C."""
    asked: dict[str, Any] = {
        "scope": scope, "processes": processes, "sends": sends, "mutant": mutant, "settings": setting,
        "scenario": scenario,
    }  # fmt: skip
    start = {name: value for name, value in asked.items() if value is not None}
    run_command("play", json, lambda session: _served(session, file, start, port, browser))


def _served(session: Session, file: str, start: Mapping[str, Any], port: int, browser: bool) -> Output:
    from thence.dsl.load import locate, read_source
    from thence.dsl.text.parse import decode
    from thence.play.backend.backend import Backend
    from thence.play.server import Served, Server

    path = locate(file)
    content, size = read_source(path)
    text, faults = decode(content, str(path), size)
    if text is None:
        raise BadInput(f"{path}: {faults[0].message}")
    name = Path(file).name if path == Path(file) else file
    backend = Backend(files={name: text})
    loaded = backend.call("load", {"text": text, "name": name})
    if loaded["summary"] is not None and (start or loaded["summary"]["protocols"]):
        begun = backend.call("start", {"spec": loaded["spec"], **start})
        if "error" in begun:
            raise BadInput(begun["error"]["message"])
    try:
        server = Server(Served({"name": name, "start": start}, backend), port)
    except OSError as error:
        raise BadInput(f"--port {port}: {error.strerror or error}") from error
    with server:
        out = sys.stderr if session.json else sys.stdout
        print(f"{name} is played at {server.address}\nCtrl-C ends it.", file=out, flush=True)
        if browser:
            webbrowser.open(server.address)
        with suppress(KeyboardInterrupt):
            server.serve_forever(poll_interval=0.2)
    return Output(exit=AS_EXPECTED)
