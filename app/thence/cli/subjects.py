"""The system under test, from the options that name it."""

from __future__ import annotations

from thence.cli.output import BadInput
from thence.conformance.implementations import SHIPPED
from thence.conformance.systems.subject import EXEC, EXEC_PER_PROCESS
from thence.dsl.find import place_of_library_file
from thence.dsl.text.diagnostics import nearest


def subject_name(
    impl: str | None, exec_: str | None, exec_per_process: str | None, protocol: str | None, *, needed: bool
) -> str:
    """The one system that the options name, or the shipped one of the protocol, as `load_subject` takes it.

    Empty where there is none, and none is needed. Raises: BadInput for several, and for none where one is needed.
    """
    given = [
        prefix + named
        for prefix, named in (("", impl), (EXEC, exec_), (EXEC_PER_PROCESS, exec_per_process))
        if named is not None
    ]
    if len(given) > 1:
        raise BadInput("give one of --impl, --exec and --exec-per-process, not several")
    if not given and needed and protocol not in SHIPPED:
        raise BadInput("what is to be tested? give one of --impl, --exec and --exec-per-process")
    return given[0] if given else SHIPPED.get(protocol or "", "") if needed else ""


def not_shipped(name: str) -> BadInput:
    """The error for a protocol without a shipped implementation."""
    near = nearest(name, SHIPPED)
    return BadInput(
        f"no implementation of {name} is shipped; "
        + (f"did you mean {near}?" if near else f"there are {', '.join(SHIPPED)}")
    )


def whose_lines(protocol: str | None) -> tuple[str, ...]:
    """Where the lines are that are cited of a library protocol; nothing of a file that is named by its path."""
    path = None if protocol is None else place_of_library_file(protocol)
    return () if path is None else (f"the protocol's lines are those of {path}",)
