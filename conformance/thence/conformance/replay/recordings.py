"""Recordings judged: by the oracle, and against a protocol, which has a run with these events or has none."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from thence.conformance.replay.divergence import Divergence
from thence.conformance.replay.partial_observation import Answer, PartialObservationReplay, prefix
from thence.conformance.replay.process_logs import Unfit
from thence.conformance.replay.state_estimate import MOST_STATES
from thence.conformance.traces.reading import read, read_merged
from thence.dsl import ir
from thence.dsl.find import named_protocol
from thence.spec.diagram import draw_svg, draw_text, highlight_of, in_view
from thence.spec.events import Input
from thence.spec.judgement import Judgement, judge, why_no_verdict
from thence.spec.trace import Trace, TraceError, may_lose
from thence.spec.verdict import Level, Result, Verdict

_SAID: Final = {"conforming": "as", "nonconforming": "not as", "unknown": "unknown whether as"}

_SHOWN: Final = 5
"""Findings of the oracle that an explanation has."""

_SHOWN_WITH_REPLAY: Final = 3
"""The same beside a replay in a protocol."""


AT_ANY_TIME: Final = "nothing was delivered, and the protocol takes the inputs at any time"
"""Why a recording says nothing in which there are only inputs that the protocol never refuses."""


def judged(file: str, format_: str | None = None, against: ReferenceProtocol | None = None) -> Result:
    """The file, judged. Raises TraceError, also where it is no execution of the protocol's kind."""
    return _judged(file, lambda: read(file, format_, packed=against is None), against)


def judged_together(files: Sequence[str], against: ReferenceProtocol | None = None) -> Result:
    """The files as logs of one run, judged. Raises TraceError as `judged`, and where the logs do not fit together."""
    return _judged(" + ".join(files), lambda: read_merged(files), against)


def _judged(name: str, reader: Callable[[], Trace], against: ReferenceProtocol | None) -> Result:
    started = time.perf_counter()
    trace = reader()
    judgement = judge(trace.execution)
    result = _by_the_oracle(name, trace, judgement) if against is None else against.judged(name, trace, judgement)
    delivers = result.facts["detail"]["deliveries"] > 0
    taken: set[str] = set()
    if against is not None:
        taken = {event.name for event in trace.execution.events if isinstance(event, Input)}
    refusable = against is not None and not against.guarded.isdisjoint(taken)
    unknown = why_no_verdict(trace.header, happened=refusable or delivers)
    if result.verdict is Verdict.TESTED and unknown is not None:
        at_any_time = against is not None and taken and not delivers and not refusable
        facts = {**result.facts, "unknown": AT_ANY_TIME if at_any_time else unknown}
        result = replace(result, verdict=Verdict.UNKNOWN, expected=False, facts=facts)
    return replace(result, seconds=time.perf_counter() - started)


def _by_the_oracle(name: str, trace: Trace, judgement: Judgement) -> Result:
    return Result(
        name="causal delivery",
        kind="trace",
        subject=name,
        verdict=Verdict.TESTED if judgement.faultless else Verdict.REFUTED,
        level=Level.L0,
        expected=judgement.faultless,
        facts=judgement.to_json(),
        explanation="\n".join(judgement.told(_SHOWN)),
        picture=_picture(trace, judgement),
    )


def _picture(trace: Trace, judgement: Judgement) -> str:
    """The first finding as SVG; empty where there is none."""
    first = judgement.first_finding
    return "" if first is None else draw_svg(*in_view(trace.execution, highlight_of(first)))


