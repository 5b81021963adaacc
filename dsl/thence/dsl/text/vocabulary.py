"""The vocabulary: reserved words, symbols, the papers' symbols, and the words of other languages."""

from __future__ import annotations

RESERVED = frozenset(
    (
        "and", "or", "not", "implies", "iff", "forall", "exists", "count", "sum", "in", "is", "if", "then", "else",
        "true", "false", "none", "empty", "let", "while", "for", "return", "pass",
    )
)  # fmt: skip
"""Never names. The other keywords of the grammar are names where it gives them no meaning."""

TOP_LEVEL = ("theory", "theorem", "machine", "protocol", "scope", "conforms", "mutant", "scenario", "def")
"""The words that begin a declaration."""

HEADERS = frozenset(("if", "while", "for", "choose"))
"""The words that begin a statement with a body."""

LINE_OPENERS = frozenset(
    (
        *TOP_LEVEL, "on", "procedure", "transition", "invariant", "stable", "reachable", "state", "record", "axiom",
        "property", "let", "var", "while", "for", "choose", "either", "return", "send", "deliver", "require",
        "periodically", "network", "message", "relation", "constant", "expect",
    )
)  # fmt: skip
"""Words that begin a line of their own: inside a bracket they show that it was left open."""

SYMBOLS = {
    ":=": "ASSIGN", "...": "ELLIPSIS", "!=": "NOT_EQUAL", "<=": "AT_MOST", ">=": "AT_LEAST", "=": "EQUAL",
    "<": "LESS", ">": "MORE", "+": "PLUS", "-": "MINUS", "*": "TIMES", ":": "COLON", ",": "COMMA", ";": "SEMICOLON",
    ".": "DOT", "@": "AT", "(": "LPAR", ")": "RPAR", "[": "LSQB", "]": "RSQB", "{": "LBRACE", "}": "RBRACE",
}  # fmt: skip
"""Symbols and their terminals in the grammar."""

PAPER_SYMBOLS = {
    "←": ":=", "∧": "and", "∨": "or", "¬": "not", "⇒": "implies", "⇔": "iff", "∀": "forall", "∃": "exists",
    "∈": "in", "∉": "not in", "≤": "<=", "≥": ">=", "≠": "!=", "⊥": "none", "∅": "empty",
}  # fmt: skip
"""The papers' symbols and their readings."""

FOREIGN_SYMBOLS = {
    "==": ("E0112", "=", "`==` is not an operator here", "equality is `=`; assignment is `:=`"),
    "&&": ("E0113", "and", "`&&` is not an operator here", "write `and`"),
    "||": ("E0113", "or", "`||` is not an operator here", "write `or`"),
    "!": ("E0113", "not", "`!` is not an operator here", "write `not`"),
    "=>": ("E0113", "implies", "`=>` is not an operator here", "write `implies`; at most is `<=`, at least is `>=`"),
    "->": (
        "E0113",
        "implies",
        "`->` is not an operator here",
        "in a formula, write `implies`; in types, `f(): T` and `map K to V`; of links, `0 to 1`",
    ),
    "<->": ("E0113", "iff", "`<->` is not an operator here", "write `iff`"),
    "<=>": ("E0113", "iff", "`<=>` is not an operator here", "write `iff`"),
    "<>": ("E0113", "!=", "`<>` is not an operator here", "write `!=`"),
    "<-": ("E0113", ":=", "`<-` is not an operator here", "assignment is `:=`; for less than minus write a blank"),
    "+=": ("E0129", ":=", "`+=` is not in the language", "write `x := x + 1`"),
    "-=": ("E0129", ":=", "`-=` is not in the language", "write `x := x - 1`"),
    "*=": ("E0129", ":=", "`*=` is not in the language", "write `x := x * 2`"),
    "|=": ("E0129", ":=", "`|=` is not in the language", "a set grows with `.add(x)`; elsewhere write `x := x or y`"),
    "++": ("E0129", ":= 1", "`++` is not in the language", "write `x := x + 1`"),
    "--": ("E0129", ":= 1", "`--` is not in the language", "write `x := x - 1`; a remark follows `#`"),
    "=:": ("E0111", ":=", "`=:` is not an operator here", "assignment is `:=`"),
    "::=": ("E0111", ":=", "`::=` is not an operator here", "assignment is `:=`"),
    "/=": ("E0113", "!=", "`/=` is not an operator here", "write `!=`; there is no division"),
    "=/=": ("E0113", "!=", "`=/=` is not an operator here", "write `!=`"),
    "~=": ("E0113", "!=", "`~=` is not an operator here", "write `!=`"),
    "//": ("E0113", "-", "`//` is not an operator here", "there is no division; a remark follows `#`"),
    "**": ("E0113", "-", "`**` is not an operator here", "there are no powers; numbers take `+`, `-` and `*`"),
    "/\\": ("E0113", "and", "`/\\` is not an operator here", "write `and`"),
    "\\/": ("E0113", "or", "`\\/` is not an operator here", "write `or`"),
    "\\in": ("E0113", "in", "`\\in` is not an operator here", "write `in`"),
    "\\E": ("E0113", "exists", "`\\E` is not an operator here", "write `exists x in S. P`"),
    "\\A": ("E0113", "forall", "`\\A` is not an operator here", "write `forall x in S. P`"),
}
"""Operators of other languages: code, the words that are read instead, message, note."""

CLOSERS = {")": "(", "]": "[", "}": "{"}

CONTINUING = frozenset(
    ("and", "or", "implies", "iff", "in", "is", "then", "=", "!=", "<", "<=", ">", ">=", "+", "-", "*")
)
"""At the start of a line, these continue the line before."""

UNFINISHED = CONTINUING - {"is"} | {"not", ":=", ",", ".", "@"}
"""At the end of a line, these are continued by a deeper line."""

FOREIGN_WORDS = {
    "elif": "write `else if`", "elsif": "write `else if`", "elseif": "write `else if`",
    "func": "write `procedure name(...):`", "function": "write `procedure name(...):`, or for a value `def`",
    "fn": "write `procedure name(...):`", "proc": "write `procedure name(...):`",
    "val": "a local name is `let x = e`", "const": "a local name is `let x = e`",
    "foreach": "write `for x in e:`", "until": "write `while not ...:`", "loop": "write `while ...:`",
    "import": "a file stands for itself", "from": "a file stands for itself",
    "when": "write `if ...:`, or in a machine `require ...`", "assert": "write `invariant name: ...`",
    "begin": "a block is what is indented deeper", "end": "a block ends where the indentation does",
    "upon": "write `on receive KIND(...) from p:`", "class": "write `record Name: ...`",
    "struct": "write `record Name: ...`", "type": "write `record Name: ...`",
    "broadcast": "write `for p in process: send KIND(...) to p`", "set": "write `place := e`",
}  # fmt: skip
"""Words that begin lines in other languages, and the words to write instead."""
