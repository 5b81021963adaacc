"""Two-phase commit: a transaction commits at all processes that take part in it, or at none.

Source: Jim Gray, "Notes on Data Base Operating Systems" (1978), the two procedures of two-phase commit and the
restart; the same idea in Butler Lampson, Howard Sturgis, "Crash Recovery in a Distributed Data Storage System" (1979).
Channels: any; packets may be lost, come twice, and overtake each other. Process 0 is the coordinator, all others are
participants.

Listing, in our own words (the paper has no line numbers; labels are ours):

    The coordinator ends a transaction
      C.1  ask every participant for its vote
      C.2  if all agree, the verdict is to commit
      C.3  if one refuses, or does not answer within the time limit, it is to abort
      C.4  force the verdict to the log, and tell the participants
      C.5  tell it again, after each time limit, to those that have not acknowledged it
      C.6  when all have, force to the log that the transaction is complete
    A participant is asked for its vote
      P.1  if it has agreed before, it has answered; if it has aborted before, it refuses
      P.2  if all is on the log that it takes to commit and to abort, force an agreement to the log, and agree
      P.3  otherwise abort, and refuse
    A participant hears the verdict
      P.4  force it to the log
      P.5  and acknowledge it, as often as it is told
    A process restarts after a failure, with its log and nothing else
      R.1  the coordinator aborts a transaction of which the log has no verdict
      R.2  it tells the verdict again, unless the log has it that the transaction is complete
      R.3  a participant aborts a transaction of which the log has neither a verdict nor its agreement
      R.4  one whose agreement is on the log waits for the verdict

Symbols:

    paper                    here
    the log                  _log, and its records
    what a failure takes     Memory
    VOTE, the replies        Memory.agreed
    the acknowledgements     Memory.acknowledged
    the coordinator          COORDINATOR

Departures:
    - The paper's coordinator asks one participant after another; this one asks all at once.
    - There is one transaction. The participants know of it from the start: one that fails before it is asked aborts.
    - A participant that aborts by itself says so at once, also after a restart.
    - A failure is a call, `fail`. Until `restart`, whatever arrives is lost, and timers do nothing.
    - Packets that no correct peer sends are ProtocolErrors: to the wrong kind of process, a commit to one that has not
      agreed, a verdict that is not the one on the log, an acknowledgement where there is no verdict.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Literal, TypeAlias

from thence.impl.commands import MustWait, ProtocolError, Send
from thence.impl.group import Group, unknown_packet
from thence.spec.value import value

COORDINATOR: Final = 0
"""The process that is the coordinator."""

Verdict: TypeAlias = Literal["COMMIT", "ABORT"]
Record: TypeAlias = Literal["AGREE", "COMMIT", "ABORT", "COMPLETE"]
"""What is forced to the log."""

TO_PARTICIPANTS: Final = ("REQUEST", "COMMIT", "ABORT")
TO_THE_COORDINATOR: Final = ("AGREE", "REFUSE", "ACK")


@value
class Packet:
    """A packet of one of the six kinds. It moves no message of the application."""

    kind: str
    message: ClassVar[None] = None


@dataclass(slots=True)
class Memory:
    """What a failure takes."""

    collecting: bool = False
    """The coordinator has asked, and waits for votes."""
    asked: bool = False
    """The application of a participant is to vote."""
    agreed: set[int] = field(default_factory=set)
    acknowledged: set[int] = field(default_factory=set)


class TwoPhaseCommit:
    """One process. See the module for the algorithm.

    Its application has four inputs: `begin`, at the coordinator; `vote`, at a participant that is asked; `fail` and
    `restart`. Each raises MustWait where it cannot be. Timers: `time_limit` and `retransmit`, both the coordinator's.
    """

    channels: ClassVar[Literal["lossy"]] = "lossy"

    def __init__(self, identity: int, processes: int) -> None:
        self._group = Group(identity, processes)
        self._log: list[Record] = []
        """What a failure leaves, the oldest record first."""
        self._memory: Memory | None = Memory()
        """None: the process is down."""

    @property
    def verdict(self) -> Verdict | None:
        """The verdict that is on the log."""
        return "COMMIT" if "COMMIT" in self._log else "ABORT" if "ABORT" in self._log else None

    @property
    def in_doubt(self) -> bool:
        """Whether this process has agreed, and does not know the verdict."""
        return "AGREE" in self._log and self.verdict is None

    @property
    def complete(self) -> bool:
        """Whether all participants are known to know the verdict."""
        return "COMPLETE" in self._log

    # --- inputs of the application -------------------------------------------------------------

    def begin(self) -> list[Send]:
        """The transaction is to end, at the coordinator. Raises MustWait elsewhere, and where it is too late."""
        memory = self._memory
        if memory is None or not self._coordinates or memory.collecting or self.verdict is not None:
            raise MustWait
        memory.collecting = True
        return self._to_participants("REQUEST")  # C.1

    def vote(self, yes: bool) -> list[Send]:
        """The application of a participant that was asked agrees, or does not. Raises MustWait if it was not asked."""
        memory = self._memory
        if memory is None or not memory.asked:
            raise MustWait
        memory.asked = False
        if not yes:
            return self._refuse()
        self._log.append("AGREE")
        return [Send(COORDINATOR, Packet("AGREE"))]  # P.2

    def fail(self) -> list[Send]:
        """The process fails. Raises MustWait if it has failed before."""
        if self._memory is None:
            raise MustWait
        self._memory = None
        return []

    def restart(self) -> list[Send]:
        """The process restarts. Raises MustWait if it has not failed."""
        if self._memory is not None:
            raise MustWait
        self._memory = Memory()
        if self._coordinates:
            return [] if self.complete else self._conclude(self._memory, self.verdict or "ABORT")  # R.1, R.2
        if self.verdict is None and not self.in_doubt:
            return self._refuse()  # R.3
        return []  # R.4

    # --- the network and the timers ------------------------------------------------------------

    def receive(self, sender: int, packet: Any) -> list[Send]:
        """Take `packet` from `sender`. Raises ProtocolError for what no correct sender can have sent."""
        self._group.require_sender(sender)
        if not isinstance(packet, Packet) or packet.kind not in (*TO_PARTICIPANTS, *TO_THE_COORDINATOR):
            raise unknown_packet(packet)
        to_me = (sender != COORDINATOR and self._coordinates) or (sender == COORDINATOR and not self._coordinates)
        if not to_me or (packet.kind in TO_THE_COORDINATOR) != self._coordinates:
            raise ProtocolError(f"process {sender} sends process {self._group.identity} {packet.kind}")
        if self._memory is None:
            return []
        match packet.kind:
            case "REQUEST":
                return self._receive_request(self._memory)
            case "COMMIT":
                return self._receive_verdict(self._memory, "COMMIT")
            case "ABORT":
                return self._receive_verdict(self._memory, "ABORT")
            case "ACK":
                return self._receive_ack(self._memory, sender)
            case _:
                return self._receive_vote(self._memory, sender, agrees=packet.kind == "AGREE")

    def tick(self, timer: str) -> list[Send]:
        """The timer of this name fired. Raises ValueError for an unknown one."""
        if timer not in ("time_limit", "retransmit"):
            raise ValueError(f"there is no timer {timer!r}")
        memory = self._memory
        if memory is None or not self._coordinates:
            return []
        if timer == "time_limit":
            return self._conclude(memory, "ABORT") if memory.collecting else []  # C.3
        return [] if self.verdict is None or self.complete else self._tell(memory)  # C.5

    # --- the coordinator -----------------------------------------------------------------------

    @property
    def _coordinates(self) -> bool:
        return self._group.identity == COORDINATOR

    @property
    def _participants(self) -> list[int]:
        return [process for process in range(self._group.processes) if process != COORDINATOR]

    def _to_participants(self, kind: str, but: frozenset[int] = frozenset()) -> list[Send]:
        return [Send(process, Packet(kind)) for process in self._participants if process not in but]

    def _receive_vote(self, memory: Memory, sender: int, agrees: bool) -> list[Send]:
        if not memory.collecting:
            return []  # too late, or asked for before a failure
        if not agrees:
            return self._conclude(memory, "ABORT")
        memory.agreed.add(sender)
        return self._conclude(memory, "COMMIT") if memory.agreed.issuperset(self._participants) else []  # C.2

    def _conclude(self, memory: Memory, verdict: Verdict) -> list[Send]:
        """Phase 2: the verdict, unless the log has one already, and all are told."""
        memory.collecting = False
        self._record_verdict(verdict)
        return self._tell(memory)  # C.4

    def _tell(self, memory: Memory) -> list[Send]:
        assert self.verdict is not None
        return self._to_participants(self.verdict, but=frozenset(memory.acknowledged))

    def _receive_ack(self, memory: Memory, sender: int) -> list[Send]:
        if self.verdict is None:
            raise ProtocolError(f"process {sender} acknowledges a verdict, and there is none")
        memory.acknowledged.add(sender)
        if memory.acknowledged.issuperset(self._participants) and not self.complete:
            self._log.append("COMPLETE")  # C.6
        return []

    # --- a participant -------------------------------------------------------------------------

    def _receive_request(self, memory: Memory) -> list[Send]:
        if "AGREE" in self._log:
            return []
        if self.verdict == "ABORT":
            return [Send(COORDINATOR, Packet("REFUSE"))]  # P.1
        memory.asked = True
        return []

    def _refuse(self) -> list[Send]:
        self._record_verdict("ABORT")
        return [Send(COORDINATOR, Packet("REFUSE"))]  # P.3

    def _receive_verdict(self, memory: Memory, verdict: Verdict) -> list[Send]:
        if verdict == "COMMIT" and "AGREE" not in self._log:
            raise ProtocolError("the coordinator commits, and this process has not agreed")
        if self.verdict not in (None, verdict):
            raise ProtocolError(f"the coordinator says {verdict}, and {self.verdict} is on the log")
        memory.asked = False
        self._record_verdict(verdict)  # P.4
        return [Send(COORDINATOR, Packet("ACK"))]  # P.5

    def _record_verdict(self, verdict: Verdict) -> None:
        """The verdict on the log: the one that is there, or else this one."""
        if self.verdict is None:
            self._log.append(verdict)
