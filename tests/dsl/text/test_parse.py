"""The parser: what the text means, and that no text whatever makes it fail."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from thence.dsl.load import library
from thence.dsl.text import syntax
from thence.dsl.text.diagnostics import CODES, Diagnostic, SourceText, nearest, render
from thence.dsl.text.parse import MAX_BYTES, MAX_FAULTS, continuations, decode, parse, read, word_kinds
from thence.dsl.text.syntax import Apply, Binary, Binder, Name, NamedType, Quantified, Setting, Variable
from thence.dsl.text.vocabulary import RESERVED
from thence.dsl.write.format import format_source

HERE = Path(__file__).parents[1]
SAMPLES = sorted((HERE / "samples").glob("*.thence"))
TEXTS = [
    path.read_bytes().decode("utf-8", "replace")
    for path in [*SAMPLES, *sorted((HERE / "text" / "golden").glob("E0[12]*.thence"))]
    if path.stat().st_size < 5_000
]


def tree_of(text: str) -> syntax.File:
    tree, diagnostics = parse(text, "x.thence")
    assert diagnostics == ()
    assert tree is not None
    return tree


def formula_of(text: str) -> syntax.Expr:
    (theory,) = tree_of(f"theory t:\n  axiom a: {text}\n").declarations
    assert isinstance(theory, syntax.Theory)
    return theory.axioms[0].body


def body_of(text: str) -> tuple[syntax.Stmt, ...]:
    lines = "".join(f"    {line}\n" for line in text.split("\n"))
    (protocol,) = tree_of(f"protocol p:\n  procedure f():\n{lines}").declarations
    assert isinstance(protocol, syntax.Protocol)
    return protocol.procedures[0].body


def codes_of(text: str) -> list[str]:
    return [diagnostic.code for diagnostic in parse(text, "x.thence")[1]]


# --- meaning -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("a and b or c and d", "(a and b) or (c and d)"),
        ("a implies b implies c", "a implies (b implies c)"),
        ("a iff b iff c", "(a iff b) iff c"),
        ("a or b implies c iff d", "((a or b) implies c) iff d"),
        ("not a = b and c", "(not (a = b)) and c"),
        ("not not a", "not (not a)"),
        ("a + b - c = d", "((a + b) - c) = d"),
        ("a = b + c", "a = (b + c)"),
        ("a - b - c < d", "((a - b) - c) < d"),
        ("x not in s and y in s", "(x not in s) and (y in s)"),
        ("not x is empty", "not (x is empty)"),
        ("x is not empty or y is none", "(x is not empty) or (y is none)"),
        ("forall a. P and Q", "forall a. (P and Q)"),
        ("P and exists a. Q or R", "P and (exists a. (Q or R))"),
        ("n = count p: process. P and Q", "n = (count p: process. (P and Q))"),
        ("if a then b else c and d", "if a then b else (c and d)"),
        ("not forall a. P implies Q", "not (forall a. (P implies Q))"),
        ("X@p.first[k] = Y@(m.src)", "((X@p).first)[k] = (Y@(m.src))"),
        ("forall x in a.b. P", "forall x in (a.b). P"),
        ("exists x in f(y). P", "exists x in (f(y)). P"),
        ("forall x.P", "forall x. P"),
        ("a ∧ ¬ b ⇒ ∃ x. x ∉ s ∨ x ≠ ⊥", "a and not b implies exists x. x not in s or x != none"),
    ],
)
def test_precedence(text: str, same: str) -> None:
    assert formula_of(text) == formula_of(same)


def test_a_type_holds_for_the_names_before_it() -> None:
    formula = formula_of("forall a, b: process, c, d in s, e. P")
    assert isinstance(formula, Quantified)
    process = NamedType("process")
    assert formula.binders == (
        Binder(Name("a"), process),
        Binder(Name("b"), process),
        Binder(Name("c")),
        Binder(Name("d"), None, Variable("s")),
        Binder(Name("e")),
    )


@pytest.mark.parametrize(
    "text",
    [
        "a\n    and b\n    or c",
        "a and\n    b or\n    c",
        "\n    a\n      and b or c",
        "(a\n  and\n b) or c",
        "a and b # one\n    # between\n\n    or c # two",
        "a and b\n  or c",
    ],
)
def test_continuation_lines(text: str) -> None:
    assert formula_of(text) == formula_of("a and b or c")


def test_conditionals_over_several_lines() -> None:
    assert formula_of("if a\n    then b\n    else c") == formula_of("if a then b else c")


def test_blocks_on_one_line() -> None:
    inline = body_of("if a: return\nelse if b: x := 1; y := 2\nelse: pass\nfor ref w in s[r]: w.remove(i)")
    indented = body_of(
        "if a:\n  return\nelse if b:\n  x := 1\n  y := 2\nelse:\n  pass\nfor ref w in s[r]:\n  w.remove(i)"
    )
    assert inline == indented


@pytest.mark.parametrize(
    ("inline", "indented"),
    [
        ("for p in s: if p != self: x := 1", "for p in s:\n  if p != self:\n    x := 1"),
        ("if a: if b: x := 1; y := 2", "if a:\n  if b:\n    x := 1\n    y := 2"),
        ("while a: for ref w in s: w.pop()", "while a:\n  for ref w in s:\n    w.pop()"),
        ("if a: if b: x := 1\nelse: y := 2", "if a:\n  if b:\n    x := 1\nelse:\n  y := 2"),
        ("if a: x := 1\nelse: if b: y := 2", "if a:\n  x := 1\nelse if b:\n  y := 2"),
        (
            "if a: x := 1\nelse: for p in s: if b: y := 2",
            "if a:\n  x := 1\nelse:\n  for p in s:\n    if b:\n      y := 2",
        ),
        (
            "for p in s: for q in s: while a: if b: go(p, q)\npass",
            "for p in s:\n  for q in s:\n    while a:\n      if b:\n        go(p, q)\npass",
        ),
    ],
)
def test_headers_behind_a_header(inline: str, indented: str) -> None:
    """An `else` on a line of its own belongs to the header that begins the line above."""
    assert body_of(inline) == body_of(indented)


@pytest.mark.parametrize(
    "header",
    [
        "on causal_send(m)", "on receive MSG(m) from j", "on ask(k)", "periodically", "periodically soon",
        "procedure go()",
    ],
)  # fmt: skip
def test_every_part_may_have_its_body_on_its_line(header: str) -> None:
    one_line = tree_of(f"protocol p:\n  {header}: for q in process: if q != self: x := q\n")
    lines = f"protocol p:\n  {header}:\n    for q in process:\n      if q != self:\n        x := q\n"
    assert one_line == tree_of(lines)


@pytest.mark.parametrize(
    "text",
    [
        "if a: x := 1 else: y := 2",
        "for p in s: if a: x := 1\nelse: y := 2",
        "x := 1; if a: y := 2",
        "for p in s: if a:\n  x := 1",
    ],
)
def test_a_line_has_one_chain_of_headers(text: str) -> None:
    lines = "".join(f"    {line}\n" for line in text.split("\n"))
    assert len(codes_of(f"protocol p:\n  procedure f():\n{lines}")) == 1


def test_labels_are_the_comments_of_first_lines() -> None:
    statements = body_of("x := 1   # A1\nif a: return  # A2\nx := f(a,  # A3\n  b)  # not this\npass")
    assert [statement.label for statement in statements] == ["A1", "A2", "A3", None]
    nested = statements[1]
    assert isinstance(nested, syntax.If)
    assert nested.then[0].label == "A2"


def test_words_with_a_meaning_are_names_elsewhere() -> None:
    statements = body_of("while x:\n  pass\nstate := 1\nmessage.to := from\nproperty(record, network)")
    assert statements[1] == syntax.Assign(Variable("state"), syntax.Number(1))
    assert statements[3] == syntax.Call(Name("property"), (Variable("record"), Variable("network")))


def test_updates_for_every_value() -> None:
    text = "machine m:\n  transition t(a):\n    forall x, y: message: r(x, y) := forall z: process. p(z)\n"
    (machine,) = tree_of(text).declarations
    assert isinstance(machine, syntax.Machine)
    (update,) = machine.transitions[0].body
    assert isinstance(update, syntax.Assign)
    message = NamedType("message")
    assert update.binders == (Binder(Name("x"), message), Binder(Name("y"), message))
    assert update.place == Apply(Name("r"), (Variable("x"), Variable("y")))
    assert update.value == Quantified(
        "forall", (Binder(Name("z"), NamedType("process")),), Apply(Name("p"), (Variable("z"),))
    )


def test_a_transition_of_nothing_but_what_is_built_in() -> None:
    (machine,) = tree_of("machine m:\n  transition causal_send(a): pass\n").declarations
    assert isinstance(machine, syntax.Machine)
    assert machine.transitions[0].body == ()


def test_ordered_belongs_to_the_name_before_it() -> None:
    (theory,) = tree_of("theory t:\n  sort process, message, time ordered\n").declarations
    assert isinstance(theory, syntax.Theory)
    assert theory.sorts == (
        syntax.SortDecl((Name("process"), Name("message"))),
        syntax.SortDecl((Name("time"),), ordered=True),
    )


def test_settings() -> None:
    text = (
        "scope s of p:\n  processes 3; sends 2, 1, 1; self sends\n  destinations 0 to 1, 2; 1 to 2; losses 1\n"
        "  expect refuted delivered with processes 2, sends 4 0, destinations 0 to 1 0; 1 to 0, ticks 1\n"
    )
    (scope,) = tree_of(text).declarations
    assert isinstance(scope, syntax.Scope)
    assert scope.settings == (
        Setting("processes", (3,)),
        Setting("sends", (2, 1, 1)),
        Setting("self_sends"),
        Setting("destinations", (), ((0, (1, 2)), (1, (2,)))),
        Setting("losses", (1,)),
    )
    assert scope.expects[0].settings == (
        Setting("processes", (2,)),
        Setting("sends", (4, 0)),
        Setting("destinations", (), ((0, (1, 0)), (1, (0,)))),
        Setting("ticks", (1,)),
    )


@pytest.mark.parametrize("written", ["2, 1, 0", "2,1,0", "2 1 0", "2, 1 0"])
def test_numbers_have_one_spelling(written: str) -> None:
    """With commas or without, in a scope and in an expectation; formatted with commas."""
    text = f"scope a of p:\n  sends {written}\n\nmutant m of p:\n  expect refuted causal with sends {written}, fifo\n"
    formatted, _ = format_source(text, "x.thence")
    assert formatted == text.replace(written, "2, 1, 0")
    assert tree_of(text) == tree_of(text.replace(written, "2, 1, 0"))


def test_clauses() -> None:
    text = "conforms p to m in a, b:\n  send K(x, ...) to j is t(x, self), once\n  receive K() from j is u()\n"
    (link,) = tree_of(text).declarations
    assert isinstance(link, syntax.Conforms)
    assert link.name == Name("p to m")
    assert link.scopes == (Name("a"), Name("b"))
    first, second = link.clauses
    assert (first.kind, first.parameters, first.rest, first.peer, first.once) == (
        Name("K"),
        (Name("x"),),
        True,
        Name("j"),
        True,
    )
    (target,) = first.targets
    assert (target.transition, target.arguments) == (Name("t"), (Variable("x"), Variable("self")))
    assert (second.parameters, second.rest, second.once) == ((), False, False)


def test_an_event_may_be_one_of_several_transitions() -> None:
    text = "conforms p to m in a:\n  receive K(x) from j is t(x) or u(x, any), once, when busy\n"
    (link,) = tree_of(text).declarations
    assert isinstance(link, syntax.Conforms)
    (clause,) = link.clauses
    assert [target.transition for target in clause.targets] == [Name("t"), Name("u")]
    assert [isinstance(argument, syntax.AnyThatEnables) for argument in clause.targets[1].arguments] == [False, True]
    assert clause.once
    assert clause.when == Variable("busy")


def test_spans_cover_what_they_say() -> None:
    text = "theory t:\n  axiom a: p and (q\n    or not r)\n"
    (theory,) = tree_of(text).declarations
    assert isinstance(theory, syntax.Theory)
    body = theory.axioms[0].body
    assert isinstance(body, Binary)
    assert body.span == syntax.Span(2, 12, 3, 14)
    assert body.right.span == syntax.Span(2, 18, 3, 14)
    assert theory.span == syntax.Span(1, 1, 3, 14)


def test_comments_and_line_ends() -> None:
    text = "\ufeff# one\r\ntheory t:  # two\r\n  sort a\r\n"
    tree = tree_of(text)
    assert [(c.line, c.column, c.text, c.trailing) for c in tree.comments] == [
        (1, 1, "one", False),
        (2, 12, "two", True),
    ]
    assert tree == tree_of("theory t:\n  sort a\n")


def test_nothing_is_a_file() -> None:
    for text in ("", "\n\n", "# only a remark", '"""Only words."""'):
        assert tree_of(text).declarations == ()


# --- faults ------------------------------------------------------------------------------------


def test_faults_of_several_declarations_and_members_are_reported_together() -> None:
    text = (
        "protocol p:\n  state:\n    a: nat\n  on causal_send(m):\n    a = 1\n    b :=\n    if a > 0\n      return\n"
        "theory t:\n  axiom a: x ==\nscop s of p:\n  processes many\n"
    )
    assert codes_of(text) == ["E0111", "E0119", "E0103", "E0112", "E0114", "E0136"]


def test_an_unclosed_bracket_is_shown_where_it_opens_and_hides_nothing_else() -> None:
    text = (
        "protocol p:\n  on causal_send(m):\n    f(a, (b\n    send M(m) to m.dst\n  on receive M(m) from j:\n    x = 1\n"
    )
    _, diagnostics = parse(text, "x.thence")
    assert [(d.code, d.span.line, d.span.column) for d in diagnostics] == [("E0108", 3, 6), ("E0111", 6, 7)]


def test_at_most_so_many_faults_are_reported() -> None:
    text = "protocol p:\n  on causal_send(m):\n" + "    a = 1\n" * (2 * MAX_FAULTS)
    codes = codes_of(text)
    assert len(codes) == MAX_FAULTS
    assert codes_of(text + "\n" + text)[MAX_FAULTS:] == ["E0153"]


def test_what_is_too_large_is_refused_at_once() -> None:
    for text in ("#" * (MAX_BYTES + 1), "x\n" * MAX_BYTES):
        start = time.process_time()
        assert codes_of(text) == ["E0150"]
        assert time.process_time() - start < 0.1
    assert decode(b"x" * (MAX_BYTES + 1), "x")[1][0].code == "E0150"
    assert codes_of("a" * 50_000) == ["E0151"]


@pytest.mark.parametrize(
    "text",
    [
        "theory t:\n  axiom a: " + "(" * 5000 + "x",
        "theory t:\n  axiom a: " + "not " * 2000 + "x",
        "theory t:\n  axiom a: " + "x + " * 2000 + "x",
        "theory t:\n  axiom a: " + "x implies " * 900 + "x",
        "theory t:\n  axiom a: " + "forall x. " * 900 + "x",
        "theory t:\n  axiom a: " + "if x then y else " * 500 + "x",
        "theory t:\n  axiom a: x" + ".f" * 4000,
        "protocol p:\n  procedure f():\n" + "".join(" " * n + "if a:\n" for n in range(4, 300)),
        "protocol p:\n  procedure f():\n    if a: pass\n" + "    else if a: pass\n" * 2000,
        "protocol p:\n  state:\n    a: " + "set of " * 1000 + "nat",
    ],
)
def test_deep_nesting_is_a_fault(text: str) -> None:
    tree, diagnostics = parse(text, "x.thence")
    assert tree is None
    assert "E0152" in [diagnostic.code for diagnostic in diagnostics]


def test_bytes_that_are_no_text() -> None:
    assert decode("théorie".encode(), "x") == ("théorie", ())
    text, (diagnostic,) = decode(b"theory t:\n  \xff", "x")
    assert text is None
    assert (diagnostic.code, diagnostic.span.line, diagnostic.span.column) == ("E0101", 2, 3)
    assert codes_of("theory\0") == ["E0101"]


def test_rendering_and_json() -> None:
    text = "theory t:\n  axiom a: x == y\n"
    _, (diagnostic,) = parse(text, "x.thence")
    assert render(diagnostic, text) == (
        "error[E0112]: `==` is not an operator here\n"
        " --> x.thence:2:14\n"
        "  |\n"
        "2 |   axiom a: x == y\n"
        "  |              ^^\n"
        "  = note: equality is `=`; assignment is `:=`\n"
    )
    assert json.loads(json.dumps(diagnostic.to_json())) == {
        "code": "E0112",
        "severity": "error",
        "message": "`==` is not an operator here",
        "file": "x.thence",
        "line": 2,
        "column": 14,
        "end_line": 2,
        "end_column": 16,
        "notes": ["equality is `=`; assignment is `:=`"],
    }


def test_near_matches() -> None:
    assert nearest("mesage", ["message", "machine"]) == "message"
    assert nearest("ob", ["OB", "MODE"]) == "OB"
    assert nearest("hello", ["message", "machine"]) is None


def test_a_code_that_is_not_in_the_catalogue_is_our_fault() -> None:
    with pytest.raises(AssertionError):
        Diagnostic("E9999", "error", "?", "x", syntax.NOWHERE)


# --- any text ----------------------------------------------------------------------------------

WORDS = (
    "protocol theory machine scope conforms mutant theorem state on receive causal_send from to of in is if then else "
    "while for forall exists count let ref send deliver require return pass and or not implies iff empty none true "
    "false x y m p process message nat set queue map sliding array expect holds refuted with processes sends invariant "
    'property record by induction 0 1 2 := = != < <= > >= + - : , ; . ... @ ( ) [ ] { } == && || ! -> # \' " """ '
    "∀ ∃ ∈ ∉ ¬ ⊥ ← § é"
)
BLANKS = ["\n", "\n  ", "\n    ", "\n      ", " ", "\t", "\r\n", "\r", "\x0b", "\u2028", "\ufeff", "\ud800"]
PIECES = st.sampled_from([*WORDS.split(" "), *BLANKS])
STARTS = st.sampled_from(["", "theory t:\n  axiom a: ", "protocol p:\n  on causal_send(m):\n    "])


