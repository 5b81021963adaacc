"""Small certificates to check and to tamper with."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from thence.cli.proof_checker import find_checker
from thence.dsl.load import load
from thence.proofs.certificate.build import SUMS, Certificate, certificate, derived_files, sums
from thence.proofs.certificate.manifest import manifest_of, obligation_digest, proof_id
from thence.proofs.certificate.recheck import Recheck, Thoroughness, recheck
from thence.proofs.certificate.smtinterpol import Smtinterpol
from thence.proofs.certificate.writing import write
from thence.proofs.prove import proofs
from thence.proofs.solving.discharge import Options
from thence.spec.verdict import Verdict

SPREAD = '''\
"""What is good spreads along edges."""

theory spread:
  sort node
  relation good: node
  relation edge(a: node, b: node)
  inductive reach(a, b):
    direct: edge(a, b)
    further: exists x. reach(a, x) and reach(x, b)
  property kept: forall a, b. good(a) and edge(a, b) implies good(b)
  property all_reached: forall a, b. good(a) and reach(a, b) implies good(b)
  property all_good: forall a. good(a)

theorem good_spreads in spread:
  assume kept
  prove all_reached
  by induction on reach(a, b) claim: good(a) implies good(b)
  needs kept

theorem everything_is_good in spread:
  assume kept
  prove all_good
  expect refuted
'''

PLAIN = '''\
"""Messages are delivered at any time after they were sent."""

machine plain:
  transition causal_send(m):
    require true
  transition deliver(m):
    require sent(m)
    require not delivered(m)
  invariant sent_first: forall m. delivered(m) implies sent(m)
  prove no_creation, at_most_once, causal
  expect refuted causal
'''


@pytest.fixture(scope="session")
def checker() -> Smtinterpol:
    """The proof checker; what needs it is skipped where it is not installed."""
    found = find_checker()
    if found is None:
        pytest.skip("the proof checker is not installed: make checker")
    return found


@pytest.fixture(scope="session")
def certify(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., tuple[Certificate, Path]]:
    """Proves a text and writes its certificate."""

    def certified(name: str, text: str, *names: str, checked: bool = True) -> tuple[Certificate, Path]:
        folder = tmp_path_factory.mktemp(name)
        source = folder / f"{name}.thence"
        source.write_text(text, encoding="utf-8")
        loaded = load(str(source))
        assert loaded.specification is not None, loaded.diagnostics
        found = tuple(proofs(loaded.specification, names, Options()))
        made = certificate(loaded, found, Options(), find_checker() if checked else None)
        write(made, folder / "certificate")
        return made, folder / "certificate"

    return certified


@pytest.fixture(scope="session")
def spread(certify: Callable[..., tuple[Certificate, Path]]) -> Path:
    return certify("spread", SPREAD)[1]


@pytest.fixture(scope="session")
def plain(certify: Callable[..., tuple[Certificate, Path]]) -> Path:
    return certify("plain", PLAIN)[1]


@dataclass(frozen=True)
class Forgery:
    """A copy of a certificate that an attacker changes, and signs by computing everything anew that can be computed."""

    directory: Path

    def manifest(self) -> dict[str, Any]:
        value = json.loads((self.directory / "manifest.json").read_text(encoding="utf-8"))
        assert isinstance(value, dict)
        return value

    def text(self, file: str) -> str:
        return (self.directory / file).read_text(encoding="utf-8")

    def replace(self, file: str, old: str, new: str) -> None:
        """Changes a file; that nothing changes is a fault of the test."""
        text = self.text(file)
        assert old in text
        (self.directory / file).write_text(text.replace(old, new, 1), encoding="utf-8")

    def sign(self, change: Callable[[dict[str, Any]], None] = lambda value: None) -> None:
        """Changes the manifest, then computes proof ids, derived files and sums from what is there."""
        value = self.manifest()
        change(value)
        for statement in value["statements"]:
            rests_on = [obligation_digest(self.text(file)) for file in statement["obligations"]]
            if not rests_on:
                shown = [each["file"] for each in statement["evidence"] if each["shows"] != "needed"]
                rests_on = [sha256((self.directory / file).read_bytes()).hexdigest() for file in shown]
            statement["proof_id"] = proof_id(statement["id"], Verdict(statement["verdict"]), rests_on)
        manifest = manifest_of(value)
        (self.directory / "manifest.json").write_bytes(manifest.content())
        for file, content in derived_files(manifest).items():
            (self.directory / file).write_bytes(content)
        self.sum()

    def sum(self) -> None:
        """Computes the sums from what is there."""
        there = [path for path in self.directory.rglob("*") if path.is_file()]
        files = {path.relative_to(self.directory).as_posix(): path.read_bytes() for path in there}
        (self.directory / SUMS).write_text(sums(files), encoding="utf-8")

    def remove(self, *files: str) -> None:
        for file in files:
            (self.directory / file).unlink()

    def recheck(self, thoroughness: Thoroughness | None = None) -> Recheck:
        return recheck(self.directory, Options(workers=1), find_checker(), thoroughness)


@pytest.fixture
def forge(tmp_path: Path) -> Callable[[Path], Forgery]:
    def copied(original: Path) -> Forgery:
        shutil.copytree(original, tmp_path / "forged")
        return Forgery(tmp_path / "forged")

    return copied
