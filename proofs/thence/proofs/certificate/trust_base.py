"""TRUST.md: the parts that a reader still has to trust after a recheck; made from the manifest."""

from __future__ import annotations

from textwrap import dedent

from thence.proofs.certificate.manifest import FORMAT, Manifest
from thence.spec.words import counted


def trust_base(manifest: Manifest) -> str:
    """The list, in Markdown."""
    proved = sum(bool(statement.obligations) for statement in manifest.statements)
    obligations = counted(len(manifest.obligations), "obligation")
    numbers = f"{counted(len(manifest.statements), 'statement')}: {proved} by {obligations}, "
    heading = (
        f"# What has to be trusted\n\nA certificate of the format {FORMAT} with {numbers}"
        f"{len(manifest.statements) - proved} by finite evidence.\nWhoever has checked it still believes this:\n"
    )
    linked = any(statement.kind == "link" for statement in manifest.statements)
    carried = any(statement.rests_on for statement in manifest.statements)
    parts = [heading, _DERIVATION + (_LINKED if linked else _UNLINKED) + (_CARRIED if carried else "") + _HASHES]
    if manifest.obligations:
        parts.append(_solvers(manifest))
    if any(statement.evidence for statement in manifest.statements):
        parts.append(_EVALUATOR)
    return "\n".join([*parts, _TAMPERING])


def _solvers(manifest: Manifest) -> str:
    total = len(manifest.obligations)
    checked = sum("resolute" in each.proofs for each in manifest.obligations)
    names = " and ".join(name for name in ("z3", "cvc5") if name in manifest.programs)
    if checked == 0:
        return f"- **The solvers**, {names}: for an obligation that both find unsatisfiable, one of the two.\n"
    rest = f" For the other {total - checked}, {names} are trusted." if checked < total else ""
    return f"{_CHECKER.format(checked=checked, total=total)}{rest}\n"


_DERIVATION = dedent("""\
    - **The meaning of the language**: that the file in `sources/` says what its author means. `manifest.json` repeats
      every statement as the program understood it (`says`).
    - **The derivation of obligations**: that the SMT-LIB2 files imply the statements. For a machine, there is one for
      every conjunct in the initial states, and one for every conjunct and transition, under the other conjuncts; for a
      theorem, one for every case of the induction that its `inductive` declaration gives, and those of its lemmas.
      For what a machine states by `eventually`, they say that what is left to do shrinks and is never stuck. That
      this is enough is proved on paper, in docs/explanation/liveness.md, for finitely many processes and elements of
      sorts. `thence recheck` derives them again from the source with the same program, so it does not find a fault of
      the derivation itself. The comments in a file say which formula and which symbol each line is.
    - **The history that machines have built in**: that `causal_send` and `deliver` record happens-before as the
      language defines it. The facts about the history are obligations like all others, not axioms.
    """)

_UNLINKED = dedent("""\
    - **The step from machine to implementation** is not part of this certificate. That an algorithm as published, or a
      program, behaves like the machine is checked by links (every run of a scope) and by conformance runs (sampled).
    """)

_LINKED = dedent("""\
    - **The formulas of handlers**: for a link there is an obligation for every way through a handler and every
      invariant of the link, made by symbolic execution. That a handler does what its formulas say is held against the
      interpreter by tests, and not proved; that a loop comes to its end is not shown.
    - **What applications do**: that they send what scopes let them send. A line of `says` that begins with "where" or
      "assumed" limits a statement about a protocol to some systems.
    - **The step from protocol to program** is not part of this certificate. Conformance runs check it, by samples.
    """)

_CARRIED = dedent("""\
    - **The step from machine to protocol**: that a protocol has a property of sends and deliveries if its machine has
      it and the link is proved, since each run of the protocol is one of the machine. It is proved on paper, in
      docs/explanation/chain.md, and is no obligation. That it delivers each message rests on one more rule, about what
      its fair runs do, which is proved on paper in docs/explanation/liveness.md.
    """)

_HASHES = dedent("""\
    - **SHA-256**: that nobody finds two texts with the same hash.
    """)

_CHECKER = dedent("""\
    - **The proof checker**: {checked} of {total} obligations have a proof object in the RESOLUTE format. Of the solvers
      nothing has to be believed for these: the checker reads the obligation and the proof, and knows resolution and a
      list of axioms, no search. It is published by the authors of SMTInterpol, which found the proofs.""")

_EVALUATOR = dedent("""\
    - **The evaluator**: that `structure.py` and `transitions.py` give formulas and transitions their meaning.
      Executions and runs are evaluated there; no solver takes part.
    """)

_TAMPERING = dedent("""\
    ## What `SHA256SUMS` protects

    It binds the files to each other, not to an author: whoever changes a file can write the sums anew. Even so
    `thence recheck` confirms no statement that its source does not make, or with another verdict, level or wording, and
    none without an obligation that the source needs, with one that it does not need, or with one that is satisfiable.
    What such a person can change: the names of the authors, the versions, time limits and seeds of the programs as
    recorded, the proofs of cvc5, and which statements are in it (README.md lists those that are not). Cite the ids:
    they say what was proved.
    """)
