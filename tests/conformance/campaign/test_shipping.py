"""What is sent to the workers is used here as there, and what cannot be sent is said at once."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from thence.conformance.campaign import CampaignError
from thence.conformance.campaign.shipping import Archive, absolute, as_on_a_worker, fingerprints


def packed(folder: Path, name: str) -> Path:
    """An archive with a program that prints a word."""
    program = folder / "hello"
    program.write_text("#!/bin/sh\necho hello\n")
    program.chmod(0o755)
    target = folder / name
    if name.endswith((".zip", ".jar")):
        with zipfile.ZipFile(target, "w") as pack:
            pack.write(program, "bin/hello")
    else:
        with tarfile.open(target, "w:gz" if name.endswith("gz") else "w") as tar:
            tar.add(program, "bin/hello")
    return target


@pytest.mark.parametrize("name", ["tools.zip", "tools.tar", "tools.tar.gz", "tools.tgz", "tools.jar"])
def test_a_program_of_an_archive_runs_from_its_folder(name: str, tmp_path: Path) -> None:
    here = Path.cwd()
    with as_on_a_worker((), (f"{packed(tmp_path, name)}#tools",)):
        assert subprocess.run(["./tools/bin/hello"], capture_output=True, text=True, check=True).stdout == "hello\n"
        place = Path.cwd()
        assert place != here
    assert Path.cwd() == here
    assert not place.exists()


def test_the_first_versions_of_python_3_11_unpack_archives_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = tarfile.TarFile.extractall
    monkeypatch.delattr(tarfile, "data_filter", raising=False)
    monkeypatch.setattr(tarfile.TarFile, "extractall", lambda tar, path: whole(tar, path))
    with as_on_a_worker((), (f"{packed(tmp_path, 'tools.tar')}#tools",)):
        assert subprocess.run(["./tools/bin/hello"], capture_output=True, text=True, check=True).stdout == "hello\n"


def test_without_a_name_the_folder_is_called_like_the_file(tmp_path: Path) -> None:
    path = packed(tmp_path, "tools.zip")
    assert Archive.named(str(path)) == Archive(path, "tools.zip")
    with as_on_a_worker((), (str(path),)):
        assert os.access("tools.zip/bin/hello", os.X_OK)


def test_a_module_can_be_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "only_sent.py").write_text("WORD = 'sent'\n")
    with zipfile.ZipFile(tmp_path / "packages.zip", "w") as pack:
        pack.writestr("only_packed/__init__.py", "WORD = 'packed'\n")
    files = (str(tmp_path / "only_sent.py"), str(tmp_path / "packages.zip"))
    with as_on_a_worker(files, ()):
        assert importlib.import_module("only_sent").WORD == "sent"
        assert importlib.import_module("only_packed").WORD == "packed"
    assert set(fingerprints(files, ())) == {"only_sent.py", "packages.zip"}


def test_another_content_has_another_hash(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("A = 1\n")
    before = fingerprints((str(file),), ())
    file.write_text("A = 2\n")
    assert fingerprints((str(file),), ()) != before


def test_paths_are_absolute_and_the_folder_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert absolute(["a.py", "b.zip#tools"]) == (f"{tmp_path}/a.py", f"{tmp_path}/b.zip#tools")


@pytest.mark.parametrize(
    ("py_files", "archives", "said"),
    [
        (lambda at: (f"{at}/none.py",), lambda at: (), "there is no file .*none.py to send"),
        (lambda at: (f"{at}/a.txt",), lambda at: (), "cannot be imported from"),
        (lambda at: (f"{at}/my file.py",), lambda at: (), "Spark cannot send .*my file.py"),
        (lambda at: (), lambda at: (f"{at}/none.zip#x",), "there is no file .*none.zip to send"),
        (lambda at: (), lambda at: (f"{at}/a.txt#x",), "is not unpacked on the workers"),
        (lambda at: (), lambda at: (f"{at}/a.zip#../up",), "the name of a folder"),
        (lambda at: (), lambda at: (f"{at}/a.zip#x", f"{at}/a.zip#x"), "two archives are to be unpacked into x"),
        (lambda at: (), lambda at: (f"{at}/a.zip#x",), "a.zip cannot be unpacked: .*not a zip file"),
    ],
)
def test_what_cannot_be_sent(
    tmp_path: Path,
    py_files: Callable[[Path], tuple[str, ...]],
    archives: Callable[[Path], tuple[str, ...]],
    said: str,
) -> None:
    for name in ("a.txt", "my file.py", "a.zip"):
        (tmp_path / name).write_text("nothing")
    here = Path.cwd()
    with pytest.raises(CampaignError, match=said), as_on_a_worker(py_files(tmp_path), archives(tmp_path)):
        pytest.fail("accepted")
    assert Path.cwd() == here
