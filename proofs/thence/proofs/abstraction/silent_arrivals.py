"""Silent arrivals: packets whose arrival only counts down may be taken to arrive at once.

Let z be a local state of the search, and w the same state with one more counted, so that the packet is still on its
way. Two conditions are checked: the arrival leads from w to z and emits nothing; and every other step of w is also a
step of z and commutes with the arrival. Then every run equals, up to the order of such arrivals, a run in which each of
them comes at once, with the same deliveries, sends and happens-before. The check covers all states and steps of the
search, and as many of these packets as a step can count. Packets that fail it are explored like all others.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from thence.dsl.run.actions import Action
from thence.dsl.run.execute import Emission
from thence.dsl.run.identity_reuse import ReusedIdentities
from thence.dsl.run.values import Fault, Message, Packet
from thence.proofs.abstraction.counter_abstraction import CounterAbstraction
from thence.proofs.abstraction.prompt_sends import PromptSends
from thence.proofs.native.symmetry import Symmetry


class NotSilent(Exception):
    """The arrival of a packet of this kind does more than count down. The message is the kind."""


@dataclass(slots=True)
class SilentArrivals:
    """The check for one search."""

    system: ReusedIdentities
    abstraction: CounterAbstraction
    prompt_sends: PromptSends
    symmetry: Symmetry | None
    _checked: set[tuple[int, int, int]] = field(init=False, default_factory=set)

    def check(self, process: int, local: int, packet: int) -> None:
        """Checks the state, and the arrival of the packet there (-1: sends only). Raises: NotSilent, NotApplicable."""
        if not self.abstraction.silent or (process, local, packet) in self._checked:
            return
        self._checked.add((process, local, packet))
        for kind in self.abstraction.silent:
            after = local
            for _ in range(max(self.abstraction.discipline.counters.values())):
                before = self.abstraction.with_one_more(after, kind)
                for source in range(self.system.workload.processes):
                    if source != process:
                        arrival = self.system.number_of(Packet(kind, source, process, ()))
                        self._compare(process, before, after, arrival, packet)
                after = before

    def _compare(self, process: int, before: int, after: int, arrival: int, packet: int) -> None:
        comes = Action("receive", process, (), arrival)
        step = self.system.local_step(process, before, comes)
        kind = self.system.packet(arrival).kind
        if isinstance(step, Fault) or step != (after, ()):
            raise NotSilent(kind)
        if self.symmetry is not None:
            self.symmetry.check(comes, None, before, step)
        self.prompt_sends.check_arrival(comes, before)
        if packet >= 0 and not self._commutes(
            process, before, after, comes, Action("receive", process, (), packet), None
        ):
            raise NotSilent(kind)
        for destinations in self.system.workload.choices(process):
            message = Message(process, self.system.workload.identities(process), destinations)
            send = Action("send", process, destinations)
            sent = self._step(process, before, send, message)
            if isinstance(sent, Fault) or (
                self.prompt_sends.is_prompt(sent, message)
                and not self._commutes(process, before, after, comes, send, message)
            ):
                raise NotSilent(kind)

    def _commutes(
        self, process: int, before: int, after: int, comes: Action, other: Action, message: Message | None
    ) -> bool:
        """Whether the other step commutes with the arrival."""
        early = self._step(process, before, other, message)
        late = self._step(process, after, other, message)
        if isinstance(early, Fault) or isinstance(late, Fault):
            return False
        return early[1] == late[1] and self._step(process, early[0], comes, None) == (late[0], ())

    def _step(
        self, process: int, local: int, action: Action, message: Message | None
    ) -> tuple[int, tuple[Emission, ...]] | Fault:
        """The step, the same under all names."""
        step = self.system.local_step(process, local, action, message)
        if self.symmetry is not None:
            self.symmetry.check(action, message, local, step)
        return step
