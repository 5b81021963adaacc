"""The features one by one: what is shown of which place."""

from __future__ import annotations

import pytest

pytest.importorskip("pygls")

from lsprotocol.types import DiagnosticSeverity, Position

from thence.dsl.check.scenario import HISTORY
from thence.dsl.check.stated.claims import LIVENESS, PROTOCOL_PROPERTIES
from thence.dsl.check.terms.delivery import DELIVERIES
from thence.dsl.check.terms.environment import BUILT_IN_FUNCTIONS, PROTOCOL_TYPES
from thence.dsl.ir.machine_builtins import MACHINE_PROPERTIES, MULTICAST_SYMBOLS, SYMBOLS
from thence.dsl.load import library
from thence.dsl.text.parse import keyword_words
from thence.highlight.words import PROPERTIES
from thence.lsp import conversions, fixes, hover, outline, tokens
from thence.lsp.analysis import Analysis
from thence.lsp.completion import NETWORK, completions
from thence.lsp.naming.explanations import BUILT_IN, KEYWORDS
from thence.lsp.outcomes import Judged, Outcome, summary, told
from thence.lsp.positions import Positions
from thence.lsp.tasks import Task, places, task_from

RST = next(path for path in library() if path.stem == "rst_mf").read_text(encoding="utf-8")
CYKAS = next(path for path in library() if path.stem == "cykas").read_text(encoding="utf-8")


def place(text: str, needle: str, shift: int = 0) -> tuple[int, int]:
    offset = text.index(needle) + shift
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


# --- positions -----------------------------------------------------------------------------------

ASTRAL = "\ufeff# 😀 one\r\nprotocol 𝒳: # 😀😀\r  lone\n\u2028x 😀 y"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_each_place_is_a_position_and_back(encoding: str) -> None:
    positions = Positions(ASTRAL, encoding)  # type: ignore[arg-type]
    lines = ASTRAL.removeprefix("\ufeff").split("\n")
    for number, line in enumerate(lines, start=1):
        for column in range(1, len(line.removesuffix("\r")) + 2):
            assert positions.place(positions.position(number, column)) == (number, column)


def test_columns_are_counted_in_utf_16() -> None:
    text = "# 😀😀 x"
    assert Positions(text).position(1, 6) == Position(0, 7)
    assert Positions(text, "utf-8").position(1, 6) == Position(0, 11)
    assert Positions(text, "utf-32").position(1, 6) == Position(0, 5)
    assert Positions(text).place(Position(0, 3)) == (1, 3), "inside of a character"
    assert Positions("a\rb").position(1, 3) == Position(1, 0), "a lone carriage return ends a line of the protocol"
    assert Positions("a\nb").place(Position(9, 9)) == (2, 2)
    assert Positions("a\nb").position(9, 9) == Position(1, 1)


# --- hover ---------------------------------------------------------------------------------------


def test_every_keyword_is_explained() -> None:
    assert set(KEYWORDS) == keyword_words()
    assert all(text.strip() for text in (*KEYWORDS.values(), *BUILT_IN.values()))


def test_every_name_of_the_language_is_explained() -> None:
    listed = {*PROTOCOL_PROPERTIES, *LIVENESS, *MACHINE_PROPERTIES, *DELIVERIES, *NETWORK}
    assert listed <= set(BUILT_IN)
    assert listed - {"causal_send"} <= set(PROPERTIES)
    symbols = {symbol.name for symbol in (*SYMBOLS, *MULTICAST_SYMBOLS, *HISTORY.values())}
    assert {*symbols, *BUILT_IN_FUNCTIONS, *PROTOCOL_TYPES, "self", "next_hop", "neighbors"} <= set(BUILT_IN)


