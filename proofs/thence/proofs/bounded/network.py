"""The network of a symbolic run: a bag of slots, one for every packet that a step may send, in the order of sending."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from thence.proofs.bounded.circuit import FALSE, Circuit, Literal
from thence.proofs.bounded.refinement import literals_of, refined
from thence.proofs.bounded.symbolic import (
    Choice,
    Fields,
    Slots,
    Symbolic,
    choice_of,
    condition_of,
    select,
)

Origin: TypeAlias = tuple[int, int]
"""The origin of a packet: the step that sent it, and its place among the emissions of the step; -1 for a duplicate."""


@dataclass(frozen=True, slots=True)
class InFlight:
    """A slot: a packet, if `present`. `payload[k]` are the arguments where it is of the k-th kind."""

    origin: Origin
    present: Literal
    source: Choice
    to: Choice
    kind: Choice
    payload: tuple[Symbolic, ...]


@dataclass(frozen=True, slots=True)
class Emitted:
    """The emissions of a step, if it `happened`, and its process.

    Each of `items` is (tag, receiver, payload by tag); the tags are the packet kinds in their order, then `deliver`.
    """

    happened: Literal
    actor: Choice
    items: Slots


@dataclass(slots=True)
class Network:
    """The packets in flight. Without `reordering` each channel is FIFO."""

    circuit: Circuit
    reordering: bool
    slots: list[InFlight] = field(default_factory=list)

    @property
    def empty(self) -> Literal:
        """Whether nothing is in flight."""
        return -self.circuit.disj(packet.present for packet in self.slots)

    def receivable(self) -> Iterator[tuple[InFlight, Literal]]:
        """The packets, and whether each may arrive next: it is in flight, and on a FIFO channel none is before it."""
        circuit = self.circuit
        for position, packet in enumerate(self.slots):
            if self.reordering:
                yield packet, packet.present
                continue
            ahead = (
                circuit.conj((other.present, self._same_channel(other, packet))) for other in self.slots[:position]
            )
            yield packet, circuit.conj((packet.present, -circuit.disj(ahead)))

    def _same_channel(self, one: InFlight, other: InFlight) -> Literal:
        def equal(left: Choice, right: Choice) -> Literal:
            return circuit.disj(circuit.conj((literal, condition_of(right, value))) for value, literal in left.options)

        circuit = self.circuit
        return circuit.conj((equal(one.source, other.source), equal(one.to, other.to)))

    def remove(self, gone: Mapping[Origin, Literal]) -> None:
        """Removes packets, each where its literal is true."""
        self.slots = [
            replace(packet, present=self.circuit.conj((packet.present, -gone.get(packet.origin, FALSE))))
            for packet in self.slots
        ]

    def duplicate(self, chosen: Mapping[Origin, Literal], step: int) -> None:
        """Adds a copy of the packet whose literal is true."""
        copied = [(chosen[packet.origin], packet) for packet in self.slots if packet.origin in chosen]
        if copied:
            circuit = self.circuit
            kinds = len(copied[0][1].payload)
            self.slots.append(
                InFlight(
                    (step, -1),
                    circuit.disj(when for when, _ in copied),
                    choice_of(select(circuit, [(when, packet.source) for when, packet in copied])),
                    choice_of(select(circuit, [(when, packet.to) for when, packet in copied])),
                    choice_of(select(circuit, [(when, packet.kind) for when, packet in copied])),
                    tuple(
                        select(circuit, [(when, packet.payload[kind]) for when, packet in copied])
                        for kind in range(kinds)
                    ),
                )
            )

    def post(self, emitted: Emitted, kinds: int, step: int) -> None:
        """Adds the packets that a step sends."""
        circuit = self.circuit
        for position, item in enumerate(emitted.items.items):
            tag, to, *payload = parts_of(item)
            there = circuit.disj(literal for value, literal in emitted.items.count.options if value > position)
            kind = Choice(tuple(option for option in choice_of(tag).options if option[0] < kinds))
            present = circuit.conj((emitted.happened, there, circuit.disj(literal for _, literal in kind.options)))
            if present != FALSE:
                packet = InFlight((step, position), present, emitted.actor, choice_of(to), kind, tuple(payload[:kinds]))
                self.slots.append(packet)

    def literals(self) -> Iterator[Literal]:
        """Every literal of the slots."""
        for packet in self.slots:
            yield packet.present
            for value in (packet.source, packet.to, packet.kind, *packet.payload):
                yield from literals_of(value)

    def refine(self) -> None:
        """Simplifies the slots by the literals that the circuit has learnt; impossible packets are removed."""
        circuit = self.circuit
        self.slots = [
            InFlight(
                packet.origin,
                circuit.now(packet.present),
                choice_of(refined(packet.source, circuit)),
                choice_of(refined(packet.to, circuit)),
                choice_of(refined(packet.kind, circuit)),
                tuple(refined(value, circuit) for value in packet.payload),
            )
            for packet in self.slots
            if circuit.now(packet.present) != FALSE
        ]


def parts_of(value: Symbolic) -> Sequence[Symbolic]:
    """The parts of a tuple."""
    assert isinstance(value, Fields)
    return value.values
