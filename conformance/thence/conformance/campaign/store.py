"""A campaign on disk.

    campaign.json    parameters, versions, hash of the code; written once
    batches/         one Parquet file a finished batch, its tally in the footer
    lock             held by the process that works on the campaign
    spark.log        the output of the last Spark

Every file appears whole or not at all: written beside, flushed to disk, renamed. The files in `batches` *are* the
record of the finished batches, so that a kill at any moment leaves no two records that disagree.
"""

from __future__ import annotations

import fcntl
import io
import json
import os
import platform
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import thence
from thence.conformance.campaign.case import SCHEMA
from thence.conformance.campaign.parameters import CampaignError, CampaignParameters, canonical_json
from thence.conformance.cases.tally import Tally

FORMAT = "thence-campaign/3"
MANIFEST = "campaign.json"
SPARK_LOG = "spark.log"
LOCK = "lock"
BATCHES = "batches"
SENT = "sent"
"""The name of the hashes of files that are sent, among the facts of a manifest."""

DRAFT_PREFIX = ".draft-"
TALLY_KEY = b"thence.tally"
IDENTITY_KEY = b"thence.identity"
TIMING_KEY = b"thence.timing"
SUM_KEY = b"thence.sum"

LARGEST_MANIFEST = 256 << 20
"""Bytes of the longest manifest. The schedules that a campaign starts from make it long."""

LARGEST_BATCH_BYTES = 4 << 30
"""Bytes of the largest batch when it is decompressed."""

BATCH_NAME = re.compile(r"seeds-(\d{19})-(\d{19})\.parquet")


@dataclass(frozen=True, slots=True)
class Manifest:
    """The inputs of a campaign at its beginning.

    Attributes:
        code: `code_fingerprint()` at that time.
        facts: `runner_facts()` at that time.
    """

    parameters: CampaignParameters
    versions: dict[str, str]
    code: str
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Batch:
    """A finished batch: its seeds, its file, its tally.

    Attributes:
        seconds: its wall time.
        finished: the time of its end, in seconds since 1970.
    """

    seeds: range
    path: Path
    tally: Tally
    seconds: float = 0.0
    finished: float = 0.0


def check_no_links(directory: Path, *names: str) -> None:
    """Checks that the folder's own files and folders are none that lie elsewhere, so that nothing is written there.

    Raises:
        CampaignError: one of them is a symbolic link.
    """
    for name in (MANIFEST, SPARK_LOG, LOCK, BATCHES, *names):
        if (directory / name).is_symlink():
            raise CampaignError(f"{directory / name} is a symbolic link; nothing is read or written through it")


def check_vacant(directory: Path, parameters: CampaignParameters) -> None:
    """Check that a campaign can begin in `directory`: it does not exist, is empty, or was given up before it began.

    Raises:
        CampaignError: it is a campaign already, or holds something else.
    """
    if not directory.exists():
        return
    if not directory.is_dir():
        raise CampaignError(f"{directory} is a file; a campaign needs a directory")
    if (directory / MANIFEST).exists():
        there = read_manifest(directory).parameters
        advice = "resume it, or start in another directory"
        if there.identity() != parameters.identity():
            advice = f"its parameters differ ({_differences(there, parameters)}): start in another directory"
        raise CampaignError(f"{directory} holds a campaign already; {advice}")
    strangers = sorted(path.name for path in directory.iterdir() if path.name not in (LOCK, SPARK_LOG, BATCHES))
    strangers = [name for name in strangers if not name.startswith(DRAFT_PREFIX)]
    if strangers:
        raise CampaignError(f"{directory} is not empty and not a campaign: it holds {', '.join(strangers[:5])}")


def create(directory: Path, parameters: CampaignParameters, facts: Mapping[str, Any]) -> Manifest:
    """Make `directory` a campaign. The lock is held. `facts` are the runner's.

    Raises:
        CampaignError: it is a campaign already, or holds something else.
    """
    check_vacant(directory, parameters)
    versions = {name: version(name) for name in ("thence", "pyspark", "pyarrow")}
    manifest = Manifest(parameters, {**versions, "python": platform.python_version()}, code_fingerprint(), dict(facts))
    content = {
        "format": FORMAT,
        "parameters": parameters.to_json(),
        "identity": parameters.identity(),
        "versions": manifest.versions,
        "code": manifest.code,
        "inputs": dict(facts),
    }
    content["hash"] = _hash(content)
    # A line for each part, and not for each number of the schedules that a campaign starts from.
    lines = [f"  {json.dumps(name)}: {json.dumps(part)}" for name, part in content.items()]
    write_whole(directory / MANIFEST, ("{\n" + ",\n".join(lines) + "\n}\n").encode())
    return manifest


