"""The page of a library file: its documentation, its statements, each at its address, and its text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Final

from thence.conformance.implementations import SHIPPED
from thence.dsl import ir
from thence.pages.result_lines import size
from thence.pages.site.address import address
from thence.pages.statement_index import command
from thence.pages.statements import Key, Section, details, sections
from thence.proofs.certificate.statement import subject_of
from thence.spec.words import counted

PLAYGROUND: Final = "playground"
"""The folder of the site with the player."""

PROVED_KINDS: Final = ("theorem", "machine")


@dataclass(frozen=True, slots=True)
class LibraryFile:
    """A file of the library: its name, its text, what it declares, and what came out of it.

    `playground`: whether the site has one, where the file's runs can be watched.
    """

    name: str
    text: str
    specification: ir.Specification
    known: Mapping[Key, Mapping[str, Any]]
    playground: bool = False

    @property
    def sections(self) -> tuple[Section, ...]:
        """The sections of the file; the implementation that the library ships for it comes last."""
        return (*sections(self.specification, self.known), *self._implementation())

    def _implementation(self) -> Iterator[Section]:
        shipped = SHIPPED.get(self.name)
        rows = tuple(row for (kind, subject, _), row in self.known.items() if (kind, subject) == ("conform", shipped))
        if rows:
            yield Section(f"implementation {shipped}", "", rows)


def page(file: LibraryFile) -> str:
    """The page, in Markdown with tables in HTML."""
    rows = [row for section in file.sections for row in section.rows]
    lines = [f"# {file.name}", "", *_paragraphs(file.specification.doc), *_summary(rows)]
    for section in file.sections:
        lines += [f"## {section.title}", "", *_paragraphs(section.doc), *_watch(file, section)]
        lines += _table(file, section)
        lines += _certificate(file, section)
    lines += [
        "## The text",
        "",
        f"Commands take the file by its name: `thence check {file.name}`.",
        "",
        "````thence",
        file.text.rstrip("\n"),
        "````",
        "",
    ]
    return "\n".join(lines)


def _watch(file: LibraryFile, section: Section) -> Iterator[str]:
    """A link to the player, where the section is about something that has runs."""
    kind, _, rest = section.title.partition(" ")
    name = rest.partition(" ")[0]
    content = file.specification
    mutants = {one.name for one in content.mutants if isinstance(one.mutated, ir.Protocol)}
    protocols = {one.name for one in content.protocols}
    known = {
        "protocol": protocols,
        "scope": {one.name for one in content.scopes},
        "mutant": mutants,
        "scenario": {one.name for one in content.scenarios},
    }
    if kind == "mutant" and rest.rpartition(" of ")[2] not in protocols:
        return
    if file.playground and name in known.get(kind, ()):
        yield f'<a href="../{PLAYGROUND}/index.html#file={file.name}&amp;{kind}={name}">Watch it in the player</a>'
        yield ""


def _summary(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    surprises = sum(not row["expected"] for row in rows)
    counts = Counter(row["verdict"] for row in rows)
    said = ", ".join(f"{count} {_PLURAL.get(verdict, verdict)}" for verdict, count in counts.most_common())
    if surprises:
        yield f"**{surprises} of {counted(len(rows), 'statement')} not as the file expects**: {said}."
    elif rows:
        yield f"{counted(len(rows), 'statement')}, all as the file expects: {said}."
    else:
        yield "No run has judged the statements of this file yet."
    yield ""
    if counts["refuted"]:
        yield "The file expects some statements to be refuted: its mutants and printed faults must be found."
        yield ""


def _table(file: LibraryFile, section: Section) -> Iterator[str]:
    """Each statement is a row with its address; Markdown passes the lines through as they are."""
    yield '<table class="statements">'
    yield "<thead><tr><th>statement</th><th>verdict</th><th>level</th><th>scope, counts, command</th></tr></thead>"
    yield "<tbody>"
    for row in section.rows:
        anchor = address(row)
        said = _said(file.specification, row)
        formula = "".join(f'<br><code class="says">{escape(line)}</code>' for line in said.says)
        identity = f' <code class="id" title="statement id: {said.id}">{said.id[:12]}</code>' if said.id else ""
        name = f'<a class="address" href="#{anchor}">{_breakable(str(row["name"]))}</a>'
        marked = "" if row["expected"] else ", not expected"
        yield f'<tr id="{anchor}"><td>{name}{identity}{formula}</td>'
        yield f'<td class="{row["verdict"]}">{row["verdict"]}{marked}</td><td>{row["level"]}</td>'
        yield f"<td>{escape(_details(row))}<br><code>{escape(command(file.name, row))}</code></td></tr>"
    yield "</tbody></table>"
    yield ""


@dataclass(frozen=True, slots=True)
class _Said:
    """The statement in the words of the file, and its id; empty for statements that have no certificate."""

    says: tuple[str, ...] = ()
    id: str = ""


def _said(specification: ir.Specification, row: Mapping[str, Any]) -> _Said:
    if row["kind"] not in (*PROVED_KINDS, "mutant"):
        return _Said()
    subject = subject_of(specification, row["kind"], row["subject"], row["name"])
    if subject is None:
        return _Said()
    return _Said(subject.says, subject.id)


def _certificate(file: LibraryFile, section: Section) -> Iterator[str]:
    kinds = {row["kind"] for row in section.rows}
    if kinds & {*PROVED_KINDS}:
        yield (
            f"Certificate: `thence prove {file.name} --certificate DIR` writes the proofs of these statements, and "
            "`thence recheck DIR` checks them. The twelve digits beside a name begin its statement id, a SHA-256 that "
            "the certificate gives in full. See [proofs](../explanation/proofs.md)."
        )
        yield ""


def _details(row: Mapping[str, Any]) -> str:
    parts = [size(row["scope"])] if row["kind"] in ("scope", "mutant", "link") and "scope" in row else []
    parts.append(details(row))
    if "cases" in row:
        parts.append(f"{counted(row['cases'], 'case')}, {counted(row['failures'], 'failure')}")
    if row.get("not_tried"):
        parts.append(f"not tried: {', '.join(row['not_tried'])}")
    if row.get("where"):
        parts.append(f"where {' and '.join(row['where'])}")
    if row.get("assumes"):
        parts.append(f"assumes {', '.join(row['assumes'])}")
    if row.get("cannot_refute"):
        parts.append(f"cannot be refuted here: {row['cannot_refute']}")
    return "; ".join(part for part in parts if part)


_PLURAL: Final = {"holds": "hold"}


def _paragraphs(doc: str) -> Iterator[str]:
    """Documentation as paragraphs of Markdown; its signs stay what they are."""
    for paragraph in doc.split("\n\n"):
        said = " ".join(paragraph.split()).replace("<", "&lt;").replace("*", "\\*")
        if said:
            yield said
            yield ""


def _breakable(name: str) -> str:
    """A name that may be folded after an underscore, never within a word."""
    return escape(name).replace("_", "_<wbr>")
