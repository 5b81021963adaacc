"""Spark, as a campaign needs it: a context that runs functions over ranges of seeds.

NOTE(plain tasks): a batch is one job over an RDD of seeds whose tasks return Arrow streams, and not a DataFrame with
`mapInArrow`: that call needs pandas installed, starts Spark's SQL engine, and adds nothing to a job without SQL.
"""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Event, Thread
from traceback import walk_tb
from typing import Any, Final, TypeVar

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark import SparkConf, SparkContext, SparkFiles
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway

from thence.conformance.campaign.alike import UnlikeWorkerError, done_alike, program_here
from thence.conformance.campaign.parameters import CampaignError
from thence.conformance.java import JavaMissing, ensure_java
from thence.proofs.explore.crew import CrewLost
from thence.spec.user_error import CutOff

_SAID = logging.getLogger(__name__)

T = TypeVar("T")
R = TypeVar("R")

_launch_gateway: Callable[[SparkConf, dict[str, Any]], Any] = launch_gateway

STOP_LIMIT_S = 20.0

JAVA_ENDS_S = 1.0
"""In so many seconds a Java process that has closed its connections has ended, if it does."""

LOOKED_EVERY_S = 5.0
"""The pause between two looks at whether there are executors."""

WITHOUT_LOOKS = 3
"""So many looks in a row find tasks and no executor before a warning says so; Spark's own log waits as long."""

SPARK_ERRORS = (Py4JError, PySparkException, OSError)
"""The exceptions of a call to Spark when Spark, or the connection to it, is broken."""

OTHER_SPARK = ("SPARK_HOME", "SPARK_CONF_DIR", "PYSPARK_SUBMIT_ARGS", "PYSPARK_GATEWAY_PORT", "HADOOP_CONF_DIR")
"""Variables that would lead an embedded Spark to another installation or to its settings."""


CAMPAIGNS: Mapping[str, str] = {"spark.app.name": "thence campaign"}
"""The settings of Spark for campaigns."""

Task = TypeVar("Task")
Done = TypeVar("Done")


_RAISED: Final = re.compile(r"Traceback \(most recent call last\):\n(?:[ \t].*\n)*(?:\w+\.)*(\S.*)")
"""The line of a Python traceback that says what was raised."""

_KILLED: Final = re.compile(r"Application has been killed\. Reason: (.*)")
"""The line of the log that says why Spark gave up a master."""

_NEVER_REGISTERED: Final = "spark-application-"
"""How Spark names an application itself, where no master gave it a name. It does not fail then."""

_BEFORE_REASON: Final = re.compile(r".*(Exception: |most recent failure: )")


class NoSpark(Exception):
    """Spark does not start; the message says why."""


class SparkLost(CampaignError, CutOff):
    """Spark has no result for what it was given; the message says why."""


class TaskLost(Exception):
    """A task has no result, though Spark is well; the message says why."""


