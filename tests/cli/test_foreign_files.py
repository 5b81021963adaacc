"""Files that somebody sends: nothing in them is run, and nothing outside of them is read or written, unasked.

Each input kind gets a file made by an adversary, in a folder of its own; beside it lies what must stay as it is. What a
command does with the file is looked at from outside: a canary that code in the file would make, and the reader's files.
"""

from __future__ import annotations

import gzip
import json
import os
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from thence.conformance.campaign.case import SCHEMA, SeedOutcome, row_digest, words_of
from thence.conformance.campaign.parameters import CampaignParameters
from thence.conformance.campaign.store import create, write_batch
from thence.conformance.campaign.tally_rows import tally_rows
from thence.conformance.cases.recorded_case import read_case
from thence.conformance.conform.rerun import pytest_file
from thence.conformance.mutation.edits import Edit
from thence.conformance.mutation.fate import Fate
from thence.conformance.mutation.mutants import Mutant
from thence.conformance.mutation.store import Store
from thence.conformance.replay.findings import CaseFinding
from thence.dsl.text.syntax import Span

from .conftest import Ran, Thence

CANARY = "canary"
OWN = "the reader's own\n"
RUNNER = "thence.conformance.campaign.one_system:campaign_runner"


@dataclass(frozen=True)
class Desk:
    """The reader's folder: `sent` is the adversary's, the rest is the reader's own."""

    place: Path

    @property
    def sent(self) -> Path:
        return self.place / "sent"

    @property
    def own(self) -> Path:
        return self.place / "own.txt"

    @property
    def systems(self) -> list[str]:
        """Names of systems that make the canary, each in its way."""
        canary = self.place / CANARY
        return [
            f"exec:touch {canary}",
            f"exec-per-process:touch {canary}",
            f"exec:sh -c 'touch {canary}'",
            "spoil:Spoil",
            "isolated:spoil:Spoil",
        ]

    def case(self, system: str, **other: Any) -> dict[str, Any]:
        operations = [["send", 0, 1], ["receive", 0]]
        fields = {"system": system, "protocol": None, "settings": {"processes": 2}, "operations": operations}
        return {"format": "thence-case/1", **fields, **other}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = Desk(tmp_path)
    made.sent.mkdir()
    made.own.write_text(OWN)
    spoil = f"import pathlib\npathlib.Path({str(tmp_path / CANARY)!r}).touch()\n"
    # In the current directory, beside the file, and under names that are imported anyway.
    for name in ("spoil.py", "hypothesis.py", "jinja2.py", "sitecustomize.py", "thence.py"):
        (tmp_path / name).write_text(spoil)
        (made.sent / name).write_text(spoil)
    return made


@contextmanager
def untouched(desk: Desk) -> Iterator[None]:
    """Asserts that nothing but `sent` changes meanwhile."""

    def seen() -> dict[str, bytes | None]:
        paths = [path for path in desk.place.rglob("*") if not path.is_relative_to(desk.sent)]
        return {
            str(path): path.read_bytes() if path.is_file() else None
            for path in paths
            if "__pycache__" not in path.parts
        }

    before = seen()
    yield
    assert not (desk.place / CANARY).exists(), "code that came with a file was run"
    assert seen() == before


def refused(ran: Ran) -> bool:
    return ran.code == 2 and "Traceback" not in ran.err and "defect" not in ran.err


# --- what would be run -----------------------------------------------------------------------------


def test_a_recorded_case_runs_nothing_unasked(desk: Desk, thence: Thence) -> None:
    for system in desk.systems:
        (desk.sent / "case.json").write_text(json.dumps(desk.case(system)))
        for more in ([], ["--json"], ["--svg", "sent/a.svg"], ["--transcript", "sent/t.ndjson"]):
            with untouched(desk):
                ran = thence("conform", "--replay", "sent/case.json", *more)
            said = ran.out if "--json" in more else ran.err
            assert refused(ran) and "Nothing was run" in said and "--trust-file" in said
            assert system.partition(":")[2].split("'")[0].strip() in said, "it says what would be run"


def test_the_readers_word_runs_it(desk: Desk, thence: Thence) -> None:
    system = desk.systems[0]
    (desk.sent / "case.json").write_text(json.dumps(desk.case(system)))
    thence("conform", "--replay", "sent/case.json", "--trust-file")
    assert (desk.place / CANARY).exists()
    (desk.place / CANARY).unlink()
    with untouched(desk):
        ran = thence("conform", "--replay", "sent/case.json", "--impl", "thence.impl.rst:RST")
    assert ran.code in (0, 3), "the system that the reader names takes the place of the file's"


