"""Every construct in every engine: the table of docs/reference/engines.md is what the commands do.

An example of each construct is in tests/constructs. Its `expect` lines say every verdict in scope `s`, true and false
ones. A cell that claims more than the engine does, or less, fails; a wrong verdict fails whatever the table says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Ran, Thence
from tests.dsl.export.tla.test_tlc import needs_tlc, tlc

from thence.api.targets import Choice, targets
from thence.dsl.export.tla.expressions import Unsupported
from thence.dsl.export.tla.protocol import export_protocol
from thence.proofs.engines import explore
from thence.proofs.scopes.scopes import properties_of

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "tests" / "constructs"
PAGE = ROOT / "docs" / "reference" / "engines.md"
ENGINES = ("interpreter", "native", "symmetry", "any number", "bmc", "TLA+", "conform")
ROW = re.compile(r"^\| .*? \| `(?P<name>\w+)` \| (?P<cells>.*) \|$", re.MULTILINE)

NOT_A_STATEMENT = {"fault"}
"""TLC ends at a fault: it is an assertion of the module, not one of its properties."""


def rows() -> dict[str, dict[str, str]]:
    """The cells of the page, by example and engine."""
    found = {}
    for row in ROW.finditer(PAGE.read_text(encoding="utf-8")):
        cells = [cell.strip() for cell in row["cells"].split("|")]
        found[row["name"]] = dict(zip(ENGINES, cells, strict=True))
    return found


def statements(ran: Ran) -> dict[str, dict[str, Any]]:
    """The results by the name of the statement."""
    return {each["name"].rpartition(": ")[2]: each for each in ran.object["results"]}


def refusal(ran: Ran, *words: str) -> str:
    """The cell of a command that refuses, with a message and no traceback."""
    assert ran.code == 2 and ran.object["error"] and "Traceback" not in ran.err, (ran.out, ran.err)
    assert any(word in ran.object["error"] for word in words), ran.object["error"]
    return "refused"


def judged(results: Mapping[str, Mapping[str, Any]]) -> str:
    """The cell of verdicts: none may be wrong, and each `unknown` has its reason."""
    unknown = [name for name, each in results.items() if each["verdict"] == "unknown"]
    wrong = [name for name, each in results.items() if not each["expected"] and name not in unknown]
    assert not wrong, wrong
    assert all(results[name]["unknown"] for name in unknown), results
    return "yes" if not unknown else "unknown" if len(unknown) == len(results) else "some"


def interpreter(thence: Thence, file: Path) -> str:
    return judged(statements(thence("explore", file, "--scope", "s", "--engine", "interpreted", "--json")))


def native(thence: Thence, file: Path) -> str:
    ran = thence("explore", file, "--scope", "s", "--engine", "native", "--reductions", "none", "--json")
    if ran.code != 2:
        results = statements(ran)
        assert all(each["engine"] == "native" for each in results.values())
        return judged(results)
    refusal(ran, "native code cannot explore")
    chosen = thence("explore", file, "--scope", "s", "--json")
    assert judged(statements(chosen)) == "yes"
    assert all(each["engine"] == "interpreted" for each in chosen.object["results"])
    assert "not reduced" not in thence("explore", file, "--scope", "s").out
    asked = thence("explore", file, "--scope", "s", "--reductions", "symmetry")
    assert "not reduced by symmetry" in asked.out
    return "interpreter"


def symmetry(thence: Thence, file: Path) -> str:
    ran = thence("explore", file, "--scope", "s", "--reductions", "symmetry", "--json")
    results = statements(ran)
    assert judged(results) == "yes"
    first = next(iter(results.values()))
    if first["reductions"]:
        return "yes"
    assert first["refused"]["symmetry"]
    return "no"


def any_number(thence: Thence, file: Path) -> str:
    """What the abstraction takes. Whether it comes to an end is a question of the protocol, not of its constructs."""
    ran = thence("explore", file, "--scope", "s", "--any-number", "--limit", "60", "--json")
    if ran.code == 2:
        return refusal(ran, "--setting")
    results = statements(ran)
    exact = statements(thence("explore", file, "--scope", "s", "--engine", "interpreted", "--json"))
    for name, each in results.items():
        assert each["verdict"] != "holds" or exact[name]["verdict"] == "holds", name
    taken = any(each["states"] or each["verdict"] != "unknown" for each in results.values())
    return "yes" if taken else "unknown"


def bmc(thence: Thence, file: Path) -> str:
    return judged(statements(thence("bmc", file, "--scope", "s", "--depth", "9", "--timeout", "500", "--json")))


def tla(thence: Thence, file: Path, folder: Path) -> str:
    exact = statements(thence("explore", file, "--scope", "s", "--engine", "interpreted", "--json"))
    ran = thence("export", file, "--scope", "s", "--output", folder, "--json")
    if ran.code == 2:
        return refusal(ran, "not exported")
    (configuration,) = folder.glob("*.cfg")
    asked = set(re.findall(r"^  (?:Invariant_)?(\w+)$", configuration.read_text(encoding="utf-8"), re.MULTILINE))
    known = {name.title().replace("_", "") if name not in asked else name: name for name in exact}
    left = {name for title, name in known.items() if title not in asked} - NOT_A_STATEMENT
    (module,) = (path for path in folder.glob("*.tla") if path.stem != "Thence")
    remarks = module.read_text(encoding="utf-8")
    for name in left:
        assert re.search(rf"\(\* .*{name}.* is not (in the export|asked of TLC)", remarks), name
    return "some" if left else "yes"


def conform(thence: Thence, file: Path) -> str:
    """The protocol as a system under test, held against itself: its applications, timers and network do the rest."""
    arguments = ("--impl", f"protocol:{file}", "--cases", "30", "--json")
    ran = thence("conform", file, *arguments)
    if ran.code == 2:
        return refusal(ran, "conform", "protocol", "causally_ordered")
    at_fault = "fault" in re.findall(r"\w+", file.read_text(encoding="utf-8").rpartition("expect refuted")[2])
    verdict = statements(ran)["conforming"]["verdict"]
    return "yes" if verdict == "tested" or (at_fault and verdict == "refuted") else "no"


def cells(thence: Thence, file: Path, folder: Path) -> dict[str, str]:
    return {
        "interpreter": interpreter(thence, file),
        "native": native(thence, file),
        "symmetry": symmetry(thence, file),
        "any number": any_number(thence, file),
        "bmc": bmc(thence, file),
        "TLA+": tla(thence, file, folder),
        "conform": conform(thence, file),
    }


EVERY = sorted(path.stem for path in EXAMPLES.glob("*.thence"))


def test_every_example_has_a_row() -> None:
    assert sorted(rows()) == EVERY


@pytest.mark.long(but=("inputs_when", "promises", "in_flight"))
@pytest.mark.parametrize("name", EVERY)
def test_the_table_says_what_the_engines_do(thence: Thence, tmp_path: Path, name: str) -> None:
    file = EXAMPLES / f"{name}.thence"
    assert cells(thence, file, tmp_path / "tla") == rows()[name]


@needs_tlc
@pytest.mark.long(but=("inputs_when",))
@pytest.mark.parametrize("name", EVERY)
def test_tlc_finds_what_the_file_says(tmp_path: Path, name: str) -> None:
    """Of what is exported TLC refutes nothing that holds, and something where something is refuted."""
    (target,) = targets(Choice(str(EXAMPLES / f"{name}.thence"), "s"))
    try:
        exported = export_protocol(target.protocol, target.workload, "s")
    except Unsupported:
        return
    found = explore(target.protocol, target.workload, properties_of(target.protocol))
    said = tlc(exported, tmp_path, "-continue")
    if "fault" in found.violations:
        assert "Assert" in said or "None" in said or "The first argument" in said, said
        return
    assert f"{found.states:,} distinct states found".replace(",", "") in said.replace(",", ""), said
    violated = set(re.findall(r"(?:Invariant|Action property) (?:Invariant_)?(\w+) is violated", said))
    refuted = {each: each.title().replace("_", "") for each in found.violations}
    assert violated <= {*refuted, *refuted.values()}, said
    asked = next(text for file, text in exported.files.items() if file.endswith(".cfg"))
    stated = set(re.findall(r"^  (?:Invariant_)?(\w+)$", asked, re.MULTILINE))
    assert bool(violated) == bool(stated & {*refuted, *refuted.values()}), said
