"""What a protocol's scopes depend on."""

from __future__ import annotations

from thence.dsl import ir
from thence.spec.value import record


@record(frozen=True, slots=True)
class ProtocolKind:
    """The part of a protocol that its scopes depend on: the delivery of messages, whether the network is a tree or an
    overlay, the names of its timers, whether its application sends messages, and what else it does: each input with the
    names and types of its parameters. `constants`: name, type and value of each constant and role. `chooses`: whether a
    step may have several outcomes.
    """

    delivery: ir.Delivery = "unicast"
    tree: bool = False
    timers: tuple[str, ...] = ()
    sends: bool = True
    inputs: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()
    constants: tuple[tuple[str, str, int | bool], ...] = ()
    chooses: bool = False
    overlay: bool = False


ANY_PROTOCOL = ProtocolKind()


def kind_of(protocol: ir.Protocol) -> ProtocolKind:
    """The kind of a checked protocol."""
    inputs = tuple(
        (each.kind or "", tuple((parameter.name, str(parameter.type)) for parameter in each.parameters))
        for each in protocol.inputs
    )
    constants = tuple((one.name, str(one.type), one.value) for one in protocol.constants)
    return ProtocolKind(
        protocol.delivery, protocol.network.tree, protocol.timers, protocol.sends, inputs, constants, protocol.chooses,
        protocol.network.overlay,
    )  # fmt: skip