def test_own_implementations_and_protocols_need_no_word(desk: Desk, thence: Thence) -> None:
    for system in ("thence.impl.rst:RST", "protocol:rst"):
        (desk.sent / "case.json").write_text(json.dumps(desk.case(system)))
        with untouched(desk):
            assert thence("conform", "--replay", "sent/case.json").code in (0, 3)


@pytest.mark.parametrize("name", ["thence.impl.rst:RST", "rst"])
def test_the_current_directory_shadows_no_module(desk: Desk, thence_process: Thence, name: str) -> None:
    words = ["--impl", name] if ":" in name else [name]
    with untouched(desk):
        assert thence_process("conform", *words, "--cases", "2", "--operations", "3").code in (0, 3)


def test_schedules_from_a_case_run_its_operations_alone(desk: Desk, thence: Thence) -> None:
    (desk.sent / "case.json").write_text(json.dumps(desk.case(desk.systems[0])))
    with untouched(desk):
        assert thence("conform", "rst", "--cases", "2", "--schedules-from", "sent/case.json").code in (0, 3)


def campaign(desk: Desk, system: str, findings: tuple[str, ...] = ("causal: wrong",), **other: Any) -> Path:
    """A campaign with a finished batch and one that is missing, as its maker would have it."""
    params = {"system": system, "protocol": None}
    parameters = CampaignParameters(**{"runner": RUNNER, "params": params, "cases": 4, "batch": 2, **other})
    place = desk.sent / "campaign"
    create_folder(place, parameters)
    rows = [
        {
            "seed": seed, "system": system, "group": "", "events": 1,
            "digest": row_digest(SeedOutcome(seed, 1, findings, system=system), None), "findings": list(findings),
            "error": None, "operations": json.dumps(desk.case(system)), "covered": words_of(0), "states": [],
            "vacuous": False,
        }
        for seed in range(2)
    ]  # fmt: skip
    table = pa.Table.from_pylist(rows, schema=SCHEMA)
    write_batch(place, parameters, range(2), table, tally_rows(table), 1.0)
    return place


def create_folder(place: Path, parameters: CampaignParameters) -> None:
    place.mkdir(exist_ok=True)
    create(place, parameters, {})


def test_a_campaigns_folder_runs_nothing_unasked(desk: Desk, thence: Thence) -> None:
    for number, system in enumerate(desk.systems):
        place = campaign(desk, system)
        with untouched(desk):
            assert thence("campaign", "status", place).code == 1
            for words in (["resume", place], ["report", place], ["report", place, "--html", "sent/p.html"]):
                ran = thence("campaign", *words)
                assert refused(ran) and "Nothing was run" in ran.err
            assert thence("campaign", "report", place, "--no-shorten").code in (0, 1)
        place.rename(desk.sent / f"done{number}")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("runner", "spoil:runner"),
        ("py_files", ("sent/spoil.py",)),
        ("archives", ("sent/spoil.zip#there",)),
        ("master", "spark://elsewhere:7077"),
        ("master", "local[*] --conf spark.driver.extraJavaOptions=x"),
        ("params", {"systems": [{"system": "thence.impl.mf:MF"}, {"system": "spoil:Spoil"}]}),
    ],
)
def test_a_campaigns_settings_run_nothing_unasked(desk: Desk, thence: Thence, field: str, value: Any) -> None:
    place = campaign(desk, "thence.impl.rst:RST", **{field: value})
    with untouched(desk):
        ran = thence("campaign", "resume", place)
    assert refused(ran) and "Nothing was run" in ran.err and "--trust-file" in ran.err


def test_a_list_of_systems_runs_nothing_unasked(desk: Desk, thence: Thence) -> None:
    for system in desk.systems:
        (desk.sent / "list.json").write_text(json.dumps([{"system": "thence.impl.mf:MF"}, {"system": system}]))
        with untouched(desk):
            ran = thence("campaign", "start", "runs", "--systems", "sent/list.json")
        assert refused(ran) and "Nothing was run" in ran.err


# --- what would be read or written elsewhere ---------------------------------------------------------


@pytest.mark.parametrize("name", ["lock", "spark.log", "batches", "campaign.json", "causes"])
def test_a_campaigns_links_lead_nowhere(desk: Desk, thence: Thence, name: str) -> None:
    place = campaign(desk, "protocol:rst")
    target = desk.place / "elsewhere"
    target.mkdir()
    (target / "1.json").write_text(OWN)
    path = place / name
    if path.is_dir():
        path.rename(desk.sent / "away")
    path.unlink(missing_ok=True)
    path.symlink_to(target if name in ("batches", "causes") else desk.own)
    with untouched(desk):
        for words in (["resume", place], ["report", place, "--no-shorten"]):
            ran = thence("campaign", *words)
            if name == "causes" and words[0] == "resume":
                continue
            assert refused(ran) and "symbolic link" in ran.err


