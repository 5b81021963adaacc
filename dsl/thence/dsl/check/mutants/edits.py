"""Edits of a mutant: statements of its subject found by their trees, replaced, dropped or added to.

A statement is found if it is equal to the one that the edit restates; a statement with a body, if its header is. Spans,
layout and labels take no part in that. Each edit must find exactly one statement of what the edits before it have left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias, assert_never

from thence.dsl.text import syntax
from thence.dsl.text.reporter import Reporter
from thence.dsl.text.syntax import Edit, Stmt
from thence.dsl.write.statements import place_text

_Body: TypeAlias = tuple[Stmt, ...]

_CANDIDATES = 8
"""Statements that a diagnostic shows at most."""


def edited(body: _Body, edits: Sequence[Edit], part: str, reporter: Reporter) -> _Body | None:
    """The body with all edits made, in their order; None, and it is reported, where one of them finds no one place."""
    for edit in edits:
        found = _the_one(body, edit, part, reporter)
        if found is None:
            return None
        new = _instead(found, edit, part, reporter)
        if new is None:
            return None
        body = _spliced(body, found, new) or (syntax.Pass(span=edit.span),)
    return body


def _the_one(body: _Body, edit: Edit, part: str, reporter: Reporter) -> Stmt | None:
    """The only statement that the edit names."""
    every = list(_statements(body))
    found = [statement for statement in every if _header(statement) == edit.place]
    if len(found) == 1:
        return found[0]
    shown = place_text(edit.place)
    if found:
        places = "; ".join(map(_place, found))
        notes = (f"on {places}", "`inside HEADER:` says in whose body; else restate the whole part")
        reporter.error("E0628", edit.place.span, f"`{shown}` stands {len(found)} times in {part}", *notes)
        return None
    alike = [statement for statement in every if type(statement) is type(edit.place)] or every
    there = "; ".join(f"`{place_text(one)}` ({_place(one)})" for one in alike[:_CANDIDATES])
    more = f"; and {len(alike) - _CANDIDATES} more" if len(alike) > _CANDIDATES else ""
    reporter.error("E0628", edit.place.span, f"there is no `{shown}` in {part}", f"there are: {there}{more}")
    return None


def _place(statement: Stmt) -> str:
    """Where a statement stands: its line, and its label."""
    return f"line {statement.span.line}{'' if statement.label is None else f', {statement.label:.20}'}"


def _statements(body: _Body) -> Iterator[Stmt]:
    """The statements of a body and of the bodies in it, in the order of the text."""
    for statement in body:
        yield statement
        match statement:
            case syntax.If(_, then, otherwise):
                yield from _statements(then)
                yield from _statements(otherwise)
            case syntax.While(_, inner) | syntax.For(_, _, inner):
                yield from _statements(inner)
            case syntax.Choose(body=inner, otherwise=otherwise):
                yield from _statements(inner)
                yield from _statements(otherwise)
            case syntax.Either(branches):
                for branch in branches:
                    yield from _statements(branch)


def _header(statement: Stmt) -> Stmt:
    """The statement without its body."""
    match statement:
        case syntax.If():
            return replace(statement, then=(), otherwise=())
        case syntax.While() | syntax.For():
            return replace(statement, body=())
        case syntax.Choose():
            return replace(statement, body=(), otherwise=())
        case _:
            return statement


def _instead(found: Stmt, edit: Edit, part: str, reporter: Reporter) -> _Body | None:
    """What stands in the place of the statement after the edit."""
    match edit.action:
        case "replace":
            return edit.body
        case "drop":
            return ()
        case "before":
            return (*edit.body, found)
        case "after":
            return (found, *edit.body)
        case "header":
            return (_with_header(found, edit.body[0]),)
        case "inside":
            return _edited_inside(found, edit, part, reporter)
        case _:
            assert_never(edit.action)


def _with_header(found: Stmt, header: Stmt) -> Stmt:
    match found, header:
        case syntax.If(), syntax.If(condition):
            return replace(found, condition=condition)
        case syntax.While(), syntax.While(condition):
            return replace(found, condition=condition)
        case syntax.For(), syntax.For(name, domain, _, ref):
            return replace(found, name=name, domain=domain, ref=ref)
        case syntax.Choose(), syntax.Choose(name, domain, condition):
            return replace(found, name=name, domain=domain, condition=condition)
        case _:
            raise AssertionError("the parser takes headers of one kind only")


def _edited_inside(found: Stmt, edit: Edit, part: str, reporter: Reporter) -> _Body | None:
    """The statement with the edits made in its body: of an `if`, in what follows when it is true."""
    within = f"`{place_text(edit.place)}` of {part}"
    match found:
        case syntax.If(then=inner):
            then = edited(inner, edit.edits, within, reporter)
            return None if then is None else (replace(found, then=then),)
        case syntax.While(body=inner) | syntax.For(body=inner) | syntax.Choose(body=inner):
            body = edited(inner, edit.edits, within, reporter)
            return None if body is None else (replace(found, body=body),)
        case _:
            raise AssertionError("only a statement with a body has a header")


def _spliced(body: _Body, found: Stmt, new: _Body) -> _Body:
    """The body with `new` in the place of `found`, which is told by its identity. No body of a header is empty."""
    result: list[Stmt] = []
    for statement in body:
        match statement:
            case _ if statement is found:
                result += new
            case syntax.If(_, then, otherwise):
                then, otherwise = _spliced(then, found, new), _spliced(otherwise, found, new)
                result.append(replace(statement, then=then or (syntax.Pass(span=found.span),), otherwise=otherwise))
            case syntax.While(_, inner) | syntax.For(_, _, inner):
                result.append(replace(statement, body=_spliced(inner, found, new) or (syntax.Pass(span=found.span),)))
            case syntax.Choose(body=inner, otherwise=otherwise):
                inner, otherwise = _spliced(inner, found, new), _spliced(otherwise, found, new)
                nothing = (syntax.Pass(span=found.span),)
                result.append(replace(statement, body=inner or nothing, otherwise=otherwise))
            case syntax.Either(branches):
                spliced = (_spliced(branch, found, new) or (syntax.Pass(span=found.span),) for branch in branches)
                result.append(replace(statement, branches=tuple(spliced)))
            case _:
                result.append(statement)
    return tuple(result)
