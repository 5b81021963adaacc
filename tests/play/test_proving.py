"""Proofs in the player: verdicts, countermodels as runs, the states around a step that breaks an invariant."""

from __future__ import annotations

import re
from typing import Any

import pytest

from thence.dsl.find import NotThere
from thence.dsl.load import Loaded, load, load_bytes
from thence.play.backend.places import BadQuestion
from thence.play.proving import prove, run_of


def without(*invariants: str) -> Loaded:
    """FIFO by sequence numbers, whose machine lacks these invariants."""
    loaded = load("fifo")
    start, end = (loaded.source.text.index(each) for each in ("machine sequence_numbers", "mutant any_larger_number"))
    text = loaded.source.text[start:end]
    for name in invariants:
        text = re.sub(rf"^  invariant {name}: .*\n(?:    .*\n)*", "", text, flags=re.MULTILINE)
    return load_bytes(loaded.path, text.encode())


def proved(loaded: Loaded, name: str) -> dict[str, dict[str, Any]]:
    told: list[Any] = []
    answer = prove(loaded, {"name": name}, told.append)
    assert told and all("obligations" in each["said"] for each in told)
    return {each["name"]: each for each in answer["results"]}


def test_what_is_proved_has_no_run_and_what_is_refuted_has_one_that_violates_it() -> None:
    found = proved(load("fifo"), "sequence_numbers")
    assert (found["fifo"]["verdict"], found["fifo"]["level"], found["fifo"]["run"]) == ("proved", "L3", None)
    causal = found["causal"]
    run = causal["run"]
    assert causal["verdict"] == "refuted" and run["frozen"]
    kinds = [[event[0] for event in step["events"]] for step in run["steps"]]
    assert kinds.count(["send"]) >= 3 and kinds[-1] == ["deliver"]
    assert run["steps"][-1]["violations"][0]["property"] == "causal"
    assert all("violations" not in step for step in run["steps"][:-1])
    for packet in run["packets"]:
        assert run["steps"][packet[4] - 1]["events"][0][:3] == ["send", packet[2], packet[1]]
        if packet[5] is not None:
            assert run["steps"][packet[5] - 1]["events"][0] == ["deliver", packet[3], packet[1]]


@pytest.mark.long
def test_a_step_that_breaks_an_invariant_has_the_state_before_it_and_what_it_changes() -> None:
    found = proved(without("from_one", "increasing", "counted"), "sequence_numbers")
    shown = [each for each in found.values() if each["verdict"] == "unknown" and each["run"] is not None]
    assert shown, {name: each["verdict"] for name, each in found.items()}
    steps = shown[0]["run"]["steps"]
    assert steps[-1]["title"].startswith("the step that breaks it: ")
    before = [line for step in steps for line in step["details"] if line.startswith("before: ")]
    after = [line for line in steps[-1]["details"] if line.startswith("changes: ") or line == "nothing changes"]
    assert before and after
    assert "so it is not inductive" in steps[-1]["violations"][0]["text"]


def test_a_step_that_nobody_sees_stands_in_its_place() -> None:
    executed = {
        "processes": 1,
        "events": [
            {"event": "send", "process": 0, "message": "m1", "destinations": [0]},
            {"event": "deliver", "process": 0, "message": "m1"},
        ],
    }
    steps = [
        {"step": "causal_send(m1)", "changes": ["sent(m1)"]}, {"step": "forget(p0)", "changes": []},
        {"step": "deliver(m1)", "changes": ["delivered(m1)"]},
    ]  # fmt: skip
    found = {"kind": "run", "steps": steps, "violated": {"kept": {"p": "p0"}}, "execution": executed}
    run = run_of("kept", found)
    assert run is not None
    assert [step["process"] for step in run["steps"]] == [0, None, 0]
    assert run["packets"] == [["message", "m1", 0, 0, 1, 3, None, "m1"]]
    assert run["steps"][-1]["violations"][0]["text"] == "false with p = p0"
    assert run_of("kept", {"kind": "run", "steps": steps}) is None


def test_what_cannot_be_proved_is_an_error_of_the_user() -> None:
    with pytest.raises(NotThere, match="there is no theorem or machine nobody"):
        prove(load("fifo"), {"name": "nobody"}, print)
    with pytest.raises(BadQuestion):
        prove(load("fifo"), {}, print)
    with pytest.raises(BadQuestion, match="the text has errors"):
        prove(load_bytes(load("fifo").path, b"machine x:\n  y\n"), {"name": "x"}, print)