def test_a_batch_of_another_shape_is_damaged(desk: Desk, thence: Thence) -> None:
    place = campaign(desk, "protocol:rst")
    [batch] = (place / "batches").iterdir()
    metadata = pq.read_metadata(batch).metadata
    pq.write_table(pa.table({"seed": [0, 1]}).replace_schema_metadata(metadata), batch)
    for words in (["status", place], ["report", place, "--no-shorten"]):
        ran = thence("campaign", *words)
        assert ran.code in (1, 2) and "Traceback" not in ran.err and "defect" not in ran.err
    manifest = json.loads((place / "campaign.json").read_text())
    for spoilt in ([], {}, {**manifest, "parameters": 1}, {"format": manifest["format"]}, "x"):
        (place / "campaign.json").write_text(json.dumps(spoilt))
        assert refused(thence("campaign", "status", place))


def test_a_store_of_fates_writes_through_no_link(desk: Desk) -> None:
    mutant = Mutant(1, "protocol", "own", Edit("skip", Span(1, 1, 1, 2), "", "x"), "", "text", "own.py")
    store = Store(desk.sent, "protocol", "own", "")
    store.keep(mutant, Fate("killed", "x"), 1.0)
    [kept] = desk.sent.glob("*.ndjson")
    assert len(store.read()) == 1
    kept.unlink()
    kept.symlink_to(desk.own)
    with untouched(desk):
        for touch in (store.read, lambda: store.keep(mutant, Fate("killed", "x"), 1.0)):
            with pytest.raises(OSError, match="symbolic"):
                touch()


def test_a_folder_of_recordings_leads_nowhere(desk: Desk, thence: Thence) -> None:
    folder = desk.sent / "recordings"
    folder.mkdir()
    (folder / "a.ndjson").symlink_to(desk.own)
    assert refused(thence("trace", "check", folder))
    (folder / "a.ndjson").unlink()
    os.mkfifo(folder / "b.ndjson")
    ran = thence("trace", "check", folder)
    assert refused(ran) and "not a regular file" in ran.err


def test_what_is_written_is_written_beside_and_not_through_a_link(desk: Desk, thence: Thence) -> None:
    header = '{"format": "thence-trace/1", "processes": 1}\n'
    (desk.sent / "t.ndjson").write_text(header)
    (desk.sent / ".out.json.1").symlink_to(desk.own)
    (desk.sent / f".out.json.{os.getpid()}").symlink_to(desk.own)
    (desk.sent / "out.json").symlink_to(desk.own)
    with untouched(desk):
        assert thence("trace", "convert", "sent/t.ndjson", "-o", "sent/out.json", "--to", "itf").code == 0
    assert not (desk.sent / "out.json").is_symlink()


def test_a_protocol_that_is_a_device_ends(desk: Desk, thence: Thence) -> None:
    for name in ("/dev/zero", "sent"):
        (desk.sent / "case.json").write_text(json.dumps(desk.case("protocol:rst", protocol=name)))
        assert refused(thence("conform", "--replay", "sent/case.json"))


def test_the_cache_of_the_grammar_is_not_code(
    desk: Desk, thence_process: Thence, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(desk.sent))
    assert thence_process("check", "mf").code == 0
    [kept] = (desk.sent / "thence").glob("grammar-*")
    kept.write_bytes(pickle.dumps(Touch(desk.place / CANARY)))
    kept.with_suffix(".pickle").write_bytes(pickle.dumps(Touch(desk.place / CANARY)))
    with untouched(desk):
        assert thence_process("check", "mf").code == 0


class Touch:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return (Path.touch, (self.path,))


# --- bombs -------------------------------------------------------------------------------------------


def deep(depth: int = 100_000) -> str:
    return "[" * depth + "]" * depth


def objects(depth: int = 100_000) -> str:
    return '{"a":' * depth + "1" + "}" * depth


