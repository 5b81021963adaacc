"""The actions of a step, as formulas about actions see them: `when p delivers m: P`."""

from __future__ import annotations

from collections.abc import Iterable

from thence.dsl.run.evaluate import Acts
from thence.dsl.run.execute import Delivered, Emission
from thence.dsl.run.interpreter import Cause
from thence.dsl.run.values import Message, Occurrence, Packet, Value


def acts_of(process: int, cause: Cause | None, emissions: Iterable[Emission]) -> Acts:
    """What the process did in a step: the packet that arrived or the input, if any, and each delivery."""
    acted: dict[tuple[str, str | None], tuple[Value, ...]] = {}
    handed = tuple((process, each.message) for each in emissions if isinstance(each, Delivered))
    if handed:
        acted["delivers", None] = handed
    match cause:
        case Packet():
            acted["receives", cause.kind] = ((process, *cause.arguments, cause.src),)
        case Occurrence():
            acted["does", cause.name] = ((process, *cause.arguments),)
        case Message() | None:
            pass
    return acted
