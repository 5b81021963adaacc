"""`forall KIND(a, b) from p to q in flight. P`: the names that stand for what a packet in flight has."""

from __future__ import annotations

from thence.dsl import ir
from thence.dsl.check.terms.checker import Checker
from thence.dsl.check.terms.environment import Vocabulary
from thence.dsl.ir.types import PROCESS, Collection, Record, Type
from thence.dsl.text import syntax
from thence.dsl.text.diagnostics import did_you_mean
from thence.spec.words import counted

FROM, TO = "from'", "to'"
"""The fields of a packet in flight that no message declares: names that no parameter can have."""


def types_of_packet(binder: syntax.Binder, words: Vocabulary) -> dict[str, Type | None]:
    """The types of the names, None where the packet kind does not tell them."""
    assert binder.packet is not None
    declared = words.kinds.get(binder.name.text) or ()
    types: dict[str, Type | None] = {name.text: None for name in binder.packet.parameters}
    for name, parameter in zip(binder.packet.parameters, declared, strict=False):
        types[name.text] = parameter.type
    return types | {name.text: PROCESS for name in (binder.packet.sender, binder.packet.receiver) if name is not None}


def fields_of_packet(binder: syntax.Binder, checker: Checker, packets: dict[str, ir.Expr]) -> ir.Bound | None:
    """The variable for the packet, and in `packets` what each name stands for; None where the pattern is wrong."""
    kind, packet = binder.name.text, binder.packet
    assert packet is not None
    kinds = checker.vocabulary.kinds
    if kind not in kinds:
        checker.reporter.error(
            "E0204", binder.name.span, f"there is no packet kind `{kind}`", *did_you_mean(kind, kinds)
        )
        return None
    declared = kinds[kind]
    if declared is None:
        return None
    given = len(packet.parameters)
    if given > len(declared) or (given < len(declared) and not packet.rest):
        said = f"packet `{kind}` has {counted(len(declared), 'parameter')}, the pattern names {given}"
        notes = ("`...` at the end of the pattern leaves the rest unnamed",) if given < len(declared) else ()
        checker.reporter.error("E0607", binder.span, said, *notes)
        return None
    fields = (*((each.name, each.type) for each in declared), (FROM, PROCESS), (TO, PROCESS))
    record = Record(kind, fields)
    if packet.ahead and checker.packet is None:
        said = "`ahead` is about another packet in flight, and there is none around it"
        example = f"write `forall OTHER(...) in flight. exists {kind}(...) in flight ahead. ...`"
        checker.reporter.error("E0435", binder.span, said, example)
        return None
    outer = "" if checker.packet is None else checker.packet.name
    variable = f"{kind}'" + "'" * outer.count("'")
    whole = ir.Local(record, variable, span=binder.span)
    named = list(zip(packet.parameters, declared, strict=False))
    for name, parameter in named:
        packets[name.text] = ir.FieldOf(parameter.type, whole, parameter.name, span=name.span)
    for end, label in ((packet.sender, FROM), (packet.receiver, TO)):
        if end is not None:
            packets[end.text] = ir.FieldOf(PROCESS, whole, label, span=end.span)
    other = checker.packet if packet.ahead else None
    flying = ir.InFlight(Collection("queue", record), kind, other, span=binder.span)
    return ir.Bound(record, variable, flying, span=binder.span)
