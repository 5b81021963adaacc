"""What a step changes, as a failure shows it, held against the interpreter and the machine's own meaning."""

from __future__ import annotations

import re
from collections import Counter
from random import Random

import pytest
from tests.proofs.refinement.test_drawing import link_of, signs
from tests.proofs.refinement.test_execution import (
    Drawn,
    Reader,
    Way,
    compare,
    drawn_link,
    is_machine,
    taken,
    without_requirements,
)

from thence.dsl.ir.types import BOOL
from thence.dsl.run.execute import Sent
from thence.dsl.run.interpreter import Step
from thence.dsl.run.values import show
from thence.proofs.logic.structure import Structure
from thence.proofs.machine.transitions import symbols
from thence.proofs.refinement.drawing import Layers, changes, reader_of
from thence.proofs.refinement.failure import Failure
from thence.proofs.refinement.obligations import causes
from thence.proofs.solving.finite_models import Model


def named(line: str, drawn: Drawn) -> str:
    numbers = {message.name: f"m{at}" for at, message in enumerate(drawn.messages, 1)}
    return re.sub(r"\bm\d+\.\d+", lambda found: numbers[found[0]], line)


@pytest.mark.parametrize("name", ["fifo", "mf", "tree", "chandy_lamport", *map(str, range(3))])
def test_changes_are_those_of_the_interpreter(name: str) -> None:
    link = without_requirements(drawn_link(int(name)) if name.isdigit() else link_of(name))
    happened: Counter[bool] = Counter()

    def seen(drawn: Drawn, way: Way, reader: Reader, result: Step) -> None:
        shown = changes(link, way.state, reader_of(Model(drawn.structure, reader.environment)))
        process = reader.environment["#self"]
        expected = []
        for variable, was, now in zip(link.protocol.state, drawn.locals[process], result.state, strict=True):
            if was != now:
                before, after = (named(show(each, variable.type), drawn) for each in (was, now))
                expected.append(f"{variable.name}: {before} becomes {after}")
        kinds = {kind.name: kind for kind in link.protocol.packets}
        for one in result.emissions:
            if isinstance(one, Sent):
                pairs = zip(one.arguments, kinds[one.kind].parameters, strict=True)
                said = ", ".join(named(show(value, parameter.type), drawn) for value, parameter in pairs)
                expected.append(f"now in flight: {one.kind}({said}) from p{process} to p{one.to}")
        assert sorted(map(signs, shown.protocol)) == sorted(map(signs, expected))
        assert is_machine(reader, way, machine_of(drawn, shown))
        happened[bool(expected)] += 1
        happened[bool(shown.machine)] += 1

    known = [taken(link, cause, 1) for cause in causes(link)]
    for seed in range(12):
        drawn = Drawn(link, 2 + seed % 2, Random(seed))
        for each in known:
            compare(drawn, each, seen)
    assert happened[True] > 10


def machine_of(drawn: Drawn, shown: Layers) -> Structure:
    """The machine after the changes that are shown."""
    tables = {name: dict(table) for name, table in drawn.structure.tables.items()}
    results = {symbol.name: symbol.result for symbol in symbols(drawn.link.machine)}
    for line in shown.machine:
        found = re.fullmatch(r"(not )?(\w+)(?:\((.*)\))?(?: = (.*))?", line)
        assert found is not None, line
        no, name, key, value = found.groups()
        elements = tuple(map(element, key.split(", "))) if key else ()
        result = results[name]
        assert (value is None) == (result == BOOL), line
        tables[name][elements] = element(value) if value is not None else not no
    return Structure(drawn.structure.universe, tables)


def element(name: str) -> int:
    """The element with this name."""
    return int(name[1:]) - 1 if name.startswith("m") else int(name.removeprefix("p"))


@pytest.mark.parametrize("width", [20, 60])
def test_layers_that_do_not_fit_side_by_side_stand_one_below_the_other(width: int) -> None:
    state = Layers(("a" * width, "b"), ("c" * width,))
    failure = Failure(("left", "right"), "o", "p0: act", state, (state,), state, ("false",))
    lines = failure.text()
    beside = [line for line in lines if "a" * width in line and "c" * width in line]
    assert len(beside) == (3 if width == 20 else 0)
    assert sum(("a" * width in line) + ("c" * width in line) for line in lines) == 6
    assert all(len(line) <= 92 for line in lines)
    json = failure.to_json()
    assert Failure.from_json(json) == failure
    assert len(failure.text(30)) == len(failure.text(10)) == len(Failure.from_json(json).text(10)) == 19
    assert json["protocol"] == {"name": "left", "before": ["a" * width, "b"], "changes": ["a" * width, "b"]}
    assert json["machine"] == {"name": "right", "before": ["c" * width], "changes": ["c" * width]}