@pytest.mark.parametrize(
    ("needle", "shift", "said"),
    [
        ("x.N[x.m", 2, "N: map process to map process to nat"),
        ("held.push", 0, "held: queue of Mail"),
        ("held.push", 5, "puts a copy"),
        ("m.dst] :=", 2, "to which the message goes"),
        ("deliver x.m", 8, "x: Mail"),
        ("send MSG", 5, "message MSG(m: message"),
        ("in two", 3, "scope two of rst_mf"),
        ("while exists", 1, "repeats its block"),
        ("protocol rst_mf", 10, "Process i increments"),
        ("max(M", 1, "the greater"),
        ("network reliable", 9, "not lost"),
        ("property causal", 10, "No message is delivered while"),
        ("Mail(m: m", 5, "field of `Mail`"),
    ],
)
def test_what_stands_there_is_explained(needle: str, shift: int, said: str) -> None:
    found = hover.explain(Analysis(RST, "rst_mf.thence"), *place(RST, needle, shift))
    assert found is not None and said in found.markdown


def test_nothing_is_said_of_blanks_comments_and_numbers() -> None:
    analysis = Analysis(RST, "rst_mf.thence")
    assert hover.explain(analysis, *place(RST, "# M[i][j]", 4)) is None
    assert hover.explain(analysis, *place(RST, "+ 1 ", 2)) is None
    assert hover.explain(analysis, 9999, 1) is None


def test_a_file_with_an_error_is_explained_as_far_as_it_can_be_read() -> None:
    text = RST.replace("held.push(Mail(m: m, N: N))", "held.push(Mail(m: m, N: oops)", 1)
    analysis = Analysis(text, "rst_mf.thence")
    assert analysis.diagnostics
    found = hover.explain(analysis, *place(text, "deliver x.m", 8))
    assert found is not None and "x: Mail" in found.markdown


# --- completion ----------------------------------------------------------------------------------


def offered(line: str, before: str = "    held.push") -> dict[str, str]:
    """What is offered at the end of a line that is typed in front of another."""
    at = RST.index(before)
    text = f"{RST[:at]}{line}\n{RST[at:]}"
    found = completions(Analysis(text, "x.thence"), *place(text, line + "\n", len(line)))
    return {choice.text: choice.detail for choice in found}


def test_fields_and_operations_by_type() -> None:
    assert set(offered("    held.")) == {"size", "first", "push", "pop", "remove", "clear"}
    assert set(offered("    let y = held.first.")) == {"m", "N"}
    assert set(offered("    if held.first.m.")) == {"src", "dst", "dsts"}
    assert offered("    M.") == {"size": "size: nat", "remove": "remove(process)", "clear": "clear()"}


def test_names_in_reach_with_their_types() -> None:
    names = offered("    let y = ")
    assert names["N"] == "N: map process to map process to nat"
    assert names["j"] == "j: process"
    assert names["held"] == "held: queue of Mail"
    assert "x" not in names and "y" not in names and "send" not in names
    assert {"send", "deliver", "let", "held", "m"} <= set(offered("    "))
    assert set(offered("    send ")) == {"MSG"}


@pytest.mark.parametrize(
    ("line", "before", "wanted", "unwanted"),
    [
        ("  prop", "  property causal", {"property", "on", "state"}, {"send", "expect"}),
        ("  property causal, ", "  property causal", {"fifo", "sps"}, {"causal", "on"}),
        ("  network ", "  property causal", {"lossy", "tree"}, {"causal"}),
        ("mut", "scope one", {"mutant", "scope"}, {"on"}),
        ("scope a of ", "scope one", {"rst_mf"}, {"no_merge_mf"}),
        ("  expect refuted causal in ", "  expect holds fifo in two", {"one", "two", "pair"}, {"rst_mf"}),
        ("  expect ", "  expect holds fifo in two", {"refuted", "holds"}, {"causal"}),
        ("    y: ", "    held: queue", {"nat", "Mail", "queue", "map"}, {"held"}),
        ("  eventually delivered under fair ", "  property causal", {"receive", "MSG"}, {"causal"}),
    ],
)
def test_words_by_context(line: str, before: str, wanted: set[str], unwanted: set[str]) -> None:
    found = set(offered(line, before))
    assert wanted <= found
    assert not unwanted & found


