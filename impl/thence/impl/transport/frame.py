"""Frames: what is put on the network, and how it is told from anything else that arrives there.

    "Wh" 1         three bytes: the format and its version
    ssss           the session, four bytes: a group of processes does not listen to another one
    from, to       the process that sends and the process that is meant, two bytes each
    ...            the body
    cccc           CRC-32 of all before, four bytes

All numbers are big-endian. The checksum finds what is damaged or cut off; it does not keep out anybody who wants in.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from typing import Final

_HEAD: Final = struct.Struct(">3sIHH")
_CHECKSUM: Final = struct.Struct(">I")
_FORMAT: Final = b"Wh\x01"

OVERHEAD_BYTES: Final = _HEAD.size + _CHECKSUM.size

MOST_PROCESSES: Final = 1 << 16


class FrameError(ValueError):
    """What has arrived is not a frame."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame: `body` on its way from process `sender` to process `destination`, in a group's `session`."""

    session: int
    sender: int
    destination: int
    body: bytes

    def to_bytes(self) -> bytes:
        """As on the network."""
        head = _HEAD.pack(_FORMAT, self.session, self.sender, self.destination) + self.body
        return head + _CHECKSUM.pack(zlib.crc32(head))

    @staticmethod
    def from_bytes(data: bytes) -> Frame:
        """What has arrived. Raises FrameError unless it is a whole frame of this version."""
        if len(data) < OVERHEAD_BYTES:
            raise FrameError(f"{len(data)} bytes are not a frame")
        head, checksum = data[: -_CHECKSUM.size], data[-_CHECKSUM.size :]
        if _CHECKSUM.pack(zlib.crc32(head)) != checksum:
            raise FrameError("the frame is damaged or cut off")
        name, session, sender, destination = _HEAD.unpack_from(head)
        if name != _FORMAT:
            raise FrameError("the frame is of another format or version")
        return Frame(session, sender, destination, head[_HEAD.size :])
