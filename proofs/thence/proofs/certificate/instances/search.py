"""The instances of quantified formulas that contradict each other: those that a proof of Z3 uses, cut down to a core.

A search goes in rounds. In each, Z3 proves the obligation with its quantified formulas named, and says which terms it
gave to which. Where their bodies hold quantified formulas, Z3 has no names for those: so in every second round such
formulas are known by their instances only.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from thence.proofs.certificate.forms.expressions import trees, words
from thence.proofs.certificate.instances.ground import Ground, Lemma, Quantified, Term, frozen, ground, merged, text_of
from thence.proofs.certificate.processes import Processes, side_by_side
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.solver import GRACE_MS, Answer, Check, SolverPool

ROUNDS = 12

BATCH = 20
"""Obligations for one process."""


@dataclass(frozen=True, slots=True)
class Instances:
    """Assertions and lemmas that contradict each other: a problem without quantifiers.

    Attributes:
        problem: its SMT-LIB2 text.
    """

    ground: Ground
    lemmas: tuple[Lemma, ...]
    problem: str


def instances(texts: Sequence[str], options: Options) -> tuple[Instances | None, ...]:
    """Enough instances for each obligation; None where they were not found."""
    searches = [_Search(text) for text in texts]
    asked = [search for search in searches if not search.over]
    with SolverPool(options.workers) as pool:
        while asked:
            checks = [
                Check("z3", each.text(named=True), options.timeout_ms, options.seed, core="small") for each in asked
            ]
            for position, answer in pool.answers(checks):
                asked[position].hear(answer)
            asked = [search for search in asked if not search.over]
            used = _instances_used([search.question() for search in asked], options)
            for search, said in zip(asked, used, strict=True):
                search.add(said)
            asked = [search for search in asked if not search.over]
    return tuple(search.found for search in searches)


Used: TypeAlias = Sequence[tuple[str, Mapping[str, str]]]
"""The names of quantified formulas, each with the terms that a proof gives to its variables."""


def _instances_used(questions: Sequence[str], options: Options) -> tuple[Used, ...]:
    """The instances in Z3's proof of each question; nothing where it finds none in time."""
    return side_by_side(partial(_batch, options), questions, BATCH, options.workers)


def _batch(options: Options, processes: Processes, questions: Sequence[str]) -> list[Used]:
    found: list[Used] = []
    while len(found) < len(questions):
        found.extend(_answers(options, processes, questions[len(found) :]))
        if len(found) < len(questions):
            found.append(())
    return found


def _answers(options: Options, processes: Processes, questions: Sequence[str]) -> list[Used]:
    """The answers of one process, up to where it was killed or died."""
    request = json.dumps({"texts": list(questions), "timeout_ms": options.timeout_ms, "seed": options.seed}).encode()
    command = [sys.executable, "-P", "-m", "thence.proofs.certificate.instances.worker"]
    output = processes.output(command, (options.timeout_ms + GRACE_MS) / 1000 * len(questions), request)
    return [json.loads(line) for line in output.splitlines(keepends=True) if line.endswith("\n")]


class _Search:
    """The search for instances of one obligation."""

    def __init__(self, text: str) -> None:
        self.found: Instances | None = None
        self.over = False
        self._rounds = self._idle = 0
        try:
            self._ground = ground(text)
        except (ValueError, RecursionError):
            self.over = True

    def hear(self, answer: Answer) -> None:
        """Takes note of Z3's answer about what there is so far, without quantifiers."""
        if answer.status == "unsat":
            core = frozenset(answer.core)
            kept = tuple(lemma for number, lemma in enumerate(self._ground.lemmas) if f"l{number}" in core)
            self.found = Instances(self._ground, kept, self.text(core))
        self.over = answer.status != "sat"

    def add(self, used: Used) -> None:
        """Adds the instances that a proof uses. The search is over when two questions in turn give nothing new."""
        known = {quantified.name: quantified for quantified in self._ground.open}
        before = len(self._ground.lemmas)
        for name, said in used:
            if name in known:
                try:
                    self._ground.instantiate(known[name], {each: _term(text) for each, text in said.items()})
                except (ValueError, RecursionError):
                    self.over = True
                    return
        self._rounds += 1
        self._idle = self._idle + 1 if len(self._ground.lemmas) == before else 0
        self.over = self._idle > 1 or self._rounds == ROUNDS

    def question(self) -> str:
        """The obligation with a name for each quantified formula that may be instantiated."""
        meant = [each for each in self._ground.open if self._rounds % 2 == 0 or not self._ground.is_nested(each)]
        meanings = [f"(assert {_meaning(quantified)})" for quantified in meant]
        return "\n".join([*self._lines(None), *meanings, ""])

    def text(self, core: Collection[str] | None = None, *, named: bool = False) -> str:
        """The problem without quantifiers; of a core, with its assertions only."""
        return "\n".join([*self._lines(core, named=named), "(check-sat)", ""])

    def _lines(self, core: Collection[str] | None, *, named: bool = False) -> Iterator[str]:
        yield "; instances"
        if named:
            yield "(set-option :produce-unsat-cores true)"
        yield "(set-logic ALL)"
        yield from self._ground.declarations
        for name in self._ground.defined:
            yield f"(declare-const {name} {self._ground.sorts.get(name, 'Bool')})"
        for name, formula in self._formulas():
            if core is None or name in core:
                text = text_of(formula)
                yield f"(assert (! {text} :named {name}))" if named else f"(assert {text})"

    def _formulas(self) -> Iterator[tuple[str, Term]]:
        for number, assertion in enumerate(self._ground.assertions):
            yield f"a{number}", assertion
        for number, lemma in enumerate(self._ground.lemmas):
            yield f"l{number}", lemma.formula


def _term(text: str) -> Term:
    (tree,) = trees(words(text))
    return frozen(tree)


def _meaning(quantified: Quantified) -> str:
    """What the name of a quantified formula implies, or what implies it."""
    variables, body = merged(quantified)
    binders = " ".join(f"({name} {sort})" for name, sort in variables)
    pattern = "" if quantified.pattern is None else f" :pattern {text_of(quantified.pattern)}"
    whole = f"({quantified.kind} ({binders}) (! {text_of(body)}{pattern} :qid {quantified.name}))"
    return f"(=> {quantified.name} {whole})" if quantified.kind == "forall" else f"(=> {whole} {quantified.name})"
