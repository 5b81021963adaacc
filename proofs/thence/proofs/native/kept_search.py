"""What a search in files leaves behind level by level, so that one that was stopped goes on where it was.

Rows are made of the numbers of local states and packets, which depend on what was asked for first: by the search, and
by whoever judged a state. So local states and packets are kept by number, and the steps in the order in which they were
asked for; these are asked for again, and a checksum tells whether they came out the same.

NOTE(damaged files): a search believes only files that are as it wrote them. Rows have a checksum for each block, see
`row_file`, the manifest one of all that it says, and it holds that of the steps. A file that is not as it was ends the
search with an error.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from struct import pack, unpack
from tempfile import TemporaryDirectory
from typing import IO, Any, Final
from zlib import crc32

from thence.dsl.run.system import System
from thence.dsl.run.values import Packet
from thence.proofs.closed.written import Malformed, local_of, packet_of, written_local, written_packet
from thence.proofs.explore.exploration import ExplorationRequest
from thence.proofs.native.layout import Capacity

FORMAT: Final = "thence-states/2"
FORMAT_SPREAD: Final = "thence-spread-states/2"
LOCK: Final = "search.lock"
MANIFEST: Final = "search.json"
STEPS: Final = "steps"
NUMBERS: Final = "numbers"
_DRAFT: Final = f"{MANIFEST}.draft"


SPREAD: Final = ("level-", "found-", "again-", "kinds-", "tables-")
"""How the names of the files begin that are made by `spread`."""


OTHER_VERSION: Final = "{} has the states of another version; name another folder, or remove it"


class NotOnDisk(ValueError):
    """The states cannot be kept in files, or not in this folder."""


class DamagedError(NotOnDisk):
    """A file that a search reads again is not as it was written; the message names it."""

    path: Path

    def __init__(self, path: Path) -> None:
        self.path = path
        NotOnDisk.__init__(
            self, f"{path} is damaged, and no result can rest on it; remove {path.parent} to begin the search again"
        )


@dataclass(frozen=True, slots=True)
class Shown:
    """A state, by level and row, that shows a violation of a property: by an action, or by itself. `steps`: how many
    were known."""

    name: str
    by_action: bool
    level: int
    row: tuple[int, ...]
    steps: int


@dataclass(frozen=True, slots=True)
class Noted:
    """So many bytes of a file that only grows, and their checksum."""

    size: int = 0
    sum: int = 0

    def add(self, path: Path, content: bytes) -> Noted:
        """Adds to the file, in the place of whatever came behind, so that it outlasts the machine's failing."""
        with path.open("ab") as file:
            file.truncate(self.size)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        return Noted(self.size + len(content), crc32(content, self.sum))

    def read(self, path: Path) -> bytes:
        """The bytes.

        Raises:
            DamagedError: they are not what was written.
        """
        content = path.read_bytes()[: self.size] if path.exists() else b""
        if len(content) != self.size or crc32(content) != self.sum:
            raise DamagedError(path)
        return content


@dataclass(frozen=True, slots=True)
class KeptRows:
    """The rows of a search in files: `key`, `ends` and `sums` as in `StateFiles`. `files`: by level and part, the file,
    where levels have their own, see `spread`."""

    ends: list[list[int]]
    key: str = ""
    sums: list[int] = field(default_factory=list)
    files: list[list[str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class KeptSearch:
    """A search as it stood between two levels.

    Attributes:
        search: its `identity`.
        code: the digest of the code that packs rows and deals them out, see `kernel`.
        rows: what is known, in files.
        steps: the file of the keys of those that are known.
        checksum: of the steps, see `StepTable`.
        numbers: the file of local states and packets.
        rested: see `System`.
        faulty: a step is a fault.
    """

    search: str
    code: str
    capacity: Capacity
    rows: KeptRows
    transitions: int
    steps: Noted
    checksum: str
    numbers: Noted
    violations: tuple[Shown, ...]
    rested: bool = False
    faulty: bool = False


def identity(request: ExplorationRequest) -> str:
    """A hash of what is searched for: the same for the same protocol, workload, properties and reductions."""
    system = request.system
    kind = FORMAT if request.resources.crew is None else FORMAT_SPREAD
    parts = (kind, system.protocol, system.workload, sorted(request.properties), sorted(request.reductions))
    return sha256(repr(parts).encode()).hexdigest()


@contextmanager
def folder_of(request: ExplorationRequest) -> Iterator[Path]:
    """The folder of the search: the one that is asked for, which is kept, or else one that is removed.

    Raises:
        NotOnDisk: the folder holds something else, or another process uses it.
    """
    wanted = request.resources.folder
    if wanted is None:
        with TemporaryDirectory(prefix="thence-states-") as made:
            yield Path(made)
        return
    held = None
    while held is None:
        held = _locked(wanted)
    with held:
        yield wanted


def _locked(folder: Path) -> IO[bytes] | None:
    """The lock of the folder, which is made; None where another process removed it meanwhile. Raises: NotOnDisk."""
    lock = folder / LOCK
    with suppress(FileNotFoundError):
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()) and not lock.exists() and any(folder.iterdir()):
            raise NotOnDisk(f"{folder} holds something else; name another folder")
        held = lock.open("ab")
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(held.fileno()), lock.stat()):
                return held
        except BlockingIOError:
            held.close()
            raise NotOnDisk(f"another search uses {folder}") from None
        except BaseException:
            held.close()
            raise
        held.close()
    return None


