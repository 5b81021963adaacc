"""Protocols drawn at random, by the thousand: all engines against the interpreter, as a campaign on Spark.

python bench/drawn_protocols.py DIRECTORY [--draw NAME] [--first-seed N] [--seeds N] [--master MASTER]
python bench/drawn_protocols.py --seed N [--draw NAME]

Each seed is one case of the differential tests: the module of this draw in `tests/proofs` draws and compares it. The
same command goes on where an interrupted one stopped; `thence campaign status` and `report` read the directory.
A seed on which engines differ is printed, and `--seed` runs it again, here, to its error.

The tests are sent to the workers, which need Thence and pytest. Seeds from 1,000 on are none of the test suite's.
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
import zipfile
from collections.abc import Mapping
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from thence.conformance.campaign import CampaignParameters, Status, resume, start
from thence.conformance.campaign.case import CaseFunction, SeedOutcome
from thence.conformance.campaign.parameters import CampaignError
from thence.conformance.campaign.reporting import failing_cases
from thence.dsl import ir
from thence.dsl.load import load_bytes

ROOT = Path(__file__).resolve().parents[1]
DRAWN = ("protocols", "overlays", "programs")


def specified(text: str) -> ir.Specification:
    """The text, typed. What is drawn has no errors."""
    loaded = load_bytes(Path("drawn.thence"), text.encode())
    assert loaded.specification is not None, [diagnostic.message for diagnostic in loaded.diagnostics]
    return loaded.specification


def compared(draw: str, seed: int) -> int:
    """1 where the protocol of this seed is small enough to be compared, else 0. Raises AssertionError: they differ."""
    protocols = import_module("tests.proofs.test_random_protocols")
    drawn = import_module(f"tests.proofs.test_random_{draw}").drawn
    tally = protocols.Tally()
    with pytest.MonkeyPatch.context() as patch:
        protocols.keep_small(patch)
        if draw == "programs":
            judged = (*protocols.JUDGED, "completes")
            protocols.compare(*drawn(specified, seed), tally, most=800, judged=judged)
        else:
            protocols.compare(*drawn(specified, seed), tally)
    count: int = tally.compared
    return count


def runner(params: Mapping[str, Any]) -> CaseFunction:
    """The case function of a campaign: `draw` says what is drawn."""
    draw = params["draw"]
    assert draw in DRAWN

    def case(seed: int) -> SeedOutcome:
        findings: tuple[str, ...] = ()
        count = 0
        try:
            count = compared(draw, seed)
        except AssertionError as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            findings = (f"engines differ: {Path(last.filename).name}:{last.lineno}: {last.line} {error}".rstrip(),)
        said = f"{draw} {seed} {count} {findings}".encode()
        return SeedOutcome(seed, count, findings, digest=int.from_bytes(blake2b(said, digest_size=8).digest()))

    return case


def packed(place: Path) -> str:
    """This module and the tests in one file, the same bytes for the same texts; its folders are entries of their own,
    since Python looks for them."""
    files = [(Path(__file__).name, Path(__file__)), ("tests/", None), ("tests/proofs/", None)]
    files += [(f"tests/proofs/{path.name}", path) for path in sorted((ROOT / "tests" / "proofs").glob("*.py"))]
    with zipfile.ZipFile(place, "w") as archive:
        for name, path in files:
            archive.writestr(zipfile.ZipInfo(name), b"" if path is None else path.read_bytes())
    return str(place)


def told(status: Status) -> None:
    """How far it is, on standard error."""
    print(f"{status.tally.cases:,} of {status.parameters.cases:,} seeds", file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="Engines against the interpreter, on protocols drawn at random.")
    parser.add_argument("directory", nargs="?", type=Path, help="where the campaign is, or is to be")
    parser.add_argument("--draw", choices=DRAWN, default="protocols")
    parser.add_argument("--seed", type=int, help="run this one, here")
    parser.add_argument("--first-seed", type=int, default=1_000)
    parser.add_argument("--seeds", type=int, default=1_000)
    parser.add_argument("--master", default="local[*]")
    wanted = parser.parse_args()
    if wanted.seed is not None:
        sys.path.append(str(ROOT))
        print(f"compared: {compared(wanted.draw, wanted.seed)}")
        return 0
    if wanted.directory is None:
        parser.error("a directory, or --seed")
    sent = packed(wanted.directory.absolute().with_suffix(".zip"))
    if (wanted.directory / "campaign.json").exists():
        status = resume(wanted.directory, told, master=wanted.master)
    else:
        parameters = CampaignParameters(
            f"{Path(__file__).stem}:runner", {"draw": wanted.draw}, wanted.first_seed, wanted.seeds,
            batch=50, master=wanted.master, case_limit_s=600, py_files=(sent,),
        )  # fmt: skip
        status = start(wanted.directory, parameters, told)
    for case in failing_cases(wanted.directory):
        print(f"seed {case.seed}: {'; '.join(case.findings) or case.error}")
        print(f"  again: python bench/{Path(__file__).name} --draw {wanted.draw} --seed {case.seed}")
    print(f"{status.tally.cases:,} seeds, {status.tally.events:,} compared, {status.tally.failures:,} failed")
    return 0 if status.complete and not status.tally.failures and not status.tally.errors else 1


if __name__ == "__main__":
    os.environ.setdefault("THENCE_CACHE", "off")
    try:
        sys.exit(main())
    except CampaignError as error:
        sys.exit(f"drawn_protocols: {error}")
