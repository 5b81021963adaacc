"""Space-time diagrams of executions: as SVG, as text, with a finding brought out.

The reading order: `diagram_highlight` (the messages of a finding), `diagram_layout` (columns), `diagram_labels`,
`diagram_style`, `diagram_svg`; `diagram_text` stands alone.
"""

from __future__ import annotations

from thence.spec.diagram_highlight import Highlight, Role, focus, highlight_of, in_view
from thence.spec.diagram_svg import draw_svg, without_packets
from thence.spec.diagram_text import draw_text

__all__ = ["Highlight", "Role", "draw_svg", "draw_text", "focus", "highlight_of", "in_view", "without_packets"]