class Cluster:
    """A running Spark.

    NOTE(spark thread): a thread of its own makes all calls to Spark, and the caller waits for it. An interrupt from the
    keyboard then finds the caller waiting, and never in the middle of a call, which would break the connection.
    """

    def __init__(self, thread: ThreadPoolExecutor, context: SparkContext, log: Path, archives: bool) -> None:
        self._thread = thread
        self._context = context
        self._log = log
        self._archives = archives

    @property
    def parallelism(self) -> int:
        """Number of tasks that run at the same time, as far as Spark knows by now.

        Raises:
            SparkLost: there is no Spark any more.
        """
        try:
            return self._thread.submit(lambda: int(self._context.defaultParallelism)).result()
        except SPARK_ERRORS as error:
            raise SparkLost(f"Spark is lost: {self._reason(error)}") from error

    def run(self, function: Callable[[Iterable[int]], Iterator[bytes]], seeds: range, partitions: int) -> list[bytes]:
        """The results of `function` for each of `partitions` (0: two a core) slices of `seeds`, in the seeds' order.

        Raises:
            SparkLost: a task failed, so that the seeds have no result. UnlikeWorkerError.
        """
        job = self._thread.submit(self._collect, function, seeds, partitions)
        try:
            return self._result(job)
        except SPARK_ERRORS as error:
            raise SparkLost(
                f"Spark lost the seeds {seeds.start:,} to {seeds.stop - 1:,}: {self._reason(error)}\n"
                f"The finished batches are kept; {self._log} has the details."
            ) from error

    def each(self, function: Callable[[Task], Done], tasks: Sequence[Task]) -> list[Done]:
        """The results of `function`, of each task by itself, in their order.

        Raises:
            CrewLost: a task failed again and again. UnlikeWorkerError.
        """

        def collect() -> list[Done]:
            alike = partial(done_alike, program_here(), function)
            return self._context.parallelize(tasks, len(tasks)).map(alike).collect()

        try:
            return self._result(self._thread.submit(collect))
        except SPARK_ERRORS as error:
            raise CrewLost(f"Spark lost its work: {self._reason(error)} ({self._log} has the details)") from error

    def _result(self, job: Future[list[Done]]) -> list[Done]:
        try:
            return job.result()
        except KeyboardInterrupt:
            # A signal to the whole group of processes, as `timeout` sends it, has ended Java as well.
            with suppress(*SPARK_ERRORS):
                self._context.cancelAllJobs()
            wait([job])
            raise

    def one(self, function: Callable[[T], R], task: T) -> R:
        """The result of one task, which is a job of its own. Several threads may ask at a time.

        Raises:
            TaskLost: the task has no result, and Spark is well: it ended its worker, again and again.
            SparkLost: there is no Spark any more.
        """
        try:
            (found,) = self._context.parallelize([task], 1).map(function).collect()
        except SPARK_ERRORS as error:
            said = self._reason(error)
            if self._is_well():
                raise TaskLost(said) from error
            raise SparkLost(f"Spark is lost: {said}") from error
        assert found is not None, "a task has a result"
        return found

    def cancel(self) -> None:
        """Gives up all jobs."""
        with suppress(*SPARK_ERRORS):
            self._context.cancelAllJobs()

    def _is_well(self) -> bool:
        try:
            return not self._context._jsc.sc().isStopped()
        except SPARK_ERRORS:
            return False

    def _reason(self, error: BaseException) -> str:
        """Why a call to Spark failed. Raises UnlikeWorkerError, where that is why."""
        if not isinstance(error, Py4JJavaError):
            with suppress(subprocess.TimeoutExpired):
                gateway: Any = self._context._gateway
                gateway.proc.wait(JAVA_ENDS_S)
                return "its Java process ended: out of memory, or killed"
        killed = _KILLED.findall(self._log.read_text(encoding="utf-8", errors="replace"))
        said = killed[-1] if killed else _reason(error, self._log)
        kind, _, message = said.partition(": ")
        if kind == UnlikeWorkerError.__name__:
            raise UnlikeWorkerError(message) from error
        return said

    def _collect(
        self, function: Callable[[Iterable[int]], Iterator[bytes]], seeds: range, partitions: int
    ) -> list[bytes]:
        slices = min(partitions or 2 * self._context.defaultParallelism, len(seeds))
        task = partial(done_alike, program_here(), partial(_beside_archives, function) if self._archives else function)
        return self._context.parallelize(seeds, slices).mapPartitions(task).collect()


def _beside_archives(function: Callable[[Iterable[int]], Iterator[bytes]], seeds: Iterable[int]) -> Iterator[bytes]:
    """The function, where the archives are unpacked: where a worker is already, except in an embedded Spark."""
    os.chdir(SparkFiles.getRootDirectory())
    return function(seeds)


