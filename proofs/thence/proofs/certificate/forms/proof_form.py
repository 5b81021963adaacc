"""The forms of proof objects: RESOLUTE, which the checker reads, and Alethe, which recheck does not.

A proof object has words, parentheses, and in Alethe strings without escapes; no comments and no quoted symbols. It has
one layout. The names that a RESOLUTE proof defines or abbreviates by begin with `@` or `.`, as no name of an obligation
does: a proof cannot give a symbol of its obligation another meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from thence.proofs.certificate.forms.expressions import Tree, is_printable, lists, trees, words, written

_WORD = re.compile(r"[A-Za-z0-9_.!@:+*/<>=^~&%$'-]+")
_STRING = re.compile(r'"[A-Za-z0-9_.!@:+*/<>=^~&%$?, -]*"')
_OWN = re.compile(r"[@.].+")

_BINDING = (
    "define-fun",
    "define-fun-rec",
    "declare-fun",
    "declare-const",
    "define-const",
    "define-sort",
    "declare-sort",
)
"""The words before a name that a proof introduces."""


def resolute_form(text: str) -> str:
    """A RESOLUTE proof, `unsat` and one expression, in its layout. Raises: ValueError where it is none."""
    if not is_printable(text):
        raise ValueError("it has a character that is neither printable ASCII nor a newline")
    first, *proof = words(text)
    if first != "unsat" or not all(token in "()" or _WORD.fullmatch(token) for token in proof):
        raise ValueError("it is not `unsat` and words in parentheses")
    found = trees(proof)
    if len(found) != 1:
        raise ValueError("it is not one expression")
    for name in _introduced(found):
        if not isinstance(name, str) or not _OWN.fullmatch(name):
            raise ValueError(f"it gives `{name[:60] if isinstance(name, str) else '('}` a meaning of its own")
    return f"unsat\n{written(proof)}\n"


def _introduced(found: list[Tree]) -> Iterator[Tree]:
    """The names that a proof defines, declares or abbreviates by."""
    for tree in lists(found):
        match tree:
            case ["let", [*binders], *_]:
                yield from (binder[0] if isinstance(binder, list) and binder else binder for binder in binders)
            case ["let", *_]:
                raise ValueError("a `let` binds nothing")
            case [str(word), name, *_] if word in _BINDING:
                yield name


def alethe_form(text: str) -> str:
    """An Alethe proof, a list of commands, in its layout. Raises: ValueError where it is none."""
    if not is_printable(text):
        raise ValueError("it has a character that is neither printable ASCII nor a newline")
    proof = words(text)
    if not all(token in "()" or _WORD.fullmatch(token) or _STRING.fullmatch(token) for token in proof):
        raise ValueError("it is not words and strings in parentheses")
    if proof[:1] != ["("] or _ends(proof) != [len(proof)]:
        raise ValueError("it is not one list")
    inside = proof[1:-1]
    ends = _ends(inside)
    lines = [written(inside[start:end]) for start, end in zip([0, *ends], ends, strict=False)]
    return "".join(f"{line}\n" for line in ("(", *lines, ")"))


FORMS = {"resolute": resolute_form, "alethe": alethe_form}
"""The form of a proof object, by the ending of its file."""


def proof_fault(ending: str, text: str) -> str | None:
    """The reason why a text is not a proof object in its form, or None."""
    try:
        return None if FORMS[ending](text) == text else "it is not laid out as Thence lays it out"
    except ValueError as fault:
        return str(fault)


def in_form(ending: str, text: str) -> str | None:
    """The proof object in its form; None where it has none."""
    try:
        return FORMS[ending](text)
    except ValueError:
        return None


def _ends(tokens: Sequence[str]) -> list[int]:
    """The positions behind each expression. Raises: ValueError for an unmatched parenthesis."""
    return list(_each_end(tokens))


def _each_end(tokens: Sequence[str]) -> Iterator[int]:
    depth = 0
    for position, token in enumerate(tokens, 1):
        depth += {"(": 1, ")": -1}.get(token, 0)
        if depth < 0:
            raise ValueError("an unmatched parenthesis")
        if depth == 0:
            yield position
    if depth:
        raise ValueError("it ends in the middle of an expression")
