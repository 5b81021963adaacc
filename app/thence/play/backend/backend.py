"""The questions of the player and their answers: one method for each, by its name."""

from __future__ import annotations

import random
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, TypeVar

from thence.dsl import ir
from thence.dsl.find import known
from thence.dsl.load import SUFFIX, Loaded, library, load_bytes
from thence.dsl.run.narrate import replay
from thence.highlight.rules import rules
from thence.play.backend import searching
from thence.play.backend.documents import choice_document, extension, run_document, trail_document
from thence.play.backend.places import BadQuestion, Place, number_of, place_of, steps_of, text_of
from thence.play.backend.searching import Tell
from thence.play.backend.summary import diagnostic, summary
from thence.proofs.explore.exploration import Engine
from thence.spec.user_error import UserError
from thence.stepping.judging import judge, promised, properties
from thence.stepping.reasons import reason
from thence.stepping.scenario import free_name, scenario_text, with_scenario
from thence.stepping.trail import Follower

MOST_TEXTS: Final = 16
MOST_RUNS: Final = 32
MOST_RANDOM_STEPS: Final = 10_000
MOST_CHOICES: Final = 500
"""Enabled steps that an answer lists."""

SEARCHES: Final = ("explore", "find", "compare")
"""The questions that may take long: they tell how far they are."""

_Kept = TypeVar("_Kept")


class Gone(UserError):
    """A text or a run that is kept no more: it is to be given again."""


@dataclass(slots=True)
class _Run:
    loaded: Loaded
    place: Place
    follower: Follower


