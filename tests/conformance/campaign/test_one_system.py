"""The harness as the runner of campaigns."""

from __future__ import annotations

import shlex
import subprocess
import sys
import time
from collections.abc import Set
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from thence.conformance.campaign.case import load_runner, run_cases
from thence.conformance.campaign.one_system import campaign_runner
from thence.conformance.campaign.parameters import canonical_json
from thence.conformance.campaign.tally_rows import tally_rows
from thence.conformance.cases.network import Settings
from thence.conformance.cases.recorded_case import read_case
from thence.conformance.cases.schedule import Send
from thence.conformance.conform.rerun import rerun
from thence.conformance.harness.harness import run_case
from thence.conformance.systems.subject import SubjectError, load_subject
from thence.dsl.find import NotThere, Rejected, named_protocol, parted
from thence.dsl.load import SourceError
from thence.impl.dijkstra_scholten import DijkstraScholten
from thence.impl.mf import MF as MFImplementation

RUNNER = "thence.conformance.campaign.one_system:campaign_runner"
MF: dict[str, Any] = {"system": "thence.impl.mf:MF"}
HYBRID: dict[str, Any] = {
    "system": "thence.impl.hybrid_basic:HybridBasic",
    "protocol": "hybrid_basic",
    "scheduler": "portfolio",
}


def test_a_correct_system_passes_every_seed() -> None:
    run = load_runner(RUNNER, HYBRID)
    outcomes = [run(seed) for seed in range(60)]
    assert all(outcome.findings == () and outcome.operations_json is None for outcome in outcomes)
    assert [outcome.seed for outcome in outcomes] == list(range(60))
    assert {outcome.group for outcome in outcomes} == {"starve_one_channel", "uniform", "pct", "swarm", "guided"}
    assert len({outcome.digest for outcome in outcomes}) > 50


def test_a_case_depends_on_its_seed_alone() -> None:
    forwards, backwards = campaign_runner(HYBRID), campaign_runner(HYBRID)
    assert [forwards(seed) for seed in range(20)] == [backwards(seed) for seed in reversed(range(20))][::-1]


def test_a_failing_case_can_be_replayed() -> None:
    run = campaign_runner({"system": "faults.mf:NoAckWait", "operations": 20})
    failing = [outcome for outcome in map(run, range(60)) if outcome.findings]
    assert failing
    for outcome in failing:
        assert outcome.operations_json is not None
        recorded = read_case(outcome.operations_json)
        again = run_case(load_subject(recorded.system).make_process, recorded.operations, recorded.settings)
        assert tuple(map(str, again.findings)) == outcome.findings


@pytest.mark.long
def test_the_digest_does_not_depend_on_the_hash_seed() -> None:
    script = (
        f"from thence.conformance.campaign.one_system import campaign_runner\nrun = campaign_runner({HYBRID!r})\n"
        "print([run(seed).digest for seed in range(12)])"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", script], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("0", "5")
    }
    assert len(printed) == 1
    run = campaign_runner(HYBRID)
    assert printed.pop().strip() == str([run(seed).digest for seed in range(12)])


def test_the_network_is_the_protocols_unless_said_otherwise() -> None:
    faulty = {"system": "faults.hybrid_basic:NoAck", "operations": 20, "protocol": "hybrid_basic"}

    def settings_of(params: dict[str, Any]) -> Settings:
        stored = campaign_runner(params)(1).operations_json
        assert stored is not None
        return read_case(stored).settings

    assert settings_of(faulty) == Settings(loss=True, duplication=True)
    changed = {"loss": False, "processes": 4, "channels": "fifo"}
    assert settings_of({**faulty, **changed}) == Settings(4, "fifo", duplication=True)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"sytem": "x"}, "unknown parameter sytem"),
        ({"system": 3}, "module:Class"),
        ({"protocol": 3}, "a name or null"),
        ({"scheduler": "random"}, "starve_one_channel, uniform, pct, swarm, guided or portfolio"),
        ({"scheduler": ["pct"]}, "or portfolio"),
        ({"operations": 0}, "at least one"),
        ({"operations": True}, "at least one"),
        ({"processes": 0}, "at least one"),
        ({"channels": "lossy"}, "fifo or reordering"),
        ({"memory_limit_bytes": "2G"}, "a memory limit is '2G'"),
        ({"memory_limit_bytes": -1}, "a memory limit is -1"),
    ],
)
def test_impossible_parameters_are_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        campaign_runner({**MF, **change})


def test_a_protocol_that_is_not_there_is_said() -> None:
    with pytest.raises(SourceError, match="mf"):
        campaign_runner({**MF, "protocol": "nf"})


def test_a_system_that_cannot_be_used_is_said() -> None:
    with pytest.raises(SubjectError, match="no class FM; it has MF"):
        campaign_runner({"system": "thence.impl.mf:FM"})


def test_a_file_with_errors_has_no_protocol(tmp_path: Any) -> None:
    broken = tmp_path / "broken.thence"
    broken.write_text("protocol x\n")
    with pytest.raises(Rejected, match="has errors"):
        named_protocol(str(broken))
    several = tmp_path / "several.thence"
    several.write_text("# nothing\n")
    with pytest.raises(SourceError, match="declares nothing"):
        named_protocol(str(several))


