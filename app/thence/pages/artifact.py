"""build/thence-artifact.tar.gz: the release bundle, the same bytes from the same files.

`python -m thence.pages.artifact FOLDER CERTIFICATES` writes the bundle into the folder: the files that git tracks,
with the lock file, the pages, their verdicts and the data of the evaluation among them; the certificates; and
SHA256SUMS over all of it. Times in the bundle are SOURCE_DATE_EPOCH, or the time of the last commit.
"""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
import tarfile
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

from thence.pages.folder import run_page

NAME: Final = "thence-artifact"
SUMS: Final = "SHA256SUMS"
CERTIFICATES: Final = "certificates"


def bundle(files: Mapping[str, tuple[bytes, bool]], seconds: int) -> bytes:
    """A gzipped tar file. Nothing in it depends on the machine, the user, or the order of the files.

    Args:
        files: contents by name, and whether each can be executed.
        seconds: the time of every file, since 1970.
    """
    sums = "".join(f"{sha256(files[name][0]).hexdigest()}  {name}\n" for name in sorted(files))
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, (content, executable) in sorted({**files, SUMS: (sums.encode(), False)}.items()):
            member = tarfile.TarInfo(f"{NAME}/{name}")
            member.size, member.mtime, member.mode = len(content), seconds, 0o755 if executable else 0o644
            archive.addfile(member, io.BytesIO(content))
    compressed = io.BytesIO()
    with gzip.GzipFile(fileobj=compressed, mode="wb", mtime=seconds, filename="", compresslevel=9) as stream:
        stream.write(packed.getvalue())
    return compressed.getvalue()


def tracked(root: Path) -> dict[str, tuple[bytes, bool]]:
    """The files that git tracks, as they are in the folder; those that are deleted there are left out."""
    listed = _git(root, "ls-files", "-z").split("\0")
    return {name: _read(root / name) for name in listed if name and (root / name).is_file()}


def certificates(folder: Path) -> dict[str, tuple[bytes, bool]]:
    """The files of all certificates of a folder, under `certificates/`."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {f"{CERTIFICATES}/{path.relative_to(folder).as_posix()}": _read(path) for path in found}


def date(root: Path) -> int:
    """SOURCE_DATE_EPOCH, or the time of the last commit, in seconds since 1970."""
    return int(os.environ.get("SOURCE_DATE_EPOCH") or _git(root, "log", "-1", "--format=%ct"))


def make(folder: Path, sources: Sequence[Path]) -> int:
    """Writes the bundle, and says what its checksum is."""
    root = Path.cwd()
    files = {**tracked(root), **(found := certificates(sources[0]))}
    packed = bundle(files, date(root))
    (folder / f"{NAME}.tar.gz").write_bytes(packed)
    said = f"{len(files)} files, {len(found)} of them of certificates, {len(packed) / 1e6:.1f} MB"
    print(f"{folder / NAME}.tar.gz: {said}, SHA-256 {sha256(packed).hexdigest()}", file=sys.stderr)
    return 0


def _read(path: Path) -> tuple[bytes, bool]:
    return path.read_bytes(), os.access(path, os.X_OK)


def _git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    run_page(make, "artifact", "CERTIFICATES")
