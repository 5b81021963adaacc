"""Matrices of counts, as the protocols of Raynal, Schiper and Toueg attach them to messages.

NOTE(shared rows): rows are immutable and replaced when they change. A message shares all rows with its sender's matrix,
and after the delivery the receiver shares with both the rows that it took over. So attaching a matrix takes time linear
in the number of processes, and what is shared is neither looked into nor merged again.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import ge
from typing import TypeAlias

from whence.impl.commands import ProtocolError

Row: TypeAlias = tuple[int, ...]
Matrix: TypeAlias = tuple[Row, ...]
"""Entry [k][l]: how many messages Pk is known to have sent to Pl."""


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
    return later if all(map(ge, later, earlier)) else tuple(map(max, ours, theirs))


def require_matrix(value: object, ours: Sequence[Row]) -> None:
    """Raise ProtocolError unless `value` is a matrix with as many rows and columns as `ours` has rows."""
    size = len(ours)
    if not (
        isinstance(value, tuple)
        and len(value) == size
        and all(own is row or _is_row(row, size) for own, row in zip(ours, value, strict=True))
    ):
        raise ProtocolError(f"not a matrix of {size} rows of counts: {value!r:.200}")


def require_row(value: object, size: int) -> None:
    """Raise ProtocolError unless `value` is a vector of `size` counts."""
    if not _is_row(value, size):
        raise ProtocolError(f"not a vector of {size} counts: {value!r:.200}")


def require_known(claimed: Row, made: Row, sender: int) -> None:
    """Raise ProtocolError if `sender` knows of messages of ours (`claimed`) that we have not sent (`made`)."""
    if claimed is not made and not all(map(ge, made, claimed)):
        raise ProtocolError(f"process {sender} knows of messages that were not sent: {claimed!r:.99}, not {made!r:.99}")


def _is_row(value: object, size: int) -> bool:
    return isinstance(value, tuple) and len(value) == size and set(map(type, value)) == {int} and min(value) >= 0
