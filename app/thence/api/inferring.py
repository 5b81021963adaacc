"""Invariants of machines and of links, found: `infer`."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

from thence.api.errors import BadRequest
from thence.api.pools import open_spark
from thence.api.proving import cache_directory, timeout_ms
from thence.api.specifications import Source, Specification, load
from thence.conformance.tasks.lanes import run_lanes
from thence.conformance.tasks.running import run_tasks
from thence.dsl import ir
from thence.dsl.check.elaborate import elaborate
from thence.dsl.find import known
from thence.dsl.load import SUFFIX, load_once
from thence.dsl.text.parse import parse
from thence.dsl.write.format import format_source
from thence.dsl.write.insertion import with_invariant_lines
from thence.proofs.infer.candidates.naming import line_of, names_of
from thence.proofs.infer.hints import Hints, fewest_hints
from thence.proofs.infer.links.inference import LinkInference, infer_link, promising_hints, without_invariants
from thence.proofs.infer.links.inference import as_kept as link_as_kept
from thence.proofs.infer.search.asking import Ask
from thence.proofs.infer.search.goals import goals_of, hidden
from thence.proofs.infer.search.inference import ENDED, INTERRUPTED, Aids, Note
from thence.proofs.infer.search.inference import infer as infer_machine
from thence.proofs.infer.search.kept import Keeping, Kept, beginning, read, save
from thence.proofs.infer.search.outcome import Inference, Limits, as_kept
from thence.proofs.infer.search.promising import Guess, promising
from thence.proofs.prove import solver_pool
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession
from thence.spec.cache_folder import cache_folder
from thence.spec.user_error import UserError

FOLDER = "infer"
"""The user's cache has what searches keep in a folder of this name."""

Progress = Callable[[str, str], None]
"""Is told the machine or link, and what is done for it now."""

Found: TypeAlias = Inference | LinkInference


def infer(
    source: Source,
    *names: str,
    hide: Sequence[str] = (),
    timeout: float = 120.0,
    seed: int = 0,
    resume: bool = False,
    ask: Ask | None = None,
    progress: Progress | None = None,
) -> tuple[Found, ...]:
    """Looks for invariants that prove what the machines of a file state, or those machines, mutants and links named.

    A link is proved for any number of processes and messages. Ctrl-C and a time limit keep what was found, in the
    user's cache; `resume` goes on with it.

    Args:
        source: a file, the bare name of a library file, or a specification.
        names: machines, mutants of machines, and links, as `fifo to sequence_numbers`; by default all machines.
        hide: invariants of the file to do without; `all` for every one.
        timeout: seconds of processor time for each machine or link, of the search and its solvers.
        seed: fixes every random choice.
        resume: go on with what an earlier search of the same machine or link kept; all of it is checked again.
        ask: is asked which clause excludes a state, instead of taking the best one; of machines only.
        progress: is told the machine or link, and what is done for it now.

    Raises:
        UserError: the file or a name is at fault; the message says so in the words of the command.
    """
    found: list[Found] = []
    why = ""
    for search in _searches(load(source), names, hide, _limits(timeout, seed), resume=resume):
        if why in (INTERRUPTED, ENDED):
            found.append(_without(search, why))
            continue
        one = _searched(search, _note(progress, search.name), ask)
        why = INTERRUPTED if one.interrupted else one.reason
        found.append(_keep(search, one))
    return tuple(found)


def link_names_among(source: Source, names: Sequence[str]) -> tuple[str, ...]:
    """Those of the names that are links of the file.

    Raises: UserError for a name that neither a machine, a mutant of one, nor a link has.
    """
    content = load(source).content
    links = tuple(link.name for link in content.links)
    for name in names:
        known(name, (*machine_names(content), *links), "machine or link")
    return tuple(name for name in names if name in links)


def machine_names(specification: ir.Specification) -> tuple[str, ...]:
    """The names of machines, and of their mutants."""
    mutants = (mutant.name for mutant in specification.mutants if isinstance(mutant.mutated, ir.Machine))
    return (*(machine.name for machine in specification.machines), *mutants)