def check_any_text(text: str) -> None:
    tree, diagnostics = parse(text, "x.thence")
    assert (tree is None) == any(diagnostic.severity == "error" for diagnostic in diagnostics)
    source = SourceText("x.thence", text)
    for diagnostic in diagnostics:
        span = diagnostic.span
        assert diagnostic.code in CODES
        assert 1 <= span.line <= len(source.lines)
        assert 1 <= span.column <= len(source.line(span.line)) + 2
        assert (span.line, span.column) <= (span.end_line, span.end_column)
        assert diagnostic.code in render(diagnostic, source)
    if tree is not None:
        formatted, _ = format_source(text, "x.thence")
        assert formatted is not None
        assert parse(formatted, "x.thence")[0] == tree


@settings(derandomize=True, deadline=None, max_examples=200)
@given(st.text(max_size=80))
@example("\udcff")
def test_any_characters(text: str) -> None:
    check_any_text(text)


@settings(derandomize=True, deadline=None, max_examples=300)
@given(st.lists(PIECES, max_size=30), STARTS)
def test_any_words(pieces: list[str], start: str) -> None:
    check_any_text(start + " ".join(pieces))


def slipped(text: str, data: st.DataObject) -> str:
    """The text with a few slips of the pen."""
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        match data.draw(st.sampled_from(["cut", "insert", "double", "swap", "line"])):
            case "cut":
                text = text[:at] + text[at + data.draw(st.integers(1, 12)) :]
            case "insert":
                text = text[:at] + data.draw(PIECES) + text[at:]
            case "double":
                text = text[:at] + text[max(0, at - 10) :]
            case "swap":
                text = text[: at - 1] + text[at : at + 1] + text[max(0, at - 1) : at] + text[at + 1 :]
            case _:
                lines = text.split("\n")
                del lines[data.draw(st.integers(0, len(lines) - 1))]
                text = "\n".join(lines)
    return text


