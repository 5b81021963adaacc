"""Implementations in random schedules, against the oracle and against a protocol: `conform`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from thence.api.driving import Drive, Driven, Status, Terms, claims_named, driven, driven_results, limits_of
from thence.api.errors import BadRequest
from thence.api.specifications import Source, protocol_name
from thence.api.statements import Claim, Results
from thence.conformance.implementations import SHIPPED
from thence.conformance.systems.subject import System


@dataclass(frozen=True, slots=True)
class Conformance(Results[Claim]):
    """The results of a run: one for each claim that is made, then what was looked at all the same.

    Attributes:
        run: the run itself, with its cases.
    """

    run: Driven = field(kw_only=True, repr=False)

    @property
    def cases(self) -> int:
        """Schedules that were run."""
        return self.run.report.cases

    @property
    def failures(self) -> int:
        """How many of them refute a claim."""
        return self.run.report.failures


def conform(
    system: System | None = None,
    *claims: str,
    protocol: Source | None = None,
    processes: int = 3,
    cases: int = 1000,
    operations: int = 12,
    time: float | None = None,
    seed: int = 0,
    channels: Literal["fifo", "reordering"] | None = None,
    duplication: bool | None = None,
    loss: bool | None = None,
    self_sends: bool | None = None,
    delivery: Literal["unicast", "multicast", "broadcast"] | None = None,
    total_order: bool | None = None,
    strict: bool = False,
    schedules_from: Sequence[str] = (),
    reply_limit: float = 5.0,
    start_limit: float = 20.0,
    memory_limit: str = "2G",
    progress: Callable[[str], None] | None = None,
) -> Conformance:
    """Drives an implementation through random schedules; failures are shortened.

    A class is made by `MyClass(identity, processes)` and has two methods, `causal_send(destination, message)` and
    `receive(sender, packet)`, which return lists of commands: `Send(destination, packet)` puts a packet on the network,
    `Deliver(sender, message)` hands a message over. A packet is any immutable value. See docs/reference/conformance.md.

    Ctrl-C ends it with the cases so far; `complete` is then False, and what no case refutes is unknown.

    Args:
        system: a class; or a name: `module:Class`, `isolated:module:Class` (in a process of its own), `exec:COMMAND`
            or `exec-per-process:COMMAND` (a program that speaks thence-exec/1), `protocol:FILE`. By default the shipped
            implementation of the protocol.
        claims: what is claimed: conforming, causal, fifo, delivered, once, prompt, total_order. By default what the
            protocol promises, or else causal, fifo, delivered and once.
        protocol: the protocol to follow: FILE or FILE:PROTOCOL, FILE of the library or yours.
        processes: how many.
        cases: how many schedules.
        operations: operations a schedule.
        time: seconds for the whole run, shortening included.
        seed: fixes every random choice.
        channels: by default as the protocol says, reordering without one.
        duplication: whether packets may arrive twice.
        loss: whether packets may vanish.
        self_sends: whether processes send to themselves.
        delivery: to one process, to several, or to all.
        total_order: whether the system promises a total order.
        strict: demand the order of the protocol's text, also where it promises none.
        schedules_from: files with executions to try first.
        reply_limit, start_limit, memory_limit: of a program: seconds for a reply, for the first one, and its memory.
        progress: is told by a line of text how far the run is.

    Raises:
        UserError: the system, the protocol or a setting is at fault; the message says so in the words of the command.

    >>> import thence.api as th
    >>> from thence.impl.rst import RST
    >>> found = th.conform(RST, "causal", cases=50)
    >>> found["causal"].verdict.value
    'tested'
    """
    opposite = protocol_name(protocol)
    chosen = SHIPPED.get(opposite or "", "") if system is None else system
    if not chosen:
        raise BadRequest("what is to be tested? give a class, or the name of a system")
    for name, number in (("processes", processes), ("cases", cases), ("operations", operations)):
        if number < (2 if name == "processes" else 1):
            raise BadRequest(f"--{name} {number}: give a number from {2 if name == 'processes' else 1} up")
    limits = limits_of(reply_limit, start_limit, memory_limit)
    drive = Drive(opposite, chosen, processes, cases, operations, seed, limits, tuple(schedules_from), time)
    network = {
        "channels": channels,
        "duplication": duplication,
        "loss": loss,
        "self_sends": self_sends,
        "delivery": delivery,
        "total_order": total_order,
    }
    terms = Terms(network, claims_named(claims), strict)
    run = driven(drive, terms) if progress is None else driven(drive, terms, _in_words(progress))
    results = tuple(map(Claim.of, driven_results(drive, run)))
    return Conformance(results, complete=not run.report.interrupted, run=run)


def _in_words(progress: Callable[[str], None]) -> Status:
    """Tells each moment as a line of text."""

    def tell(doing: str, done: int = 0, of: int = 0, noun: str = "", share: float | None = None) -> None:
        progress(f"{doing}: {done:,} of {of:,} {noun}" if of else doing)

    return tell
