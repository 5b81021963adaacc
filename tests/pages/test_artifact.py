"""The release bundle: the same files give the same bytes, and its checksums are those of its files."""

from __future__ import annotations

import io
import subprocess
import tarfile
from hashlib import sha256
from pathlib import Path

import pytest

from thence.pages.artifact import NAME, SUMS, bundle, make


def repository(root: Path) -> Path:
    root.mkdir()
    (root / "run").write_text("#!/bin/sh\n", encoding="utf-8")
    (root / "run").chmod(0o755)
    (root / "requirements.lock").write_text("lark==1.2.2\n", encoding="utf-8")
    (root / "untracked").write_text("not of the release\n", encoding="utf-8")
    for command in (["init", "-q"], ["add", "run", "requirements.lock"]):
        subprocess.run(["git", *command], cwd=root, check=True)
    proofs = root / "build" / "certificates" / "execution"
    proofs.mkdir(parents=True)
    (proofs / "manifest.json").write_text("{}\n", encoding="utf-8")
    return root


def built(root: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    monkeypatch.chdir(root)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    assert make(root / "build", [root / "build" / "certificates"]) == 0
    return (root / "build" / f"{NAME}.tar.gz").read_bytes()


def test_two_builds_in_two_places_are_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = built(repository(tmp_path / "one"), monkeypatch)
    other = repository(tmp_path / "two")
    for path in other.rglob("*"):
        path.touch()
    assert built(other, monkeypatch) == first
    (other / "requirements.lock").write_text("lark==1.2.3\n", encoding="utf-8")
    assert built(other, monkeypatch) != first


def test_the_bundle_has_what_is_tracked_and_the_certificates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = built(repository(tmp_path / "one"), monkeypatch)
    with tarfile.open(fileobj=io.BytesIO(packed), mode="r:gz") as archive:
        names = [member.name.removeprefix(f"{NAME}/") for member in archive]
        assert names == [SUMS, "certificates/execution/manifest.json", "requirements.lock", "run"]
        run = archive.getmember(f"{NAME}/run")
        assert (run.mode, run.mtime, run.uid, run.uname) == (0o755, 1700000000, 0, "")
        listed = archive.extractfile(f"{NAME}/{SUMS}")
        assert listed is not None
        sums = dict(reversed(line.split("  ")) for line in listed.read().decode().splitlines())
        assert {*sums} == {*names} - {SUMS}
        for name, expected in sums.items():
            content = archive.extractfile(f"{NAME}/{name}")
            assert content is not None
            assert sha256(content.read()).hexdigest() == expected


def test_the_order_of_the_files_does_not_matter() -> None:
    files = {"a": (b"1", False), "b": (b"2", True)}
    assert bundle(files, 0) == bundle(dict(reversed(files.items())), 0)
    assert bundle(files, 0) != bundle(files, 1)
