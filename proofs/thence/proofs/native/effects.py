"""What inputs do where a process is, as `confluence` asks it: the interpreter's local steps, remembered."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from thence.dsl import ir
from thence.dsl.ir.traversal import nodes
from thence.dsl.run.execute import Delivered
from thence.dsl.run.system import System
from thence.dsl.run.values import Fault, Message
from thence.proofs.native.confluence import Claim, Effect, Emitted, Place
from thence.proofs.native.inputs import Inputs
from thence.proofs.native.invariants import LocalJudge
from thence.proofs.native.symmetry import Symmetry, renamed_message


def variables_read(protocol: ir.Protocol, invariants: Collection[str]) -> tuple[int, ...]:
    """The positions of the state variables that these invariants read."""
    names = {
        node.name
        for invariant in protocol.invariants
        if invariant.name in invariants
        for node in nodes(invariant.body)
        if isinstance(node, ir.StateOf)
    }
    return tuple(at for at, variable in enumerate(protocol.state) if variable.name in names)


@dataclass(slots=True)
class Effects:
    """The effects of inputs. `watched`: positions of the variables that are judged elsewhere."""

    system: System
    inputs: Inputs
    judge: LocalJudge
    watched: tuple[int, ...]
    symmetry: Symmetry | None
    _known: dict[tuple[Place, int], Effect] = field(init=False, default_factory=dict)
    _least: dict[Place, tuple[int, ...]] = field(init=False, default_factory=dict)
    _inputs: dict[tuple[int, int], int] = field(init=False, default_factory=dict)

    def effect(self, place: Place, given: int) -> Effect:
        """What an input does at a place.

        Raises:
            Asymmetric: where it differs from the effect under other names.
        """
        known = self._known.get((place, given))
        if known is None:
            known = self._known[place, given] = self._effect(place, given)
        return known

    def _effect(self, place: Place, given: int) -> Effect:
        known = self.inputs[given]
        step = self.system.local_step(place.process, place.local, known.action, known.message)
        if self.symmetry is not None:
            self.symmetry.check(known.action, known.message, place.local, step)
        after = place if known.message is None else place._replace(sends=place.sends + 1)
        if isinstance(step, Fault):
            return Effect(after, (), fault=True)
        local, emissions = step
        emitted = tuple(
            emission.message
            if isinstance(emission, Delivered)
            else self.inputs.arrival(self.system.packet_number(place.process, emission))
            for emission in emissions
        )
        before, now = self.system.local(place.local), self.system.local(local)
        visible = any(before[at] != now[at] for at in self.watched)
        broken = bool(self.judge.broken(place.process, local))
        return Effect(after._replace(local=local), self.arranged(emitted), visible, broken)

    def arranged(self, emitted: Emitted) -> Emitted:
        """Emissions in an order of which nothing but their effect depends: packets that leave between two
        deliveries in any order, on FIFO networks each channel's in its own.
        """
        found: list[int | Message] = []
        leaving: list[int] = []
        for one in emitted:
            if isinstance(one, Message):
                found += [*self._ordered(leaving), one]
                leaving = []
            else:
                leaving.append(one)
        return (*found, *self._ordered(leaving))

    def _ordered(self, leaving: list[int]) -> list[int]:
        if self.system.protocol.network.reordering:
            return sorted(leaving)
        return sorted(leaving, key=self._receiver)

    def _receiver(self, arrival: int) -> int:
        return self.inputs[arrival].action.process

    def apart(self, one: Emitted, other: Emitted) -> bool:
        """Whether it makes no difference which of the two leaves first."""
        if self.system.protocol.network.reordering:
            return True
        receivers = {self._receiver(packet) for packet in one if not isinstance(packet, Message)}
        return not any(self._receiver(packet) in receivers for packet in other if not isinstance(packet, Message))

    def is_arrival(self, given: int) -> bool:
        """Whether the input is the arrival of a packet."""
        return self.inputs.is_arrival(given)

    def is_send(self, given: int) -> bool:
        """Whether the input is a causal send."""
        return self.inputs[given].message is not None

    def sends_at(self, place: Place) -> tuple[int, ...]:
        """What the application may send at a place, at any time."""
        return self.inputs.sends(place.process, place.sends)

    def all_renamings(self) -> tuple[int, ...]:
        """The renamings of processes that states are stored up to, by number; 0 changes nothing."""
        return (0,) if self.symmetry is None else tuple(range(len(self.symmetry.group)))

    def least(self, place: Place) -> tuple[int, ...]:
        """The renamings that make the least of this place."""
        if self.symmetry is None:
            return (0,)
        known = self._least.get(place)
        if known is None:
            locals_ = self.symmetry.locals(place.local)
            names = [(permutation[place.process], locals_[at]) for at, permutation in enumerate(self.symmetry.group)]
            best = min(names)
            known = self._least[place] = tuple(at for at, name in enumerate(names) if name == best)
        return known

    def inverse(self, renaming: int) -> int:
        """The renaming that undoes this one, by number."""
        return 0 if self.symmetry is None else self.symmetry.inverses[renaming]

    def renamed(self, place: Place, given: int, renaming: int) -> Claim:
        """A place and an input under a renaming."""
        symmetry = self.symmetry
        if symmetry is None or not renaming:
            return Claim(place, given)
        permutation = symmetry.group[renaming]
        other = self._inputs.get((given, renaming))
        if other is None:
            other = self._inputs[given, renaming] = self._renamed_input(symmetry, given, renaming)
        local = symmetry.locals(place.local)[renaming]
        return Claim(Place(permutation[place.process], place.sends, local), other)

    def _renamed_input(self, symmetry: Symmetry, given: int, renaming: int) -> int:
        message, permutation = self.inputs[given].message, symmetry.group[renaming]
        if message is not None:
            return self.inputs.sending(renamed_message(message, permutation))
        if self.inputs.is_arrival(given):
            return self.inputs.arrival(symmetry.packets(self.inputs.packet(given))[renaming])
        return permutation[given]
