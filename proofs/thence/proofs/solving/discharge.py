"""Discharging obligations: every solver in a process of its own, with a time limit and a seed.

An obligation is proved when a solver says that its negation is unsatisfiable and no solver says the opposite. The first
solver is asked about what concerns the goal, see NOTE(relevant). If it does not prove the whole within a short time
either, a finite countermodel is looked for before anybody waits for the time limit: a small one first, then, if the
solver needs more than a little time, a larger one. Solvers that contradict each other settle nothing, and the
contradiction is reported.

NOTE(core): what follows from some of the hypotheses follows from all of them. Where one solver proves an obligation and
another one does not within a short time, the other one is asked about the hypotheses that the first one used. It proves
the goal from these by itself: that they are enough is not taken from anybody.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from thence.dsl import ir
from thence.proofs.logic.formula import Unsupported
from thence.proofs.logic.obligation import Obligation
from thence.proofs.logic.smt import Written, smt_text
from thence.proofs.solving.finite_models import STEP_SIZES, Model, find_model, negated_obligation
from thence.proofs.solving.kin import Kin
from thence.proofs.solving.lemmas import Lemmas, core_of, core_positions
from thence.proofs.solving.relevance import Choice, making_nothing, relevant
from thence.proofs.solving.solver import Answer, Check, Core, SolverName, SolverPool, solver_version
from thence.spec.verdict import Level

LITTLE_MS = 75
"""Time limit of the first solver before small finite countermodels are looked for: several times what most proofs need.
See NOTE(effort) for what a time limit is."""

QUICK_MS = 500
"""Time limit of the first solver before larger finite countermodels are looked for."""

_FEW = 10
"""With at most so many hypotheses, solvers are asked about all of them alone."""

_MANY = 60
"""With at least so many hypotheses, solvers are asked about what kin used before they are asked about all of them."""

_AT_FIRST = ((_MANY, Choice(0.9, 1, 20)), (31, Choice(0.5, 3, 75)))
"""The hypotheses that the first solver is asked about before the whole, where there are at least so many."""

_LATER = (Choice(0.5, 3, 250), Choice(0.2, 3, 150))
"""The same, once no small finite countermodel was found."""

_KIN_MS = 75
"""Time limit of the first solver for the hypotheses that were enough for the same claim in other steps."""

_CORE_SEEDS = 4
"""With so many seeds the core of a proof is asked for."""

_LONGER_MS = 2_000
"""Time limit of the other solvers for what one proved, before they are given all the time there is."""

_SMALL_SIZES = STEP_SIZES[:6]
"""Universes with one or two messages: most obligations that are false are false in one of them."""


@dataclass(frozen=True, slots=True)
class Options:
    """How to prove. The same options give the same solver input.

    Attributes:
        cache: the directory of kept answers; None: every question is solved.
        cores: the hypotheses that each proof uses are reported, too.
        fragment: of each proof it is said whether its obligations lie in the decidable fragment.
        lemmas: hypotheses that are known to be enough for a goal; such a proof in the cache is not repeated.
    """

    timeout_ms: int = 10_000
    seed: int = 0
    solvers: tuple[SolverName, ...] = ("z3", "cvc5")
    workers: int = 2
    cache: Path | None = None
    cores: bool = False
    fragment: bool = False
    lemmas: Lemmas | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not self.solvers or len(set(self.solvers)) != len(self.solvers):
            raise ValueError("name at least one solver, each once")
        if not set(self.solvers) <= {"z3", "cvc5"}:
            raise ValueError(f"the solvers are z3 and cvc5, not {', '.join(self.solvers)}")
        if self.timeout_ms < 1:
            raise ValueError("the time limit must be at least a millisecond")


@dataclass(frozen=True, slots=True)
class ProofProgress:
    """Progress of a statement: `done` of `total` obligations; `current` is the one that is being solved, if any."""

    subject: str
    statement: str
    done: int
    total: int
    current: str = ""


@dataclass(frozen=True, slots=True)
class Discharge:
    """One obligation and its outcome.

    Attributes:
        answers: by solver; empty where the goal is one of the hypotheses (`by_frame`).
        countermodel: a finite structure in which the hypotheses are true and the goal is not.
        unsupported: the reason why no solver could be asked.
    """

    obligation: Obligation
    answers: Mapping[SolverName, Answer] = field(default_factory=dict)
    countermodel: Model | None = None
    unsupported: str = ""

    @property
    def disagreement(self) -> bool:
        statuses = {answer.status for answer in self.answers.values()}
        return statuses >= {"sat", "unsat"} or ("unsat" in statuses and self.countermodel is not None)

    @property
    def proved(self) -> bool:
        if self.obligation.by_frame:
            return True
        return not self.disagreement and any(answer.status == "unsat" for answer in self.answers.values())

    @property
    def failed(self) -> bool:
        """Definitely not valid: a countermodel is at hand."""
        return self.countermodel is not None and not self.disagreement

    @property
    def satisfiable(self) -> bool:
        """A solver says that it is not valid."""
        return any(answer.status == "sat" for answer in self.answers.values())

    @property
    def prover(self) -> SolverName:
        """The first solver, in the order of the options, that proves it. Raises: StopIteration where none does."""
        return next(solver for solver, answer in self.answers.items() if answer.status == "unsat")

    @property
    def provers(self) -> int:
        """How many solvers prove it."""
        return sum(answer.status == "unsat" for answer in self.answers.values())

    @property
    def reason(self) -> str:
        """The reason why it is not proved, in words."""
        if self.disagreement:
            said = ", ".join(f"{solver} says {answer.status}" for solver, answer in self.answers.items())
            found = "; a finite countermodel exists" if self.countermodel else ""
            return f"the solvers contradict each other: {said}{found}"
        if self.unsupported:
            return self.unsupported
        if self.countermodel is not None:
            return "a finite countermodel exists"
        return ", ".join(
            f"{solver}: {answer.status}{f' ({answer.reason})' if answer.reason else ''}"
            for solver, answer in self.answers.items()
        )


def level_of(discharges: Sequence[Discharge]) -> Level:
    """L3 if two solvers prove each obligation, else L2."""
    asked = [discharge for discharge in discharges if not discharge.obligation.by_frame]
    return Level.L3 if all(discharge.provers >= 2 for discharge in asked) else Level.L2


MOST_NAMED = 5
"""So many obligations that one solver left open are named."""


def _left_open(discharge: Discharge) -> str:
    """An obligation that one solver proves, and what the others say of it."""
    others = {solver: answer for solver, answer in discharge.answers.items() if answer.status != "unsat"}
    said = ", ".join(
        f"{solver}: {answer.status}{f' ({answer.reason})' if answer.reason else ''}"
        for solver, answer in others.items()
    )
    return f"{discharge.obligation.name}: proved by {discharge.prover} only{f'; {said}' if said else ''}"


def solver_facts(discharges: Sequence[Discharge], options: Options) -> dict[str, Any]:
    """The JSON facts about the solving: obligations, answers by solver, limits."""
    counts: dict[str, Any] = {}
    for solver in options.solvers:
        answers = [discharge.answers[solver] for discharge in discharges if solver in discharge.answers]
        counts[solver] = {
            "version": solver_version(solver),
            "unsat": sum(answer.status == "unsat" for answer in answers),
            "other": sum(answer.status != "unsat" for answer in answers),
            "cached": sum(answer.cached for answer in answers),
        }
    half = [discharge for discharge in discharges if discharge.provers == 1 and discharge.proved]
    return {
        "obligations": len(discharges),
        **({"one_solver": [_left_open(discharge) for discharge in half[:MOST_NAMED]]} if half else {}),
        **({"one_solver_more": len(half) - MOST_NAMED} if len(half) > MOST_NAMED else {}),
        "by_frame": sum(discharge.obligation.by_frame for discharge in discharges),
        "solvers": counts,
        "seed": options.seed,
        "timeout_ms": options.timeout_ms,
    }


Note = Callable[[int, int, str], None]
"""Called with the number of obligations done, their total, and the name of one that is being solved."""


def stages(options: Options) -> tuple[tuple[int, tuple[SolverName, ...]], ...]:
    """Time limits in ms, and the solvers that are asked with them: all within a short time, then one after the other.

    Where one proves in a long time what another one does not, its core may save the other a long time.
    """
    quick = min(QUICK_MS, options.timeout_ms)
    alone = tuple((options.timeout_ms, (solver,)) for solver in options.solvers)
    return (quick, options.solvers), *(alone if quick < options.timeout_ms else ())


def discharge_all(
    pool: SolverPool,
    obligations: Sequence[Obligation],
    options: Options,
    note: Note | None = None,
    *,
    look_for_models: bool = True,
    groups: Sequence[Hashable] | None = None,
    core: Core = "",
) -> tuple[Discharge, ...]:
    """The outcome of every obligation, in order.

    Args:
        core: what the first solver is asked for besides, where it is asked about all hypotheses for longer.
        groups: for each obligation, what it belongs to. Where one of a group is not proved, nothing more is asked about
            those behind it, and no other solver about what one has proved: whoever asks tries again without the group.
    """
    work = _Work(pool, obligations, options, note)
    little, quick = (min(limit, options.timeout_ms) for limit in (LITTLE_MS, QUICK_MS))
    recalled = work.ask_first([number for number in work.answers if work.recalls(number, little)], little, "first")
    open_at_first = [number for number in work.answers if not work.proves(number) and number not in recalled]
    for least, choice in _AT_FIRST:
        many = [number for number in open_at_first if len(obligations[number].hypotheses) >= least]
        left_of_many = work.ask_about_relevant(many, choice)
        work.ask_about_kin([number for number in left_of_many if work.is_large(number)], recalled)
        open_at_first = [number for number in open_at_first if not work.proves(number)]
    open_at_first = work.ask_about_kin([*recalled, *work.ask_first(open_at_first, little, "first")])
    proved = [number for number in work.answers if number not in open_at_first]
    models: dict[int, Model] = {}
    left: dict[Hashable, list[int]] = {}
    for number in sorted((*open_at_first, *work.unsupported)):
        left.setdefault(number if groups is None else groups[number], []).append(number)
    failed = False
    while left:  # the first of each group; then, where it is proved, the next
        front = [numbers[0] for numbers in left.values()]
        open_ones = [number for number in front if number in work.answers]
        if look_for_models:
            models |= work.countermodels(open_ones, _SMALL_SIZES)
        left_open = [number for number in open_ones if number not in models]
        for choice in _LATER:
            left_open = work.ask_about_kin(work.ask_about_relevant(left_open, choice))
        left_open = work.ask_first(left_open, quick, core)
        proved += [number for number in open_ones if number not in models and number not in left_open]
        if look_for_models:
            models |= work.countermodels(left_open, STEP_SIZES)
        left_open = [number for number in left_open if number not in models]
        work.ask_about_what_is_there(left_open, quick)
        work.settle(left_open)
        shown = {number for number in open_ones if work.proves(number)}
        failed |= len(shown) < len(front)
        left = {group: numbers[1:] for group, numbers in left.items() if numbers[0] in shown and numbers[1:]}
    if groups is None or not failed:
        work.settle(proved)
    work.tell(None)
    return tuple(
        Discharge(obligation, work.answers_to(number), models.get(number), work.unsupported.get(number, ""))
        for number, obligation in enumerate(obligations)
    )


class _Work:
    """The obligations that need a solver, by position, with the answers so far."""

    def __init__(
        self, pool: SolverPool, obligations: Sequence[Obligation], options: Options, note: Note | None
    ) -> None:
        self._pool = pool
        self._obligations = obligations
        self._options = options
        self._note = note
        self._done: set[int] = set()
        self._written = Written()
        self._cores: dict[int, tuple[str, ...]] = {}
        self._tried: dict[tuple[int, tuple[int, ...]], int] = {}  # the limit on a question about some hypotheses
        self._making: dict[int, tuple[ir.NamedFormula, bool]] = {}
        self._against: dict[int, tuple[SolverName, Answer]] = {}
        self.unsupported: dict[int, str] = {}
        self.answers: dict[int, dict[SolverName, Answer]] = {}
        for number, obligation in enumerate(obligations):
            if not obligation.by_frame:
                try:
                    self._written.refuse(obligation)
                    self.answers[number] = {}
                except Unsupported as reason:
                    self.unsupported[number] = str(reason)

    def recalls(self, number: int, limit_ms: int) -> bool:
        """Whether the first solver answered within this limit before, about the whole or what is enough."""
        memory = self._pool.memory
        if memory is None:
            return False
        return memory.recall(self._request(number, self._options.solvers[0], limit_ms, "first")) is not None

    def ask_first(self, numbers: Sequence[int], limit_ms: int, core: Core = "") -> list[int]:
        """Asks the first solver about these obligations, and returns those that it does not prove."""
        first = self._options.solvers[0]
        self._ask([(number, first) for number in numbers], limit_ms, core)
        return [number for number in numbers if self.answers[number][first].status != "unsat"]

    def ask_about_relevant(self, numbers: Sequence[int], choice: Choice) -> list[int]:
        """Asks the first solver about the hypotheses that concern the goal, and returns what it does not prove so."""
        known = self._written.mentioned
        chosen = {number: relevant(self._obligations[number], choice, known) for number in numbers}
        return self._ask_about_some(chosen, choice.limit_ms)

    def ask_about_what_is_there(self, numbers: Sequence[int], limit_ms: int) -> None:
        """Asks the first solver about the hypotheses that do not say that for each this there is a that. The others let
        a solver make new elements of new elements, and most proofs need few of them."""
        chosen = {number: making_nothing(self._obligations[number], self._making) for number in numbers}
        self._ask_about_some(chosen, limit_ms, by_much=False)

    def ask_about_kin(self, numbers: Sequence[int], apart: Collection[int] = ()) -> list[int]:
        """Asks the first solver about the hypotheses that were enough for the same claim in other steps, again as long
        as that proves something, and returns what it does not prove so. See NOTE(kin). Nothing is learnt from `apart`.
        """
        left, before = list(numbers), -1
        while left and len(left) != before:
            before, kin = len(left), Kin()
            for number, core in self._cores.items():
                if number not in apart and self.proves(number):
                    kin.learn(self._obligations[number], core_positions(self._obligations[number], core))
            found = {number: kin.chosen(self._obligations[number]) for number in left}
            chosen = {number: positions for number, positions in found.items() if positions is not None}
            self._ask_about_some(chosen, _KIN_MS)
            left = [number for number in left if not self.proves(number)]
        return left

    def _ask_about_some(
        self, chosen: Mapping[int, tuple[int, ...]], limit_ms: int, *, by_much: bool = True
    ) -> list[int]:
        """Asks the first solver about the hypotheses in these positions, where they are fewer than all, `by_much` or at
        all, unless it was asked the same with no smaller limit; and returns the obligations that it does not prove so.
        """
        first, seed = self._options.solvers[0], self._options.seed
        limit_ms = min(limit_ms, self._options.timeout_ms)
        numbers = list(chosen)
        new = {each: limit_ms for each in chosen.items() if self._tried.get(each, -1) < limit_ms}
        self._tried |= new
        most = self._most if by_much else self._all
        asked = [(number, first) for number, positions in new if len(positions) < most(number)]
        smaller = {number: self._obligations[number].with_only(chosen[number]) for number, _ in asked}
        texts = [smt_text(each, named=True, written=self._written) for each in smaller.values()]
        made = [Check.within(first, text, limit_ms, seed, core="first") for text in texts]
        requests = [replace(each, only_refute=True) for each in made]
        for number, solver, answer in self._answered(asked, requests):
            if answer.status == "unsat":
                used = core_positions(smaller[number], answer.core)
                self._take(number, solver, replace(answer, core=tuple(f"h{chosen[number][at]}" for at in used)))
        return [number for number in numbers if not self.proves(number)]

    def is_large(self, number: int) -> bool:
        """Whether the obligation has many hypotheses."""
        return len(self._obligations[number].hypotheses) >= _MANY

    def _all(self, number: int) -> int:
        """How many hypotheses there are."""
        return len(self._obligations[number].hypotheses)

    def _most(self, number: int) -> int:
        """Fewer hypotheses than this are asked about before all are."""
        whole = self._all(number)
        return whole * 3 // 4 if whole > _FEW else 0

    def settle(self, numbers: Sequence[int]) -> None:
        """Asks the solvers that decided nothing yet: about what no other one proved, within a short time first; then
        about what one proved, see NOTE(core). That a solver satisfies a core contradicts the proof, unless it proves
        the whole itself.
        """
        self._ask_others(numbers)
        for limit_ms, solvers in stages(self._options):
            unproved = [number for number in numbers if not self.proves(number)]
            asked = [(number, solver) for number in unproved for solver in self._open(number) if solver in solvers]
            self._ask(asked, limit_ms)
            self._ask_others(unproved)
        for number in numbers:
            if number in self._against:
                self._take(number, *self._against[number])

    def _ask_others(self, numbers: Sequence[int]) -> None:
        """Asks the other solvers about what one proved: its core and the whole by turns, longer and longer. What leads
        one solver to a proof may lead another one astray, and what does not help it may cost any time.
        """
        limit = self._options.timeout_ms
        for limit_ms in dict.fromkeys(min(each, limit) for each in (LITTLE_MS, QUICK_MS, _LONGER_MS, limit)):
            split = [number for number in numbers if self.proves(number) and self._open(number)]
            self._ask_about_cores(split, limit_ms)
            self._ask([(number, solver) for number in split for solver in self._open(number)], limit_ms)
            self._find_cores(split)

    def _open(self, number: int) -> list[SolverName]:
        """The solvers that decided nothing about an obligation."""
        said = self.answers[number]
        return [name for name in self._options.solvers if name not in said or said[name].status == "unknown"]

    def _ask(self, asked: Sequence[tuple[int, SolverName]], limit_ms: int, core: Core = "") -> None:
        """Asks solvers about obligations."""
        requests = [self._request(number, solver, limit_ms, core) for number, solver in asked]
        for number, solver, answer in self._answered(asked, requests):
            self._take(number, solver, answer)

    def _find_cores(self, numbers: Sequence[int]) -> None:
        """Asks for the core of each proof, where another solver is open about the obligation. Hypotheses with names
        lead a solver another way, which may be too long: then it is asked with other seeds. See NOTE(core).
        """
        split = [number for number in numbers if self.proves(number) and self._open(number)]
        limit_ms = min(QUICK_MS, self._options.timeout_ms)
        for seed in range(self._options.seed, self._options.seed + _CORE_SEEDS):
            asked = [(number, self._prover(number)) for number in split if number not in self._cores]
            wholes = [self._whole(number, prover, limit_ms, "first") for number, prover in asked]
            for number, _, answer in self._answered(asked, [replace(whole, seed=seed) for whole in wholes]):
                if answer.status == "unsat":
                    self._cores[number] = answer.core
        for number in split:
            self._cores.setdefault(number, ())

    def _ask_about_cores(self, numbers: Sequence[int], limit_ms: int) -> None:
        """Asks solvers that are open about what another one proved about the core of its proof, where it is known."""
        split = [number for number in numbers if self._cores.get(number)]
        smaller = {number: core_of(self._obligations[number], self._cores[number]) for number in split}
        texts = {number: smt_text(each, written=self._written) for number, each in smaller.items()}
        asked = [(number, solver) for number in split for solver in self._open(number)]
        requests = [Check.within(solver, texts[number], limit_ms, self._options.seed) for number, solver in asked]
        for number, solver, answer in self._answered(asked, requests):
            if answer.status == "unsat":
                self._take(number, solver, answer)
            elif answer.status == "sat":
                self._cores[number] = ()
                self._against[number] = solver, answer

    def _prover(self, number: int) -> SolverName:
        return Discharge(self._obligations[number], self.answers_to(number)).prover

    def _take(self, number: int, solver: SolverName, answer: Answer) -> None:
        """An answer about an obligation. With a core it also says from which hypotheses the goal follows. What a solver
        has decided, it does not forget."""
        said = self.answers[number].get(solver)
        if said is None or said.status == "unknown":
            self.answers[number][solver] = answer
        if answer.core:
            self._cores[number] = answer.core
        if len(self.answers[number]) == len(self._options.solvers):
            self._done.add(number)

    def _answered(
        self, asked: Sequence[tuple[int, SolverName]], requests: Sequence[Check]
    ) -> Iterator[tuple[int, SolverName, Answer]]:
        """The answers as they come. Progress is reported."""
        waiting = dict.fromkeys(range(len(requests)))
        if asked:
            self.tell(asked[0][0])
        for position, answer in self._pool.answers(requests):
            yield *asked[position], answer
            del waiting[position]
            if waiting:
                self.tell(asked[next(iter(waiting))][0])

    def _request(self, number: int, solver: SolverName, limit_ms: int, core: Core) -> Check:
        """The question; or a smaller one that was answered before and settles it."""
        obligation, seed = self._obligations[number], self._options.seed
        whole = self._whole(number, solver, limit_ms, core)
        lemmas, memory = self._options.lemmas, self._pool.memory
        if memory is None or memory.recall(whole) is not None:
            return whole
        if core:
            plain = self._whole(number, solver, limit_ms, "")
            if memory.recall(plain) is not None:
                return plain
        if lemmas is None:
            return whole
        smaller = lemmas.smaller(obligation)
        if smaller is None:
            return whole
        known = Check.within(solver, smt_text(smaller), self._options.timeout_ms, seed)
        answer = memory.recall(known)
        return known if answer is not None and answer.status == "unsat" else whole

    def _whole(self, number: int, solver: SolverName, limit_ms: int, core: Core) -> Check:
        """The question about all hypotheses."""
        text = smt_text(self._obligations[number], named=core != "", written=self._written)
        return Check.within(solver, text, limit_ms, self._options.seed, core=core)

    def proves(self, number: int) -> bool:
        """Whether a solver proves the obligation, and none says the opposite."""
        return Discharge(self._obligations[number], self.answers_to(number)).proved

    def countermodels(self, numbers: Sequence[int], sizes: Sequence[Mapping[str, int]]) -> dict[int, Model]:
        """Finite countermodels of these obligations, where some are found."""
        found: dict[int, Model] = {}
        for number in numbers:
            self.tell(number)
            model = countermodel(self._pool, self._obligations[number], self._options, sizes)
            if model is not None:
                found[number] = model
        return found

    def answers_to(self, number: int) -> dict[SolverName, Answer]:
        """The answers about an obligation, in the order of the options."""
        said = self.answers.get(number, {})
        return {solver: said[solver] for solver in self._options.solvers if solver in said}

    def tell(self, number: int | None) -> None:
        """Reports the progress and the obligation that is being solved; None: all are done."""
        if self._note is None:
            return
        if number is None:
            self._note(len(self.answers), len(self.answers), "")
        else:
            self._note(len(self._done), len(self.answers), self._obligations[number].name)


def countermodel(
    pool: SolverPool, obligation: Obligation, options: Options, sizes: Sequence[Mapping[str, int]] = STEP_SIZES
) -> Model | None:
    """A smallest finite structure in which the obligation is false, if one is found."""
    try:
        problem = negated_obligation(obligation)
        return find_model(pool, problem, timeout_ms=options.timeout_ms, seed=options.seed, sizes=sizes).model
    except Unsupported:
        return None