@dataclass(slots=True)
class Backend:
    """Keeps the texts and the runs that were asked about last.

    Attributes:
        engine: who explores.
        files: texts that can be opened by name, beside those of the library.
    """

    engine: Engine = "auto"
    files: Mapping[str, str] = field(default_factory=dict)
    _texts: OrderedDict[str, Loaded] = field(init=False, default_factory=OrderedDict)
    _runs: OrderedDict[str, _Run] = field(init=False, default_factory=OrderedDict)
    _count: int = field(init=False, default=0)

    def call(self, method: str, asked: Mapping[str, Any], tell: Tell = lambda _: None) -> dict[str, Any]:
        """The answer to a question. An error of the user's is `{"error": {"kind", "message"}}`."""
        try:
            if method in SEARCHES:
                return self._search(method, asked, tell)
            answer: Callable[[Mapping[str, Any]], dict[str, Any]] | None = self._methods().get(method)
            if answer is None:
                raise BadQuestion(f"there is no question {method}")
            return answer(asked)
        except UserError as error:
            return {"error": {"kind": type(error).__name__, "message": str(error)}}

    def _methods(self) -> Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]]:
        return {
            "about": self.about, "open": self.open, "load": self.load, "start": self.start, "take": self.take,
            "random": self.random, "enabled": self.enabled, "judge": self.judge, "trail": self.trail, "save": self.save,
            "refutation": self.refutation,
        }  # fmt: skip

    # --- texts -----------------------------------------------------------------------------------

    def about(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """The colours of the language, and the names of the files that can be opened."""
        colours = [[rule.pattern, list(rule.colours)] for rule in rules()]
        return {"rules": colours, "library": [path.stem for path in library()], "files": list(self.files)}

    def open(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """The text of a file by its name: one that the player was given, or one of the library."""
        name = text_of(asked, "name") or ""
        shipped = {path.stem: path for path in library()}
        if name in self.files:
            return {"name": name, "text": self.files[name]}
        known(name, (*self.files, *shipped), "file")
        return {"name": name, "text": shipped[name].read_text(encoding="utf-8")}

    def load(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Reads a text: its faults, and what it declares."""
        text, name = text_of(asked, "text"), text_of(asked, "name") or "text"
        if text is None:
            raise BadQuestion("no text is given")
        identity = _identity(name, text)
        try:
            there = self._texts.get(identity)
            loaded = load_bytes(Path(name), text.encode("utf-8", "surrogatepass")) if there is None else there
        except UserError as error:
            return {"spec": None, "diagnostics": [], "summary": None, "empty": str(error)}
        _keep(self._texts, identity, loaded, MOST_TEXTS)
        found = [diagnostic(each) for each in loaded.diagnostics]
        return {"spec": identity, "diagnostics": found, "summary": summary(loaded)}

    def keep(self, loaded: Loaded) -> None:
        """Has this file already read, under its name without the ending."""
        name = loaded.path.name.removesuffix(SUFFIX)
        _keep(self._texts, _identity(name, loaded.source.text), replace(loaded, path=Path(name)), MOST_TEXTS)

    def _loaded(self, asked: Mapping[str, Any]) -> Loaded:
        return _kept(self._texts, text_of(asked, "spec"), "text")

    def _content(self, asked: Mapping[str, Any]) -> tuple[Loaded, ir.Specification]:
        loaded = self._loaded(asked)
        if loaded.specification is None:
            raise BadQuestion("the text has errors")
        return loaded, loaded.specification

    # --- runs ------------------------------------------------------------------------------------

    def start(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Begins a run; `steps` are taken at once. A scenario is played to its end."""
        loaded, content = self._content(asked)
        place = place_of(content, str(loaded.path), asked)
        if "steps" in asked:
            recorded = [dict(step) for step in steps_of(asked)]
            place.session.steps = list(replay(place.session.system, recorded))
        run = _Run(loaded, place, Follower.of(place.session.system))
        self._count += 1
        identity = f"run{self._count}"
        _keep(self._runs, identity, run, MOST_RUNS)
        return {"session": identity, **run_document(place, run.follower)}

    def _run(self, asked: Mapping[str, Any]) -> tuple[_Run, int]:
        run = _kept(self._runs, text_of(asked, "session"), "run")
        length = len(run.place.session.steps)
        return run, number_of(asked, "at", 0, length, length)

    def take(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Goes back to a step of the run, and takes the enabled step of this number from there."""
        run, at = self._run(asked)
        session = run.place.session
        number = number_of(asked, "number", 1, 10**9, 1)
        forked = session.until(at)
        forked.take(number)
        session.back(len(session.steps) - at)
        session.take(number)
        return extension(session, run.follower, at)

    def random(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Goes back to a step of the run, and takes so many steps at random, up to a violation of a promise."""
        run, at = self._run(asked)
        session = run.place.session
        session.back(len(session.steps) - at)
        draw = random.Random(number_of(asked, "seed", 0, 2**53, 0))
        promises = {*promised(session)}
        ends = asked.get("on") is not True
        for _ in range(number_of(asked, "count", 1, MOST_RANDOM_STEPS, 100)):
            before = {finding.property for finding in session.broken(session.state)}
            step = session.take_random(draw)
            if step is None:
                break
            found = {finding.property for finding in (*step.outcome.findings, *session.broken(session.state))}
            if ends and (found - before) & promises:
                break
        return extension(session, run.follower, at)

    def enabled(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """The steps that can be taken after a step of the run."""
        run, at = self._run(asked)
        choices = run.place.session.until(at).choices
        return {"choices": [choice_document(each) for each in choices[:MOST_CHOICES]], "count": len(choices)}

    def judge(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """What the properties say of the run as far as a step; `all`: also those that the protocol does not promise."""
        run, at = self._run(asked)
        session = run.place.session.until(at)
        protocol = session.system.protocol
        claimed = promised(session)
        names = properties(session) if asked.get("all") is True else (*claimed, *protocol.witnesses)
        formulas = {one.name: one for one in protocol.invariants}
        answers = []
        for name in dict.fromkeys(names):
            found = judge(session, name)
            answer: dict[str, Any] = {
                "property": name, "standing": found.standing, "step": found.step, "why": found.why, "here": found.here,
                "claimed": name in claimed, "witness": name in protocol.witnesses, "line": None, "reason": None,
            }  # fmt: skip
            if name in formulas:
                formula = formulas[name]
                answer["line"] = formula.span.line
                last = session.steps[-1] if session.steps else None
                why = reason(session.system, session.state, formula, last)
                if why is not None:
                    answer["reason"] = {
                        "witness": [list(pair) for pair in why.witness],
                        "part": why.part,
                        "holds": why.holds,
                        "values": [list(pair) for pair in why.values],
                        "line": why.span.line,
                    }
            answers.append(answer)
        return {"at": at, "answers": answers}

    def refutation(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """The sentence that the run refutes `property`, and why; its last `cycle` steps are repeated for ever.

        What is no property of the protocol, such as a link, is said to be refuted without a reason.
        """
        run, at = self._run(asked)
        name, cycle = text_of(asked, "property") or "", number_of(asked, "cycle", 0, at, 0)
        session = run.place.session.until(at)
        found = judge(session, name) if name in properties(session) else None
        why = found.why if found is not None and found.standing == "violated" else ""
        if not why and cycle:
            why = f"the {'steps in the frame are' if cycle > 1 else 'step in the frame is'} repeated for ever"
        return {"said": f"{name} is refuted: {why}" if why else f"{name} is refuted by this run"}

    def trail(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """The way of the step that leads to `at` through the text."""
        run, at = self._run(asked)
        session = run.place.session
        if at == 0:
            raise BadQuestion("no step leads to the beginning")
        before = session.steps[at - 2].outcome.state if at > 1 else session.system.initial()
        return trail_document(run.follower.trail(before, session.steps[at - 1].action))

    def save(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """The run as far as a step as the text of a scenario, and its name: another where the file has one of this
        name. Playing it makes the same steps."""
        run, at = self._run(asked)
        session, name = run.place.session.until(at), free_name(run.loaded, text_of(asked, "name") or "played")
        with_scenario(session, run.loaded, name)
        return {"text": scenario_text(session, name), "name": name}

    # --- searches --------------------------------------------------------------------------------

    def _search(self, method: str, asked: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
        loaded = self._loaded(asked)
        match method:
            case "explore":
                return searching.explore(loaded, asked, self.engine, tell)
            case "find":
                return searching.find(loaded, asked, self.engine, tell)
            case _:
                return searching.compare(loaded, asked, self.engine, tell)


def _identity(name: str, text: str) -> str:
    return sha256(f"{name}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()[:24]


def _keep(kept: OrderedDict[str, _Kept], identity: str, thing: _Kept, most: int) -> None:
    kept[identity] = thing
    kept.move_to_end(identity)
    while len(kept) > most:
        kept.popitem(last=False)


def _kept(kept: OrderedDict[str, _Kept], identity: str | None, what: str) -> _Kept:
    if identity is None:
        raise BadQuestion(f"no {what} is named")
    if identity not in kept:
        raise Gone(f"the {what} is kept no more")
    kept.move_to_end(identity)
    return kept[identity]
