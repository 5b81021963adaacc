"""One case, and the rows that a worker makes of many.

The work of a Spark task is here, free of Spark: `run_cases` maps seeds to rows.
"""

from __future__ import annotations

import importlib
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Any, TypeAlias

import pyarrow as pa

from thence.conformance.campaign.parameters import CampaignError, canonical_json
from thence.conformance.cases.time_limit import OutOfTime, limited
from thence.spec.collector import collector_seldom


@dataclass(frozen=True, slots=True)
class SeedOutcome:
    """The outcome of the case of one seed.

    Attributes:
        seed: the seed.
        events: number of events of the case.
        findings: `kind` or `kind: detail`, one entry each; empty for a case that passed.
        operations_json: the case as replayable operations; stored for cases that failed.
        digest: a hash of the whole case, 64 bits, the same on every machine.
        system: the system under test, where the runner has several.
        group: the group of the case in reports, the scheduler for example.
        covered: the coverage of the case, as bits; their meaning is the runner's business.
        states: hashes of a fixed part of the abstract states that the case met: a state is always in it, or never.
        vacuous: the case says nothing about a system that passes it: nothing was delivered, for example.
    """

    seed: int
    events: int
    findings: tuple[str, ...] = ()
    operations_json: str | None = None
    digest: int = 0
    system: str = ""
    group: str = ""
    covered: int = 0
    states: tuple[int, ...] = ()
    vacuous: bool = False


CaseFunction: TypeAlias = Callable[[int], SeedOutcome]
"""Runs the case of one seed. It depends on the seed alone, not on the cases that it ran before.

It may have the attributes `facts` (see `runner_facts`) and `cell`, a function that gives the (system, group) of a
seed's case before it runs. A case without an outcome is counted there.
"""

SCHEMA = pa.schema(
    [
        pa.field("seed", pa.int64(), nullable=False),
        pa.field("system", pa.string(), nullable=False),
        pa.field("group", pa.string(), nullable=False),
        pa.field("events", pa.int64(), nullable=False),
        pa.field("digest", pa.int64(), nullable=False),
        pa.field("findings", pa.list_(pa.string()), nullable=False),
        pa.field("error", pa.string()),
        pa.field("operations", pa.string()),
        pa.field("covered", pa.list_(pa.int64()), nullable=False),
        pa.field("states", pa.list_(pa.int64()), nullable=False),
        pa.field("vacuous", pa.bool_(), nullable=False),
    ]
)
"""One row a seed. `digest` is `row_digest`; `operations` is there for failing cases; `error` says why a case has no
outcome: an exception in the runner, or its time limit. `covered` are bits, 63 to a number, the lowest first."""


_WORD = 63


def load_runner(runner: str, params: Mapping[str, Any]) -> CaseFunction:
    """The case function that the factory `runner`, `module:factory`, makes of `params`.

    Raises:
        CampaignError: it cannot be imported, or the factory refuses the parameters.
    """
    module_name, _, factory_name = runner.partition(":")
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        raise CampaignError(f"the runner's module {module_name} does not import: {_say(error)}") from error
    factory = getattr(module, factory_name, None)
    if not callable(factory):
        raise CampaignError(f"the module {module_name} has no function {factory_name}")
    try:
        function = factory(params)
    except Exception as error:
        raise CampaignError(f"the runner {runner} does not take the parameters: {_say(error)}") from error
    if not callable(function):
        raise CampaignError(f"the runner {runner} made {type(function).__name__}, not a function of a seed")
    case_function: CaseFunction = function
    return case_function


def runner_facts(case_function: CaseFunction) -> dict[str, Any]:
    """The runner's facts about its inputs: its attribute `facts`, JSON values by name; empty without one.

    Raises:
        CampaignError: it is anything else.
    """
    facts = getattr(case_function, "facts", {})
    try:
        same = isinstance(facts, dict) and json.loads(canonical_json(facts)) == facts
    except (TypeError, ValueError):
        same = False
    if not same:
        raise CampaignError("the runner's facts are not JSON values by name")
    return dict(facts)


def run_cases(runner: str, params_json: str, case_limit_s: float, seeds: Iterable[int]) -> Iterator[bytes]:
    """The rows of `seeds`, in order, as one Arrow stream; nothing for no seeds.

    A case that raises, or that takes longer than `case_limit_s`, is a row with an `error`; it does not end the run.
    """
    case_function = built(runner, params_json)
    with collector_seldom():
        rows = [_row(case_function, seed, case_limit_s) for seed in seeds]
    if rows:
        table = pa.Table.from_pylist(rows, schema=SCHEMA)
        sink = io.BytesIO()
        with pa.ipc.new_stream(sink, SCHEMA) as writer:
            writer.write_table(table)
        yield sink.getvalue()


