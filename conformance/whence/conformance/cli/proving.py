"""`whence prove`."""

from __future__ import annotations

from whence.conformance.cli.session import UNKNOWN, BadInput, Output, Session
from whence.conformance.cli.specifications import known, specification
from whence.proofs.discharge import Options, Progress
from whence.proofs.prove import proofs, provable_names


def prove(session: Session, file: str, names: list[str], timeout_s: float, seed: int) -> Output:
    """Proves the theorems and machines of a file, or those named; after Ctrl-C, says what was finished."""
    found = specification(file)
    provable = provable_names(found)
    if not provable:
        raise BadInput(f"{file} has neither a theorem nor a machine")
    for name in names:
        known(name, provable, "theorem, machine or statement")

    def progress(made: Progress) -> None:
        session.status(f"{made.subject}: {made.statement}, {made.done} of {made.total}")

    finished = []
    try:
        for proof in proofs(found, names, Options(timeout_ms=round(timeout_s * 1000), seed=seed), progress):
            finished.append(proof.result)
    except KeyboardInterrupt:
        return Output(tuple(finished), text="interrupted: incomplete, this was finished\n", exit=UNKNOWN)
    return Output(results=tuple(finished))
