"""The system under test: a Python class with an interface of `thence.impl.commands`, or a program in any language."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeAlias, get_args

from thence.conformance.cases.network import Settings
from thence.conformance.cases.surroundings import Surroundings
from thence.conformance.cases.time_limit import PATIENCE, OutOfTime, limited
from thence.conformance.systems.foreign import ForeignSystem
from thence.conformance.systems.isolated import IsolatedSystem, Refused
from thence.conformance.systems.os_process import CommandError
from thence.conformance.systems.strangers import say
from thence.conformance.systems.system import ExternalSystem, Limits
from thence.impl.commands import AnyProcess, Delivery, Send
from thence.spec.user_error import UserError

MakeProcess: TypeAlias = Callable[..., AnyProcess]
"""Makes process `identity` of `processes`, its two arguments; on an overlay it is given its `neighbors`, too (`made`).
See also `thence.conformance.systems.foreign`."""

System: TypeAlias = str | Callable[[int, int], Any]
"""A class, or a name as `load_subject` takes it."""

EXEC: Final = "exec:"
EXEC_PER_PROCESS: Final = "exec-per-process:"
"""Prefixes of the names of foreign systems; the command follows."""

ISOLATED: Final = "isolated:"
"""Prefix of the name of a class in a process of its own, which runs as a foreign system."""

REQUIRED: Final = ("receive",)
"""The method that every subject has. `tick` is optional: without it, there are no timers."""

SENDS: Final = "causal_send"
"""The method of a subject whose application sends messages."""

TRIAL_S: Final = 5.0
"""Seconds that a class may take over a call on trial."""

TRIAL_COMMANDS: Final = 1_000
"""Commands that are looked at on trial."""

TRIALS: Final = 10
"""Sends and inputs that are tried."""

_OWN: Final = "thence."
"""The modules of Thence are installed, and looked for nowhere else."""

_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")


class SubjectError(UserError):
    """A system under test that cannot be used; the message names it and has advice."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A system under test.

    Attributes:
        name: the user's name of it.
        make_process: makes its processes.
        delivery: its attribute `delivery`; unicast where it has none; None for a program, which is told the
            destinations of messages.
        reacts: whether its applications can send from inside a delivery: it has a method `react`, or is foreign.
        over_fifo: whether it says, by its attribute `channels`, that it works over FIFO channels only.
        delivers_own: its attribute of that name: a broadcast is delivered to its sender, too.
        methods: the methods of a class; None of a program.
    """

    name: str
    make_process: MakeProcess
    delivery: Delivery | None = "unicast"
    reacts: bool = False
    over_fifo: bool = False
    delivers_own: bool = False
    methods: frozenset[str] | None = None

    def settings(self, processes: int) -> Settings:
        """The settings that it says it is made for; where it says nothing, reordering channels without faults."""
        return Settings(
            processes,
            channels="fifo" if self.over_fifo else "reordering",
            self_sends=self.delivers_own or processes == 1,
            delivery=self.delivery or "unicast",
        )

    @property
    def external(self) -> ExternalSystem | None:
        """The foreign system that it is, if it is one."""
        return self.make_process if isinstance(self.make_process, ExternalSystem) else None

    def close(self) -> None:
        """Ends the processes of a foreign system."""
        if self.external is not None:
            self.external.close()

    def require(self, settings: Settings) -> None:
        """Raise SubjectError unless it can be driven with such messages (to one process, to sets of them, to all), with
        these inputs, and on such links."""
        if settings.links and not _takes_neighbors(self.make_process):
            raise SubjectError(f"{self.name} cannot be told its neighbors: it takes no argument `neighbors`")
        if self.methods is not None:
            _require(self.name, [method for method in settings.methods if method not in self.methods])
        if settings.sends and self.delivery is not None and self.delivery != settings.delivery:
            raise SubjectError(
                f"{self.name} is a {self.delivery} system, by its attribute delivery; it is to be driven as"
                f" {settings.delivery}"
            )


def load_subject(name: str, processes: int = 3, limits: Limits | None = None) -> Subject:
    """The system of a name: the class `module:Class`, the program `exec:COMMAND` or `exec-per-process:COMMAND`, or the
    protocol itself, `protocol:FILE`, or `protocol:FILE#MUTANT`. `isolated:module:Class` is the class in a process of
    its own, which may end, hang or grow.

    Modules of the current directory are found, after those that are installed. One process is made on trial, as the
    first of `processes`. A program is not started before it is needed; `limits` are its limits.

    Raises:
        SubjectError: there is no such program; the name has another form; the module does not import; it has no such
            class; the class lacks a method, or cannot be called with (identity, processes); its attribute `delivery`
            is none of the three.
    """
    for prefix, per_process in ((EXEC, False), (EXEC_PER_PROCESS, True)):
        if name.startswith(prefix):
            try:
                system = ExternalSystem(name.removeprefix(prefix), per_process=per_process, limits=limits)
            except CommandError as error:
                raise SubjectError(str(error)) from error
            return Subject(name, system, None, reacts=True)  # type: ignore[arg-type]
    if name.startswith("protocol:"):
        return _protocol(name)
    if name.startswith(ISOLATED):
        return _isolated(name, processes, limits)
    if not _NAME.fullmatch(name) or name.partition(":")[0].endswith(".py"):
        raise SubjectError(f"{name!r} does not name a class: {_written(name)}")
    module_name, _, class_name = name.partition(":")
    module = _import(module_name)
    subject = getattr(module, class_name, None)
    if subject is None:
        raise SubjectError(f"the module {module_name} has no class {class_name}{_hint(module)}")
    if not callable(subject):
        raise SubjectError(f"{name} is not a class, but {type(subject).__name__}")
    return class_subject(name, subject, processes)


def class_name(system: Callable[..., Any]) -> str:
    """The name under which a class can be imported, as `module:Class`."""
    module = getattr(system, "__module__", "?")
    return f"{module}:{getattr(system, '__qualname__', type(system).__qualname__)}"


def class_subject(name: str, system: Callable[[int, int], Any], processes: int = 3) -> Subject:
    """A class as a subject. One process is made on trial, as the first of `processes`.

    Raises:
        SubjectError: the class lacks a method, or cannot be called with (identity, processes); its attribute `delivery`
            is none of the three.
    """
    trial = f"{name.rpartition(':')[2]}(0, {processes})"
    try:
        with Surroundings(), limited(TRIAL_S, PATIENCE):
            process = system(0, processes)
    except OutOfTime:
        raise SubjectError(f"{name} could not start: {trial} does not return in {TRIAL_S:g} s") from None
    except (Exception, SystemExit) as error:
        raise SubjectError(f"{name} is made by {trial}, with identity and processes; it raises {say(error)}") from error
    methods = frozenset(method for method in dir(process) if _is_method(process, method))
    _require(name, [method for method in REQUIRED if method not in methods])
    delivery: Any = getattr(process, "delivery", "unicast")
    if delivery not in get_args(Delivery):
        raise SubjectError(f"{name} has delivery {delivery!r}; it is {', '.join(get_args(Delivery))}")
    reacts = callable(getattr(process, "react", None))
    return Subject(name, system, delivery, reacts, *_stated(process), methods)


def _is_method(process: Any, name: str) -> bool:
    try:
        return callable(getattr(process, name))
    except (Exception, SystemExit):
        return False


def _require(name: str, lacking: list[str]) -> None:
    if lacking:
        raise SubjectError(f"{name} lacks the method {' and '.join(lacking)}; see thence.impl.commands.CausalProcess")


def _written(name: str) -> str:
    """How a name is written that is none: a path to a file becomes the name of its module."""
    path, colon, class_name = name.replace("\\", "/").rpartition(":")
    module, class_name = (path, class_name) if colon else (class_name, "")
    if module.endswith(".py"):
        dotted = module.removesuffix(".py").removeprefix("./").strip("/").replace("/", ".")
        return f"write {dotted}:{class_name or 'Class'}; it is imported from the current directory"
    if colon and "/" in module:
        return f"write {module.removeprefix('./').strip('/').replace('/', '.')}:{class_name or 'Class'}"
    if not colon and all(part.isidentifier() for part in module.split(".")) and module.rpartition(".")[2][:1].isupper():
        return f"write {'{}:{}'.format(*module.rpartition('.')[::2])}" if "." in module else "write module:Class"
    return "write module:Class, as in thence.impl.mf:MF"


def made(make_process: MakeProcess, identity: int, settings: Settings) -> Any:
    """A process of a case. On an overlay with given links it is told its neighbors; a foreign system has been told when
    the case began."""
    if not settings.links or isinstance(make_process, ForeignSystem):
        return make_process(identity, settings.processes)
    return make_process(identity, settings.processes, neighbors=settings.neighbors(identity))


def _takes_neighbors(make_process: MakeProcess) -> bool:
    """Whether a process can be told its neighbors."""
    try:
        signature(make_process).bind(0, 1, neighbors=frozenset())
    except (TypeError, ValueError):
        return isinstance(make_process, ForeignSystem)
    return True


def first_kinds(make_process: MakeProcess, settings: Settings) -> frozenset[Any]:
    """The attributes `kind` of the first packets that a class sends; None stands for a packet without one. Empty of one
    that sends nothing, or crashes: the cases decide."""
    sender, receiver = (0, 1) if settings.processes > 1 else (0, 0)
    everyone = frozenset({receiver})
    to = {"unicast": (receiver,), "multicast": (everyone,), "broadcast": ()}[settings.delivery]
    calls: list[tuple[str, tuple[Any, ...]]] = [(SENDS, (*to, "m0.1"))] if settings.sends else []
    calls += [(each.method, arguments) for each in settings.inputs for arguments in each.choices]
    kinds: set[Any] = set()
    for method, arguments in calls[:TRIALS]:
        try:
            with Surroundings(), limited(TRIAL_S, PATIENCE):
                process: Any = made(make_process, sender, settings)  # which kind, the delivery says
                commands = tuple(islice(getattr(process, method)(*arguments), TRIAL_COMMANDS))
        except (Exception, SystemExit, OutOfTime):
            continue
        kinds |= {getattr(command.packet, "kind", None) for command in commands if isinstance(command, Send)}
    return frozenset(kinds)


def _stated(process: Any) -> tuple[bool, bool]:
    """Whether a class says that it works over FIFO channels only, and that its broadcasts are delivered to itself."""
    return getattr(process, "channels", None) == "fifo", bool(getattr(process, "delivers_own", False))


def shows_kinds(make_process: MakeProcess, settings: Settings) -> bool:
    """Whether the first packets that a class sends have the attribute `kind`."""
    return None not in first_kinds(make_process, settings)


def _isolated(name: str, processes: int, limits: Limits | None) -> Subject:
    """A class in a process of its own."""
    try:
        system = IsolatedSystem(name.removeprefix(ISOLATED), processes, limits)
    except (CommandError, Refused) as error:
        raise SubjectError(str(error)) from error
    said = system.description
    return Subject(name, system, said["delivery"], said["reacts"], said["over_fifo"], said["delivers_own"])  # type: ignore[arg-type]


def _protocol(name: str) -> Subject:
    """A protocol as the system under test."""
    # A test of a class of Python with the oracle alone does without the language.
    from thence.conformance.systems.protocol_subject import ProtocolSystem, subject_protocol

    try:
        system = ProtocolSystem(subject_protocol(name))
    except UserError as error:
        raise SubjectError(str(error)) from error
    return Subject(name, system, system.delivery, reacts=True)


def _import(name: str) -> Any:
    here = str(Path.cwd())
    if here not in sys.path and "" not in sys.path and not name.startswith(_OWN):
        sys.path.append(here)  # last: no file of the current directory takes the place of an installed module
    try:
        with Surroundings():
            return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise SubjectError(f"there is no module {name}, here or installed") from error
        raise SubjectError(f"the module {name} does not import: {say(error)}") from error
    except (Exception, SystemExit) as error:
        raise SubjectError(f"the module {name} does not import: {say(error)}") from error


def _hint(module: Any) -> str:
    """The classes of the module that have the methods."""
    fitting = sorted(
        name
        for name, value in vars(module).items()
        if isinstance(value, type) and all(callable(getattr(value, method, None)) for method in REQUIRED)
    )
    return f"; it has {', '.join(fitting)}" if fitting else ""