@settings(derandomize=True, deadline=None, max_examples=300)
@given(st.sampled_from(TEXTS), st.data())
def test_texts_with_slips(text: str, data: st.DataObject) -> None:
    check_any_text(slipped(text, data))


# --- half-read texts -----------------------------------------------------------------------------

HALF = """\
protocol p:
  message MSG(m: message) carries m
  state:
    GOT: set of message
  on causal_send(m):
    oops oops
    send MSG(m) to m.dst
  on receive MSG(m) from j
    deliver m

scope small of p:
  processes 2
"""


def test_what_can_be_read_of_a_text_at_fault() -> None:
    tree, faults = parse(HALF, "half")
    reading = read(HALF, "half")
    assert tree is None and reading.diagnostics == faults
    [protocol, scope] = reading.tree.declarations
    assert isinstance(protocol, syntax.Protocol) and isinstance(scope, syntax.Scope)
    assert [variable.name.text for variable in protocol.state] == ["GOT"]
    sending, receiving = protocol.handlers
    assert [type(statement) for statement in sending.body] == [syntax.Pass, syntax.Send]
    assert [type(statement) for statement in receiving.body] == [syntax.Deliver]


@pytest.mark.parametrize("path", library(), ids=lambda path: path.stem)
def test_words_have_the_kinds_that_the_parser_gives_them(path: Path) -> None:
    reading = read(path.read_text(encoding="utf-8"), path.name)
    assert reading.diagnostics == ()
    kinds = word_kinds(reading.words)
    assert None not in kinds
    for word, kind in zip(reading.words, kinds, strict=True):
        assert (str(word) in RESERVED) <= (kind != "NAME" or word.type == "DOC")


