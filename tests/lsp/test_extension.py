"""The extension for Visual Studio Code: its version, its settings, its snippets."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

pytest.importorskip("pygls")

from tests.lsp.client import SERVER

from thence.lsp.analysis import Analysis

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "editors" / "vscode"
PACKAGE = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))


def test_the_version_is_that_of_thence() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert PACKAGE["version"] == project["version"]


def test_every_file_that_the_package_names_is_there() -> None:
    contributed = PACKAGE["contributes"]
    named = [PACKAGE["main"], *(one["path"] for one in (*contributed["grammars"], *contributed["snippets"]))]
    named += [one["configuration"] for one in contributed["languages"]]
    for name in named:
        assert (FOLDER / name).is_file(), name


def test_the_settings_are_read() -> None:
    source = (FOLDER / "extension.js").read_text(encoding="utf-8")
    for name in PACKAGE["contributes"]["configuration"]["properties"]:
        assert f'"{name.removeprefix("thence.")}"' in source


def test_the_extension_is_javascript() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs node")
    run = subprocess.run([node, "--check", str(FOLDER / "extension.js")], check=False)
    assert run.returncode == 0


def test_the_extension_starts_the_server() -> None:
    """In an editor of straw, over the protocol library of the real one: errors, hover, a refusal, a proper end."""
    node = shutil.which("node")
    if node is None or not (FOLDER / "node_modules" / "vscode-languageserver-protocol").is_dir():
        pytest.skip("needs node and the modules of the extension: npm ci in editors/vscode")
    script = Path(__file__).with_name("session.mjs")
    run = subprocess.run([node, str(script), str(FOLDER), *SERVER], capture_output=True, text=True, check=True)
    told = json.loads(run.stdout)
    assert told["server"] == {"command": SERVER[0], "args": list(SERVER[1:])}
    assert told["options"] == {"seconds": 7, "memoryMegabytes": 100, "showsExplanations": True}
    assert told["commands"] == ["thence.cancel", "thence.explain", "thence.run", "thence.show"]
    assert {
        "hoverProvider",
        "renameProvider",
        "codeLensProvider",
        "semanticTokensProvider",
        "workspaceSymbolProvider",
    } <= set(told["capabilities"])
    assert ["E0204", {"line": 2, "character": 26}] in told["diagnostics"]
    assert "application sends m" in told["hover"]
    [[code, text]] = told["opened"]
    assert code == "E0204" and text.startswith("E0204: ") and "Right:" in text
    assert told["refused"] == [-32803, "nothing that is declared in this file is named here"]
    assert told["registered"] == [command["command"] for command in PACKAGE["contributes"]["commands"]]
    assert (told["exit"], told["shown"]) == (0, [])


def test_the_snippets_are_sound_together() -> None:
    """Each with what it proposes; what refers to something refers to what the others declare."""
    snippets = json.loads((FOLDER / "snippets.json").read_text(encoding="utf-8"))
    text = "\n".join(expanded(snippets[name]["body"]) for name in ("protocol", "scope", "mutant", "scenario"))
    text = text.replace("of protocol:", "of told:").replace("protocol name:", "protocol told:")
    machine = expanded(snippets["machine"]["body"]).replace("machine name:", "machine idea:")
    link = expanded(snippets["link"]["body"]).replace("conforms protocol to machine", "conforms told to idea")
    handler = "".join(f"  {line}\n" for line in expanded(snippets["on receive"]["body"]).splitlines())
    mutant = f"mutant once_more of told:\n{handler}  expect refuted at_most_once in small\n"
    analysis = Analysis("\n".join((text, machine, link, mutant)), "snippets.thence")
    assert [fault.message for fault in analysis.diagnostics if fault.severity == "error"] == []
    assert len(analysis.tree.declarations) == 7


def expanded(body: list[str]) -> str:
    """A snippet as it is where nothing is typed."""
    text = "\n".join(body)
    text = re.sub(r"\$\{\d+\|([^,|]*)[^|]*\|\}", r"\1", text)
    text = re.sub(r"\$\{\d+:([^}]*)\}", r"\1", text)
    return text.replace("$0", "")
