"""The history of a symbolic run, and the violations of properties by its events; see `thence.dsl.run.causality`."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from thence.proofs.bounded.circuit import FALSE, TRUE, Circuit, Literal
from thence.proofs.bounded.expressions import Messages
from thence.proofs.bounded.symbolic import Choice, condition_of

JUDGED = ("causal", "causally_ordered", "fifo", "at_most_once", "no_creation", "csps", "sps", "total_order")
"""The properties that are judged at events."""


@dataclass(slots=True)
class History:
    """The causal past of every process and message, as literals.

    Attributes:
        past: (process, message): the message is in the causal past of the process.
        before: (a, b): a is in the causal past of b's causal send.
        due: (message, process): sent to the process and not delivered there.
        done: (message, process): delivered there.
        order: (a, b): some process delivered a before b.
        overtaken: (message, process): the process delivered a message that this one happened before, and not this one.
    """

    circuit: Circuit
    messages: Messages
    processes: int
    is_sent: list[Literal] = field(init=False)
    past: dict[tuple[int, int], Literal] = field(default_factory=dict)
    before: dict[tuple[int, int], Literal] = field(default_factory=dict)
    due: dict[tuple[int, int], Literal] = field(default_factory=dict)
    done: dict[tuple[int, int], Literal] = field(default_factory=dict)
    order: dict[tuple[int, int], Literal] = field(default_factory=dict)
    overtaken: dict[tuple[int, int], Literal] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.is_sent = [FALSE] * len(self.messages.sources)

    def literals(self) -> Iterator[Literal]:
        """Every literal of the history."""
        yield from self.is_sent
        for table in (self.past, self.before, self.due, self.done, self.order, self.overtaken):
            yield from table.values()

    def refine(self) -> None:
        """Simplifies the history by the literals that the circuit has learnt."""
        now = self.circuit.now
        self.is_sent = [now(literal) for literal in self.is_sent]
        for table in (self.past, self.before, self.due, self.done, self.order, self.overtaken):
            for key, literal in list(table.items()):
                table[key] = now(literal)

    def destined(self, message: int, process: int) -> Literal:
        """Whether the process is among the message's destinations."""
        return self.circuit.disj(
            literal for literal, destinations in self.messages.destinations[message] if process in destinations
        )

    def can_send(self, message: int) -> Literal:
        """Whether the message is its sender's next."""
        first = message == 0 or self.messages.sources[message - 1] != self.messages.sources[message]
        return self.circuit.conj((-self.is_sent[message], TRUE if first else self.is_sent[message - 1]))

    def sent(self, message: int, when: Literal) -> None:
        """The message is causal-sent."""
        circuit, source = self.circuit, self.messages.sources[message]
        for other in range(len(self.messages.sources)):
            known = self.past.get((source, other), FALSE)
            if other != message and known != FALSE:
                already = self.before.get((other, message), FALSE)
                self.before[other, message] = circuit.disj((already, circuit.conj((when, known))))
        self.past[source, message] = circuit.disj((self.past.get((source, message), FALSE), when))
        for process in range(self.processes):
            goes = circuit.conj((when, self.destined(message, process)))
            self.due[message, process] = circuit.disj((self.due.get((message, process), FALSE), goes))
        self.is_sent[message] = circuit.disj((self.is_sent[message], when))

    def undelivered(self, message: int) -> Literal:
        """Whether some process has yet to deliver it."""
        return self.circuit.disj(self.due.get((message, process), FALSE) for process in range(self.processes))

    def network_sent(
        self, message: Choice, actor: Choice, when: Literal, properties: Collection[str]
    ) -> Iterator[tuple[str, Literal]]:
        """The violations of CSPS and SPS if the message is network-sent now."""
        if not {"csps", "sps"} & set(properties):
            return
        circuit = self.circuit
        for number, literal in message.options:
            here = circuit.conj((when, literal, self.undelivered(number)))
            for other in range(len(self.messages.sources)):
                known = circuit.conj((here, self.before.get((other, number), FALSE)))
                source = self.messages.sources[other]
                foreign = circuit.conj((known, -condition_of(actor, source), self.undelivered(other)))
                if foreign == FALSE:
                    continue
                yield "csps", foreign
                elsewhere = circuit.disj(
                    circuit.conj((self.due.get((other, process), FALSE), -condition_of(actor, process)))
                    for process in range(self.processes)
                )
                asked = circuit.disj(
                    literal
                    for literal, destinations in self.messages.destinations[number]
                    if any(destination != source for destination in destinations)
                )
                yield "sps", circuit.conj((foreign, elsewhere, asked))

    def delivered(
        self, message: Choice, actor: Choice, when: Literal, properties: Collection[str]
    ) -> Iterator[tuple[str, Literal]]:
        """Delivers the message, and yields the violations of its delivery."""
        circuit = self.circuit
        everything = range(len(self.messages.sources))
        learnt: list[tuple[int, int, Literal]] = []
        for number, literal in message.options:
            for process, acts in actor.options:
                here = circuit.conj((when, literal, acts))
                if here == FALSE:
                    continue
                expected = self.due.get((number, process), FALSE)
                unexpected = circuit.conj((here, -expected))
                destined = self.destined(number, process)
                yield "at_most_once", circuit.conj((unexpected, destined))
                yield "no_creation", circuit.conj((unexpected, -destined))
                now = circuit.conj((here, expected))
                for other in everything:
                    earlier = self.before.get((other, number), FALSE)
                    if other == number or earlier == FALSE:
                        continue
                    if {"causal", "causally_ordered", "fifo"} & set(properties):
                        wrong = circuit.conj((now, earlier, self.due.get((other, process), FALSE)))
                        late = self.overtaken.get((other, process), FALSE)
                        self.overtaken[other, process] = circuit.disj((late, wrong))
                        yield "causal", wrong
                        if self.messages.sources[other] == self.messages.sources[number]:
                            yield "fifo", wrong
                    learnt.append((process, other, circuit.conj((now, earlier))))
                learnt.append((process, number, now))
                yield "causally_ordered", circuit.conj((now, self.overtaken.get((number, process), FALSE)))
                if "total_order" in properties:
                    yield "total_order", self._crossed(number, process, now)
                    self._line_up(number, process, now)
                self.due[number, process] = circuit.conj((expected, -here))
        for process, other, known in learnt:
            self.past[process, other] = circuit.disj((self.past.get((process, other), FALSE), known))

    def _crossed(self, message: int, process: int, now: Literal) -> Literal:
        """Whether the process delivers the message after one that another process delivered behind it."""
        circuit = self.circuit
        return circuit.disj(
            circuit.conj((now, self.order.get((message, late), FALSE), self.done.get((late, process), FALSE)))
            for late in range(len(self.messages.sources))
        )

    def _line_up(self, message: int, process: int, now: Literal) -> None:
        circuit = self.circuit
        for early in range(len(self.messages.sources)):
            behind = circuit.conj((now, self.done.get((early, process), FALSE)))
            if early != message and behind != FALSE:
                self.order[early, message] = circuit.disj((self.order.get((early, message), FALSE), behind))
        self.done[message, process] = circuit.disj((self.done.get((message, process), FALSE), now))
