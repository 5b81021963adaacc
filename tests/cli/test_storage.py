"""`--storage`: what native code keeps of states, from the command line."""

from __future__ import annotations

from .conftest import Thence

TWO = ("explore", "cykas", "--sends", "2", "--reductions", "none", "--property", "causal")


def test_by_layers_it_holds(thence: Thence) -> None:
    ran = thence(*TWO, "--storage", "layers", "--json")
    (found,) = ran.object["results"]
    assert (ran.code, found["verdict"], found["level"], found["storage"]) == (0, "holds", "L1", "layers")
    assert (found["states"], found["transitions"], found["depth"]) == (52_521, 221_934, 18)


def test_a_violation_is_replayed(thence: Thence) -> None:
    words = ("explore", "cykas", "--mutant", "tells_too_early", "--sends", "2", "--property", "causal", "--json")
    exact, layers = (thence(*words, "--storage", kept).object["results"][0] for kept in ("exact", "layers"))
    assert exact["verdict"] == layers["verdict"] == "refuted"
    assert exact["counterexample"] == layers["counterexample"] != []


def test_what_cannot_be_stored_so(thence: Thence) -> None:
    assert thence(*TWO, "--storage", "all").rejects("there are exact, layers")
    assert thence(*TWO, "--storage", "fingerprints").rejects("there are exact, layers")
    assert thence("explore", "cykas", "--storage", "layers", "--cross-check").rejects("compares all states")
    assert thence("explore", "cykas", "--storage", "layers", "--engine", "interpreted", "--reductions", "none").rejects(
        "keeps every state"
    )
    words = ("explore", "hybrid_basic", "--engine", "native", "--property", "causal", "--storage", "layers")
    assert thence(*words).rejects("no sum of what is sent")
