"""Stability: whether proved obligations stay proved under other seeds, orders and names.

A proof that succeeds by luck breaks at the next edit, or with the next version of the solver. Each obligation is solved
several times: with another seed, and with its hypotheses and declarations in another order. Names are canonical, so
another order also gives other names. An obligation that is not proved every time is flaky.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import TypeVar

from thence.proofs.logic.obligation import Obligation
from thence.proofs.logic.smt import smt_text
from thence.proofs.solving.assessment import Proof
from thence.proofs.solving.discharge import Discharge, Note, Options
from thence.proofs.solving.solver import Answer, Check, SolverPool
from thence.spec.verdict import Level, Result, Verdict

Item = TypeVar("Item")

SLOW_S = 2.0
"""An obligation that takes this long is reported as slow."""

CHUNK = 64
"""Number of questions that are written at a time."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One obligation under one seed."""

    seed: int
    answer: Answer


@dataclass(frozen=True, slots=True)
class Measured:
    """The trials of an obligation, one for every seed."""

    obligation: Obligation
    trials: tuple[Trial, ...]

    @property
    def flakes(self) -> tuple[Trial, ...]:
        """The trials in which it was not proved."""
        return tuple(trial for trial in self.trials if trial.answer.status != "unsat")

    @property
    def slowest(self) -> float:
        """The longest time of a trial, in seconds."""
        return max(trial.answer.seconds for trial in self.trials)


def proved_obligations(proofs: Iterable[Proof]) -> tuple[Discharge, ...]:
    """The obligations that the proofs rest on and that needed a solver, each once."""
    found: dict[int, Discharge] = {}
    for proof in proofs:
        if proof.assessment.verdict is Verdict.PROVED:
            found.update((id(each), each) for each in proof.assessment.discharges if not each.obligation.by_frame)
    return tuple(found.values())


def shuffled(obligation: Obligation, seed: int) -> Obligation:
    """The same obligation, everything in another order, and so under other canonical names."""
    random = Random(f"{seed} {obligation.name}")
    signature = obligation.signature
    return replace(
        obligation,
        signature=replace(
            signature,
            sorts=_in_another_order(signature.sorts, random),
            symbols=_in_another_order(signature.symbols, random),
        ),
        hypotheses=_in_another_order(obligation.hypotheses, random),
        constants=_in_another_order(obligation.constants, random),
    )


def _in_another_order(items: Sequence[Item], random: Random) -> tuple[Item, ...]:
    return tuple(random.sample(items, len(items)))


def measure(
    discharges: Sequence[Discharge], options: Options, count: int, note: Note | None = None
) -> tuple[Measured, ...]:
    """Every obligation under `count` seeds, by the first solver that proved it. Nothing comes from a cache.

    Raises: ValueError for a count below 1.
    """
    if count < 1:
        raise ValueError("stability is measured with at least one seed")
    seeds = [options.seed + number for number in range(1, count + 1)]
    asked = [(number, seed) for number in range(len(discharges)) for seed in seeds]
    trials: list[list[Trial]] = [[] for _ in discharges]
    done = 0
    with SolverPool(options.workers) as pool:
        for first in range(0, len(asked), CHUNK):
            chunk = asked[first : first + CHUNK]
            requests = [_again(discharges[number], seed, options) for number, seed in chunk]
            for position, answer in pool.answers(requests):
                number, seed = chunk[position]
                trials[number].append(Trial(seed, answer))
                done += 1
                if note is not None:
                    note(done, len(asked), discharges[number].obligation.name)
    ordered = (sorted(each, key=lambda trial: trial.seed) for each in trials)
    return tuple(Measured(each.obligation, tuple(tried)) for each, tried in zip(discharges, ordered, strict=True))


def _again(discharge: Discharge, seed: int, options: Options) -> Check:
    text = smt_text(shuffled(discharge.obligation, seed))
    return Check.within(discharge.prover, text, options.timeout_ms, seed)


def stability_result(subject: str, measured: Sequence[Measured], count: int, options: Options) -> Result:
    """The result for the obligations of one machine or theory: `tested`, or `refuted` where one flakes."""
    trials = sum(len(each.trials) for each in measured)
    flaky = [each for each in measured if each.flakes]
    slow = [each for each in measured if each.slowest >= SLOW_S]
    slowest = max(measured, key=lambda each: each.slowest)
    facts = {
        "obligations": len(measured),
        "cases": trials,
        "failures": sum(len(each.flakes) for each in flaky),
        "seeds": [options.seed + number for number in range(1, count + 1)],
        "timeout_ms": options.timeout_ms,
        "flaky": [
            {
                "obligation": each.obligation.name,
                "seeds": [trial.seed for trial in each.flakes],
                "answers": sorted({trial.answer.reason or trial.answer.status for trial in each.flakes}),
            }
            for each in flaky
        ],
        "slow": [{"obligation": each.obligation.name, "seconds": round(each.slowest, 3)} for each in slow],
        "slowest": {"obligation": slowest.obligation.name, "seconds": round(slowest.slowest, 3)},
    }
    lines = [_flaky_text(each) for each in flaky] or [f"every obligation is proved under each of {count} seeds"]
    lines += [f"slow: {each.obligation.name}, up to {each.slowest:.1f} s" for each in slow]
    lines.append(f"the slowest: {slowest.obligation.name}, {slowest.slowest:.2f} s")
    verdict = Verdict.REFUTED if flaky else Verdict.TESTED
    seconds = sum(trial.answer.seconds for each in measured for trial in each.trials)
    return Result("stability", "check", subject, verdict, Level.L0, not flaky, seconds, facts, "\n".join(lines))


def _flaky_text(measured: Measured) -> str:
    seeds = ", ".join(str(trial.seed) for trial in measured.flakes)
    said = ", ".join(dict.fromkeys(trial.answer.reason or trial.answer.status for trial in measured.flakes))
    many = "seeds" if len(measured.flakes) > 1 else "seed"
    return f"flaky: {measured.obligation.name} is not proved under {many} {seeds}: {said}"
