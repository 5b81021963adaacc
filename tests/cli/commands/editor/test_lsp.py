"""`thence lsp` where its library is missing, and where nobody speaks with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import thence.cli.commands.editor.lsp as command

Thence = Callable[..., Any]


def test_a_missing_library_says_what_to_install(thence: Thence, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "find_spec", lambda name: None)
    ran = thence("lsp")
    assert ran.code == 2
    assert "pip install 'thence[editor]'" in ran.err
    assert "Traceback" not in ran.err


def test_without_a_client_it_ends(thence_process: Thence) -> None:
    pytest.importorskip("pygls")
    ran = thence_process("lsp")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
