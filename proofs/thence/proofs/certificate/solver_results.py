"""The solvers' answers about a certificate's obligations, and proof objects for them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from thence.proofs.certificate.alethe import alethe_proofs
from thence.proofs.certificate.alethe_worker import OPTIONS as ALETHE_OPTIONS
from thence.proofs.certificate.forms.proof_form import in_form
from thence.proofs.certificate.instances.proofs import proofs_by_instances
from thence.proofs.certificate.manifest import Program
from thence.proofs.certificate.smaller_obligations import kept, named, smaller_obligations
from thence.proofs.certificate.smtinterpol import RESOURCE_LIMIT, Smtinterpol
from thence.proofs.solving.discharge import QUICK_MS, Options, stages
from thence.proofs.solving.solver import Check, SolverName, SolverPool, solver_version

Note = Callable[[str, int, int], None]
"""Called with the current task, the number of items done, and their total."""


def solve(texts: Sequence[str], options: Options, note: Note | None = None) -> tuple[Mapping[str, str], ...]:
    """For each obligation the answer of each solver: `unsat`, `sat` or `unknown`. No cache is used.

    Within a short time first. A solver that does not know is also asked about the core of another one's proof, as when
    it was proved: see NOTE(core).
    """
    found: list[dict[SolverName, str]] = [dict.fromkeys(options.solvers, "unknown") for _ in texts]
    with SolverPool(options.workers) as pool:
        for limit_ms, solvers in stages(options):
            asked = [(number, name) for name in solvers for number in range(len(texts))]
            asked = [(number, name) for number, name in asked if found[number][name] == "unknown"]
            requests = [Check.within(name, texts[number], limit_ms, options.seed) for number, name in asked]
            for done, (position, answer) in enumerate(pool.answers(requests), 1):
                number, name = asked[position]
                found[number][name] = answer.status
                if note is not None:
                    note("solving", done, len(requests))
            cores = list(_cores(pool, texts, found, options))
            requests = [
                Check.within(name, text, min(QUICK_MS, options.timeout_ms), options.seed) for _, name, text in cores
            ]
            for position, answer in pool.answers(requests):
                number, name, _ = cores[position]
                if answer.status == "unsat":
                    found[number][name] = answer.status
    return tuple({str(name): status for name, status in statuses.items()} for statuses in found)


def _cores(
    pool: SolverPool, texts: Sequence[str], found: Sequence[Mapping[SolverName, str]], options: Options
) -> Iterator[tuple[int, SolverName, str]]:
    """Each obligation that one solver proves and another one leaves open, with that one, and the core of the proof."""
    provers: dict[int, SolverName] = {}
    for number, said in enumerate(found):
        prover = next((name for name in options.solvers if said[name] == "unsat"), None)
        if prover is not None and "unknown" in said.values():
            provers[number] = prover
    limit_ms, seed = options.timeout_ms, options.seed
    asked = [Check.within(name, named(texts[number]), limit_ms, seed, core="first") for number, name in provers.items()]
    numbers = list(provers)
    for position, answer in pool.answers(asked):
        number = numbers[position]
        left = [name for name in options.solvers if found[number][name] == "unknown"]
        yield from ((number, name, kept(texts[number], answer.core)) for name in left if answer.core)


def proof_objects(
    texts: Sequence[str], options: Options, smtinterpol: Smtinterpol | None, note: Note | None = None
) -> tuple[Mapping[str, str], ...]:
    """Proof objects by format: those of cvc5, and, with SMTInterpol, those that its checker accepts."""
    found: list[dict[str, str]] = [{} for _ in texts]
    if note is not None:
        note("proof objects of cvc5", 0, len(texts))
    for number, proof in enumerate(alethe_proofs(texts, options.timeout_ms, options.workers)):
        written = None if proof is None else in_form("alethe", proof)
        if written is not None:
            found[number]["alethe"] = written
    if smtinterpol is not None:
        if note is not None:
            note("proof objects of SMTInterpol", 0, len(texts))
        for number, proof in _proofs(texts, options, smtinterpol).items():
            found[number]["resolute"] = proof
    return tuple(found)


def _proofs(texts: Sequence[str], options: Options, smtinterpol: Smtinterpol) -> dict[int, str]:
    """A proof that the checker accepts, by position, where one is found.

    By instances of the whole obligation first, then by instances of its core, then by SMTInterpol's own search in the
    core, which takes longest.
    """
    found: dict[int, str] = {}

    def take(numbers: Sequence[int], proofs: Sequence[str | None]) -> list[int]:
        """Keeps the proofs that are accepted, and returns the positions that are left."""
        accepted = _checked([texts[number] for number in numbers], proofs, options, smtinterpol)
        found.update({number: proof for number, proof in zip(numbers, accepted, strict=True) if proof is not None})
        return [number for number in numbers if number not in found]

    left = take(range(len(texts)), proofs_by_instances(texts, options, smtinterpol))
    smaller = dict(zip(left, smaller_obligations([texts[number] for number in left], options), strict=True))
    left = take(left, proofs_by_instances([smaller[number] for number in left], options, smtinterpol))
    take(left, smtinterpol.prove([smaller[number] for number in left], options.workers))
    return found


def _checked(
    texts: Sequence[str], proofs: Sequence[str | None], options: Options, smtinterpol: Smtinterpol
) -> list[str | None]:
    """The proofs in their form that the checker accepts for their obligations; None for the others."""
    formed = [None if proof is None else in_form("resolute", proof) for proof in proofs]
    having = [(number, proof) for number, proof in enumerate(formed) if proof is not None]
    verdicts = smtinterpol.check([(texts[number], proof) for number, proof in having], options.workers)
    accepted: list[str | None] = [None] * len(texts)
    for (number, proof), verdict in zip(having, verdicts, strict=True):
        if verdict == "valid":
            accepted[number] = proof
    return accepted


def programs(options: Options, smtinterpol: Smtinterpol | None) -> Mapping[str, Program]:
    """The programs that make a certificate, with their versions and options."""
    limits = {"timeout_ms": str(options.timeout_ms), "seed": str(options.seed)}
    found: dict[str, Program] = {name: Program(solver_version(name), limits) for name in options.solvers}
    if "cvc5" in found:
        alethe = {f"proof objects: {option}": value for option, value in ALETHE_OPTIONS.items()}
        found["cvc5"] = Program(found["cvc5"].version, {**limits, **alethe})
    if smtinterpol is not None:
        found["smtinterpol"] = Program(smtinterpol.version, _SMTINTERPOL_OPTIONS)
    return found


_SMTINTERPOL_OPTIONS = {"reproducible-resource-limit": str(RESOURCE_LIMIT)}


def is_set_by_thence(name: str, program: Program) -> bool:
    """Whether the recorded options are those that this version of Thence sets, for some time limit and seed."""
    if name == "smtinterpol":
        return program.options == _SMTINTERPOL_OPTIONS
    timeout_ms, seed = program.options.get("timeout_ms", ""), program.options.get("seed", "")
    if not all(re.fullmatch(r"[0-9]{1,12}", limit) for limit in (timeout_ms, seed)) or int(timeout_ms) == 0:
        return False
    return program.options == programs(Options(timeout_ms=int(timeout_ms), seed=int(seed)), None)[name].options
