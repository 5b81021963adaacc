"""`--storage`: what native code keeps of states, from the command line."""

from __future__ import annotations

from pathlib import Path

from .conftest import Thence

TWO = ("explore", "cykas", "--sends", "2", "--reductions", "none", "--property", "causal")


def test_by_layers_it_holds(thence: Thence) -> None:
    ran = thence(*TWO, "--storage", "layers", "--json")
    (found,) = ran.object["results"]
    assert (ran.code, found["verdict"], found["level"], found["storage"]) == (0, "holds", "L1", "layers")
    assert (found["states"], found["transitions"], found["depth"]) == (52_521, 221_934, 18)


def test_in_files_it_holds(thence: Thence, tmp_path: Path) -> None:
    ran = thence(*TWO, "--storage", "disk", "--memory", "4M", "--folder", str(tmp_path / "states"), "--json")
    (found,) = ran.object["results"]
    assert (ran.code, found["verdict"], found["level"], found["storage"]) == (0, "holds", "L1", "disk")
    assert (found["states"], found["transitions"], found["depth"]) == (52_521, 221_934, 18)
    assert [path.name for path in (tmp_path / "states").iterdir()] == []


def test_a_limited_search_goes_on(thence: Thence, tmp_path: Path) -> None:
    words = (*TWO, "--storage", "disk", "--folder", str(tmp_path / "states"))
    first = thence(*words, "--limit", "20000", "--json")
    assert (first.code, first.object["results"][0]["verdict"]) == (3, "unknown")
    assert [path.name for path in (tmp_path / "states").iterdir()] == ["cykas"]
    assert thence(*TWO[:-2], "--storage", "disk", "--folder", str(tmp_path / "states")).rejects("another search")
    (found,) = thence(*words, "--json").object["results"]
    assert (found["verdict"], found["states"], found["transitions"], found["depth"]) == ("holds", 52_521, 221_934, 18)


def test_a_damaged_search_has_no_verdict(thence: Thence, tmp_path: Path) -> None:
    words = (*TWO, "--storage", "disk", "--folder", str(tmp_path / "states"))
    assert thence(*words, "--limit", "20000").code == 3
    damaged = tmp_path / "states" / "cykas" / "known-17"
    content = bytearray(damaged.read_bytes())
    content[len(content) // 2] ^= 4
    damaged.write_bytes(content)
    assert thence(*words).rejects(f"{damaged} is damaged")


def test_a_violation_is_replayed(thence: Thence) -> None:
    words = ("explore", "cykas", "--mutant", "tells_too_early", "--sends", "2", "--property", "causal", "--json")
    exact, layers, disk = (
        thence(*words, "--storage", kept).object["results"][0] for kept in ("exact", "layers", "disk")
    )
    assert exact["verdict"] == layers["verdict"] == disk["verdict"] == "refuted"
    assert exact["counterexample"] == layers["counterexample"] != []
    assert len(disk["counterexample"]) == len(exact["counterexample"])


def test_what_cannot_be_stored_so(thence: Thence, tmp_path: Path) -> None:
    assert thence(*TWO, "--storage", "all").rejects("there are exact, layers, disk")
    assert thence(*TWO, "--storage", "fingerprints").rejects("there are exact, layers, disk")
    assert thence(*TWO, "--folder", "states").rejects("--folder is for --storage disk")
    (tmp_path / "taken").write_text("a file", encoding="utf-8")
    assert thence(*TWO, "--storage", "disk", "--folder", "taken").rejects("--folder taken: this is a file")
    assert thence("explore", "cykas", "--storage", "layers", "--cross-check").rejects("compares all states")
    assert thence("explore", "cykas", "--storage", "layers", "--engine", "interpreted", "--reductions", "none").rejects(
        "keeps every state"
    )
    words = ("explore", "hybrid_basic", "--engine", "native", "--property", "causal", "--storage", "layers")
    assert thence(*words).rejects("no sum of what is sent")
    words = ("explore", "hybrid_basic", "--engine", "native", "--property", "delivered", "--storage", "disk")
    assert thence(*words).rejects("`delivered` is about runs that never end")
