"""The files that are sent to the workers, and their places there and here.

A Python file, or an archive of packages, is put on the import path. Other archives are unpacked into a folder each,
side by side; the workers' current directory is then where these folders are, so that `./FOLDER/program` is a command.
"""

from __future__ import annotations

import os
import re
import sys
import tarfile
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from thence.conformance.campaign.parameters import CampaignError

PYTHON_SUFFIXES: Final = (".py", ".zip", ".egg")
ARCHIVE_SUFFIXES: Final = (".zip", ".tar", ".tar.gz", ".tgz", ".jar")
"""Archives that Spark unpacks."""

_PLAIN: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")
"""Names that mean the same to a file system and in the URIs by which Spark names files."""


@dataclass(frozen=True, slots=True)
class Archive:
    """A file that is unpacked into a folder."""

    file: Path
    folder: str

    @staticmethod
    def named(name: str) -> Archive:
        """As `FILE#FOLDER`; the folder has the name of the file where none is given. Raises CampaignError."""
        file, _, folder = name.partition("#")
        path = Path(file)
        if not path.name.endswith(ARCHIVE_SUFFIXES):
            raise CampaignError(f"{file} is not unpacked on the workers: send {', '.join(ARCHIVE_SUFFIXES)}")
        folder = folder or path.name
        if not _PLAIN.fullmatch(folder):
            raise CampaignError(f"{name}: the part after # is the name of a folder, of letters, digits, _, - and .")
        return Archive(path, folder)

    def unpack(self, place: Path) -> None:
        """Unpack it below `place`. Raises CampaignError."""
        target = place / self.folder
        target.mkdir()
        try:
            if self.file.name.endswith((".zip", ".jar")):
                with zipfile.ZipFile(self.file) as packed:
                    for member in packed.infolist():
                        path = Path(packed.extract(member, target))
                        if mode := member.external_attr >> 16 & 0o777:
                            path.chmod(mode)
            else:
                with tarfile.open(self.file) as tar:
                    if hasattr(tarfile, "data_filter"):
                        tar.extractall(target, filter="data")
                    else:  # Python 3.11.3 and before; the archive's programs are run in any case
                        tar.extractall(target)
        except (OSError, zipfile.BadZipFile, tarfile.TarError) as error:
            raise CampaignError(f"{self.file} cannot be unpacked: {error}") from error


def absolute(names: Iterable[str]) -> tuple[str, ...]:
    """The files by their absolute paths, so that a campaign is resumed from anywhere; `#FOLDER` stays."""
    parts = (name.partition("#") for name in names)
    return tuple(f"{Path(file).resolve()}{mark}{folder}" for file, mark, folder in parts)


def fingerprints(py_files: Sequence[str], archives: Sequence[str]) -> dict[str, str]:
    """A hash of each file that is sent, by its name.

    Raises:
        CampaignError: there is no such file, or it cannot be sent.
    """
    for name in py_files:
        if Path(name).suffix not in PYTHON_SUFFIXES:
            raise CampaignError(f"{name} cannot be imported from: send .py files, or .zip or .egg archives of packages")
    unpacked = [Archive.named(name) for name in archives]
    folders = [archive.folder for archive in unpacked]
    if twice := sorted({folder for folder in folders if folders.count(folder) > 1}):
        raise CampaignError(f"two archives are to be unpacked into {', '.join(twice)}: name another folder after #")
    found = {}
    for path in (*map(Path, py_files), *(archive.file for archive in unpacked)):
        if not _PLAIN.fullmatch(path.name):
            raise CampaignError(f"Spark cannot send {path}: its name is to be of letters, digits, _, - and .")
        if not path.is_file():
            raise CampaignError(f"there is no file {path} to send to the workers")
        try:
            found[path.name] = blake2b(path.read_bytes(), digest_size=16).hexdigest()
        except OSError as error:
            raise CampaignError(f"{path} cannot be read: {error.strerror}") from error
    return found


@contextmanager
def as_on_a_worker(py_files: Sequence[str], archives: Sequence[str]) -> Iterator[None]:
    """Here as there: the Python files can be imported, from now on; archives are unpacked, and the current directory is
    where they are, until the end of the block.

    Raises:
        CampaignError: a file is not there, or cannot be sent.
    """
    fingerprints(py_files, archives)
    for name in py_files:
        place = str(Path(name).resolve().parent if Path(name).suffix == ".py" else Path(name).resolve())
        if place not in sys.path:
            sys.path.insert(0, place)
    if not archives:
        yield
        return
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    unpacked = [Archive.named(name) for name in absolute(archives)]
    with TemporaryDirectory(prefix="thence-archives-") as folder:
        for archive in unpacked:
            archive.unpack(Path(folder))
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(here)
