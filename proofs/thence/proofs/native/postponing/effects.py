"""The effects of inputs at a place of a process: the interpreter's local steps, remembered, for `right_movers`."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from thence.dsl import ir
from thence.dsl.ir.traversal import nodes
from thence.dsl.run.execute import Delivered
from thence.dsl.run.system import System
from thence.dsl.run.values import Fault, Message
from thence.proofs.native.inputs import Inputs
from thence.proofs.native.invariants import LocalJudge
from thence.proofs.native.symmetry import Symmetry, renamed_message

Emitted: TypeAlias = tuple[int | Message, ...]
"""The emissions of a step: packets, as the inputs of their arrivals, and messages delivered."""


class LocalPlace(NamedTuple):
    """Where a process is: how many messages it has sent, and the number of its local state."""

    process: int
    sends: int
    local: int


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of a step: the place to which it leads, and its emissions.

    Attributes:
        visible: whether it changes a variable that invariants of several processes read.
        broken: whether an invariant of one process is false where it leads.
        fault: whether it has no result.
    """

    after: LocalPlace
    emitted: Emitted
    visible: bool = False
    broken: bool = False
    fault: bool = False


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
    """The effects of inputs, which are numbers; see `inputs`.

    `watched`: positions of the variables that invariants of several processes read. Renamings of processes are
    numbers, too: 0 changes nothing.
    """

    system: System
    inputs: Inputs
    judge: LocalJudge
    watched: tuple[int, ...]
    symmetry: Symmetry | None
    _known: dict[tuple[LocalPlace, int], Effect] = field(init=False, default_factory=dict)
    _least: dict[LocalPlace, int] = field(init=False, default_factory=dict)
    _renamed: dict[tuple[int, int], int] = field(init=False, default_factory=dict)

    def effect(self, place: LocalPlace, given: int) -> Effect:
        """The effect of an input at a place.

        Raises:
            Asymmetric: where it differs from the effect under other names.
        """
        known = self._known.get((place, given))
        if known is None:
            known = self._known[place, given] = self._effect(place, given)
        return known

    def _effect(self, place: LocalPlace, given: int) -> Effect:
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
        """Emissions in a normal order: equal for emissions with the same effect.

        Packets that leave between two deliveries may leave in any order; on FIFO networks those of each channel keep
        theirs.
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
        return sorted(leaving, key=lambda arrival: self.inputs[arrival].action.process)

    def is_arrival(self, given: int) -> bool:
        """Whether the input is the arrival of a packet."""
        return self.inputs.is_arrival(given)

    def is_send(self, given: int) -> bool:
        """Whether the input is a causal send."""
        return self.inputs[given].message is not None

    def sends_at(self, place: LocalPlace) -> tuple[int, ...]:
        """The causal sends that the application may do at a place."""
        return self.inputs.sends(place.process, place.sends)

    # --- renamings ---------------------------------------------------------------------------

    def to_least(self, place: LocalPlace) -> int:
        """A renaming that makes the least of this place."""
        if self.symmetry is None:
            return 0
        known = self._least.get(place)
        if known is None:
            locals_ = self.symmetry.locals(place.local)
            names = [(permutation[place.process], locals_[at]) for at, permutation in enumerate(self.symmetry.group)]
            known = self._least[place] = names.index(min(names))
        return known

    def inverse(self, renaming: int) -> int:
        """The renaming that undoes this one."""
        return 0 if self.symmetry is None else self.symmetry.inverses[renaming]

    def renamed_place(self, place: LocalPlace, renaming: int) -> LocalPlace:
        """A place under a renaming."""
        if self.symmetry is None or not renaming:
            return place
        permutation, locals_ = self.symmetry.group[renaming], self.symmetry.locals(place.local)
        return LocalPlace(permutation[place.process], place.sends, locals_[renaming])

    def renamed_input(self, given: int, renaming: int) -> int:
        """An input under a renaming."""
        if self.symmetry is None or not renaming:
            return given
        known = self._renamed.get((given, renaming))
        if known is None:
            known = self._renamed[given, renaming] = self._rename(self.symmetry, given, renaming)
        return known

    def _rename(self, symmetry: Symmetry, given: int, renaming: int) -> int:
        message, permutation = self.inputs[given].message, symmetry.group[renaming]
        if message is not None:
            return self.inputs.sending(renamed_message(message, permutation))
        if self.inputs.is_arrival(given):
            return self.inputs.arrival(symmetry.packets(self.inputs.packet(given))[renaming])
        return permutation[given]
