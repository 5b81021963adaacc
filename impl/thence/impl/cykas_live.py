"""Cykas without starvation: a message waits only for the secrets that its process had when the application sent it.

Source: Yan Tong, Nathan Liittschwager, Lindsey Kuper, "Can you keep a secret? A new protocol for sender-side
enforcement of causal message delivery", section 2.2, Algorithms 1-5, in the form of `cykas`, whose listing holds here.
The variant is ours. In Cykas a message may wait for ever, behind secrets that came after it. These did not happen
before it, so that it need not wait for them.

Listing, in our own words (labels: ours, beside the lines of the paper; process i):

    The application sends m
      L.1   m remembers how many secrets of each process are kept now
    Try to send, in the place of A2.2
      L.2   a secret that the oldest message remembers: nothing
      L.3   what the message remembers goes out of the buffer with it (with A2.15)
    An eager message arrives from k
      L.4   one more secret of k is kept
    A YCT arrives from k
      L.5   the oldest secret of k ends
      L.6   each message in the output buffer that remembers secrets of k remembers one less

Symbols:

    here
    _secrets     by process, the number of its secrets that are kept, without zeros; `_mode` is their sum
    _remembered  for each message of `_ob`, the number of secrets that it waits for: by process, without zeros

Channels: reliable, exactly once, in any order.

Departures: those of `cykas`, and the listing above. A YCT names no message, but the YCTs of one process end its secrets
in their order, so that a number for each process is enough. No packet differs from those of `cykas`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable

from thence.impl.commands import Command, ProtocolError
from thence.impl.cykas import Cykas, Eager, Normal


class CykasLive(Cykas):
    """One process of the variant. See the module for the algorithm and `CausalProcess` for the interface."""

    def __init__(self, identity: int, processes: int) -> None:
        Cykas.__init__(self, identity, processes)
        self._secrets: dict[int, int] = {}
        self._remembered: deque[dict[int, int]] = deque()

    def causal_send(self, destination: int, message: Hashable) -> list[Command]:
        """Send `message` to `destination`. Raises ValueError for an unknown destination or a message None."""
        self._group.require_sendable(destination, message)
        self._remembered.append(dict(self._secrets))  # L.1
        return Cykas.causal_send(self, destination, message)

    def _sendable(self, receiver: int) -> bool:
        return not self._remembered[0] and not self._unack >> receiver & 1  # L.2

    def _drop_first(self) -> None:
        Cykas._drop_first(self)
        self._remembered.popleft()  # L.3

    def _receive_message(self, sender: int, packet: Normal | Eager) -> list[Command]:
        commands = Cykas._receive_message(self, sender, packet)
        if isinstance(packet, Eager):
            self._secrets[sender] = self._secrets.get(sender, 0) + 1  # L.4
        return commands

    def _receive_yct(self, sender: int) -> list[Command]:
        if sender not in self._secrets:
            raise ProtocolError(f"process {sender} sends a YCT, and none is awaited from it")
        _one_less(self._secrets, sender)  # L.5
        self._count_down(sender)
        return Cykas._receive_yct(self, sender)

    def _count_down(self, sender: int) -> None:
        for remembered in self._remembered:
            if sender in remembered:
                _one_less(remembered, sender)  # L.6


def _one_less(secrets: dict[int, int], process: int) -> None:
    secrets[process] -= 1
    if secrets[process] == 0:
        del secrets[process]