def is_kept(folder: Path) -> bool:
    """Whether the folder has a search that can go on."""
    return (folder / MANIFEST).exists()


def remove(folder: Path) -> None:
    """Removes what the search left, and the folder, if nothing else is in it.

    The manifest goes first: a kill in between leaves files that no search goes on with, and none that seem damaged.
    """
    forget(folder)
    for path in folder.iterdir():
        if path.name in (_DRAFT, STEPS, NUMBERS) or path.name.startswith(("known-", "reached-", *SPREAD)):
            path.unlink()
    (folder / LOCK).unlink()  # the last one: without it, the others would be something else to another process
    if not any(folder.iterdir()):
        folder.rmdir()


def recall(folder: Path, search: str) -> KeptSearch | None:
    """The search that the folder has, if any.

    Raises:
        NotOnDisk: it is another one, or damaged.
    """
    path = folder / MANIFEST
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found.pop("sum") != _sum(found):
            raise ValueError("another sum")
        shown = [Shown(**{**each, "row": tuple(each["row"])}) for each in found.pop("violations")]
        parts = {"capacity": Capacity, "rows": KeptRows, "steps": Noted, "numbers": Noted}
        made = {name: part(**found.pop(name)) for name, part in parts.items()}
        kept = KeptSearch(**found, **made, violations=tuple(shown))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise DamagedError(path) from error
    if kept.search != search:
        raise NotOnDisk(f"{folder} has the states of another search; name another folder, or remove it")
    return kept


def forget(folder: Path) -> None:
    """A search begins anew: what an earlier one left is not gone on with."""
    (folder / MANIFEST).unlink(missing_ok=True)


def keep(folder: Path, kept: KeptSearch) -> None:
    """Notes how far the search is.

    Raises:
        OSError: what was noted before is still there.
    """
    content = json.loads(json.dumps(asdict(kept)))
    draft = folder / _DRAFT
    with draft.open("w", encoding="utf-8") as text:
        json.dump({**content, "sum": _sum(content)}, text)
        text.flush()
        os.fsync(text.fileno())
    draft.replace(folder / MANIFEST)
    descriptor = os.open(folder, os.O_RDONLY)  # new names outlast the machine's failing, too
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sum(content: Mapping[str, Any]) -> str:
    return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def packed(steps: Sequence[int]) -> bytes:
    """The keys of steps as bytes."""
    return pack(f"<{len(steps)}Q", *steps)


def steps_of(folder: Path, kept: KeptSearch) -> list[int]:
    """The keys of the steps known, in the order in which they came. Raises: OSError, DamagedError."""
    return list(unpack(f"<{kept.steps.size // 8}Q", kept.steps.read(folder / STEPS)))


def numbered(system: System, sizes: tuple[int, int]) -> bytes:
    """The local states and packets from these numbers on, a line each."""
    (states, packets), (all_states, all_packets) = sizes, system.sizes
    lines = [
        *([0, written_local(system, system.local(number))] for number in range(states, all_states)),
        *([1, written_packet(system, system.packet(number))] for number in range(packets, all_packets)),
    ]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def number_again(folder: Path, kept: KeptSearch, system: System) -> None:
    """Local states and packets get the numbers that they had.

    Raises:
        OSError. DamagedError: the file is not what was written. NotOnDisk: some have other numbers already.
    """
    path, counts = folder / NUMBERS, [0, 0]
    for line in kept.numbers.read(path).splitlines():
        try:
            kind, given = json.loads(line)
            value = packet_of(given, system) if kind else local_of(given, system)
        except (ValueError, TypeError, Malformed) as error:
            raise DamagedError(path) from error
        number = system.number_of(value) if isinstance(value, Packet) else system.local_number(value)
        if number != counts[kind]:
            raise NotOnDisk(OTHER_VERSION.format(folder))
        counts[kind] += 1
    system.rested = system.rested or kept.rested
