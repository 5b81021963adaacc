"""A changed certificate is found out: one byte anywhere, and changes by somebody who computes all sums anew."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from thence.proofs.certificate.forms.json_form import compact
from thence.proofs.certificate.reading import NotACertificate, read
from thence.proofs.certificate.recheck import Thoroughness
from thence.proofs.certificate.smtinterpol import Smtinterpol
from thence.spec.verdict import Level, Verdict

Forge = Callable[[Path], Any]


def files_of(directory: Path) -> list[Path]:
    return sorted(path for path in directory.rglob("*") if path.is_file())


def test_an_untouched_certificate_has_no_faults(spread: Path) -> None:
    assert read(spread).faults == ()


@settings(
    derandomize=True,
    deadline=None,
    max_examples=150,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_one_changed_byte_anywhere_is_found(spread: Path, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(files_of(spread)), label="file")
    content = path.read_bytes()
    offset = data.draw(st.integers(0, len(content) - 1), label="offset")
    changed = content[offset] ^ data.draw(st.integers(1, 255), label="flipped")
    try:
        path.write_bytes(content[:offset] + bytes([changed]) + content[offset + 1 :])
        try:
            faults = read(spread).faults
        except NotACertificate:
            faults = ("another format, or none",)
    finally:
        path.write_bytes(content)
    assert faults != ()


@pytest.mark.parametrize("change", ["removed", "added", "renamed", "emptied", "linked"])
def test_files_that_are_not_as_written_are_found(forge: Forge, spread: Path, change: str) -> None:
    forged = forge(spread)
    path = forged.directory / "proofs" / "0001.alethe"
    match change:
        case "removed":
            path.unlink()
        case "added":
            (path.parent / "more.txt").write_text("more", encoding="utf-8")
        case "renamed":
            path.rename(path.with_name("0009.alethe"))
        case "emptied":
            path.write_bytes(b"")
        case _:
            elsewhere = forged.directory.parent / "elsewhere"
            path.rename(elsewhere)
            path.symlink_to(elsewhere)
    assert forged.recheck().faults
    if change != "emptied":
        forged.sum()
        assert forged.recheck().faults


def drop(files: list[str], statement: int = 0) -> Callable[[dict[str, Any]], None]:
    """Takes obligations out of the manifest."""

    def change(value: dict[str, Any]) -> None:
        listed = value["statements"][statement]["obligations"]
        value["statements"][statement]["obligations"] = [file for file in listed if file not in files]
        value["obligations"] = [each for each in value["obligations"] if each["file"] not in files]

    return change


def unproved(value: dict[str, Any]) -> None:
    """Takes the proof objects of the first obligation out of the manifest."""
    value["obligations"][0]["proofs"] = {}
    value["statements"][0]["level"] = "L3"


def remove_objects(forged: Any, number: str) -> None:
    for path in (forged.directory / "proofs").glob(f"{number}.*"):
        path.unlink()


def test_a_dropped_obligation_is_found_although_all_sums_are_right(forge: Forge, spread: Path) -> None:
    forged = forge(spread)
    (forged.directory / "obligations" / "0002.smt2").unlink()
    remove_objects(forged, "0002")
    forged.sign(drop(["obligations/0002.smt2"]))
    found = forged.recheck()
    assert any("needs the obligation `step direct`, which is not listed" in fault for fault in found.faults)
    assert not any(confirmation.confirmed for confirmation in found.confirmations)


@pytest.mark.parametrize(
    "added",
    ["(assert false)\n", "(assert (not (f0 k0)))\n"],
    ids=["contradiction", "hypothesis"],
)
def test_an_added_hypothesis_is_found_although_all_sums_are_right(forge: Forge, spread: Path, added: str) -> None:
    forged = forge(spread)
    forged.replace("obligations/0001.smt2", "(check-sat)", f"{added}(check-sat)")
    remove_objects(forged, "0001")
    forged.sign(unproved)
    assert any("is not an obligation that its source gives" in fault for fault in forged.recheck().faults)


def test_without_derivation_an_added_hypothesis_is_not_found_and_that_is_said(forge: Forge, spread: Path) -> None:
    forged = forge(spread)
    forged.replace("obligations/0001.smt2", "(check-sat)", "(assert false)\n(check-sat)")
    remove_objects(forged, "0001")
    forged.sign(unproved)
    found = forged.recheck(Thoroughness(rederived=False))
    assert found.faults == ()
    assert any(note.startswith("NOT confirmed (--no-rederive)") for note in found.notes)
    assert {(each.verdict, each.level) for each in found.confirmations} == {(Verdict.UNKNOWN, Level.L2)}
    assert not found.confirmed


def test_a_weakened_goal_is_found(forge: Forge, spread: Path) -> None:
    forged = forge(spread)
    text = forged.text("obligations/0001.smt2")
    goal = next(line for line in text.splitlines() if "; the goal" in line)
    forged.replace("obligations/0001.smt2", goal, "(assert (not true)) ; the goal claim")
    remove_objects(forged, "0001")
    forged.sign(unproved)
    assert any("is not an obligation that its source gives" in fault for fault in forged.recheck().faults)


def test_a_satisfiable_obligation_is_found(forge: Forge, spread: Path) -> None:
    forged = forge(spread)
    text = forged.text("obligations/0001.smt2")
    goal = next(line for line in text.splitlines() if "; the goal" in line)
    forged.replace("obligations/0001.smt2", goal, "(assert true) ; the goal claim")
    remove_objects(forged, "0001")
    forged.sign(unproved)
    assert any("is satisfiable" in fault for fault in forged.recheck(Thoroughness(rederived=False)).faults)


def test_a_weakened_source_is_found(forge: Forge, spread: Path) -> None:
    forged = forge(spread)
    weaker = "implies good(a)\n  property all_good"
    forged.replace("sources/spread.thence", "implies good(b)\n  property all_good", weaker)
    forged.sign()
    assert any(
        "needs the obligation `claim gives all_reached`, which is not listed" in fault
        for fault in forged.recheck().faults
    )


def test_an_id_of_something_else_is_found(forge: Forge, spread: Path) -> None:
    forged = forge(spread)
    other = forged.manifest()["statements"][1]["id"]
    forged.sign(lambda value: value["statements"][0].update(id=other, says=["prove all_good"]))
    faults = forged.recheck().faults
    assert any(
        "its id, its words or what it rests on are not those of what its source says" in fault for fault in faults
    )


def test_a_source_that_does_not_parse_is_a_fault(forge: Forge, spread: Path) -> None:
    forged = forge(spread)
    forged.replace("sources/spread.thence", "sort node", "sort node node")
    forged.sign()
    assert any("spread.thence:4" in fault for fault in forged.recheck().faults)


def test_a_refuted_theorem_is_not_passed_off_as_proved(forge: Forge, spread: Path) -> None:
    forged = forge(spread)

    def change(value: dict[str, Any]) -> None:
        proved, refuted = value["statements"]
        refuted |= {"verdict": "proved", "obligations": proved["obligations"], "level": proved["level"]}

    forged.sign(change)
    faults = forged.recheck().faults
    assert any("everything_is_good: by its source it is refuted" in fault for fault in faults)


def test_a_forged_result_or_level_is_found(forge: Forge, spread: Path) -> None:
    forged = forge(spread)
    forged.sign(lambda value: value["statements"][1].update(level="L4"))
    assert any("L4 is not what its obligations give" in fault for fault in forged.recheck().faults)


def test_an_altered_execution_is_found(forge: Forge, spread: Path) -> None:
    forged = forge(spread)
    for path in (forged.directory / "evidence").iterdir():
        value = json.loads(path.read_text(encoding="utf-8"))
        value["tables"]["good"] = [[*row[:-1], not row[-1]] for row in value["tables"]["good"]]
        path.write_bytes(compact(value))
    forged.sum()
    value = forged.manifest()
    assert sum(len(statement["evidence"]) for statement in value["statements"]) == 3
    assert any("the proof id is not" in fault for fault in forged.recheck().faults)
    forged = Forged(forged)
    forged.sign_evidence()
    faults = forged.forgery.recheck().faults
    assert sum("the execution does not show it" in fault for fault in faults) == 2


class Forged:
    """An attacker who also computes the proof ids of statements that rest on evidence."""

    def __init__(self, forgery: Any) -> None:
        self.forgery = forgery

    def sign_evidence(self) -> None:
        from hashlib import sha256

        from thence.proofs.certificate.manifest import proof_id

        def change(value: dict[str, Any]) -> None:
            for statement in value["statements"]:
                if not statement["obligations"]:
                    shown = [each["file"] for each in statement["evidence"] if each["shows"] != "needed"]
                    hashes = [sha256(self.forgery.text(file).encode()).hexdigest() for file in shown]
                    statement["proof_id"] = proof_id(statement["id"], Verdict(statement["verdict"]), hashes)

        self.forgery.sign(change)


def test_evidence_that_was_taken_out_is_missed(forge: Forge, spread: Path) -> None:
    forged = forge(spread)

    def change(value: dict[str, Any]) -> None:
        for evidence in value["statements"][0]["evidence"]:
            (forged.directory / evidence["file"]).unlink()
        value["statements"][0]["evidence"] = []

    forged.sign(change)
    assert any("there is no run in which" in fault for fault in forged.recheck().faults)


@pytest.mark.parametrize("file", ["CITATION.cff", "citation.bib", "TRUST.md", "README.md"])
def test_an_altered_citation_or_list_is_found(forge: Forge, spread: Path, file: str) -> None:
    forged = forge(spread)
    path = forged.directory / file
    path.write_text(path.read_text(encoding="utf-8") + "more\n", encoding="utf-8")
    forged.sum()
    assert forged.recheck().faults == (f"{file} is not what manifest.json gives",)


def test_a_manifest_in_another_layout_is_found(forge: Forge, spread: Path) -> None:
    forged = forge(spread)
    (forged.directory / "manifest.json").write_text(json.dumps(forged.manifest()), encoding="utf-8")
    forged.sum()
    assert forged.recheck().faults == ("manifest.json is not written as Thence writes it",)


def test_commands_that_could_speak_for_a_solver_are_refused(forge: Forge, spread: Path) -> None:
    forged = forge(spread)
    forged.replace("obligations/0001.smt2", "(check-sat)", '(echo "unsat")\n(check-sat)')
    forged.sign()
    assert any("not a command of an obligation" in fault for fault in forged.recheck().faults)


def test_swapped_proof_objects_are_found(forge: Forge, spread: Path, checker: Smtinterpol) -> None:
    forged = forge(spread)
    first, second = (forged.directory / "proofs" / f"000{number}.resolute" for number in (1, 2))
    kept = first.read_bytes()
    assert kept != second.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(kept)
    forged.sum()
    faults = forged.recheck().faults
    assert {fault.partition(" is not a proof")[0] for fault in faults} == {
        "proofs/0001.resolute",
        "proofs/0002.resolute",
    }


def test_a_forged_assumption_is_found(forge: Forge, spread: Path, checker: Smtinterpol) -> None:
    forged = forge(spread)
    (forged.directory / "proofs" / "0001.resolute").write_text("unsat\n(assume false)\n", encoding="utf-8")
    forged.sum()
    assert any("0001.resolute is not a proof" in fault for fault in forged.recheck().faults)


def test_a_proof_object_that_nobody_checks_raises_no_level_and_that_is_said(forge: Forge, spread: Path) -> None:
    forged = forge(spread)
    forged.replace("proofs/0002.alethe", ":rule", ":rule hole :was")
    forged.sum()
    found = forged.recheck()
    assert found.faults == ()
    assert any("3 proof objects in cvc5's own format (Alethe) are not checked" in note for note in found.notes)


def test_without_the_checker_forged_proofs_are_not_found_and_raise_no_level(forge: Forge, spread: Path) -> None:
    forged = forge(spread)
    if not (forged.directory / "proofs" / "0001.resolute").is_file():
        pytest.skip("the proof checker is not installed: make checker")
    (forged.directory / "proofs" / "0001.resolute").write_text("unsat\n(assume false)\n", encoding="utf-8")
    forged.sum()
    found = forged.recheck(Thoroughness(proofs=False))
    assert found.faults == ()
    assert {confirmation.level.name for confirmation in found.confirmations} == {"L3", "L2"}
    assert any("were not checked" in note for note in found.notes)


def test_another_format_is_not_read(forge: Forge, spread: Path) -> None:
    forged = forge(spread)
    forged.replace("manifest.json", "thence-certificate/3", "thence-certificate/4")
    forged.sum()
    with pytest.raises(NotACertificate, match=r"the format thence-certificate/4; Thence .* reads thence-certificate/3"):
        forged.recheck()


def test_what_another_version_wrote_is_confirmed_where_it_agrees(forge: Forge, spread: Path) -> None:
    forged = forge(spread)
    forged.sign(lambda value: value.update(thence="0.0.1"))
    found = forged.recheck()
    assert found.faults == ()
    assert all(each.confirmed for each in found.confirmations)
    assert any("written by Thence 0.0.1" in note for note in found.notes)


def test_what_another_version_derives_differently_is_unknown_and_no_crash(forge: Forge, spread: Path) -> None:
    forged = forge(spread)
    (forged.directory / "obligations" / "0002.smt2").unlink()
    remove_objects(forged, "0002")

    def change(value: dict[str, Any]) -> None:
        drop(["obligations/0002.smt2"])(value)
        value["thence"] = "0.0.1"

    forged.sign(change)
    found = forged.recheck()
    assert found.faults == ()
    first = found.confirmations[0]
    assert not first.confirmed
    assert "written by Thence 0.0.1; this version derives something else" in first.reasons[0]