def infer_at_once(
    jobs: int,
    source: Source,
    *names: str,
    hide: Sequence[str] = (),
    timeout: float = 120.0,
    seed: int = 0,
    resume: bool = False,
    progress: Progress | None = None,
) -> tuple[Found, ...]:
    """As `infer`, `jobs` machines and links at a time, each in a process of its own. It cannot ask.

    Ctrl-C ends all of them, and each keeps what it found. `progress` is also told how many are done.

    Raises:
        UserError: the file or a name is at fault; the message says so in the words of the command.
    """
    searches = _searches(load(source), names, hide, _limits(timeout, seed), resume=resume)
    found: dict[str, Found] = {}

    def work(search: Search, tell: Note) -> Found:
        return _searched(search, tell, None)

    def told(search: Search, now: str) -> None:
        if progress is not None:
            progress(f"{len(found)} of {len(searches)} are done; {search.name}", now)

    def done(search: Search, outcome: Found | Exception) -> None:
        found[search.name] = _keep(search, _of(search, outcome))

    run_lanes(searches, work, jobs, told, done)
    return tuple(found.get(search.name) or _without(search, INTERRUPTED) for search in searches)


def infer_on_spark(
    master: str,
    source: Source,
    *names: str,
    hide: Sequence[str] = (),
    timeout: float = 120.0,
    seed: int = 0,
    resume: bool = False,
    progress: Progress | None = None,
) -> tuple[Found, ...]:
    """As `infer`, each machine or link on a worker of the Spark at `master`. It cannot ask.

    One that is finished when Ctrl-C comes is kept, settled or not; the search for one that is not begins anew.

    Raises:
        UserError: the file or a name is at fault, or Spark is; the message says so in the words of the command.
    """
    searches = _searches(load(source), names, hide, _limits(timeout, seed), resume=resume)
    found: dict[str, Found] = {}

    def finished(search: Search, future: Future[Found]) -> None:
        one = found[search.name] = _of(search, future.exception() or future.result())
        _keep(search, _with_all_kept(one))

    def told(running: Sequence[Search]) -> None:
        if progress is not None and running:
            progress(", ".join(search.name for search in running[:4]), f"{len(found)} of {len(searches)} are done")

    with open_spark(master) as workers:
        why = run_tasks(workers, search_one, searches, finished, told)
    if not why:
        for search in searches:
            found[search.name] = _keep(search, found[search.name])
        return tuple(found[search.name] for search in searches)
    there = {name: _with_all_kept(one) for name, one in found.items()}
    return tuple(there.get(search.name) or _without(search, why) for search in searches)


@dataclass(frozen=True, slots=True)
class Search:
    """A task: the search for one machine or link of a file, with what an earlier one kept; and the place of what it
    keeps."""

    file: str
    content: bytes
    name: str
    hide: tuple[str, ...]
    limits: Limits
    kept: Kept | None
    place: Path | None


def _limits(timeout_s: float, seed: int) -> Limits:
    """Raises: BadRequest for a time limit that is none."""
    timeout_ms(timeout_s)
    return Limits(timeout_s, seed)


def _searches(
    loaded: Specification, names: Sequence[str], hide: Sequence[str], limits: Limits, *, resume: bool
) -> list[Search]:
    file, content = str(loaded.loaded.path), loaded.loaded.source.text.encode()
    found = []
    for subject in _subjects(loaded.content, names, hide):
        place = kept_at(file, subject.name, hide)
        kept = read(place) if resume and place is not None else None
        found.append(Search(file, content, subject.name, tuple(hide), limits, kept, place))
    return found


def search_one(search: Search) -> Found:
    """Does a search by the text of its file alone, on whatever machine; its place is on another one."""
    return _searched(replace(search, place=None), lambda _doing: None, None)


def _specification_of(search: Search) -> ir.Specification:
    found = load_once(Path(search.file), search.content, len(search.content)).specification
    assert found is not None
    return found


def _subject_of(search: Search) -> ir.Machine | ir.Link:
    """The machine or link, without what is hidden."""
    (subject,) = _subjects(_specification_of(search), (search.name,))
    return without_invariants(subject, search.hide) if isinstance(subject, ir.Link) else hidden(subject, search.hide)


def _taken(search: Search) -> frozenset[str]:
    """The names of the machine or link in its file, what is hidden among them; of a machine those of its mutants."""
    found = _specification_of(search)
    (subject,) = _subjects(found, (search.name,))
    if isinstance(subject, ir.Link):
        return frozenset(each.name for each in subject.invariants)
    mutants = (mutant.mutated for mutant in found.mutants if mutant.subject == search.name)
    return frozenset().union(*(names_of(each) for each in (subject, *mutants) if isinstance(each, ir.Machine)))


def _searched(search: Search, note: Note, ask: Ask | None) -> Found:
    options, subject, place = Options(seed=search.limits.seed), _subject_of(search), search.place
    aids = Aids(search.kept, ask, _taken(search), Keeping(None if place is None else partial(save, place)))
    with solver_pool(options) as pool:
        session = ProofSession(pool, options)
        if isinstance(subject, ir.Link):
            return infer_link(session, subject, search.limits, note, aids)
        return infer_machine(session, subject, search.limits, note, aids)


