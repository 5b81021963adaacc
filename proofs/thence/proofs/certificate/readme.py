"""README.md of a certificate: its contents, and how to check it with and without Thence; made from the manifest."""

from __future__ import annotations

from thence.proofs.certificate.manifest import FORMAT, LIMITS, CertifiedStatement, Manifest


def readme(manifest: Manifest) -> str:
    """The text, in Markdown."""
    rows = "\n".join(_row(statement) for statement in manifest.statements)
    return f"""# Certificate ({FORMAT})

What Thence {manifest.thence} found out about `{manifest.source}`, with everything that it takes to check it again.

| subject | statement | verdict | level | obligations | statement id (SHA-256) |
|---|---|---|---|---|---|
{rows}
{_chains(manifest)}{_omitted(manifest)}{_CHECKING}"""


def _row(statement: CertifiedStatement) -> str:
    cells = (
        statement.subject,
        statement.name,
        statement.verdict.value,
        statement.level.name,
        str(len(statement.obligations)),
        f"`{statement.id}`",
    )
    return f"| {' | '.join(cells)} |"


def _chains(manifest: Manifest) -> str:
    """The properties of protocols, each with the statements from which it follows, and for which systems."""
    level = {statement.key: statement.level.name for statement in manifest.statements}
    lines: list[str] = []
    for each in manifest.statements:
        if each.rests_on:
            parts = [f"{key[0]} {key[1]}, {key[2]} ({level.get(key, 'missing')})" for key in each.rests_on]
            limits = "".join(f"; {said}" for said in each.says if said.startswith(LIMITS))
            lines.append(f"- **{each.subject}: {each.name}**, {each.level.name}: by {' and '.join(parts)}{limits}\n")
    return _HEADING + "".join(lines) if lines else ""


_HEADING = """
What a protocol has, among any number of processes and with any number of messages, by a statement about its machine
and by the link between them; that it delivers, by what its fair runs do besides. The level is the lowest of these:

"""


def _omitted(manifest: Manifest) -> str:
    """What the source states besides."""
    if not manifest.omitted:
        return "\nThe source states nothing else for any number of processes and messages.\n"
    listed = "\n".join(f"- {kind} {subject}: {name}" for kind, subject, name in manifest.omitted)
    return f"\nThe source states this, too, and **this certificate says nothing about it**:\n\n{listed}\n"


_CHECKING = """
`TRUST.md` lists what has to be trusted. `CITATION.cff` and `citation.bib` say how to cite; the names of the authors in
them are as given by whoever made the certificate, and nobody checked them.

`thence recheck DIRECTORY` checks all of it, and derives the obligations from the source again. Without Thence:

- `sha256sum --check SHA256SUMS`: the files are those that were written;
- any SMT solver on `obligations/N.smt2`: the answer must be `unsat`;
- `proofs/N.resolute` is for the proof checker of SMTInterpol; with `(get-proof)` after the last line of the obligation,
  `java -cp smtinterpol.jar de.uni_freiburg.informatik.ultimate.smtinterpol.proof.checker.Main N.smt2 N.resolute`
  must say `valid` and `holes=0`;
- `proofs/N.alethe` is meant as a proof of cvc5 in the Alethe format, for whoever has a checker for it. `thence recheck`
  does not check it, and no verdict or level rests on it.
"""
