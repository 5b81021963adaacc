"""The executions of Mattern and Fünfrocken (1994) as message orderings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from thence.proofs.executions.ordering import Occurrence, Ordering


def _ordering(ends: Mapping[str, tuple[int, int]], *lines: str) -> Ordering:
    """The ordering of the lines, one for each process: `+x` sends x, `-x` receives x."""
    number = {name: count for count, name in enumerate(ends)}
    return Ordering(
        tuple(
            tuple(Occurrence("send" if word[0] == "+" else "receive", number[word[1:]]) for word in line.split())
            for line in lines
        ),
        tuple(ends.values()),
    )


_CHAIN: Final = {"x": (0, 2), "y": (0, 1), "z": (1, 2)}
_CROWNS: Final = {"a": (2, 0), "b": (1, 0), "c": (1, 2), "d": (0, 2), "e": (0, 1), "f": (2, 1)}

FIGURES: Final[Mapping[str, Ordering]] = {
    "Figure 3": _ordering({"x": (0, 1), "y": (1, 0)}, "+x -y", "+y -x"),
    "Figure 4": _ordering(_CHAIN, "+x +y", "-y +z", "-z -x"),
    "Figures 5 and 6": _ordering(_CHAIN, "+x +y", "-y +z", "-x -z"),
    "Figure 7": _ordering(_CROWNS, "+e +d -a -b", "+c +b -e -f", "+a +f -c -d"),
    "Figure 8": _ordering(_CROWNS, "+e +d -b -a", "+c +b -f -e", "+a +f -d -c"),
}
"""The executions by their names in the paper. Figure 1 is stuck on Figure 3; Figures 5 and 6 are one execution."""
