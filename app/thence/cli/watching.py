"""`thence prove --watch`: proves again the statements that a saved edit touches, until Ctrl-C.

Between edits it finds the hypotheses that each proof uses, so that the next edit touches fewer statements.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from thence.api.proving import unsaid
from thence.cli.output import AS_EXPECTED, BAD_INPUT, Output
from thence.cli.readers.printing import print_output
from thence.cli.session import Session
from thence.dsl.load import SourceError, load, locate
from thence.proofs.prove import UnknownName, proofs_by, solver_pool
from thence.proofs.refinement.carrying.properties import carried
from thence.proofs.solving.assessment import Proof
from thence.proofs.solving.discharge import Discharge, Options, ProofProgress
from thence.proofs.solving.lemmas import Lemmas
from thence.proofs.solving.solver import SolverPool
from thence.proofs.solving.stability import proved_obligations
from thence.spec.words import counted

POLL_S = 0.1
"""The pause between two looks at the file."""


class Edited(Exception):
    """The file was saved while it was being proved; the proofs of its old text are given up."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """The attributes of a file that change when it is saved; zeros without a file."""

    modified_ns: int
    size: int
    inode: int


def stamp_of(path: Path) -> Stamp:
    """The present stamp of the file."""
    try:
        found = path.stat()
    except OSError:
        return Stamp(0, 0, 0)
    return Stamp(found.st_mtime_ns, found.st_size, found.st_ino)


def watch(
    session: Session, file: str, names: tuple[str, ...], options: Options, status: Callable[[ProofProgress], str]
) -> Output:
    """Proves, waits for the file to be saved, proves again. Unchanged obligations are not solved again.

    A file with errors, or one that is gone for a moment, is reported and still watched. The exit code is that of the
    last round.
    """
    path = locate(file)
    code = AS_EXPECTED
    with TemporaryDirectory(prefix="thence-answers-") as folder:
        kept = replace(options, cache=options.cache or Path(folder), lemmas=Lemmas())
        with solver_pool(kept) as pool:
            try:
                while True:
                    seen = stamp_of(path)
                    try:
                        code, proved = _round(session, pool, file, names, kept, _noticing(session, path, seen, status))
                    except Edited:
                        _wait_until_saved(path, seen)
                        continue
                    finally:
                        session.end_status()
                    _say(f"watching {path}; Ctrl-C ends")
                    learn(pool, proved, kept, path, seen)
                    _wait_until_saved(path, seen)
            except KeyboardInterrupt:
                return Output(exit=code, table=False)


def _wait_until_saved(path: Path, seen: Stamp) -> None:
    """Waits until the file is another one than was seen, and the same in two looks.

    Many editors empty a file before they write it anew, and half a text has errors that nobody made.
    """
    latest = seen
    while True:
        time.sleep(POLL_S)
        now = stamp_of(path)
        if now == latest and now not in (seen, Stamp(0, 0, 0)):
            return
        latest = now


def _noticing(
    session: Session, path: Path, seen: Stamp, status: Callable[[ProofProgress], str]
) -> Callable[[ProofProgress], None]:
    """Shows the progress. Raises: Edited, as soon as the file is saved again."""

    def report(progress: ProofProgress) -> None:
        session.status(status(progress))
        if stamp_of(path) != seen:
            raise Edited

    return report


def _round(
    session: Session,
    pool: SolverPool,
    file: str,
    names: tuple[str, ...],
    options: Options,
    report: Callable[[ProofProgress], None],
) -> tuple[int, tuple[Discharge, ...]]:
    """Proves the present text of the file and prints the results; the exit code and the proved obligations."""
    started = time.perf_counter()
    pool.forget()
    before = pool.recalled, pool.solved
    try:
        loaded = load(file)
    except SourceError as error:
        _say(f"thence prove: {error}")
        return BAD_INPUT, ()
    if loaded.specification is None:
        output = Output(diagnostics=tuple((diagnostic, loaded) for diagnostic in loaded.diagnostics))
        print_output(output, 0.0)
        return output.exit_code(), ()
    made: list[Proof] = []
    try:
        with closing(proofs_by(pool, loaded.specification, names, options, report)) as proved:
            made.extend(proved)
    except UnknownName as error:
        _say(f"thence prove: {error}")
        return BAD_INPUT, ()
    session.end_status()
    recalled, solved = pool.recalled - before[0], pool.solved - before[1]
    shown = (*made, *carried(loaded.specification.links, names, made))
    output = Output(tuple(proof.result for proof in shown), files=((Path(file).stem, len(shown)),))
    seconds = time.perf_counter() - started
    print_output(output, seconds)
    for why in unsaid(loaded.specification, names):
        _say(why)
    _say(f"{counted(solved, 'new answer')}, {recalled} as before; {seconds:.1f} s")
    return output.exit_code(), proved_obligations(made)


def learn(pool: SolverPool, proved: Sequence[Discharge], options: Options, path: Path, seen: Stamp) -> None:
    """Finds the hypotheses that each proof uses, until the file is saved again."""
    assert options.lemmas is not None
    pairs = [(discharge.obligation, discharge.prover) for discharge in proved]
    options.lemmas.learn(pool, pairs, options.solvers, options.timeout_ms, options.seed, lambda: stamp_of(path) != seen)


def _say(line: str) -> None:
    sys.stderr.flush()
    print(line, flush=True)
