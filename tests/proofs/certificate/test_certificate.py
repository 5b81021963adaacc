"""What a certificate has in it, where it is written, and that it is the same every time."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from thence.dsl.load import load
from thence.proofs.certificate.build import Certificate, NotCertified, certificate
from thence.proofs.certificate.manifest import schema
from thence.proofs.certificate.reading import NotACertificate, read
from thence.proofs.certificate.recheck import recheck
from thence.proofs.certificate.smtinterpol import Smtinterpol
from thence.proofs.certificate.writing import write
from thence.proofs.machine.goals import Falsification
from thence.proofs.machine.prover import statement_formula
from thence.proofs.prove import proofs
from thence.proofs.solving.assessment import POSSIBLE
from thence.proofs.solving.discharge import Options
from thence.spec.verdict import Level, Verdict

Certify = Callable[..., tuple[Certificate, Path]]


def manifest(directory: Path) -> dict[str, Any]:
    value = json.loads((directory / "manifest.json").read_text(encoding="utf-8"))
    assert isinstance(value, dict)
    return value


def test_the_manifest_keeps_to_its_schema_and_names_every_file(spread: Path) -> None:
    value = manifest(spread)
    jsonschema.Draft202012Validator.check_schema(schema())
    jsonschema.Draft202012Validator(schema()).validate(value)
    proved, refuted = value["statements"]
    assert (proved["verdict"], refuted["verdict"]) == ("proved", "refuted")
    assert len(proved["obligations"]) == 3
    assert [each["shows"] for each in (*proved["evidence"], *refuted["evidence"])] == [
        "needed",
        "possible",
        "refuted",
    ]
    assert proved["says"][0].startswith("assume kept: forall a, b.")
    assert value["programs"]["cvc5"]["version"] == version("cvc5")
    listed = (spread / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    there = {path.relative_to(spread).as_posix() for path in spread.rglob("*") if path.is_file()}
    assert {line.partition("  ")[2] for line in listed} == there - {"SHA256SUMS"}


def test_the_same_proofs_give_the_same_bytes(spread: Path, certify: Certify, tmp_path: Path) -> None:
    text = (spread / "sources" / "spread.thence").read_text(encoding="utf-8")
    _, again = certify("spread", text)
    assert again != spread
    files = sorted(path.relative_to(spread) for path in spread.rglob("*") if path.is_file())
    assert files == sorted(path.relative_to(again) for path in again.rglob("*") if path.is_file())
    assert [file for file in files if (spread / file).read_bytes() != (again / file).read_bytes()] == []


def test_another_release_of_a_solver_leaves_the_ids_and_the_verdict(
    spread: Path, certify: Certify, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A certificate that another patch release of Z3 wrote is confirmed here, with the same ids."""
    released = {"z3": "4.0.0.1", "cvc5": version("cvc5")}
    with monkeypatch.context() as other:
        other.setattr("thence.proofs.certificate.solver_results.solver_version", released.__getitem__)
        text = (spread / "sources" / "spread.thence").read_text(encoding="utf-8")
        _, written = certify("spread", text)
    assert manifest(written)["programs"]["z3"]["version"] == "4.0.0.1" != manifest(spread)["programs"]["z3"]["version"]
    ids = [[each["id"] for each in manifest(place)["statements"]] for place in (spread, written)]
    assert ids[0] == ids[1]
    there, here = recheck(written, Options(), None), recheck(spread, Options(), None)
    assert there.faults == here.faults == ()
    assert there.confirmations == here.confirmations
    assert [each.verdict for each in there.confirmations] == [Verdict.PROVED, Verdict.REFUTED]


def test_with_a_checker_what_is_proved_has_level_4(spread: Path, checker: Smtinterpol) -> None:
    found = recheck(spread, Options(), checker)
    assert found.faults == ()
    assert [note for note in found.notes if "Alethe" not in note] == []
    assert [(each.verdict, each.level) for each in found.confirmations] == [
        (Verdict.PROVED, Level.L4),
        (Verdict.REFUTED, Level.L2),
    ]
    assert found.confirmations[0].proofs_checked == 3


def test_without_a_checker_no_level_is_4_and_that_is_said(spread: Path) -> None:
    found = recheck(spread, Options(), None)
    assert found.faults == ()
    assert [each.level for each in found.confirmations] == [Level.L3, Level.L2]
    if any("resolute" in each["proofs"] for each in manifest(spread)["obligations"]):
        assert any("the checker is not installed" in note for note in found.notes)


def test_one_solver_is_level_2(spread: Path) -> None:
    found = recheck(spread, Options(solvers=("cvc5",)), None)
    assert found.faults == ()
    assert {each.level for each in found.confirmations} == {Level.L2}


