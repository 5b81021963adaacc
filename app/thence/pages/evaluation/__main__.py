"""`python -m thence.pages.evaluation FOLDER SWEEPS` writes evaluation.md and its figures, from folders of sweeps."""

from __future__ import annotations

import platform
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from thence.conformance.evaluation.study import shipped_studies
from thence.conformance.evaluation.summary import cells
from thence.conformance.evaluation.sweep import read_sweep
from thence.pages.evaluation.page import page
from thence.pages.evaluation.plots import picture
from thence.pages.folder import run_page


def make(docs: Path, sources: Sequence[Path]) -> int:
    """Writes the page. Exit code 1 if a sweep is not finished."""
    sweeps = {name: read_sweep(sources[0] / name) for name in shipped_studies()}
    unfinished = [name for name, sweep in sweeps.items() if not sweep.complete]
    for name in unfinished:
        print(f"{name} is not finished: thence sweep {name} --out {sources[0] / name}", file=sys.stderr)
    if unfinished:
        return 1
    (docs / "evaluation").mkdir(parents=True, exist_ok=True)
    for name, sweep in sweeps.items():
        if sweep.study.figure is not None:
            (docs / "evaluation" / f"{name}.svg").write_text(picture(sweep, cells(sweep)), encoding="utf-8")
    facts = {
        "python": platform.python_version(),
        "simpy": version("simpy"),
        "runs": sum(sweep.runs for sweep in sweeps.values()),
    }
    (docs / "evaluation.md").write_text(page(sweeps, facts), encoding="utf-8")
    return 0


if __name__ == "__main__":
    run_page(make, "evaluation", "SWEEPS")
