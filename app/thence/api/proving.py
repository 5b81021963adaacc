"""Theorems and machines, for any number of processes and messages: `prove`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

from thence.api.errors import BadRequest
from thence.api.specifications import Source, file_of, load
from thence.api.statements import Proved, Results
from thence.dsl import ir
from thence.dsl.find import known
from thence.dsl.ir.observability import own_invariants
from thence.dsl.ir.properties import DELIVERED
from thence.proofs.prove import is_claimed, link_names, proofs_by, provable_names, solver_pool
from thence.proofs.refinement.carrying.properties import OF_DELIVERIES, carried, carries
from thence.proofs.solving.answer_cache import FOLDER, AnswerCache
from thence.proofs.solving.assessment import Proof
from thence.proofs.solving.discharge import Options, ProofProgress
from thence.proofs.solving.stability import measure, proved_obligations, stability_result
from thence.spec.cache_folder import cache_folder
from thence.spec.verdict import Result

MOST_SECONDS: Final = 1_000_000
"""The longest time limit of a solver, some eleven days."""

NO_CACHE = "off"
"""The value of THENCE_CACHE that means `no_cache`."""

Report: TypeAlias = Callable[[ProofProgress], None]


@dataclass(frozen=True, slots=True)
class Proofs(Results[Proved]):
    """The results of a proof: one for each statement.

    Attributes:
        evidence: the proofs, as certificates take them.
        recalled: answers of solvers that came from the cache.
        solved: answers that are new.
    """

    evidence: tuple[Proof, ...] = field(default=(), repr=False)
    recalled: int = 0
    solved: int = 0


def prove(
    source: Source,
    *names: str,
    timeout: float = 10.0,
    seed: int = 0,
    cache: str | None = None,
    no_cache: bool = False,
    cores: bool = False,
    fragment: bool = False,
    stability: int = 0,
    progress: Report | None = None,
) -> Proofs:
    """Proves the theorems, machines and links of a file, or those named, and judges the mutants of its machines.

    Ctrl-C ends it: what was finished is returned, and `complete` is False.

    Args:
        source: a file, the bare name of a library file, or a specification.
        names: theorems, machines, mutants of machines, links, or statements of machines; by default all. A property
            that a protocol states, too, is also proved of the protocol, by its link.
        timeout: seconds per obligation and solver.
        seed: fixes every random choice.
        cache: where answers are kept between runs; by default $THENCE_CACHE, or the user's cache.
        no_cache: solve everything, keep nothing.
        cores: find the hypotheses that each proof uses.
        fragment: say of each proof whether its obligations lie in the decidable fragment.
        stability: put each obligation again under so many seeds, orders and names.
        progress: is told how far the proof is.

    Raises:
        UserError: the file or a name is at fault; the message says so in the words of the command.

    >>> import thence.api as th
    >>> found = th.prove("execution", "csps_implies_sps", no_cache=True)
    >>> [statement.verdict.value for statement in found]
    ['proved']
    """
    specification = load(source)
    kept = cache_directory(cache, no_cache=no_cache)
    options = Options(timeout_ms(timeout), seed, cache=kept, cores=cores, fragment=fragment)
    provable(file_of(source), specification.content, names)
    return proved(specification.content, names, options, stability, progress)


def timeout_ms(seconds: float) -> int:
    """The time limit of a solver. Raises: BadRequest for less than a tenth of a second, or more than `MOST_SECONDS`."""
    if not 0.1 <= seconds <= MOST_SECONDS:
        raise BadRequest(f"--timeout {seconds:g}: give 0.1 to {MOST_SECONDS:,} seconds")
    return round(seconds * 1000)


def cache_directory(named: str | None, *, no_cache: bool) -> Path | None:
    """Where answers are kept: at the place that is named, else at THENCE_CACHE, else in the user's cache.

    Raises:
        BadRequest: no cache can be at the place that is named for it.
    """
    if no_cache:
        if named is not None:
            raise BadRequest("--cache and --no-cache contradict each other")
        return None
    place = named or os.environ.get("THENCE_CACHE")
    if named is None and place == NO_CACHE:
        return None
    if not place:
        return cache_folder(FOLDER)
    directory = Path(place)
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadRequest(f"{place} cannot be the cache: {error.strerror or error}") from error
    if not os.access(directory, os.W_OK | os.X_OK):
        raise BadRequest(f"{place} cannot be the cache: it cannot be written")
    return directory


def provable(file: str, specification: ir.Specification, names: Sequence[str]) -> None:
    """Raises BadRequest where the file has nothing to prove, and NotThere for a name that it does not have."""
    there = provable_names(specification)
    if not there:
        instead = "; thence explore checks its protocols in scopes" if specification.protocols else ""
        raise BadRequest(f"{file} has neither a theorem nor a machine to prove{instead}")
    every = (*there, *link_names(specification))
    for name in names:
        if name not in every:
            _refuse_of_protocol(specification, name)
        known(name, every, "theorem, machine, link or statement")
    for mutant in specification.mutants:
        if mutant.name in names and not mutant.expects and isinstance(mutant.mutated, ir.Machine):
            said = "write `expect refuted NAME` or `expect proved NAME` into it"
            raise BadRequest(f"nothing is expected of the mutant {mutant.name}, so nothing is judged: {said}")


def _refuse_of_protocol(specification: ir.Specification, name: str) -> None:
    """Raises BadRequest where a protocol states what is named, and no link carries it."""
    for protocol in specification.protocols:
        if name in (*protocol.properties, *protocol.liveness, *(each.name for each in protocol.formulas)):
            said = f"{name} is stated of the protocol {protocol.name}, and 'thence explore' judges it in scopes"
            links = dict.fromkeys(own_invariants(protocol), "to a machine from which it follows")
            links |= dict.fromkeys(OF_DELIVERIES, "to a machine that has it")
            links[DELIVERED] = "that says `eventually delivered by`"
            raise BadRequest(f"{said}; a link {links[name]} would prove it" if name in links else said)


def unsaid(specification: ir.Specification, names: Sequence[str]) -> tuple[str, ...]:
    """Why nothing is said of protocols that state what is named: their links do not ask for a proof."""
    why = "has no `expect proved`; name the link, too, to try its proof"
    asked = {(link.protocol.name, name) for link in specification.links if is_claimed(link) for name in names}
    return tuple(
        f"{link.protocol.name}: no verdict on its {name}: the link `{link.name}` {why}"
        for link in specification.links
        for name in names
        if carries(link, name) and (link.protocol.name, name) not in asked and link.name not in names
    )


def proved(
    specification: ir.Specification,
    names: Sequence[str],
    options: Options,
    stability: int = 0,
    progress: Report | None = None,
) -> Proofs:
    """Proves what is named. Ctrl-C ends it with what was finished."""
    evidence: list[Proof] = []
    finished: list[Result] = []
    complete = True
    with solver_pool(options) as pool:
        try:
            with closing(proofs_by(pool, specification, names, options, progress)) as made:
                for proof in made:
                    evidence.append(proof)
                    finished.append(proof.result)
            finished.extend(each.result for each in carried(specification.links, names, evidence))
            if stability:
                finished.extend(_stability(evidence, options, stability, progress))
        except KeyboardInterrupt:
            complete = False
        if complete and options.cache is not None:
            AnswerCache(options.cache).prune()
        statements = tuple(map(Proved.of, finished))
        return Proofs(
            statements, complete=complete, evidence=tuple(evidence), recalled=pool.recalled, solved=pool.solved
        )


def _stability(made: Sequence[Proof], options: Options, count: int, progress: Report | None) -> Iterator[Result]:
    """A result for each machine and theory of which something is proved."""
    proofs = [proof for proof in made if proof.result.kind != "mutant"]
    for subject in dict.fromkeys(proof.result.subject for proof in proofs):
        obligations = proved_obligations(proof for proof in proofs if proof.result.subject == subject)
        if obligations:

            def note(done: int, total: int, current: str, subject: str = subject) -> None:
                if progress is not None:
                    progress(ProofProgress(subject, "stability", done, total, current))

            yield stability_result(subject, measure(obligations, options, count, note), count, options)