def test_a_protocol_is_named_by_its_file_or_in_it(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert parted("mf") == ("mf", "") and parted("mf:as_is") == ("mf", "as_is") and parted("a:b/c") == ("a:b/c", "")
    assert named_protocol("mf:mf") == named_protocol("mf")
    with pytest.raises(NotThere, match="there is no protocol nf; did you mean mf"):
        named_protocol("mf:nf")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mf:mf").write_text("protocol x\n")
    assert parted("mf:mf") == ("mf:mf", "")


MISBEHAVING = shlex.join([sys.executable, str(Path(__file__).parents[1] / "systems" / "misbehaving.py")])


@pytest.mark.skipif(sys.platform != "linux", reason="memory is looked at on Linux only")
def test_a_program_of_a_campaign_has_its_limit_of_memory() -> None:
    system = {"system": f"exec:{MISBEHAVING} greedy 1", "reply_limit_s": 20, "scheduler": "uniform"}
    runner = campaign_runner({**system, "memory_limit_bytes": 200 * 2**20})
    try:
        [finding] = runner(0).findings
    finally:
        runner.close()
    assert finding.startswith("memory: ") and "200 MiB is the limit" in finding


class Sleeper(MFImplementation):
    """Takes for ever to receive, and swallows what it can."""

    def receive(self, sender: int, packet: Any) -> Any:
        try:
            time.sleep(30)
        except Exception:
            return []
        return super().receive(sender, packet)


class Wrapper(MFImplementation):
    """Takes for ever, and says something else when that ends."""

    def receive(self, sender: int, packet: Any) -> Any:
        try:
            time.sleep(30)
        except BaseException as error:
            raise RuntimeError("the queue is broken") from error
        return super().receive(sender, packet)


class Swallower(MFImplementation):
    """Takes for ever, and goes on as if nothing had been when that ends."""

    def receive(self, sender: int, packet: Any) -> Any:
        try:
            time.sleep(30)
        except BaseException:
            return super().receive(sender, packet)
        return []


@pytest.mark.long(but=("Sleeper", "Wrapper"))
@pytest.mark.parametrize("subject", [Sleeper, Wrapper, Swallower])
def test_a_class_that_is_over_its_limit_hangs_and_does_not_crash(subject: Any) -> None:
    [finding] = run_case(subject, (Send(0, 1),), Settings(), limit_s=0.2).findings
    assert (finding.kind, "gives no answer in 0.2 s" in finding.text) == ("hang", True)


@pytest.mark.long(but=("Sleeper", "Wrapper"))
@pytest.mark.parametrize("name", ["Sleeper", "Wrapper", "Swallower"])
def test_a_case_over_its_limit_has_no_outcome_and_is_no_failure(name: str) -> None:
    params = canonical_json({"system": f"{__name__}:{name}", "scheduler": "uniform"})
    [stream] = run_cases(RUNNER, params, 0.3, range(2))
    rows = pa.ipc.open_stream(stream).read_all()
    tally = tally_rows(rows)
    assert (tally.errors, tally.failures) == (2, 0)
    assert rows.column("error").to_pylist() == ["CaseTimeout: no outcome after 0.3 s"] * 2
    assert set(tally.cells) == {(f"{__name__}:{name}", "uniform")}


def test_claims_and_strictness_are_parameters() -> None:
    """What is not claimed fails no case; another order than the text's fails strictly."""
    late = {"system": "textbook.vector_clocks:Late", "delivery": "broadcast"}
    assert not any(outcome.findings for outcome in map(campaign_runner(late), range(20)))
    found = [finding for outcome in map(campaign_runner({**late, "prompt": True}), range(20))
             for finding in outcome.findings]  # fmt: skip
    assert found and all(finding.startswith("over_delay: ") for finding in found)
    ordered = {"system": "textbook.vector_clocks:Sorted", "protocol": "cbcast", "operations": 20}
    assert not any(outcome.findings for outcome in map(campaign_runner(ordered), range(60)))
    strictly = [outcome for outcome in map(campaign_runner({**ordered, "strict": True}), range(60)) if outcome.findings]
    assert strictly and strictly[0].operations_json is not None
    assert rerun(read_case(strictly[0].operations_json)).kinds == {"nonconformance"}
    with pytest.raises(ValueError, match="strict is True"):
        campaign_runner({**late, "strict": True})


class Deaf(DijkstraScholten):
    """It does not listen to what it is told of its neighbors."""

    def __init__(self, identity: int, processes: int, neighbors: Set[int] | None = None) -> None:
        super().__init__(identity, processes)


def test_the_links_of_an_overlay_are_parameters() -> None:
    links = [[0, 1], [1, 0], [1, 2], [2, 1]]
    shipped = {"system": "thence.impl.dijkstra_scholten:DijkstraScholten", "protocol": "dijkstra_scholten"}
    deaf = {**shipped, "system": f"{__name__}:Deaf"}
    failing = {}
    for name, params in (("all", deaf), ("given", {**deaf, "links": links}), ("shipped", {**shipped, "links": links})):
        outcomes = [each for each in map(campaign_runner(params), range(20)) if each.findings]
        failing[name] = len(outcomes)
        for outcome in outcomes[:3]:
            assert outcome.operations_json is not None
            recorded = read_case(outcome.operations_json)
            assert recorded.settings.links == tuple(map(tuple, links))
            assert tuple(map(str, rerun(recorded).findings)) == outcome.findings
    assert failing["all"] == failing["shipped"] == 0 < failing["given"]
    with pytest.raises(SubjectError, match="the network of mf is none"):
        campaign_runner({**MF, "protocol": "mf", "links": links})