def read_manifest(directory: Path) -> Manifest:
    """The manifest of the campaign in `directory`.

    Raises:
        CampaignError: there is no campaign, or its manifest is not as it was written.
    """
    path = directory / MANIFEST
    check_no_links(directory)
    try:
        if path.exists() and not path.is_file():
            raise CampaignError(f"{path} is not a file")
        with path.open("rb") as file:
            text = file.read(LARGEST_MANIFEST + 1)
        if len(text) > LARGEST_MANIFEST:
            raise CampaignError(f"{path} is larger than {LARGEST_MANIFEST >> 20} MiB")
        content = json.loads(text)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise CampaignError(f"{directory} is not a campaign: it has no {MANIFEST}") from error
    except OSError as error:
        raise CampaignError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise CampaignError(f"{path} is damaged: {error}") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise CampaignError(f"{path} is not the manifest of a campaign in the format {FORMAT}")
    claimed = content.pop("hash", None)
    try:
        if claimed != _hash(content):
            raise CampaignError(f"{path} was changed since the campaign began; start a new campaign")
        parameters = CampaignParameters.from_json(content["parameters"])
        return Manifest(parameters, dict(content["versions"]), str(content["code"]), dict(content["inputs"]))
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise CampaignError(f"{path} is damaged: it is not the manifest of a campaign") from error


def check_code(directory: Path, manifest: Manifest, facts: Mapping[str, Any]) -> None:
    """Checks that program and inputs have not changed, without which the digest means nothing.

    Raises:
        CampaignError: the packages of Thence, or the runner's facts, are not those that the campaign began with.
    """
    changed = changed_facts(manifest.facts, facts)
    if manifest.code == code_fingerprint() and changed:
        raise CampaignError(
            f"the campaign in {directory} began with another {' and '.join(changed[:5])}: put back what it was, "
            "or start a new campaign"
        )
    if manifest.code != code_fingerprint():
        raise CampaignError(
            f"the campaign in {directory} began with other code (thence {manifest.versions['thence']}, "
            f"fingerprint {manifest.code}; this is {version('thence')}, {code_fingerprint()}): "
            "go back to that code, or start a new campaign"
        )


