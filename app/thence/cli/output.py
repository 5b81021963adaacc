"""The output of a command, and the exit code that follows from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from thence.spec.user_error import UserError

if TYPE_CHECKING:  # so that help and usage need nothing of the language
    from thence.dsl.load import Loaded
    from thence.dsl.text.diagnostics import Diagnostic
    from thence.spec.verdict import Result

AS_EXPECTED, REFUTED, BAD_INPUT, UNKNOWN = range(4)


class BadInput(UserError):
    """The user's input is at fault; the message says where and what to do."""


@dataclass(frozen=True, slots=True)
class Output:
    """The output of a command.

    Attributes:
        results: the statements and their verdicts.
        diagnostics: each with its file, for excerpts.
        text: for readers, before the verdicts.
        notes: for readers, after the verdicts and the counterexamples.
        fields: further fields of the JSON object.
        exit: the exit code, where it does not follow from the results and diagnostics.
        table: whether readers get the verdicts as rows, with a sum.
        files: the files (or systems) that the results are about, in order, each with the number of its results; empty
            where there is but one, which results name themselves.
        asked: whether the reader asked for these statements by name: each is shown and explained.
    """

    results: tuple[Result, ...] = ()
    diagnostics: tuple[tuple[Diagnostic, Loaded], ...] = ()
    text: str | None = None
    notes: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)
    exit: int | None = None
    table: bool = True
    files: tuple[tuple[str, int], ...] = ()
    asked: bool = False

    def file_names(self) -> list[str]:
        """For each result, the name of the file or system that it is about; empty where results name it themselves."""
        named = [name for name, number in self.files for _ in range(number)]
        return named + [""] * (len(self.results) - len(named))

    def exit_code(self) -> int:
        """The exit code: the given one, or the one that diagnostics and results imply."""
        if self.exit is not None:
            return self.exit
        if any(diagnostic.severity == "error" for diagnostic, _ in self.diagnostics):
            return BAD_INPUT
        from thence.spec.verdict import exit_code

        return exit_code(self.results)


def exit_incomplete(results: Iterable[Result]) -> int:
    """The exit code of a command that ends before all is done: unknown, unless there is a surprise already."""
    from thence.spec.verdict import exit_code

    return exit_code(results) or UNKNOWN


def faults_of(writes: Iterable[Callable[[], object]]) -> tuple[str, ...]:
    """Writes files, each whatever became of the others; why some could not be written."""
    faults = []
    for write in writes:
        try:
            write()
        except UserError as error:
            faults.append(str(error))
    return tuple(faults)


def unwritten(output: Output, faults: Sequence[str]) -> Output:
    """The output of what was found, where files could not be written: nothing of it is lost, and the exit code is 2."""
    if not faults:
        return output
    notes = output.notes + "".join(f"{fault}\n" for fault in faults)
    return replace(output, notes=notes, fields={**output.fields, "unwritten": [*faults]}, exit=BAD_INPUT)


def uncertified(output: Output) -> Output:
    """The output of what was shown, where Ctrl-C came while the certificate of that was made."""
    said = "interrupted: incomplete, there is no certificate\n"
    code = exit_incomplete(output.results)
    return replace(output, notes=output.notes + said, fields={**output.fields, "complete": False}, exit=code)
