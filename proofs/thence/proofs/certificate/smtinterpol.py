"""SMTInterpol: proof objects in the RESOLUTE format, and the independent program that checks them.

J. Hoenicke, T. Schindler: A simple proof format for SMT (SMT workshop 2022). SMTInterpol, a third solver, searches
for the proof; the checker (`...smtinterpol.proof.checker.Main`) reads the SMT-LIB2 text and the proof, knows the axioms
and resolution, and shares no search with any solver. An assumption that is not asserted in the text is refused, so
a proof is bound to its obligation. Both programs are Java, published in one archive.

Several obligations go to one Java process, with a `reset` after each: starting Java takes longer than most of them.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from thence.proofs.certificate.forms.expressions import expressions
from thence.proofs.certificate.forms.obligation_form import obligation_fault
from thence.proofs.certificate.forms.proof_form import proof_fault
from thence.proofs.certificate.processes import Processes, side_by_side

BATCH = 20
"""Obligations for one Java process."""

RESOURCE_LIMIT = 1_000_000
"""SMTInterpol's reproducible limit per obligation: a slow machine finds the same proofs."""

PROVE_LIMIT_S = 60.0
"""Time limit of a Java process; when it is over, the process is killed, and its last obligation has no proof."""

CHECK_LIMIT_S = 300.0

_OPTIONS = ("-Xss256m", "-Xmx3g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_CHECKER = "de.uni_freiburg.informatik.ultimate.smtinterpol.proof.checker.Main"

_ACCEPTED = re.compile(r"valid\nholes=0\nassertions=\d+\ndefinefuns=\d+\naxioms=\d+\nresolutions=\d+\n")

Checked: TypeAlias = Literal["valid", "invalid"]


@dataclass(frozen=True, slots=True)
class Smtinterpol:
    """SMTInterpol and its proof checker: the program `java`, and the archive that both are in, of this version."""

    java: Path
    jar: Path
    version: str

    def prove(self, texts: Sequence[str], workers: int = 1) -> tuple[str | None, ...]:
        """A proof for each obligation; None where none was found. A proof begins with the line `unsat`."""
        return side_by_side(self._prove_batch, texts, BATCH, workers)

    def check(self, pairs: Sequence[tuple[str, str]], workers: int = 1) -> tuple[Checked, ...]:
        """The verdict of the checker on each (obligation, proof): `valid` means proved without a hole.

        Texts that are not in their form are `invalid`; the checker does not see them.
        """
        return side_by_side(self._check_batch, pairs, BATCH, workers)

    def _prove_batch(self, processes: Processes, texts: Sequence[str]) -> list[str | None]:
        proofs: list[str | None] = []
        while len(proofs) < len(texts):
            answered = self._answers(processes, texts[len(proofs) :])
            proofs.extend(answered)
            if len(proofs) < len(texts):
                proofs.append(None)
        return proofs

    def _answers(self, processes: Processes, texts: Sequence[str]) -> list[str | None]:
        """The proofs of the first obligations, up to where the process was killed or died."""
        header = ("(set-option :produce-proofs true)", "(set-option :print-success false)")
        with tempfile.TemporaryDirectory(prefix="thence-") as folder:
            problem = Path(folder) / "problem.smt2"
            problem.write_text(_script(texts, header), encoding="utf-8")
            options = ("-jar", str(self.jar), "-q", "-no-success", "-l", str(RESOURCE_LIMIT), str(problem))
            output = self._run(processes, options, PROVE_LIMIT_S * max(1, len(texts) // 4))
        proofs: list[str | None] = []
        answers = _whole(output)
        for status in answers:
            proof = next(answers, None)
            if proof is None:
                break
            proofs.append(f"unsat\n{proof}\n" if status == "unsat" else None)
        return proofs[: len(texts)]

    def _check_batch(self, processes: Processes, pairs: Sequence[tuple[str, str]]) -> list[Checked]:
        if any(obligation_fault(text) or proof_fault("resolute", proof) for text, proof in pairs):
            return self._one_by_one(processes, pairs)
        with tempfile.TemporaryDirectory(prefix="thence-") as folder:
            problem, proof = Path(folder) / "problem.smt2", Path(folder) / "proof"
            problem.write_text(_script([text for text, _ in pairs]), encoding="utf-8")
            proof.write_text("".join(proof for _, proof in pairs), encoding="utf-8")
            output = self._run(processes, ("-cp", str(self.jar), _CHECKER, str(problem), str(proof)), CHECK_LIMIT_S)
        if re.fullmatch(f"(?:{_ACCEPTED.pattern}){{{len(pairs)}}}", output):
            return ["valid"] * len(pairs)
        return self._one_by_one(processes, pairs)

    def _one_by_one(self, processes: Processes, pairs: Sequence[tuple[str, str]]) -> list[Checked]:
        return ["invalid"] if len(pairs) == 1 else [self._check_batch(processes, [pair])[0] for pair in pairs]

    def _run(self, processes: Processes, arguments: Sequence[str], limit_s: float) -> str:
        return processes.output([str(self.java), *_OPTIONS, *arguments], limit_s)


def _script(texts: Sequence[str], header: Sequence[str] = ()) -> str:
    """The obligations one after another; nothing is left of one when the next begins.

    The checker forgets assertions with `(pop 1)`. After that alone SMTInterpol still knows terms, of the sort that was
    forgotten, where the next obligation declares a function of the same name. After `(reset)` it does not.
    """
    lines: list[str] = []
    for text in texts:
        own = text.replace("(set-logic ALL)\n", "", 1).rstrip("\n")
        lines += [*header, "(set-logic ALL)", "(push 1)", own, "(get-proof)", "(pop 1)", "(reset)"]
    return "\n".join(lines) + "\n"


def _whole(output: str) -> Iterator[str]:
    """The expressions of an output that may break off."""
    found = expressions(output)
    while True:
        try:
            yield next(found)
        except (StopIteration, ValueError):
            return
