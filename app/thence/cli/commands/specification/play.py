"""`thence play`: a protocol in the browser."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from thence.cli.options import (
    Exec,
    Impl,
    Json,
    MutantName,
    Processes,
    Sends,
    SettingTexts,
    TrustFile,
)
from thence.cli.output import AS_EXPECTED, BadInput, Output
from thence.cli.recorded_steps import recorded_steps
from thence.cli.session import Session, check_writable, run_command, write_text

if TYPE_CHECKING:
    from thence.play.server import Served


@dataclass(frozen=True, slots=True)
class _System:
    """The system that a recorded case is run with, and the protocol beside it, where they are not the file's own."""

    impl: str | None = None
    exec: str | None = None
    against: str | None = None
    trusted: bool = False


@dataclass(frozen=True, slots=True)
class _Recording:
    """A recorded case or execution in a file; `given` are options that do not fit."""

    file: str
    kind: str
    system: _System
    given: Sequence[str]


def kind_of_file(file: str) -> str:
    """What the name of a file means: a `specification`, a `recorded case`, or a `recorded execution`."""
    path = Path(file)
    if path.suffix == ".thence" or not path.is_file():
        return "specification"
    try:
        with path.open("rb") as opened:
            head = opened.read(4096)
    except OSError:
        return "specification"
    return "recorded case" if b'"thence-case/' in head else "recorded execution"


@dataclass(frozen=True, slots=True)
class _Place:
    """The port of the server; whether a browser is opened."""

    port: int
    browser: bool


PlayedFile = Annotated[
    str,
    typer.Argument(
        help="A .thence file, the bare name of a library file, a recorded case of conform, or a recorded execution."
    ),
]


def play(
    file: PlayedFile,
    scope: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="A scope of the file. By default, the first whose runs end."),
    ] = None,
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
        typer.Option(help="Write the run to this file, as a page that needs no server, and start no server."),
    ] = None,
    against: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="For a recorded case: the protocol to show beside it, in place of the one that it names."),
    ] = None,
    impl: Impl = None,
    exec_: Exec = None,
    trust_file: TrustFile = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port. By default, a free one.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Whether a browser is opened.")] = True,
    json: Json = False,
) -> None:
    """Serves the player to the browser of this machine, until Ctrl-C."""
    place, system, kind = _Place(port, browser), _System(impl, exec_, against, trust_file), kind_of_file(file)
    asked: dict[str, Any] = {
        "scope": scope, "processes": processes, "sends": sends, "mutant": mutant, "settings": setting,
        "scenario": scenario,
    }  # fmt: skip
    start = {name: value for name, value in asked.items() if value is not None}
    if kind != "specification":
        given = [f"--{name.removesuffix('s')}" for name in (*start, *(("replay",) if replayed else ()))]
        recording = _Recording(file, kind, system, given)
        run_command("play", json, lambda session: _recorded(session, recording, html, place))
    if system != _System():
        fit = f"{file} is a specification: --impl, --exec, --against and --trust-file are for recorded cases"
        run_command("play", json, lambda session: _refused(fit))
    if scenario is not None and (len(start) > 1 or replayed is not None):
        alone = f"--scenario {scenario} stands alone: a scenario says itself what happens among whom"
        run_command("play", json, lambda session: _refused(alone))
    if html is not None:
        run_command("play", json, lambda session: _written(file, start, replayed, html))
    run_command("play", json, lambda session: _served(session, file, start, replayed, place))


def _refused(why: str) -> Output:
    raise BadInput(why)


def _written(file: str, start: Mapping[str, Any], replayed: str | None, html: str) -> Output:
    from thence.dsl.find import Rejected
    from thence.dsl.load import load
    from thence.play.single_file import single_file

    if replayed is None and "scenario" not in start:
        raise BadInput(
            f"--html {html} is for a run: name one by --scenario or --replay, or let `thence explore` write it, "
            "with its --html"
        )
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
    from thence.play.server import Served

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
    return _serve(session, name, Served({"name": name, "start": start, **steps}, backend), place)


def _serve(session: Session, name: str, served: Served, place: _Place) -> Output:
    """Serves until Ctrl-C."""
    from thence.play.server import Server

    try:
        server = Server(served, place.port)
    except OSError as error:
        hint = "; without --port, a free one is taken" if place.port else ""
        raise BadInput(f"--port {place.port}: {error.strerror or error}{hint}") from error
    with server:
        out = sys.stderr if session.json else sys.stdout
        print(f"{name} is played at {server.address}\nCtrl-C ends it.", file=out, flush=True)
        if place.browser and _has_windows():
            webbrowser.open(server.address)
        with suppress(KeyboardInterrupt):
            server.serve_forever(poll_interval=0.2)
    return Output(exit=AS_EXPECTED)


def _has_windows() -> bool:
    """Whether a browser has somewhere to open a window; one for terminals would take ours."""
    return sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def _recorded(session: Session, recording: _Recording, html: str | None, place: _Place) -> Output:
    """A recorded case or execution: written to a file, or served."""
    from thence.play.backend.backend import Backend
    from thence.play.server import Served

    if recording.given:
        raise BadInput(f"{', '.join(recording.given)}: {recording.file} is a {recording.kind}, which has no scopes")
    check_writable(html)
    shown = _case(recording) if recording.kind == "recorded case" else _execution(recording)
    if html is not None:
        write_text(html, shown)
        return Output(text=f"{html} written: open it in a browser")
    return _serve(session, Path(recording.file).name, Served({}, Backend(), whole=shown), place)


def _execution(recording: _Recording) -> str:
    from thence.play.recording import played_file

    if recording.system != _System():
        said = "is a recorded execution: nothing is run; leave --impl, --exec and --against out"
        raise BadInput(f"{recording.file} {said}")
    return played_file(Path(recording.file))


def _case(recording: _Recording) -> str:
    from thence.cli.recorded_cases import read_recorded
    from thence.cli.subjects import subject_name
    from thence.play.recording import played_case

    given = recording.system
    system = subject_name(given.impl, given.exec, None, given.against, needed=False)
    case = read_recorded(recording.file, given.against, system, given.trusted)
    return played_case(case, Path(recording.file).name)
