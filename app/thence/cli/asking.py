"""Questions of `thence infer --ask`, and the lines that answer them: from a terminal, or from a pipe."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from thence.cli.readers.printing import fitted_to
from thence.cli.session import Session
from thence.dsl.write.show import show_expression
from thence.proofs.infer.candidates.clauses import Clause
from thence.proofs.infer.candidates.rows import Denial
from thence.proofs.infer.search.asking import Answer, Cost, Question
from thence.spec.words import counted

END, GIVE_UP = "q", "d"

SHOWN_S = 0.005
"""A shorter time is not shown."""

LONGEST_NUMBER = 20
"""Digits of a line that is taken for a number."""


@dataclass(frozen=True, slots=True)
class Asking:
    """Prints a question and reads lines until one of them answers it. The end of the input is `q`."""

    session: Session

    def __call__(self, question: Question) -> Answer:
        self._say(_text(question))
        while True:
            print("> ", end="", flush=True)
            line = sys.stdin.readline()
            if not sys.stdin.isatty():
                print(line.rstrip("\n"))  # so that a recorded dialogue can be read
            answer = _answer(question, line.strip()) if line else "end"
            if not isinstance(answer, _Refusal):
                return answer
            self._say(f"  {answer.text}")

    def _say(self, text: str) -> None:
        """Prints a text, broken between words where the terminal is narrow."""
        self.session.say("\n".join(fitted_to(text, sys.stdout)))


@dataclass(frozen=True, slots=True)
class _Refusal:
    """Why a line is no answer."""

    text: str


def _answer(question: Question, line: str) -> Answer | _Refusal:
    if line == END:
        return "end"
    if line == GIVE_UP:
        return _Refusal(f"{question.goal} is to be proved, and cannot be given up") if question.own else "give up"
    if line.isdecimal():
        number = int(line) if len(line) <= LONGEST_NUMBER else 0
        if 1 <= number <= len(question.candidates):
            return question.candidates[number - 1].denial.clause
        return _Refusal(f"there is no candidate {line[:LONGEST_NUMBER]}")
    if not line:
        return _Refusal("a number, a formula, or q")
    found = question.judge(line)
    return found if isinstance(found, Clause) else _Refusal(found)


def _text(question: Question) -> str:
    lines = ["", question.shown, "which clause is false in the state `before`?"]
    if question.candidates:
        looked_at = (
            f"{counted(question.samples, 'sampled state')}, and in all runs of up to {question.steps} steps that"
        )
        lines.append(f"(each is true in {looked_at} a short search met)")
    for number, each in enumerate(question.candidates, 1):
        lines.append(f"  {number}  {show_expression(each.denial.clause.formula)}")
        lines += [f"     {_support(each.denial)}", f"     {_price(each.cost)}"]
    if not question.candidates:
        lines.append("  nothing that can be said with few variables: type a formula")
    more = "" if question.own else f", {GIVE_UP} to do without the clause that is lost"
    lines.append(f"a number, a formula{more}, or {END} to end")
    return "\n".join(lines)


def _support(denial: Denial) -> str:
    """How much the candidate says, and how little speaks for it."""
    literals = counted(len(denial.clause.literals), "literal")
    speaking = counted(denial.speaking, "sampled situation")
    return f"{literals}, {speaking} for it"


def _price(cost: Cost) -> str:
    """What has to be shown once it is taken."""
    if cost.lost_by:
        own = f"lost by {', '.join(cost.lost_by)}"
    elif cost.proof_s is None:
        own = "every step keeps it in small universes; no quick proof for any number of elements"
    else:
        own = f"every step keeps it; proved for any number of elements {_in(cost.proof_s)}"
    return f"{own}; {counted(cost.open, 'other step')} open then"


def _in(seconds: float) -> str:
    """An answer that was given before takes no time."""
    return f"in {seconds:.2f} s" if seconds >= SHOWN_S else "at once"
