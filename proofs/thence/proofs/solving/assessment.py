"""The assessment of a statement: its verdict, with all the evidence that it rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from thence.proofs.logic.structure import Structure
from thence.proofs.solving.discharge import Discharge
from thence.proofs.solving.finite_models import Model
from thence.spec.verdict import Level, Result, Verdict


class Named(Protocol):
    """A transition."""

    @property
    def name(self) -> str: ...


class RunEvidence(Protocol):
    """A run of a machine, which evaluation can replay; see `machine.reachability.Run`."""

    @property
    def start(self) -> Structure: ...
    @property
    def steps(self) -> Sequence[tuple[Named, tuple[int, ...]]]: ...
    def states(self) -> tuple[Structure, ...]: ...


REFUTATION = ""
"""The key of a refuting model or run. Other models and runs have the name of their assumption or transition."""

POSSIBLE = "two messages of different processes are delivered"
"""The key of the run or model which shows that a proof does not hold for nothing."""

MOVES = "a transition happens"
"""The same, of a machine without messages."""


@dataclass(frozen=True, slots=True)
class Assessment:
    """The verdict on one statement. `facts` are JSON values; the rest of the evidence is not in the JSON.

    Attributes:
        discharges: every obligation that a verdict `proved` rests on.
        models: executions of a theory: the one that refutes, and for each assumption one that shows that it is needed.
        runs: of a machine: the one that refutes, and for each transition one in which it happens.
            Models and runs of a proof have one that shows that it does not hold for nothing: `POSSIBLE`.
    """

    verdict: Verdict
    level: Level
    facts: Mapping[str, Any]
    text: str
    picture: str = ""
    discharges: tuple[Discharge, ...] = ()
    models: Mapping[str, Model] = field(default_factory=dict)
    runs: Mapping[str, RunEvidence] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Proof:
    """A result with its evidence. Certificates are written from it."""

    result: Result
    assessment: Assessment


def unknown(reason: str, facts: Mapping[str, Any] | None = None, text: str = "") -> Assessment:
    """Nothing was decided: the reason in a sentence, and at length for a reader."""
    return Assessment(Verdict.UNKNOWN, Level.L2, {**(facts or {}), "unknown": reason}, text or reason)
