"""Space-time diagrams of recorded executions, with a finding highlighted. A recording may have been cut."""

from __future__ import annotations

from thence.spec.diagram import draw_svg, draw_text, highlight_of, in_view
from thence.spec.events import Execution
from thence.spec.oracle import Finding, first_finding


def svg_of(execution: Execution, finding: Finding | None = None) -> str:
    """The diagram as SVG, with the finding (or the first one) highlighted."""
    found = finding or first_finding(execution, ended=True)
    return draw_svg(execution) if found is None else draw_svg(*in_view(execution, highlight_of(found, ended=False)))


def text_of(execution: Execution, finding: Finding | None = None) -> str:
    """The diagram in plain Unicode, with the finding (or the first one) highlighted."""
    found = finding or first_finding(execution, ended=True)
    return draw_text(execution) if found is None else draw_text(*in_view(execution, highlight_of(found, ended=False)))
