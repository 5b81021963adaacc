"""Prompt sends: it is enough to explore runs in which every message is network-sent as soon as it is causal-sent.

This is the first theorem of docs/explanation/reductions.md (any number of messages). Its conditions are about every
local state X in which the search finds a process, whether anything arrives there or not. The send queue of X is empty.
A message is blocked at X if it is not network-sent in the step that causal-sends it there.

1. The causal send of a blocked message puts it into the queue, and does nothing else.
2. With a blocked message waiting, every causal send puts its message behind it, and does nothing else.
3. Let w be messages that wait, the first of them blocked at X. An arrival at X with w waiting is the same arrival at X,
   followed by the causal sends of the first messages of w, each of them prompt; the others wait on, the first of them
   blocked where that leads.
4. No step of X is at fault, where messages can wait.

The text uses the queue first in, first out, and only a causal send puts its own message there (`discipline`). A step
that leaves a message in the queue has therefore not looked behind that message, and longer queues are tried only while
each step empties the queue.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from thence.dsl.run.actions import Action
from thence.dsl.run.execute import Emission, Sent
from thence.dsl.run.identity_reuse import ReusedIdentities
from thence.dsl.run.values import Fault, Message
from thence.proofs.abstraction.discipline import NotApplicable
from thence.proofs.native.symmetry import Symmetry

LONGEST = 8
"""Largest number of waiting messages that one step may network-send; a step that sends more is refused."""

Step: TypeAlias = tuple[int, tuple[Emission, ...]]


@dataclass(slots=True)
class PromptSends:
    """The check for one system; each local step is checked once.

    `symmetry`: what is checked of a local state is true of its renamings as well, so steps must be the same there.
    """

    system: ReusedIdentities
    queue: str | None
    symmetry: Symmetry | None = None
    _position: int = field(init=False, default=-1)
    _checked: set[tuple[int, int, int]] = field(init=False, default_factory=set)
    _waits: dict[tuple[int, int], tuple[Message, ...]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        names = [variable.name for variable in self.system.protocol.state]
        self._position = -1 if self.queue is None else names.index(self.queue)

    def check_state(self, process: int, local: int) -> None:
        """Checks the causal sends of this local state: conditions 1 and 2. Raises: NotApplicable, Asymmetric."""
        self._blocked(process, local)

    def check_arrival(self, action: Action, local: int) -> None:
        """Checks an arrival at this local state, in which nothing waits: condition 3.

        Raises:
            NotApplicable, Asymmetric.
        """
        key = (action.process, local, action.packet)
        if key in self._checked:
            return
        self._checked.add(key)
        blocked = self._blocked(action.process, local)
        if blocked:
            step = self._step(action.process, local, action, None)
            for first in blocked:
                self._compare(action, local, step, (first,))

    def _blocked(self, process: int, local: int) -> tuple[Message, ...]:
        """Messages that have to wait at the local state, one to each destination; each is checked to do only that."""
        known = self._waits.get((process, local))
        if known is not None:
            return known
        if self.queue is not None and self.system.local(local)[self._position]:
            raise NotApplicable(f"a message stays in `{self.queue}` that was network-sent")
        found = []
        for first in self._next_messages(process, 0):
            sent = self._step(process, local, _sending(first), first)
            if self.is_prompt(sent, first):
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

    def _step(self, process: int, local: int, action: Action, message: Message | None) -> Step:
        """The step, the same under all names. Raises: NotApplicable, where it is at fault (condition 4)."""
        step = self.system.local_step(process, local, action, message)
        if self.symmetry is not None:
            self.symmetry.check(action, message, local, step)
        if isinstance(step, Fault):
            raise NotApplicable(f"a step can be at fault: {step}")
        return step


def _sending(message: Message) -> Action:
    return Action("send", message.src, message.dsts)