def test_solvers_that_have_no_time_confirm_nothing(spread: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from thence.proofs.certificate import recheck as module

    undecided = tuple({"z3": "unknown", "cvc5": "unknown"} for _ in manifest(spread)["obligations"])
    monkeypatch.setattr(module, "solve", lambda texts, options, note: undecided)
    found = recheck(spread, Options(), None)
    assert not found.confirmations[0].confirmed
    assert "is not decided here" in found.confirmations[0].reasons[0]
    assert any("decided when the certificate was written, and not now" in note for note in found.notes)


@pytest.mark.long
def test_a_machine_is_certified_with_runs_and_refutations(plain: Path) -> None:
    found = recheck(plain, Options(), None)
    assert found.faults == ()
    verdicts = {each.statement.name: each.verdict for each in found.confirmations}
    assert verdicts == {
        "history": Verdict.PROVED,
        "sent_first": Verdict.PROVED,
        "no_creation": Verdict.PROVED,
        "at_most_once": Verdict.PROVED,
        "causal": Verdict.REFUTED,
        "vacuity": Verdict.PROVED,
    }
    shown = {
        each["name"]: [(evidence["shows"], evidence["name"]) for evidence in each["evidence"]]
        for each in manifest(plain)["statements"]
    }
    assert shown["causal"] == [("refuted", "")]
    assert sorted(shown["vacuity"]) == [("happens", "causal_send"), ("happens", "deliver"), ("possible", POSSIBLE)]
    assert shown["sent_first"] == [("possible", POSSIBLE)]


@pytest.mark.long(but=("invented",))
@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda run: run["steps"].pop(), "does not end with a violation of causal"),
        (lambda run: run["steps"].reverse(), "is not enabled"),
        (lambda run: run["steps"][0].update(transition="invented"), "is no transition of plain"),
        (lambda run: run["steps"][0].update(arguments=[99]), "an element that there is not"),
        (lambda run: run["tables"]["sent"][0].__setitem__(-1, True), "does not begin in an initial state"),
        (lambda run: run["tables"]["src"][0].__setitem__(-1, 99), "has a value that is not a process"),
        (lambda run: run["tables"].pop("hb"), "does not have exactly the symbols"),
        (lambda run: run["tables"]["hb"].pop(), "exactly the tuples of the universe"),
    ],
    ids=["shorter", "backwards", "invented", "nobody", "start", "value", "table", "row"],
)
def test_a_run_that_is_none_is_no_evidence(plain: Path, change: Callable[[Any], Any], fault: str) -> None:
    from thence.proofs.certificate.evaluation import Budget, check_machine_run
    from thence.proofs.certificate.evidence import FalseEvidence, run_of
    from thence.proofs.certificate.forms.json_form import compact
    from thence.proofs.certificate.statement import subject_of

    statement = next(each for each in manifest(plain)["statements"] if each["name"] == "causal")
    run = json.loads((plain / statement["evidence"][0]["file"]).read_text(encoding="utf-8"))
    specification = load(str(plain / "sources" / "plain.thence")).specification
    assert specification is not None
    subject = subject_of(specification, "machine", "plain", "causal")
    assert subject is not None and subject.machine is not None
    goals = (Falsification(statement_formula(subject.machine, "causal")),)
    check_machine_run(subject.machine, goals, run_of(subject.machine, compact(run)), Budget())
    change(run)
    with pytest.raises(FalseEvidence, match=fault):
        check_machine_run(subject.machine, goals, run_of(subject.machine, compact(run)), Budget())


def test_nothing_is_certified_where_nothing_is_proved(tmp_path: Path) -> None:
    source = tmp_path / "open.thence"
    theory = (
        "theory t:\n  sort s\n  relation r: s\n  axiom no: exists a. r(a) and not r(a)\n  property p: forall a. r(a)\n"
    )
    source.write_text(f"{theory}theorem x in t:\n  prove p\n", encoding="utf-8")
    loaded = load(str(source))
    assert loaded.specification is not None, loaded.diagnostics
    with pytest.raises(NotCertified, match="nothing was proved or refuted"):
        certificate(loaded, tuple(proofs(loaded.specification)), Options(), None)


def test_another_certificate_in_its_place_is_replaced_and_nothing_else_is(spread: Path, tmp_path: Path) -> None:
    made = Certificate(manifest=None, files={each: (spread / each).read_bytes() for each in files_of(spread)})  # type: ignore[arg-type]
    place = tmp_path / "place"
    write(made, place)
    assert read(place).faults == ()
    write(made, place)
    assert read(place).faults == ()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["place"]
    (place / "mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(NotCertified, match="something else in it"):
        write(made, place)
    assert (place / "mine.txt").is_file()
    with pytest.raises(NotCertified, match="is a file"):
        write(made, place / "mine.txt")
    with pytest.raises(NotCertified, match="there is no folder"):
        write(made, tmp_path / "no" / "place")
    (tmp_path / "empty").mkdir()
    write(made, tmp_path / "empty")
    assert read(tmp_path / "empty").faults == ()


@pytest.mark.parametrize("at", [1, 2])
def test_an_interrupt_while_one_is_replaced_leaves_the_old_one(
    spread: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    """Ctrl-C comes just before the first or the second of two renamings."""
    made = Certificate(manifest=None, files={each: (spread / each).read_bytes() for each in files_of(spread)})  # type: ignore[arg-type]
    place = tmp_path / "place"
    write(made, place)
    rename, calls = Path.rename, list[Path]()

    def interrupted(path: Path, target: Path) -> Path:
        calls.append(path)
        if len(calls) == at:
            raise KeyboardInterrupt
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(made, place)
    assert read(place).faults == ()
    assert [path.name for path in tmp_path.iterdir()] == ["place"]


def files_of(directory: Path) -> list[str]:
    return [path.relative_to(directory).as_posix() for path in sorted(directory.rglob("*")) if path.is_file()]


def test_what_is_no_certificate_is_not_read(tmp_path: Path) -> None:
    with pytest.raises(NotACertificate, match="there is no directory"):
        read(tmp_path / "nothing")
    with pytest.raises(NotACertificate, match=r"has no manifest\.json"):
        read(tmp_path)
    (tmp_path / "manifest.json").write_text('{"format": "something"}', encoding="utf-8")
    with pytest.raises(NotACertificate, match="does not say that it is a certificate"):
        read(tmp_path)
    (tmp_path / "manifest.json").write_text("[" * 100_000, encoding="utf-8")
    assert any("is not JSON" in fault for fault in read(tmp_path).faults)
