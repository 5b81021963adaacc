"""The faults that are put into implementations, as edits of their Python text.

Checks of the input (statements that only raise, calls of `require_...`) are left alone: the harness sends nothing
that they refuse, so that it can say nothing of them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from thence.conformance.mutation.edits import Edit, text_of
from thence.dsl.text.syntax import Span

_WEAKER: Final = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
                  ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is"}  # fmt: skip
_SIGNS: Final = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
                 ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not"}  # fmt: skip

_PROCESSES: Final = ("sender", "destination", "receiver")
"""Names of parameters that stand for a process."""

_SELF: Final = "self._group.identity"


def implementation_edits(text: str) -> list[Edit]:
    """All single faults in the functions and methods of a module, in the text's order."""
    found: list[Edit] = []
    finder = _Finder(text.split("\n"))
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef):
            for member in node.body:
                if isinstance(member, ast.FunctionDef):
                    found += finder.function(member, f"{node.name}.{member.name}")
        elif isinstance(node, ast.FunctionDef):
            found += finder.function(node, node.name)
    kept = {(edit.span, edit.replacement): edit for edit in found}
    return sorted(kept.values(), key=lambda edit: (edit.span.line, edit.span.column, edit.span.end_line,
                                                    edit.span.end_column, edit.operator, edit.replacement))  # fmt: skip


