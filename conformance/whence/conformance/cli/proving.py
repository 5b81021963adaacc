"""`whence prove`."""

from __future__ import annotations

from whence.conformance.cli.session import BadInput, Output, Session
from whence.conformance.cli.specifications import specification
from whence.dsl import ir
from whence.dsl.diagnostics import nearest


def prove(session: Session, file: str, names: list[str], timeout_s: float, seed: int) -> Output:
    """Proves the theorems and machines of a file, or those named."""
    from whence.proofs.prove import Options, Progress, prove_specification

    found = specification(file)
    known = provable(found)
    if not known:
        raise BadInput(f"{file} has neither a theorem nor a machine")
    for name in names:
        if name not in known:
            near = nearest(name, known)
            hint = f"did you mean {near}?" if near else f"there is {', '.join(known)}"
            raise BadInput(f"there is no theorem or machine {name}; {hint}")

    def progress(made: Progress) -> None:
        session.status(str(made))

    options = Options(timeout_ms=round(timeout_s * 1000), seed=seed)
    return Output(results=prove_specification(found, names, options, progress))


def provable(found: ir.Specification) -> tuple[str, ...]:
    """What can be proved: theorems, machines, mutants of machines."""
    mutants = [mutant.name for mutant in found.mutants if isinstance(mutant.mutated, ir.Machine)]
    return (*[known.name for known in found.theorems], *[known.name for known in found.machines], *mutants)
