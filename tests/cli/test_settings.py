"""`--setting`: lines of a scope from the command line; liveness is never judged up to symmetry."""

from __future__ import annotations

from .conftest import Thence


def test_settings_change_the_scope(thence: Thence) -> None:
    ran = thence("explore", "mf", "--setting", "processes 2", "--setting", "sends 2, 0", "--setting", "fifo", "--json")
    assert ran.code == 0
    scope = ran.object["results"][0]["scope"]
    assert (scope["processes"], scope["sends"], scope["fifo"]) == (2, [2, 0], True)


def test_programs_from_the_command_line(thence: Thence) -> None:
    programs = ("--setting", "program 0: send to 1; receive", "--setting", "program 1: send to 0; receive")
    found = thence("explore", "synchronous", *programs, "--property", "completes", "--json").object
    assert found["results"][0]["scope"]["programs"][0] == [["send", [1]], ["receive", []]]


def test_settings_that_are_none(thence: Thence) -> None:
    assert thence("explore", "mf", "--setting", "lossy 1").rejects("did you mean `losses`?")
    assert thence("run", "mf", "--setting", "sends 1, 2").rejects("2 numbers")
    assert thence("explore", "mf", "--scope", "figure_8", "--sends", "2").rejects("programs")


def test_liveness_is_not_judged_up_to_symmetry(thence: Thence) -> None:
    words = ("explore", "cykas", "--scope", "starvation", "--json")
    plain, reduced = (thence(*words, *more).object["results"][0] for more in (("--reductions", "none"), ()))
    assert plain["verdict"] == reduced["verdict"] == "refuted"
    assert plain["states"] == reduced["states"]
    assert not reduced.get("reductions")
    assert "symmetry" in reduced["refused"] and "refused" not in plain


def test_nothing_is_expected_of_a_mutant_in_another_scope(thence: Thence) -> None:
    """A scope that its expectations do not name: whatever comes out is told, and is no surprise."""
    words = ("explore", "cykas", "--mutant", "as_printed_for_every_process", "--sends", "4,0,1", "--property", "causal")
    found = thence(*words, "--json")
    assert found.code == 0
    assert [one["verdict"] for one in found.object["results"]] == ["refuted"]
    assert all(one["expected"] and one["claimed"] is False for one in found.object["results"])
    assert "NOT EXPECTED" not in thence(*words).out
    named = thence("explore", "cykas", "--mutant", "as_printed_for_every_process", "--sends", "3,0,1", "--json").object
    assert all("claimed" not in one for one in named["results"])
