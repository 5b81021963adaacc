"""`thence prove`: theorems, machines and links, for any number of processes and messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from thence.api.proving import Proofs, cache_directory, provable, proved, timeout_ms, unsaid
from thence.cli.certificates import CertificateRequest, Proved, certify
from thence.cli.fragments import fragments_text
from thence.cli.options import File, Json, Seed, Verbose
from thence.cli.output import BadInput, Output, exit_incomplete
from thence.cli.session import Session, run_command
from thence.cli.watching import watch as watch_file
from thence.dsl import ir
from thence.dsl.find import specification
from thence.proofs.solving.discharge import Options, ProofProgress
from thence.spec.verdict import Verdict
from thence.spec.words import counted


def prove(
    file: File,
    names: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Argument(help="Theorems, machines, links, or properties. By default, all that the file states."),
    ] = None,
    timeout: Annotated[
        float, typer.Option(min=0.1, help="The time limit for each obligation and solver, in seconds.")
    ] = 10.0,
    seed: Seed = 0,
    cache: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="The directory that keeps answers between runs. By default $THENCE_CACHE, or the user's cache."
        ),
    ] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Solve everything again, and keep nothing.")] = False,
    cores: Annotated[
        bool, typer.Option("--cores", help="Say which hypotheses each proof uses, and which no proof uses.")
    ] = False,
    fragment: Annotated[
        bool, typer.Option("--fragment", help="Say whether the obligations of each proof are in a decidable fragment.")
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="After each saved edit, prove again what the edit affects, until Ctrl-C.")
    ] = False,
    stability: Annotated[
        int, typer.Option(min=0, help="Ask each obligation again under this many seeds, orders and names.")
    ] = 0,
    certificate: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Write a certificate to this directory, for others to check with recheck."),
    ] = None,
    author: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(help="An author whom the certificate says to cite. Repeatable."),
    ] = None,
    verbose: Verbose = 0,
    json: Json = False,
) -> None:
    """Proves the theorems, machines and links of a file, or those named."""
    certified = None if certificate is None else CertificateRequest(certificate, tuple(author or ()))
    request = ProveRequest(
        file, tuple(names or ()), timeout, seed, cache, no_cache, cores, fragment, watch, stability, certified
    )
    run_command("prove", json, lambda session: _proved(session, request), verbose)


@dataclass(frozen=True, slots=True)
class ProveRequest:
    """The theorems, machines, links and properties to prove, all of them without names; and how."""

    file: str
    names: tuple[str, ...]
    timeout_s: float
    seed: int
    cache: str | None
    no_cache: bool
    cores: bool
    fragment: bool = False
    watch: bool = False
    stability: int = 0
    certificate: CertificateRequest | None = None

    def options(self) -> Options:
        """Raises: BadRequest where no cache can be at the place that is named for it."""
        cache = cache_directory(self.cache, no_cache=self.no_cache)
        if self.certificate is not None:
            cache = None  # what is cited rests on no answer of an earlier run
        return Options(
            timeout_ms=timeout_ms(self.timeout_s), seed=self.seed, cache=cache, cores=self.cores, fragment=self.fragment
        )


def _proved(session: Session, request: ProveRequest) -> Output:
    """Proves; after Ctrl-C, says what was finished."""
    if request.watch:
        return _watch(session, request)
    found = specification(request.file)
    provable(request.file, found, request.names)
    options = request.options()
    if request.certificate is not None:
        request.certificate.check()
    last: list[ProofProgress] = []

    def progress(made: ProofProgress) -> None:
        last[:] = [made]
        at, share = _place(weights, made)
        share = reached[0] = max(reached[0], share)
        session.status(_status(made), at, len(weights) if len(weights) > 1 else 0, "parts", share)

    weights, reached = _weights(found, request.names), [0.0]
    made = proved(found, request.names, options, request.stability, progress)
    if not made.complete:
        text = f"interrupted{_where(last)}: incomplete, this was finished\n"
        fields = {"complete": False, **_cache_facts(made, options)}
        code = exit_incomplete(made.statements)
        return Output(made.statements, notes=text, fields=fields, exit=code, files=_files(request, made))
    placed = fragments_text(made.statements) if request.fragment else ""
    output = Output(
        made.statements,
        notes=placed
        + "".join(f"{line}\n" for line in unsaid(found, request.names))
        + _one_solver_text(made)
        + _cache_text(made),
        fields=_cache_facts(made, options),
        files=_files(request, made),
        asked=bool(request.names),
    )
    if request.certificate is None:
        return output
    return certify(session, request.certificate, Proved(request.file, found, made.evidence), options, output)


def _files(request: ProveRequest, made: Proofs) -> tuple[tuple[str, int], ...]:
    return ((Path(request.file).stem, len(made.statements)),)


def _watch(session: Session, request: ProveRequest) -> Output:
    given = {
        "--json": session.json,
        "--fragment": request.fragment,
        "--stability": request.stability > 0,
        "--certificate": request.certificate is not None,
    }
    for option, is_given in given.items():
        if is_given:
            raise BadInput(f"--watch does not go with {option}")
    return watch_file(session, request.file, request.names, request.options(), _status)


_MACHINE, _MUTANT, _THEOREM = 20, 3, 1
"""About how the times of these parts of a file compare."""

_INVARIANTS = 0.4
"""About the share of a machine's time that its invariants take; statements about steps are not counted."""


