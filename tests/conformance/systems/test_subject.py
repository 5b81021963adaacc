"""Systems under test by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from thence.conformance.systems.subject import SubjectError, load_subject
from thence.impl.mf import MF

MODULE = """
class NoSend:
    def __init__(self, identity, processes): ...
    def receive(self, sender, packet): return []

class NoArguments:
    def causal_send(self, destination, message): return []
    def receive(self, sender, packet): return []

class Raises(NoArguments):
    def __init__(self, identity, processes): raise RuntimeError("not\\ntoday")

class Leaves(NoArguments):
    def __init__(self, identity, processes): raise SystemExit(3)

class Fine(NoArguments):
    def __init__(self, identity, processes): ...

something = 3
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, with some modules in it."""
    (tmp_path / "h7_subjects.py").write_text(MODULE)
    (tmp_path / "h7_broken.py").write_text("import h7_not_there\n")
    (tmp_path / "h7_syntax.py").write_text("def f(:\n")
    (tmp_path / "h7_exits.py").write_text("raise SystemExit(1)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_a_shipped_implementation_loads() -> None:
    subject = load_subject("thence.impl.mf:MF")
    assert subject.make_process is MF
    assert subject.name == "thence.impl.mf:MF"


def test_the_current_directory_is_searched(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry != str(here)])
    assert load_subject("h7_subjects:Fine").make_process(0, 3).causal_send(1, "m") == []


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("thence.impl.mf", "write module:Class"),
        ("thence/impl/mf.py:MF", "write thence.impl.mf:MF"),
        (":MF", "write module:Class"),
        ("h7_nowhere:MF", "there is no module h7_nowhere"),
        ("thence.nowhere.mf:MF", "there is no module thence.nowhere.mf"),
        ("h7_broken:MF", "h7_broken does not import: ModuleNotFoundError: No module named 'h7_not_there'"),
        ("h7_syntax:MF", "h7_syntax does not import: SyntaxError"),
        ("h7_exits:MF", "h7_exits does not import: SystemExit"),
        ("h7_subjects:Missing", "has no class Missing; it has Fine, Leaves, NoArguments, NoSend, Raises"),
        ("h7_subjects:something", "is not a class, but int"),
        ("h7_subjects:NoArguments", r"NoArguments\(0, 3\), with identity and processes; it raises TypeError"),
        ("h7_subjects:Raises", "RuntimeError: not today"),
        ("h7_subjects:Leaves", "SystemExit: 3"),
    ],
)
def test_what_cannot_be_used_is_said(here: Path, name: str, said: str) -> None:
    with pytest.raises(SubjectError, match=said):
        load_subject(name)