def test_words_behind_a_fault_have_no_kind() -> None:
    words = read(HALF, "half").words
    kinds = dict(zip(map(str, words), word_kinds(words), strict=True))
    assert kinds["protocol"] == "PROTOCOL" and kinds["scope"] == "SCOPE"
    assert kinds["deliver"] is None


@pytest.mark.parametrize(
    ("typed", "keywords", "names"),
    [
        ("", {"protocol", "scope", "mutant"}, False),
        ("  ", {"on", "property", "state"}, False),
        ("  on ", {"causal_send", "receive"}, True),
        ("  on causal_send(m):\n    ", {"send", "deliver", "let", "if"}, True),
        ("  on causal_send(m):\n    send ", set(), True),
        ("  on causal_send(m):\n    if m ", {"in", "is", "and"}, False),
        ("  state:\n    x: ", {"set", "queue", "map", "option"}, True),
    ],
)
def test_what_can_stand_next(typed: str, keywords: set[str], names: bool) -> None:
    """In the place of the last word, whatever is wrong above."""
    above = HALF[: HALF.index("  on receive")]
    found = continuations(above + typed + "here")
    assert keywords <= found.keywords and bool(keywords) <= bool(found.keywords)
    assert ("NAME" in found.terminals) == names


def test_every_continuation_is_taken() -> None:
    """A keyword that is offered is one there, by the parser."""
    text = HALF.replace("    oops oops\n", "").replace("from j\n", "from j:\n")
    for match in re.finditer(r"\b[a-z]\w*", text):
        found = continuations(text[: match.start()] + "here")
        for keyword in sorted(found.keywords):
            words = read(text[: match.start()] + keyword, "next").words
            kinds = [kind for word, kind in zip(words, word_kinds(words), strict=True) if str(word)]
            assert None not in kinds and kinds[-1] != "NAME", (keyword, match)
