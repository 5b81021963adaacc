"""Which arrivals may be taken alone: derived from the local steps themselves.

A process has reached a `Place`: its number, how many messages it has sent, its local state. Claimed is, of the arrival
t of a packet at a place, that it delivers nothing, and that whatever else this process may do while the packet is in
flight commutes with t: the same local state, the same packets sent and messages delivered by each of the two. What
others do commutes with t anyhow, since they share nothing with it but packets that are there. So t may go first.

What a place may do is not known beforehand. It is what the reduced search saw (`observe`), and what follows from
it: if t may go first at a place and b is possible after t, b is possible before it. All of this is a finite closure,
kept up to date as the search sees more; a claim that it refutes is withdrawn, with all that rests on it. Once
the search ends with no claim withdrawn that it had used, every run leads, by claimed steps alone, to
a state that it reached: the induction over the length of a run is in docs/exploring.md.

The claims concern reliable packets: while packets may still be lost or duplicated, nothing is taken alone.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, TypeAlias

from thence.dsl.run.values import Message

Emitted: TypeAlias = tuple[int | Message, ...]
"""What a step emits: packets, as the inputs that their arrivals are, and the messages that it delivers."""


_MOST_PLACES = 1_000_000


class Unbounded(Exception):
    """Why nothing can be claimed: what is possible has no end that is known."""


class Place(NamedTuple):
    """Where a process is: how many messages it has sent, and the number of its local state."""

    process: int
    sends: int
    local: int


@dataclass(frozen=True, slots=True)
class Effect:
    """What a step does: where it leads, and what it emits.

    Attributes:
        visible: whether it changes what invariants of several processes read.
        broken: whether an invariant of one process is false where it leads.
        fault: whether it has no result.
    """

    after: Place
    emitted: Emitted
    visible: bool = False
    broken: bool = False
    fault: bool = False

    @property
    def deliveries(self) -> int:
        """How many messages are delivered."""
        return sum(isinstance(one, Message) for one in self.emitted)


class Claim(NamedTuple):
    """That `given` may be taken alone at the place."""

    place: Place
    given: int


class Steps(Protocol):
    """What the closure needs to know of the system; see `effects`. Inputs are numbers."""

    def effect(self, place: Place, given: int) -> Effect:
        """What an input does at a place."""

    def sends_at(self, place: Place) -> tuple[int, ...]:
        """The causal sends that the application may do at a place."""

    def is_arrival(self, given: int) -> bool:
        """Whether the input is the arrival of a packet."""

    def is_send(self, given: int) -> bool:
        """Whether the input is a causal send."""

    def arranged(self, emitted: Emitted) -> Emitted:
        """Emissions in an order of which only their effect depends."""

    def apart(self, one: Emitted, other: Emitted) -> bool:
        """Whether it makes no difference which of the two leaves first."""

    def least(self, place: Place) -> tuple[int, ...]:
        """The renamings of processes, by number, that make the least of this place; one if there is no symmetry."""

    def all_renamings(self) -> tuple[int, ...]:
        """All renamings, by number."""

    def inverse(self, renaming: int) -> int:
        """The renaming that undoes this one, by number."""

    def renamed(self, place: Place, given: int, renaming: int) -> Claim:
        """A place and an input under a renaming."""


@dataclass(slots=True)
class Confluence:
    """The claims that nothing known refutes.

    `most`: how many messages each process can deliver if it delivers none twice; whoever uses the claims must see to it
    that none is. `withdrawn` collects the claims that were refuted since they were made.
    """

    steps: Steps
    most: tuple[int, ...]
    alone: set[Claim] = field(default_factory=set)
    withdrawn: list[Claim] = field(default_factory=list)
    _possible: dict[Place, dict[int, None]] = field(default_factory=dict)
    _delivered: dict[Place, int] = field(default_factory=dict)
    _parked: defaultdict[Place, set[int]] = field(default_factory=lambda: defaultdict(set))
    _refuted: set[Claim] = field(default_factory=set)
    _needed_by: defaultdict[Claim, set[Claim]] = field(default_factory=lambda: defaultdict(set))
    _into: defaultdict[Place, list[Claim]] = field(default_factory=lambda: defaultdict(list))
    _causes: defaultdict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    _work: list[tuple[Claim, int | None]] = field(default_factory=list)

    def start(self, place: Place) -> None:
        """A process starts here."""
        self._reach(place, 0)
        self._settle()

    def observe(self, place: Place, given: int) -> None:
        """The search takes this step, or may."""
        self._add(place, given)
        self._settle()

    def _settle(self) -> None:
        while self._work:
            claim, other = self._work.pop()
            if other is None:
                self._follow(claim)
                continue
            if self.stands(*claim):
                self._swap(claim, other)

    def stands(self, place: Place, given: int) -> bool:
        """Whether the step may be taken alone."""
        return self._least(place, given) in self.alone

    # --- up to renaming ----------------------------------------------------------------------

    def _least(self, place: Place, given: int) -> Claim:
        """The claim that stands for all renamings of this one."""
        return min(self._all_least(place, given))

    def _all_least(self, place: Place, given: int) -> list[Claim]:
        """The claim in all namings in which its place is the least."""
        return [self.steps.renamed(place, given, renaming) for renaming in self.steps.least(place)]

    def _least_place(self, place: Place) -> Place:
        renamed, _ = self.steps.renamed(place, 0, self.steps.least(place)[0])
        return renamed

    # --- what is possible --------------------------------------------------------------------

    def _reach(self, place: Place, delivered: int) -> None:
        """The place can be reached after so many deliveries, if not after fewer."""
        stack = [(self._least_place(place), delivered)]
        while stack:
            here, count = stack.pop()
            if count > self.most[here.process] or count >= self._delivered.get(here, count + 1):
                continue
            self._delivered[here] = count
            if len(self._delivered) > _MOST_PLACES:
                raise Unbounded(f"there are more than {_MOST_PLACES:,} local states to be considered")
            for given in (*self._parked.pop(here, ()), *self.steps.sends_at(here)):
                self._enter(here, given)
            for given in self._possible.get(here, ()):
                effect = self.steps.effect(here, given)
                if not effect.fault:
                    stack.append((self._least_place(effect.after), count + effect.deliveries))

    def _add(self, place: Place, given: int) -> None:
        """The input is possible at the place."""
        for least, other in self._all_least(place, given):
            self._enter(least, other)

    def _enter(self, place: Place, given: int) -> None:
        """The same for a place that is the least, if so much can have been delivered."""
        known = self._possible.setdefault(place, {})
        if given in known:
            return
        effect = self.steps.effect(place, given)
        before = self._delivered.get(place)
        if before is None or before + effect.deliveries > self.most[place.process]:
            self._parked[place].add(given)
            return
        known[given] = None
        self._work.append((Claim(place, given), None))
        if not effect.fault:
            self._reach(effect.after, before + effect.deliveries)

    def _possible_at(self, place: Place) -> list[int]:
        """What is possible, for a place that is the least."""
        return list(self._possible.get(place, ()))

    def _follow(self, claim: Claim) -> None:
        """All that follows from a new possibility."""
        place, given = claim
        if not self.steps.is_send(given):
            self._claim_alone(claim)
        self._work += [(first, given) for first in self._into[place]]

    # --- steps taken alone -------------------------------------------------------------------

    def _claim_alone(self, wanted: Claim) -> bool:
        """Claims it, unless what it does speaks against it; whether it is claimed."""
        claim = self._least(*wanted)
        if claim in self.alone:
            return True
        if claim in self._refuted or not self.steps.is_arrival(claim.given):
            return False
        effect = self.steps.effect(*claim)
        unfit = effect.fault or effect.visible or effect.broken or effect.deliveries > 0
        if unfit or self._endless(claim, effect):
            self._refuted.add(claim)
            return False
        self.alone.add(claim)
        self._add(*claim)
        for renaming in self.steps.least(effect.after):
            first = self.steps.renamed(*claim, renaming)
            after, _ = self.steps.renamed(effect.after, claim.given, renaming)
            self._into[after].append(first)
            self._work += [(first, other) for other in self._possible_at(after)]
        return True

    def _endless(self, claim: Claim, effect: Effect) -> bool:
        """Whether steps taken alone could lead from its packets to its own again; notes what leads where otherwise."""
        for renaming in self.steps.all_renamings():
            _, given = self.steps.renamed(*claim, renaming)
            caused = [
                self.steps.renamed(claim.place, one, renaming).given
                for one in effect.emitted
                if not isinstance(one, Message)
            ]
            if any(self._leads_to(one, given) for one in caused):
                return True
            self._causes[given].update(caused)
        return False

    def _leads_to(self, start: int, wanted: int) -> bool:
        seen, stack = {start}, [start]
        while stack:
            current = stack.pop()
            if current == wanted:
                return True
            following = self._causes.get(current, set()) - seen
            seen |= following
            stack += following
        return False

    def _swap(self, claim: Claim, given: int) -> None:
        """`given` is possible after the claimed step: then it is before it, and must have the same result."""
        place, alone = claim
        if given == alone:
            return
        effect = self.steps.effect
        first = effect(place, alone)
        then, before = effect(first.after, given), effect(place, given)
        self._add(place, given)
        if then.fault or before.fault:
            if not (then.fault and before.fault):
                self._refute(claim)
            return
        after = Claim(before.after, alone)
        last = effect(*after)
        if (
            before.broken
            or last.fault
            or last.after != then.after
            or before.emitted != then.emitted
            or last.emitted != first.emitted
            or not self.steps.apart(first.emitted, then.emitted)
        ):
            self._refute(claim)
            return
        self._needed_by[self._least(*after)].add(self._least(*claim))
        if not self._claim_alone(after):
            self._refute(claim)

    # --- claims that do not hold -------------------------------------------------------------

    def _refute(self, claim: Claim) -> None:
        """Withdraws a claim and all that need it."""
        stack = [self._least(*claim)]
        while stack:
            current = stack.pop()
            if current in self._refuted:
                continue
            self._refuted.add(current)
            if current in self.alone:
                self.alone.discard(current)
                self.withdrawn.append(current)
            stack += self._needed_by.pop(current, ())
