"""What one search leaves to the next: clauses as text, and samples as the runs that lead to them.

Nothing of it is believed. A sample is computed again from its run, and counts only if every guard on the way is true. A
clause is checked again as a formula of the machine, held against all samples, and is then a goal like any other. So an
edit of the machine can cost what was kept, but never the truth. The search for a link keeps clauses only: its samples
are drawn again.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

from thence.dsl import ir
from thence.dsl.check.stated.machine_formula import machine_formula
from thence.dsl.ir.types import BOOL, NAT
from thence.dsl.write.show import show_expression
from thence.proofs.infer.candidates.clauses import Clause, clause_from
from thence.proofs.infer.candidates.reasons import come_first
from thence.proofs.infer.finite.samples import Sampler, Samples
from thence.proofs.infer.search.goals import about_states
from thence.proofs.infer.search.strengthening import Strengthening
from thence.proofs.logic.formula import Unsupported, conj
from thence.proofs.logic.structure import Structure, Table, Value, elements, evaluate, tuples
from thence.proofs.machine.goals import TransitionRun
from thence.proofs.machine.transitions import Action, actions, enabled, free_at_first, initial, step, symbols
from thence.spec.cache_folder import read_kept
from thence.spec.user_error import UserError

FORMAT = "thence-infer/1"

FIRST_KEPT_S, KEPT_EVERY_S, KEPT_SHARE = 1.0, 5.0, 0.02
"""So long after its beginning a search is kept for the first time, so often from then on, and so much of the time is
spent on it at most."""

LARGEST = 64
"""Elements of a sort in a kept universe; a file with more is spoilt."""

Start: TypeAlias = Mapping[str, Sequence[int]]
"""The values of each symbol that an initial state gives any values, in the order of the tuples of arguments."""


class NotKept(UserError):
    """A file that is not what a search kept."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A step from the state of an earlier record."""

    before: int
    action: str
    arguments: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Forest:
    """Runs in one universe: each record is an initial state, or a step from the state of an earlier one."""

    universe: Mapping[str, int]
    records: tuple[Start | Taken, ...]


@dataclass(frozen=True, slots=True)
class Kept:
    """A search, as far as it came.

    Attributes:
        machine: `digest` of the machine or link that it was about.
        reasons: whether the vocabulary had guards that were true of somebody; of a link, never.
        variables: how many a clause could have; of a link, the rank of the clauses that were tried.
        base, wanted, given_up: clauses, as `Strengthening` has them; of a link, those that are enough, those that
            proofs rest on so far, and those that no proof was found of.
        samples: of random runs; `runs`: those that made a clause false.
    """

    machine: str
    reasons: bool
    variables: int
    base: tuple[str, ...]
    wanted: tuple[str, ...]
    given_up: tuple[str, ...]
    samples: tuple[Forest, ...]
    runs: tuple[Forest, ...]


def digest(subject: ir.Machine | ir.Link) -> str:
    """A hash of all that a machine or link says; places and documentation aside."""
    return sha256(repr(replace(subject, doc="")).encode()).hexdigest()


def kept_of(
    machine: ir.Machine,
    search: Strengthening | None,
    reasons: bool,
    samplers: Sequence[Sampler],
    earlier: Kept | None,
) -> Kept | None:
    """What another search can go on with; what this one has not come to yet is as the earlier one left it.

    Args:
        reasons: whether the vocabulary of the search has them.
    """
    if not samplers:
        return earlier
    samples = [forest_of(machine, sampler.samples) for sampler in samplers]
    if earlier is not None:
        there = [forest.universe for forest in samples]
        samples += [forest for forest in earlier.samples if forest.universe not in there]
    if search is None:
        if earlier is not None:
            return replace(earlier, samples=tuple(samples))
        return Kept(digest(machine), come_first(machine), 0, (), (), (), tuple(samples), ())
    new = [forest_of_run(machine, run) for run in search.refuting]
    return Kept(
        digest(machine),
        reasons,
        search.most_variables,
        texts_of(search.base),
        texts_of(search.wanted),
        texts_of(search.dead),
        tuple(samples),
        (*(() if earlier is None else earlier.runs), *new),
    )