def test_nothing_is_offered_in_comments_and_documentation() -> None:
    assert offered("    # hel") == {}
    assert offered('  """A text', "  network reliable") == {}


# --- outline and colours -------------------------------------------------------------------------


def test_the_outline_of_a_file() -> None:
    found = outline.outline(Analysis(RST, "rst_mf.thence"))
    assert (found[0].name, found[0].detail) == ("rst_mf", "protocol")
    assert [part.name for part in found[0].parts] == ["MSG", "Mail", "M", "held", "causal_send", "receive MSG"]
    assert [entry.name for entry in found[1:4]] == ["one", "two", "pair"]


EVENTS = """\
def twice(n: nat): n + n
protocol votes:
  message VOTE(k: nat)
  state:
    seen: set of nat
  on vote(k: nat): send VOTE(twice(k)) to self
  on receive VOTE(k) from j: seen.add(k)
  periodically beat: seen.clear()
  periodically retry: pass
"""


def test_the_outline_knows_inputs_timers_and_definitions() -> None:
    analysis = Analysis(EVENTS, "votes.thence")
    assert not [fault for fault in analysis.diagnostics if fault.severity == "error"]
    definition, protocol = outline.outline(analysis)
    assert (definition.name, definition.kind, definition.detail) == ("twice", "definition", "def")
    found = [(part.name, part.kind, part.detail) for part in protocol.parts[2:]]
    assert found == [
        ("vote", "input", "input (k: nat)"),
        ("receive VOTE", "handler", "handler"),
        ("beat", "timer", "timer"),
        ("retry", "timer", "timer"),
    ]
    for part in (protocol.parts[2], *protocol.parts[4:]):
        line = EVENTS.splitlines()[part.name_span.line - 1]
        assert line[part.name_span.column - 1 : part.name_span.end_column - 1] == part.name


def test_the_outline_knows_the_symbols_of_a_theory() -> None:
    text = "theory t:\n  sort time ordered\n  function clock: time to time\n  relation late: time\n"
    [theory] = outline.outline(Analysis(text, "t.thence"))
    assert [(part.name, part.kind) for part in theory.parts] == [
        ("time", "sort"), ("clock", "function"), ("late", "relation"),
    ]  # fmt: skip


def test_ordered_sorts_of_a_machine_are_explained() -> None:
    text = (
        "machine m:\n  delivery off\n  sort process ordered\n  sort round ordered\n"
        "  relation used(p: process, r: round)\n  transition use(p: process, r: round): used(p, r) := true\n"
        "  invariant low: forall p, r, s. used(p, r) and s < r implies used(p, s)\n"
    )
    analysis = Analysis(text, "m.thence")
    assert analysis.diagnostics == ()
    told = {each.symbol.name: each.symbol for each in analysis.occurrences}
    assert told["round"].detail == "sort round ordered"
    assert (told["process"].detail, told["process"].span) == ("sort process ordered", None)  # it is not renamed


def test_the_colours_of_a_line() -> None:
    text = "protocol p:\n  on causal_send(m): pass  # 😀\n"
    found = [(token.span.column, token.type) for token in tokens.tokens(Analysis(text, "p")) if token.span.line == 2]
    assert found == [(3, "keyword"), (6, "keyword"), (18, "parameter"), (22, "keyword"), (28, "comment")]


