"""The signature of a step: what a subject did, without its metadata, in the form in which a replay has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from thence.conformance.replay.replay import Signature
from thence.conformance.systems.foreign import Answered
from thence.conformance.systems.strangers import word
from thence.impl.commands import Send


def signature_of(commands: Sequence[Any]) -> Signature:
    """The commands without their metadata, as `Expected.signature` has the protocol's."""
    signature: list[tuple[Any, ...]] = []
    for command in commands:
        if isinstance(command, Send):
            packet: Any = command.packet
            try:
                kind, message = packet.kind, packet.message
                plain = type(kind) is str and (message is None or type(message) is str)
            except Exception:
                plain = False
            if not (plain and kind.isprintable() and (message is None or message.isprintable())):
                kind, message = word(packet, "kind"), word(packet, "message")
            signature.append((command.destination, kind, message))
        elif not isinstance(command, Answered):
            signature.append((word(command, "message"),))
    return tuple(signature)
