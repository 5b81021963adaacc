"""Diagnostics: the faults of a text, with codes, places and notes.

A diagnostic has a stable code. The catalogue below gives each code's meaning in one sentence; the
message of a diagnostic says it for the case at hand. Adding a code is one line in the catalogue, one
explanation in the folder `codes`, and one golden fixture named after it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from thence.dsl.text.syntax import Span

Severity: TypeAlias = Literal["error", "warning"]

CODES: dict[str, str] = {
    # E01xx: text and syntax
    "E0101": "The file is not UTF-8 text.",
    "E0102": "A character that the language does not use.",
    "E0103": "A `:` is missing between a header and its block.",
    "E0104": "A tab in the indentation or between words; indentation is spaces only.",
    "E0105": "A line is indented to a depth that no enclosing block has.",
    "E0106": "A line is indented deeper although no block starts there.",
    "E0107": "A header that ends with `:` has no body.",
    "E0108": "A bracket is opened and never closed.",
    "E0109": "A closing bracket without an opening one, or of another kind.",
    "E0110": "A documentation string is not closed.",
    "E0111": "`=` where `:=` is meant, or `:=` where `=` is meant.",
    "E0112": "`==` where `=` is meant.",
    "E0113": "`&&`, `||` or `!` of other languages where `and`, `or` or `not` is meant.",
    "E0114": "A word where a keyword is expected, such as a misspelt one.",
    "E0115": "The `from NAME` of a receive is missing.",
    "E0116": "The `to PROCESS` of a send, or the `to` of a declaration, is missing.",
    "E0117": "An `else` without an `if` above it.",
    "E0118": "A number, keyword or symbol where a name is expected.",
    "E0119": "An expression is missing or unfinished.",
    "E0120": "Something is left over after a complete line.",
    "E0121": "Comparisons do not chain: `a < b < c` is `a < b and b < c`.",
    "E0122": "The left side of `:=` is not a place.",
    "E0123": "A change of state, such as `q.pop()`, stands as a statement of its own.",
    "E0124": "A line that does nothing: neither an update nor a call.",
    "E0125": "The `.` or `:` after the variables of a quantifier or update is missing.",
    "E0126": "A type is expected.",
    "E0127": "Text in quotes other than a documentation string in triple quotes.",
    "E0128": "A name or number is malformed, such as `2pc` or a number of more than 18 digits.",
    "E0129": "A word with which other languages write what this one writes differently (`elif`, `func`, `val`).",
    "E0130": "A setting, clause or item is given twice where once is the most.",
    "E0131": "The token does not fit here.",
    "E0132": "A verdict is expected: `proved`, `holds`, `refuted` or `unknown`.",
    "E0133": "`not` binds less tightly than the operator before it: parentheses are missing.",
    "E0134": "A documentation string stands where none can stand.",
    "E0135": "A connecting word is missing, such as `of`, `in`, `is`, `then`.",
    "E0136": "A number is expected.",
    "E0150": "The file is too large.",
    "E0151": "A line is too long.",
    "E0152": "The text is nested too deeply.",
    "E0153": "The file has more faults than are reported at once.",
    # E02xx: names
    "E0201": "A name is used that nothing in reach declares or binds.",
    "E0202": "A type is used that is neither built in nor declared.",
    "E0203": "A procedure is called that the protocol does not have.",
    "E0204": "A packet kind is used that the protocol does not declare.",
    "E0205": "A relation or function is used that is neither built in nor declared.",
    "E0206": "A value has no such field or query.",
    "E0207": "`X@p` names something that is not a state variable.",
    "E0208": "A name is declared twice.",
    "E0209": "A local name hides another name that is in reach.",
    "E0210": "A theory, machine, protocol or subject of this name is not in the file.",
    "E0211": "A record is constructed that the protocol does not declare.",
    "E0212": "A name that the language keeps for itself is declared.",
    "E0213": "A collection has no such operation.",
    # E03xx: types
    "E0301": "A value has another type than its place takes.",
    "E0302": "The number of arguments is not the number of parameters.",
    "E0303": "The type of a name cannot be found out from its use; it has to be written.",
    "E0304": "The type of `empty`, `none` or `window` cannot be found out from where it stands.",
    "E0305": "An order comparison between values that have no order.",
    "E0306": "An index, `in` or emptiness test on a value that is not such a collection.",
    "E0307": "A record is constructed with a field missing, repeated or unknown.",
    "E0308": "A quantifier over a type with values without end or meaning, and without a domain.",
    "E0310": "A state variable whose type has no zero has no initial value.",
    "E0311": "A relation, function, procedure or type stands where a value is expected.",
    "E0312": "A record contains itself.",
    "E0313": "A type is not available where it is used.",
    "E0314": "A form of expression is not available where it is used.",
    "E0315": "A loop over something that has no elements.",
    # E04xx: rules of protocols
    "E0401": "`X@p` stands outside properties: a process sees only its own state.",
    "E0402": "A property reads a state variable without saying whose.",
    "E0403": "What is to be changed is not a place.",
    "E0404": "A constant that `let` made is changed.",
    "E0405": "A parameter, loop variable or bound variable is changed.",
    "E0406": "Procedures call one another in a circle.",
    "E0407": "A statement of machines stands in a protocol.",
    "E0408": "A protocol has neither an `on causal_send` handler nor an input of its own.",
    "E0409": "The words of the network line are unknown, repeated or contradict one another.",
    "E0410": "A property is not one that protocols can have.",
    "E0411": "`carries` does not name a parameter that is a message.",
    "E0412": "A property speaks of network sends, but no packet kind carries a message.",
    "E0413": "`eventually` or `under fair` names something that it does not take.",
    "E0414": "`self` stands outside handlers and procedures.",
    "E0415": "A handler quantifies over all messages, which no process can see.",
    "E0416": "A handler's parameters are not those of its event.",
    "E0417": "The program text cannot be a `for ref` over this collection: its elements are not places.",
    "E0418": "The word of the delivery line is unknown, or it is said twice.",
    "E0419": "`dst` is used where a message has a set of destinations.",
    "E0420": "A definition is defined by itself.",
    "E0421": "A definition reads what is out of reach where it is used.",
    "E0422": "What a definition stands for is too large.",
    "E0423": "A parameter of an input is not a nat, a bool or a process.",
    "E0424": "A property of messages of the application, in a protocol whose application sends none.",
    "E0425": "A constant is not declared as a nat or a bool, or a role not as a process.",
    "E0426": "The value of a constant or role is not of its type.",
    # E05xx: rules of machines and theories
    "E0433": "`leads to` stands somewhere else than around the formula of an `eventually`.",
    "E0434": "A `leads to` is for each of something else than all processes.",
    "E0435": "packets in flight where they are not seen",
    "E0436": "A formula about an action stands where no step is judged.",
    "E0501": "A statement of protocols stands in a machine.",
    "E0502": "A relation or function that the tool keeps is updated or declared.",
    "E0503": "Something is updated that the machine does not declare.",
    "E0504": "A transition updates the same relation or function twice.",
    "E0505": "An argument of an update is not a parameter or a `forall` name, or a `forall` name is not an argument.",
    "E0506": "A machine lacks the transition `causal_send(m)` or `deliver(m)` (in multicast, `deliver(m, p)`).",
    "E0507": "The parameters of `causal_send` or `deliver` are not the message (and, in multicast, the process).",
    "E0508": "`prove` names neither an invariant nor a built-in property.",
    "E0509": "A property speaks of network sends, but the machine has no `relation network_sent(m: message)`.",
    "E0510": "A theorem names a property that its theory does not have.",
    "E0511": "Induction on something that is not an inductive relation.",
    "E0512": "The number of induction variables is not the number of the relation's parameters.",
    "E0513": "`needs` names a property that is not assumed.",
    "E0514": "An inductive relation stands negatively in its own rules.",
    "E0515": "A theorem or machine proves nothing.",
    "E0516": "A theorem assumes what it proves.",
    "E0518": "A message's attribute is written as in protocols; here `src` and `dst` are functions.",
    "E0519": "An invariant takes the name of a built-in property.",
    "E0520": "An axiom speaks about something that transitions change.",
    "E0521": "A machine cannot declare this sort: processes and messages are built in.",
    "E0522": "A theorem uses a theorem that does not stand before it, or that is not proved.",
    "E0523": "A machine's first values are given by something that changes.",
    "E0530": "A machine's `eventually` waits for a step that is none of its transitions, for a send, or for no step.",
    "E0532": "The steps that are waited for are counted by numbers, or by an order: there may be infinitely many.",
    # E06xx: scopes, links, mutants, expectations, scenarios
    "E0601": "A scope of this name does not exist for the protocol.",
    "E0602": "The number of processes, sends, faults or ticks is out of range.",
    "E0603": "The list of sends does not have one number for each process.",
    "E0604": "A destination or sender is not one of the processes.",
    "E0605": "A process sends to itself without `self sends`.",
    "E0606": "A clause names a transition that the machine does not have.",
    "E0607": "The pattern of a clause does not fit the event or packet kind.",
    "E0608": "Two clauses are about the same event.",
    "E0609": "A link lacks the clause for causal sends or deliveries, or lets it be another transition.",
    "E0610": "A mutant changes nothing.",
    "E0611": "A mutant restates something that its subject cannot have.",
    "E0612": "An expectation is about a name that the subject does not have.",
    "E0613": "An expectation is of a verdict that cannot come out there.",
    "E0614": "An expectation names a scope or settings where none may stand.",
    "E0615": "Two expectations contradict each other.",
    "E0616": "An expectation is about a link, but the subject has none.",
    "E0617": "A process is to send but has nobody to send to.",
    "E0618": "A link's machine quantifies over all numbers or counts in a transition, which cannot be run.",
    "E0619": "A link is between a protocol and a machine that have different messages.",
    "E0620": "The destinations of a scope do not fit the protocol's kind of delivery.",
    "E0621": "Settings of a scope do not go together, or not with the protocol's network.",
    "E0622": "The edges of a tree network are not a tree of all processes.",
    "E0623": "A scope counts the ticks of a timer that the protocol does not have.",
    "E0624": "A scope is about an input, or a parameter of one, that the protocol does not have.",
    "E0625": "A scope says how messages are sent, but the protocol's application sends none.",
    "E0626": "A scope or scenario gives a value to a constant or role that the protocol does not have.",
    "E0627": "The value of a constant or role in a scope or scenario is of another type, or no process.",
    "E0628": "An edit of a mutant names a statement that is not there, or one of several that are equal.",
    "E0629": "A mutant changes a part that its subject does not have, or that it restates as well.",
    "E0630": "A scenario does not name its processes, or names one that is not among them.",
    "E0631": "The step of a scenario does not fit the protocol: its destinations, packet, network or timers.",
    "E0632": "The links of an overlay have one from a process to itself, or one twice.",
    "E0640": "A declaration takes a name under which the tool reports results of its own.",
    "E0641": "Two statements of a subject, or two declarations of a file, have the same name.",
    "E0642": "A relation or function of a machine is changed by no transition, and is not declared as a constant.",
    "E0643": "A transition changes a constant.",
    "E0644": "A link says `eventually delivered by` of what its machine or protocol does not state.",
    # W09xx: warnings
    "W0901": "A state variable is never used.",
    "W0902": "A packet kind is never sent.",
    "W0903": "A packet kind has no handler: such packets are received and ignored.",
    "W0904": "A procedure is never called.",
    "W0905": "A function into message: counterexamples are hard to find with it.",
    "W0906": "A mutant adds something that its subject does not have.",
    "W0907": "A protocol never delivers a message.",
    "W0908": "A statement is never reached.",
    "W0909": "A scope has faults that the protocol's network does not have.",
    "W0910": "A scope has ticks, but the protocol does nothing periodically.",
    "W0911": "A mutant restates a declaration without changing it.",
    "W0912": "Destinations are given, but not for every process that sends.",
    "W0913": "A program receives more or fewer messages than are sent to its process.",
    "W0914": "A scope asks for FIFO channels, which the protocol's network has anyway.",
    "W0916": "An input of the protocol never comes in a scope.",
    "W0917": "The network may lose or duplicate packets, and does so in no scope of the file.",
    "W0918": "A timer fires in no scope of the file before the end of a run.",
    "W0930": "A packet holds messages and does not say which one it carries.",
    "W0931": "A definition is never used.",
    "W0932": "A constant or role is never used.",
    "W0933": "The first value of its type is assigned to a key of a map whose keys are asked for.",
    "W0934": "A declaration has a name of its own that hides a definition of the file.",
    "W0920": "A parameter of the system is not declared as a constant.",
}

_EXCERPT_WIDTH = 160


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One fault of a text: `code` is in the catalogue, `notes` are whole sentences that help."""

    code: str
    severity: Severity
    message: str
    file: str
    span: Span
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        assert self.code in CODES, f"{self.code} is not in the catalogue"

    def to_json(self) -> dict[str, object]:
        """The stable JSON form, as DESIGN.md lists its fields."""
        return {
            "code": self.code,
            "severity": self.severity,
            "message": self.message,
            "file": self.file,
            "line": self.span.line,
            "column": self.span.column,
            "end_line": self.span.end_line,
            "end_column": self.span.end_column,
            "notes": list(self.notes),
        }


