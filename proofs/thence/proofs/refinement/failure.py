"""The failure of an obligation: a state of both layers, the step that is taken there, and what is false then.

A state from which an obligation fails satisfies the invariants, and need not be reachable.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from thence.dsl import ir
from thence.proofs.refinement.drawing import Layers, Reader, changes, constants, drawn, drawn_in_loops
from thence.proofs.refinement.false_parts import false_parts
from thence.proofs.refinement.obligations import Claimed

WIDE = 92
"""Columns of text. Two layers that do not fit side by side stand one below the other."""

_BETWEEN = " \u2502 "


@dataclass(frozen=True, slots=True)
class Failure:
    """All of it as text, by parts.

    Attributes:
        obligation: its name.
        step: the handler and the process that takes it; what arrives or is given.
        before: the state before the step.
        loops: for each loop that the step has come to, what is known when a round begins.
        changes: what the step has changed where the obligation fails; nothing where an expression is without a value.
        false: the guards or the parts of an invariant that are false, with the elements.
    """

    layers: tuple[str, str]
    obligation: str
    step: str
    before: Layers
    loops: tuple[Layers, ...]
    changes: Layers
    false: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """JSON values: the layers are two objects."""
        return {
            "obligation": self.obligation,
            "step": self.step,
            "protocol": _layer_json(self.layers[0], self.before.protocol, self.changes.protocol),
            "machine": _layer_json(self.layers[1], self.before.machine, self.changes.machine),
            "loops": [{"protocol": list(each.protocol), "machine": list(each.machine)} for each in self.loops],
            "false": list(self.false),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Failure:
        """What `to_json` gave."""
        left, right = value["protocol"], value["machine"]
        loops = (Layers(tuple(each["protocol"]), tuple(each["machine"])) for each in value["loops"])
        before, changed = (Layers(tuple(left[which]), tuple(right[which])) for which in ("before", "changes"))
        names = left["name"], right["name"]
        return cls(names, value["obligation"], value["step"], before, tuple(loops), changed, tuple(value["false"]))

    def text(self, most: int = WIDE) -> list[str]:
        """For a reader: the state, the step, what is false. Layers stand side by side if `most` columns are enough."""
        heads = f"protocol {self.layers[0]}", f"machine {self.layers[1]}"
        everything = [Layers((heads[0],), (heads[1],)), self.before, *self.loops, self.changes]
        width = max(len(line) for each in everything for line in each.protocol or ("",))
        fits = width + max(len(line) for each in everything for line in each.machine or ("",)) + 7 <= most
        width = width if fits else 0
        where = f"in the step {self.step}" if self.step else "between steps"
        lines = [*_drawn(heads, self.before, width), f"  {where}"]
        for number, each in enumerate(self.loops, 1):
            which = "the loop" if len(self.loops) == 1 else f"loop {number}"
            lines += [f"  where a round of {which} may find", *_drawn(heads, each, width)]
        if self.changes != Layers((), ()):
            lines += ["  after these changes", *_drawn(heads, self.changes, width)]
        return [*lines, *(f"  {line}" for line in self.false)]


def _layer_json(name: str, before: Sequence[str], changed: Sequence[str]) -> dict[str, Any]:
    return {"name": name, "before": list(before), "changes": list(changed)}


def _drawn(heads: tuple[str, str], layers: Layers, width: int) -> Iterator[str]:
    """Two columns, the first of this width; with 0 one below the other."""
    columns = [
        (head, *(lines or ("nothing",))) for head, lines in zip(heads, (layers.protocol, layers.machine), strict=True)
    ]
    if width:
        for left, right in zip_longest(*columns, fillvalue=""):
            yield f"    {left:{width}}{_BETWEEN}{right}".rstrip()
    else:
        for head, *lines in columns:
            yield f"    {head}:"
            yield from (f"      {line}" for line in lines)


def failure_of(link: ir.Link, claimed: Claimed, reader: Reader) -> Failure:
    """The failure of the obligation in the reader's model."""
    obligation, claim = claimed.obligation, claimed.claim
    cause, _, check = obligation.name.partition(": ")
    about = constants(link, obligation, reader)
    process, packet = about.pop("self", ""), about.pop("packet", "")
    step = f"{process}: receive {packet}" if cause.startswith("receive ") and packet else f"{process}: {cause}"
    given = ", ".join(f"{name} = {value}" for name, value in about.items())
    false = [] if claim is None else false_parts(link, claim, reader)
    return Failure(
        (link.protocol.name, link.machine.name),
        obligation.name,
        (step if process else cause) + (f", where {given}" if given else ""),
        drawn(link, obligation, reader),
        drawn_in_loops(link, obligation, reader),
        Layers((), ()) if claim is None else changes(link, claim.state, reader),
        tuple(false or [_in_words(check or cause)]),
    )


def _in_words(check: str) -> str:
    """What is false where only the name of a check says it."""
    if check.startswith("no fault on line"):
        return f"an expression{check.removeprefix('no fault')} has no value"
    return f"`{check}` is false"
