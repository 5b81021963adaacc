"""What the project promises about proofs, measured: see `bench/README.md`. Solvers start anew for each measure."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from whence.dsl import ir
from whence.dsl.load import library, load, load_bytes
from whence.proofs.discharge import Options
from whence.proofs.finding import Proof
from whence.proofs.inductive_set import inductive_set
from whence.proofs.lemmas import Lemmas
from whence.proofs.prove import proofs, proofs_by, provable_names, solver_pool
from whence.proofs.stability import measure, proved_obligations

SEEDS = 20
PLANTED = ("mf", "hybrid_basic", "rst")
"""Files from which one invariant after the other is left out."""

EDITS = {
    "hybrid_basic": (
        "invariant flag_ok:",
        "invariant flag_okay: forall m. flagged(m) implies sent(m)\n  invariant flag_ok:",
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


def proved_library(options: Options) -> Iterator[tuple[str, list[Proof], float]]:
    """Every file that states something unbounded, with its proofs and the time they took."""
    for path in library():
        found = unbounded(specification(path.stem))
        if provable_names(found):
            started = time.perf_counter()
            made = list(proofs(found, (), options))
            yield path.stem, made, time.perf_counter() - started


def whole_library() -> str:
    """Each file once: it is a minute's work."""
    lines, total, slowest, left = [], 0.0, (0.0, ""), []
    for name, made, seconds in proved_library(Options()):
        total += seconds
        lines.append(
            f"  {name}: {seconds:.1f} s, {sum(proof.result.expected for proof in made)} of {len(made)} as expected"
        )
        for each in proved_obligations(made):
            if "z3" in each.answers:
                slowest = max(slowest, (each.answers["z3"].seconds, f"{name}: {each.obligation.name}"))
            if each.provers < 2:
                left += [
                    f"{name}: {each.obligation.name} ({solver})"
                    for solver, answer in each.answers.items()
                    if answer.status != "unsat"
                ]
    unproved = "; ".join(left) or "none"
    return "\n".join(
        [
            f"{total:.1f} s in all; slowest in Z3 {slowest[0]:.2f} s ({slowest[1]})",
            f"  proved by one solver only: {unproved}",
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
                    found = inductive_set(pool, less, Options(), None)
                    if any(fall.counterexample for fall in found.fallen.values()):
                        count += 1
                        worst = max(worst, (time.perf_counter() - started, f"{machine.name} without {gone.name}"))
    return f"{worst[0]:.2f} s at most ({worst[1]}), {count} invariants left out one at a time that others need"


def edited(name: str) -> str:
    """As `whence prove --watch` does it, after one line was added."""
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
    for name, made, _ in proved_library(first):
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