@dataclass(frozen=True, slots=True)
class ReferenceProtocol:
    """The protocol that recordings are held against.

    Attributes:
        name: FILE or FILE:PROTOCOL, as the user gives it.
        most_states: the configurations that a replay may visit.
    """

    name: str
    most_states: int = MOST_STATES

    @property
    def guarded(self) -> frozenset[str | None]:
        """The inputs that the protocol takes at some times only."""
        protocol = named_protocol(self.name)
        return frozenset(handler.kind for handler in protocol.inputs if handler.guard is not None)

    def require(self) -> None:
        """Raises what `named_protocol` raises, before any recording is read."""
        named_protocol(self.name)

    def judged(self, file: str, trace: Trace, judgement: Judgement) -> Result:
        """The recording, judged by the oracle as far as the protocol promises, and replayed. Raises: TraceError."""
        replay = _replay(_Same(named_protocol(self.name)), trace.execution.processes, self.most_states)
        try:
            answer = replay.judge(trace.execution, replay.conditions(trace.execution, trace.header))
        except Unfit as error:
            advice = (
                "Name the protocol that the system is to follow, with --against FILE:PROTOCOL where a file has several"
            )
            raise TraceError(Path(file), None, f"is no run of {replay.protocol.name}: {error}", advice) from error
        wrong = breaks(replay.protocol, judgement, trace.header) or answer.verdict == "nonconforming"
        verdict = Verdict.REFUTED if wrong else Verdict.UNKNOWN if answer.verdict == "unknown" else Verdict.TESTED
        shown, highlight = prefix(trace.execution, answer)
        if highlight is not None:
            shown, highlight = in_view(shown, highlight)
        lines = judgement.told(_SHOWN_WITH_REPLAY)
        if answer.divergence is not None:
            lines.append(f"{'unknown' if answer.verdict == 'unknown' else 'nonconformance'}: {answer}")
            lines += ["", *draw_text(shown, highlight).splitlines()]
        return Result(
            name=f"causal delivery, as {replay.protocol.name}",
            kind="trace",
            subject=file,
            verdict=verdict,
            level=Level.L0,
            expected=verdict is Verdict.TESTED,
            facts={**judgement.to_json(), **_facts(replay.protocol.name, answer, verdict)},
            explanation="\n".join(lines),
            picture=_picture(trace, judgement) if highlight is None else draw_svg(shown, highlight),
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Same:
    """A protocol as a key: equal to itself alone, so that a file that was edited has another one."""

    protocol: ir.Protocol

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.protocol is self.protocol

    def __hash__(self) -> int:
        return id(self.protocol)


@lru_cache(maxsize=8)
def _replay(of: _Same, processes: int, most_states: int) -> PartialObservationReplay:
    return PartialObservationReplay(of.protocol, processes, most_states)


def breaks(protocol: ir.Protocol, judgement: Judgement, header: Mapping[str, Any]) -> bool:
    """Whether the recording breaks a promise of the protocol. On a network that loses more than the protocol's may, the
    protocol does not promise that messages come."""
    promised = {*protocol.properties, *protocol.eventually} or {"causal", "delivered"}
    lost = may_lose(header) and not protocol.network.lossy
    return (
        judgement.duplicate
        or bool(judgement.phantoms)
        or ("causal" in promised and (not judgement.causal or bool(judgement.gaps)))
        or ("causally_ordered" in promised and not judgement.causal)
        or ("fifo" in promised and not judgement.fifo)
        or ("delivered" in promised and judgement.stuck and not lost)
    )


def said_of(result: Result) -> str:
    """Whether the recording conforms, in a few words."""
    return f"{_SAID[result.facts['conforms']]} {result.facts['protocol']}"


def _facts(protocol: str, answer: Answer, verdict: Verdict) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "property": "conforms",
        "protocol": protocol,
        "conforms": answer.verdict,
        "matched": answer.matched,
        "states_searched": answer.states,
    }
    if answer.divergence is not None:
        facts["divergence"] = _divergence(answer.divergence)
    if verdict is Verdict.UNKNOWN:
        facts["unknown"] = str(answer)
    return facts


def _divergence(found: Divergence) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "process": found.process,
        "input": found.input,
        "expected": found.expected,
        "got": found.got,
        "fault": found.fault,
        "guard": None,
    }
    if found.guard is not None:
        shown["guard"] = {
            "condition": found.guard.condition,
            "outcome": found.guard.outcome,
            "label": found.guard.label,
            "line": found.guard.line,
            "values": [list(pair) for pair in found.guard.values],
        }
    return shown
