"""`thence prove`: theorems and machines, for any number of processes and messages."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from thence.cli.certificates import CertificateRequest, Proved, certify
from thence.cli.options import File, Json, Seed
from thence.cli.output import UNKNOWN, BadInput, Output
from thence.cli.session import Session, run_command
from thence.cli.watching import watch as watch_file
from thence.dsl.find import known, specification
from thence.proofs.prove import proofs_by, provable_names, solver_pool
from thence.proofs.solving.answer_cache import FOLDER, AnswerCache
from thence.proofs.solving.assessment import Proof
from thence.proofs.solving.discharge import Options, ProofProgress
from thence.proofs.solving.solver import SolverPool
from thence.proofs.solving.stability import measure, proved_obligations, stability_result
from thence.spec.cache_folder import cache_folder
from thence.spec.verdict import Result

NO_CACHE = "off"
"""The value of THENCE_CACHE that means `--no-cache`."""


def prove(
    file: File,
    names: Annotated[Optional[list[str]], typer.Argument(help="Theorems or machines; by default all.")] = None,  # noqa: UP045
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds per obligation and solver.")] = 10.0,
    seed: Seed = 0,
    cache: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Where answers are kept between runs; by default $THENCE_CACHE, or the user's cache."),
    ] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Solve everything, keep nothing.")] = False,
    cores: Annotated[
        bool, typer.Option("--cores", help="Say which hypotheses each proof uses, and which none does.")
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Prove again what a saved edit touches, until Ctrl-C.")
    ] = False,
    stability: Annotated[
        int, typer.Option(min=0, help="Put each obligation again under so many seeds, orders and names.")
    ] = 0,
    certificate: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Write a certificate to this directory: what was proved, for anybody to check again."),
    ] = None,
    author: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(help="Whom the certificate says to cite; repeatable."),
    ] = None,
    json: Json = False,
) -> None:
    """Proves the theorems and machines of a file, or those named."""
    certified = None if certificate is None else CertificateRequest(certificate, tuple(author or ()))
    request = ProveRequest(file, tuple(names or ()), timeout, seed, cache, no_cache, cores, watch, stability, certified)
    run_command("prove", json, lambda session: _proved(session, request))


@dataclass(frozen=True, slots=True)
class ProveRequest:
    """The theorems and machines to prove, all of them without names; and how."""

    file: str
    names: tuple[str, ...]
    timeout_s: float
    seed: int
    cache: str | None
    no_cache: bool
    cores: bool
    watch: bool = False
    stability: int = 0
    certificate: CertificateRequest | None = None

    def options(self) -> Options:
        """Raises: BadInput where no cache can be at the place that is named for it."""
        timeout_ms = round(self.timeout_s * 1000)
        cache = self._directory()
        if self.certificate is not None:
            cache = None  # what is cited rests on no answer of an earlier run
        return Options(timeout_ms=timeout_ms, seed=self.seed, cache=cache, cores=self.cores)

    def _directory(self) -> Path | None:
        """Where answers are kept: what the command line says, else THENCE_CACHE, else the user's cache."""
        if self.no_cache:
            if self.cache is not None:
                raise BadInput("--cache and --no-cache contradict each other")
            return None
        named = self.cache or os.environ.get("THENCE_CACHE")
        if self.cache is None and named == NO_CACHE:
            return None
        if not named:
            return cache_folder(FOLDER)
        directory = Path(named)
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"{named} cannot be the cache: {error.strerror or error}") from error
        if not os.access(directory, os.W_OK | os.X_OK):
            raise BadInput(f"{named} cannot be the cache: it cannot be written")
        return directory


def _proved(session: Session, request: ProveRequest) -> Output:
    """Proves; after Ctrl-C, says what was finished."""
    if request.watch:
        return _watch(session, request)
    found = specification(request.file)
    provable = provable_names(found)
    if not provable:
        raise BadInput(f"{request.file} has neither a theorem nor a machine")
    for name in request.names:
        known(name, provable, "theorem, machine or statement")
    options = request.options()
    if request.certificate is not None:
        request.certificate.check()
    last: list[ProofProgress] = []

    def progress(made: ProofProgress) -> None:
        last[:] = [made]
        session.status(_status(made))

    evidence: list[Proof] = []
    finished: list[Result] = []
    with solver_pool(options) as pool:
        try:
            with closing(proofs_by(pool, found, request.names, options, progress)) as proved:
                for proof in proved:
                    evidence.append(proof)
                    finished.append(proof.result)
            if request.stability:
                finished.extend(_stability(evidence, options, request.stability, progress))
        except KeyboardInterrupt:
            text = f"interrupted{_where(last)}: incomplete, this was finished\n"
            fields = {"complete": False, **_cache_facts(pool, options)}
            return Output(tuple(finished), text=text, fields=fields, exit=UNKNOWN)
        if options.cache is not None:
            AnswerCache(options.cache).prune()
        output = Output(tuple(finished), text=_cache_text(pool), fields=_cache_facts(pool, options))
    if request.certificate is None:
        return output
    return certify(session, request.certificate, Proved(request.file, found, evidence), options, output)


def _watch(session: Session, request: ProveRequest) -> Output:
    given = {
        "--json": session.json,
        "--stability": request.stability > 0,
        "--certificate": request.certificate is not None,
    }
    for option, is_given in given.items():
        if is_given:
            raise BadInput(f"--watch does not go with {option}")
    return watch_file(session, request.file, request.names, request.options(), _status)


def _stability(
    made: Sequence[Proof], options: Options, count: int, progress: Callable[[ProofProgress], None]
) -> Iterator[Result]:
    """A result for each machine and theory of which something is proved."""
    proofs = [proof for proof in made if proof.result.kind != "mutant"]
    for subject in dict.fromkeys(proof.result.subject for proof in proofs):
        obligations = proved_obligations(proof for proof in proofs if proof.result.subject == subject)
        if obligations:

            def note(done: int, total: int, current: str, subject: str = subject) -> None:
                progress(ProofProgress(subject, "stability", done, total, current))

            yield stability_result(subject, measure(obligations, options, count, note), count, options)


def _status(made: ProofProgress) -> str:
    current = f": {made.current}" if made.current else ""
    return f"{made.subject}, {made.statement}: {made.done} of {made.total}{current}"


def _where(last: list[ProofProgress]) -> str:
    """` in permits, invariants, when 57 of 162 were done`, or nothing."""
    if not last or last[0].done == last[0].total:
        return ""
    made = last[0]
    return f" in {made.subject}, {made.statement}, when {made.done} of {made.total} were done"


def _cache_text(pool: SolverPool) -> str | None:
    """How much of it was not solved now."""
    if not pool.recalled:
        return None
    asked = pool.recalled + pool.solved
    return f"{pool.recalled} of {asked} answers are from the cache; --no-cache solves everything\n"


def _cache_facts(pool: SolverPool, options: Options) -> dict[str, Any]:
    directory = None if options.cache is None else str(options.cache)
    return {"cache": {"directory": directory, "recalled": pool.recalled, "solved": pool.solved}}