BOMBS: dict[str, Callable[[], bytes]] = {
    "deep": lambda: deep().encode(),
    "objects": lambda: objects().encode(),
    "deep enough": lambda: deep(900).encode(),
    "itf": lambda: f'{{"vars": ["event"], "states": [{{"event": {deep(900)}}}]}}'.encode(),
    "itf processes": lambda: (
        b'{"#meta": {"processes": 1000000000000}, "vars": ["event"], '
        b'"states": [{"event": {"event": "send", "process": 0, "message": "m", "destinations": [0]}}]}'
    ),
    "itf negative": lambda: (
        b'{"#meta": {"processes": -1}, "vars": ["event"], '
        b'"states": [{"event": {"event": "send", "process": 0, "message": "m", "destinations": [0]}}]}'
    ),
    "number": lambda: b"9" * 1_000_000,
    "trace number": lambda: b'{"format": "thence-trace/1", "processes": ' + b"9" * 100_000 + b"}",
    "trace deep": lambda: b'{"format": "thence-trace/1", "processes": 2}\n' + deep().encode(),
    "shiviz": lambda: b'p0 {"p0": 1' + b" {" * 100_000,
    "edn": lambda: b'{:process 0 :type :ok :f :send :value "' + b"\\ " * 200_000,
    "otlp": lambda: (
        b'{"resourceSpans": [{"resource": ' + objects(900).encode() + b', "scopeSpans": [{"spans": [1]}]}]}'
    ),
    "jepsen": lambda: b'[{"process": 0, "type": "ok", "f": "send", "value": ' + deep(900).encode() + b"}]",
    "gzip": lambda: gzip.compress(b"\0" * 50_000_000),
    "gzip cut": lambda: gzip.compress(b'{"format": "thence-trace/1", "processes": 2}\n' * 99)[:40],
    "random": lambda: Random(1).randbytes(10_000),
}


@pytest.mark.parametrize("name", sorted(BOMBS))
def test_a_bomb_is_refused(desk: Desk, thence: Thence, name: str) -> None:
    (desk.sent / "file.json").write_bytes(BOMBS[name]())
    commands = [
        ["trace", "check"],
        ["trace", "draw"],
        ["conform", "--replay"],
        ["run", "mf", "--scope", "two", "--replay"],
    ]
    commands += [["conform", "rst", "--cases", "1", "--schedules-from"], ["campaign", "start", "x", "--systems"]]
    for words in commands:
        with untouched(desk):
            ran = thence(*words, "sent/file.json")
        assert refused(ran), (words, ran.err[-2000:])


# --- names -------------------------------------------------------------------------------------------

EVIL = "\x1b[2J\x07\x9b31m\u202eevil\u2066\r\nall as expected<script>alert(1)</script>\"'&--></title>"


def test_names_give_no_orders_to_the_terminal_and_no_scripts_to_the_browser(desk: Desk, thence: Thence) -> None:
    late = f"late{EVIL}"
    lines = [
        {"format": "thence-trace/1", "processes": 2},
        {"event": "send", "process": 0, "message": EVIL, "destinations": [1]},
        {"event": "send", "process": 0, "message": late, "destinations": [1]},
        {"event": "deliver", "process": 1, "message": late},
        {"event": "deliver", "process": 1, "message": EVIL},
    ]
    name = "sent/x\x1b[31m\nall as expected.ndjson"
    (desk.place / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    commands = [["check", name], ["check", name, "--json"], ["check", "sent"], ["draw", name], ["draw", name, "--json"]]
    commands += [["check", name, "--svg", "sent/a.svg"], ["draw", name, "--svg", "sent/b.svg"], ["check", f"{name}x"]]
    commands += [["check", name, "--against", "rst"], ["convert", name, "-o", "sent/c", "--to", "shiviz"]]
    for words in commands:
        ran = thence("trace", *words)
        for letter in "\x1b\x07\x9b\u202e\u2066\r":
            assert letter not in ran.out + ran.err, (words, letter)
        assert not any(line.startswith("all as expected") for line in (ran.out + ran.err).splitlines()), words
    for picture in ("a.svg", "b.svg"):
        text = (desk.sent / picture).read_text(encoding="utf-8")
        assert "<script" not in text and "\x1b" not in text


def test_a_report_has_no_scripts_of_others(desk: Desk, thence: Thence) -> None:
    place = campaign(desk, "protocol:rst", findings=(f"causal: {EVIL}",))
    ran = thence("campaign", "report", place, "--no-shorten")
    assert ran.code in (0, 1) and "\x1b" not in ran.out
    page = (place / "report.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page


def test_a_pytest_file_holds_names_as_texts(desk: Desk) -> None:
    """What a foreign system says becomes part of a file of Python, and none of its code."""
    canary = desk.place / CANARY
    attack = f'"""\nimport pathlib; pathlib.Path({str(canary)!r}).touch()\n"""\\'
    case = read_case(json.dumps(desk.case(f"exec:{attack}{EVIL}\0")))
    for text in (attack, f"{attack}\0{EVIL}", attack[:-1], '"', "\\", "\ud800"):
        made = pytest_file(case, [CaseFinding("causal", 0, text, 0)])
        exec(compile(made, "test_made.py", "exec"), {"__name__": "made"})
        assert not canary.exists()