def _with_all_kept(found: Found) -> Found:
    """The outcome with what another search begins with: where it is settled, with what it found."""
    if isinstance(found, LinkInference):
        return replace(found, kept=found.kept or link_as_kept(found))
    return replace(found, kept=found.kept or as_kept(found))


def _of(search: Search, outcome: Found | BaseException) -> Found:
    """The outcome. Raises: UserError. A search that broke has none but the reason."""
    if isinstance(outcome, UserError):
        raise outcome
    if isinstance(outcome, BaseException):
        return _without(search, f"the search itself failed: {type(outcome).__name__}: {outcome}")
    return outcome


def _without(search: Search, reason: str) -> Found:
    subject = _subject_of(search)
    if isinstance(subject, ir.Link):
        return LinkInference(subject, reason=reason, kept=search.kept)
    return Inference(subject, goals_of(subject), reason=reason, kept=search.kept)


def hints(
    source: Source,
    *names: str,
    hide: Sequence[str] = (),
    timeout: float = 120.0,
    seed: int = 0,
    progress: Progress | None = None,
) -> tuple[tuple[ir.Machine | ir.Link, Hints], ...]:
    """Few of the hidden invariants with which `infer` proves each machine or link; Ctrl-C ends the search for fewer.

    Args as of `infer`: `hide` nothing means all, and `timeout` is for each attempt.

    Raises:
        UserError: the file or a name is at fault; the message says so in the words of the command.
    """
    limits = _limits(timeout, seed)
    found: list[tuple[ir.Machine | ir.Link, Hints]] = []
    for subject in _subjects(load(source).content, names, hide):
        taken = [each.name for each in subject.invariants if not hide or "all" in hide or each.name in hide]
        if isinstance(subject, ir.Link):
            found.append((subject, _hints_of_link(subject, taken, limits, progress)))
        else:
            found.append((subject, _hints(subject, taken, limits, progress)))
        if found[-1][1].interrupted:
            break
    return tuple(found)


def _hints(machine: ir.Machine, taken: Sequence[str], limits: Limits, progress: Progress | None) -> Hints:
    options = Options(seed=limits.seed)

    def attempt(guess: Guess) -> Inference:
        asked = hidden(machine, [name for name in taken if name not in guess.given])
        aids = Aids(beginning(asked, guess.clauses) if guess.clauses else None)
        with solver_pool(options) as pool:
            note = _note(progress, _giving(machine.name, guess))
            return infer_machine(ProofSession(pool, options), asked, limits, note, aids)

    def guesses() -> Generator[Guess, None, None]:
        with solver_pool(options) as pool:
            session = ProofSession(pool, options)
            yield from promising(session, machine, taken, limits, _note(progress, machine.name))

    return fewest_hints(taken, attempt, guesses)


def _hints_of_link(link: ir.Link, taken: Sequence[str], limits: Limits, progress: Progress | None) -> Hints:
    options = Options(seed=limits.seed)

    def attempt(guess: Guess) -> LinkInference:
        asked = without_invariants(link, [name for name in taken if name not in guess.given])
        aids = Aids(taken=frozenset(each.name for each in link.invariants))
        with solver_pool(options) as pool:
            note = _note(progress, _giving(link.name, guess))
            return infer_link(ProofSession(pool, options), asked, limits, note, aids)

    def guesses() -> Generator[Guess, None, None]:
        with solver_pool(options) as pool:
            session = ProofSession(pool, options)
            guessed = promising_hints(session, link, taken, limits, _note(progress, link.name))
        if guessed is not None and len(guessed) < len(taken):
            yield Guess(guessed)

    return fewest_hints(taken, attempt, guesses)


def _giving(name: str, guess: Guess) -> str:
    return f"{name}, {', '.join(guess.given) or 'nothing'} given back"


def _subjects(
    specification: ir.Specification, names: Sequence[str], hide: Sequence[str] = ()
) -> tuple[ir.Machine | ir.Link, ...]:
    """The machines and links of these names, in this order; all machines without names.

    Raises: UserError, also for an invariant to hide that none of them has.
    """
    links = {link.name: link for link in specification.links}
    machines = [name for name in names if name not in links]
    if names and not machines:
        found: tuple[ir.Machine | ir.Link, ...] = tuple(links[name] for name in names)
    else:
        there = {machine.name: machine for machine in chosen_machines(specification, machines)}
        found = tuple((there | links)[name] for name in names) if names else tuple(there.values())
    for name in hide:
        known(name, (*(each.name for subject in found for each in subject.invariants), "all"), "invariant")
    return found


