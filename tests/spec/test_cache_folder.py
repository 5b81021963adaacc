"""What is kept between runs stays in a folder of the user alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from thence.spec.cache_folder import cache_folder, read_kept


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "thence"


def test_the_folder_is_made_for_the_user_alone(home: Path) -> None:
    assert cache_folder() == home
    assert cache_folder("answers") == home / "answers"
    assert home.stat().st_mode & 0o077 == 0


def test_a_folder_in_which_others_may_write_is_not_used(home: Path) -> None:
    home.mkdir()
    for mode in (0o770, 0o707, 0o1777):
        home.chmod(mode)
        assert cache_folder() is None
        assert cache_folder("answers") is None
    home.chmod(0o755)
    assert cache_folder() == home


def test_the_current_directory_is_no_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "here")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    assert cache_folder() == tmp_path / "home" / ".cache" / "thence"
    assert not (tmp_path / "here").exists()


def test_a_file_of_others_is_not_read(home: Path) -> None:
    home.mkdir()
    kept = home / "kept"
    kept.write_text("content")
    assert read_kept(kept) == b"content"
    kept.chmod(0o666)
    with pytest.raises(PermissionError):
        read_kept(kept)
    kept.chmod(0o644)
    (home / "link").symlink_to(kept)
    os.mkfifo(home / "pipe")
    for name in ("link", "pipe", "missing", "."):
        with pytest.raises(OSError, match=r"thence"):
            read_kept(home / name)
