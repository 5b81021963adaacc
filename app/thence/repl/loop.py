"""The loop: a line, what it asks for, an answer."""

from __future__ import annotations

import cmd
import random
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TextIO

from thence.api.exploring import explored
from thence.api.specifications import Specification
from thence.api.targets import Choice, Target, targets
from thence.dsl.find import known
from thence.dsl.run.narrate import text
from thence.proofs.scopes.scopes import Options, judgeable
from thence.repl import words
from thence.spec.diagram import draw_text
from thence.spec.events import printable
from thence.spec.user_error import UserError
from thence.spec.words import counted
from thence.stepping.judging import judge, properties, violated
from thence.stepping.scenario import scenario_text, with_scenario
from thence.stepping.session import NotPossible, Session

PROMPT: Final = "> "


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a loop.

    Attributes:
        session: the run as it stood.
        target: the protocol and scope that it was made in.
        failure: the command from a pipe that could not be done ended it: why.
    """

    session: Session
    target: Target
    failure: UserError | None = None

    @property
    def refuted(self) -> tuple[str, ...]:
        """What the protocol promises and the run violates."""
        return tuple(answer.property for answer in violated(self.session))


@dataclass(slots=True)
class Place:
    """The specification, what was chosen of it, and the run in it."""

    specification: Specification
    choice: Choice
    target: Target = field(init=False)
    session: Session = field(init=False)

    def __post_init__(self) -> None:
        self.begin(targets(self.choice, self.specification.content)[0])

    def begin(self, target: Target) -> None:
        """A run of this protocol in this scope, from its beginning."""
        self.target = target
        self.session = Session(target.subject, target.protocol, target.workload)


class Loop(cmd.Cmd):
    """The commands, one method each. In a terminal a command that cannot be done is said to be so; from a pipe it is
    the end. Ctrl-C gives up the line, or what is being explored."""

    def __init__(self, place: Place, lines: TextIO, out: TextIO, *, terminal: bool) -> None:
        super().__init__(stdin=lines, stdout=out)
        self.place = place
        self.terminal = terminal
        self.use_rawinput = terminal
        self.prompt = PROMPT if terminal else ""
        self.failure: UserError | None = None

    @property
    def session(self) -> Session:
        """The run."""
        return self.place.session

    def run(self) -> Ended:
        """Answers lines until the end."""
        self._begun()
        while True:
            try:
                self.cmdloop()
                break
            except KeyboardInterrupt:
                if not self.terminal:
                    raise
                self.say("")
        ended = Ended(self.session, self.place.target, self.failure)
        if not self.terminal and self.failure is None and ended.refuted:
            self.say(f"violated: {', '.join(ended.refuted)}")
        return ended

    # --- lines -----------------------------------------------------------------------------------

    def precmd(self, line: str) -> str:
        """From a pipe the line is shown, so that what was answered can be read. `#` begins a comment."""
        if not self.terminal and line != "EOF":
            self.say(f"{PROMPT}{line}".rstrip())
        return line.partition("#")[0].strip()

    def onecmd(self, line: str) -> bool:
        """Answers one line; True at the end."""
        try:
            return bool(super().onecmd(self._completed(line)))
        except UserError as error:
            if self.terminal:
                self.say(str(error))
            else:
                self.failure = error
            return not self.terminal

    def _completed(self, line: str) -> str:
        """The line with its command written out, where it is cut short and only one is meant."""
        word, _, rest = line.partition(" ")
        if not word.isalpha() or hasattr(self, f"do_{word}"):
            return line
        meant = [name for name in _COMMANDS if name.startswith(word)]
        return f"{meant[0]} {rest}".strip() if len(meant) == 1 else line

    def emptyline(self) -> bool:
        """An empty line lists the steps; in a pipe it is nothing."""
        if self.terminal:
            self.do_list("")
        return False

    def default(self, line: str) -> None:
        """A line that begins with no command: numbers of steps, or a mistake."""
        parts = line.split()
        if parts and all(part.isdecimal() for part in parts):
            for part in parts:
                self._made([self.session.take(int(part))])
            self._next()
            return
        word = parts[0] if parts else line
        meant = [name for name in _COMMANDS if name.startswith(word)]
        if len(meant) > 1:
            raise NotPossible(f"{word} can be {' or '.join(meant)}")
        known(word, _COMMANDS, "command")
        raise NotPossible(f"{line}: write the number of a step, or help")

    def say(self, line: str) -> None:
        """One line of the answer. Names come from files, and may hold what a terminal takes as an order."""
        self.stdout.write("\n".join("\t".join(map(printable, row.split("\t"))) for row in line.split("\n")) + "\n")
        self.stdout.flush()

    def _say_all(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.say(line)

    def _begun(self) -> None:
        name = self.place.target.scope
        self.say(f"{self.session.subject}{f', scope {name}' if name else ''}; help says what can be asked")
        self.do_list("")

    def _made(self, steps: Sequence[object]) -> None:
        first = len(self.session.steps) - len(steps) + 1
        for number, step in enumerate(self.session.steps[first - 1 :], first):
            self._say_all(words.made(number, step))

    def _next(self) -> None:
        if self.terminal:
            self._say_all(words.choices(self.session))
        elif self.session.at_rest:
            self.say("nothing can happen any more")

    # --- steps -----------------------------------------------------------------------------------

    def do_list(self, line: str) -> None:
        """list: the steps that can be taken now."""
        self._say_all(words.choices(self.session))

    def do_take(self, line: str) -> None:
        """take NUMBER: takes a step."""
        self.default(line if line.split() else "take")

    def do_random(self, line: str) -> None:
        """random [N] [SEED]: takes N steps at random."""
        count, seed = _numbers(line, "random [N] [SEED]", 2, (1, None))
        draw = random.Random(seed)
        for _ in range(count or 0):
            step = self.session.take_random(draw)
            if step is None:
                break
            self._made([step])
        self._next()

    def do_back(self, line: str) -> None:
        """back [N]: takes N steps back."""
        (count,) = _numbers(line, "back [N]", 1, (1,))
        for step in reversed(self.session.back(count or 0)):
            self.say(f"taken back: {step.title}")
        self._next()

    def do_restart(self, line: str) -> None:
        """restart: back to the beginning."""
        self.session.back(len(self.session.steps))
        self._next()

    # --- where the run stands ----------------------------------------------------------------------

    def do_changed(self, line: str) -> None:
        """changed: what the last step changed and sent."""
        if not self.session.steps:
            raise NotPossible("no step was taken yet")
        self._made(self.session.steps[-1:])

    def do_flight(self, line: str) -> None:
        """flight: packets on their way, messages not delivered yet."""
        self._say_all(words.flight(self.session))

    def do_state(self, line: str) -> None:
        """state [P]: the variables of process P."""
        (process,) = _numbers(line.strip().removeprefix("p"), "state [P]", 1, (None,))
        everyone = range(self.session.workload.processes)
        self._say_all(words.state(self.session, everyone if process is None else (process,)))

    def do_says(self, line: str) -> None:
        """says [PROPERTY]: what a property says of the run."""
        for name in line.split() or properties(self.session):
            self.say(words.answer(judge(self.session, name)))

    def do_steps(self, line: str) -> None:
        """steps: the run so far."""
        self.say(text(self.session.steps) or "no step was taken yet")

    def do_diagram(self, line: str) -> None:
        """diagram: the run as a space-time diagram."""
        observed = self.session.execution
        self.say(draw_text(observed) if observed.events else "nothing to be seen has happened yet")

    # --- other runs --------------------------------------------------------------------------------

    def do_counterexample(self, line: str) -> None:
        """counterexample [PROPERTY]: explores the scope, and goes to the end of the counterexample."""
        target = self.place.target
        names = tuple(line.split())
        for name in names:
            known(name, judgeable(target.protocol, target.workload), "property")
        found = explored([target], names, Options())
        shown = next((each for each in found if each.counterexample), None)
        if not found.complete:
            self.say("interrupted: nothing is known")
        elif shown is None:
            self._say_all(f"{each.name.rpartition(': ')[2]}: {each.verdict.value}, no counterexample" for each in found)
        else:
            steps = self.session.follow(shown.steps)
            self.say(f"{shown.property_} is {shown.verdict.value}: {counted(len(steps), 'step')} to its counterexample")
            self.say(text(steps))

    def do_scope(self, line: str) -> None:
        """scope [NAME]: begins again in this scope, or lists the scopes."""
        content = self.place.specification.content
        own = [one for one in content.scopes if one.protocol == self.session.subject.partition("/")[0]]
        if not line.strip():
            here = self.place.target.scope
            self._say_all(f"{one.name}{' (here)' if one.name == here else ''}" for one in own)
            if not own:
                self.say("the file states no scope")
            return
        known(line.strip(), tuple(one.name for one in own), "scope")
        choice = Choice(self.place.choice.file, line.strip(), mutant=self.place.choice.mutant)
        self.place.begin(targets(choice, content)[0])
        self._begun()

    def do_save(self, line: str) -> None:
        """save NAME [FILE]: the run as a scenario."""
        parts = line.split()
        if not 1 <= len(parts) <= 2:
            raise NotPossible("save NAME, or save NAME FILE")
        name = parts[0]
        written = with_scenario(self.session, self.place.specification.loaded, name)
        if len(parts) == 1:
            self.say(scenario_text(self.session, name).rstrip())
            return
        path = Path(parts[1])
        own = self.place.specification.loaded.path
        if path.exists() and not (own.exists() and path.samefile(own)):
            raise NotPossible(f"{path} exists, and is another file: name a new one, or the specification's own")
        try:
            path.write_text(written, encoding="utf-8")
        except OSError as error:
            raise NotPossible(f"{path} cannot be written: {error.strerror or error}") from error
        self.say(f"{path} written; thence run {path} --scenario {name} plays it")

    # --- the end ---------------------------------------------------------------------------------

    def do_help(self, line: str) -> None:
        """help: what can be asked."""
        self.say(words.HELP)

    def do_quit(self, line: str) -> bool:
        """quit: the end."""
        return True

    def do_EOF(self, line: str) -> bool:
        """The end of the input."""
        if self.terminal:
            self.say("")
        return True

    # --- completion ------------------------------------------------------------------------------

    def completenames(self, text: str, *ignored: object) -> list[str]:
        """The commands that begin so."""
        return [name for name in _COMMANDS if name.startswith(text)]

    def complete_says(self, text: str, *ignored: object) -> list[str]:
        """The properties that begin so."""
        return [name for name in properties(self.session) if name.startswith(text)]

    complete_counterexample = complete_says

    def complete_scope(self, text: str, *ignored: object) -> list[str]:
        """The scopes that begin so."""
        return [name for name in self.place.specification.scopes if name.startswith(text)]

    def complete_state(self, text: str, *ignored: object) -> list[str]:
        """The processes that begin so."""
        names = [f"p{process}" for process in range(self.session.workload.processes)]
        return [name for name in names if name.startswith(text)]


_COMMANDS: Final = (
    "list", "take", "random", "back", "restart", "changed", "flight", "state", "says", "steps", "diagram",
    "counterexample", "scope", "save", "help", "quit",
)  # fmt: skip


def _numbers(line: str, form: str, most: int, defaults: tuple[int | None, ...]) -> tuple[int | None, ...]:
    """The numbers of a line. Raises: NotPossible for anything else."""
    parts = line.split()
    if len(parts) > most or not all(part.isdecimal() for part in parts):
        raise NotPossible(f"{line.strip()}: write {form}")
    given: list[int | None] = [int(part) for part in parts]
    return (*given, *defaults[len(given) :])


def talk(place: Place, out: TextIO, *, prepare: Callable[[], None] | None = None) -> Ended:
    """Answers the lines of standard input, at a prompt where it is a terminal. `prepare` is called in a terminal."""
    terminal = sys.stdin.isatty() and out is sys.stdout and sys.stdout.isatty()
    if terminal and prepare is not None:
        prepare()
    return Loop(place, sys.stdin, out, terminal=terminal).run()
