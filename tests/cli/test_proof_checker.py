"""The proof checker is one archive, known by its hash; nothing else is ever run in its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from thence.cli import proof_checker
from thence.cli.proof_checker import CheckerMissing, archive, find_checker, install, main


def test_without_the_archive_there_is_no_checker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("THENCE_CHECKER", str(tmp_path / "nothing.jar"))
    assert find_checker() is None


def test_something_else_in_its_place_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "other.jar").write_bytes(b"something else")
    monkeypatch.setenv("THENCE_CHECKER", str(tmp_path / "other.jar"))
    with pytest.raises(CheckerMissing, match="its SHA-256 differs"):
        find_checker()


def test_it_is_looked_for_in_the_environment_of_this_python(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.delenv("THENCE_CHECKER", raising=False)
    assert archive().is_relative_to(sys.prefix)


def test_what_is_installed_is_not_fetched_again(monkeypatch: pytest.MonkeyPatch) -> None:
    if find_checker() is None:
        pytest.skip("the proof checker is not installed: make checker")

    def never(*_: object) -> Path:
        raise AssertionError("fetched")

    monkeypatch.setattr(proof_checker, "_fetch", never)
    assert install() == archive()


def test_an_archive_that_cannot_be_fetched_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("THENCE_CHECKER", str(tmp_path / "checker.jar"))
    (tmp_path / "ivy.jar").write_bytes(b"no archive")
    monkeypatch.setattr(proof_checker, "_ivy", lambda: tmp_path / "ivy.jar")
    assert main() == 2
    assert "no proof checker, so no level L4" in capsys.readouterr().err
    assert not (tmp_path / "checker.jar").exists()


def test_a_fetched_archive_is_compared_with_its_hash(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("THENCE_CHECKER", str(tmp_path / "checker.jar"))
    java = tmp_path / "home" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(
        '#!/bin/sh\nfor last; do :; done\nprintf forged > "$(dirname "$last")/smtinterpol.jar"\n', encoding="utf-8"
    )
    java.chmod(0o755)
    monkeypatch.setattr(proof_checker, "ensure_java", lambda: tmp_path / "home")
    monkeypatch.setattr(proof_checker, "_ivy", lambda: tmp_path / "ivy.jar")
    with pytest.raises(CheckerMissing, match="what was fetched is not smtinterpol"):
        install()
    assert not (tmp_path / "checker.jar").exists()
