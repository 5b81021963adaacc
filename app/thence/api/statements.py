"""What was found out: statements with their verdicts, and the results of one call.

A statement has the fields of the JSON object of `thence --json` (docs/reference/json.md): those that all have as
attributes, the others as properties, or by name in `facts`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Generic, NoReturn, Self, TypeVar, overload

from thence.api.rendering import statement_html, table_html
from thence.spec.verdict import Result, Verdict, exit_code

_UNKNOWN = 3
_REFUTED = 1


@dataclass(frozen=True, slots=True)
class Statement(Result):
    """One statement and its verdict. A notebook shows it with its counterexample as a space-time diagram.

    `facts` has all fields that apply, by the names of docs/reference/json.md.
    """

    @classmethod
    def of(cls, result: Result) -> Self:
        """The result as a statement."""
        return cls(**{each.name: getattr(result, each.name) for each in fields(Result)})

    def __bool__(self) -> NoReturn:
        """A statement is neither true nor false: whoever asks wants to know whether it holds."""
        raise TypeError("a statement is neither true nor false; ask .holds, .refuted or .expected")

    @property
    def holds(self) -> bool:
        """Whether it is proved, holds in its scope, or was tested without a failure."""
        return self.verdict in (Verdict.PROVED, Verdict.HOLDS, Verdict.TESTED)

    @property
    def refuted(self) -> bool:
        """Whether there is a counterexample."""
        return self.verdict is Verdict.REFUTED

    @property
    def unknown(self) -> str | None:
        """What was tried, and why it did not decide; None where there is a verdict."""
        return self._text("unknown")

    @property
    def counterexample(self) -> Any | None:
        """The counterexample as JSON values, if there is one; `explanation` has it for readers."""
        return self.facts.get("counterexample")

    def row(self) -> dict[str, Any]:
        """The fields that are texts, numbers and truth values, by name: a row of a table."""
        return {name: value for name, value in self.to_json().items() if isinstance(value, str | int | float)}

    def _text(self, name: str) -> str | None:
        found = self.facts.get(name)
        return None if found is None else str(found)

    def _number(self, name: str) -> int | None:
        found = self.facts.get(name)
        return found if isinstance(found, int) else None

    def _rate(self, name: str) -> float | None:
        found = self.facts.get(name)
        return float(found) if isinstance(found, int | float) else None

    @property
    def line(self) -> str:
        """Subject, statement, verdict and level; and whether the file states another verdict."""
        said = f"{self.subject}  {self.name}: {self.verdict.value} ({self.level.name})"
        if self.facts.get("claimed") is False:
            return f"{said}, not claimed"
        return said if self.expected or self.wanted is None else f"{said}, expected: {self.wanted.value}"

    def __str__(self) -> str:
        return f"{self.line}\n{self.explanation}" if self.explanation else self.line

    def _repr_html_(self) -> str:
        return statement_html(self)

    def _repr_svg_(self) -> str | None:
        """The space-time diagram, where there is one."""
        return self.picture or None


@dataclass(frozen=True, slots=True)
class Explored(Statement):
    """A property of a protocol in a scope, judged over every execution there."""

    @property
    def property_(self) -> str:
        """What was judged."""
        return str(self.facts["property"])

    @property
    def scope(self) -> Mapping[str, Any]:
        """The scope, by the names of docs/reference/json.md; `settings` says everything."""
        found: Mapping[str, Any] = self.facts["scope"]
        return found

    @property
    def states(self) -> int | None:
        """Different states that were visited."""
        return self._number("states")

    @property
    def transitions(self) -> int | None:
        """Steps between them."""
        return self._number("transitions")

    @property
    def depth(self) -> int | None:
        """Steps of the longest of the shortest ways to a state."""
        return self._number("depth")

    @property
    def complete(self) -> bool:
        """Whether all states were visited, or as many as the verdict needs."""
        return bool(self.facts.get("complete"))

    @property
    def steps(self) -> tuple[Mapping[str, Any], ...]:
        """The steps of the counterexample, or of the run that reaches what is to be reached; empty without one.

        `thence.api.replay` takes them.
        """
        return tuple(self.facts.get("counterexample") or self.facts.get("steps") or ())


@dataclass(frozen=True, slots=True)
class Proved(Statement):
    """A theorem, or a statement about a machine, for any number of processes and messages."""

    @property
    def obligations(self) -> int | None:
        """How many formulas were to be proved."""
        return self._number("obligations")

    @property
    def solvers(self) -> tuple[str, ...]:
        """The solvers that decided."""
        return tuple(map(str, self.facts.get("solvers", ())))

    @property
    def assumptions(self) -> tuple[Mapping[str, Any], ...]:
        """The assumptions of a theorem, each dropped in turn."""
        return tuple(self.facts.get("assumptions", ()))


@dataclass(frozen=True, slots=True)
class Claim(Statement):
    """What an implementation claims, or what its protocol promises, tested in random schedules."""

    @property
    def claimed(self) -> bool:
        """Whether the claim is made; others are looked at all the same."""
        return bool(self.facts.get("claimed", True))

    @property
    def cases(self) -> int:
        """Schedules that were run."""
        return self._number("cases") or 0

    @property
    def failures(self) -> int:
        """How many of them refute the claim."""
        return self._number("failures") or 0

    @property
    def failure_rate_bound(self) -> float | None:
        """The part of all such schedules that fail, at most, at 95 % confidence."""
        return self._rate("failure_rate_bound")

    @property
    def findings(self) -> tuple[str, ...]:
        """What was wrong in the shortened case."""
        return tuple(map(str, self.facts.get("findings", ())))


@dataclass(frozen=True, slots=True)
class Recording(Statement):
    """A recorded execution, judged. `subject` is its file. What could not be read is unknown."""

    @property
    def causal(self) -> bool | None:
        """Whether every delivery was in causal order; None where the file could not be read."""
        return self.facts.get("causal")

    @property
    def fifo(self) -> bool | None:
        """Whether every delivery was in the order of its sender."""
        return self.facts.get("fifo")

    @property
    def stuck(self) -> bool | None:
        """Whether some message was not delivered at the end."""
        return self.facts.get("stuck")

    @property
    def duplicate(self) -> bool | None:
        """Whether some message was delivered twice."""
        return self.facts.get("duplicate")

    @property
    def conforms(self) -> str | None:
        """`conforming`, `nonconforming` or `unknown` against a protocol; None without one."""
        return self._text("conforms")


@dataclass(frozen=True, slots=True)
class Execution(Statement):
    """One run of a protocol: a simulation, a counterexample again, or a scenario."""

    @property
    def steps(self) -> tuple[Mapping[str, Any], ...]:
        """The steps, as `thence.api.replay` takes them."""
        return tuple(self.facts.get("steps") or self.facts.get("counterexample") or ())

    @property
    def violated(self) -> tuple[str, ...]:
        """The properties that the run violates."""
        return tuple(self.facts.get("violated", ()))

    @property
    def ended(self) -> str | None:
        """`violation`, `rest`, `cut` or `replayed`; None for a scenario."""
        return self._text("ended")


S_co = TypeVar("S_co", bound=Statement, covariant=True)


@dataclass(frozen=True, slots=True)
class Results(Sequence[S_co], Generic[S_co]):
    """The statements of one call, in the order of the file.

    Attributes:
        statements: each with its verdict.
        complete: False after Ctrl-C: the statements are those that were finished.
    """

    statements: tuple[S_co, ...]
    complete: bool = field(default=True, kw_only=True)

    @property
    def ok(self) -> bool:
        """Whether everything was judged, and came out as the file (or, for a system, its claims) expects."""
        return self.exit_code == 0

    @property
    def exit_code(self) -> int:
        """The exit code of the command: 0 as expected, 1 refuted or an expectation missed, 3 unknown."""
        code = exit_code(self.statements)
        return code if self.complete or code == _REFUTED else _UNKNOWN

    @property
    def unexpected(self) -> tuple[S_co, ...]:
        """The statements that did not come out as expected."""
        return tuple(each for each in self.statements if not each.expected)

    @property
    def refuted(self) -> tuple[S_co, ...]:
        """The statements with a counterexample, expected or not."""
        return tuple(each for each in self.statements if each.refuted)

    def rows(self) -> list[dict[str, Any]]:
        """A row for each statement; `pandas.DataFrame(results.rows())` is the table."""
        return [each.row() for each in self.statements]

    def to_json(self) -> dict[str, Any]:
        """As the command's `--json`: `ok`, `exit`, `complete`, `results`."""
        return {
            "ok": self.ok,
            "exit": self.exit_code,
            "complete": self.complete,
            "results": [each.to_json() for each in self.statements],
        }

    def __len__(self) -> int:
        return len(self.statements)

    @overload
    def __getitem__(self, index: int) -> S_co: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[S_co, ...]: ...
    @overload
    def __getitem__(self, index: str) -> S_co: ...
    def __getitem__(self, index: int | slice | str) -> S_co | tuple[S_co, ...]:
        """The statement at a position, or the one of a name: `two: causal`, or `causal` where one alone ends so.

        Raises:
            IndexError: there is no such position.
            KeyError: no statement has this name, or several end so.
        """
        if not isinstance(index, str):
            return self.statements[index]
        named = [each for each in self.statements if each.name == index]
        named = named or [each for each in self.statements if each.name.rpartition(": ")[2] == index]
        if len(named) != 1:
            there = ", ".join(each.name for each in self.statements)
            raise KeyError(f"{'several statements end with' if named else 'no statement is named'} {index}: {there}")
        return named[0]

    def __iter__(self) -> Iterator[S_co]:
        return iter(self.statements)

    def __bool__(self) -> NoReturn:
        """Raises TypeError: it would be read as a verdict."""
        raise TypeError("results are neither true nor false; ask .ok whether all came out as expected, or len()")

    def __str__(self) -> str:
        lines = [each.line for each in self.statements]
        return "\n".join([*lines, *([] if self.complete else ["incomplete: interrupted"])])

    def _repr_html_(self) -> str:
        return table_html(self.statements, complete=self.complete)
