"""S-expressions are split where they end, and only plain obligations are plain."""

from __future__ import annotations

import pytest

from thence.proofs.certificate.forms.expressions import expressions
from thence.proofs.certificate.forms.obligation_form import obligation_fault, without_comments

OBLIGATION = """; a name, with a comma
(set-logic ALL)
(declare-sort S0 0) ; node
(declare-fun f0 (S0) Bool) ; good
(declare-const k0 S0) ; a
(assert (f0 k0)) ; hypothesis (with a parenthesis
(assert (not (f0 k0))) ; the goal
(check-sat)
"""


def test_expressions_end_where_their_parentheses_do() -> None:
    text = 'unsat\n(a (b "x)y""z" |q)r|) c) ; (comment\n(d)word'
    assert list(expressions(text)) == ["unsat", '(a (b "x)y""z" |q)r|) c)', "(d)", "word"]


@pytest.mark.parametrize("text", ["(a", "(a))", '(a "b)', ")", '"'])
def test_a_text_that_breaks_off_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"parenthesis|middle|quote"):
        list(expressions(text))


def test_comments_do_not_count() -> None:
    assert without_comments(OBLIGATION).splitlines()[3] == "(declare-const k0 S0)"
    assert ";" not in without_comments(OBLIGATION)


def test_an_obligation_is_plain() -> None:
    assert obligation_fault(OBLIGATION) is None


@pytest.mark.parametrize(
    "line",
    [
        '(echo "unsat")',
        "(set-option :produce-proofs true)",
        "(pop 1)",
        "(define-fun f1 () Bool true)",
        "(assert true) (assert false)",
        "(assert true))(check-sat",
        '(assert (= "a" "b"))',
        "(assert |x y|)",
        "(check-sat)",
        "(set-logic ALL)",
        "(get-proof)",
        "word",
        "(assert (f0 k0)",
    ],
)
def test_nothing_else_is(line: str) -> None:
    text = OBLIGATION.replace("(assert (f0 k0)) ;", f"{line}\n(assert (f0 k0)) ;")
    assert obligation_fault(text) is not None


@pytest.mark.parametrize("text", ["", "(check-sat)\n", "(set-logic ALL)\n", OBLIGATION.replace("(check-sat)\n", "")])
def test_it_begins_with_a_logic_and_ends_with_a_check(text: str) -> None:
    assert obligation_fault(text) is not None
