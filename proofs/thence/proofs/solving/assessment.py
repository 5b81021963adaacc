"""What was found out about a statement, and all the evidence that the verdict rests on."""

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
"""The key of a refuting model or run; the others are named by what they are evidence for."""


@dataclass(frozen=True, slots=True)
class Assessment:
    """What was found out about one statement. `facts` are JSON values; the rest of the evidence is not in the JSON.

    Attributes:
        discharges: every obligation that a verdict `proved` rests on.
        models: executions of a theory: the one that refutes, and for each assumption one that shows that it is needed.
        runs: of a machine: the one that refutes, and for each transition one in which it happens.
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
    """A result with the evidence for it: what a certificate is written from."""

    result: Result
    assessment: Assessment


def unknown(reason: str, facts: Mapping[str, Any] | None = None, text: str = "") -> Assessment:
    """Nothing was decided: why in a sentence, and at length for a reader."""
    return Assessment(Verdict.UNKNOWN, Level.L2, {**(facts or {}), "unknown": reason}, text or reason)
