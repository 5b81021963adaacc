"""Small links that are not in the library, as somebody would write them: the true ones are proved, no false one is."""

from __future__ import annotations

from pathlib import Path

import pytest

from thence.dsl.load import load_bytes
from thence.proofs.infer.links.inference import LinkInference, infer_link
from thence.proofs.infer.search.outcome import Limits
from thence.proofs.prove import solver_pool
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession

SMALL = Path(__file__).parent / "small"


def searched(name: str, old: str = "", new: str = "") -> LinkInference:
    """The search for the link of a small file, perhaps with one part of its text replaced."""
    path = SMALL / f"{name}.thence"
    text = path.read_text()
    assert old in text
    specification = load_bytes(path, (text.replace(old, new, 1) if old else text).encode()).specification
    assert specification is not None
    (link,) = specification.links
    options = Options()
    with solver_pool(options) as pool:
        return infer_link(ProofSession(pool, options), link, Limits(60.0), lambda _doing: None)


@pytest.mark.parametrize("name", ["token", "relay"])
def test_a_true_link_is_proved(name: str) -> None:
    found = searched(name)
    assert found.proved and found.conjuncts


@pytest.mark.long
@pytest.mark.parametrize("name", ["lock", "backup", "flood", "barrier", "calls"])
def test_another_true_link_is_proved(name: str) -> None:
    """A lock is with one process; a backup is told by a role; a message is with its sender; all have come; a number is
    answered once."""
    found = searched(name)
    assert found.proved and found.conjuncts


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("token", "when has and not busy and q != self", "when has and q != self"),
        ("token", "network reliable", "network duplicating"),
        ("token", "    has := false\n", ""),
        ("lock", "    lent := true\n", ""),
        ("lock", "network reliable", "network duplicating"),
        ("relay", "    send DOWN(m) to m.dst\n", "    send DOWN(m) to m.dst\n    send DOWN(m) to m.dst\n"),
        ("flood", "      seen.add(m)\n", "      if j != m.src: seen.add(m)\n"),
        ("barrier", "forall q: process. q in seen", "self in seen"),
        ("calls", "if open and n = asked", "if open"),
        ("backup", "n <= acked[p]:", "n <= acked[p] + 1:"),
    ],
)
def test_a_false_link_ends_in_a_run(name: str, old: str, new: str) -> None:
    found = searched(name, old, new)
    assert found.refuted is not None and not found.proved


@pytest.mark.long
def test_a_link_that_only_long_runs_break_is_not_proved() -> None:
    """The server forgets the ninth loan."""
    found = searched("lock", "    lent := true\n", "    loans := loans + 1\n    lent := loans != 9\n")
    assert not found.proved
