"""An output for readers: diagnostics, text, verdicts, counterexamples, notes, and a sum at the end."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from textwrap import indent
from typing import TextIO

from thence.cli.output import Output
from thence.cli.readers.colours import Ink, Painter, painter
from thence.cli.readers.layout import GAP, Entry, fitted, laid_out, length, width_of, wrapped
from thence.spec.events import printable
from thence.spec.verdict import Result, Verdict

FEW = 12
"""So many rows are shown without being asked for; of more, those with surprises only."""

MOST_EXPLAINED = 3
"""So many counterexamples are shown without being asked for."""

BRIEF, ALL, EXPLAINED = range(3)
"""How much is shown: surprises; with -v every row; with -vv every counterexample, also the expected ones."""


def print_output(output: Output, seconds: float, verbosity: int = BRIEF) -> None:
    """Prints diagnostics on stderr, then the rest on stdout."""
    print_diagnostics(output)
    answers = bool(output.results) and output.table
    if output.text:
        more = answers or output.notes
        print("\n".join(fitted_to(output.text if more else output.text.rstrip("\n"), sys.stdout)))
    if answers:
        print("\n".join(_answer(output, seconds, verbosity, painter(sys.stdout), width_of(sys.stdout))))
    elif output.notes:
        print("\n".join(fitted_to(output.notes.rstrip("\n"), sys.stdout)))


def print_diagnostics(output: Output) -> None:
    """Prints each diagnostic with its excerpt on stderr."""
    if not output.diagnostics:
        return
    from thence.dsl.text.diagnostics import render
    from thence.spec.words import counted

    paint = painter(sys.stderr)
    for diagnostic, loaded in output.diagnostics:
        ink = Ink.BAD if diagnostic.severity == "error" else Ink.WARNING
        for line in fitted_to(render(diagnostic, loaded.source), sys.stderr):
            print(_diagnostic_line(line, diagnostic.severity, ink, paint), file=sys.stderr)
    errors = sum(diagnostic.severity == "error" for diagnostic, _ in output.diagnostics)
    warnings = len(output.diagnostics) - errors
    print(f"{counted(errors, 'error')}, {counted(warnings, 'warning')}; {_more(output)}", file=sys.stderr)


def _more(output: Output) -> str:
    """Where the codes are explained."""
    codes = sorted({diagnostic.code for diagnostic, _ in output.diagnostics})
    named = codes[0] if len(codes) == 1 else "CODE"
    return f"'thence explain {named}' says more"


def _diagnostic_line(line: str, severity: str, ink: Ink, paint: Painter) -> str:
    """A line of a diagnostic: its head and its carets in the colour of the severity, the gutter faint."""
    if line.startswith(f"{severity}["):
        head, colon, message = line.partition(": ")
        return paint(head, ink) + colon + paint(message, Ink.STRONG)
    gutter, bar, rest = line.partition(" | ")
    if bar and not gutter.strip().strip("0123456789"):
        return paint(gutter + bar, Ink.FAINT) + (paint(rest, ink) if not rest.strip(" ^") else rest)
    return paint(line, Ink.FAINT) if line.lstrip().startswith(("-->", "|")) else line


def plain(text: str) -> str:
    """Text for a terminal: line ends and tabs stay, whatever else is not printable is escaped. Names of messages, of
    files and of systems come from others, and could otherwise move the cursor, or turn the text round."""
    return "\n".join("\t".join(map(printable, line.split("\t"))) for line in text.split("\n"))


def fitted_to(text: str, stream: TextIO) -> list[str]:
    """The lines of a text, broken between words where a terminal would break them anywhere."""
    safe = plain(text)
    return fitted(safe, width_of(stream)) if stream.isatty() else safe.split("\n")


def _answer(output: Output, seconds: float, verbosity: int, paint: Painter, width: int) -> list[str]:
    from thence.cli.readers.blocks import blocks, rows_of

    found = blocks(output.results, whole_mutants=verbosity < EXPLAINED and not output.asked)
    rows = list(rows_of(found))
    whole = verbosity >= ALL or output.asked or len(rows) <= FEW
    lines = _table(found, whole=whole, paint=paint, width=width)
    told = {
        id(result)
        for block in found
        for row in block.rows
        if whole or row.surprises
        for result in row.results
        if _is_told(result, "; ".join((*block.remarks, *row.remarks)))
    }
    untold = replace(output, results=tuple(result for result in output.results if id(result) not in told))
    explained, left = _explained(untold, verbosity, width, few=len(rows) <= FEW)
    for part in explained:
        lines += ["", *part]
    if left:
        report = output.fields.get("report")
        place = f"in {report}, and " if isinstance(report, str) else ""
        more = " more" if explained else ""
        lines += ["", f"{left:,}{more} {'is' if left == 1 else 'are'} explained {place}with -v"]
    if lines:
        lines.append("")
    lines += fitted_to(output.notes.rstrip("\n"), sys.stdout) if output.notes else []
    hidden = [] if whole else [result for row in rows if not row.surprises for result in row.results]
    return [*lines, *_sums(output, hidden, seconds, paint, width)]


# --- rows --------------------------------------------------------------------------------------


_INKS = {
    Verdict.PROVED: Ink.GOOD,
    Verdict.HOLDS: Ink.GOOD,
    Verdict.TESTED: Ink.TESTED,
    Verdict.REFUTED: Ink.SHOWN,
    Verdict.UNKNOWN: Ink.OPEN,
}


def _table(found: Sequence[object], *, whole: bool, paint: Painter, width: int) -> list[str]:
    """The blocks: a title and its rows, in the same columns throughout; without `whole`, the surprises only."""
    from thence.cli.readers.blocks import Block

    titles: list[tuple[int, str, str]] = []
    cells: list[list[Entry]] = []
    for block in found:
        assert isinstance(block, Block)
        rows = [row for row in block.rows if whole or row.surprises]
        if rows:
            said = "; ".join((*block.remarks, *([f"{block.seconds:.1f} s"] if block.seconds >= SLOW_S else [])))
            titles.append((len(cells), block.title, said))
        for row in rows:
            bad = row.surprises
            cells.append(
                [Entry(_escaped(row.name)), Entry(row.verdict.value, Ink.BAD if bad else _INKS[row.verdict]),
                 Entry(row.level.name, Ink.FAINT), Entry(row.said, Ink.BAD if bad else Ink.PLAIN),
                 Entry(_escaped("; ".join(row.remarks)))]
            )  # fmt: skip
    return list(_with_titles(titles, cells, paint, width))


SLOW_S = 1.0
"""Blocks that took longer say so."""


def _with_titles(
    titles: Sequence[tuple[int, str, str]], cells: Sequence[Sequence[Entry]], paint: Painter, width: int
) -> Iterator[str]:
    laid = laid_out(cells, width, paint, indent=2)
    at = {row: (title, said) for row, title, said in titles}
    for row, lines in enumerate(laid):
        if row in at:
            yield from _title(*at[row], paint, width)
        yield from lines


def _title(title: str, said: str, paint: Painter, width: int) -> Iterator[str]:
    title, said = _escaped(title), _escaped(said)
    if not said:
        yield from (paint(line, Ink.STRONG) for line in wrapped(title, width))
    elif length(title) + 2 + length(said) <= width:
        yield f"{paint(title, Ink.STRONG)}: {said}"
    else:
        yield from (paint(line, Ink.STRONG) for line in wrapped(f"{title}:", width))
        yield from (f"    {line}" for line in wrapped(said, width - 4))


def _escaped(text: str) -> str:
    return " ".join(map(printable, text.split()))


# --- counterexamples ---------------------------------------------------------------------------


def _is_told(result: Result, remarks: str) -> bool:
    """Whether the remarks of a line say all that the explanation does."""
    return bool(result.explanation) and result.explanation.strip() in remarks


def _explained(output: Output, verbosity: int, width: int, *, few: bool) -> tuple[list[list[str]], int]:
    """The explanations to show, and how many of surprises are left out. Results that share one have it once."""
    from thence.cli.readers.blocks import is_of_mutant, statement, title

    found: dict[tuple[str, str], list[Result]] = {}
    for result in output.results:
        if result.explanation:
            found.setdefault((title(result), result.explanation), []).append(result)
    surprising = [key for key, results in found.items() if any(not result.expected for result in results)]
    others = [key for key in found if key not in surprising]
    if not (verbosity >= EXPLAINED or (output.asked and len(found) <= MOST_EXPLAINED)):
        named = len(output.files) <= 1 and few
        weighty = [key for key in others if named and _is_grave(found[key]) and not any(map(is_of_mutant, found[key]))]
        room = max(0, MOST_EXPLAINED - len(surprising))
        unclaimed = [key for key in others if output.asked and _is_refuted_unclaimed(found[key])]
        others = weighty if weighty and len(weighty) <= room else unclaimed[:room]
    elif verbosity < EXPLAINED and (grave := [key for key in others if _is_grave(found[key])]):
        others = grave
    most = MOST_EXPLAINED if len(output.files) <= 1 else 1
    kept = surprising if verbosity >= ALL or len(surprising) <= most else surprising[: most if most > 1 else 0]
    texts = []
    for key in found:
        if key in kept or key in others:
            results = found[key]
            names = ", ".join(statement(result) for result in results)
            witness = ", reached by this run" if _is_witnessed(results[0]) else ""
            head = wrapped(f"{_escaped(key[0])}: {_escaped(names)}: {results[0].verdict.value}{witness}", width)
            texts.append(
                [*head, *(line.rstrip() for line in fitted_to(indent(_narrowed(results[0], width), "  "), sys.stdout))]
            )
    return texts, len(surprising) - len(kept)


def _narrowed(result: Result, width: int) -> str:
    """The explanation; two layers that stand side by side in it stand one below the other where that is too wide."""
    text = result.explanation.rstrip()
    if "fails" not in result.facts:
        return text
    from thence.proofs.refinement.failure import Failure

    failure = Failure.from_json(result.facts["fails"])
    return text.replace("\n".join(failure.text()), "\n".join(failure.text(width - 2)))


def _is_witnessed(result: Result) -> bool:
    """Whether the run that is shown is no counterexample: it reaches what the statement says is reachable."""
    return result.verdict is Verdict.HOLDS and "steps" in result.facts


def _is_refuted_unclaimed(results: Sequence[Result]) -> bool:
    """Whether it is refuted, and nothing was claimed of it: what the reader asked to see."""
    return any(result.verdict is Verdict.REFUTED and result.facts.get("claimed") is False for result in results)


def _is_grave(results: Sequence[Result]) -> bool:
    """Whether there is a counterexample, or a reason why nothing is known."""
    return any(result.verdict in (Verdict.REFUTED, Verdict.UNKNOWN) for result in results)


# --- sums --------------------------------------------------------------------------------------


def _sums(output: Output, hidden: Sequence[Result], seconds: float, paint: Painter, width: int) -> list[str]:
    """A line for each file, in columns where a terminal is low; of several files, a line for all of them."""
    from thence.cli.readers.sums import by_verdict, marked, summed
    from thence.spec.words import counted

    lines: list[str] = []
    files = list(_of_files(output))
    if len(files) > 1:
        lines += _listed(files, paint, width)
        name = counted(len(files), "file")
    else:
        name = files[0][0] if files else ""
    incomplete = "incomplete: " if output.fields.get("complete") is False else ""
    surprises = any(not result.expected for result in output.results)
    sum_ = f"{incomplete}{_escaped(summed(output.results))}"
    ink = Ink.BAD if surprises else Ink.STRONG
    lines += [paint(line, ink) for line in wrapped(f"{name}: {sum_}, {seconds:.1f} s".removeprefix(": "), width)]
    if hidden or len(files) > 1:
        lines += [f"  {line}" for line in wrapped(by_verdict(output.results), width - 2)]
    limits = marked(hidden)
    if limits:
        lines += [f"  {line}" for line in wrapped(f"not shown: {limits}", width - 2)]
    if hidden:
        lines.append("  -v shows every statement, -vv every counterexample too")
    return lines


def _of_files(output: Output) -> Iterator[tuple[str, Sequence[Result]]]:
    start = 0
    for name, number in output.files:
        yield _escaped(name), output.results[start : start + number]
        start += number
    if not output.files:
        from thence.cli.readers.blocks import subject_of

        subjects = {subject_of(result) for result in output.results}
        yield (_escaped(subjects.pop()) if len(subjects) == 1 else ""), output.results


def _listed(files: Sequence[tuple[str, Sequence[Result]]], paint: Painter, width: int) -> list[str]:
    """A line for each; on a terminal that is too low for that, files as expected beside each other."""
    from thence.cli.readers.sums import summed

    low = sys.stdout.isatty() and len(files) + ROOM_BELOW > shutil.get_terminal_size((80, 24)).lines
    lines, short = [], []
    for name, results in files:
        said = f"{name}: {_escaped(summed(results))}"
        surprises = any(not result.expected for result in results)
        if low and said.endswith(AS_EXPECTED) and not surprises:
            short.append(said.removesuffix(AS_EXPECTED))
        else:
            lines += [paint(line, Ink.BAD if surprises else Ink.PLAIN) for line in wrapped(said, width)]
    if short:
        lines += [f"{AS_EXPECTED.strip()}:", *_beside(short, width)]
    return lines


def _beside(texts: Sequence[str], width: int) -> list[str]:
    """Short texts in columns, read downwards."""
    wide = max(map(length, texts)) + GAP
    high = -(-len(texts) // max(1, (width + GAP) // wide))
    columns = [texts[at : at + high] for at in range(0, len(texts), high)]
    rows = [[column[at] for column in columns if at < len(column)] for at in range(high)]
    return ["".join(text.ljust(wide) for text in row).rstrip() for row in rows]


AS_EXPECTED = " as expected"

ROOM_BELOW = 6
"""Lines that follow the list of files."""
