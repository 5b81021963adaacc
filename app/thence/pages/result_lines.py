"""Results as lines of a table: results of one exploration or proof share a line, and their counts stand there once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from thence.dsl.check.workloads.settings import links_setting
from thence.dsl.write.settings import given_text, setting_text
from thence.spec.verdict import Result, Verdict
from thence.spec.words import counted, percent

_FAULTS = {"losses": "lost", "duplicates": "duplicated"}

_COUNTED = ("obligations", "states", "transitions", "cases", "events", "assertions", "failures")


@dataclass(frozen=True, slots=True)
class Line:
    """One line: results with the same subject, verdict and counts, from the same exploration or proof.

    Attributes:
        first: the first of the results; verdict, counts and the rest are those of all.
        statement: `two: causal, fifo`.
        seconds: of the whole line; an exploration is counted once.
        statements: how many results share it.
    """

    first: Result
    statement: str
    seconds: float
    statements: int


def lines(results: Sequence[Result], *, explained: bool = False) -> Iterator[Line]:
    """The lines of a table; with `explained`, results with different explanations do not share a line."""

    def together(result: Result) -> tuple[object, ...]:
        shared = result.kind in ("scope", "mutant", "machine", "scenario")
        prefix = result.name.rpartition(": ")[0] if shared else result.name
        alike = result.kind, result.subject, prefix, result.verdict, result.level, result.expected, counts(result)
        return (*alike, result.explanation if explained else "")

    for _, same in groupby(results, together):
        group = list(same)
        explored = "states" in group[0].facts
        seconds = group[0].seconds if explored else sum(one.seconds for one in group)
        yield Line(group[0], statement(group), seconds, len(group))


def statement(results: Sequence[Result]) -> str:
    """`scope: causal, fifo`, for results with the same prefix before the colon."""
    prefix, colon, _ = results[0].name.rpartition(": ")
    return f"{prefix}{colon}{', '.join(result.name.rpartition(': ')[2] for result in results)}"


def counts(result: Result) -> str:
    """The numbers of a result in words, and what limits its verdict."""
    return "; ".join((*numbers_of(result), *own(result)))


def numbers_of(result: Result) -> list[str]:
    """The size of the scope, and the numbers of a result, in words."""
    facts = result.facts
    shown = []
    if result.kind in ("scope", "mutant", "link") and isinstance(facts.get("scope"), Mapping):
        shown.append(", ".join((size(facts["scope"]), *_told_by_its_name(facts["scope"]))))
    shown += [
        _count(facts[name], name) for name in _COUNTED if isinstance(facts.get(name), int) and _is_told(result, name)
    ]
    if isinstance(facts.get("failure_rate_bound"), float):
        bound = facts["failure_rate_bound"]
        among = facts.get("carried_through")
        tried = "" if among is None else f" in the {counted(among, 'case')} carried through"
        shown.append(f"failure rate {'<' if bound < 1 else 'up to'} {percent(bound)}{tried}")
    if facts.get("reductions"):
        shown.append(f"reduced by {', '.join(facts['reductions'])}")
    if facts.get("storage"):
        shown.append({"layers": "kept by layers", "disk": "kept in files"}[facts["storage"]])
    if isinstance(facts.get("depth"), int):
        shown.append(f"depth {facts['depth']}")
    return shown


def _is_told(result: Result, name: str) -> bool:
    """Obligations are what a proof rests on: of a statement that is not proved, or that a run shows, there are none."""
    return name != "obligations" or (result.verdict == Verdict.PROVED and result.facts[name] > 0)


def own(result: Result) -> list[str]:
    """What is said of one verdict, not of the search that it comes from: its counterexample's length, its limits."""
    found = result.facts.get("counterexample")
    return [*([f"in {_count(len(found), 'steps')}"] if isinstance(found, list) else []), *limits(result)]


def premises_words(facts: Mapping[str, Any]) -> Iterator[str]:
    """For which systems something is proved of a protocol, and what is assumed."""
    if facts.get("where"):
        yield f"where {' and '.join(facts['where'])}"
    if facts.get("assumes"):
        yield f"assumes {', '.join(facts['assumes'])}"


def limits(result: Result) -> list[str]:
    """What limits a verdict: why it is unknown, what was not tried, what could not have refuted it."""
    facts = result.facts
    shown = []
    if "unknown" in facts:
        shown.append(str(facts["unknown"]))
    if (order := facts.get("set_order")) and order["any_order"] != result.verdict.value:
        shown.append(f"only as sets are visited in ascending order: {order['any_order']} in any order")
    if result.verdict is Verdict.PROVED:
        shown += premises_words(facts)
    if facts.get("not_tried"):
        shown.append(f"not tried: {', '.join(facts['not_tried'])}")
    if facts.get("cannot_refute"):
        shown.append(f"cannot be refuted here: {facts['cannot_refute']}")
    if wholes := facts.get("as_a_whole"):
        shown.append(f"{counted(wholes['cases'], 'case')} as a whole only")
    if facts.get("asks_for_more"):
        shown.append(str(facts["asks_for_more"]))
    if facts.get("bound") and result.verdict is Verdict.HOLDS:
        shown.append(f"within {_count(facts['bound']['steps'], 'steps')} only")
    return shown


def size(scope: Mapping[str, Any]) -> str:
    """The size of a scope: processes and sends."""
    among = counted(scope["processes"], "process")
    if scope.get("unbounded"):
        return f"{among}, any number of messages"
    sends = f"sends {_each(scope['sends'])}"
    if scope.get("inputs"):
        inputs = [f"{name} {_each(limits)}" for name, limits in scope["inputs"].items()]
        sends = ", ".join([*([sends] if any(scope["sends"]) else []), *inputs])
    faults = [f"{scope[what]} {said}" for what, said in _FAULTS.items() if scope.get(what)]
    faults += [f"{counted(scope['ticks'], 'tick')} each"] if scope.get("ticks") else []
    faults += [f"{counted(number, 'tick')} of {timer} each" for timer, number in scope.get("timers", {}).items()]
    faults += [f"{name} = {given_text(value)}" for name, value in scope.get("constants", {}).items()]
    endless = ["for ever"] if any(scope.get("endless", ())) else []
    return ", ".join([among, sends, *endless, *_graph(scope), *faults])


_MANNERS = ("self sends", "destinations", "fifo", "prompt sends", "reactive sends", "capacity", "program")
"""How settings begin that a scope with a name does not repeat."""


def _told_by_its_name(scope: Mapping[str, Any]) -> list[str]:
    """What else the settings of a scope say; nothing where the scope has a name."""
    if scope.get("name") is not None:
        return []
    return [line for line in scope.get("settings", ()) if str(line).startswith(_MANNERS)]


def _graph(scope: Mapping[str, Any]) -> list[str]:
    """The tree or the links that a scope gives, in its words; nothing where it gives none."""
    said = [f"tree {', '.join(f'{a}-{b}' for a, b in scope['tree'])}"] if scope.get("tree") else []
    links = tuple((a, b) for a, b in scope.get("links", ()))
    return [*said, setting_text(links_setting(links))] if links else said


def _each(counts: Sequence[int]) -> str:
    """A number for each process."""
    return f"{counts[0]} each" if len({*counts}) == 1 else ", ".join(map(str, counts))


def _count(number: int, nouns: str) -> str:
    return f"1 {nouns.removesuffix('s')}" if number == 1 else f"{number:,} {nouns}"