class SourceText:
    """A text under its file name, as lines; lines and columns count from 1, columns in characters."""

    __slots__ = ("file", "lines", "text")

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.text = text
        self.lines = text.replace("\r\n", "\n").split("\n")

    def line(self, number: int) -> str:
        """The text of a line, empty when there is no such line."""
        return self.lines[number - 1] if 1 <= number <= len(self.lines) else ""


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    """Whether any of them is an error."""
    return any(diagnostic.severity == "error" for diagnostic in diagnostics)


def in_reading_order(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Sorted by place, then by code; duplicates (same code at the same place) removed."""
    kept: dict[tuple[str, int, int, str], Diagnostic] = {}
    for diagnostic in diagnostics:
        kept.setdefault((diagnostic.file, diagnostic.span.line, diagnostic.span.column, diagnostic.code), diagnostic)
    return tuple(kept[key] for key in sorted(kept))


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate that the writer most likely meant, or None when none is near."""
    pool = sorted(set(candidates) - {name, ""})
    folded = {candidate.casefold(): candidate for candidate in reversed(pool)}
    if name.casefold() in folded:
        return folded[name.casefold()]
    written = name[:80].casefold()
    cutoff = 0.6 if len(name) > 3 else 0.5
    matches = difflib.get_close_matches(written, folded, n=4, cutoff=cutoff)
    slips = max(2, len(written) // 3) if len(written) > 3 else 1 if len(written) > 1 else 0
    near = {match: _slips(written, match) for match in matches}
    best = min(near, key=lambda match: near[match], default=None)
    return folded[best] if best is not None and near[best] <= slips else None


def _slips(one: str, other: str) -> int:
    """How many slips make one word of another: a letter left out, added, mistaken, or two letters exchanged."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        earlier, before, row = before, row, [i]
        for j, wanted in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                cost = min(cost, earlier[j - 2] + 1)
            row.append(cost)
    return row[-1]


def did_you_mean(name: str, candidates: Iterable[str]) -> tuple[str, ...]:
    """A note that proposes the nearest candidate; no note when none is near."""
    match = nearest(name, candidates)
    return (f"did you mean `{match}`?",) if match is not None else ()


def render(diagnostic: Diagnostic, source: SourceText | str) -> str:
    """The diagnostic as people read it: message, place, the line at fault with carets under it, notes.

    ```
    error[E0112]: `==` is not an operator
      --> cykas.thence:12:10
       |
    12 |   if MODE == 0: return
       |           ^^
       = note: equality is `=`
    ```
    """
    if isinstance(source, str):
        source = SourceText(diagnostic.file, source)
    span = diagnostic.span
    head = f"{diagnostic.severity}[{diagnostic.code}]: {_printable(diagnostic.message)}"
    if span.line < 1:
        return "\n".join([head, f" --> {diagnostic.file}", *(f"  = note: {note}" for note in diagnostic.notes)]) + "\n"
    number = str(span.line)
    gutter = " " * len(number)
    lines = [head, f"{gutter}--> {diagnostic.file}:{span.line}:{span.column}"]
    excerpt, carets = _excerpt(source.line(span.line), span)
    lines += [f"{gutter} |", f"{number} | {excerpt}".rstrip(), f"{gutter} | {carets}"]
    lines += [f"{gutter} = note: {_printable(note)}" for note in diagnostic.notes]
    return "\n".join(lines) + "\n"


def render_all(diagnostics: Iterable[Diagnostic], source: SourceText | str) -> str:
    """Every diagnostic, separated by blank lines."""
    return "\n".join(render(diagnostic, source) for diagnostic in diagnostics)


def _excerpt(line: str, span: Span) -> tuple[str, str]:
    """The line at fault, cut to a window around the fault, and the carets that go under it."""
    start = max(span.column - 1, 0)
    end = max(len(line), start + 1) if span.end_line > span.line else max(span.end_column - 1, start + 1)
    left = max(0, min(start - _EXCERPT_WIDTH // 2, len(line) - _EXCERPT_WIDTH))
    window = line[left : left + _EXCERPT_WIDTH]
    before, after = ("...", "") if left else ("", "")
    if left + _EXCERPT_WIDTH < len(line):
        after = "..."
    offset = len(before) + start - left
    width = max(1, min(end, left + len(window)) - start)
    return before + _printable(window) + after, " " * offset + "^" * width


def _printable(text: str) -> str:
    """Tabs as one blank and other invisible characters as `?`, so that columns stay where they are."""
    return "".join(c if c.isprintable() else " " if c == "\t" else "?" for c in text)
