"""Code that notes violations of the properties that are judged."""

from __future__ import annotations

from collections.abc import Collection

from thence.proofs.native.code.cells import FINDINGS, Own
from thence.proofs.native.code.emit import ThreadEmitter, Value


class Findings:
    """Notes, for each property, the least number of a state with an action that violates it."""

    def __init__(self, properties: Collection[str]) -> None:
        self.properties = frozenset(properties)

    def judges(self, *properties: str) -> bool:
        """Whether one of the properties is judged."""
        return not self.properties.isdisjoint(properties)

    def note(self, emit: ThreadEmitter, property_: str, parent: Value) -> None:
        """An action of the state `parent` violates the property; nothing is noted if it is not judged."""
        if self.judges(property_):
            self.note_at(emit, Own.FOUND + FINDINGS.index(property_), parent)

    def note_at(self, emit: ThreadEmitter, cell: Value | int, parent: Value) -> None:
        """The same for the property whose cell this is."""
        known = emit.load(emit.own, cell)
        emit.store(emit.select(emit.compare(parent, "<", known), parent, known), emit.own, cell)
