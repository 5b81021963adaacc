"""The recording of the first ten minutes follows the README."""

from __future__ import annotations

from pathlib import Path

from thence.pages.recording import PAGE, Recording, commands_of

ROOT = Path(__file__).parents[2]


def test_the_readme_gives_the_commands_in_its_order() -> None:
    commands = [command for command, _ in commands_of((ROOT / "README.md").read_text(encoding="utf-8"))]
    assert commands[:2] == ["cat numbered.thence", "thence explore numbered.thence --sends 2,1,0"]
    assert commands[2:] == ["cat eager.py", "thence conform --impl eager:Eager"]


def test_a_session_is_written_down_with_times_and_exit_codes(tmp_path: Path) -> None:
    session = Recording(tmp_path)
    assert session.run("sh -c 'echo here; exit 3'") == 3
    assert session.lines[0] == "00:00 $ sh -c 'echo here; exit 3'"
    assert session.lines[1] == "here"
    assert session.lines[2].startswith("[exit code 3, ")


def test_the_kept_recording_has_every_command_of_the_readme_and_no_path_of_a_machine() -> None:
    kept = (ROOT / "docs" / "tutorial" / PAGE).read_text(encoding="utf-8")
    commands = [command for command, _ in commands_of((ROOT / "README.md").read_text(encoding="utf-8"))]
    assert all(f" $ {command}\n" in kept for command in commands)
    assert "/tmp/" not in kept
