"""`when p delivers m: P`: the names that stand for what an action has."""

from __future__ import annotations

from thence.dsl import ir
from thence.dsl.check.terms.checker import Checker
from thence.dsl.check.terms.environment import Vocabulary
from thence.dsl.ir.types import MESSAGE, PROCESS, Collection, Record, Type
from thence.dsl.text import syntax
from thence.dsl.text.diagnostics import did_you_mean
from thence.spec.words import counted

BY, MESSAGE_OF, FROM = "by'", "message'", "from'"
"""The fields of an action that no packet kind and no input declares: names that none of their parameters can have."""


def types_of_action(action: syntax.ActionPattern, words: Vocabulary) -> dict[str, Type | None]:
    """The types of the names, None where what is declared does not tell them."""
    types: dict[str, Type | None] = {name.text: None for name in action.parameters}
    for name, parameter in zip(action.parameters, _declared(action, words) or (), strict=False):
        types[name.text] = parameter.type
    return types | {name.text: PROCESS for name in (action.process, action.sender) if name is not None}


def fields_of_action(action: syntax.ActionPattern, checker: Checker, names: dict[str, ir.Expr]) -> ir.Bound | None:
    """The variable for the action, and in `names` what each name stands for; None where the pattern is wrong."""
    declared = _checked(action, checker)
    if declared is None:
        return None
    sender = ((FROM, PROCESS),) if action.verb == "receives" else ()
    record = Record(action.verb, ((BY, PROCESS), *((each.name, each.type) for each in declared), *sender))
    variable = f"{action.verb}'"
    whole = ir.Local(record, variable, span=action.span)
    names[action.process.text] = ir.FieldOf(PROCESS, whole, BY, span=action.process.span)
    for name, parameter in zip(action.parameters, declared, strict=False):
        names[name.text] = ir.FieldOf(parameter.type, whole, parameter.name, span=name.span)
    if action.sender is not None:
        names[action.sender.text] = ir.FieldOf(PROCESS, whole, FROM, span=action.sender.span)
    kind = None if action.kind is None else action.kind.text
    done = ir.Acted(Collection("queue", record), action.verb, kind, span=action.span)
    return ir.Bound(record, variable, done, span=action.span)


def _declared(action: syntax.ActionPattern, words: Vocabulary) -> tuple[ir.Variable, ...] | None:
    """What the action has: a message, the packet's parameters, or the input's; None where that is not known."""
    if action.kind is None:
        return (ir.Variable(MESSAGE_OF, MESSAGE),)
    return (words.kinds if action.verb == "receives" else words.inputs).get(action.kind.text)


def _checked(action: syntax.ActionPattern, checker: Checker) -> tuple[ir.Variable, ...] | None:
    """The same; reports a kind or an input that is not there, and a pattern that does not fit it."""
    declared = _declared(action, checker.vocabulary)
    if action.kind is None:
        return declared
    kind, packets = action.kind.text, action.verb == "receives"
    known, what = (checker.vocabulary.kinds, "packet kind") if packets else (checker.vocabulary.inputs, "input")
    if kind not in known:
        checker.reporter.error("E0204", action.kind.span, f"there is no {what} `{kind}`", *did_you_mean(kind, known))
        return None
    given = len(action.parameters)
    if declared is not None and (given > len(declared) or (given < len(declared) and not action.rest)):
        named = "packet" if packets else "input"
        said = f"{named} `{kind}` has {counted(len(declared), 'parameter')}, the pattern names {given}"
        notes = ("`...` at the end of the pattern leaves the rest unnamed",) if given < len(declared) else ()
        checker.reporter.error("E0607", action.span, said, *notes)
        return None
    return declared
