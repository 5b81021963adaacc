"""`thence play`: a protocol in the browser."""

from __future__ import annotations

import sys
import webbrowser
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from thence.cli.options import File, Json, MutantName, Processes, ScopeName, Sends, SettingTexts
from thence.cli.output import AS_EXPECTED, BadInput, Output
from thence.cli.recorded_steps import recorded_steps
from thence.cli.session import Session, check_writable, run_command, write_text


@dataclass(frozen=True, slots=True)
class _Place:
    """The port of the server; whether a browser is opened."""

    port: int
    browser: bool


def play(
    file: File,
    scope: ScopeName = None,
    processes: Processes = None,
    sends: Sends = None,
    mutant: MutantName = None,
    setting: SettingTexts = None,
    scenario: Annotated[Optional[str], typer.Option(help="A scenario of the file.")] = None,  # noqa: UP045
    replayed: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--replay",
            help="Begin with the counterexample in this JSON file, from --json of explore, or with a list of steps.",
        ),
    ] = None,
    html: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Write the run to this file, as a page that needs no server, and serve nothing."),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port. By default, a free one.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")] = True,
    json: Json = False,
) -> None:
    """Serves the player to the browser of this machine, until Ctrl-C."""
    asked: dict[str, Any] = {
        "scope": scope, "processes": processes, "sends": sends, "mutant": mutant, "settings": setting,
        "scenario": scenario,
    }  # fmt: skip
    start = {name: value for name, value in asked.items() if value is not None}
    if scenario is not None and (len(start) > 1 or replayed is not None):
        alone = f"--scenario {scenario} stands alone: a scenario says itself what happens among whom"
        run_command("play", json, lambda session: _refused(alone))
    if html is not None:
        run_command("play", json, lambda session: _written(file, start, replayed, html))
    run_command("play", json, lambda session: _served(session, file, start, replayed, _Place(port, browser)))


def _refused(why: str) -> Output:
    raise BadInput(why)


def _written(file: str, start: Mapping[str, Any], replayed: str | None, html: str) -> Output:
    from thence.dsl.find import Rejected
    from thence.dsl.load import load
    from thence.play.single_file import single_file

    check_writable(html)
    loaded = load(file)
    if loaded.specification is None:
        raise Rejected(loaded)
    steps = None if replayed is None else recorded_steps(replayed)[0]
    write_text(html, single_file(loaded, start, steps))
    return Output(text=f"{html} written: open it in a browser")


def _served(session: Session, file: str, start: Mapping[str, Any], replayed: str | None, place: _Place) -> Output:
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
    steps = {} if replayed is None else {"steps": recorded_steps(replayed)[0]}
    loaded = backend.call("load", {"text": text, "name": name})
    if loaded["summary"] is not None and (start or steps or loaded["summary"]["protocols"]):
        begun = backend.call("start", {"spec": loaded["spec"], **start, **steps})
        if "error" in begun:
            raise BadInput(begun["error"]["message"])
    try:
        server = Server(Served({"name": name, "start": start, **steps}, backend), place.port)
    except OSError as error:
        raise BadInput(f"--port {place.port}: {error.strerror or error}") from error
    with server:
        out = sys.stderr if session.json else sys.stdout
        print(f"{name} is played at {server.address}\nCtrl-C ends it.", file=out, flush=True)
        if place.browser:
            webbrowser.open(server.address)
        with suppress(KeyboardInterrupt):
            server.serve_forever(poll_interval=0.2)
    return Output(exit=AS_EXPECTED)
