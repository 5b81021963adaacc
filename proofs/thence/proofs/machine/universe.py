"""The sizes of the sorts in which runs and steps of a machine are searched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, product

from thence.dsl import ir
from thence.dsl.ir.traversal import nodes
from thence.dsl.ir.types import PROCESS
from thence.proofs.logic.formula import Unsupported
from thence.proofs.machine.obligations import signature_of
from thence.proofs.machine.transitions import actions, symbols
from thence.proofs.solving.finite_models import Problem, full_universe
from thence.proofs.solving.session import ProofSession

MORE = 2
"""So many elements more than asked for a sort gets at most, where axioms ask for more."""

ATTEMPTS = 60
"""So many sizes are tried at most, where axioms exclude those that are asked for."""

FITTING_MS = 2_000
"""Time limit of a solver for the question whether axioms allow some sizes."""


def universe_of(machine: ir.Machine, size: Mapping[str, int]) -> dict[str, int]:
    """The sizes with those of the machine's own sorts, as many as messages where none is given; and the window of
    numbers.

    That holds of ordered sorts, too: a run need not have as many rounds as functions of the machine could tell apart.
    """
    own = {sort.name: size.get(sort.name, size.get("message", 1)) for sort in machine.sorts}
    whole = {**size, **own}
    return {**whole, **full_universe(signature_of(machine), whole)}


def distinct(machine: ir.Machine, sizes: Iterable[Mapping[str, int]]) -> tuple[Mapping[str, int], ...]:
    """The sizes without those that differ from one before only in processes or messages of which nothing is said."""
    used = _used(machine)
    first: dict[tuple[tuple[str, int], ...], Mapping[str, int]] = {}
    for size in sizes:
        whole = universe_of(machine, size)
        first.setdefault(tuple((name, number) for name, number in sorted(whole.items()) if name in used), size)
    return tuple(first.values())


def _used(machine: ir.Machine) -> set[str]:
    """The machine's own sorts, and what else symbols, transitions and formulas speak of."""
    every = actions(machine)
    formulas = [each.body for each in (*machine.axioms, *machine.invariants)]
    formulas += [guard.body for action in every for guard in action.guards]
    formulas += [update.value for action in every for update in action.updates]
    own = {str(type_) for symbol in symbols(machine) for type_ in (symbol.result, *(p.type for p in symbol.parameters))}
    own |= {str(parameter.type) for action in every for parameter in action.parameters}
    own |= {str(bound.type) for bound in _bound(formulas)}
    return (
        own | {sort.name for sort in machine.sorts} | ({"process", "message"} if machine.delivery != "off" else set())
    )


@dataclass(slots=True)
class Fitting:
    """Sizes in which the axioms of a machine can be true: those that are asked for, or the nearest others.

    `axiom two: forall a, b, c: thread. a = b or b = c or a = c` excludes universes of three threads. Nothing would
    happen there, and every clause would be true.
    """

    session: ProofSession
    machine: ir.Machine
    _known: dict[tuple[tuple[str, int], ...], Mapping[str, int]] = field(default_factory=dict)

    def __call__(self, size: Mapping[str, int]) -> Mapping[str, int]:
        """The size itself where the axioms allow it, or where no size near to it is known to fit better."""
        if not self.machine.axioms:
            return size
        key = tuple(sorted(size.items()))
        if key not in self._known:
            tried = islice(_near(size, universe_of(self.machine, size), _restricted(self.machine)), ATTEMPTS)
            self._known[key] = next((each for each in tried if self._is_possible(each)), size)
        return self._known[key]

    def _is_possible(self, size: Mapping[str, int]) -> bool:
        """Whether the axioms have a model, or no solver says in time that they have none."""
        problem = Problem(signature_of(self.machine), self.machine.axioms)
        try:
            found = self.session.within(FITTING_MS).find_model(problem, (universe_of(self.machine, size),), least=False)
        except Unsupported:
            return True
        return found.model is not None or bool(found.unknown)


def _near(
    size: Mapping[str, int], universe: Mapping[str, int], restricted: Sequence[str]
) -> Iterator[Mapping[str, int]]:
    """The size; then others, the nearest first, that differ in sorts which axioms restrict."""
    yield size
    given = [universe[name] for name in restricted]
    others = product(*(range(1, number + MORE + 1) for number in given))
    ranked = sorted(others, key=lambda each: (sum(abs(a - b) for a, b in zip(each, given, strict=True)), each))
    for each in ranked[1:]:
        yield {**size, **dict(zip(restricted, each, strict=True))}


def _restricted(machine: ir.Machine) -> list[str]:
    """The machine's own sorts, and processes, of which its axioms speak."""
    spoken = {str(each.type) for each in _bound(axiom.body for axiom in machine.axioms)}
    return [name for name in (*(sort.name for sort in machine.sorts), PROCESS.name) if name in spoken]


def _bound(formulas: Iterable[ir.Expr]) -> Iterator[ir.Bound]:
    """The variables of all quantifiers."""
    for node in nodes(tuple(formulas)):
        if isinstance(node, ir.Quantified):
            yield from node.variables


def uneven(machine: ir.Machine) -> Iterator[Mapping[str, int]]:
    """Sizes with many elements of one of the machine's sorts and few of the others, or the other way round.

    A lock that lets in as many as it has levels excludes all but one where threads and levels are equally many.
    """
    names = [sort.name for sort in machine.sorts]
    if machine.delivery == "off" and PROCESS.name in _used(machine):
        names.append(PROCESS.name)
    if len(names) > 1:
        for one in names:
            yield {"process": 2, "message": 2, **{name: 4 if name == one else 2 for name in names}}
            yield {"process": 3, "message": 3, **{name: 2 if name == one else 3 for name in names}}
