"""`thence repl`: a protocol stepped through by hand."""

from __future__ import annotations

import sys

from thence.api.running import Manner, ran
from thence.api.specifications import load
from thence.api.targets import Choice
from thence.cli.options import File, Json, MutantName, OneScope, Processes, Sends, SettingTexts
from thence.cli.output import AS_EXPECTED, REFUTED, Output
from thence.cli.session import Session, run_command
from thence.repl.loop import Place, talk
from thence.repl.terminal import prepare


def repl(
    file: File,
    scope: OneScope = None,
    processes: Processes = None,
    sends: Sends = None,
    mutant: MutantName = None,
    setting: SettingTexts = None,
    json: Json = False,
) -> None:
    """Answers commands from a terminal, or from a pipe."""
    choice = Choice(file, scope, processes, sends, mutant, tuple(setting or ()))
    run_command("repl", json, lambda session: _talked(session, choice))


def _talked(session: Session, choice: Choice) -> Output:
    """The commands, answered. From a pipe: 1 where the run violates what the protocol promises, 2 for a command that
    cannot be done. In a terminal the end is always 0."""
    terminal = sys.stdin.isatty()
    ended = talk(Place(load(choice.file), choice), sys.stderr if session.json else sys.stdout, prepare=prepare)
    if ended.failure is not None:
        raise ended.failure
    result = ran(ended.target, Manner(replay=ended.session.recorded(), about=ended.refuted))
    code = REFUTED if ended.refuted and not terminal else AS_EXPECTED
    return Output((result,), exit=code, table=False)
