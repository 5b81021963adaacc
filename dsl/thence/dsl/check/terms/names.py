"""Names that stand for values: locals, state variables, relations and functions."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

from thence.dsl import ir
from thence.dsl.check.terms.checker import Checker
from thence.dsl.check.terms.delivery import report_dst
from thence.dsl.check.terms.environment import BUILT_IN_FUNCTIONS
from thence.dsl.ir.substitution import instantiated
from thence.dsl.ir.traversal import depth, nodes
from thence.dsl.ir.types import MESSAGE, NAT, PROCESS, Map, Record
from thence.dsl.text import syntax
from thence.dsl.text.diagnostics import did_you_mean
from thence.dsl.text.foreign import FUNCTIONS, VALUES, hint

SENT_BY = ir.Symbol("sent_by", (ir.Variable("p", PROCESS), ir.Variable("n", NAT)), MESSAGE)
"""In clauses of links: the n-th message, counting from 1, that process p causal-sends."""


def resolve_variable(checker: Checker, expr: syntax.Variable) -> ir.Expr | None:
    """A name used as a value."""
    name, span, words = expr.name, expr.span, checker.vocabulary
    if name in checker.locals:
        local = checker.locals[name]
        return None if local.type is None else ir.Local(local.type, name, span=span)
    if name == "self":
        if words.place in ("handler", "initial", "clause"):
            return ir.SelfProcess(PROCESS, span=span)
        checker.reporter.error(
            "E0414",
            span,
            "`self` is the process that runs a handler; here is none",
            "quantify over all processes: `forall p: process. ...`",
        )
        return None
    if name in words.state:
        return _state(checker, expr)
    if name in words.constants:
        type_ = words.constants[name]
        return None if type_ is None else ir.NamedConstant(type_, name, (), span=span)
    _report_unknown(checker, expr)
    return None


def _state(checker: Checker, expr: syntax.Variable) -> ir.Expr | None:
    type_ = checker.vocabulary.state[expr.name]
    match checker.vocabulary.place:
        case "property":
            checker.reporter.error(
                "E0402",
                expr.span,
                f"whose `{expr.name}`? A property speaks of all processes",
                f"write `{expr.name}@p` for process p's",
            )
            return None
        case "initial" if type_ is not None and expr.name in checker.vocabulary.fixed:
            return ir.Apply(type_, expr.name, (), span=expr.span)
        case "initial":
            checker.reporter.error("E0314", expr.span, f"an initial value cannot read the state variable `{expr.name}`")
            return None
        case _:
            return None if type_ is None else ir.StateOf(type_, expr.name, None, span=expr.span)


def _report_unknown(checker: Checker, expr: syntax.Variable) -> None:
    name, words = expr.name, checker.vocabulary
    report = checker.reporter.error
    if name in words.definitions:
        defined = words.definitions[name]
        if defined is not None:
            takes = ", ".join(parameter.name for parameter in defined.parameters)
            report("E0311", expr.span, f"`{name}` stands without arguments", f"write `{name}({takes})`")
    elif name in words.symbols:
        symbol = words.symbols[name]
        if symbol is not None:
            takes = ", ".join(parameter.name or str(parameter.type) for parameter in symbol.parameters)
            report("E0311", expr.span, f"`{name}` stands without arguments", f"write `{name}({takes})`")
    elif name in words.types:
        number = ["the number of processes is `count p: process. true`"] if name == "process" else []
        report("E0311", expr.span, f"`{name}` is a type, but a value is expected", *number)
    elif name in words.procedures:
        report("E0311", expr.span, f"`{name}` is a procedure; procedures have no value")
    elif name in words.kinds:
        note = f"what a packet has in it is a value: `on receive {name}(m) from p: deliver m`"
        report("E0201", expr.span, f"`{name}` is a kind of packets, and no value", note)
    elif name in checker.elsewhere:
        line = checker.elsewhere[name].line
        report(
            "E0201",
            expr.span,
            f"`{name}` is not bound here",
            f"it is bound on line {line}, in another block; a name lives to the end of its block",
        )
    else:
        values = [*checker.locals, *words.state, *words.constants, "self"]
        notes = did_you_mean(name, values) or hint(VALUES, name)
        if not notes and words.place == "handler":
            notes = (f"a state variable is declared under `state:`; `let {name} = ...` names a value",)
        elif not notes and words.place in ("property", "machine", "theory"):
            parameter = ", or is a parameter of its transition" if words.place == "machine" else ""
            notes = (f"a name is bound by `forall {name}. ...` or `exists {name}. ...`{parameter}",)
        report("E0201", expr.span, f"`{name}` is not bound here", *notes)


def resolve_at(checker: Checker, expr: syntax.At) -> ir.Expr | None:
    """`X@p`, in a property."""
    name, words = expr.variable.text, checker.vocabulary
    if words.place != "property":
        checker.reporter.error(
            "E0401",
            expr.span,
            f"`{name}@` can stand in properties only",
            "a process sees its own state only; it learns of another's by messages",
        )
        return None
    process = checker.check(expr.process, PROCESS, "`X@p` is process p's copy of X")
    if name in words.constants:
        said = f"`{name}` is the same for all processes"
        checker.reporter.error("E0207", expr.variable.span, said, f"write `{name}`")
        return None
    if name not in words.state:
        checker.reporter.error(
            "E0207", expr.variable.span, f"there is no state variable `{name}`", *did_you_mean(name, words.state)
        )
        return None
    type_ = words.state[name]
    return None if type_ is None or process is None else ir.StateOf(type_, name, process, span=expr.span)


MOST_NODES = 20_000
"""The size of the expression that a definition may stand for."""
MOST_LEVELS = 200
"""Its depth: the later passes are recursive."""


def apply_name(checker: Checker, expr: syntax.Apply) -> ir.Expr | None:
    """`f(a, b)`: a relation, function or definition."""
    name, words = expr.function.text, checker.vocabulary
    if name in words.definitions or (expr.process is None and name in words.followed):
        return _expand(checker, expr, words.definition(name, expr.process is not None))
    if expr.process is not None:
        checker.reporter.error(
            "E0207",
            expr.function.span,
            f"there is no definition `{name}`",
            *did_you_mean(name, words.definitions),
            f"a map of process p at a key is `{name}@p[...]`",
        )
        return None
    symbol = SENT_BY if name == "sent_by" and words.place == "clause" else words.symbols.get(name)
    arguments = checker.arguments(f"`{name}`", expr.arguments, None if symbol is None else symbol.parameters, expr.span)
    if symbol is None:
        if name not in words.symbols:
            _report_unknown_function(checker, expr)
        return None
    return None if arguments is None else ir.Apply(symbol.result, name, arguments, span=expr.span)


def _expand(checker: Checker, expr: syntax.Apply, definition: ir.Definition | None) -> ir.Expr | None:
    """The expression that a definition stands for, here."""
    name, words = expr.function.text, checker.vocabulary
    parameters = None if definition is None else definition.parameters
    arguments = checker.arguments(
        f"`{name}`", expr.arguments, parameters, expr.span, _hidden(checker, expr, definition)
    )
    process = None
    if expr.process is not None:
        process = checker.check(expr.process, PROCESS, f"`{name}@p(...)` is for process p")
        if process is None:
            return None
    if definition is None or arguments is None or not _is_in_reach(checker, expr, definition):
        return None
    values = {parameter.name: value for parameter, value in zip(definition.parameters, arguments, strict=True)}
    taken = {*checker.locals, *words.state, *words.constants, *words.symbols, *words.types, *words.definitions}
    found = instantiated(definition.body, values, process, taken)
    if depth(found) > MOST_LEVELS or sum(1 for _ in islice(nodes(found), MOST_NODES + 1)) > MOST_NODES:
        note = f"an expression has at most {MOST_NODES:,} parts and {MOST_LEVELS} levels"
        checker.reporter.error("E0422", expr.span, f"what `{name}` stands for is too large here", note)
        return None
    return replace(found, span=expr.span)


def _hidden(checker: Checker, expr: syntax.Apply, definition: ir.Definition | None) -> tuple[str, ...]:
    """A note, where `f(x)` may be meant for what the definition hides."""
    words, name = checker.vocabulary, expr.function.text
    is_meant = expr.process is None and name in words.hidden and definition is words.definitions.get(name)
    return (words.hidden[name],) if is_meant else ()


def _is_in_reach(checker: Checker, expr: syntax.Apply, definition: ir.Definition) -> bool:
    """Whether what the definition reads can be read here; reports it if not."""
    name, place, span = definition.name, checker.vocabulary.place, expr.function.span
    report = checker.reporter.error
    if expr.process is not None and place != "property":
        note = "a process sees its own state only; it learns of another's by messages"
        report("E0401", span, f"`{name}@` can stand in properties only", note)
    elif definition is checker.vocabulary.followed.get(name) and _ranges_further(definition):
        note = "an invariant of a link speaks of processes, and of the messages that were sent: write out what is meant"
        report("E0421", span, f"`{name}` speaks of all messages or numbers", note)
    elif expr.process is not None and definition.reads != "self":
        report("E0421", span, f"`{name}` is not about one process", f"write `{name}(...)`")
    elif definition.reads == "all" and place != "property":
        note = "a process sees its own state and the messages that it holds"
        report("E0421", span, f"`{name}` speaks of the whole system: it can stand in properties only", note)
    elif definition.reads == "self" and place == "property" and expr.process is None:
        hidden = _hidden(checker, expr, definition)
        report("E0421", span, f"whose `{name}`? It reads the state of a process", f"write `{name}@p(...)`", *hidden)
    elif definition.reads == "self" and place == "initial":
        report("E0314", span, f"an initial value cannot use `{name}`, which reads the state")
    else:
        return True
    return False


def _ranges_further(definition: ir.Definition) -> bool:
    """Whether a definition of a machine has a variable for all messages, sent or not, or for all numbers."""
    bounds = (node for node in nodes(definition.body) if isinstance(node, ir.Bound))
    return any(bound.domain is None and bound.type != PROCESS for bound in bounds)


def _without_parentheses(checker: Checker, expr: syntax.Apply) -> str:
    """How `x(p)` is written, where x is a variable."""
    name, words = expr.function.text, checker.vocabulary
    if words.place != "property" or name not in words.state:
        return f"a map at a key is `{name}[...]`"
    first = expr.arguments[0] if len(expr.arguments) == 1 else None
    process = first.name if isinstance(first, syntax.Variable) else "p"
    at_key = f"; a map at a key is `{name}@{process}[...]`" if isinstance(words.state[name], Map) else ""
    return f"the `{name}` of process {process} is `{name}@{process}`{at_key}"


def _report_unknown_function(checker: Checker, expr: syntax.Apply) -> None:
    name, words, span = expr.function.text, checker.vocabulary, expr.function.span
    report = checker.reporter.error
    if name in words.procedures:
        report("E0311", span, f"`{name}` is a procedure; procedures have no value", "call it as a statement of its own")
    elif isinstance(words.types.get(name), Record):
        report("E0307", span, f"record `{name}` is constructed by its fields", f"write `{name}(FIELD: VALUE, ...)`")
    elif name in words.state or name in words.constants or name in checker.locals:
        report("E0205", span, f"`{name}` is not a function", _without_parentheses(checker, expr))
    elif name == "dst" and words.place == "machine":
        report_dst("dst", words.delivery, span, "that m goes to p is `to(m, p)`", checker.reporter)
    elif name in ("src", "dst", "dsts"):
        report("E0205", span, f"there is no function `{name}` here", f"in a protocol, write `m.{name}`")
    elif name == "some":
        report("E0302", span, "`some` takes 1 argument")
    else:
        formal = words.place in ("theory", "machine")
        known = [*words.definitions, *(words.symbols if formal else BUILT_IN_FUNCTIONS)]
        notes = hint(FUNCTIONS, name) if words.place not in ("theory", "machine") else ()
        report("E0205", span, f"there is no relation or function `{name}`", *(notes or did_you_mean(name, known)))
