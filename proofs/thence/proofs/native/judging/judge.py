"""The judgements on the states of one search: the interpreter shows what native code finds, and judges the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from thence.dsl.ir.properties import COMPLETES, DEADLOCK_FREE, DELIVERED, LINK
from thence.dsl.run.actions import State
from thence.dsl.run.quiescence import MOST_SETTLING, Unsettled, blocked, completed, stuck
from thence.proofs.explore.exploration import CUT_SHORT, Exploration, ExplorationRequest, replayed, starving
from thence.proofs.fairness.tails import Tails
from thence.proofs.fairness.termination import packets_end
from thence.proofs.native.judging.counterexamples import Counterexamples
from thence.proofs.native.judging.kinds import Kinds
from thence.proofs.native.judging.sieve import Sieve
from thence.proofs.native.progress_measure import arrivals_are_progress
from thence.proofs.native.search import NativeSearch
from thence.proofs.native.symmetry import Asymmetric, Symmetry


@dataclass(slots=True)
class Judge:
    """Judges the states of `search` by the properties of the request, layer by layer.

    The violations, and what stays undecided, are written into `result`. `suspects` are the properties that some run
    violates, where the search forgets states, so that the run cannot be shown.
    """

    request: ExplorationRequest
    search: NativeSearch
    result: Exploration
    suspects: set[str] = field(init=False, default_factory=set)
    _kinds: Kinds = field(init=False)
    _sieves: dict[str, Sieve] = field(init=False)
    _tails: dict[str, Tails] = field(init=False)
    _starved_after: dict[str, int] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._kinds = Kinds(self.request, self.search.table.shape)
        self._sieves = {name: Sieve(self.search, *kind) for name, kind in self._kinds.named().items()}
        live = (DELIVERED, *self._kinds.promised)
        self._tails = {name: Tails(self.request.system, name, self.request.limit_beyond) for name in live}

    @property
    def refuted(self) -> set[str]:
        """The properties that some run violates, whether it can be shown or not."""
        return self.suspects | self.result.violations.keys()

    @property
    def _symmetry(self) -> Symmetry | None:
        return self.search.table.symmetry

    def judge_initial(self) -> None:
        """Judges the initial state by all invariants: no step leads to it."""
        for name in self._broken_names(self.search.store.state(0)):
            self.violated(name, 0, by_action=False)
        self.judge()

    def judge(self) -> None:
        """Judges the states of a layer that is complete, and collects the findings of native code."""
        for name in ("locals", "rest"):
            for number in self._sieves[name].fresh() if name in self._sieves else ():
                for name in self._broken_names(self.search.store.state(number)):
                    self.violated(name, number, by_action=False)
        for name in ("blocked", "completed", "stuck"):
            for number in self._sieves[name].fresh() if name in self._sieves else ():
                self._judge_ended(name, number)
        for name, judged in (("tails", [DELIVERED]), ("promises", self._kinds.promised)):
            if name in self._sieves:
                self._judge_tails(self._sieves[name], judged)
        self.collect()

    def judge_endless(self) -> None:
        """Judges the runs that never come to rest, once every state is known."""
        request = self.request
        if LINK in request.properties - self.refuted and "fault" in self.search.found:
            self.result.undecided[LINK] = CUT_SHORT
        if self._symmetry is not None and "blocked" in self._sieves and self.request.system.interpreter.has_timer:
            self._symmetry.check_taken()  # timers fire on where the search does not
        live = [name for name in (DELIVERED, *self._kinds.promised) if name in request.properties - self.refuted]
        if not live:
            return
        end = self._arrivals_end
        if not end and request.storage == "disk":
            self.result.undecided[DELIVERED] = (
                "packets may arrive for ever, and only states at hand tell what that delays"
            )
            return
        if not end and self._kinds.is_fair_to_packets:
            if DELIVERED in live:
                everything = Sieve(self.search, *self._kinds.with_tails(quiet=False))
                self._judge_tails(everything, [DELIVERED], everywhere=True)
            if self._kinds.promised:
                everything = Sieve(self.search, *self._kinds.with_promises(quiet=False))
                self._judge_tails(everything, self._kinds.promised, everywhere=True)
        for name in live:
            if name in self._starved_after and name not in self.refuted:
                self._starves(name, self._starved_after[name])
        if self._symmetry is not None and not self.refuted.issuperset(live):
            self._symmetry.check_taken()  # tails go on where the search does not
        for name in live:
            if name not in self.refuted and ("fault" in self.search.found or self._tails[name].undecided):
                self.result.undecided[name] = self._tails[name].undecided or CUT_SHORT

    def collect(self) -> None:
        """Shows what native code has found so far."""
        for name, number in self.search.found.items():
            self.violated(name, number, by_action=name != "delivered")

    def violated(self, name: str, number: int, *, by_action: bool) -> None:
        """A state shows a violation: by itself, or by an action that it enables."""
        if name not in self.request.properties or name in self.result.violations:
            return
        if self.search.forgets:
            self.suspects.add(name)
            return
        self.search.note(name, number, by_action=by_action)
        ways = Counterexamples(self.search)
        finding, actions = ways.by_action(name, number) if by_action else ways.by_state(name, number)
        self.result.violations[name] = replayed(self.request.system, finding, actions)

    def _judge_ended(self, sieve: str, number: int) -> None:
        """Whether in a state the application waits for ever, as far as that can be found out; whether all programs have
        ended; whether a message is stuck.
        """
        name = {"blocked": DEADLOCK_FREE, "completed": COMPLETES, "stuck": DELIVERED}[sieve]
        if name in self.refuted or name in self.result.undecided:
            return
        system, state = self.request.system, self.search.store.state(number)
        try:
            match sieve:
                case "blocked":
                    ended = blocked(system, state, min(self.request.limit_beyond or MOST_SETTLING, MOST_SETTLING))
                case "completed":
                    ended = completed(system, state)
                case _:
                    ended = stuck(system, state)
        except Unsettled as why:
            self.result.undecided[name] = str(why)
            return
        if ended is not None:
            self.violated(name, number, by_action=False)

    def _judge_tails(self, sieve: Sieve, names: Sequence[str], *, everywhere: bool = False) -> None:
        """Whether a fair run starves a message, or what is promised, from one of the states on that are new.

        Where a fair run rests, only states are judged in which nothing can arrive, unless `everywhere` is asked for.
        """
        rests = self._kinds.is_fair_to_packets and not everywhere
        for number in sieve.fresh():
            state = self.search.store.state(number)
            if rests and not self.request.system.is_quiet(state):
                continue
            for name in names:
                tails = self._tails[name]
                if name in self.refuted:
                    continue
                if tails.starved_in(state) is not None:
                    self._starves(name, number)
                elif name not in self._starved_after and tails.starved_after() is not None:
                    self._starved_after[name] = number

    def _starves(self, name: str, number: int) -> None:
        """From a state on, a fair run never delivers some message, or never keeps a promise."""
        if self.search.forgets:
            self.suspects.add(name)
            return
        state, actions = Counterexamples(self.search).way_to(number)
        tails = Tails(self.request.system, name, self.request.limit_beyond)
        starvation = tails.starved_in(state)
        if starvation is None:
            later = tails.starved_after()
            assert later is not None, "the interpreter sees no fair run that starves anything"
            starvation = later[1]
        self.result.violations[name] = starving(self.request.system, actions, starvation)

    @property
    def _arrivals_end(self) -> bool:
        """Whether it is known that no run goes on for ever by arrivals."""
        system = self.request.system
        return self.search.table.measure is not None or packets_end(system) or arrivals_are_progress(system)

    def _broken_names(self, state: State) -> set[str]:
        """The invariants that the state violates, and the `reachable` formulas that are `undefined` in it."""
        names = {finding.property for finding in self.request.system.broken(state)}
        symmetry = self._symmetry
        if symmetry is not None:
            for permutation in symmetry.group:
                other = self.request.system.broken(symmetry.state(state, permutation))
                if names != {finding.property for finding in other}:
                    raise Asymmetric("an invariant tells processes apart")
        return names
