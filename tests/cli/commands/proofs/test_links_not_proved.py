"""What `thence prove` says of a link that is not proved."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Thence = Callable[..., Any]

SEQUENCER = Path(__file__).parents[4] / "docs/how-to/prove-a-protocol.md"


def sequencer(tmp_path: Path, *edits: tuple[str, str]) -> str:
    """The protocol of the page, changed."""
    found = re.search(r"```thence\n(machine numbers:.*?)```", SEQUENCER.read_text(encoding="utf-8"), re.S)
    assert found
    text = found[1]
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / "sequencer.thence"
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.long(share=3)
@pytest.mark.parametrize(
    ("code", "edits", "said"),
    [
        (
            3,
            (("  invariant behind: forall p: process. want@p <= next()\n", ""),),
            r"invariant `prefix` would be false: `delivered\(m, p\) iff numbered\(m\) and number\(m\) < want@p`"
            r" on line 65 is false for m = m1, p = p\d",
        ),
        (
            1,
            (("and not numbered(m)\n", "and not numbered(m)\n    require next() < 2\n"),),
            r"assign\(m1\): `next\(\) < 2` on line 11 is false",
        ),
        (
            1,
            (("network reliable, reordering", "network reliable, duplicating, fifo"),),
            r"invariant `asked_once` would be false: `\(count ASK\(m_2\) in flight. m_2 = m\) <= 1`"
            r" on line 60 is false for m = m1",
        ),
    ],
)
def test_prove_says_which_part_is_false(
    thence_process: Thence, tmp_path: Path, code: int, edits: tuple[tuple[str, str], ...], said: str
) -> None:
    file = sequencer(tmp_path, *edits)
    done = thence_process("prove", file, "sequencer to numbers")
    assert done.code == code
    assert ("this run breaks the link" in done.out) == (code == 1)
    assert ("no run breaks the link in these scopes: small" in done.out) == (code == 3)
    assert re.search(said, " ".join(done.out.split())), done.out
