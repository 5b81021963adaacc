"""Colours and strokes of the SVG diagrams.

The colours are after Okabe and Ito, which people with any colour vision can tell apart. Each one is written as a plain
rule and again under `prefers-color-scheme: dark`: viewers without media queries see the light picture.
"""

from __future__ import annotations

from typing import Final

_LIGHT: Final = {
    "paper": "#fff",
    "text": "#333",
    "process": "#777",
    "arrow": "#666",
    "dot": "#444",
    "missing": "#c04a00",
    "overtaking": "#0064a8",
    "chain": "#00805c",
    "path": "#00a67a",
    "packet": "#9467a8",
}
_DARK: Final = {
    "paper": "#16181d",
    "text": "#ddd",
    "process": "#888",
    "arrow": "#999",
    "dot": "#ccc",
    "missing": "#ff9a4d",
    "overtaking": "#62b8f0",
    "chain": "#3fd0a0",
    "path": "#3fd0a0",
    "packet": "#b592c6",
}

_SHAPES = """\
.thence-diagram text{font:12px ui-sans-serif,system-ui,'Helvetica Neue',Arial,sans-serif}
.thence-diagram text.name{font-weight:600;font-size:13px}
.thence-diagram text.caption{font-size:13px}
.thence-diagram text.halo{stroke-width:4px;stroke-linejoin:round}
.thence-diagram .process{stroke-width:1.3;fill:none}
.thence-diagram .arrow{stroke-width:1.1;fill:none}
.thence-diagram .unfinished{stroke-dasharray:2 3}
.thence-diagram .waiting{stroke-dasharray:3 2.5}
.thence-diagram .ring{stroke-width:1.4}
.thence-diagram .expected{stroke-dasharray:2.5 2}
.thence-diagram .path{stroke-width:5;stroke-opacity:.35;stroke-linecap:round;fill:none}
.thence-diagram .packet{stroke-width:.8;fill:none}
.thence-diagram .turn{stroke-width:1;stroke-dasharray:7 4;fill:none}
.thence-diagram text.turn{font-style:italic}
.thence-diagram .offence{stroke-width:1.6;fill:none}
"""


_DASHES: Final = ("none", "1 2", "5 2", "7 2 1 2", "3 3", "9 2 1 2 1 2")
KINDS: Final = len(_DASHES)
"""Styles of control packets; more kinds begin again."""

_SHAPES += "".join(f".thence-diagram .k{kind}{{stroke-dasharray:{dash}}}\n" for kind, dash in enumerate(_DASHES))


def _colours(palette: dict[str, str]) -> str:
    rules = [
        ("text", f"fill:{palette['text']}"),
        (".paper", f"fill:{palette['paper']}"),
        ("text.halo", f"stroke:{palette['paper']};fill:{palette['paper']}"),
        (".process", f"stroke:{palette['process']}"),
        (".arrow", f"stroke:{palette['arrow']}"),
        (".packet", f"stroke:{palette['packet']}"),
        (".head", f"fill:{palette['dot']}"),
        (".dot", f"fill:{palette['dot']}"),
        (".ring", f"fill:{palette['paper']};stroke:{palette['dot']}"),
        (".path", f"stroke:{palette['path']}"),
        (".turn", f"stroke:{palette['text']}"),
        ("text.turn", f"stroke:none;fill:{palette['text']}"),
        (".offence", f"stroke:{palette['overtaking']}"),
    ]
    for role in ("missing", "overtaking", "chain"):
        rules += [
            (f".{role}.arrow", f"stroke:{palette[role]};stroke-width:2"),
            (f".{role}.ring", f"stroke:{palette[role]};stroke-width:2"),
            (f".{role}.head", f"fill:{palette[role]}"),
            (f".{role}.dot", f"fill:{palette[role]}"),
            (f"text.{role}", f"fill:{palette[role]};font-weight:700"),
        ]
    return "".join(f".thence-diagram {selector}{{{rule}}}\n" for selector, rule in rules)


STYLE: Final = f"{_SHAPES}{_colours(_LIGHT)}@media (prefers-color-scheme:dark){{\n{_colours(_DARK)}}}"
"""The style sheet, every rule of which is confined to `.thence-diagram`."""
