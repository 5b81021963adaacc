"""A case's steps held against its protocol's.

The protocol's interpreter takes each step that the subject takes, with the same packets in flight, until the two part.
From there on, only the oracle judges.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import repeat
from typing import Any, Final

from thence.conformance.harness.judge import CaseJudge
from thence.conformance.harness.signature import signature_of
from thence.conformance.harness.wrong_message import wrong_message
from thence.conformance.replay.divergence import Divergence
from thence.conformance.replay.findings import CaseFinding
from thence.conformance.replay.packet_fields import Differs
from thence.conformance.replay.replay import Answers, Expected, Lockstep, Replay, Signature, same_packets, told
from thence.conformance.systems.foreign import Answered

NO_SHADOWS: Final = repeat(-1)
"""Numbers of packets that are not replayed."""


class Comparison:
    """The protocol's side of a case. What differs goes to the judge.

    Attributes:
        lockstep: the protocol's states, as long as the subject follows it; None without a protocol.
        chooses: whether the protocol's steps have several outcomes, by what it chooses.
        compared: the fields of packets that were compared with the protocol's.
        other_order: the first step with the protocol's emissions in another order, in words.
        speaks: whether the subject has sent packets of the protocol's kinds.
        unsettled: the step from which on the events of the whole case decide.
    """

    __slots__ = (
        "_fifo",
        "_is_strict",
        "_judge",
        "_matched",
        "chooses",
        "compared",
        "lockstep",
        "other_order",
        "speaks",
        "unsettled",
    )

    def __init__(self, replay: Replay | None, judge: CaseJudge, *, fifo: bool) -> None:
        self.lockstep: Lockstep | None = None if replay is None else replay.begin()
        self.chooses = replay is not None and replay.chooses
        self.compared: set[str] = set()
        self.other_order = ""
        self.speaks = False
        self.unsettled: CaseFinding | None = None
        self._is_strict = replay is None or replay.is_strict
        self._judge = judge
        self._fifo = fifo
        self._matched = 0

    @property
    def matched(self) -> int:
        """Number of events that were the protocol's, too."""
        return self._matched if self.lockstep is None else self.lockstep.matched

    def followed(self, process: int, commands: Sequence[Any], expected: Expected, answers: Answers) -> Iterable[int]:
        """The numbers of the protocol's packets, for each command, if the subject did what the protocol does."""
        lockstep = self.lockstep
        assert lockstep is not None
        signature = signature_of(commands)
        if self.chooses:
            agrees = partial(self._agrees, commands, signature)
            expected, several = lockstep.by_choice(process, expected, answers, signature, agrees, fifo=self._fifo)
            if several:
                self._leave_open(process, expected)
                return NO_SHADOWS
        elif expected.fault is None and answers:
            expected = lockstep.seen(process, expected, answers)
        shadows: Sequence[int] | Differs
        if signature == expected.signature and expected.fault is None:
            shadows = self._with_fields(commands, signature, expected.shadows)
        else:
            fifo = self._fifo
            found = None if self._is_strict else lockstep.reordered(process, expected, signature, fifo=fifo)
            if found is None:
                self._part(process, expected, commands)
                return NO_SHADOWS
            if not self.other_order:
                title = lockstep.replay.title(expected.input)
                self.other_order = (
                    f"p{process}, {title}: the protocol {told(expected.signature)}; the subject {told(signature)}"
                )
            expected, shadows = found.expected, self._with_fields(commands, signature, found.shadows)
        if isinstance(shadows, Differs):
            self._differ(process, expected, shadows)
            return NO_SHADOWS
        lockstep.accept(process, expected)
        self.speaks = self.speaks or any(len(one) == 3 for one in signature)
        if len(signature) == len(commands):
            return shadows
        numbers = iter(shadows)
        return [-1 if isinstance(command, Answered) else next(numbers) for command in commands]

    def waits(self, process: int, expected: Expected) -> None:
        """The subject lets the application wait with an input. If the protocol takes it, that is a difference."""
        assert self.lockstep is not None
        if expected.fault is not None:
            return
        title, matched = self.lockstep.replay.title(expected.input), self.lockstep.matched
        self._leave(matched)
        found = Divergence(process, title, "takes the input", "lets the application wait", matched, None)
        self._judge.find("nonconformance", process, str(found), divergence=found)

    def diverge(self, process: int, expected: Expected, commands: Sequence[Any]) -> None:
        """The subject left its protocol: from here on, only the oracle judges."""
        found = self._explained(process, expected, commands)
        self._judge.find("nonconformance", process, str(found), divergence=found)

    def _with_fields(
        self, commands: Sequence[Any], signature: Signature, shadows: Sequence[int]
    ) -> Sequence[int] | Differs:
        """The numbers of the protocol's packets for each emission, where their fields agree with the subject's."""
        lockstep = self.lockstep
        assert lockstep is not None
        fields = lockstep.replay.fields
        if not shadows or not fields.names:
            return shadows
        theirs = [getattr(command, "packet", None) for command in commands if not isinstance(command, Answered)]
        free = not (self._is_strict or self._fifo)
        return fields.paired(lockstep.replay.fields_of, shadows, theirs, signature, self.compared, free=free)

    def _agrees(self, commands: Sequence[Any], signature: Signature, shadows: Sequence[int]) -> bool:
        return not isinstance(self._with_fields(commands, signature, shadows), Differs)

    def _differ(self, process: int, expected: Expected, differs: Differs) -> None:
        """The subject left its protocol by a field of a packet."""
        assert self.lockstep is not None
        found = self.lockstep.explain_fields(process, expected, differs)
        self._leave(found.matched)
        self._judge.find("nonconformance", process, str(found), divergence=found)

    def _part(self, process: int, expected: Expected, commands: Sequence[Any]) -> None:
        """As `diverge`. Unless the replay demands the text's order, the events of the whole case decide whether the
        protocol has a run like this: if the subject sent the packets that the protocol sends, or has only kinds of its
        own. An application that does not wait, where the packets were the protocol's until then, is a finding at once:
        what has arrived is known.
        """
        assert self.lockstep is not None
        signature = signature_of(commands)
        same = same_packets(expected.signature, signature)
        foreign = not self.speaks and self.lockstep.replay.has_others(signature)
        early = expected.waits and self.speaks
        found = self._explained(process, expected, commands)
        if self._is_strict or early or not (expected.fault is not None or same or foreign):
            self._judge.find("nonconformance", process, str(found), divergence=found)
        else:
            at = len(self._judge.log)
            self.unsettled = CaseFinding("nonconformance", process, str(found), at, divergence=found)

    def _leave_open(self, process: int, expected: Expected) -> None:
        """Several steps of the protocol do what the subject did: the events of the whole case decide."""
        assert self.lockstep is not None
        text = f"p{process}, {self.lockstep.replay.title(expected.input)}: several steps of the protocol do that"
        self._leave(self.lockstep.matched)
        self.unsettled = CaseFinding("nonconformance", process, text, len(self._judge.log))

    def _explained(self, process: int, expected: Expected, commands: Sequence[Any]) -> Divergence:
        assert self.lockstep is not None
        signature = signature_of(commands)
        divergence = self.lockstep.explain(process, expected, signature)
        if expected.fault is None:
            packets = [getattr(command, "packet", None) for command in commands if not isinstance(command, Answered)]
            divergence = replace(divergence, wrong_message=wrong_message(expected.signature, signature, packets))
        self._leave(divergence.matched)
        return divergence

    def _leave(self, matched: int) -> None:
        self._matched, self.lockstep = matched, None
