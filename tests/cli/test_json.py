"""`--json`: one object on stdout that the schema allows, for every command, whatever happens."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

Thence = Callable[..., Any]

GOOD = [
    ["check", "mf"],
    ["fmt", "--check", "mf"],
    ["run", "cykas", "--seed", "3"],
    ["explore", "mf", "--scope", "one"],
    ["explore", "mf", "--mutant", "posts_at_once"],
    ["explore", "rst", "--processes", "2", "--sends", "1"],
    ["prove", "execution", "csps_implies_sps"],
    ["export", "mf", "--scope", "one"],
    ["export", "mf", "buffers"],
    ["conform", "mf", "--impl", "thence.impl.mf:MF", "--cases", "20"],
    ["matrix", "mf", "--cases", "8"],
    ["cover", "mf", "--cases", "10"],
    ["executions", "--processes", "2", "--messages", "2"],
    ["mutate", "mf", "mf", "--limit", "3"],
    ["conform", "--impl", "thence.impl.mf:MF", "--cases", "20"],
]

BAD = [
    [],
    ["conform", "--exec", "cat"],
    ["nothing"],
    ["check"],
    ["check", "."],
    ["check", "nothing"],
    ["fmt", "nothing"],
    ["run", "mf", "--bogus"],
    ["explore", "mf", "--scope", "nothing"],
    ["explore", "mf", "--limit", "many"],
    ["prove", "mf", "nothing"],
    ["conform", "mf", "--impl", "nothing:X"],
    ["conform", "--exec", "no-such-program"],
    ["export", "mf", "nothing"],
    ["export", "mf"],
    ["export", "mf", "buffers", "--scope", "one"],
    ["trace"],
    ["trace", "check", "nothing"],
    ["trace", "draw", "nothing"],
    ["matrix", "nothing"],
    ["matrix"],
    ["cover", "execution"],
    ["mutate", "nothing"],
    ["mutate", "mf", "nothing"],
    ["campaign", "start", "c", "--protocol", "nothing"],
    ["campaign", "resume", "nothing"],
    ["campaign", "status", "nothing"],
    ["campaign", "report", "nothing"],
    ["verify", "nothing"],
]


def test_the_schema_is_a_schema() -> None:
    schema = json.loads((files("thence.cli") / "schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    assert schema["additionalProperties"] is False


PAGE = (Path(__file__).parents[2] / "docs/reference/json.md").read_text(encoding="utf-8")


def quoted(text: str) -> list[str]:
    """What stands in backquotes."""
    return re.findall(r"`([^`]+)`", text)


def are_named(found: dict[str, Any]) -> bool:
    """Whether the page names all fields of the object and of its results."""
    there = {*found, *(name for result in found["results"] for name in result)}
    assert there - {*quoted(PAGE)} == set()
    return True


def test_the_page_names_every_field() -> None:
    schema = json.loads((files("thence.cli") / "schema.json").read_text(encoding="utf-8"))
    said = {*quoted(PAGE)}
    for part in (schema, *(schema["$defs"][name] for name in ("result", "scope", "diagnostic"))):
        assert [name for name in part["properties"] if name not in said] == []


def test_every_field_of_the_page_is_there() -> None:
    schema = json.loads((files("thence.cli") / "schema.json").read_text(encoding="utf-8"))
    rows = re.findall(r"^\| ([^|]+) \|", PAGE.split("Some commands")[0], re.MULTILINE)
    names = [name for row in rows for name in quoted(row)]
    assert len(names) > 10
    assert [name for name in names if name not in schema["properties"]] == []


@pytest.mark.parametrize("name", ["kind", "verdict", "level"])
def test_the_page_names_every_word(name: str) -> None:
    schema = json.loads((files("thence.cli") / "schema.json").read_text(encoding="utf-8"))
    (row,) = re.findall(rf"^\| `{name}` \| (.*) \|$", PAGE, re.MULTILINE)
    there = schema["$defs"]["result"]["properties"][name]["enum"]
    assert [*dict.fromkeys(word for word in quoted(row) if word in there)] and {*there} <= {None, *quoted(row)}


@pytest.mark.long(
    but=(
        "conform --impl thence.impl.mf:MF --cases 20",
        "fmt --check mf",
        "check mf",
        "explore mf --mutant posts_at_once",
    )
)
@pytest.mark.parametrize("words", GOOD, ids=" ".join)
def test_good(thence: Thence, words: list[str]) -> None:
    ran = thence(*words, "--json")
    found = ran.object
    assert ran.code in (0, 1) and ran.err == ""
    assert " ".join(words).startswith(found["command"])
    assert "error" not in found and are_named(found)
    assert found["results"] or words[0] in ("check", "fmt", "export", "executions")


@pytest.mark.long(but=("campaign status nothing", "check nothing", "fmt nothing", "no command"))
@pytest.mark.parametrize("words", BAD, ids=lambda words: " ".join(words) or "no command")
def test_bad(thence: Thence, words: list[str]) -> None:
    ran = thence(*words, "--json")
    found = ran.object
    assert ran.code == 2 and ran.err == ""
    assert found["error"] and found["results"] == []


def test_diagnostics(thence: Thence, tmp_path: Path) -> None:
    (tmp_path / "x.thence").write_text("protocol p\n  on causal_send(m):\n    deliver n\n")
    for command in ("check", "explore", "prove", "fmt", "verify"):
        found = thence(
            command, "x.thence", "--json", *(["--campaign-cases", "0"] if command == "verify" else [])
        ).object
        assert found["exit"] == 2
        assert found["diagnostics"][0]["code"] == "E0103"
        assert found["diagnostics"][0]["line"] == 1


def test_traces(thence: Thence, tmp_path: Path) -> None:
    (tmp_path / "t.ndjson").write_text(
        '{"format": "thence-trace/1", "processes": 2}\n'
        '{"event": "send", "process": 0, "message": "a", "destinations": [1]}\n'
        '{"event": "send", "process": 0, "message": "b", "destinations": [1]}\n'
        '{"event": "deliver", "process": 1, "message": "b"}\n'
        '{"event": "deliver", "process": 1, "message": "a"}\n'
    )
    checked = thence("trace", "check", "t.ndjson", "--json")
    assert checked.code == 1
    assert checked.object["results"][0]["causal"] is False and are_named(checked.object)
    assert "b" in thence("trace", "draw", "t.ndjson", "--json").object["diagram"]
    assert thence("trace", "draw", "t.ndjson", "--svg", "t.svg", "--json").object["svg"] == "t.svg"
    assert (tmp_path / "t.svg").read_text(encoding="utf-8").startswith("<svg")


def test_one_exploration_has_one_set_of_counts(thence: Thence) -> None:
    results = thence("explore", "mf", "--scope", "one", "--json").object["results"]
    assert {(result["states"], result["transitions"], result["depth"]) for result in results} == {(216, 648, 9)}
    assert {result["property"] for result in results} >= {"causal", "fifo", "delivered", "fault"}


def test_a_counterexample_replays(thence: Thence, tmp_path: Path) -> None:
    explored = thence("explore", "rst", "--mutant", "no_merge", "--scope", "two", "--property", "causal", "--json")
    (tmp_path / "found.json").write_text(explored.out)
    again = thence("run", "rst", "--mutant", "no_merge", "--scope", "two", "--replay", "found.json", "--json")
    (result,) = again.object["results"]
    assert again.code == 1
    assert result["verdict"] == "refuted" and "causal" in result["violated"]
    assert result["steps"] == explored.object["results"][0]["counterexample"]
    straight = thence("run", "rst", "--scope", "two", "--replay", "found.json")
    assert straight.code == 2
    assert "is not possible here" in straight.err


@pytest.mark.parametrize(
    "content", ["", "[1]", "{}", '{"results": 3}', '{"results": [{"counterexample": [{}]}]}', "\x00", "[" * 100_000]
)
def test_broken_replay(thence: Thence, tmp_path: Path, content: str) -> None:
    (tmp_path / "r.json").write_text(content)
    assert thence("run", "mf", "--replay", "r.json").rejects()


def test_conform_replays(thence: Thence, tmp_path: Path) -> None:
    (tmp_path / "hasty.py").write_text(
        "from thence.impl.mf import MF\n"
        "class Hasty(MF):\n"
        "  def receive(self, source, packet):\n"
        "    out = super().receive(source, packet)\n"
        "    return (*out, *out)\n"
    )
    words = ["conform", "mf", "--impl", "hasty:Hasty"]
    first = thence(*words, "--cases", "20", "--save", "case.json", "--svg", "case.svg", "--json")
    (result,) = (each for each in first.object["results"] if each["name"] == "once")
    assert first.code == 1 and result["verdict"] == "refuted" and result["expected"] is False
    assert any(finding.startswith("duplicate") for finding in result["findings"])
    assert (tmp_path / "case.svg").exists()
    again = thence(*words, "--replay", "case.json", "--json")
    assert again.code == 1
    assert set(again.object["results"][0]["findings"]) & set(result["findings"])


@pytest.mark.long
def test_verify(thence: Thence, tmp_path: Path) -> None:
    ran = thence("verify", "rst", "--campaign-cases", "0", "--cases", "50", "--report", "r.html", "--json")
    found = ran.object
    assert ran.code == 0 and found["complete"] is True and are_named(found)
    assert all(result["expected"] for result in found["results"])
    kinds = {result["kind"] for result in found["results"]}
    assert kinds == {"scope", "mutant", "conform", "machine", "link", "scenario"}
    report = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "statements came out as expected" in report and "The diagrams and the filter" in report
    assert "http" not in report.replace("http://www.w3.org/2000/svg", "")
