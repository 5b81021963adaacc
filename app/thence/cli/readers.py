"""Output for readers: diagnostics, text, explanations, the table of results."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from thence.cli.output import Output
from thence.spec.events import printable
from thence.spec.verdict import Result


def print_output(output: Output, seconds: float) -> None:
    """Prints diagnostics on stderr, then the text, the explanations, and the table of results."""
    print_diagnostics(output)
    if output.text:
        print(plain(output.text))
    if output.results and output.table:
        for line in _explanations(output):
            print(plain(line))
        from thence.cli.tables import table_text

        print(table_text(output.results))
        unexpected = sum(not result.expected for result in output.results)
        said = "all as expected" if not unexpected else f"{unexpected} not as expected"
        rest = ", incomplete" if output.fields.get("complete") is False else ""
        print(f"{_count(len(output.results), 'statement')}, {said}, {seconds:.1f} s{rest}")


def print_diagnostics(output: Output) -> None:
    """Prints each diagnostic with its excerpt on stderr."""
    if not output.diagnostics:
        return
    from thence.dsl.text.diagnostics import render

    for diagnostic, loaded in output.diagnostics:
        print(plain(render(diagnostic, loaded.source)), file=sys.stderr, end="\n\n")
    errors = sum(diagnostic.severity == "error" for diagnostic, _ in output.diagnostics)
    warnings = len(output.diagnostics) - errors
    print(f"{_count(errors, 'error')}, {_count(warnings, 'warning')}; {_more(output)}", file=sys.stderr)


def _more(output: Output) -> str:
    """Where the codes are explained."""
    codes = sorted({diagnostic.code for diagnostic, _ in output.diagnostics})
    named = codes[0] if len(codes) == 1 else "CODE"
    return f"'thence explain {named}' says more"


def plain(text: str) -> str:
    """Text for a terminal: line ends and tabs stay, whatever else is not printable is escaped. Names of messages, of
    files and of systems come from others, and could otherwise move the cursor, or turn the text round."""
    return "\n".join("\t".join(map(printable, line.split("\t"))) for line in text.split("\n"))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _explanations(output: Output) -> Iterator[str]:
    """The explanations of verdicts; one that several results share is printed once."""
    explained: dict[tuple[str, str, str], list[Result]] = {}
    for result in output.results:
        if result.explanation and not (output.brief and result.expected):
            key = result.subject, result.name.rpartition(": ")[0], result.explanation
            explained.setdefault(key, []).append(result)
    from thence.pages.result_lines import statement

    for (subject, _, explanation), results in explained.items():
        yield f"{subject}  {statement(results)}: {results[0].verdict.value}"
        yield from (f"  {line}".rstrip() for line in explanation.splitlines())
        yield ""
