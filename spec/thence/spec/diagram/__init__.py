"""Space-time diagrams of executions: as SVG, as text, with a finding brought out.

The reading order: `highlight` (the messages of a finding), `layout` (columns), `labels`,
`style`, `svg`; `text` stands alone.
"""

from __future__ import annotations

from thence.spec.diagram.highlight import Highlight, Role, focus, highlight_of, in_view
from thence.spec.diagram.svg import draw_svg, without_packets
from thence.spec.diagram.text import draw_text, text_without_packets

__all__ = [
    "Highlight",
    "Role",
    "draw_svg",
    "draw_text",
    "focus",
    "highlight_of",
    "in_view",
    "text_without_packets",
    "without_packets",
]
