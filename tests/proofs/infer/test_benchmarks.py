"""Machines of the literature: found and proved, and their mutants refuted by the shortest kind of run."""

from __future__ import annotations

import pytest

from thence.dsl import ir
from thence.dsl.find import specification
from thence.dsl.load import library
from thence.proofs.infer.search.inference import infer
from thence.proofs.infer.search.outcome import Inference, Limits
from thence.proofs.prove import prove_specification, solver_pool
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession
from thence.spec.verdict import Verdict

FOLDER = library()[0].parent / "benchmarks"
FILES = sorted(FOLDER.glob("*.thence"))
SOON = ("lock_server", "ricart_agrawala", "two_phase_commit", "peterson")
LATER = (
    "token_ring",
    "ticket_lock",
    "reliable_broadcast",
    "toy_consensus",
    "client_server_database",
    "distributed_lock",
    "quorum_register",
    "echo_broadcast",
    "firewall",
    "decentralized_lock",
    "consensus_epr",
    "german_cache",
    "szymanski",
    "hybrid_reliable_broadcast",
    "learning_switch",
    "two_phase_commit_states",
    "dijkstra_ring",
    "tricolor",
    "reusable_barrier",
    "quorum_commit",
    "mesi",
    "tree_reports",
    "dekker",
    "three_phase_commit",
    "hermes",
)


def inferred(machine: ir.Machine) -> Inference:
    options = Options(workers=1)
    with solver_pool(options) as pool:
        return infer(ProofSession(pool, options), machine, Limits(300.0), lambda _: None)


def machine_of(name: str) -> ir.Machine:
    (machine,) = specification(str(FOLDER / f"{name}.thence")).machines
    return machine


def test_there_are_thirty_five() -> None:
    assert len(FILES) == 35 and {*SOON, *LATER} < {file.stem for file in FILES}


@pytest.mark.parametrize("name", SOON)
def test_an_invariant_is_found(name: str) -> None:
    found = inferred(machine_of(name))
    assert found.proved and found.conjuncts
    assert all(each.verdict is Verdict.PROVED for each in found.assessments.values())


@pytest.mark.long
@pytest.mark.parametrize("name", LATER)
def test_an_invariant_is_found_in_time(name: str) -> None:
    assert inferred(machine_of(name)).proved


def assert_refuted(name: str) -> None:
    (mutant,) = specification(str(FOLDER / f"{name}.thence")).mutants
    assert isinstance(mutant.mutated, ir.Machine)
    found = inferred(mutant.mutated)
    (expected,) = mutant.expects
    assert found.refuted is not None and found.refuted.name in expected.names
    assert "is now false" in found.refuted.text


@pytest.mark.parametrize("name", ["lock_server", "ricart_agrawala"])
def test_a_mutant_is_refuted_by_a_run(name: str) -> None:
    assert_refuted(name)


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [
        "leader_ring",
        "toy_consensus",
        "quorum_register",
        "echo_broadcast",
        "german_cache",
        "mesi",
        "tree_reports",
        "dekker",
        "three_phase_commit",
        "hermes",
    ],
)
def test_a_mutant_is_refuted_in_time(name: str) -> None:
    assert_refuted(name)


@pytest.mark.long
def test_paxos_is_proved_and_its_mutants_are_refuted() -> None:
    content = specification(str(FOLDER / "paxos.thence"))
    results = prove_specification(content)
    (machine,) = content.machines
    mutants = {f"{mutant.name}: agreement" for mutant in content.mutants}
    verdicts = {each.name: each.verdict for each in results}
    assert len(mutants) == 4 and {name for name, each in verdicts.items() if each is Verdict.REFUTED} == mutants
    assert {each.name for each in machine.invariants} <= {
        name for name, each in verdicts.items() if each is Verdict.PROVED
    }
