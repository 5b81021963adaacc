"""A system in which messages are sent for ever: an identity is used again once nothing refers to it.

A process that sends for ever has a fixed number of identities. One is free when its message has been delivered
everywhere, and no local state, no packet and no pair of `History.order` mentions it; the oldest free one is used next.
Runs have any length, and the states are finitely many wherever the protocol's own data are. The history stays exact:
its masks hold undelivered messages only, and those keep their identities.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from thence.dsl import ir
from thence.dsl.run.actions import Action, Outcome, State
from thence.dsl.run.causality import sent
from thence.dsl.run.execute import Sent
from thence.dsl.run.system import System
from thence.dsl.run.values import Fault, Message, Value, messages_in, most_elements
from thence.spec.user_error import UserError


class NotForChoices(UserError, ValueError):
    """A protocol that chooses, in a scope in which messages are sent for ever or promptly."""


@dataclass(slots=True)
class ReusedIdentities(System):
    """The transition system of a protocol in a workload with `for ever` in it.

    `crowded` collects the processes that were kept from sending because no identity was free.
    """

    crowded: set[int] = field(init=False, default_factory=set)
    _in_locals: dict[int, frozenset[tuple[int, int]]] = field(init=False, default_factory=dict)
    _largest: dict[int, int] = field(init=False, default_factory=dict)
    _in_packets: dict[int, frozenset[tuple[int, int]]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        System.__post_init__(self)
        if self.interpreter.chooses:
            raise NotForChoices(
                f"`{self.protocol.name}` chooses: its scopes have neither `for ever` nor `prompt sends`"
            )

    def application_sends(self, state: State) -> Iterator[Action]:
        for process in range(self.workload.processes):
            identities = self.workload.identities(process)
            finite = not identities
            if finite and state.sends[process] >= self.workload.sends[process]:
                continue
            if not finite and not self._has_capacity(state):
                continue
            if not finite and self._free(state, process) is None:
                if self._would_send(state, process, identities):
                    self.crowded.add(process)
                continue
            for destinations in self.workload.choices(process):
                action = Action("send", process, destinations)
                if self._accepts(state, action) and (not self.workload.prompt or self._is_prompt(state, action)):
                    yield action

    def _has_capacity(self, state: State) -> bool:
        """Whether the scope allows processes that send for ever to send now: no collection is full."""
        return self.workload.capacity is None or not any(map(self.is_full, state.locals))

    def is_full(self, local: int) -> bool:
        """Whether some collection of a local state has as many elements as the scope's `capacity`, which it has."""
        assert self.workload.capacity is not None
        return self._most_elements(local) >= self.workload.capacity

    def _most_elements(self, local: int) -> int:
        largest = self._largest.get(local)
        if largest is None:
            variables = zip(self.local(local), self.protocol.state, strict=True)
            largest = self._largest[local] = max(
                (most_elements(value, variable.type) for value, variable in variables), default=0
            )
        return largest

    @property
    def ticks_at_any_moment(self) -> bool:
        """Whether timers fire at any moment, not only when nothing is in flight: there may never be such a moment.

        On FIFO channels they fire when nothing is in flight: their packets would pile up in the channels. So they do
        where sends are prompt but come to an end.
        """
        piles_up = self.workload.ends or not self.protocol.network.reordering
        return self.interpreter.has_timer and not self.counts_timers and not piles_up

    def _timers(self, state: State) -> Iterator[Action]:
        if not self.ticks_at_any_moment:
            yield from System._timers(self, state)
            return
        yield from self.ticks()

    def _would_send(self, state: State, process: int, number: int) -> bool:
        """Whether the process would send a message now, if it had one more identity than it has."""
        if not self.workload.prompt:
            return True
        for destinations in self.workload.choices(process):
            action, message = Action("send", process, destinations), Message(process, number, destinations)
            local = state.locals[process]
            if not self.refuses(action, local, message) and self.goes_at_once(local, action, message):
                return True
        return False

    def _is_prompt(self, state: State, action: Action) -> bool:
        return self.goes_at_once(state.locals[action.process], action, self._message(state, action))

    def goes_at_once(self, local: int, action: Action, message: Message) -> bool:
        """Whether a message that the protocol accepts would be network-sent in the same step. A fault counts: it is to
        be seen."""
        known = self.local_step(action.process, local, action, message)
        if isinstance(known, Fault):
            return True
        return any(isinstance(each, Sent) and self.carried(each) == message for each in known[1])

    def _message(self, state: State, action: Action) -> Message:
        process = action.process
        number = state.sends[process]
        if self.workload.identities(process):
            free = self._free(state, process)
            assert free is not None, "an action that is not enabled"
            number = free
        return Message(process, number, action.destinations)

    def again(self) -> ReusedIdentities:
        """A fresh system of the same kind."""
        return ReusedIdentities(self.protocol, self.workload)

    def has_to_send(self, state: State, process: int) -> bool:
        """Whether the application has a message left, and an identity for it."""
        if self.workload.identities(process):
            return self._free(state, process) is not None
        return state.sends[process] < self.workload.sends[process]

    def _send(self, state: State, action: Action, observe: bool) -> Outcome:
        process = action.process
        message = self._message(state, action)
        sends = state.sends
        if not self.workload.identities(process):
            sends = (*sends[:process], sends[process] + 1, *sends[process + 1 :])
        history = sent(state.history, process, message, self.bit(message))
        return self._step(state._replace(sends=sends, history=history), action, observe, message)

    def _free(self, state: State, process: int) -> int | None:
        """The first identity of the process that nothing refers to."""
        used = {entry.message.number for entry in state.history.pending if entry.message.src == process}
        used |= {late.number for _, late in state.history.order if late.src == process}
        for number in state.locals:
            used |= {nth for src, nth in self.mentioned_in_local(number) if src == process}
        for number in state.network:
            used |= {nth for src, nth in self.mentioned_in_packet(number) if src == process}
        return next((nth for nth in range(self.workload.identities(process)) if nth not in used), None)

    def mentioned_in_local(self, number: int) -> frozenset[tuple[int, int]]:
        """The messages inside a local state: sender and number."""
        found = self._in_locals.get(number)
        if found is None:
            found = self._in_locals[number] = _mentions(self.local(number))
        return found

    def mentioned_in_packet(self, number: int) -> frozenset[tuple[int, int]]:
        """The messages inside a packet: sender and number."""
        found = self._in_packets.get(number)
        if found is None:
            found = self._in_packets[number] = _mentions(self.packet(number).arguments)
        return found


def _mentions(value: Value) -> frozenset[tuple[int, int]]:
    return frozenset((message.src, message.number) for message in messages_in(value))


def system_of(protocol: ir.Protocol, workload: ir.Workload) -> System:
    """The transition system of a protocol in a workload of any kind."""
    plain = isinstance(workload.sending, ir.Finite) and not workload.prompt
    return (System if plain else ReusedIdentities)(protocol, workload)
