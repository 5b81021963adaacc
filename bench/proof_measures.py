"""What the project promises about proofs, measured: see `bench/README.md`. Solvers start anew for each measure."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from tempfile import TemporaryDirectory

from thence.dsl import ir
from thence.dsl.load import library, load, load_bytes
from thence.proofs.machine.inductive_set import inductive_set
from thence.proofs.prove import proofs, proofs_by, provable_names, solver_pool
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.lemmas import Lemmas
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.stability import measure, proved_obligations

SEEDS = 20
PLANTED = ("mf", "hybrid_basic")
"""Files from which one invariant after the other is left out."""

EDITS = {
    "hybrid_basic": (
        "invariant permit_ok:",
        "invariant flag_okay: forall m. flagged(m) implies sent(m)\n  invariant permit_ok:",
    ),
    "mf": ("invariant life:", "invariant living: forall m. network_sent(m) implies sent(m)\n  invariant life:"),
}
"""One line more in a file."""


def specification(name: str) -> ir.Specification:
    found = load(name).specification
    assert found is not None
    return found


def unbounded(found: ir.Specification) -> ir.Specification:
    """Without its mutants: what is stated for any number of processes and messages."""
    return replace(found, mutants=())


@dataclass(frozen=True)
class File:
    """What the proofs of one file came to."""

    name: str
    seconds: float
    results: int
    expected: int
    slowest: tuple[float, str]
    one_solver: tuple[str, ...]


def with_statements() -> list[str]:
    """The files that state something unbounded; those with the most to prove first, so that none is left over."""
    found = [path.stem for path in library() if provable_names(unbounded(specification(path.stem)))]
    return sorted(found, key=lambda name: -steps(specification(name)))


def steps(found: ir.Specification) -> int:
    """How many obligations about steps of machines there are, about."""
    return sum((len(machine.invariants) + len(machine.prove)) * len(machine.transitions) for machine in found.machines)


def proved_file(name: str) -> File:
    """One file, by one solver process at a time."""
    started = time.perf_counter()
    made = list(proofs(unbounded(specification(name)), (), Options(workers=1)))
    seconds = time.perf_counter() - started
    asked = proved_obligations(made)
    by_z3 = [(each.answers["z3"].seconds, each.obligation.name) for each in asked if "z3" in each.answers]
    left = tuple(
        f"{name}: {each.obligation.name} ({solver} {answer.status})"
        for each in asked
        for solver, answer in each.answers.items()
        if answer.status != "unsat"
    )
    expected = sum(proof.result.expected for proof in made)
    return File(name, seconds, len(made), expected, max(by_z3, default=(0.0, "")), left)


def whole_library() -> str:
    """Each file once, two at a time, as `thence verify` does it: a minute's work."""
    started, used = time.perf_counter(), getrusage(RUSAGE_CHILDREN)
    with ProcessPoolExecutor(2) as pool:
        found = list(pool.map(proved_file, with_statements()))
    seconds, after = time.perf_counter() - started, getrusage(RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
    slowest, where = max((each.slowest[0], f"{each.name}: {each.slowest[1]}") for each in found)
    left = [one for each in found for one in each.one_solver]
    lines = [f"{each.name}: {each.seconds:.1f} s, {each.expected} of {each.results} as expected" for each in found]
    return "\n  ".join(
        [
            f"{seconds:.1f} s, {processor:.0f} s of processor time; slowest in Z3 {slowest:.2f} s ({where})",
            f"proved by one solver only: {'; '.join(left) or 'none'}",
            *lines,
        ]
    )


def planted() -> str:
    """The whole search for the inductive set, counterexamples included, with one invariant left out."""
    worst, count = (0.0, ""), 0
    with solver_pool(Options()) as pool:
        for name in PLANTED:
            for machine in specification(name).machines:
                for gone in machine.invariants:
                    rest = tuple(other for other in machine.invariants if other != gone)
                    stated = tuple(other for other in machine.prove if other != gone.name)
                    less = replace(machine, invariants=rest, prove=stated)
                    started = time.perf_counter()
                    found = inductive_set(ProofSession(pool), less)
                    if any(fall.counterexample for fall in found.fallen.values()):
                        count += 1
                        worst = max(worst, (time.perf_counter() - started, f"{machine.name} without {gone.name}"))
    return f"{worst[0]:.2f} s at most ({worst[1]}), {count} invariants left out one at a time that others need"


def edited(name: str) -> str:
    """As `thence prove --watch` does it, after one line was added."""
    path = next(path for path in library() if path.stem == name)
    text = path.read_text(encoding="utf-8")
    before, after = EDITS[name]
    assert text.count(before) == 1
    changed = load_bytes(path, text.replace(before, after).encode())
    assert changed.specification is not None
    with TemporaryDirectory() as folder:
        lemmas = Lemmas()
        options = Options(cache=Path(folder), lemmas=lemmas)
        with solver_pool(options) as pool:
            proved = proved_obligations(list(proofs_by(pool, specification(name), (), options)))
            pairs = [(each.obligation, each.prover) for each in proved]
            lemmas.learn(pool, pairs, options.solvers, options.timeout_ms, options.seed, lambda: False)
            solved = pool.solved
            started = time.perf_counter()
            loaded = load_bytes(path, text.replace(before, after).encode())
            assert loaded.specification is not None
            made = list(proofs_by(pool, loaded.specification, (), options))
            seconds = time.perf_counter() - started
            return f"{seconds:.2f} s, {len(made)} results, {pool.solved - solved} answers new"


def stable() -> str:
    """Every proved obligation of the library under twenty seeds, orders and names, by the first solver."""
    flaky, trials, slowest = [], 0, (0.0, "")
    first = Options(solvers=("z3",))
    for name in with_statements():
        made = proofs(unbounded(specification(name)), (), first)
        for each in measure(proved_obligations(made), first, SEEDS):
            trials += len(each.trials)
            slowest = max(slowest, (each.slowest, f"{name}: {each.obligation.name}"))
            flaky += [f"{name}: {each.obligation.name} under seed {trial.seed}" for trial in each.flakes]
    return f"{trials} trials, slowest {slowest[0]:.2f} s ({slowest[1]}), not proved: {'; '.join(flaky) or 'none'}"


MEASURES: dict[str, Callable[[], str]] = {
    "prove-library": whole_library,
    "counterexample-to-induction": planted,
    "edit-hybrid_basic": lambda: edited("hybrid_basic"),
    "edit-mf": lambda: edited("mf"),
    "stability": stable,
}
