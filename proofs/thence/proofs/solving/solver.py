"""Solver processes that can be killed, and a pool of them.

A solver's own time limit is not always honoured, so a process that works longer for a request is killed; a killed or
dead process is an `unknown` answer with the reason, and a new process takes its place.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.metadata import version
from queue import Empty, SimpleQueue
from threading import Lock
from types import TracebackType
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

from thence.proofs.solving.worker_process import WATCHED_S, WorkerDied, WorkerLate, WorkerProcess

SolverName: TypeAlias = Literal["z3", "cvc5"]
Core: TypeAlias = Literal["", "first", "small"]


def solver_version(solver: SolverName) -> str:
    """The version of the package that the solver is."""
    return version({"z3": "z3-solver", "cvc5": "cvc5"}[solver])


START_S = 20.0
"""So much processor time a solver process may take to start, and to load a solver. A process that is killed for it is
started again in vain."""

GRACE_MS = 2_000
"""How long after its own time limit a solver process may work on before it is killed."""

TRIES: Mapping[SolverName, int] = {"z3": 1, "cvc5": 4}
"""So many times as long as its time limit all tries of a solver take together, about. cvc5 is asked anew where it had
little of the processors."""

EFFORT_A_MS: Mapping[SolverName, int] = {"z3": 2_000, "cvc5": 200}
"""The effort that a solver spends in a millisecond on a question, in its own measure: about, on two machines of ours.

NOTE(effort): a limit is given in milliseconds, and counted as effort, so that an answer does not depend on how busy the
machine is. For what takes long and counts little there is a second limit, `PATIENCE` times as long, on the processor
time of the solver's process. The clock is the last resort, against what hangs: see `worker_process`.
"""

SEARCH_EFFORT_A_MS = 6_000
"""The same, of Z3's search for a finite structure."""

PATIENCE = 5
"""So many times as long as a limit says a solver may work. See NOTE(effort)."""


@dataclass(frozen=True, slots=True)
class Check:
    """The question whether an SMT-LIB2 text is satisfiable.

    Attributes:
        timeout_ms: a limit on the processor time of the solver's process.
        core: named assertions that contradict each other are asked for, too: those of the first proof, or as few as are
            found with some more effort.
        effort: a limit in the solver's own measure of effort, which is the same on every machine.
        only_refute: Z3 does not look for models; for texts of which only `unsat` says anything.
    """

    solver: SolverName
    text: str
    timeout_ms: int
    seed: int
    core: Core = ""
    effort: int | None = None
    only_refute: bool = False

    @staticmethod
    def within(solver: SolverName, text: str, limit_ms: int, seed: int, *, core: Core = "") -> Check:
        """The question with the effort of about so many milliseconds. See NOTE(effort)."""
        return Check(solver, text, limit_ms * PATIENCE, seed, core, limit_ms * EFFORT_A_MS[solver])

    def to_json(self) -> dict[str, Any]:
        asked = {"solver": self.solver, "text": self.text, "timeout_ms": self.timeout_ms, "seed": self.seed}
        core = {"core": self.core} if self.core else {}
        effort = {} if self.effort is None else {"effort": self.effort}
        return {**asked, **core, **effort, **({"only_refute": True} if self.only_refute else {})}


@dataclass(frozen=True, slots=True)
class Stage:
    """Assertions to add, and then goals to try. Each goal is the name of a Bool constant."""

    assertions: tuple[str, ...]
    goals: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class StagedSearch:
    """A finite search by Z3 in stages: see `solver_worker`.

    Attributes:
        minimise: truth values to make false, as many as can be, and numbers to make small.
        alternatives: by goal, the group that it belongs to: one goal of a group is enough.
        timeout_ms: a limit on the processor time of the solver's process.
        numbers_below: a bound on all numbers.
        effort: a limit in Z3's own measure of effort, which is the same on every machine.
    """

    constants: Mapping[str, str]
    stages: tuple[Stage, ...]
    minimise: tuple[str, ...]
    timeout_ms: int
    seed: int
    numbers_below: int | None = None
    effort: int | None = None
    alternatives: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        stages = [{"assertions": stage.assertions, "goals": dict(stage.goals)} for stage in self.stages]
        return {
            "constants": dict(self.constants),
            "stages": stages,
            "minimise": self.minimise,
            "timeout_ms": self.timeout_ms,
            "seed": self.seed,
            **({} if self.numbers_below is None else {"numbers_below": self.numbers_below}),
            **({} if self.effort is None else {"effort": self.effort}),
            **({"alternatives": dict(self.alternatives)} if self.alternatives else {}),
        }


SolverRequest: TypeAlias = Check | StagedSearch


def without_comments(text: str) -> str:
    """The text without comments. Canonical text has neither strings nor quoted symbols: every `;` begins a comment."""
    return "\n".join(line.partition(";")[0].rstrip() for line in text.splitlines())