def texts_of(formulas: Iterable[ir.Expr]) -> tuple[str, ...]:
    return tuple(show_expression(formula) for formula in formulas)


def clauses_of(machine: ir.Machine, texts: Sequence[str]) -> dict[ir.Expr, Clause]:
    """The clauses that are still formulas of the machine, in their order."""
    found: dict[ir.Expr, Clause] = {}
    for text in texts:
        body, _ = machine_formula(machine, text, "what was kept")
        if body is not None:
            clause = clause_from(body)
            found[clause.formula] = clause
    return found


# --- runs ----------------------------------------------------------------------------------------


def forest_of(machine: ir.Machine, samples: Samples) -> Forest:
    """The samples as records; an interrupt may have come between a state and its origin."""
    records: list[Start | Taken] = []
    for state, origin in zip(samples.states, samples.origins, strict=False):
        if origin is None:
            records.append(_start_of(machine, state))
        else:
            before, action, arguments = origin
            records.append(Taken(before, action.name, arguments))
    return Forest(samples.universe, tuple(records))


def forest_of_run(machine: ir.Machine, run: TransitionRun) -> Forest:
    steps = [Taken(number, action.name, arguments) for number, (action, arguments) in enumerate(run.steps)]
    return Forest(run.start.universe, (_start_of(machine, run.start), *steps))


def _start_of(machine: ir.Machine, state: Structure) -> Start:
    return {
        symbol.name: [int(state.tables[symbol.name].get(key, 0)) for key in tuples(_types(symbol), state.universe)]
        for symbol in symbols(machine)
        if symbol.name in free_at_first(machine)
    }


def _types(symbol: ir.Symbol) -> list[Any]:
    return [parameter.type for parameter in symbol.parameters]


def replayed(machine: ir.Machine, forest: Forest) -> list[Structure | None]:
    """The state of each record, computed again; None where the machine does not allow it, or not any more."""
    known = {action.name: action for action in actions(machine)}
    found: list[Structure | None] = []
    for record in forest.records:
        try:
            if isinstance(record, Taken):
                before = found[record.before] if 0 <= record.before < len(found) else None
                action = known.get(record.action)
                state = None if before is None or action is None else _after(action, record.arguments, before)
            else:
                state = _started(machine, forest.universe, record)
        except Unsupported:
            state = None
        found.append(state)
    return found


def restore(sampler: Sampler, machine: ir.Machine, forests: Sequence[Forest]) -> int:
    """Gives a sampler the samples that were kept for its universe; returns how many there are."""
    known = {action.name: action for action in actions(machine)}
    for forest in forests:
        if dict(forest.universe) == dict(sampler.samples.universe):
            states = replayed(machine, forest)
            origins = [
                (each.before, known[each.action], each.arguments)
                if state is not None and isinstance(each, Taken)
                else None
                for state, each in zip(states, forest.records, strict=True)
            ]
            return sampler.restore(states, origins)
    return 0


def _after(action: Action, arguments: tuple[int, ...], before: Structure) -> Structure | None:
    if len(arguments) != len(action.parameters):
        return None
    for parameter, value in zip(action.parameters, arguments, strict=True):
        if value < 0 or (parameter.type != NAT and value not in elements(parameter.type, before.universe)):
            return None
    return step(action, arguments, before) if enabled(action, arguments, before) else None


def _started(machine: ir.Machine, universe: Mapping[str, int], start: Start) -> Structure | None:
    """The initial state, if it has a value for all that is free, and satisfies the axioms."""
    free = [symbol for symbol in symbols(machine) if symbol.name in free_at_first(machine)]
    if {symbol.name for symbol in free} != set(start):
        return None
    given: dict[str, Table] = {}
    for symbol in free:
        keys, values = list(tuples(_types(symbol), universe)), start[symbol.name]
        if len(keys) != len(values) or not all(_fits(symbol, value, universe) for value in values):
            return None
        typed: list[Value] = [bool(value) for value in values] if symbol.result == BOOL else list(values)
        given[symbol.name] = dict(zip(keys, typed, strict=True))
    state = initial(machine, universe, given)
    return state if evaluate(conj(axiom.body for axiom in machine.axioms), state, {}) else None


