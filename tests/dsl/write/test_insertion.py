"""Lines put into a machine: at their place, and nothing else changes."""

from __future__ import annotations

from thence.dsl.write.insertion import with_invariant_lines

HEAD = "machine m:\n  relation r: message\n"
TAIL = "\n\nmachine other:\n  prove fifo\n"


def test_after_the_last_invariant() -> None:
    text = HEAD + "  invariant a: forall m. r(m)\n    implies sent(m)\n  # about what follows\n  prove causal" + TAIL
    out = with_invariant_lines(text, 1, ["invariant b: true"])
    assert out == text.replace("sent(m)\n", "sent(m)\n  invariant b: true\n")


def test_before_what_is_stated() -> None:
    text = HEAD + "  prove causal" + TAIL
    assert with_invariant_lines(text, 1, ["x", "y"]) == HEAD + "  x\n  y\n  prove causal" + TAIL


def test_at_the_end() -> None:
    text = "# first\n" + HEAD + "  transition t(m): pass" + TAIL
    assert with_invariant_lines(text, 2, ["x"]) == text.replace(": pass", ": pass\n  x")


def test_lines_end_as_in_the_text() -> None:
    text = HEAD + "  prove causal" + TAIL
    out = with_invariant_lines(text.replace("\n", "\r\n"), 1, ["x", "y"])
    assert out == with_invariant_lines(text, 1, ["x", "y"]).replace("\n", "\r\n")