@contextmanager
def open_cluster(
    master: str,
    log: Path,
    shipped: tuple[tuple[str, ...], tuple[str, ...]] = ((), ()),
    settings: Mapping[str, str] = CAMPAIGNS,
) -> Iterator[Cluster]:
    """A Spark at `master`, ended with the block. Its output goes to the file `log`.

    `shipped` are Python files, and archives, which are sent to the workers; `settings` are Spark's.

    The workers of an embedded Spark (`local[...]`) run this interpreter with its import path. Those of a cluster run
    `python3`, or the interpreter that the variable PYSPARK_PYTHON names, which has to have Thence and the runner.

    Raises:
        CampaignError: no usable Java, or Spark does not start.
    """
    try:
        ensure_java()
    except JavaMissing as missing:
        raise CampaignError(str(missing)) from missing
    with _quiet_connection(), ThreadPoolExecutor(max_workers=1, thread_name_prefix="spark") as thread:
        java = _Java()
        launch = thread.submit(_launch, master, log, shipped, settings, java)
        try:
            try:
                context = launch.result()
            except KeyboardInterrupt:
                java.give_up()
                raise
            except (NoSpark, *SPARK_ERRORS) as error:
                said = str(error) if isinstance(error, NoSpark) else _reason(error, log)
                raise CampaignError(f"Spark does not start at {master}: {said}\n{log} has the details.") from error
            with _watched(context, master):
                yield Cluster(thread, context, log, bool(shipped[1]))
        finally:
            thread.submit(_stop, launch).result()


@dataclass(slots=True)
class _Java:
    """A Java process that another thread starts. It waits for a master that does not answer for a minute."""

    _process: subprocess.Popen[bytes] | None = None
    _unwanted: bool = False

    def begin(self, process: subprocess.Popen[bytes]) -> None:
        """The process is there."""
        self._process = process
        if self._unwanted:
            process.terminate()

    def give_up(self) -> None:
        """Ends the process, or else as soon as it is there."""
        self._unwanted = True
        if self._process is not None:
            self._process.terminate()


@contextmanager
def _quiet_connection() -> Iterator[None]:
    """Py4J prints a traceback where Java is gone, besides raising an error that says so."""

    def is_ours(record: logging.LogRecord) -> bool:
        return "py4j" not in Path(record.pathname).parts

    logging.root.addFilter(is_ours)
    try:
        yield
    finally:
        logging.root.removeFilter(is_ours)


def _launch(
    master: str, log: Path, shipped: tuple[tuple[str, ...], tuple[str, ...]], asked: Mapping[str, str], java: _Java
) -> SparkContext:
    configuration = _configuration(master, asked)
    with log.open("wb") as sink, _environment(master):
        try:
            gateway = _launch_gateway(configuration, {"stdout": sink, "stderr": sink})
        except PySparkException as error:
            # PySpark keeps the process to itself when it fails to start.
            for frame, _ in walk_tb(error.__traceback__):
                if isinstance(process := frame.f_locals.get("proc"), subprocess.Popen):
                    _end(process)
            raise
        java.begin(gateway.proc)
        try:
            context = SparkContext(conf=configuration, gateway=gateway)
            if context.applicationId.startswith(_NEVER_REGISTERED) and master.startswith("spark://"):
                with suppress(*SPARK_ERRORS):
                    context.stop()
                raise ConnectionError("no master answers there")
            # PySpark keeps a connection for accumulators, which nothing here has; that Java ends it is no news.
            server: Any = context._accumulatorServer
            server.handle_error = lambda request, address: None
            for file in shipped[0]:
                context.addPyFile(_uri(file))
            for archive in shipped[1]:
                context.addArchive(_uri(archive))
            return context
        except SPARK_ERRORS as error:
            # Java has to be asked for the text of its errors.
            said = _reason(error, log)
            _forget(gateway)
            raise NoSpark(said) from None


@contextmanager
def _watched(context: SparkContext, master: str) -> Iterator[None]:
    """Meanwhile, warnings say when tasks have no executor to run on, and when they have one again.

    Spark waits for executors without an end, and a cluster may get new ones at any time.
    """
    over = Event()
    watch = Thread(target=_watch, args=(context, master, over), name="executors", daemon=True)
    watch.start()
    try:
        yield
    finally:
        over.set()
        watch.join()


