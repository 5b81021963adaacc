"""Which states the interpreter judges: one of each kind, where states of a kind differ in nothing that it looks at."""

from __future__ import annotations

from dataclasses import dataclass, field

from thence.dsl.ir.observability import judged_in_states
from thence.dsl.ir.properties import COMPLETES, DEADLOCK_FREE, DELIVERED, LINK
from thence.proofs.explore.exploration import ExplorationRequest
from thence.proofs.fairness.fairness import Fairness, fairness_of, is_decided_at_rest
from thence.proofs.links.following import companion_of
from thence.proofs.native.code.cells import MOST_INVARIANTS
from thence.proofs.native.invariants import is_partial, judged_locally
from thence.proofs.native.judging.sieve import Kind, Quiet
from thence.proofs.native.layout import Shape


@dataclass(slots=True)
class Kinds:
    """The kinds of states of a scope, by what is asked of them."""

    request: ExplorationRequest
    shape: Shape
    _fairness: Fairness = field(init=False)

    def __post_init__(self) -> None:
        self._fairness = fairness_of(self.request.system)

    def named(self) -> dict[str, Kind]:
        """The kinds that are judged while the search goes on, by the names of the judgements."""
        properties, kinds = self.request.properties, dict[str, Kind]()
        if self._elsewhere & properties:
            companion = companion_of(self.request.system)
            flying = ("network",) * self.request.system.sees_network
            seen = ("locals", *flying) if companion is None else companion.judged_by
            kinds["locals"] = (seen, Quiet.NOT_ONLY)
        if properties & {formula.name for formula in self.request.system.protocol.rest}:
            kinds["rest"] = self._silent()
        if DEADLOCK_FREE in properties:
            kinds["blocked"] = self._silent()
        if COMPLETES in properties and self.shape.places > 1:
            kinds["completed"] = (("locals", "sends"), Quiet.NOT_ONLY)
        quiet = self.is_fair_to_packets and self.shape.places == 1
        if self.promised:
            kinds["promises"] = self.with_promises(quiet=quiet)
        if DELIVERED in properties and not is_decided_at_rest(self.request.system):
            kinds["tails"] = self.with_tails(quiet=quiet)
        elif DELIVERED in properties and self.shape.places > 1:
            kinds["stuck"] = self.with_tails(quiet=False)
        return kinds

    def with_tails(self, *, quiet: bool) -> Kind:
        """States whose tails may differ."""
        fields = ("locals", "due", "addressed", *self._counted_in_tails)
        return (fields, Quiet.WAITING) if quiet else (("network", *fields), Quiet.NOT_ONLY)

    def with_promises(self, *, quiet: bool) -> Kind:
        """The same of what is promised."""
        fields = ("locals", "owed", *self._counted_in_tails)
        return (fields, Quiet.SILENT) if quiet else (("network", *fields), Quiet.NOT_ONLY)

    @property
    def is_fair_to_packets(self) -> bool:
        """Whether a fair run that has an end, or is quiet again and again, has nothing in flight there."""
        return len(self._fairness.receive) == len(self.request.system.protocol.packets)

    @property
    def promised(self) -> list[str]:
        """The promises that are asked for."""
        stated = self.request.system.protocol.promises
        return [promise.name for promise in stated if promise.name in self.request.properties]

    @property
    def _elsewhere(self) -> set[str]:
        """What native code does not judge: formulas over several processes, and whether a machine agrees."""
        system = self.request.system
        local = {each.name for each in judged_locally(system.protocol, MOST_INVARIANTS)}
        names = {each.name for each in judged_in_states(system.protocol)} - local
        names |= {each.name for each in system.protocol.promises if is_partial(each)}
        companion = companion_of(system)
        return names | {LINK} if companion is not None and companion.judged_by else names

    def _silent(self) -> Kind:
        """States in which nothing can arrive: nothing is in flight, or programs keep it from arriving."""
        fields: tuple[str, ...] = ("locals", "sends", "ticks")
        if self.shape.identities:
            fields += ("due", "order")  # the identities that are in use
        return (("network", *fields), Quiet.NOT_ONLY) if self.shape.places > 1 else (fields, Quiet.SILENT)

    @property
    def _counted_in_tails(self) -> tuple[str, ...]:
        return (
            *["sends"] * self._fairness.send,
            *["ticks"] * bool(self._fairness.inputs),
            *["order"] * bool(self.shape.identities),
        )
