"""The manifest of a certificate: statements, their obligations and evidence, and the result of each.

`manifest.schema.json` defines the format, `thence-certificate/3`. A manifest is plain data with one written form, so
equal manifests are equal byte for byte. Its free texts are the names of authors; all else is derived or has a fixed
form.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, Literal, TypeAlias

from thence.proofs.certificate.forms.json_form import laid_out
from thence.proofs.certificate.forms.obligation_form import without_comments
from thence.proofs.certificate.ids.statement_id import digest
from thence.spec.verdict import Level, Verdict

FORMAT = "thence-certificate/3"

LONGEST_AUTHOR = 120
_MARKS = " .,'-&()/_+\"{}\u2019"
"""The marks in names of authors. None of them begins or ends anything where names are written, once it is escaped."""

LIMITS = ("where ", "assumed: ")
"""How the lines of `says` begin that limit a statement about a protocol to some systems: see NOTE(premises)."""

Key: TypeAlias = tuple[str, str, str]
"""The kind, subject and name of a statement."""

Shows: TypeAlias = Literal["refuted", "needed", "happens", "possible"]
"""The claim of a piece of evidence: a statement fails; it fails without an assumption; a run makes something happen; a
proof does not hold for nothing, since two messages of different processes are delivered, or, in a machine without
messages, a transition happens."""


class BadManifest(Exception):
    """Not a manifest of this format; the message says where."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A finite execution or run in a file of its own; `name` is the assumption or transition that it is about."""

    shows: Shows
    name: str
    file: str


@dataclass(frozen=True, slots=True)
class CertifiedObligation:
    """One SMT-LIB2 file. `results` by solver: `unsat`, or `unknown`. `proofs` by format: the proof object's file."""

    name: str
    file: str
    results: Mapping[str, str]
    proofs: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class CertifiedStatement:
    """A statement and its verdict; `obligations` are files. See `statement.Statement`."""

    name: str
    kind: Literal["theorem", "machine", "mutant", "link"]
    subject: str
    verdict: Verdict
    level: Level
    says: tuple[str, ...]
    id: str
    proof_id: str
    obligations: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    rests_on: tuple[Key, ...] = ()

    @property
    def key(self) -> Key:
        return self.kind, self.subject, self.name


@dataclass(frozen=True, slots=True)
class Program:
    """A solver or checker that took part."""

    version: str
    options: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Manifest:
    """A whole certificate but for the content of its files. `source` is the file that was proved.

    Attributes:
        omitted: what the source states too, and the certificate says nothing about.
    """

    thence: str
    source: str
    authors: tuple[str, ...]
    programs: Mapping[str, Program]
    statements: tuple[CertifiedStatement, ...]
    obligations: tuple[CertifiedObligation, ...]
    omitted: tuple[Key, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "thence": self.thence,
            "source": self.source,
            "authors": list(self.authors),
            "programs": {
                name: {"version": program.version, "options": dict(program.options)}
                for name, program in self.programs.items()
            },
            "statements": [_statement_json(statement) for statement in self.statements],
            "obligations": [
                {"name": each.name, "file": each.file, "results": dict(each.results), "proofs": dict(each.proofs)}
                for each in self.obligations
            ],
            "omitted": list(map(_key_json, self.omitted)),
        }

    def content(self) -> bytes:
        """The manifest as written."""
        return laid_out(self.to_json())


def proof_id(statement_id: str, verdict: Verdict, rests_on: list[str]) -> str:
    """The id of a proof: the statement, and exactly the obligations (or, without any, the evidence) that prove it."""
    return digest({"statement": statement_id, "verdict": verdict.value, "rests_on": sorted(rests_on)})


def obligation_digest(text: str) -> str:
    """The SHA-256 of an obligation's commands: the names in its comments do not count."""
    return sha256(without_comments(text).encode()).hexdigest()


@cache
def schema() -> dict[str, Any]:
    """The JSON Schema of a manifest."""
    text = files("thence.proofs.certificate").joinpath("manifest.schema.json").read_text(encoding="utf-8")
    found = json.loads(text)
    assert isinstance(found, dict)
    return found


