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
