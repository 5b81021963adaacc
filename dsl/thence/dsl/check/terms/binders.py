"""Bound variables: quantifiers, and the `forall` of a machine's updates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from thence.dsl import ir
from thence.dsl.check.terms.actions import fields_of_action, types_of_action
from thence.dsl.check.terms.checker import Checker
from thence.dsl.check.terms.environment import RESERVED, LocalKind, LocalName, a
from thence.dsl.check.terms.in_flight import fields_of_packet, types_of_packet
from thence.dsl.check.terms.inference import infer_types
from thence.dsl.check.terms.placed import has_order, placed_element, speaks_of_order
from thence.dsl.check.terms.queries import element_type
from thence.dsl.check.terms.types import resolve_type
from thence.dsl.ir.substitution import instantiated
from thence.dsl.ir.traversal import nodes
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, Collection, Sort, Type
from thence.dsl.text import syntax
from thence.dsl.text.syntax import Span

AnyChecker = TypeVar("AnyChecker", bound=Checker)


def introduce(checker: Checker, name: syntax.Name, type_: Type | None, kind: LocalKind) -> LocalName:
    """A new local name; reports it if it hides another one."""
    text, words = name.text, checker.vocabulary
    if text in RESERVED:
        checker.reporter.error("E0212", name.span, f"`{text}` is a name of the language and cannot be declared")
    elif text in checker.locals:
        line = checker.locals[text].span.line
        checker.reporter.error(
            "E0209", name.span, f"`{text}` hides the `{text}` that is bound on line {line}", "choose another name"
        )
    elif text in words.state and words.place != "property":
        checker.reporter.error("E0209", name.span, f"`{text}` hides the state variable `{text}`", "choose another name")
    elif text in words.constants:
        said = f"`{text}` hides the constant or role `{text}`"
        checker.reporter.error("E0209", name.span, said, "choose another name")
    elif text in words.symbols:
        checker.reporter.error(
            "E0209", name.span, f"`{text}` hides the relation or function `{text}`", "choose another name"
        )
    elif text in words.definitions:
        checker.reporter.error("E0209", name.span, f"`{text}` hides the definition `{text}`", "choose another name")
    elif text in words.types:
        checker.reporter.error("E0209", name.span, f"`{text}` hides the type `{text}`", "choose another name")
    if type_ is not None and checker.reporter.typed is not None:
        checker.reporter.typed.append((name.span, type_))
    return LocalName(type_, name.span, kind)


def is_type_name(checker: Checker, domain: syntax.Expr) -> bool:
    """Whether a domain is written as a type: `for p in process`."""
    return (
        isinstance(domain, syntax.Variable)
        and domain.name in checker.vocabulary.types
        and domain.name not in checker.locals
        and domain.name not in checker.vocabulary.state
        and domain.name not in checker.vocabulary.constants
    )


def bind(
    checker: AnyChecker,
    binders: Sequence[syntax.Binder],
    formulas: Sequence[syntax.Expr],
    packets: dict[str, ir.Expr] | None = None,
) -> tuple[tuple[ir.Bound, ...] | None, AnyChecker]:
    """The bound variables, typed as written or as the formulas use them, and the checker that knows them.

    What the names of packets in flight and of actions stand for is entered into `packets`.
    """
    written = [each for each in binders if each.packet is None and each.action is None and not each.ahead]
    open_names = [binder.name.text for binder in written if binder.type is None and binder.domain is None]
    inferred: dict[str, Type | None] = {}
    if open_names:
        beside = [binder for binder in binders if binder not in written or binder.type or binder.domain]
        inferred = infer_types(open_names, formulas, checker.vocabulary, checker.locals, beside)
    bounds: list[ir.Bound] = []
    for binder in binders:
        if binder.packet is not None:
            checker, bound = bind_packet(checker, binder, packets)
            bounds += [] if bound is None else [bound]
            continue
        if binder.action is not None:
            checker, bound = bind_action(checker, binder.action, packets)
            bounds += [] if bound is None else [bound]
            continue
        if binder.ahead:
            checker, bound = bind_ahead(checker, binder, packets)
            bounds += [] if bound is None else [bound]
            continue
        name, span = binder.name.text, binder.span
        type_, domain = _binder_type(checker, binder, inferred)
        behind = _typed_behind(binder, binders)
        if type_ is not None and domain is None and not _can_range_over(checker, type_, binder.name.span, behind):
            type_ = None
        within = replace(introduce(checker, binder.name, type_, "bound"), typed_behind=behind)
        if domain is not None and packets is not None and has_order(domain) and speaks_of_order((*binders, *formulas)):
            placed = placed_element(binder.name, domain, None, packets)
            bounds.append(placed)
            checker = checker.about(element=(ir.Local(placed.type, placed.name), domain))
        elif type_ is not None:
            bounds.append(ir.Bound(type_, name, domain, span=span))
        checker = checker.within({name: within})
    return (tuple(bounds) if len(bounds) == len(binders) else None), checker


def bind_packet(
    checker: AnyChecker, binder: syntax.Binder, packets: dict[str, ir.Expr] | None
) -> tuple[AnyChecker, ir.Bound | None]:
    """`KIND(a, b) from p to q in flight`: one variable for the packet, of which the names are fields."""
    types = types_of_packet(binder, checker.vocabulary)
    for name in binder.names:
        checker = checker.within({name.text: introduce(checker, name, types.get(name.text), "bound")})
    if packets is None or checker.vocabulary.place != "property":
        checker.reporter.error(
            "E0435",
            binder.span,
            f"the packets in flight are not available in a {checker.vocabulary.place}",
            "a process sees its own state only; properties speak of the network",
        )
        return checker, None
    bound = fields_of_packet(binder, checker, packets)
    return (checker if bound is None else checker.about(ir.Local(bound.type, bound.name))), bound


def bind_ahead(
    checker: AnyChecker, binder: syntax.Binder, packets: dict[str, ir.Expr] | None
) -> tuple[AnyChecker, ir.Bound | None]:
    """`x ahead`: an element of a queue, before the one around it."""
    words = checker.vocabulary
    element = checker.element
    type_ = None if element is None else element[1].type
    found = introduce(checker, binder.name, type_.item if isinstance(type_, Collection) else None, "bound")
    if packets is None or words.place != "property" or not words.sent:
        said = "the order of a queue is not available here"
        checker.reporter.error("E0435", binder.span, said, "invariants of links and scenarios speak of it")
        bound = None
    elif element is None:
        said = f"`{binder.name.text} ahead` is about an element of a queue, and there is none around it"
        example = f"write `forall y in QUEUE. exists {binder.name.text} ahead. ...`"
        checker.reporter.error("E0435", binder.span, said, example)
        bound = None
    else:
        bound = placed_element(binder.name, element[1], element[0], packets)
        checker = checker.about(element=(ir.Local(bound.type, bound.name), element[1]))
    return checker.within({binder.name.text: found}), bound


def bind_action(
    checker: AnyChecker, action: syntax.ActionPattern, names: dict[str, ir.Expr] | None
) -> tuple[AnyChecker, ir.Bound | None]:
    """`p delivers m` and the like: one variable for the action, of which the names are fields."""
    allowed = names is not None and checker.vocabulary.actions and not checker.locals
    types = types_of_action(action, checker.vocabulary)
    for name in syntax.Binder(action.process, action=action).names:
        checker = checker.within({name.text: introduce(checker, name, types.get(name.text), "bound")})
    if not allowed or names is None:
        checker.reporter.error(
            "E0436",
            action.span,
            "a formula about an action is not available here",
            "an `invariant` or `reachable` formula of a protocol can be about an action, as a whole",
        )
        return checker, None
    return checker, fields_of_action(action, checker, names)


def _binder_type(
    checker: Checker, binder: syntax.Binder, inferred: dict[str, Type | None]
) -> tuple[Type | None, ir.Expr | None]:
    if binder.type is not None:
        return resolve_type(binder.type, checker.vocabulary.types, checker.reporter), None
    if binder.domain is None:
        type_ = inferred[binder.name.text]
        if type_ is None and not checker.vocabulary.has_faulty_symbols():
            checker.reporter.error(
                "E0303",
                binder.name.span,
                f"the type of `{binder.name.text}` cannot be found out from its use",
                f"write `{binder.name.text}: TYPE`; a type is that of the names before it, too: `p, q: process`",
            )
        return type_, None
    if is_type_name(checker, binder.domain):
        assert isinstance(binder.domain, syntax.Variable)
        return checker.vocabulary.types[binder.domain.name], None
    if checker.formal:
        checker.reporter.error(
            "E0314",
            binder.domain.span,
            f"a domain is not available in a {checker.vocabulary.place}",
            "write `forall x. P implies ...`",
        )
        return None, None
    domain = checker.infer(binder.domain)
    if domain is None:
        return None, None
    element = element_type(domain.type)
    if element is None:
        checker.reporter.error("E0306", binder.domain.span, f"{a(domain.type)} has no elements")
    return element, domain


def _typed_behind(binder: syntax.Binder, binders: Sequence[syntax.Binder]) -> str:
    """The later name that the type of this one is written behind; empty where it has one of its own, or none."""
    if binder.type is None:
        return ""
    last = [each.name.text for each in binders if each.type is binder.type][-1]
    return "" if last == binder.name.text else last


def shared_type(local: LocalName | None) -> tuple[str, ...]:
    """A note on a name that has the type of a later one, which its writer may not have meant."""
    return () if local is None else _of_a_later_name(local.typed_behind)


def _of_a_later_name(behind: str) -> tuple[str, ...]:
    said = f"its type is the one behind `{behind}`: a type is that of the names before it that have none, too"
    return (said,) if behind else ()


def _can_range_over(checker: Checker, type_: Type, span: Span, behind: str) -> bool:
    numbers = type_ == NAT and checker.vocabulary.place == "machine"
    if not isinstance(type_, Sort) and not numbers:
        fitting = "give it a domain (`x in e`)" if not checker.formal else "quantify over processes, messages or sorts"
        said = f"cannot quantify over all of `{type_}`"
        checker.reporter.error("E0308", span, said, fitting, *_of_a_later_name(behind))
        return False
    if type_ == MESSAGE and checker.vocabulary.place == "property" and not checker.vocabulary.sent:
        checker.reporter.error(
            "E0415",
            span,
            "the messages that were sent are not known here",
            "quantify over what a process holds (`m in held@p`), or over packets in flight",
        )
        return False
    if type_ == MESSAGE and checker.vocabulary.place in ("handler", "initial", "clause"):
        checker.reporter.error(
            "E0415", span, "a process does not know all messages", "give it a domain (`x in e`), such as a queue"
        )
        return False
    return True


def check_quantified(checker: Checker, expr: syntax.Quantified) -> ir.Expr | None:
    """`forall`, `exists`, `count`, `sum`. Where a domain speaks of an earlier variable, quantifiers are nested."""
    packets: dict[str, ir.Expr] = {}
    bounds, inner = bind(checker, expr.binders, (expr.body,), packets)
    counts = expr.kind in ("count", "sum")
    body = inner.check(expr.body, NAT, "a sum is of numbers") if expr.kind == "sum" else inner.check(expr.body, BOOL)
    if counts and any(bound.type == NAT and bound.domain is None for bound in bounds or ()):
        checker.reporter.error("E0308", expr.span, "cannot count over all of `nat`", "count processes or messages")
        return None
    if bounds is None or body is None:
        return None
    if packets:
        body = instantiated(body, packets, None, ())
        bounds = tuple(
            bound if bound.domain is None else replace(bound, domain=instantiated(bound.domain, packets, None, ()))
            for bound in bounds
        )
    groups = _independent(bounds)
    if counts and len(groups) > 1:
        kind = expr.kind
        checker.reporter.error(
            "E0314", expr.span, f"in a `{kind}`, a domain cannot speak of another variable of the same `{kind}`"
        )
        return None
    result_type = NAT if counts else BOOL
    result: ir.Expr = body
    for group in reversed(groups):
        result = ir.Quantified(
            result_type, "forall" if expr.kind == "when" else expr.kind, group, result, span=expr.span
        )
    return result


def _independent(bounds: tuple[ir.Bound, ...]) -> list[tuple[ir.Bound, ...]]:
    """Cuts the variables into groups, in order, such that no domain speaks of a variable of its own group."""
    groups: list[tuple[ir.Bound, ...]] = []
    group: tuple[ir.Bound, ...] = ()
    for bound in bounds:
        earlier = {other.name for other in group}
        if any(isinstance(node, ir.Local) and node.name in earlier for node in nodes(bound.domain)):
            groups.append(group)
            group = ()
        group = (*group, bound)
    return [*groups, group]