def evidence_schema(kind: object) -> dict[str, Any]:
    """The JSON Schema of a file of evidence of this kind; of any kind, where there is no such kind."""
    definitions = schema()["$defs"]
    kinds = {each["properties"]["kind"]["const"]: each for each in definitions["evidence_file"]["oneOf"]}
    found = kinds.get(kind, definitions["evidence_file"]) if isinstance(kind, str) else definitions["evidence_file"]
    return {**found, "$defs": definitions}


def manifest_of(value: Any) -> Manifest:
    """The manifest that a JSON value is. Raises: BadManifest where the schema does not allow the value."""
    hold_against(schema(), value, "manifest.json")
    for author in value["authors"]:
        fault = author_fault(author)
        if fault is not None:
            raise BadManifest(f"manifest.json: authors: {fault}")
    return Manifest(
        value["thence"],
        value["source"],
        tuple(value["authors"]),
        {name: Program(program["version"], program["options"]) for name, program in value["programs"].items()},
        tuple(_statement(each) for each in value["statements"]),
        tuple(
            CertifiedObligation(each["name"], each["file"], each["results"], each["proofs"])
            for each in value["obligations"]
        ),
        tuple(map(_key, value["omitted"])),
    )


def author_fault(author: str) -> str | None:
    """The reason why a text cannot be an author's name, or None.

    A name is one short line of letters, digits, spaces and the marks of names. Nobody checks whose name it is.
    """
    if not 1 <= len(author) <= LONGEST_AUTHOR or author != author.strip():
        return f"a name has 1 to {LONGEST_AUTHOR} characters, and no space at its ends"
    for each in author:
        if unicodedata.category(each)[0] not in "LMN" and each not in _MARKS:
            return f"a name has letters, digits, spaces and {_MARKS.strip()} only, and not {each!a}"
    return None


def hold_against(form: Mapping[str, Any], value: Any, file: str) -> None:
    """Raises: BadManifest where the schema does not allow the value, or a text in it has more than one line."""
    for text in _texts(value):
        if not text.isprintable():
            raise BadManifest(f"{file}: {text[:100]!a} has a character that cannot be printed")
    from jsonschema import Draft202012Validator

    fault = next(iter(Draft202012Validator(form).iter_errors(value)), None)
    if fault is not None:
        place = "/".join(str(part) for part in fault.absolute_path) or "the whole"
        raise BadManifest(f"{file}: {place[:200]}: {fault.message[:200]}")


def _texts(value: Any) -> Iterator[str]:
    """All keys and texts of a JSON value."""
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str() as text:
                yield text
            case list() as items:
                waiting.extend(items)
            case dict() as items:
                waiting.extend(items.keys())
                waiting.extend(items.values())


def _statement(value: Mapping[str, Any]) -> CertifiedStatement:
    return CertifiedStatement(
        value["name"],
        value["kind"],
        value["subject"],
        Verdict(value["verdict"]),
        Level[value["level"]],
        tuple(value["says"]),
        value["id"],
        value["proof_id"],
        tuple(value["obligations"]),
        tuple(Evidence(each["shows"], each["name"], each["file"]) for each in value["evidence"]),
        tuple(map(_key, value["rests_on"])),
    )


def _key(value: Mapping[str, Any]) -> Key:
    return value["kind"], value["subject"], value["name"]


def _key_json(key: Key) -> dict[str, Any]:
    kind, subject, name = key
    return {"kind": kind, "subject": subject, "name": name}


def _statement_json(statement: CertifiedStatement) -> dict[str, Any]:
    return {
        "name": statement.name,
        "kind": statement.kind,
        "subject": statement.subject,
        "verdict": statement.verdict.value,
        "level": statement.level.name,
        "says": list(statement.says),
        "id": statement.id,
        "proof_id": statement.proof_id,
        "obligations": list(statement.obligations),
        "evidence": [{"shows": each.shows, "name": each.name, "file": each.file} for each in statement.evidence],
        "rests_on": list(map(_key_json, statement.rests_on)),
    }
