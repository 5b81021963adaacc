"""What a search in files leaves behind level by level, so that one that was stopped goes on where it was.

The numbers of local states and packets, of which rows are made, depend on the order in which steps are asked for.
So the steps are kept in that order, and asked for again; a checksum tells whether they came out the same.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from struct import pack, unpack
from tempfile import TemporaryDirectory
from typing import Final

from thence.proofs.explore.exploration import ExplorationRequest
from thence.proofs.native.layout import Capacity

FORMAT: Final = "thence-states/1"
FORMAT_SPREAD: Final = "thence-spread-states/1"
LOCK: Final = "search.lock"
MANIFEST: Final = "search.json"
STEPS: Final = "steps"


SPREAD: Final = ("level-", "found-", "again-", "kinds-", "tables-")
"""How the names of the files begin that are made by `spread`."""


class NotOnDisk(ValueError):
    """The states cannot be kept in files, or not in this folder."""


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
class KeptSearch:
    """A search as it stood between two levels. `ends`: see `StateFiles`; `checksum`: of the steps, see `StepTable`.
    `faulty`: a step is a fault. `files`: by level and part, the file of the rows, where levels have their own, see
    `spread`."""

    search: str
    capacity: Capacity
    ends: list[list[int]]
    transitions: int
    steps: int
    checksum: str
    violations: tuple[Shown, ...]
    faulty: bool = False
    files: list[list[str]] = field(default_factory=list)


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
    wanted.mkdir(parents=True, exist_ok=True)
    lock = wanted / LOCK
    if not lock.exists() and any(wanted.iterdir()):
        raise NotOnDisk(f"{wanted} holds something else; name another folder")
    with lock.open("ab") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise NotOnDisk(f"another search uses {wanted}") from None
        yield wanted


def is_kept(folder: Path) -> bool:
    """Whether the folder has a search that can go on."""
    return (folder / MANIFEST).exists()


def remove(folder: Path) -> None:
    """Removes what the search left, and the folder, if nothing else is in it."""
    for path in folder.iterdir():
        if path.name in (LOCK, MANIFEST, STEPS) or path.name.startswith(("known-", "reached-", *SPREAD)):
            path.unlink()
    if not any(folder.iterdir()):
        folder.rmdir()


def recall(folder: Path, search: str) -> KeptSearch | None:
    """The search that the folder has, if any.

    Raises:
        NotOnDisk: it is another one, or damaged.
    """
    if not is_kept(folder):
        return None
    path = folder / MANIFEST
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        shown = [Shown(**{**each, "row": tuple(each["row"])}) for each in found.pop("violations")]
        kept = KeptSearch(**{**found, "capacity": Capacity(*found["capacity"]), "violations": tuple(shown)})
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NotOnDisk(f"{path} is damaged; remove the folder") from error
    if kept.search != search:
        raise NotOnDisk(f"{folder} has the states of another search; name another folder, or remove it")
    return kept


def forget(folder: Path) -> None:
    """A search begins anew: what an earlier one left is not gone on with."""
    (folder / MANIFEST).unlink(missing_ok=True)


def keep(folder: Path, kept: KeptSearch, fresh: Sequence[int]) -> None:
    """Notes how far the search is; `fresh` are the steps that have become known since the last time."""
    with (folder / STEPS).open("ab") as file:
        file.truncate(8 * (kept.steps - len(fresh)))
        file.write(pack(f"<{len(fresh)}Q", *fresh))
        file.flush()
        os.fsync(file.fileno())
    capacity = (kept.capacity.local_bits, kept.capacity.packet_bits, kept.capacity.slots)
    draft = folder / f"{MANIFEST}.draft"
    with draft.open("w", encoding="utf-8") as text:
        json.dump({**asdict(kept), "capacity": capacity}, text)
        text.flush()
        os.fsync(text.fileno())
    draft.replace(folder / MANIFEST)


def steps_of(folder: Path, kept: KeptSearch) -> list[int]:
    """The keys of the steps known, in the order in which they came.

    Raises:
        NotOnDisk: the file is damaged.
    """
    content = (folder / STEPS).read_bytes()[: 8 * kept.steps]
    if len(content) != 8 * kept.steps:
        raise NotOnDisk(f"{folder / STEPS} is damaged; remove the folder")
    return list(unpack(f"<{kept.steps}Q", content))
