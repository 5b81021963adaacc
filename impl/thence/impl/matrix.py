"""Matrices of counts, as the protocols of Raynal, Schiper and Toueg attach them to messages.

NOTE(shared rows): rows are immutable and replaced when they change. A message shares all rows with its sender's matrix,
and after the delivery the receiver shares with both the rows that it took over. So attaching a matrix takes time linear
in the number of processes, and what is shared is neither looked into nor merged again.

NOTE(lanes): rows that differ are checked and compared as a whole. `struct` packs a row into one long integer, 64 bits a
count; with the top bit of each lane set in the one, the other can be subtracted without a lane borrowing from the next,
and those lanes have kept their bit in which the one is not less. That is several times faster than a loop over counts,
where there are more than a few.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, TypeAlias

from thence.impl.commands import ProtocolError

Row: TypeAlias = tuple[int, ...]
Matrix: TypeAlias = tuple[Row, ...]
"""Entry [k][l]: how many messages Pk is known to have sent to Pl."""


FEW: Final = 20
"""So many counts are compared one by one."""


def counted(row: Row, receiver: int) -> Row:
    """The row with one message more to `receiver`."""
    return (*row[:receiver], row[receiver] + 1, *row[receiver + 1 :])


def joined(ours: Row, theirs: Row) -> Row:
    """The entry-wise maximum; one of the two rows itself, where that is it.

    Rows of one process, as two others know it, are nearly always states of that process's row at different times: then
    one of them is the maximum, and only comparisons are needed.
    """
    if ours is theirs or ours == theirs:
        return ours
    later, earlier = (theirs, ours) if theirs > ours else (ours, theirs)
    return later if covers(later, earlier) else _maximum(ours, theirs)


def merge(ours: list[Row], theirs: Matrix) -> None:
    """Raise each entry of `ours` to that of `theirs`, where that is larger: `joined`, row by row, written out."""
    if len(ours) <= FEW:
        for place, row in enumerate(theirs):
            own = ours[place]
            if own is not row and own != row:
                highest = _maximum(own, row)
                ours[place] = row if highest == row else highest
        return
    packing, tops = _lanes(len(ours))
    pack, number = packing.pack, int.from_bytes
    for place, row in enumerate(theirs):
        own = ours[place]
        if own is row or own == row:
            continue
        newer = row > own
        later, earlier = (row, own) if newer else (own, row)
        if ((number(pack(*later), "big") | tops) - number(pack(*earlier), "big")) & tops != tops:
            ours[place] = _maximum(own, row)
        elif newer:
            ours[place] = row


def _maximum(ours: Row, theirs: Row) -> Row:
    return tuple([own if own > other else other for own, other in zip(ours, theirs, strict=True)])


def covers(row: Row, other: Row) -> bool:
    """Whether no count of `row` is less than that of `other`."""
    if row is other or row == other:
        return True
    packing, tops = _lanes(len(row))
    whole = int.from_bytes(packing.pack(*row), "big")
    part = int.from_bytes(packing.pack(*other), "big")
    return ((whole | tops) - part) & tops == tops


def require_matrix(value: object, ours: Sequence[Row]) -> None:
    """Raise ProtocolError unless `value` is a matrix with as many rows and columns as `ours` has rows."""
    size = len(ours)
    if isinstance(value, tuple) and len(value) == size:
        packing, tops = _lanes(size)
        try:
            for own, row in zip(ours, value, strict=True):
                if own is row or own == row:
                    continue
                if type(row) is not tuple or int.from_bytes(packing.pack(*row), "big") & tops:
                    break
            else:
                return
        except struct.error:
            pass  # not so many counts, or not counts
    raise ProtocolError(f"not a matrix of {size} rows of counts: {value!r:.200}")


def require_row(value: object, size: int) -> None:
    """Raise ProtocolError unless `value` is a vector of `size` counts."""
    if not _is_row(value, size):
        raise ProtocolError(f"not a vector of {size} counts: {value!r:.200}")


def require_known(claimed: Row, made: Row, sender: int) -> None:
    """Raise ProtocolError if `sender` knows of messages of ours (`claimed`) that we have not sent (`made`)."""
    if not covers(made, claimed):
        raise ProtocolError(f"process {sender} knows of messages that were not sent: {claimed!r:.99}, not {made!r:.99}")


def _is_row(value: object, size: int) -> bool:
    """Whether this is a vector of `size` counts, of 63 bits each."""
    if not isinstance(value, tuple) or len(value) != size:
        return False
    packing, tops = _lanes(size)
    try:
        return int.from_bytes(packing.pack(*value), "big") & tops == 0
    except struct.error:
        return False


@lru_cache(maxsize=64)
def _lanes(size: int) -> tuple[struct.Struct, int]:
    """How to pack a row of this size, and the integer with the top bit of each of its lanes."""
    return struct.Struct(f">{size}Q"), sum(1 << 64 * place + 63 for place in range(size))
