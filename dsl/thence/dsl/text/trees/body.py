"""From the reductions of the grammar to syntax trees: types, expressions and statements.

There is one method for each rule of `grammar.lark`; `declarations.py` has those of the declarations. A method
gets the children of its rule, words included, and returns a node, or one of the few helpers below, which
the method of an enclosing rule takes apart. What the grammar lets through but the language does not have
is reported here, and something harmless stands in for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar

from thence.dsl.text import syntax
from thence.dsl.text.diagnostics import Diagnostic, nearest
from thence.dsl.text.foreign import FIELDS, STATEMENTS, hint
from thence.dsl.text.lines import Word, span_of
from thence.dsl.text.precedence import span_over, tree_of
from thence.dsl.text.syntax import Name, Node, Span
from thence.spec.value import record

Children: TypeAlias = list[Any]
_T = TypeVar("_T")


@record(frozen=True, slots=True)
class Doc(Node):
    """A documentation string on its way to its declaration."""

    text: str


@record(frozen=True, slots=True)
class FormulaBody(Node):
    """The formula after the `:` of an axiom, property, invariant, rule or claim."""

    body: syntax.Expr
    doc: str


@record(frozen=True, slots=True)
class NameList(Node):
    """`assume a, b`, `property causal, fifo` and the like, on their way to their declaration."""

    keyword: str
    names: tuple[Name, ...]


@record(frozen=True, slots=True)
class Section(Node):
    """Several nodes of one line or header: the sorts of a `sort`, a list of parameters, the variables of a `state`."""

    items: tuple[Any, ...]


@record(frozen=True, slots=True)
class MethodCall(Node):
    """`place.method(arguments)`: a statement, found where an expression may stand too."""

    place: syntax.Expr
    method: Name
    arguments: tuple[syntax.Expr, ...]


def place_of(child: Any) -> Span:
    """The place of a child of a rule."""
    if isinstance(child, Word):
        return span_of(child)
    if isinstance(child, tuple):
        return span_over(place_of(child[0]), place_of(child[-1]))
    assert isinstance(child, Node)
    return child.span


def extent(children: Children) -> Span:
    """From the first child to the last, line ends left out."""
    end = len(children)
    while isinstance(children[end - 1], Word) and children[end - 1].type in ("NEWLINE", "DEDENT"):
        end -= 1
    return span_over(place_of(children[0]), place_of(children[end - 1]))


def pick(items: Iterable[Any], kind: type[_T]) -> tuple[_T, ...]:
    """The items of exactly this kind, in order."""
    return tuple(item for item in items if type(item) is kind)


class BodyBuilder:
    """The methods that make the values of the grammar's rules. `begin` sets what they need to know of the file."""

    def __init__(self) -> None:
        self.file = ""
        self.labels: Mapping[int, str] = {}
        self.faults: list[Diagnostic] = []
        self.bare_lines: set[int] = set()

    def begin(self, file: str, labels: Mapping[int, str]) -> None:
        """Start on a file; `labels` are its trailing comments by line."""
        self.file, self.labels, self.faults, self.bare_lines = file, labels, [], set()

    def report(self, code: str, message: str, span: Span, note: str = "") -> None:
        self.faults.append(Diagnostic(code, "error", message, self.file, span, (note,) if note else ()))

    # --- names, types, parameters --------------------------------------------------------------

    def name(self, c: Children) -> Name:
        return Name(str(c[0]), span=span_of(c[0]))

    def names(self, c: Children) -> tuple[Name, ...]:
        return tuple(c[::2])

    def doc(self, c: Children) -> Doc:
        self.bare_lines.add(c[0].line)
        return Doc(str(c[0]), span=span_of(c[0]))

    def nothing(self, c: Children) -> Section:
        return Section((), span=extent(c))

    def named_type(self, c: Children) -> syntax.NamedType:
        return syntax.NamedType(str(c[0]), span=span_of(c[0]))

    def collection_type(self, c: Children) -> syntax.CollectionType:
        kind: Any = " ".join(str(word) for word in c[:-2])
        return syntax.CollectionType(kind, c[-1], span=extent(c))

    def map_type(self, c: Children) -> syntax.MapType:
        return syntax.MapType(c[1], c[3], span=extent(c))

    def parameters(self, c: Children) -> Section:
        return Section(tuple(c[1:-1:2]), span=extent(c))

    def parameter(self, c: Children) -> syntax.Parameter:
        return syntax.Parameter(c[0], c[2] if len(c) == 3 else None, span=extent(c))

    # --- expressions ---------------------------------------------------------------------------

    def expr(self, c: Children) -> syntax.Expr:
        chain = [self.value(item) for item in c]
        if len(chain) == 1:
            return chain[0]  # type: ignore[no-any-return]
        return tree_of(chain, self.report)

    def value(self, item: Any) -> Any:
        """The item; where it is a change of state instead of a value, say so."""
        if not isinstance(item, MethodCall):
            return item
        method = item.method.text
        self.report(
            "E0123",
            f"`{method}(...)` is not a value",
            item.span,
            hint(FIELDS, method)[0]
            if hint(FIELDS, method)
            else f"a change of state is a statement of its own: `x.{method}(...)`; "
            "read with `.first`, `.size`, `.value`",
        )
        return syntax.FieldAccess(item.place, item.method, span=item.span)

    def quantified(self, c: Children) -> syntax.Quantified:
        kind: Any = str(c[0])
        return syntax.Quantified(kind, self.binders(c[1:-2:2]), c[-1], span=extent(c))

    def binders(self, written: Children) -> tuple[syntax.Binder, ...]:
        """A type written after several names holds for all of them."""
        binders: list[syntax.Binder] = []
        type_: syntax.TypeExpr | None = None
        for binder in reversed(written):
            if binder.packet is not None or binder.ahead:
                type_ = None
            elif binder.domain is None and binder.type is None:
                binder = replace(binder, type=type_) if type_ is not None else binder
            else:
                type_ = binder.type
            binders.append(binder)
        return tuple(reversed(binders))

    def binder(self, c: Children) -> syntax.Binder:
        return syntax.Binder(c[0], c[2] if len(c) == 3 else None, span=extent(c))

    def binder_in(self, c: Children) -> syntax.Binder:
        return syntax.Binder(c[0], None, c[2], span=extent(c))

    def binder_ahead(self, c: Children) -> syntax.Binder:
        """`x ahead`: an element of a queue, before the one around it."""
        return syntax.Binder(c[0], ahead=True, span=extent(c))

    def binder_in_flight(self, c: Children) -> syntax.Binder:
        """`KIND(a, ...) from p to q in flight`, with or without `ahead`."""
        closing = next(at for at, child in enumerate(c) if isinstance(child, Word) and child.type == "RPAR")
        rest = any(isinstance(child, Word) and child.type == "ELLIPSIS" for child in c)
        behind = zip(c[closing + 1 :], c[closing + 2 :], strict=False)
        ends = {str(word): name for word, name in behind if isinstance(word, Word)}
        pattern = syntax.PacketPattern(
            tuple(child for child in c[1:closing] if isinstance(child, Name)),
            rest,
            ends.get("from"),
            ends.get("to"),
            ahead=str(c[-1]) == "ahead",
            span=extent(c),
        )
        return syntax.Binder(c[0], packet=pattern, span=extent(c))

    def at_action(self, c: Children) -> syntax.Quantified:
        """`when p delivers m: P`, `when p receives KIND(a, ...) from q: P`, `when p does input(k): P`."""
        colon = next(at for at, child in enumerate(c) if isinstance(child, Word) and child.type == "COLON")
        verb: Any = str(c[2])
        named = [child for child in c[3:colon] if isinstance(child, Name)]
        kind = None if verb == "delivers" else named.pop(0)
        words = [str(child) for child in c[3:colon] if isinstance(child, Word)]
        sender = named.pop() if "from" in words else None
        span = span_over(place_of(c[1]), place_of(c[colon - 1]))
        pattern = syntax.ActionPattern(verb, c[1], kind, tuple(named), "..." in words, sender, span=span)
        goal = next(child for child in c[colon + 1 :] if not isinstance(child, Word))
        return syntax.Quantified("when", (syntax.Binder(c[1], action=pattern, span=span),), goal, span=extent(c))

    def conditional(self, c: Children) -> syntax.Conditional:
        return syntax.Conditional(c[1], c[3], c[5], span=extent(c))

    def field_access(self, c: Children) -> syntax.FieldAccess:
        return syntax.FieldAccess(self.value(c[0]), c[2], span=extent(c))

    def index_access(self, c: Children) -> syntax.IndexAccess:
        return syntax.IndexAccess(self.value(c[0]), c[2], span=extent(c))

    def at(self, c: Children) -> syntax.At:
        span = extent(c)
        variable = c[0]
        if not isinstance(variable, syntax.Variable):
            self.report(
                "E0131", "`@` follows the name of a state variable", span_of(c[1]), "write `X@p`, `X@(m.src)[k]`"
            )
            variable = syntax.Variable("_", span=place_of(c[0]))
        process = c[3] if len(c) == 5 else syntax.Variable(c[2].text, span=c[2].span)
        return syntax.At(Name(variable.name, span=variable.span), process, span=span)

    def application(self, c: Children) -> syntax.Expr | MethodCall:
        callee, arguments, span = c[0], c[2:-1:2], extent(c)
        fields = pick(arguments, syntax.FieldValue)
        match callee:
            case syntax.Variable(name):
                symbol = Name(name, span=callee.span)
                if fields and len(fields) == len(arguments):
                    return syntax.Construct(symbol, fields, span=span)
                return syntax.Apply(symbol, self.positional(arguments), span=span)
            case syntax.At(variable, process):
                return syntax.Apply(variable, self.positional(arguments), process, span=span)
            case syntax.FieldAccess(target, method):
                return MethodCall(target, method, self.positional(arguments), span=span)
            case _:
                self.report(
                    "E0131", "this cannot be called", place_of(callee), "only a name can: `f(x)`, `place.push(x)`"
                )
                return syntax.Apply(Name("_", span=span), self.positional(arguments), span=span)

    def positional(self, arguments: Children) -> tuple[syntax.Expr, ...]:
        for field in pick(arguments, syntax.FieldValue):
            note = "a record names all its fields, `Msg(rcv: j, mid: 1)`; anything else names no argument"
            self.report("E0131", f"`{field.name.text}:` does not fit here", field.name.span, note)
        return tuple(argument.value if isinstance(argument, syntax.FieldValue) else argument for argument in arguments)

    def field_value(self, c: Children) -> syntax.FieldValue:
        return syntax.FieldValue(c[0], c[2], span=extent(c))

    def number(self, c: Children) -> syntax.Number:
        return syntax.Number(int(c[0]), span=span_of(c[0]))

    def truth(self, c: Children) -> syntax.Truth:
        return syntax.Truth(str(c[0]) == "true", span=span_of(c[0]))

    def none(self, c: Children) -> syntax.Nothing:
        return syntax.Nothing(span=span_of(c[0]))

    def empty(self, c: Children) -> syntax.Empty:
        return syntax.Empty(span=span_of(c[0]))

    def variable(self, c: Children) -> syntax.Variable:
        return syntax.Variable(c[0].text, span=c[0].span)

    def parenthesised(self, c: Children) -> syntax.Expr:
        return replace(c[1], span=extent(c))  # type: ignore[no-any-return]

    def set_display(self, c: Children) -> syntax.SetDisplay:
        return syntax.SetDisplay(tuple(c[1:-1:2]), span=extent(c))

    def formula(self, c: Children) -> FormulaBody:
        docs = pick(c, Doc)
        body = next(child for child in c if not isinstance(child, Word | Doc))
        return FormulaBody(body, docs[0].text if docs else "", span=body.span)

    # --- statements ----------------------------------------------------------------------------

    def label(self, c: Children) -> str | None:
        return self.labels.get(place_of(c[0]).line)

    def block(self, c: Children) -> tuple[syntax.Stmt, ...]:
        statements = tuple(child for child in c if not isinstance(child, Word | Doc))
        for doc in pick(c, Doc):
            note = "it follows the first line of a top-level declaration or formula; here, use `#`"
            self.report("E0134", "no documentation string can stand here", doc.span, note)
            statements = statements or (syntax.Pass(span=doc.span),)
        return statements

    def let_statement(self, c: Children) -> syntax.Let:
        return syntax.Let(c[1], c[3], span=extent(c), label=self.label(c))

    def var_statement(self, c: Children) -> syntax.Var:
        type_ = c[3] if len(c) > 4 else None
        return syntax.Var(c[1], type_, c[-1], span=extent(c), label=self.label(c))

    def ref_statement(self, c: Children) -> syntax.Let:
        return syntax.Let(c[1], c[3], True, span=extent(c), label=self.label(c))

    def return_statement(self, c: Children) -> syntax.Return:
        return syntax.Return(span=extent(c), label=self.label(c))

    def pass_statement(self, c: Children) -> syntax.Pass:
        return syntax.Pass(span=extent(c), label=self.label(c))

    def send_statement(self, c: Children) -> syntax.Send:
        return syntax.Send(c[1], tuple(c[3:-3:2]), c[-1], span=extent(c), label=self.label(c))

    def deliver_statement(self, c: Children) -> syntax.Deliver:
        return syntax.Deliver(c[1], span=extent(c), label=self.label(c))

    def require_statement(self, c: Children) -> syntax.Require:
        return syntax.Require(c[1], span=extent(c), label=self.label(c))

    def assign(self, c: Children) -> syntax.Assign:
        return syntax.Assign(self.assignable(c[0]), c[2], span=extent(c), label=self.label(c))

    def update_each(self, c: Children) -> syntax.Assign:
        colon = next(index for index, child in enumerate(c) if isinstance(child, Word) and child.type == "EACH_COLON")
        binders = self.binders(c[1:colon:2])
        return syntax.Assign(self.assignable(c[colon + 1]), c[-1], binders, span=extent(c), label=self.label(c))

    def assignable(self, place: Any) -> syntax.Expr:
        place = self.value(place)
        if not isinstance(place, syntax.Variable | syntax.FieldAccess | syntax.IndexAccess | syntax.Apply):
            note = "a place is a variable, a field or entry of one (`x.f`, `x[k]`), or in a machine `relation(m)`"
            if isinstance(place, syntax.At):
                note = f"a process changes its own state only: `{place.variable.text} := ...`"
            self.report("E0122", "this is not a place that can be assigned to", place.span, note)
        return place  # type: ignore[no-any-return]

    def act(self, c: Children) -> syntax.Stmt:
        span, label = extent(c), self.label(c)
        match c[0]:
            case syntax.Apply(procedure, arguments):
                return syntax.Call(procedure, arguments, span=span, label=label)
            case MethodCall(place, method, arguments):
                return syntax.Mutate(place, method, arguments, span=span, label=label)
            case syntax.Variable("self" | "_"):
                note = ""
            case syntax.Variable(name):
                near = nearest(name, ("return", "pass"))
                said = hint(STATEMENTS, name)
                note = f"a call has parentheses: `{name}()`" if near is None else f"did you mean `{near}`?"
                note = said[0] if said else note
            case syntax.FieldAccess(_, method):
                note = f"a change of state has parentheses: `.{method.text}()`"
            case _:
                note = "a statement assigns, calls, sends, delivers or decides"
        self.report("E0124", "this line does nothing", span, note)
        return syntax.Pass(span=span, label=label)

    def if_statement(self, c: Children) -> syntax.If:
        otherwise: tuple[syntax.Stmt, ...] = ()
        if len(c) > 4:
            otherwise = c[-1] if isinstance(c[-1], tuple) else (c[-1],)
            self.bare_lines.add(c[4].line)
        return syntax.If(c[1], c[3], otherwise, span=extent(c), label=self.label(c))

    def while_statement(self, c: Children) -> syntax.While:
        return syntax.While(c[1], c[3], span=extent(c), label=self.label(c))

    def for_statement(self, c: Children) -> syntax.For:
        ref = isinstance(c[1], Word)
        return syntax.For(c[1 + ref], c[3 + ref], c[-1], ref, span=extent(c), label=self.label(c))

    def choose_statement(self, c: Children) -> syntax.Choose:
        blocks = [position for position, child in enumerate(c) if isinstance(child, tuple)]
        condition = c[6] if str(c[4]) == "such" else None
        otherwise: tuple[syntax.Stmt, ...] = ()
        if len(blocks) > 1:
            otherwise = c[blocks[1]]
            self.bare_lines.add(c[blocks[0] + 1].line)
        return syntax.Choose(c[1], c[3], condition, c[blocks[0]], otherwise, span=extent(c), label=self.label(c))

    def either_statement(self, c: Children) -> syntax.Either:
        self.bare_lines.update(child.line for child in c if isinstance(child, Word) and str(child) == "or")
        branches = tuple(child for child in c if isinstance(child, tuple))
        return syntax.Either(branches, span=extent(c), label=self.label(c))
