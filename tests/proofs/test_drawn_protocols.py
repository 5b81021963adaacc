"""The differential tests as a campaign: engines that differ are a finding, and workers get all that they need."""

from __future__ import annotations

import subprocess
import sys
from importlib import util
from pathlib import Path
from types import ModuleType

import pytest

from thence.proofs.explore.exploration import Exploration
from thence.proofs.native.engine import NativeEngine

FILE = Path(__file__).parents[2] / "bench" / "drawn_protocols.py"


@pytest.fixture(scope="module")
def drawn_protocols() -> ModuleType:
    spec = util.spec_from_file_location("drawn_protocols", FILE)
    assert spec is not None and spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("draw", ["protocols", "overlays", "programs"])
def test_engines_that_agree_have_no_findings(drawn_protocols: ModuleType, draw: str) -> None:
    case = drawn_protocols.runner({"draw": draw})
    outcomes = [case(seed) for seed in range(1_000, 1_004)]
    assert not any(outcome.findings for outcome in outcomes)
    assert {outcome.events for outcome in outcomes} <= {0, 1} and any(outcome.events for outcome in outcomes)
    assert case(1_000) == outcomes[0]


def test_an_engine_that_differs_is_a_finding(drawn_protocols: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    right = NativeEngine.run

    def wrong(engine: NativeEngine, *given: object) -> Exploration:
        found = right(engine, *given)  # type: ignore[arg-type]
        found.depth += 1
        return found

    case = drawn_protocols.runner({"draw": "protocols"})
    seed = next(seed for seed in range(1_000, 1_020) if case(seed).events)
    monkeypatch.setattr(NativeEngine, "run", wrong)
    (finding,) = case(seed).findings
    assert finding.startswith("engines differ: test_random_protocols.py:") and "depth" in finding


def test_workers_import_what_is_sent(drawn_protocols: ModuleType, tmp_path: Path) -> None:
    """From nothing but the file: the same bytes each time, so that a campaign goes on with it."""
    one, two = (Path(drawn_protocols.packed(tmp_path / name)) for name in ("one.zip", "two.zip"))
    assert one.read_bytes() == two.read_bytes()
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); import drawn_protocols as d; d.runner({'draw': 'overlays'})(7)"
    )
    subprocess.run([sys.executable, "-c", program, str(one)], cwd=tmp_path, check=True)
