"""What a statement without obligations must have: the right kind of evidence, evaluated, for everything it says."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from thence.dsl.load import load
from thence.proofs.certificate.manifest import CertifiedStatement, Evidence
from thence.proofs.certificate.reading import Reading, read
from thence.proofs.certificate.rederive import rederive
from thence.proofs.certificate.statement import subject_of
from thence.proofs.solving.discharge import Options
from thence.spec.verdict import Verdict


def alone(reading: Reading, statement: CertifiedStatement) -> Reading:
    """The certificate with this statement only."""
    assert reading.manifest is not None
    return Reading(reading.files, replace(reading.manifest, statements=(statement,), obligations=()), ())


def faults_of(reading: Reading, statement: CertifiedStatement) -> tuple[str, ...]:
    (difference,) = rederive(alone(reading, statement), {}, Options(workers=1)).differences.values()
    return difference.faults


@pytest.fixture(scope="module")
def reading(plain: Path) -> Reading:
    return read(plain)


def statement(reading: Reading, name: str) -> CertifiedStatement:
    assert reading.manifest is not None
    return next(each for each in reading.manifest.statements if each.name == name)


def test_runs_show_what_they_are_said_to_show(reading: Reading) -> None:
    assert faults_of(reading, statement(reading, "vacuity")) == ()
    assert faults_of(reading, statement(reading, "causal")) == ()


def test_every_transition_needs_a_run(reading: Reading) -> None:
    vacuity = statement(reading, "vacuity")
    for left_out in vacuity.evidence:
        less = replace(vacuity, evidence=tuple(each for each in vacuity.evidence if each != left_out))
        what = left_out.name if left_out.shows == "possible" else f"{left_out.name} happens"
        assert faults_of(reading, less) == (f"there is no run in which {what}",)


def test_a_run_for_one_transition_is_none_for_another(reading: Reading) -> None:
    vacuity = statement(reading, "vacuity")
    first, second = (each for each in vacuity.evidence if each.shows == "happens")
    swapped = (replace(first, file=second.file), replace(second, file=first.file))
    assert any("does not end with" in fault for fault in faults_of(reading, replace(vacuity, evidence=swapped)))


def test_a_refutation_needs_a_run(reading: Reading) -> None:
    causal = statement(reading, "causal")
    assert faults_of(reading, replace(causal, evidence=())) == ("there is no execution or run that refutes it",)


def test_an_invariant_is_not_proved_by_runs(reading: Reading) -> None:
    causal, vacuity = statement(reading, "causal"), statement(reading, "vacuity")
    forged = replace(causal, verdict=Verdict.PROVED, evidence=vacuity.evidence)
    assert "a statement of this kind is not proved by executions or runs" in faults_of(reading, forged)


def test_evidence_that_belongs_to_something_else_is_a_fault(reading: Reading) -> None:
    history = replace(
        statement(reading, "history"),
        verdict=Verdict.REFUTED,
        obligations=(),
        evidence=(Evidence("refuted", "", statement(reading, "causal").evidence[0].file),),
    )
    assert any("is no such evidence" in fault for fault in faults_of(reading, history))


@pytest.mark.parametrize(
    ("kind", "subject", "name"),
    [
        ("theorem", "plain", "causal"),
        ("machine", "nothing", "causal"),
        ("machine", "plain", "nothing"),
        ("mutant", "plain", "nothing: causal"),
    ],
)
def test_what_the_source_does_not_state_is_a_fault(reading: Reading, kind: str, subject: str, name: str) -> None:
    forged = replace(statement(reading, "causal"), kind=kind, subject=subject, name=name)  # type: ignore[arg-type]
    assert faults_of(reading, forged) == ("its source has no such statement",)


def test_a_statement_says_what_it_is_about_in_words(plain: Path) -> None:
    specification = load(str(plain / "sources" / "plain.thence")).specification
    assert specification is not None
    manifest = json.loads((plain / "manifest.json").read_text(encoding="utf-8"))
    says = {each["name"]: each["says"] for each in manifest["statements"]}
    assert says["sent_first"] == ["in every reachable state, sent_first: forall m. delivered(m) implies sent(m)"]
    assert says["at_most_once"][0].startswith("whenever deliver happens, at_most_once: ")
    subject = subject_of(specification, "machine", "plain", "sent_first")
    assert subject is not None
    assert list(subject.says) == says["sent_first"]