def _weights(found: ir.Specification, names: Sequence[str]) -> dict[tuple[str, str], int]:
    """The parts to prove, in order, by subject and statement, each with its weight; of machines the subject counts."""
    theorems = {(one.theory.name, one.name): _THEOREM for one in found.theorems}
    machines = {(one.name, ""): _MACHINE for one in found.machines}
    of_machines = (one for one in found.mutants if isinstance(one.mutated, ir.Machine))
    mutants = {(one.subject, one.name): _MUTANT for one in of_machines}
    if names:
        theorems = {key: weight for key, weight in theorems.items() if key[1] in names}
        mutants = {key: weight for key, weight in mutants.items() if key[1] in names}
        machines = machines if {*names} - {name for _, name in (*theorems, *mutants)} else {}
    return theorems | machines | mutants


def _place(weights: Mapping[tuple[str, str], int], made: ProofProgress) -> tuple[int, float]:
    """The number of parts that are done, and about the share of the time that is over."""
    parts = list(weights)
    key = (made.subject, made.statement)
    at = parts.index(key) if key in weights else parts.index((made.subject, "")) if (made.subject, "") in weights else 0
    within = weights[parts[at]] * _INVARIANTS * made.done / made.total if parts and made.total else 0.0
    whole = sum(weights.values())
    return at, (sum(weights[part] for part in parts[:at]) + within) / whole if whole else 0.0


def _status(made: ProofProgress) -> str:
    current = f": {made.current}" if made.current else ""
    return f"{made.subject}, {made.statement}: {made.done} of {made.total}{current}"


def _where(last: list[ProofProgress]) -> str:
    """` in permits, invariants, when 57 of 162 were done`, or nothing."""
    if not last or last[0].done == last[0].total:
        return ""
    made = last[0]
    return f" in {made.subject}, {made.statement}, when {made.done} of {made.total} were done"


def _one_solver_text(made: Proofs) -> str:
    """Of what is proved at level L2: the obligations that the other solver left open, a line for each, each once."""
    lines: dict[str, None] = {}
    more: dict[tuple[str, int], None] = {}
    for result in made.statements:
        if result.verdict is Verdict.PROVED:
            lines |= dict.fromkeys(f"  {result.subject}, {each}" for each in result.facts.get("one_solver", ()))
            more |= dict.fromkeys([(result.subject, result.facts.get("one_solver_more", 0))])
    if not lines:
        return ""
    left = [f"  {subject}: {counted(number, 'more obligation')}" for subject, number in more if number]
    return "\n".join(["one solver left open (L2):", *lines, *left]) + "\n"


def _cache_text(made: Proofs) -> str:
    """How much of it was not solved now."""
    if not made.recalled:
        return ""
    asked = made.recalled + made.solved
    return f"{made.recalled} of {counted(asked, 'answer')} from the cache; --no-cache solves everything\n"


def _cache_facts(made: Proofs, options: Options) -> dict[str, Any]:
    directory = None if options.cache is None else str(options.cache)
    return {"cache": {"directory": directory, "recalled": made.recalled, "solved": made.solved}}