def changed_facts(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """The names of the facts that changed; of each of several systems by its name, of each file that is sent by its."""
    names: list[str] = []
    for name in sorted({*before, *now}):
        there, here = before.get(name), now.get(name)
        if name == "systems" and isinstance(there, dict) and isinstance(here, dict):
            names += [f"{fact} of {system}" for system in sorted({*there, *here})
                      for fact in changed_facts(there.get(system, {}), here.get(system, {}))]  # fmt: skip
        elif name == SENT:
            names += changed_facts(there or {}, here or {})
        elif there != here:
            names.append(name)
    return names


def is_locked(directory: Path) -> bool:
    """Whether some process works on the campaign."""
    try:
        descriptor = os.open(directory / LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Hold the campaign's lock, which the kernel takes back however the process ends.

    Raises:
        CampaignError: another process holds it, or the directory cannot be made or written.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(directory / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
    except OSError as error:
        raise CampaignError(f"{directory} cannot hold a campaign: {error.strerror}") from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise CampaignError(f"another process works on the campaign in {directory}; wait for it to end") from error
        yield
    finally:
        os.close(descriptor)


def clear_drafts(directory: Path) -> None:
    """Remove the half-written files of a killed process. The lock is held."""
    for place in (directory, directory / BATCHES):
        for draft in place.glob(DRAFT_PREFIX + "*"):
            draft.unlink()


def write_batch(
    directory: Path, parameters: CampaignParameters, seeds: range, rows: pa.Table, tally: Tally, seconds: float = 0.0
) -> Batch:
    """Add a finished batch, which took `seconds`: whole, on disk, or not at all."""
    timing = {"seconds": round(seconds, 3), "finished": round(time.time(), 3)}
    metadata = {
        TALLY_KEY: canonical_json(tally.to_json()).encode(),
        IDENTITY_KEY: parameters.identity().encode(),
        TIMING_KEY: canonical_json(timing).encode(),
    }
    sink = io.BytesIO()
    metadata[SUM_KEY] = _sum(metadata)
    pq.write_table(rows.replace_schema_metadata(metadata), sink, compression="zstd", write_page_checksum=True)
    path = directory / BATCHES / f"seeds-{seeds.start:019d}-{seeds.stop:019d}.parquet"
    write_whole(path, sink.getvalue())
    return Batch(seeds, path, tally, timing["seconds"], timing["finished"])


def finished_batches(directory: Path, parameters: CampaignParameters) -> list[Batch]:
    """The batches on disk, by first seed.

    Raises:
        CampaignError: a file is damaged or belongs to another campaign.
    """
    planned = {(seeds.start, seeds.stop) for seeds in parameters.batches()}
    batches = []
    for path in sorted((directory / BATCHES).glob("*.parquet")):
        if path.name.startswith(DRAFT_PREFIX):
            continue
        match = None if path.is_symlink() or not path.is_file() else BATCH_NAME.fullmatch(path.name)
        if match is None or (int(match[1]), int(match[2])) not in planned:
            raise CampaignError(f"{path} is no batch of this campaign; move it away")
        batches.append(_read_footer(path, range(int(match[1]), int(match[2])), parameters))
    return batches


def read_rows(batch: Batch) -> pa.Table:
    """All rows of a batch.

    Raises:
        CampaignError: the file is damaged.
    """
    try:
        rows = pq.read_table(batch.path, page_checksum_verification=True)
    except (OSError, pa.ArrowException) as error:
        raise _damaged(batch.path) from error
    if rows.column_names == SCHEMA.names[:-1]:  # Campaigns of before 2026-11-28 do not say which cases are vacuous.
        rows = rows.append_column(SCHEMA.field("vacuous"), pa.array([False] * rows.num_rows))
    if not rows.schema.equals(SCHEMA, check_metadata=False):
        raise _damaged(batch.path)
    return rows


@lru_cache(maxsize=1)
def code_fingerprint() -> str:
    """A hash of the program: the Python files, the grammar and the library of this installation.

    A runner from elsewhere takes no part in it.
    """
    digest = blake2b(digest_size=16)
    files: dict[str, Path] = {}
    for portion in thence.__path__:
        for pattern in ("*.py", "*.lark", "*.thence"):
            files.update((path.relative_to(portion).as_posix(), path) for path in Path(portion).rglob(pattern))
    for name, path in sorted(files.items()):
        content = path.read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def _read_footer(path: Path, seeds: range, parameters: CampaignParameters) -> Batch:
    try:
        footer = pq.read_metadata(path)
        metadata = footer.metadata or {}
        if metadata[IDENTITY_KEY] != parameters.identity().encode():
            raise CampaignError(f"{path} is a batch of another campaign; move it away")
        if metadata.get(SUM_KEY, _sum(metadata)) != _sum(metadata):
            raise _damaged(path)
        tally = Tally.from_json(json.loads(metadata[TALLY_KEY]))
        timing = json.loads(metadata[TIMING_KEY])
        seconds, finished = float(timing["seconds"]), float(timing["finished"])
        ranges = [footer.row_group(number).column(0).statistics for number in range(footer.num_row_groups)]
        ends = min(each.min for each in ranges), max(each.max for each in ranges)
    except (OSError, pa.ArrowException, KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise _damaged(path) from error
    size = sum(footer.row_group(number).total_byte_size for number in range(footer.num_row_groups))
    there = tally.cases == footer.num_rows == len(seeds) and ends == (seeds.start, seeds.stop - 1)
    if not there or size > LARGEST_BATCH_BYTES:
        raise _damaged(path)
    return Batch(seeds, path, tally, seconds, finished)


def _sum(metadata: Mapping[bytes, bytes]) -> bytes:
    """A checksum of what the footer of a batch says; its rows have those of Parquet."""
    said = b"\0".join(metadata[key] for key in (IDENTITY_KEY, TALLY_KEY, TIMING_KEY))
    return blake2b(said, digest_size=16).hexdigest().encode()


def _damaged(path: Path) -> CampaignError:
    return CampaignError(f"{path} is damaged; delete it and resume: its seeds run again")


def write_whole(path: Path, content: bytes) -> None:
    """Write the file at `path` atomically and durably.

    Raises:
        CampaignError: it cannot be written.
    """
    draft = path.parent / f"{DRAFT_PREFIX}{path.name}"
    try:
        path.parent.mkdir(exist_ok=True)
        draft.unlink(missing_ok=True)
        with draft.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        descriptor = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        with suppress(OSError):
            draft.unlink()
        raise CampaignError(f"{path} cannot be written: {error.strerror}; the finished batches are kept") from error


def _hash(content: dict[str, Any]) -> str:
    return blake2b(canonical_json(content).encode(), digest_size=16).hexdigest()


def _differences(there: CampaignParameters, wanted: CampaignParameters) -> str:
    names = ("runner", "params", "first_seed", "cases")
    return ", ".join(name for name in names if getattr(there, name) != getattr(wanted, name))