def row_digest(outcome: SeedOutcome, error: str | None) -> int:
    """64 bits of a row, as a signed number. The seed takes part, so that equal cases do not cancel out in a XOR."""
    kind = None if error is None else error.partition(":")[0]
    counted = [outcome.seed, outcome.system, outcome.group, outcome.events, outcome.digest]
    text = canonical_json([*counted, list(outcome.findings), kind])
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big", signed=True)


@lru_cache(maxsize=1)
def built(runner: str, params_json: str) -> CaseFunction:
    """As `load_runner`. A worker process runs the tasks of many batches: it builds the case function once."""
    return load_runner(runner, json.loads(params_json))


def _row(case_function: CaseFunction, seed: int, case_limit_s: float) -> dict[str, Any]:
    error: str | None = None
    try:
        with limited(case_limit_s):
            outcome = case_function(seed)
        _check_outcome(outcome, seed)
    except OutOfTime:
        error = f"CaseTimeout: no outcome after {case_limit_s:g} s"
    except (Exception, SystemExit) as raised:
        error = _say(raised)
    if error is not None:
        system, group = _cell(case_function, seed)
        outcome = SeedOutcome(seed=seed, events=0, system=system, group=group)
    return {
        "seed": seed,
        "system": outcome.system,
        "group": outcome.group,
        "events": outcome.events,
        "digest": row_digest(outcome, error),
        "findings": list(outcome.findings),
        "error": error,
        "operations": outcome.operations_json if outcome.findings else None,
        "covered": words_of(outcome.covered),
        "states": sorted(outcome.states),
        "vacuous": outcome.vacuous and not outcome.findings,
    }


def _cell(case_function: CaseFunction, seed: int) -> tuple[str, str]:
    """The (system, group) of a seed's case; empty where the runner gives none that fits."""
    try:
        system, group = getattr(case_function, "cell", _no_cell)(seed)
    except Exception:
        return _no_cell(seed)
    return (system, group) if isinstance(system, str) and isinstance(group, str) else _no_cell(seed)


def _no_cell(_seed: int) -> tuple[str, str]:
    return "", ""


def words_of(bits: int) -> list[int]:
    """Bits as numbers of 63 bits, the lowest first."""
    words = []
    while bits:
        words.append(bits & (1 << _WORD) - 1)
        bits >>= _WORD
    return words


def bits_of(words: Iterable[int]) -> int:
    """The inverse of `words_of`."""
    return sum(word << _WORD * place for place, word in enumerate(words))


def _check_outcome(outcome: object, seed: int) -> None:
    """A runner is other people's code: a result that does not fit the row is an error of that case."""
    if not isinstance(outcome, SeedOutcome):
        raise TypeError(f"the runner returned {type(outcome).__name__}, not SeedOutcome")
    if outcome.seed != seed:
        raise ValueError(f"the runner returned the outcome of seed {outcome.seed!r}")
    findings = outcome.findings
    if not isinstance(findings, tuple) or not all(isinstance(finding, str) and finding for finding in findings):
        raise TypeError(f"findings are a tuple of texts, not {findings!r}")
    if not isinstance(outcome.events, int) or not 0 <= outcome.events < 2**63:
        raise TypeError(f"events is {outcome.events!r}")
    named = isinstance(outcome.system, str) and isinstance(outcome.group, str)
    if not isinstance(outcome.digest, int) or not named:
        raise TypeError("the digest is a number, the system and the group are texts")
    if not isinstance(outcome.operations_json, str | None):
        raise TypeError("operations_json is a text or None")
    if not isinstance(outcome.covered, int) or outcome.covered < 0:
        raise TypeError("covered are bits, as a number that is not negative")
    if not isinstance(outcome.vacuous, bool):
        raise TypeError(f"vacuous is {outcome.vacuous!r}; it is true or false")
    if not all(type(state) is int and -(2**63) <= state < 2**63 for state in outcome.states):
        raise TypeError("states are hashes of 64 bits, signed")


def _say(error: BaseException) -> str:
    """`Type: message`, on one line and not endless."""
    message = " ".join(str(error).split())
    text = f"{type(error).__name__}: {message}" if message else type(error).__name__
    return text if len(text) <= 500 else text[:499] + "…"
