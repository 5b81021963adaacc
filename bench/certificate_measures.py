"""What a certificate of everything unbounded in the library takes: to write, and to check again with all solvers."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from proof_measures import unbounded, with_statements

from thence.cli.proof_checker import find_checker
from thence.dsl.load import load
from thence.proofs.certificate.build import NotCertified, certificate
from thence.proofs.certificate.recheck import recheck
from thence.proofs.certificate.writing import write
from thence.proofs.prove import proofs
from thence.proofs.solving.discharge import Options


@cache
def written() -> tuple[Path, float, int, int]:
    """A certificate of each file, without mutants: where, seconds, obligations, proof objects."""
    folder = Path(mkdtemp(prefix="thence-bench-"))
    checker = find_checker()
    obligations = objects = 0
    seconds = 0.0
    for name in with_statements():
        loaded = load(name)
        assert loaded.specification is not None
        own = replace(loaded, specification=unbounded(loaded.specification))
        assert own.specification is not None
        found = tuple(proofs(own.specification, (), Options()))
        started = time.perf_counter()
        try:
            made = certificate(own, found, Options(), checker)
        except NotCertified as reason:
            print(f"{name}: {reason}")
            continue
        write(made, folder / name)
        seconds += time.perf_counter() - started
        obligations += len(made.manifest.obligations)
        objects += sum("resolute" in each.proofs for each in made.manifest.obligations)
    return folder, seconds, obligations, objects


def certified() -> str:
    """Writing, after the proofs: every obligation solved again, proof objects found and checked."""
    folder, seconds, obligations, objects = written()
    files = len(list(folder.iterdir()))
    return f"{seconds:.0f} s, {files} certificates, {obligations} obligations, {objects} with a checked proof object"


def rechecked() -> str:
    """Checking all of them again, nothing left out; levels by statement."""
    folder, *_ = written()
    checker = find_checker()
    started = time.perf_counter()
    found = [recheck(path, Options(), checker) for path in sorted(folder.iterdir())]
    seconds = time.perf_counter() - started
    faults = sum(len(each.faults) for each in found)
    confirmations = [confirmation for each in found for confirmation in each.confirmations]
    levels = [confirmation.level.name for confirmation in confirmations if confirmation.confirmed]
    counted = ", ".join(f"{levels.count(level)} at {level}" for level in sorted(set(levels)))
    return f"{seconds:.0f} s, {faults} faults, {len(levels)} of {len(confirmations)} confirmed: {counted}"


MEASURES: dict[str, Callable[[], str]] = {"certificates": certified, "recheck": rechecked}
