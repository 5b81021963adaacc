"""Prompt sends: it is enough to explore runs in which every message is network-sent as soon as it is causal-sent.

Let X be a local state with an empty send queue, and w a sequence of messages of which the first would not be
network-sent at X. Two conditions are checked:

- A step b of X with w waiting equals b at X, followed by prompt sends of the first messages of w; the others wait on.
- A message that is causal-sent at X with w waiting joins the queue and does nothing else.

The text uses the queue first in, first out (`discipline`). A step that leaves a message in the queue has therefore not
looked behind that message, and longer queues are tried only while each step empties the queue. By induction, every run
is a run of prompt sends in which waiting messages are left out until they are network-sent. Messages are network-sent
in the order of their causal sends. So happens-before among network-sent messages is that of the prompt run, and a
violation is a violation there too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from thence.dsl.run.execute import Emission, Sent
from thence.dsl.run.identity_reuse import ReusedIdentities
from thence.dsl.run.system import Action
from thence.dsl.run.values import Fault, Message
from thence.proofs.abstraction.discipline import NotApplicable

LONGEST = 8
"""Largest number of waiting messages that one step may network-send; a step that sends more is refused."""

Step: TypeAlias = tuple[int, tuple[Emission, ...]]


@dataclass(slots=True)
class PromptSends:
    """The check for one system; each local step is checked once."""

    system: ReusedIdentities
    queue: str | None
    _position: int = field(init=False, default=-1)
    _checked: set[tuple[int, int, int, Message | None]] = field(init=False, default_factory=set)
    _waits: dict[tuple[int, int], tuple[Message, ...]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        names = [variable.name for variable in self.system.protocol.state]
        self._position = -1 if self.queue is None else names.index(self.queue)

    def check(self, action: Action, local: int, message: Message | None) -> None:
        """Checks the step of this local state, in which nothing waits. Raises: NotApplicable."""
        key = (action.process, local, action.packet, message)
        if key in self._checked:
            return
        self._checked.add(key)
        if self.queue is not None and self.system.local(local)[self._position]:
            raise NotApplicable(f"a message stays in `{self.queue}` that was network-sent")
        if message is None:
            step = self._step(action.process, local, action, None)
            if step is not None:
                for first in self._blocked(action.process, local):
                    self._compare(action, local, step, (first,))

    def _blocked(self, process: int, local: int) -> tuple[Message, ...]:
        """Messages that have to wait at the local state, one to each destination; each is checked to do only that."""
        known = self._waits.get((process, local))
        if known is not None:
            return known
        found = []
        for first in self._next_messages(process, 0):
            sent = self._step(process, local, _sending(first), first)
            if sent is None or self.is_prompt(sent, first):
                continue
            found.append(first)
            if self.queue is None or sent != (self._with(local, (first,)), ()):
                raise NotApplicable(f"sending a message that has to wait does more than put it into {self._named()}")
            for then in self._next_messages(process, 1):
                joined = self._step(process, self._with(local, (first,)), _sending(then), then)
                if joined != (self._with(local, (first, then)), ()):
                    what = "sending a message while another waits"
                    raise NotApplicable(f"{what} does more than put it into {self._named()}")
        self._waits[process, local] = tuple(found)
        return self._waits[process, local]

    def _compare(self, action: Action, local: int, step: Step, queued: tuple[Message, ...]) -> None:
        """Compares the step with these messages waiting to the step followed by prompt sends."""
        process = action.process
        found = self._step(process, self._with(local, queued), action, None)
        after, emitted = step
        left = queued
        while left:
            sent = self._step(process, after, _sending(left[0]), left[0])
            if sent is None:
                return
            if not self.is_prompt(sent, left[0]):
                break
            after, emitted, left = sent[0], (*emitted, *sent[1]), left[1:]
        if found != (self._with(after, left), emitted):
            what = f"the arrival of {self.system.packet(action.packet).kind}"
            raise NotApplicable(
                f"with a message waiting, {what} does something else than without it, and sending the message then"
            )
        if left:
            return
        if len(queued) >= LONGEST:
            raise NotApplicable(f"one step sends {LONGEST} waiting messages, or more")
        for following in self._next_messages(process, len(queued)):
            self._compare(action, local, step, (*queued, following))

    def is_prompt(self, step: Step, message: Message) -> bool:
        """Whether the step network-sends the message."""
        return any(isinstance(each, Sent) and self.system.carried(each) == message for each in step[1])

    def _named(self) -> str:
        return "a queue" if self.queue is None else f"`{self.queue}`"

    def _next_messages(self, process: int, queued: int) -> Iterator[Message]:
        """Messages whose numbers are beyond the identities of the scope."""
        number = self.system.workload.identities(process) + queued + 1
        for destinations in self.system.workload.choices(process):
            yield Message(process, number, destinations)

    def _with(self, local: int, queued: tuple[Message, ...]) -> int:
        """The local state with these messages waiting."""
        if not queued:
            return local
        state = self.system.local(local)
        return self.system.local_number((*state[: self._position], queued, *state[self._position + 1 :]))

    def _step(self, process: int, local: int, action: Action, message: Message | None) -> Step | None:
        """The step; None where it is a fault, which the search finds by itself."""
        step = self.system.local_step(process, local, action, message)
        return None if isinstance(step, Fault) else step


def _sending(message: Message) -> Action:
    return Action("send", message.src, message.dsts)
