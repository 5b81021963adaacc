"""Faults that are put into texts of Python."""

from __future__ import annotations

import pytest

from thence.conformance.mutation.edits import applied
from thence.conformance.mutation.python_edits import implementation_edits


@pytest.mark.parametrize(
    ("merge", "kept", "expected"),
    [
        ("self.own[0] = max(self.own[0], theirs[0])", [3], [0]),
        ("self.own.update(theirs)", {"a": 1}, {"b": 2}),
        ("self.own |= theirs", {1, 3}, {2}),
        ("self.own |= theirs", {"a": 1}, {"b": 2}),
        ("self.own = {**self.own, **theirs}", {"a": 1}, {"b": 2}),
    ],
)
def test_a_merge_may_drop_what_is_absent_from_the_incoming_side(merge: str, kept: object, expected: object) -> None:
    theirs = {list: [0], dict: {"b": 2}, set: {2}}[type(kept)]
    text = f"class Process:\n    def merge(self, theirs):\n        {merge}\n"
    outcomes = []
    for edit in implementation_edits(text):
        if edit.operator == "drop the absent":
            made: dict[str, type] = {}
            exec(applied(text, edit), made)
            process = made["Process"]()
            process.own = type(kept)(kept)  # type: ignore[call-arg]
            process.merge(theirs)
            outcomes.append(process.own)
    assert expected in outcomes
