"""A packet whose `message` is not that of the protocol's packet, named as such."""

from __future__ import annotations

import re
from typing import Any, Final

from thence.conformance.replay.replay import Signature
from thence.conformance.systems.strangers import say, word

_MESSAGE: Final = re.compile(r"m[0-9]+\.[0-9]+")
"""The names that the harness gives to the messages of the application."""

_LONGEST: Final = 60


def wrong_message(expected: Signature, got: Signature, packets: list[Any]) -> str | None:
    """The fault of the `message` of the packet at which two steps part; None where they differ in something else.

    `packets` are the subject's: for each element of `got` a packet, or None for a delivery.
    """
    for wanted, shown, packet in zip(expected, got, packets, strict=False):
        if wanted != shown:
            return _fault(wanted[2], packet) if len(wanted) == len(shown) == 3 and wanted[:2] == shown[:2] else None
    return None


def _fault(wanted: str | None, packet: Any) -> str:
    """What is wrong with the `message` of a packet that should move the message `wanted`, if any."""
    moves = "no message, and its `message` is None" if wanted is None else wanted
    behind = f"the protocol's packet moves {moves}"
    found = word(packet, "message")
    if found is None:
        return f"the packet's `message` {_absent(packet)}; {behind}"
    if wanted is None or _MESSAGE.fullmatch(found):
        return f"the packet's `message` is {found}; {behind}"
    shown = found if len(found) <= _LONGEST else found[: _LONGEST - 1] + "…"
    return f"the packet's `message` is {shown}, which is no message of the application; {behind}"


def _absent(packet: Any) -> str:
    try:
        value = packet.message
    except AttributeError as error:
        return f"raises {say(error)}" if hasattr(type(packet), "message") else "is missing"
    except Exception as error:
        return f"raises {say(error)}"
    return "is None" if value is None else "has no text"
