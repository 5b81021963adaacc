"""Files found and read: the library by bare name, and everything that is not a file of the language."""

from __future__ import annotations

from pathlib import Path

import pytest

from thence.dsl.load import SourceError, benchmarks, library, load, load_bytes, locate

SMALL = "theory t:\n  sort message\n  relation sent: message\n"


def test_library() -> None:
    assert [path.stem for path in library()] == sorted(path.stem for path in library())
    assert {"cykas", "execution", "hybrid_basic", "mf", "rst"} <= {path.stem for path in library()}


@pytest.mark.long(but=("cykas_printed", "hybrid_basic_printed", "hybrid_multicast_printed", "happens_before"))
@pytest.mark.parametrize("path", library(), ids=lambda path: path.stem)
def test_library_files_have_nothing_to_complain_about(path: Path) -> None:
    assert load(path.stem).specification is not None
    assert load(path.stem).diagnostics == ()
    assert locate(f"{path.stem}.thence") == locate(path.stem) == path


def test_machines_of_the_literature_are_named_with_their_folder() -> None:
    assert benchmarks() and not set(benchmarks()) & set(library())
    for path in benchmarks():
        assert locate(f"benchmarks/{path.stem}") == locate(f"benchmarks/{path.name}") == path


def test_a_file_in_the_folder_goes_before_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mf.thence").write_text(SMALL, encoding="utf-8")
    assert locate("mf.thence") == Path("mf.thence")
    loaded = load("mf.thence")
    assert loaded.specification is not None
    assert [theory.name for theory in loaded.specification.theories] == ["t"]
    Path("benchmarks").mkdir()
    Path("benchmarks", "paxos.thence").write_text(SMALL, encoding="utf-8")
    assert locate("benchmarks/paxos.thence") == Path("benchmarks/paxos.thence")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("cikas", "did you mean cykas?"),
        ("peterson", "did you mean benchmarks/peterson?"),
        ("benchmarks/petersen", "did you mean benchmarks/peterson?"),
        ("zzzzzzzzz", "the library has .*cykas,"),
        ("nothing.thence", "there is no file nothing.thence"),
        ("./cykas", "there is no file ./cykas"),
        ("no/such/file", "there is no file no/such/file"),
        (".", "is a directory"),
        ("", "is a directory"),
        ("bad\0name", "there is no file"),
        ("x" * 5000, "cannot be read: File name too long"),
    ],
    ids=lambda value: value[:12],
)
def test_what_is_no_file(name: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SourceError, match=reason.replace("?", r"\?")):
        load(name)


def test_a_file_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "secret.thence"
    path.write_text(SMALL, encoding="utf-8")

    def refuse(_: Path, _mode: str) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(SourceError, match=r"secret\.thence cannot be read: Permission denied"):
        load(str(path))


@pytest.mark.parametrize("content", [b"\xff\xfe\x00p", b"protocol", b"\x00" * 40, b"protocol x:\n\tfoo"], ids=repr)
def test_faults_of_the_text_are_diagnostics(content: bytes) -> None:
    loaded = load_bytes(Path("some.thence"), content)
    assert loaded.path == Path("some.thence")
    assert loaded.specification is None
    assert loaded.diagnostics
    assert {diagnostic.file for diagnostic in loaded.diagnostics} == {"some.thence"}


def test_faults_of_syntax_and_of_types_stand_together() -> None:
    text = "theory t:\n  sort message\n  relation sent: massage\n  property p: forall m. sent(m) and m\n"
    loaded = load_bytes(Path("some.thence"), text.encode())
    assert loaded.specification is None
    assert {diagnostic.span.line for diagnostic in loaded.diagnostics} >= {3}
    assert loaded.source.file == "some.thence"
