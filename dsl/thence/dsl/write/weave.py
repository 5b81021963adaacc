"""Comments and blank lines back into the lines of a printed file.

Every comment is kept. A comment at the end of a line stays at the end of the printed line, if that is free, and in its
column, if it fits. Any other stands on a line of its own before the line that it stood before.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

from thence.dsl.text.syntax import Comment
from thence.dsl.write.expressions import INDENT, Line


@dataclass(slots=True)
class _Entry:
    """A line of the output, under way."""

    line: Line
    before: list[Comment] = field(default_factory=list)
    trailing: Comment | None = None


@dataclass(slots=True)
class _Row:
    """A line of text: its depth, and whether a blank line stands before it."""

    depth: int
    text: str
    blank: bool


def weave(lines: list[Line], comments: tuple[Comment, ...], blank_lines: frozenset[int]) -> str:
    """The text of a file. A blank line stays where the source has one; several become one."""
    entries = [_Entry(line) for line in lines]
    starts = _starts(lines)
    rest = [comment for comment in comments if not _place(comment, entries, starts)]
    rows: list[_Row] = []
    previous: list[Line] = []  # without those that go on with a line before
    begun = ""
    latest = 0  # a source line that gives several lines has its blank line before the first
    for entry in entries:
        group = _comment_rows(entry.before, previous, entry.line, blank_lines)
        text = entry.line.text
        if entry.trailing is not None:
            room = entry.trailing.column - 1 - INDENT * entry.line.depth
            text = f"{text:<{max(room - 2, 0)}}  {_comment_text(entry.trailing.text)}"
        blank = entry.line.start > latest and entry.line.start - 1 in blank_lines
        latest = max(latest, entry.line.start)
        group.append(_Row(entry.line.depth, text, blank))
        if entry.line.top and not any(row.blank for row in group):
            first = next(row for row in group if row.depth == 0)
            first.blank = True
        rows += group
        if begun.endswith(":") or not previous or entry.line.depth <= previous[-1].depth:
            previous.append(entry.line)
        begun = entry.line.text
    rows += _comment_rows(rest, previous, None, blank_lines)
    return _text(rows)


def _text(rows: list[_Row]) -> str:
    output: list[str] = []
    above = 0
    for row in rows:
        if row.blank and output and row.depth <= above:
            output.append("")
        output.append((" " * (INDENT * row.depth) + row.text).rstrip())
        above = row.depth
    return "\n".join(output) + "\n" if output else ""


def _starts(lines: list[Line]) -> list[int]:
    """The source lines that the lines start from, never falling; one without a place takes that of the one before."""
    starts: list[int] = []
    for line in lines:
        starts.append(max(line.start, starts[-1] if starts else 0))
    return starts


def _place(comment: Comment, entries: list[_Entry], starts: list[int]) -> bool:
    """Put a comment into the entry that it belongs to; False when it stands behind all of them."""
    index = bisect_right(starts, comment.line) - 1  # the last line that starts no later than the comment
    if index < 0:
        if not entries:
            return False
        entries[0].before.append(comment)
        return True
    while index > 0 and starts[index - 1] == starts[index]:
        index -= 1
    entry = entries[index]
    line = entry.line
    inside = line.start < comment.line < line.end
    if comment.trailing and not inside and entry.trailing is None:
        entry.trailing = comment
        return True
    if line.start < comment.line <= line.end or (comment.trailing and comment.line == line.start):
        entry.before.append(comment)
        return True
    following = bisect_right(starts, comment.line)
    if following == len(entries):
        return False
    entries[following].before.append(comment)
    return True


def _comment_rows(
    comments: list[Comment], previous: list[Line], following: Line | None, blank_lines: frozenset[int]
) -> list[_Row]:
    """Comments that stand together; none stands deeper than one before it."""
    rows: list[_Row] = []
    for comment in comments:
        depth = _comment_depth(comment, previous, following)
        depth = min(depth, rows[-1].depth) if rows else depth
        rows.append(_Row(depth, _comment_text(comment.text), comment.line - 1 in blank_lines))
    return rows


def _comment_depth(comment: Comment, previous: list[Line], following: Line | None) -> int:
    """The depth of a comment on a line of its own: that of the line that follows, or of the block before it.

    It is in a block if it is indented deeper than the header of the block.
    """
    lowest = following.depth if following is not None else 0
    depth = previous[-1].depth if previous and not comment.trailing else lowest
    for header in reversed(previous):
        if depth <= lowest:
            break
        if header.depth < depth:
            if comment.column > header.column:
                return depth
            depth = header.depth
    return lowest


def _comment_text(text: str) -> str:
    if not text or text[0] in "#!":
        return f"#{text}"
    return f"# {text}"
