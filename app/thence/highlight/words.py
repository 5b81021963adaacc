"""The words of the language by the colour that they get, from the grammar and its vocabulary."""

from __future__ import annotations

import re
from importlib.resources import files

from thence.dsl.text.vocabulary import PAPER_SYMBOLS, RESERVED, TOP_LEVEL

LOGIC = ("and", "or", "not", "implies", "iff", "forall", "exists", "count", "sum", "in", "is")
"""Reserved words that make formulas."""

CONSTANTS = ("true", "false", "none", "empty")
"""Reserved words that are values."""

CONTROL = tuple(sorted(RESERVED - {*LOGIC, *CONSTANTS}))
"""The other reserved words: they begin statements and join their parts."""

TYPES = ("process", "message", "bool", "nat")
"""Types that have no keyword of their own."""

FUNCTIONS = ("max", "min", "some", "window", "sent_by")
"""Functions that the language brings; names unless they are applied."""

PROPERTIES = (
    "causal", "causally_ordered", "fifo", "csps", "sps", "total_order", "at_most_once", "no_creation", "deadlock_free",
    "delivered", "completes", "fault", "unicast", "multicast", "broadcast", "reliable", "lossy", "duplicating",
    "reordering", "tree", "overlay",
)  # fmt: skip
"""Words that lines list: properties, and what deliveries and networks are. Names elsewhere."""

NAMING = (
    "def", "message", "record", "procedure", "transition", "invariant", "stable", "reachable", "axiom", "inductive",
    "property", "relation", "function", "sort", "constant", "role",
)  # fmt: skip
"""Keywords that a declared name follows."""

ONLY_BEFORE = {
    "after": r"(?= +[A-Za-z_])",
    "ahead": r"(?= *[.,])(?<=\w ahead)",
    "before": r"(?= +[A-Za-z_])",
    "between": r"(?= +steps\b)",
    "by": r"(?<=delivered by)|(?= +(?:induction|if|while|for)\b)|(?= *:)(?<![;,] by)(?<!\(by)(?<!  by)",
    "causal_send": r"(?=\()(?<=on causal_send)|(?=\(\w+\) +is\b)|(?= *:)(?<=change on causal_send)",
    "change": r"(?= +(?:procedure|transition|on|periodically)\b)",
    "deliver": r"(?= +[A-Za-z_])",
    "delivery": r"(?= +(?:unicast|multicast|broadcast|off)\b)",
    "drop": r"(?= +[A-Za-z_])",
    "fifo": r"(?= *(?:$|#))(?<=^  fifo)",
    "inside": r"(?= +(?:if|while|for)\b)",
    "link": r"(?= +[A-Za-z_]\w* +(?:to|with)\b)",
    "links": r"(?= +[0-9])",
    "message": r"(?= +[A-Za-z_]\w* *(?:\(|$|carries\b))",
    "number": r"(?= +of +messages\b)",
    "per": r"(?= +process\b)",
    "periodically": r"(?= *:| +[A-Za-z_]\w* *:|(?: +[A-Za-z_]\w*)? +is\b)",
    "process": r"(?<=per process)",
    "queue": r"(?= +of\b)",
    "receive": r"(?<!fair receive)(?<!, receive)(?= *(?:;|$|#|from\b|[A-Za-z_]\w*(?:\(| *:)))",
    "replace": r"(?= +[A-Za-z_])",
    "rest": r"(?<=at rest)",
    "self": r"(?= +sends\b)",
    "starvation": r"(?= +[A-Za-z_])",
    "steps": r"(?<=between steps)",
    "to": r"(?! *\()",
    "tree": r"(?= +[0-9])",
}
"""Words that are more often names than keywords, and what tells them apart: a condition right behind the word."""

PAPER = "".join(PAPER_SYMBOLS)
"""The papers' symbols."""


def keywords() -> frozenset[str]:
    """The words to which the grammar gives a meaning. Read from its text: a lexer needs no parser."""
    text = files("thence.dsl.text").joinpath("grammar.lark").read_text(encoding="utf-8")
    rules = re.sub(r"^//.*$| //.*$", "", text, flags=re.MULTILINE)
    return frozenset(re.findall(r'"([a-z_]+)"', rules))


def contextual() -> tuple[str, ...]:
    """Keywords that are names where the grammar gives them no meaning."""
    return tuple(sorted(keywords() - RESERVED - set(ONLY_BEFORE) - set(TOP_LEVEL)))
