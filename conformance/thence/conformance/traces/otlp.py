"""OpenTelemetry: spans in OTLP JSON, as collectors and SDKs export them to files.

A span of kind PRODUCER is a send. A span of kind CONSUMER is a delivery of each producer span that it links to, or,
without links, of its parent. The process is the resource's `service.instance.id`, else `service.name`; the message is
the producer's `messaging.message.id`, else its span id. Spans say nothing about destinations that never got a
message: what is not consumed is not `stuck`. Order within a process is by start time; clocks of different processes
are not compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from thence.conformance.traces.named import Recording
from thence.spec.logs import LogError
from thence.spec.trace import Trace

_PRODUCER = (4, "SPAN_KIND_PRODUCER")
_CONSUMER = (5, "SPAN_KIND_CONSUMER")


@dataclass(frozen=True, slots=True)
class _Span:
    """A span. Its identity is that of its trace and its own, which is unique within the trace only."""

    process: str
    identity: tuple[str, str]
    start: int
    kind: object
    sources: tuple[tuple[str, str], ...]
    message: str


def is_otlp(value: object) -> bool:
    """Whether a JSON value is an export of spans."""
    return isinstance(value, Mapping) and "resourceSpans" in value


def read_otlp(exports: list[Any]) -> Trace:
    """The execution that the spans of one or more export requests show. Raises LogError if they do not."""
    spans = sorted((span for export in exports for span in _spans(export)), key=lambda span: span.start)
    sent = {span.identity: span.message for span in spans if span.kind in _PRODUCER}
    if not sent:
        raise LogError("there is no span of kind PRODUCER")
    _require_order(spans)
    recording = Recording(sorted({span.process for span in spans if span.kind in _PRODUCER + _CONSUMER}))
    for span in spans:
        if span.kind in _PRODUCER:
            recording.send(span.process, span.message, None)
        elif span.kind in _CONSUMER:
            known = [source for source in span.sources if source in sent]
            if not known:
                raise LogError(
                    f"the CONSUMER span {span.identity[1]} links to no PRODUCER span, and has none as its parent"
                )
            for source in known:
                recording.deliver(span.process, sent[source])
    return recording.trace({"source": "OTLP"})


def _require_order(spans: Iterable[_Span]) -> None:
    """Raises LogError: two sends or deliveries of a process start at the same time, so that neither is the first."""
    found: dict[tuple[str, int], _Span] = {}
    for span in spans:
        if span.kind not in _PRODUCER + _CONSUMER:
            continue
        other = found.setdefault((span.process, span.start), span)
        if other is not span:
            both = f"{other.identity[1]} and {span.identity[1]} of {span.process}"
            raise LogError(f"the spans {both} start at the same time: nothing says which came first")


def _spans(export: Any) -> Iterator[_Span]:
    try:
        for resource in export["resourceSpans"]:
            attributes = _attributes(resource.get("resource", {}))
            process = attributes.get("service.instance.id") or attributes.get("service.name")
            for scope in resource.get("scopeSpans", resource.get("instrumentationLibrarySpans", [])):
                for span in scope.get("spans", []):
                    yield _span(span, process)
    except (AttributeError, KeyError, TypeError) as error:
        raise LogError(f"it is not OTLP JSON: {error}") from error


def _span(span: Mapping[str, Any], process: str | None) -> _Span:
    if process is None:
        raise LogError(f"the resource of span {span['spanId']} has neither service.instance.id nor service.name")
    trace = str(span.get("traceId", ""))
    links = tuple((str(link.get("traceId", trace)), str(link["spanId"])) for link in span.get("links", []))
    parents = ((trace, str(span["parentSpanId"])),) if span.get("parentSpanId") else ()
    try:
        start = int(span["startTimeUnixNano"])
    except (ValueError, OverflowError) as error:
        raise LogError(f"span {span['spanId']} has no start time") from error
    message = _attributes(span).get("messaging.message.id") or str(span["spanId"])
    return _Span(process, (trace, str(span["spanId"])), start, span.get("kind"), links or parents, message)


def _attributes(of: Mapping[str, Any]) -> dict[str, str]:
    found = {}
    for attribute in of.get("attributes", []):
        value = attribute["value"]
        found[attribute["key"]] = str(next(iter(value.values()))) if value else ""
    return found
