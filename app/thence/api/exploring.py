"""Every execution of a protocol in a scope: `explore`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from thence.api.errors import BadRequest
from thence.api.reductions import reductions_of
from thence.api.sizes import byte_size
from thence.api.specifications import Source, file_of, load
from thence.api.statements import Explored, Results
from thence.api.targets import Choice, Sends, Target, sends_text, targets
from thence.dsl.find import known
from thence.dsl.run.identity_reuse import system_of
from thence.dsl.run.scoped import asked_of
from thence.proofs.explore.exploration import STORAGES, Engine, Progress, Resources
from thence.proofs.native.kept_search import NotOnDisk
from thence.proofs.native.progress_measure import NoMeasure
from thence.proofs.scopes.scopes import LIVE, Options, explore_scope, judgeable, judged_in
from thence.spec.verdict import Result, Verdict

ANY_NUMBER = "any number of messages"
"""The setting of a scope in which nothing bounds the number of messages."""

Report: TypeAlias = Callable[[str, Progress], None]
"""Is told how far an exploration is; the text names it."""

_ENGINES: tuple[Engine, ...] = ("auto", "native", "interpreted")


@dataclass(frozen=True, slots=True)
class Exploration(Results[Explored]):
    """The results of an exploration: one for each scope and property.

    Attributes:
        targets: of each statement, the protocol and the scope that were explored.
        notes: what could not be done as it was asked for.
    """

    targets: tuple[Target, ...] = field(default=(), repr=False)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Manner:
    """How to explore. Fields as the parameters of `explore`."""

    limit: int | None = None
    reductions: str | None = None
    engine: str = "auto"
    cross_check: bool = False
    memory: str | None = None
    threads: int | None = None
    storage: str = "exact"
    folder: str | None = None
    master: str | None = None

    @contextmanager
    def opened(self, report: Report | None) -> Iterator[Options]:
        """The options of the exploration, with the workers of `master`, who are there until the end of the block.

        Raises:
            BadRequest: for options that are unknown or contradict each other. ExtraMissing: Spark is not installed.
        """
        if self.master is None:
            yield self.options(report)
            return
        from thence.conformance.extras import require  # the playground has no conformance

        require("spark", "--master names a Spark")
        from thence.conformance.campaign.crew import sees_files, spark_crew

        near = sees_files(self.master)
        options = replace(self, storage="disk" if self.storage == "exact" else self.storage).options(report)
        if options.storage != "disk":
            raise BadRequest(f"--storage {self.storage}: workers of Spark keep states in files; leave it out")
        if self.threads is not None:
            raise BadRequest("--threads is for one machine: with --master, Spark says how many tasks it does at a time")
        folder = options.resources.folder
        if folder is None and not near:
            raise BadRequest(
                f"--master {self.master}: workers on other machines share states by files; name a folder that all of "
                "them see by the same name, with --folder"
            )
        with spark_crew(self.master) as crew:
            where = None if folder is None else folder.absolute()
            yield replace(options, resources=replace(options.resources, folder=where, crew=crew))

    def options(self, report: Report | None) -> Options:
        """The options of the exploration.

        Raises:
            BadRequest: for an unknown engine or storage, and for options that contradict each other.
        """
        engine = next((known for known in _ENGINES if known == self.engine), None)
        if engine is None:
            raise BadRequest(f"--engine {self.engine}: there are {', '.join(_ENGINES[:-1])} and {_ENGINES[-1]}")
        if self.cross_check and engine != "auto":
            raise BadRequest(f"--cross-check takes both engines; leave --engine {engine} out")
        both: Engine = "both" if self.cross_check else engine
        reductions = reductions_of(self.reductions, both)
        storage = next((known for known in STORAGES if known == self.storage), None)
        if storage is None:
            raise BadRequest(f"--storage {self.storage}: there are {', '.join(STORAGES)}")
        asked = f"--storage {storage}" if self.master is None else "--master"
        if storage != "exact" and self.cross_check:
            raise BadRequest(f"--cross-check compares all states; leave {asked} out")
        if storage != "exact" and engine == "interpreted":
            raise BadRequest(f"{asked}: the interpreter keeps every state")
        if self.folder is not None and storage != "disk":
            raise BadRequest(f"--folder is for --storage disk, not {storage}")
        if self.folder is not None and Path(self.folder).exists() and not Path(self.folder).is_dir():
            raise BadRequest(f"--folder {self.folder}: this is a file; name a folder, which is made if it is not there")
        for option, number in (("--limit", self.limit), ("--threads", self.threads)):
            if number is not None and number < 1:
                raise BadRequest(f"{option} {number}: give a number from 1 up")
        resources = Resources(
            None if self.memory is None else byte_size("--memory", self.memory),
            self.threads,
            None if self.folder is None else Path(self.folder),
        )
        return Options(self.limit, report, both, resources, reductions, storage)


def explore(
    source: Source,
    *,
    scope: str | None = None,
    processes: int | None = None,
    sends: Sends = None,
    mutant: str | None = None,
    settings: Sequence[str] = (),
    any_number: bool = False,
    properties: Sequence[str] = (),
    limit: int | None = None,
    reductions: str | None = None,
    engine: str = "auto",
    cross_check: bool = False,
    storage: str = "exact",
    memory: str | None = None,
    threads: int | None = None,
    folder: str | None = None,
    master: str | None = None,
    progress: Report | None = None,
) -> Exploration:
    """Explores a protocol, or a mutant of it: every execution in the chosen scopes, by default in all of the file.

    Ctrl-C ends it: what was finished is returned, `complete` is False, and what was not finished is unknown.

    Args:
        source: a file, the bare name of a library file, or a specification.
        scope: a scope of the file.
        processes: how many.
        sends: messages of each process: one number for all, or one each.
        mutant: a mutant of the file, in place of its subject; PROTOCOL/MUTANT where several have one of the name.
        settings: further settings of the scope, as in files: `losses 1`, `fifo`, `destinations 0 to 1`.
        any_number: any number of messages.
        properties: what is judged; by default what the protocol promises.
        limit: at most so many states.
        reductions: `auto`, `none` or `symmetry`.
        engine: `native`, `interpreted` or `auto`.
        cross_check: both engines, which must agree.
        storage: `exact`, `layers` (less memory, where every step is progress), or `disk` (in files).
        memory: at most so much for the states, such as `4G`.
        threads: of native code; by default one for each processor, in files one.
        folder: of the files; a search that is stopped goes on where it was. By default, one that is removed.
        master: a Spark whose workers explore, such as `local[2]` or `spark://HOST:PORT`; states are in files, in
            `folder`, which all of them see. `memory` is for the states of a task, by default 256M.
        progress: is told how far each exploration is.

    Raises:
        UserError: the file, a name or a setting is at fault; the message says so in the words of the command.

    >>> import thence.api as th
    >>> found = th.explore("fifo", processes=2, sends=1)
    >>> found["fifo"].verdict.value
    'holds'
    """
    if any_number:
        settings = (*settings, ANY_NUMBER)
    specification = load(source)
    choice = Choice(file_of(source), scope, processes, sends_text(sends), mutant, tuple(settings))
    manner = Manner(limit, reductions, engine, cross_check, memory, threads, storage, folder, master)
    with manner.opened(progress) as options:
        return explored(targets(choice, specification.content), properties, options)


_UNSAID = "nothing is claimed of messages that are sent for ever; --property NAME asks for something"


def explored(chosen: Sequence[Target], properties: Sequence[str], options: Options) -> Exploration:
    """Explores the targets one after the other. Ctrl-C ends it with what was covered.

    Raises:
        NotThere: a property is none that can be judged.
        BadRequest: native code can take none of the targets, or one cannot be stored as asked for; or nothing is asked.
    """
    for target in chosen:
        for name in properties:
            known(name, judgeable(target.protocol, target.workload), "property")
    crew = options.resources.crew
    refused = _interpreted_anyway(chosen, properties, options if crew is None else replace(options, engine="native"))
    found: list[tuple[Target, Explored]] = []
    silent: list[Target] = []
    interrupted = False
    for at, target in enumerate(chosen):
        results: tuple[Result, ...] = ()
        interrupted = True
        with suppress(KeyboardInterrupt):
            how = replace(options, engine="interpreted") if at in refused else _in_folder(options, target)
            results = _explore_scope(target, _judged(target, properties), how)
            interrupted = any("interrupted" in str(each.facts.get("unknown", "")) for each in results)
            silent += [] if results or interrupted else [target]
        found += [(target, _about(target, result)) for result in results]
        if interrupted:
            break
    notes = tuple(
        f"{chosen[at].scope or chosen[at].subject}: by the interpreter only: {reason}" for at, reason in refused.items()
    )
    unsaid = tuple(f"{target.scope or target.subject}: {_UNSAID}" for target in silent)
    if len(unsaid) == len(chosen):
        raise BadRequest(unsaid[0])
    notes += unsaid
    notes += () if crew is None else (str(crew),)
    statements = tuple(statement for _, statement in found)
    return Exploration(statements, complete=not interrupted, targets=tuple(target for target, _ in found), notes=notes)


def _interpreted_anyway(chosen: Sequence[Target], properties: Sequence[str], options: Options) -> dict[int, str]:
    """Where native code is asked for: the targets, by position, that it cannot take, and why.

    Raises:
        BadRequest: if it can take none.
    """
    if options.engine not in ("native", "both"):
        return {}
    from thence.proofs.native.engine import why_not

    def reason(target: Target) -> str | None:
        judged = _judged(target, properties) or judged_in(target.protocol, target.workload, target.expects)
        if not target.workload.ends and set(judged) == {LIVE}:
            return "messages are sent for ever, and the interpreter looks for fair runs"
        asked = asked_of(target.protocol, properties) if properties else target.protocol
        return why_not(system_of(asked, target.workload), options.storage)

    reasons = [reason(target) for target in chosen]
    refused = {at: reason for at, reason in enumerate(reasons) if reason is not None}
    if len(refused) == len(chosen):
        raise BadRequest(f"native code cannot explore {chosen[0].subject}: {reasons[0]}")
    return refused


def _in_folder(options: Options, target: Target) -> Options:
    """The options with a folder of its own for the target."""
    folder = options.resources.folder
    if folder is None:
        return options
    name = f"{target.subject} {target.scope or ''}".strip().replace("/", ".")
    return replace(options, resources=replace(options.resources, folder=folder / name))


def _explore_scope(target: Target, properties: Collection[str], how: Options) -> tuple[Result, ...]:
    """Explores one scope.

    Raises:
        BadRequest: where it cannot be stored as asked for.
    """
    try:
        return explore_scope(target.protocol, target.scope, target.workload, target.expects, properties, how)
    except (NoMeasure, NotOnDisk) as error:
        if how.storage == "exact":
            raise
        asked = f"--storage {how.storage}" if how.resources.crew is None else "--master"
        raise BadRequest(f"{asked}: {target.subject}: {error}") from error


def _judged(target: Target, properties: Collection[str]) -> Collection[str]:
    """What is asked for; of a mutant, if nothing is, what its expectations name in that workload, so that the verdicts
    have something to be held against. Empty: what is usual.
    """
    if properties or "/" not in target.subject:
        return properties
    judged = judgeable(target.protocol, target.workload)
    return tuple(dict.fromkeys(name for expect in target.expects for name in expect.names if name in judged))


def _about(target: Target, result: Result) -> Explored:
    """The result, of its target. Of a mutant in a workload that its expectations do not name, nothing is expected."""
    kind = "mutant" if "/" in target.subject else "scope"
    if kind == "mutant" and not target.expects and result.verdict is not Verdict.UNKNOWN:
        result = replace(result, expected=True, facts={**result.facts, "claimed": False})
    return replace(Explored.of(result), subject=target.subject, kind=kind)  # type: ignore[arg-type]