def asked_by(request: SolverRequest) -> dict[str, Any]:
    """All that the answer to a request depends on, but the solver's version. Obligations of different names, in the
    comments of a text, may ask the same."""
    if isinstance(request, Check):
        return {**request.to_json(), "text": without_comments(request.text)}
    return request.to_json()


def request_digest(request: SolverRequest) -> bytes:
    """What tells a request from those whose answers may be others."""
    return sha256(json.dumps(asked_by(request)).encode()).digest()


def question_digest(check: Check) -> bytes:
    """The same, whatever the limits."""
    asked = {name: value for name, value in asked_by(check).items() if name not in ("timeout_ms", "effort")}
    return sha256(json.dumps(asked).encode()).digest()


LARGEST_KEPT = 1_000
"""A pool keeps answers with up to so many values of constants."""


@dataclass(frozen=True, slots=True)
class Found:
    """A model for a goal: the stage it was found at and the value of every constant."""

    stage: int
    values: Mapping[str, int | bool]


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a request.

    Attributes:
        status: of a check `sat`, `unsat` or `unknown`; of a search `done` (a goal without a model has none within the
            stages) or `unknown`.
        reason: why the status is `unknown`.
        cached: solved in an earlier run.
        lost: there is no answer, since the process was killed or died.
    """

    status: Literal["sat", "unsat", "unknown", "done"]
    reason: str
    seconds: float
    models: Mapping[str, Found] = field(default_factory=dict)
    core: tuple[str, ...] = ()
    cached: bool = False
    lost: bool = False

    @property
    def is_final(self) -> bool:
        """Whether the same request would be answered so again, and the answer is small enough to be kept."""
        size = sum(len(found.values) for found in self.models.values())
        return not self.lost and "memory" not in self.reason and size <= LARGEST_KEPT


class Memory(Protocol):
    """Where answers are kept between runs. `complete`: it has all that the proofs need that are made with it."""

    complete: ClassVar[bool]

    def recall(self, request: SolverRequest) -> Answer | None:
        """The answer to the same request, if it was kept."""

    def keep(self, request: SolverRequest, answer: Answer) -> None:
        """Keeps the answer if it is decided."""


class Worker:
    """One solver process, started anew when it is lost. Not shared between threads, apart from `kill`."""

    def __init__(self) -> None:
        self._process: WorkerProcess | None = None
        self._loaded: set[SolverName] = set()
        self._starting = Lock()
        self._killed = False
        self._of_others_s = 0.0

    @property
    def processor_s(self) -> float:
        """The processor time that questions took."""
        process = self._process
        return self._of_others_s + (0.0 if process is None else process.processor_s)

    def ask(self, request: SolverRequest) -> Answer:
        """The answer, or `unknown` once the deadline is over or the process has died. To start takes no time of it."""
        started = time.monotonic()
        process = self._started()
        if process is None:
            return Answer("unknown", "the pool of solvers is closed", 0.0, lost=True)
        solver: SolverName = request.solver if isinstance(request, Check) else "z3"
        try:
            if solver not in self._loaded:
                process.ask({"load": solver}, START_S)
                self._loaded.add(solver)
            reply = process.ask(request.to_json(), (request.timeout_ms * TRIES[solver] + GRACE_MS) / 1000)
        except WorkerDied as lost:
            reason = str(lost)
        except WorkerLate:
            reason = f"killed after {time.monotonic() - started:.1f} s"
        else:
            found = {goal: Found(model["stage"], model["values"]) for goal, model in reply.get("models", {}).items()}
            taken = float(reply.get("seconds", time.monotonic() - started))
            return Answer(reply["status"], reply["reason"], taken, found, tuple(reply.get("core", ())))
        self.close()
        return Answer("unknown", reason, time.monotonic() - started, lost=True)

    def _started(self) -> WorkerProcess | None:
        """The process; None once the worker is killed."""
        with self._starting:
            if self._killed:
                return None
            if self._process is None or self._process.poll() is not None:
                self.close()
                self._loaded.clear()
                self._process = WorkerProcess("thence.proofs.solving.solver_worker")
            return self._process

    def kill(self) -> None:
        """Kills the process, and starts none any more. A thread that waits for an answer sees the process die."""
        with self._starting:
            self._killed = True
            if self._process is not None:
                self._process.kill()

    def give_up(self) -> None:
        """Kills the process, if there is one. A thread that waits for an answer sees it die; the next question has
        another one."""
        with self._starting:
            if self._process is not None:
                self._process.kill()

    def close(self) -> None:
        """Kills the process, if there is one."""
        process, self._process = self._process, None
        if process is not None:
            self._of_others_s += process.processor_s
            process.close()


class SolverPool:
    """Workers that answer requests in parallel. Closing it kills whatever still runs.

    A request that the pool answered before is not solved again: mutants of a machine share most obligations with it.
    Neither is a question that was decided within other limits.
    With a `memory`, neither is one that was answered in an earlier run. `recalled` and `solved` count the requests that
    the memory answered, and those that a solver did. `computed` keeps other costly results, keyed by everything that
    they depend on.
    """

    def __init__(self, workers: int, memory: Memory | None = None) -> None:
        if workers < 1:
            raise ValueError(f"a solver pool needs at least one worker, not {workers}")
        self.memory = memory
        self.computed: dict[Hashable, object] = {}
        self.recalled = self.solved = 0
        self._answered: dict[bytes, Answer] = {}
        self._decided: dict[bytes, Answer] = {}
        self._workers = tuple(Worker() for _ in range(workers))
        self._watch: Callable[[], None] | None = None
        self._busy: set[Worker] = set()
        self._free: SimpleQueue[Worker] = SimpleQueue()
        for worker in self._workers:
            self._free.put(worker)
        self._threads = ThreadPoolExecutor(max_workers=workers, thread_name_prefix="solver")

    def __enter__(self) -> SolverPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        for worker in self._workers:
            worker.kill()
        self._threads.shutdown(wait=True)
        for worker in self._workers:
            worker.close()

    @property
    def processor_s(self) -> float:
        """The processor time that the solvers took."""
        return sum(worker.processor_s for worker in self._workers)

    @contextmanager
    def watched(self, check: Callable[[], None]) -> Iterator[None]:
        """Meanwhile `check` is called, several times a second, while answers are waited for.

        Where it raises, the questions are given up, and the solvers that work on them are killed.
        """
        before, self._watch = self._watch, check
        try:
            yield
        finally:
            self._watch = before

    def ask(self, request: SolverRequest, *, anew: bool = False) -> Answer:
        """Waits for one answer. `anew`: the memory is not asked."""
        (done,) = self._as_they_come([self.submit(request, anew=anew)])
        return done.result()

    def _as_they_come(self, pending: Collection[Future[Answer]]) -> Iterator[Future[Answer]]:
        """Each as soon as it is done. Raises: what the watch raises."""
        done: SimpleQueue[Future[Answer]] = SimpleQueue()
        for future in pending:
            future.add_done_callback(done.put)
        left = len(pending)
        while left:
            try:
                future = done.get(timeout=None if self._watch is None else WATCHED_S)
            except Empty:
                self._look(pending)
            else:
                left -= 1
                yield future

    def _look(self, left: Collection[Future[Answer]]) -> None:
        try:
            if self._watch is not None:
                self._watch()
        except BaseException:
            for future in left:
                future.cancel()
            for worker in tuple(self._busy):
                worker.give_up()
            wait(left)  # until each has seen its process die
            raise

    def submit(self, request: SolverRequest, *, anew: bool = False) -> Future[Answer]:
        """The answer, as a future."""
        key = request_digest(request)
        known = None if anew or self.memory is None else self.memory.recall(request)
        self.recalled += known is not None
        if known is None and not anew:
            known = self._answered.get(key)
            if (known is None or known.status == "unknown") and isinstance(request, Check):
                decided = self._decided.get(question_digest(request))
                if decided is not None and self.memory is not None:
                    self.memory.keep(request, decided)
                known = decided or known
        if known is None:
            self.solved += 1
            return self._threads.submit(self._serve, request, key)
        done: Future[Answer] = Future()
        done.set_result(known)
        return done

    def forget(self) -> None:
        """Forgets its own answers, so that what was unknown is asked again; the `memory` stays."""
        self._answered.clear()
        self._decided.clear()

    def answers(self, requests: Sequence[SolverRequest]) -> Iterator[tuple[int, Answer]]:
        """The answers as they come, each with the position of its request. What is the same is asked once."""
        same: dict[bytes, list[int]] = {}
        for number, request in enumerate(requests):
            same.setdefault(request_digest(request), []).append(number)
        pending = {self.submit(requests[numbers[0]]): numbers for numbers in same.values()}
        try:
            for future in self._as_they_come(pending):
                for number in pending[future]:
                    yield number, future.result()
        finally:
            for future in pending:
                future.cancel()

    def _serve(self, request: SolverRequest, key: bytes) -> Answer:
        worker = self._free.get()
        self._busy.add(worker)
        try:
            answer = worker.ask(request)
        finally:
            self._busy.discard(worker)
            self._free.put(worker)
        if answer.is_final:
            self._answered[key] = answer
            if isinstance(request, Check) and answer.status != "unknown":
                self._decided[question_digest(request)] = answer
        if self.memory is not None:
            self.memory.keep(request, answer)
        return answer