def _fits(symbol: ir.Symbol, value: int, universe: Mapping[str, int]) -> bool:
    if symbol.result == BOOL:
        return value in (0, 1)
    return value >= 0 and (symbol.result == NAT or value in elements(symbol.result, universe))


# --- while a search goes on ----------------------------------------------------------------------


@dataclass(slots=True)
class Keeping:
    """Keeps a search from time to time, so that one that is killed leaves something to the next.

    Attributes:
        write: keeps it, in the place where its end is kept, too; None: nowhere.
    """

    write: Callable[[Kept], None] | None = None
    _next_s: float = field(default_factory=lambda: time.monotonic() + FIRST_KEPT_S)

    def noting(self, note: Callable[[str], None], kept: Callable[[], Kept | None]) -> Callable[[str], None]:
        """The note of a search that also keeps what there is, where the last time is long enough ago."""
        if self.write is None:
            return note

        def noted(doing: str) -> None:
            note(doing)
            if time.monotonic() >= self._next_s:
                self._keep(kept)

        return noted

    def _keep(self, kept: Callable[[], Kept | None]) -> None:
        """Keeps what there is, if there is anything. What cannot be written is told at the end of the search."""
        assert self.write is not None
        begun = time.monotonic()
        found = kept()
        if found is not None:
            with suppress(OSError):
                self.write(found)
        ended = time.monotonic()
        self._next_s = ended + max(KEPT_EVERY_S, (ended - begun) / KEPT_SHARE)


# --- the file ------------------------------------------------------------------------------------


def save(path: Path, kept: Kept) -> None:
    """Writes the file whole or not at all. Raises: OSError."""
    document = {
        "format": FORMAT,
        "machine": kept.machine,
        "reasons": kept.reasons,
        "variables": kept.variables,
        "base": kept.base,
        "wanted": kept.wanted,
        "given_up": kept.given_up,
        "samples": [_forest_json(each) for each in kept.samples],
        "runs": [_forest_json(each) for each in kept.runs],
    }
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(document, file)
        draft.replace(path)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def _forest_json(forest: Forest) -> dict[str, Any]:
    return {
        "universe": dict(forest.universe),
        "records": [
            [each.before, each.action, list(each.arguments)] if isinstance(each, Taken) else each
            for each in forest.records
        ],
    }


def read(path: Path) -> Kept | None:
    """What was kept there; None where there is no such file. Raises: NotKept."""
    try:
        document = json.loads(read_kept(path))
        return _kept(document)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise NotKept(f"{path} is not what a search kept; remove it, or leave out --resume") from error


def _kept(document: Any) -> Kept:
    if document["format"] != FORMAT:
        raise ValueError(document["format"])
    texts = {name: tuple(_text(each) for each in document[name]) for name in ("base", "wanted", "given_up")}
    return Kept(
        _text(document["machine"]),
        document["reasons"] is True,
        _number(document["variables"]),
        texts["base"],
        texts["wanted"],
        texts["given_up"],
        tuple(_forest(each) for each in document["samples"]),
        tuple(_forest(each) for each in document["runs"]),
    )


def _forest(document: Any) -> Forest:
    universe = {_text(sort): _number(size) for sort, size in document["universe"].items()}
    if any(not 0 <= size <= LARGEST for size in universe.values()):
        raise ValueError("no search has such a universe")
    return Forest(universe, tuple(_record(each) for each in document["records"]))


def _record(document: Any) -> Start | Taken:
    if isinstance(document, list):
        before, action, arguments = document
        return Taken(_number(before), _text(action), tuple(_number(each) for each in arguments))
    return {_text(name): [_number(each) for each in values] for name, values in document.items()}


def _number(found: Any) -> int:
    if type(found) is not int:
        raise TypeError(found)
    return found


def _text(found: Any) -> str:
    if not isinstance(found, str):
        raise TypeError(found)
    return found


def beginning(machine: ir.Machine, clauses: Iterable[ir.Expr]) -> Kept:
    """Clauses from elsewhere, in the form in which a search begins with them, in the place of all short clauses."""
    stated = about_states(machine)
    return Kept(digest(stated), come_first(stated), 0, texts_of(clauses), (), (), (), ())
