"""The form of an obligation: the SMT-LIB2 text that `logic.smt` writes, and no other.

Every program that reads an obligation must read the same formulas. So the text has a logic, declarations, assertions
and one `(check-sat)`; every name is declared once, before it is used, and none is a name of the language; one command
a line, in one layout, with a comment at its end or none. Two solvers cannot disagree about where such a text ends
a comment, a line or a name, and no command of it prints, sets, defines or forgets anything.
"""

from __future__ import annotations

import re

from thence.proofs.certificate.forms.expressions import Tree, is_printable, trees, words, written

LOGIC, CHECK = "(set-logic ALL)", "(check-sat)"

_LANGUAGE = frozenset({"true", "false", "and", "or", "not", "=>", "=", "+", "-", "<", "<=", "ite"})
"""The functions and constants of the language that an obligation may use."""

_NAME = re.compile(r"[a-z]|(?:S|f|k|x|lt_S)[0-9]+_*")
"""The names that an obligation may declare or bind."""

_NUMBER = re.compile(r"0|[1-9][0-9]*")

_COMMENT = re.compile(r"[^;|\"\\]*[^;|\"\\ ]")
"""The text of a comment: nothing that could begin another comment, a string or a quoted symbol."""


class _Fault(ValueError):
    """The reason why a text is no obligation."""


def obligation_fault(text: str) -> str | None:
    """The reason why a text is not an obligation in the form that Thence writes, or None."""
    try:
        _Reader().read(text)
    except _Fault as fault:
        return str(fault)
    return None


def obligation_name(text: str) -> str:
    """The name of an obligation: its first line, a comment."""
    return text.partition("\n")[0].removeprefix("; ")


def without_comments(text: str) -> str:
    """An obligation's commands, as a solver reads them."""
    lines = (line.partition(";")[0].rstrip() for line in text.split("\n"))
    return "".join(f"{line}\n" for line in lines if line)


class _Reader:
    """The names of one obligation, as far as it has been read."""

    def __init__(self) -> None:
        self._sorts = {"Bool", "Int"}
        self._declared: set[str] = set()

    def read(self, text: str) -> None:
        """Raises: _Fault where the text is not in the form."""
        if not is_printable(text):
            raise _Fault("it has a character that is neither printable ASCII nor a newline")
        if not text.endswith("\n"):
            raise _Fault("it does not end with a newline")
        first, *lines = text[:-1].split("\n")
        if not first.startswith("; ") or _COMMENT.fullmatch(first[2:]) is None:
            raise _Fault("it does not begin with its name in a comment")
        commands = [self._command(line) for line in lines]
        if len(commands) < 2 or commands[0] != LOGIC or commands[-1] != CHECK:
            raise _Fault(f"it does not begin with {LOGIC} and end with {CHECK}")
        if commands.count(LOGIC) != 1 or commands.count(CHECK) != 1:
            raise _Fault("it sets a logic or checks more than once")

    def _command(self, line: str) -> str:
        """The command of a line. Raises: _Fault where it is none, or is laid out in another way."""
        command, mark, comment = line.partition(" ; ")
        shown = f"`{line[:60]}`"
        if mark and _COMMENT.fullmatch(comment) is None:
            raise _Fault(f"the comment of {shown} is not one that Thence writes")
        try:
            tokens = words(command)
            alone = len(trees(tokens)) == 1
        except ValueError as fault:
            raise _Fault(f"{shown}: {fault}") from fault
        if not alone or written(tokens) != command:
            raise _Fault(f"{shown} is not one command in the layout that Thence writes")
        if command not in (LOGIC, CHECK):
            self._stated(command, tokens)
        return command

    def _stated(self, command: str, tokens: list[str]) -> None:
        match tokens:
            case ["(", "declare-sort", name, "0", ")"]:
                self._declare(name)
                self._sorts.add(name)
            case ["(", "declare-const", name, sort, ")"] if sort in self._sorts:
                self._declare(name)
            case ["(", "declare-fun", name, "(", *sorts, ")", result, ")"] if self._sorts >= {*sorts, result}:
                self._declare(name)
            case ["(", "assert", *formula, ")"] if formula:
                self._formula(formula, command)
            case _:
                raise _Fault(f"`{command[:60]}` is not a command of an obligation")

    def _declare(self, name: str) -> None:
        if _NAME.fullmatch(name) is None:
            raise _Fault(f"`{name[:60]}` is not a name that Thence declares")
        if name in self._declared:
            raise _Fault(f"`{name}` is declared more than once")
        self._declared.add(name)

    def _formula(self, tokens: list[str], command: str) -> None:
        """Holds the one formula of an assertion against the language, without recursion: formulas may be deep."""
        formulas = trees(tokens)
        if len(formulas) != 1:
            raise _Fault(f"more than one formula in `{command[:60]}`")
        waiting: list[tuple[Tree, frozenset[str]]] = [(formulas[0], frozenset())]
        while waiting:
            tree, bound = waiting.pop()
            if isinstance(tree, str):
                if not self._is_value(tree, bound):
                    raise _Fault(f"`{tree[:60]}` is not declared")
            else:
                waiting.extend(self._parts(tree, bound))

    def _is_value(self, word: str, bound: frozenset[str]) -> bool:
        return self._is_function(word) or word in bound or _NUMBER.fullmatch(word) is not None

    def _is_function(self, word: str) -> bool:
        return word in _LANGUAGE or (word in self._declared and word not in self._sorts)

    def _parts(self, tree: list[Tree], bound: frozenset[str]) -> list[tuple[Tree, frozenset[str]]]:
        """The parts of an application, quantifier or pattern that are formulas or terms themselves."""
        match tree:
            case ["forall" | "exists", [_, *_] as binders, body]:
                return [(body, bound | self._bound(binders, bound))]
            case ["!", body, ":pattern", [pattern]]:
                return [(body, bound), (pattern, bound)]
            case [str(head), first, *rest] if self._is_function(head):
                return [(part, bound) for part in (first, *rest)]
            case [head, *_]:
                raise _Fault(f"`{head[:60] if isinstance(head, str) else '('}` is no function of an obligation here")
            case _:
                raise _Fault("a formula has a pair of parentheses with nothing in it")

    def _bound(self, binders: list[Tree], outer: frozenset[str]) -> frozenset[str]:
        names: set[str] = set()
        for binder in binders:
            match binder:
                case [str(name), str(sort)] if _NAME.fullmatch(name) and sort in self._sorts:
                    if name in names or name in outer or name in self._declared:
                        raise _Fault(f"`{name}` is bound where it has a meaning already")
                    names.add(name)
                case _:
                    raise _Fault("a quantifier binds something else than a variable")
        return frozenset(names)
