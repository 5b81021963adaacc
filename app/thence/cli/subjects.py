"""The system under test and its limits, from the options that name them."""

from __future__ import annotations

from thence.cli.options import byte_size
from thence.cli.output import BadInput
from thence.conformance.implementations import SHIPPED
from thence.conformance.systems.subject import EXEC, EXEC_PER_PROCESS
from thence.conformance.systems.system import Limits
from thence.dsl.text.diagnostics import nearest

LONGEST_S = 86_400
"""The longest time limit: a day."""


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


def limits_of(reply_s: float, start_s: float, memory: str) -> Limits:
    """The limits of a foreign system. Raises: BadInput."""
    for option, seconds in (("--reply-limit", reply_s), ("--start-limit", start_s)):
        if not seconds <= LONGEST_S:
            raise BadInput(f"{option} {seconds:g}: give at most {LONGEST_S:,} seconds")
    return Limits(reply_s, start_s, memory_bytes=byte_size("--memory-limit", memory))