# --- fixes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("right", "wrong", "title"),
    [
        ("property causal", "property causl", "Write `causal`"),
        ("queue of Mail", "queue of Mial", "Write `Mail`"),
        ("held.push(Mail", "hled.push(Mail", "Write `held`"),
        ("[self] = M[x.m.src]", "[self] == M[x.m.src]", "Write `=`"),
        ("on receive MSG(m, N) from j:", "on receive MSG(m, N) from j", "Insert `:`"),
        ("[m.dst] :=", "[m.dst] =", "Write `:=`"),
        ("mutant no_merge_mf", "mutnat no_merge_mf", "Write `mutant`"),
    ],
)
def test_faults_are_mended(right: str, wrong: str, title: str) -> None:
    text = RST.replace(right, wrong, 1)
    assert text != RST
    analysis = Analysis(text, "rst_mf.thence")
    found = [fix for fault in analysis.diagnostics for fix in fixes.fixes(analysis, fault)]
    assert title in [fix.title for fix in found]
    fix = next(fix for fix in found if fix.title == title)
    assert len(Analysis(fixes.applied(text, fix), "rst_mf.thence").diagnostics) < len(analysis.diagnostics)


# --- tasks and outcomes --------------------------------------------------------------------------


def test_every_statement_has_its_task() -> None:
    found = places(Analysis(CYKAS, "cykas.thence"))
    kinds = {place.task.kind for place in found}
    assert kinds == {"scope", "prove", "link", "mutant", "scenario"}
    for one in found:
        assert task_from(one.task.to_json()) == one.task
        assert one.basis
    with pytest.raises(ValueError, match="no task"):
        task_from({"kind": "scope"})


def test_verdicts_are_valid_while_their_subject_stays() -> None:
    scope = next(one for one in places(Analysis(RST, "r")) if one.task == Task("scope", "two", "rst_mf"))

    def basis(text: str) -> object:
        return next(one for one in places(Analysis(text, "r")) if one.task == scope.task).basis

    assert basis("# a remark\n\n" + RST) == scope.basis
    assert basis(RST.replace("duplicates 1", "duplicates 2")) == scope.basis, "another scope"
    assert basis(RST.replace("sends 2, 2, 1", "sends 2, 2, 2")) != scope.basis
    assert basis("def zero(): 0\n\n" + RST) != scope.basis, "any formula may be written by it"
    assert basis(RST.replace("network reliable, duplicating", "network reliable")) != scope.basis


HOLDS, REFUTED = Judged("two: fifo", "holds", "L1", True), Judged("two: causal", "refuted", "L1", True, "m1 before m2")


@pytest.mark.parametrize(
    ("judged", "expects", "said"),
    [
        ((HOLDS, HOLDS, HOLDS), False, "3 of 3 hold"),
        ((Judged("a", "proved", "L3", True),), False, "1 of 1 proved"),
        ((HOLDS, REFUTED), True, "1 of 2 hold, causal refuted as expected"),
        ((HOLDS, Judged("two: causal", "refuted", "L1", False)), False, "1 of 2 hold, causal refuted"),
        ((Judged("two: causal", "refuted", "L1", False),), True, "causal refuted, not as expected"),
        ((Judged("two: causal", "holds", "L1", False),), True, "1 of 1 hold, causal holds, not as expected"),
        ((Judged("x", "unknown", "L1", False, "", "out of memory"),), True, "x unknown (out of memory)"),
        ((Judged("x", "unknown", "L1", False, "", "why"),) * 2, False, "2 unknown (why)"),
        ((Judged("x", "unknown", "L1", True, "", "why"),), True, "x not shown, as expected"),
        ((), False, "nothing is stated here"),
    ],
)
def test_verdicts_in_few_words(judged: tuple[Judged, ...], expects: bool, said: str) -> None:
    assert summary(Outcome(judged), expects) == said


def test_verdicts_in_full_and_in_the_text() -> None:
    outcome = Outcome((HOLDS, REFUTED), seconds=1.5)
    assert "two: causal: refuted, L1\n    m1 before m2" in told(outcome, True)
    scope = places(Analysis(RST, "r"))[0]
    [shown] = conversions.verdict_diagnostics(scope, outcome, Positions(RST))
    assert shown.severity is DiagnosticSeverity.Information, "this scope expects nothing"
    assert shown.message == "one: causal refuted\nm1 before m2"
    assert summary(Outcome(failed="out of memory"), True) == "not finished: out of memory"