def _note(progress: Progress | None, name: str) -> Note:
    def note(doing: str) -> None:
        if progress is not None:
            progress(name, doing)

    return note


def kept_at(file: str, name: str, hide: Sequence[str] = ()) -> Path | None:
    """The file that keeps a search between runs: in $THENCE_CACHE, or else in the user's cache; None if neither is.

    Raises: BadRequest where THENCE_CACHE names a place that cannot be written to.
    """
    named = bool(os.environ.get("THENCE_CACHE"))
    folder = cache_directory(None, no_cache=False) if named else cache_folder(FOLDER)
    key = "\0".join((str(Path(file).resolve()), name, *sorted(hide)))
    return None if folder is None else folder / f"{FOLDER}-{sha256(key.encode()).hexdigest()[:24]}.json"


def _keep(search: Search, found: Found) -> Found:
    """Keeps what another search can go on with, if there is a place for it; removes what nobody needs any more.

    Returns the outcome. Where it cannot be kept, it says so beside the reason why it is open, and no result is lost.
    """
    place = search.place
    if place is None:
        return found
    try:
        if found.kept is None:
            place.unlink(missing_ok=True)
        else:
            save(place, found.kept)
    except OSError as error:
        said = f"{place} cannot be written: {error.strerror or error}"
        return replace(found, kept=None, reason=found.reason and f"{found.reason}; not kept, for {said}")
    return found


def chosen_machines(specification: ir.Specification, names: Sequence[str]) -> tuple[ir.Machine, ...]:
    """The machines of these names, mutants among them, each under its own name; all machines without names.

    Raises: UserError for other names; BadRequest where there are none.
    """
    there = {machine.name: machine for machine in specification.machines}
    mutated = [(mutant.name, mutant.mutated) for mutant in specification.mutants]
    mutants = {name: replace(machine, name=name) for name, machine in mutated if isinstance(machine, ir.Machine)}
    for name in names:
        known(name, (*there, *mutants), "machine")
        if name not in there and sum(isinstance(machine, ir.Machine) for of, machine in mutated if of == name) > 1:
            raise BadRequest(f"several machines have a mutant {name}, and infer takes a mutant by its name alone")
    if not there:
        raise BadRequest("the file has no machine: invariants are inferred for machines")
    return tuple((mutants | there)[name] for name in names) if names else tuple(there.values())


def written(text: str, file: str, found: Found) -> str:
    """The text of a file with the conjuncts in it.

    Raises: BadRequest where the declaration is not in the file, or would not come out as it was proved.
    """
    declared = found.link if isinstance(found, LinkInference) else found.machine
    before = _declaration(_typed(text, file), declared)
    if before is None:
        raise BadRequest(f"{declared.name} is a mutant: --write is for machines and links")
    if isinstance(found, LinkInference):
        lines = [conjunct.line for conjunct in found.conjuncts]
    else:
        lines = [line_of(conjunct.formula) for conjunct in found.conjuncts]
    more = with_invariant_lines(text, before.span.line, lines)
    formatted, _ = format_source(text, file)
    if formatted == text:
        more = format_source(more, file)[0] or more
    after = _declaration(_typed(more, file), declared)
    own = {conjunct.formula.name: conjunct.formula.body for conjunct in found.conjuncts}
    if after is None or {each.name: each.body for each in after.invariants if each.name in own} != own:
        raise BadRequest(f"{file} would not say what was proved; nothing was written")
    return more


def _declaration(content: ir.Specification, declared: ir.Machine | ir.Link) -> ir.Machine | ir.Link | None:
    """The machine or link of this name."""
    there: Sequence[ir.Machine | ir.Link] = content.links if isinstance(declared, ir.Link) else content.machines
    return next((each for each in there if each.name == declared.name), None)


def _typed(text: str, file: str) -> ir.Specification:
    tree, faults = parse(text, file)
    specification, more = elaborate(tree, file) if tree is not None else (None, ())
    if specification is None:
        raise BadRequest(f"{file}: {(*faults, *more)[0].message}")
    return specification


def is_of_the_library(path: Path) -> bool:
    """Whether the file comes with Thence: it is not written to."""
    from thence.dsl.load import library

    return path.suffix == SUFFIX and path.resolve() in {each.resolve() for each in library()}
