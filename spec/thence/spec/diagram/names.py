"""Names of messages in a diagram: short enough for its columns, the same in labels, notes and captions."""

from __future__ import annotations

from typing import Final

LONGEST_LABEL: Final = 12
_BEGINNING: Final = 5
"""Of a longer name so much of the beginning is kept, and of the end what there is room for: names in a recording often
begin alike."""


def label_of(name: str) -> str:
    """The name as it stands in the diagram."""
    text = shown(name)
    if len(text) <= LONGEST_LABEL:
        return text
    return f"{text[:_BEGINNING]}…{text[_BEGINNING + 1 - LONGEST_LABEL :]}"


def shown(text: str) -> str:
    """The text with a question mark for each character that cannot be printed."""
    return "".join(character if character.isprintable() else "?" for character in text)
