"""A run in one file: the player with that run in it. It opens from a disk, and asks nobody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from thence.api.targets import Target
from thence.dsl.check.workloads.kind import kind_of
from thence.dsl.check.workloads.settings import lines_of
from thence.dsl.load import Loaded, library
from thence.play.backend.backend import Backend
from thence.play.page import page
from thence.spec.user_error import UserError
from thence.spec.verdict import Result

MOST_JUDGED: Final = 200
"""Steps of a run in which each state is judged; of a longer one only the last is."""


class NotKept(UserError):
    """The run cannot be kept; the message says why."""


def start_of(target: Target) -> dict[str, Any]:
    """The beginning of the runs of a target, as the player is asked for it."""
    protocol, _, mutant = target.subject.partition("/")
    subject = {"mutant": mutant} if mutant else {"protocol": protocol}
    if target.scope is not None:
        return {**subject, "scope": target.scope}
    settings = list(lines_of(target.workload, kind_of(target.protocol)))
    return {**subject, "processes": target.workload.processes, "settings": settings}


def cycle_of(result: Result) -> int:
    """How many of the last steps of a counterexample are repeated for ever; 0: the run ends."""
    lasso = result.facts.get("lasso")
    return int(lasso["cycle"]) if isinstance(lasso, Mapping) else 0


def single_file(
    loaded: Loaded,
    start: Mapping[str, Any],
    steps: Sequence[Mapping[str, Any]] | None = None,
    cycle: int = 0,
    refuted: str = "",
) -> str:
    """The player with one run: of the recorded steps, or where there are none, what begins there.

    `refuted` is the property whose counterexample it is; empty: it is none.

    Raises:
        NotKept: the file, the beginning or a step is at fault.
    """
    config = config_of(Backend(), loaded, start, steps, cycle, refuted)
    run = config["kept"]["run"]
    return page(config, title=f"{run['scenario'] or run['subject']}: Thence player")


def config_of(
    backend: Backend,
    loaded: Loaded,
    start: Mapping[str, Any],
    steps: Sequence[Mapping[str, Any]] | None = None,
    cycle: int = 0,
    refuted: str = "",
) -> dict[str, Any]:
    """The configuration of the page with one run, as `single_file`. The backend keeps the text from run to run."""
    name = loaded.path.name.removesuffix(".thence")
    text = loaded.source.text
    spec = _answer(backend, "load", {"text": text, "name": name})
    given = {} if steps is None else {"steps": [dict(step) for step in steps]}
    run = _answer(backend, "start", {"spec": spec["spec"], **start, **given})
    session, length = run.pop("session"), len(run["steps"])
    first = 0 if length <= MOST_JUDGED else length
    judged: list[dict[str, Any] | None] = [None] * first
    judged += [_answer(backend, "judge", {"session": session, "at": at}) for at in range(first, length + 1)]
    for at, step in enumerate(run["steps"], 1):
        if "trail" not in step:
            step["trail"] = _answer(backend, "trail", {"session": session, "at": at})
    asked = {"session": session, "property": refuted, "cycle": cycle}
    said = _answer(backend, "refutation", asked)["said"] if refuted else ""
    file = name if loaded.path in library() else loaded.path.name
    command = " ".join(["thence play", file, *_options(start)])
    kept = {
        "rules": backend.about({})["rules"], "name": name, "text": text, "summary": spec["summary"], "judged": judged,
        "command": command, "run": {**run, "cycle": cycle}, "said": said,
    }  # fmt: skip
    return {
        "mode": "kept",
        "name": name,
        "at": length,
        "start": dict(start),
        "command": command,
        "kept": kept,
        "refuted": bool(refuted),
    }


def _answer(backend: Backend, method: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    answer = backend.call(method, asked)
    if "error" in answer:
        raise NotKept(answer["error"]["message"])
    if method == "load" and answer["summary"] is None:
        raise NotKept("the text has errors")
    return answer


def _options(start: Mapping[str, Any]) -> list[str]:
    """The options of a command line that begins there."""
    named = [f"--{name} {start[name]}" for name in ("mutant", "scope", "scenario", "processes") if start.get(name)]
    return named + [f"--setting '{line}'" for line in start.get("settings", ()) if not line.startswith("processes ")]
