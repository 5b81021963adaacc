"""The reader's word for what a file names.

Recorded cases and campaigns are made to be sent around, and they name the system under test: a program to run, or a
class to import, which runs its module. Neither happens because a file says so. The reader names the system on the
command line, or says with `--trust-file` that the file may.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from thence.conformance.implementations import SHIPPED
from thence.conformance.systems.protocol_subject import PREFIX
from thence.conformance.systems.subject import EXEC, EXEC_PER_PROCESS, ISOLATED
from thence.spec.events import printable
from thence.spec.user_error import UserError

OPTION: Final = "--trust-file"


class Untrusted(UserError):
    """A file names something to run, and the reader has not said that it may. Nothing was run."""


@dataclass(frozen=True, slots=True)
class Word:
    """What the reader says about a file.

    Attributes:
        file: the file, or the folder.
        given: whether it may name what is run.
        option: the option by which the reader says so.
        otherwise: what the reader can do beside trusting it, as the end of a sentence; may be empty.
    """

    file: str
    given: bool
    option: str = OPTION
    otherwise: str = ""

    def require(self, system: str, *, nameable: bool = False) -> None:
        """Nothing, where the word is given or the system is none that runs code from elsewhere.

        Args:
            system: as `load_subject` takes it.
            nameable: whether the reader can name the system by an option instead.

        Raises:
            Untrusted: the message says what would be run.
        """
        if not self.given and (would := consequence(system)):
            raise self.refusal(would, named_by(system) if nameable else "")

    def refusal(self, would: str, instead: str = "") -> Untrusted:
        """The error for something that would happen."""
        ways = [f"give the same {instead}" if instead else "", f"give {self.option}", self.otherwise]
        return Untrusted(
            f"{printable(self.file)} {would}. Nothing was run. If you know who made the file and want that, "
            f"{', or '.join(filter(None, ways))}"
        )


def consequence(system: str) -> str:
    """What comes of a system that a file names, as a predicate of the file; "" where it runs nothing from elsewhere: a
    protocol, or an implementation that comes with Thence."""
    for prefix in (EXEC, EXEC_PER_PROCESS):
        if system.startswith(prefix):
            return f"names a program to run: {printable(system.removeprefix(prefix))}"
    name = system.removeprefix(ISOLATED)
    if system.startswith(PREFIX) or name in SHIPPED.values():
        return ""
    return f"names a class to import, which runs its module: {printable(name)}"


def named_by(system: str) -> str:
    """The option by which a reader names the system."""
    for prefix, option in ((EXEC, "--exec"), (EXEC_PER_PROCESS, "--exec-per-process"), ("", "--impl")):
        if system.startswith(prefix):
            return f"{option} {printable(shlex.quote(system.removeprefix(prefix)))}"
    raise AssertionError("every name has the empty prefix")


def all_trusted(systems: Iterable[str]) -> bool:
    """Whether none of the systems runs code from elsewhere."""
    return not any(map(consequence, systems))
