"""Protocols whose application does more than send: no case draws their inputs."""

from __future__ import annotations

from thence.dsl import ir
from thence.spec.user_error import UserError


def refuse_inputs(protocol: ir.Protocol) -> None:
    """Refuses a protocol with inputs of its own: no case draws them, and no log has them.

    Raises:
        UserError: the protocol has some.
    """
    if protocol.inputs:
        names = ", ".join(f"`on {handler.kind}`" for handler in protocol.inputs)
        raise UserError(
            f"no system can be held against {protocol.name}: its application has inputs besides causal sends ({names}),"
            " and cases do not draw inputs"
        )