class _Finder:
    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._place = ""
        self._processes: list[str] = []

    def function(self, node: ast.FunctionDef, place: str) -> Iterator[Edit]:
        """The faults in one function; checks of the input and words for people are left alone."""
        says = isinstance(node.returns, ast.Name) and node.returns.id == "str"
        if says or node.name.startswith(("_require", "require")):
            return
        self._place = place
        names = [argument.arg for argument in node.args.args if argument.arg in _PROCESSES]
        own = [_SELF] if any(_SELF in line for line in self._lines) and node.name != "__init__" else []
        self._processes = [*names, *own]
        yield from self._block(node.body)

    def _edit(self, operator: str, node: ast.expr | ast.stmt, replacement: str) -> Edit:
        return Edit(operator, self._span(node), replacement, self._place)

    def _span(self, node: ast.expr | ast.stmt) -> Span:
        """The span of a node; Python counts columns in bytes of UTF-8."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return Span(
            node.lineno, self._column(node.lineno, node.col_offset),
            node.end_lineno, self._column(node.end_lineno, node.end_col_offset),
        )  # fmt: skip

    def _column(self, line: int, offset: int) -> int:
        return len(self._lines[line - 1].encode()[:offset].decode()) + 1

    def _text(self, node: ast.expr) -> str:
        return text_of(self._lines, self._span(node))

    # --- statements --------------------------------------------------------------------------

    def _block(self, body: list[ast.stmt]) -> Iterator[Edit]:
        for statement in body:
            yield from self._statement(statement)

    def _statement(self, node: ast.stmt) -> Iterator[Edit]:
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Raise() | ast.Pass():
                return
            case ast.Expr(value=ast.Call(func=function)) if _checks(function):
                return
            case ast.If(body=[*words, ast.Raise()], orelse=otherwise) if all(map(_is_words, words)):
                yield from self._block(otherwise)
                return
            case ast.If(test=test, body=body, orelse=otherwise):
                yield self._edit("skip statement", node, "pass")
                yield from self._condition(test)
                yield from self._block([*body, *otherwise])
            case ast.While(test=test, body=body):
                whole = self._span(node)
                word = Span(whole.line, whole.column, whole.line, whole.column + len("while"))
                if not any(isinstance(one, ast.Break | ast.Continue) for one in ast.walk(node)):
                    yield Edit("only the head", word, "if", self._place)
                yield from self._condition(test)
                yield from self._block(body)
            case ast.For(iter=iterated, body=body):
                yield self._edit("skip statement", node, "pass")
                yield self._edit("only the head", iterated, f"list({self._text(iterated)})[:1]")
                yield from self._expression(iterated)
                yield from self._block(body)
            case ast.Match(cases=cases):
                for case in cases:
                    yield from self._block(case.body)
            case ast.Return(value=ast.List(elts=[_, *_]) as value):
                for position in range(len(value.elts)):
                    rest = ", ".join(self._text(one) for at, one in enumerate(value.elts) if at != position)
                    yield self._edit("skip statement", value, f"[{rest}]")
                yield from self._expression(value)
            case ast.Return(value=value):
                if value is not None:
                    yield from self._expression(value)
            case ast.Assign() | ast.AugAssign() | ast.Expr() | ast.Delete():
                yield self._edit("skip statement", node, "pass")
                yield from self._merge(node)
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        yield from self._expression(child)
            case ast.AnnAssign(value=value):
                if value is not None:
                    yield from self._expression(value)
            case _:
                return

    def _merge(self, node: ast.stmt) -> Iterator[Edit]:
        """Of a set or map into which another one is merged, only what the other one has is kept."""
        match node:
            case ast.AugAssign(target=target, op=ast.BitOr(), value=value):
                taken = f"type({self._text(target)})({self._text(value)})"
                yield self._edit("drop the absent", node, f"{self._text(target)} = {taken}")
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=merged, attr="update"), args=[_])):
                whole = text_of(self._lines, self._span(node))
                yield self._edit("drop the absent", node, f"{self._text(merged)}.clear(); {whole}")
            case _:
                return

    # --- expressions -------------------------------------------------------------------------

    def _condition(self, node: ast.expr) -> Iterator[Edit]:
        yield self._edit("drop guard", node, "True")
        yield self._edit("drop guard", node, "False")
        yield self._edit("negate condition", node, f"not ({self._text(node)})")
        yield from self._expression(node)

    def _expression(self, node: ast.expr) -> Iterator[Edit]:
        match node:
            case ast.Compare(left=left, ops=[sign], comparators=[right]):
                between = self._span(left), self._span(right)
                span = Span(between[0].end_line, between[0].end_column, between[1].line, between[1].column)
                written = text_of(self._lines, span)
                old = _SIGNS[type(sign)]
                if old in written:
                    yield Edit("weaken comparison", span, written.replace(old, _WEAKER[type(sign)]), self._place)
            case ast.BoolOp(values=values):
                for position in range(len(values)):
                    kept = [value for at, value in enumerate(values) if at != position]
                    join = " and " if isinstance(node.op, ast.And) else " or "
                    yield self._edit("drop condition", node, f"({join.join(self._text(one) for one in kept)})")
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield self._edit("negate condition", node, f"({self._text(operand)})")
            case ast.BinOp(left=left, right=right):
                yield self._edit("discard merge", node, f"({self._text(left)})")
                yield self._edit("discard merge", node, f"({self._text(right)})")
            case ast.Call(func=ast.Name(id="max" | "min" | "joined" | "merged" as name), args=[first, second]):
                yield self._edit("discard merge", node, f"({self._text(first)})")
                yield self._edit("discard merge", node, f"({self._text(second)})")
                for incoming in (first, second) if name == "max" else ():
                    yield self._edit("drop the absent", node, f"({self._text(node)} if {self._text(incoming)} else 0)")
            case ast.Dict(keys=keys, values=[first, second]) if not any(keys):
                yield self._edit("discard merge", node, f"{{**({self._text(first)})}}")
                yield self._edit("drop the absent", node, f"{{**({self._text(second)})}}")
            case ast.Call(func=ast.Name(id="all" | "any"), args=[_]):
                yield self._edit("drop guard", node, "True")
                yield self._edit("drop guard", node, "False")
            case ast.IfExp(body=body, orelse=otherwise):
                yield self._edit("other branch", node, f"({self._text(body)})")
                yield self._edit("other branch", node, f"({self._text(otherwise)})")
            case ast.Constant(value=bool() as value):
                yield self._edit("negate condition", node, repr(not value))
            case ast.Constant(value=int()):
                yield self._edit("off by one", node, f"({self._text(node)} + 1)")
            case _:
                pass
        text = self._text(node)
        if text in self._processes:
            for other in self._processes:
                if other != text and isinstance(getattr(node, "ctx", None), ast.Load):
                    yield self._edit("swap process", node, other)
            return
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                yield from self._expression(child)
            elif isinstance(child, ast.comprehension):
                for guard in child.ifs:
                    yield from self._condition(guard)
                yield from self._expression(child.iter)


def _is_words(statement: ast.stmt) -> bool:
    """Whether a statement only gives a name to something, as for a message."""
    return isinstance(statement, ast.Assign) and all(isinstance(target, ast.Name) for target in statement.targets)


def _checks(function: ast.expr) -> bool:
    """Whether a call only checks its arguments."""
    match function:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name.lstrip("_").startswith("require")
        case _:
            return False