def _watch(context: SparkContext, master: str, over: Event) -> None:
    looks = 0
    while not over.wait(LOOKED_EVERY_S):
        try:
            without = _is_without_executors(context, master)
        except SPARK_ERRORS:
            return  # Spark is lost, and whoever waits for a task is told
        if not without and looks >= WITHOUT_LOOKS:
            _SAID.warning("thence: Spark has executors again")
        looks = looks + 1 if without else 0
        if looks == WITHOUT_LOOKS:
            memory = context.getConf().get("spark.executor.memory", "1g")
            _SAID.warning(
                f"thence: Spark has no executor at {master}: there is no worker, or none with a free core and "
                f"{memory} of free memory; the tasks wait for one, and Ctrl-C ends the wait"
            )


def _is_without_executors(context: SparkContext, master: str) -> bool:
    """Whether there are tasks to do, and no executor. Of an embedded Spark, the driver is the executor."""
    if is_embedded(master) or not context.statusTracker().getActiveJobsIds():
        return False
    known: Any = context._jsc.sc().statusTracker().getExecutorInfos()
    return len(known) <= 1  # the driver is listed, too


def _uri(name: str) -> str:
    """`FILE` or `FILE#FOLDER` as Spark takes it, with any characters in the directory's name."""
    file, mark, folder = name.partition("#")
    return f"{Path(file).resolve().as_uri()}{mark}{folder}"


def _stop(launch: Future[SparkContext]) -> None:
    """End Spark and its Java process."""
    if launch.exception() is None:
        # An error here says that the Java process is gone already.
        with suppress(*SPARK_ERRORS):
            launch.result().stop()
        _forget(SparkContext._gateway)


def _forget(gateway: Any) -> None:
    """End the Java process, and let PySpark forget it, so that another can start in this process."""
    with suppress(*SPARK_ERRORS):
        gateway.shutdown()
    SparkContext._gateway = None
    SparkContext._jvm = None
    SparkContext._active_spark_context = None  # stopping it fails before this where Java is gone
    _end(gateway.proc)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Java ends by itself when its standard input closes."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        process.wait(STOP_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _configuration(master: str, asked: Mapping[str, str]) -> SparkConf:
    settings = {
        **asked,
        "spark.master": master,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    if is_embedded(master):
        settings |= {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.memory": "512m",
            # Java only hands out the work: a small heap, and no time spent on optimising it.
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            # The workers have the import path of this process.
            "spark.executorEnv.PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        }
    configuration = SparkConf(loadDefaults=False)
    for name, value in settings.items():
        configuration.set(name, value)
    return configuration


def is_embedded(master: str) -> bool:
    """Whether the workers are processes of this machine, which see all of its files."""
    return master == "local" or master.startswith("local[")


@contextmanager
def _environment(master: str) -> Iterator[None]:
    """The environment that Spark starts in; put back afterwards."""
    changes: dict[str, str | None] = {"PYSPARK_DRIVER_PYTHON": sys.executable}
    if is_embedded(master):
        changes |= dict.fromkeys(OTHER_SPARK)
        changes |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    before = {name: os.environ.get(name) for name in changes}
    _set_environment(changes)
    try:
        yield
    finally:
        _set_environment(before)


def _set_environment(values: dict[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def _reason(error: BaseException, log: Path) -> str:
    """The line with the reason: of a Python traceback, of Java's, or of the log where Java did not start."""
    try:
        text = str(error)
    except SPARK_ERRORS:
        # The text of Java's errors is asked of Java, which is gone.
        text = f"{type(error).__name__}, and Java is gone"
    if "JAVA_GATEWAY_EXITED" in text and log.is_file():
        text = log.read_text(encoding="utf-8", errors="replace") or text
    raised = _RAISED.findall(text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    java = next((line for line in lines if "Exception: " in line), next(iter(lines), ""))
    chosen = raised[-1].strip() if raised else _BEFORE_REASON.sub("", java).partition(" Consider setting ")[0]
    if chosen.startswith("ModuleNotFoundError: "):
        chosen += " (the workers' interpreter is named by PYSPARK_PYTHON, and needs Thence and the runner installed)"
    return chosen[:500] or type(error).__name__
