"""Invariants of machines, found: `infer`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from thence.api.errors import BadRequest
from thence.api.specifications import Source, load
from thence.dsl import ir
from thence.dsl.check.elaborate import elaborate
from thence.dsl.find import known
from thence.dsl.load import SUFFIX
from thence.dsl.text.parse import parse
from thence.dsl.write.format import format_source
from thence.dsl.write.insertion import with_machine_lines
from thence.proofs.infer.inference import Inference, Limits, hidden
from thence.proofs.infer.inference import infer as infer_machine
from thence.proofs.infer.naming import line_of
from thence.proofs.prove import solver_pool
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession

Note = Callable[[str], None]


def infer(
    source: Source,
    *names: str,
    hide: Sequence[str] = (),
    timeout: float = 120.0,
    seed: int = 0,
    progress: Callable[[str, str], None] | None = None,
) -> tuple[Inference, ...]:
    """Looks for invariants that prove what the machines of a file state, or those machines and mutants named.

    Args:
        source: a file, the bare name of a library file, or a specification.
        names: machines and mutants of machines; by default all machines.
        hide: invariants of the file to do without; `all` for every one.
        timeout: seconds for each machine.
        seed: fixes every random choice.
        progress: is told the machine, and what is done for it now.

    Raises:
        UserError: the file or a name is at fault; the message says so in the words of the command.
    """
    specification = load(source).content
    chosen = chosen_machines(specification, names)
    for name in hide:
        there = [each.name for machine in chosen for each in machine.invariants]
        if name != "all":
            known(name, (*there, "all"), "invariant")
    found: list[Inference] = []
    for machine in chosen:
        with solver_pool(Options(seed=seed)) as pool:
            session = ProofSession(pool, Options(seed=seed))

            def note(doing: str, name: str = machine.name) -> None:
                if progress is not None:
                    progress(name, doing)

            found.append(infer_machine(session, hidden(machine, hide), Limits(timeout, seed), note))
            if found[-1].reason == "interrupted":
                break
    return tuple(found)


def chosen_machines(specification: ir.Specification, names: Sequence[str]) -> tuple[ir.Machine, ...]:
    """The machines of these names, mutants among them; all machines without names.

    Raises: UserError for other names; BadRequest where there are none.
    """
    there = {machine.name: machine for machine in specification.machines}
    mutated = ((mutant.name, mutant.mutated) for mutant in specification.mutants)
    mutants = {name: machine for name, machine in mutated if isinstance(machine, ir.Machine)}
    for name in names:
        known(name, (*there, *mutants), "machine")
    if not there:
        raise BadRequest("the file has no machine: invariants are inferred for machines")
    return tuple((there | mutants)[name] for name in names) if names else tuple(there.values())


def written(text: str, file: str, found: Inference) -> str:
    """The text of a file with the conjuncts in it.

    Raises: BadRequest where the machine is not in the file, or would not come out as it was proved.
    """
    before = _typed(text, file)
    machine = next((each for each in before.machines if each.name == found.machine.name), None)
    if machine is None:
        raise BadRequest(f"{found.machine.name} is a mutant: --write is for machines")
    lines = [line_of(conjunct.formula) for conjunct in found.conjuncts]
    more = with_machine_lines(text, machine.span.line, lines)
    formatted, _ = format_source(text, file)
    if formatted == text:
        more = format_source(more, file)[0] or more
    after = next(each for each in _typed(more, file).machines if each.name == machine.name)
    own = {conjunct.formula.name: conjunct.formula.body for conjunct in found.conjuncts}
    if {each.name: each.body for each in after.invariants if each.name in own} != own:
        raise BadRequest(f"{file} would not say what was proved; nothing was written")
    return more


def _typed(text: str, file: str) -> ir.Specification:
    tree, faults = parse(text, file)
    specification, more = elaborate(tree, file) if tree is not None else (None, ())
    if specification is None:
        raise BadRequest(f"{file}: {(*faults, *more)[0].message}")
    return specification


def is_of_the_library(path: Path) -> bool:
    """Whether the file comes with Thence: it is not written to."""
    from thence.dsl.load import library

    return path.suffix == SUFFIX and path.resolve() in {each.resolve() for each in library()}
