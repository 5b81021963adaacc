"""The renamings of a symmetry as arrays for native code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from thence.proofs.native.code.cells import Shared
from thence.proofs.native.layout import Capacity
from thence.proofs.native.memory import Array
from thence.proofs.native.symmetry import Symmetry
from thence.proofs.native.tables import StepTable


@dataclass(slots=True)
class Renaming:
    """Local states and packets by permutation and number, and the classes of local states by number."""

    symmetry: Symmetry
    table: StepTable
    capacity: Capacity
    locals: Array
    packets: Array
    classes: Array
    locals_done: int = 0
    packets_done: int = 0

    @staticmethod
    def start(symmetry: Symmetry, table: StepTable, capacity: Capacity, shared: Array) -> Renaming:
        order, local_states, packets = len(symmetry.group), 1 << capacity.local_bits, 1 << capacity.packet_bits
        renaming = Renaming(
            symmetry, table, capacity,
            Array(order * local_states, 4), Array(order * packets, 4), Array(local_states, 4),
        )  # fmt: skip
        shared[Shared.RENAMED_LOCALS] = renaming.locals.address
        shared[Shared.RENAMED_PACKETS] = renaming.packets.address
        shared[Shared.CLASSES] = renaming.classes.address
        return renaming

    def parts(self) -> list[memoryview]:
        """What native code reads, as bytes, as far as numbers are used: the classes, then local states and packets by
        permutation."""
        local_states, packets = self.table.locals_used, self.table.packets_used + 1
        found = [self.classes.view(0, local_states)]
        for at in range(len(self.symmetry.group)):
            found.append(self.locals.view(at << self.capacity.local_bits, local_states))
            found.append(self.packets.view(at << self.capacity.packet_bits, packets))
        return found

    def take_parts(self, parts: Sequence[bytes]) -> None:
        """What native code reads becomes that of another renaming of the same size, of which these are the parts."""
        classes, *renamed = parts
        self.classes.view(0, len(classes) // 4)[:] = classes
        for at, (local_states, packets) in enumerate(zip(renamed[::2], renamed[1::2], strict=True)):
            self.locals.view(at << self.capacity.local_bits, len(local_states) // 4)[:] = local_states
            self.packets.view(at << self.capacity.packet_bits, len(packets) // 4)[:] = packets

    def extend(self) -> None:
        """Writes down the local states and packets that have become known since the last call."""
        symmetry, capacity, table = self.symmetry, self.capacity, self.table
        for number in islice(table.locals_noted, self.locals_done, None):
            names = symmetry.locals(number)
            self.classes[number] = min(names)
            for at, name in enumerate(names):
                self.locals[at << capacity.local_bits | number] = name
        for number in islice(table.packets_noted, self.packets_done, None):
            for at, name in enumerate(symmetry.packets(number)):
                self.packets[at << capacity.packet_bits | number + 1] = name + 1
        self.locals_done, self.packets_done = len(table.locals_noted), len(table.packets_noted)
