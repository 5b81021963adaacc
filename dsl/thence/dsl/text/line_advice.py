"""How a line is written, where a word of it does not fit: by its first word, and by what stands before the word.

`line` has the words of the line before the one that does not fit, `text` is that one; empty text is the line's end.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

NAMED = ("invariant", "axiom", "stable", "reachable", "eventually")
"""Lines with a formula and its name."""
GUARDS = frozenset(("when", "if", "guard", "assume", "requires", "pre", "precondition", "await", "enabled", "where"))
"""Words of other languages for the condition of a step."""
WRITTEN_TYPES = ("process", "message", "bool", "nat")
_COLLECTIONS = ("set", "queue", "map", "option")
_CHANGES = ("add", "push", "remove", "append", "insert")
_LATER = ("eventually", "always", "finally", "globally", "next")
_LEADS_TO = "write `P leads to Q`: whenever P is true, Q is true then or later"

_IN_FLIGHT = "packets on their way are `forall KIND(...) from p to q in flight. P`"


def advice(line: Sequence[str], text: str, accepted: Set[str]) -> str:
    """What to write instead; empty where that is not known."""
    first, before = _ends(line)
    if first == "send" or line[-2:-1] == ["send"]:
        named = text == "to" and before != ")"
        return f"a packet has parentheses: `send {before}() to p`" if named else "write `send KIND(...) to p`"
    if first == "on":
        return _handler(line, text)
    if first == "transition" and text in GUARDS:
        return "when it can happen is said by a line of its body: `require P`"
    if first == "eventually" and not text and "BY" in accepted:
        return "write `... by:`, and below it the steps that are waited for, such as `deliver(m)`"
    if first == "invariant" and text == "=" and "COLON" in accepted:
        return "write `invariant NAME: P`"
    if first == "change" and text == "(":
        return f"a handler is named without parentheses: `{' '.join(line)}:`"
    if accepted == {"LPAR"} and before.isidentifier():
        return f"it has parentheses: `{before}(...)`"
    if text == ":" and (first == "let" or line[-2:-1] == ["let"]):
        return f"a local name has no type: `let {before} = e`"
    if first == "procedure" and text in ("returns", "return"):
        return "a procedure gives no value; a value has a name by `def name(...): e`"
    if text == "{" and "COLON" in accepted:
        return "a block is what is indented deeper, below a `:`; it has no braces"
    if text == "-" and "COLON" in accepted:
        return "names are made of ASCII letters, digits and `_`"
    return ""


def _handler(line: Sequence[str], text: str) -> str:
    second, before = line[1] if len(line) > 1 else "", line[-1]
    if second == "receive" and text == "from" and before != ")":
        return f"a packet has parentheses: `on receive {before}() from p:`"
    if second == "receive" and text == "when":
        return "only the application can wait; what has arrived or fired is looked at by an `if` in the handler"
    if text == "from":
        return f"what arrives is handled by `on receive {second}(...) from p:`"
    if text in ("when", "if", "where") and len(line) == 2:
        return f"an input has parentheses: `on {second}() when P:`"
    if text in ("if", "where", "require"):
        return f"the condition of an input stands after `when`: `on {second}(...) when P:`"
    events = "`on causal_send(m):`, `on receive KIND(...) from p:`, `on INPUT(...):`"
    return f"a handler is {events} or `periodically:`"


def advice_on_number(line: Sequence[str], text: str) -> str:
    """Where a number should stand, in a scope."""
    _, before = _ends(line)
    if text in ("=", ":", ":="):
        return f"write `{before} N`, without `{text}`"
    if text[1:].isdigit() and text[:1] == "p":
        return f"processes are numbers here: write `{text[1:]}`"
    if text == "each":
        return "the same number for each is `1 per process`"
    if text == "(" and len(line) == 1:
        return f"write `{before} 1 per process`, without parentheses"
    return ""


def advice_on_connection(line: Sequence[str], text: str) -> str:
    """Where a word is missing that connects two parts of a line."""
    first, before = _ends(line)
    if first == "for" and text == ",":
        return "a `for` has one variable; `for k in M` goes through the keys of a map, and `M[k]` is the entry"
    if before in ("all", "each", "every"):
        return "write `for p in process: ...`"
    if line[-5:-4] == ["from"] or line[-4:-3] == ["from"]:
        return _IN_FLIGHT
    if before in _LATER or (before == "not" and line[-2:-1] != [] and line[-2] in _LATER):
        return _LEADS_TO
    if first in ("scope", "mutant", "scenario") and len(line) == 2:
        return f"write `{first} {before} of PROTOCOL:`"
    if first == "change" and len(line) == 1:
        return f"write `change on {text}:`"
    return ""


def advice_on_rest(line: Sequence[str], text: str, is_last: bool) -> str:
    """Where the line should have ended."""
    first, before = _ends(line)
    if text in ("when", "if") and "is" in line:
        return "write `EVENT is TRANSITION(...), when P`"
    if first in ("call", "do", "invoke"):
        return f"a procedure is called by its name: `{text}()`"
    if text == "," and first in ("require", *NAMED):
        return "two formulas are joined by `and`"
    if text == "," and is_last:
        return "the end of the line ends it, without `,`"
    if before in _LATER and len(line) > 1:
        return _LEADS_TO
    if text == "under" and first == "eventually":
        return "`under` stands before the formula: `eventually NAME under fair receive: P leads to Q`"
    if first == "network":
        return f"a comma stands between them: `network {before}, {text}`"
    if text == "[" and before.casefold() in _COLLECTIONS:
        return "write `set of T`, `queue of T`, `option of T` or `map K to V`"
    if before in _CHANGES and line[-2:-1] == ["."]:
        return f"a change has parentheses: `.{before}({text})`"
    return ""


def _ends(line: Sequence[str]) -> tuple[str, str]:
    return (line[0], line[-1]) if line else ("", "")
