"""Statements as HTML, for notebooks. Everything that comes from a file or a system is escaped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape

from thence.pages.result_lines import counts
from thence.spec.verdict import Result, Verdict

_MARK = {
    Verdict.PROVED: "&#10003;",
    Verdict.HOLDS: "&#10003;",
    Verdict.TESTED: "&#10003;",
    Verdict.REFUTED: "&#10007;",
    Verdict.UNKNOWN: "?",
}

_COLUMNS = ("subject", "statement", "verdict", "level", "counts", "seconds")


def statement_html(result: Result) -> str:
    """One statement: its verdict, its diagram, and its explanation to fold out."""
    head = f"<b>{escape(result.subject)}</b> {escape(result.name)}: {_verdict(result)}"
    said = escape(counts(result))
    parts = [f"<div>{head}{f' <small>{said}</small>' if said else ''}</div>"]
    if result.picture:
        parts.append(f'<div class="thence-diagram">{result.picture}</div>')
    if result.explanation:
        folded = "" if not result.picture else "<summary>steps</summary>"
        text = f'<pre style="line-height: 1.2">{escape(result.explanation)}</pre>'
        parts.append(f"<details>{folded}{text}</details>" if folded else text)
    return f'<div class="thence-statement">{"".join(parts)}</div>'


def table_html(results: Sequence[Result], *, complete: bool = True) -> str:
    """A table of statements; below it each that has a counterexample, to fold out. The first surprise is open."""
    head = "".join(f'<th style="text-align: left">{column}</th>' for column in _COLUMNS)
    rows = "".join(map(_row, results))
    table = f'<table class="thence-results"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
    shown = [each for each in results if each.picture]
    first = next((each for each in shown if not each.expected), None)
    folded = "".join(_folded(each, is_open=each is first) for each in shown)
    return f"<div>{table}{_summary(results, complete)}{folded}</div>"


def _row(result: Result) -> str:
    cells = (escape(result.subject), escape(result.name), _verdict(result), result.level.name)
    counted = (escape(counts(result)), f"{result.seconds:.2f}")
    row = "".join(f'<td style="text-align: left">{cell}</td>' for cell in (*cells, *counted))
    return f"<tr>{row}</tr>"


def _verdict(result: Result) -> str:
    said = f'<span style="white-space: nowrap">{_MARK[result.verdict]} {result.verdict.value}</span>'
    if result.facts.get("claimed") is False:
        return f"{said} <small>(not claimed)</small>"
    return said if result.expected else f'<b style="color: #c62828">{said}</b>'


def _folded(result: Result, *, is_open: bool) -> str:
    summary = f"<summary>{escape(result.subject)} {escape(result.name)}</summary>"
    return f"<details{' open' if is_open else ''}>{summary}{statement_html(result)}</details>"


def _summary(results: Sequence[Result], complete: bool) -> str:
    found = Counter(each.verdict.value for each in results if each.facts.get("claimed") is not False)
    missed = sum(not each.expected and each.wanted is not None for each in results)
    said = ", ".join([f"{count:,} {verdict}" for verdict, count in found.items()]) or "nothing is stated"
    said += f"; {missed:,} not as stated" if missed else ""
    return f"<p>{said}{'' if complete else '; incomplete: interrupted'}</p>"
