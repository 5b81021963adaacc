"""Protocols on overlays that nobody wrote: a drawn protocol is put on drawn links, and sends to neighbors, mostly."""

from __future__ import annotations

import re
from itertools import permutations
from random import Random

from thence.dsl.ir.topology import Edges

_SEND = re.compile(r"send (\w+\([^()]*\)) to ([\w.]+)$")


def with_overlay(text: str, seed: int, guarded: float = 0.93) -> str:
    """The text of a drawn protocol on an overlay. Some packets still go to processes that may be no neighbors: each
    statement that sends minds them with the probability `guarded`.
    """
    random = Random(~seed)
    lines = []
    for line in text.splitlines():
        if line.startswith("  network "):
            line += ", overlay"
        if random.random() < guarded:
            line = _SEND.sub(random.choice(GUARDED), line)
        lines.append(line)
    return "\n".join([*lines, "  invariant apart: forall p: process. p not in neighbors@p", ""])


GUARDED = (
    r"if \2 in neighbors: send \1 to \2",
    r"if \2 in neighbors: send \1 to \2",
    r"for next_to in neighbors: send \1 to next_to",
)


def drawn_links(seed: int, processes: int) -> Edges:
    """Some of the links between the processes, at least one; now and then none, which means all."""
    random = Random(seed)
    known = sorted(permutations(range(processes), 2))
    chosen = random.sample(known, random.randint(0 if random.random() < 0.3 else 1, len(known)))
    return tuple(sorted(chosen))
