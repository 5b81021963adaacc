"""Whatever native code finds to hold of protocols that nobody wrote, the checker confirms; with planted faults in the
reduction, it confirms nothing that the interpreter refutes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, replace

import pytest
from tests.proofs.closed.making import Searched, checked, protocol_in, searched
from tests.proofs.test_random_protocols import Draw, keep_small

from thence.dsl import ir
from thence.dsl.ir.observability import OF_DELIVERIES, OF_NETWORK_SENDS
from thence.dsl.run.actions import State
from thence.dsl.run.execute import Delivered
from thence.dsl.run.system import System
from thence.proofs.closed.check import Rejected
from thence.proofs.closed.claim import NotClaimed
from thence.proofs.closed.emitted import Visited
from thence.proofs.explore.exploration import Exploration, ExplorationRequest
from thence.proofs.explore.interpreted import Interpretation
from thence.proofs.native import symmetry
from thence.proofs.native.engine import why_not

MOST_STATES = 800
JUDGED = frozenset({"causal", "fifo", "csps", "sps", "at_most_once", "no_creation", "fault", "own", "linked"})


@dataclass(frozen=True)
class Drawn:
    """A drawn protocol, and what the interpreter finds out about it."""

    text: str
    workload: ir.Workload
    expected: Exploration

    @property
    def delivers(self) -> bool:
        """Whether some step delivers, so that anything is known about deliveries."""
        return "delivers" not in self.expected.never

    def files(self, search: Searched) -> dict[str, bytes]:
        """The claim of all that holds; of deliveries only where there are any."""
        vague = () if self.delivers else (*OF_DELIVERIES, *OF_NETWORK_SENDS)
        return search.files(name for name in search.holding if name not in vague)


def symmetric(draw: Draw, *, role: bool) -> tuple[str, ir.Workload]:
    """The drawn protocol and a workload that treats all processes alike; the protocol does, too, without a role."""
    text = draw.text()
    if not role:
        text = "\n".join(line for line in text.splitlines() if not _needs_a_role(line)) + "\n"
        for named, instead in (("p = boss", "p = p"), ("@boss", "@p"), ("boss", "self")):
            text = text.replace(named, instead)
    workload = draw.workload(protocol_in(text))
    count = workload.processes
    others = tuple(tuple(q for q in range(count) if q != p) for p in range(count))
    return text, replace(
        workload,
        sends=(1,) * count,
        destinations=others,
        groups=tuple((each,) for each in others) if workload.groups else (),
        inputs=tuple(replace(use, limits=(1,) * count) for use in workload.inputs if count < 3),
        constants=tuple((name, value) for name, value in workload.constants if role or name != "boss"),
    )


def _needs_a_role(line: str) -> bool:
    """Whether it declares the role, or is a formula about it, in which no process could stand for it."""
    return "role boss" in line or (" acted: " in line and "boss" in line)


def drawn(seeds: Iterable[int], *, role: bool = False) -> Iterator[Drawn]:
    """Those of the drawn protocols that are small, and in which no step is a fault."""
    for seed in seeds:
        text, workload = symmetric(Draw(seed), role=role)
        system = System(protocol_in(text), workload)
        assert why_not(system) is None
        expected = Interpretation(ExplorationRequest(system, JUDGED, limit=MOST_STATES)).run()
        if expected.complete and "fault" not in expected.violations:
            taken = (step for *_, step in system.steps.taken() if not isinstance(step, Exception))
            if not any(isinstance(each, Delivered) for step in taken for each in step.emissions):
                expected.never = frozenset({"delivers"})
            yield Drawn(text, workload, expected)


@pytest.mark.long(but=("0",))
@pytest.mark.parametrize("start", range(0, 400, 5))
def test_what_holds_is_confirmed_and_nothing_else(monkeypatch: pytest.MonkeyPatch, start: int) -> None:
    keep_small(monkeypatch)
    confirmed = reduced = 0
    for each in drawn(range(start, start + 5)):
        for reductions in ((), ("symmetry",)):
            search = searched(each.text, each.workload, reductions)
            found = checked(each.files(search))
            confirmed += 1
            reduced += bool(search.found.reductions)
            assert found.states == each.expected.states
            assert found.lines == search.found.states
        for name in sorted(each.expected.violations):
            with pytest.raises(Rejected, match=name):
                checked(search.files([name]))
    assert start or (confirmed and reduced)


LOST = (17, 63)
"""Drawn protocols that do not treat processes alike, so that a reduction that takes them to do so loses states."""


def believed(seeds: Iterable[int], monkeypatch: pytest.MonkeyPatch) -> Iterator[bool]:
    """Whether the checker confirms what a reduction finds that takes every protocol to treat processes alike."""
    keep_small(monkeypatch)
    monkeypatch.setattr(symmetry.Symmetry, "check", lambda *given: None)
    monkeypatch.setattr(symmetry.Symmetry, "_fixes", lambda *given: True)
    monkeypatch.setattr(symmetry, "compares_processes", lambda protocol: False)
    for each in drawn(seeds, role=True):
        try:
            search = searched(each.text, each.workload, ("symmetry",))
        except AssertionError:  # the engine itself has noticed something
            continue
        try:
            found = checked(each.files(search))
        except (Rejected, NotClaimed):
            yield False
            continue
        assert found.states >= each.expected.states
        assert not each.expected.violations.keys() & {*search.holding}
        yield True


def test_a_reduction_that_loses_states_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [*believed(LOST, monkeypatch)] == [False] * len(LOST)


@pytest.mark.long(share=1)
@pytest.mark.parametrize("start", range(0, 400, 10))
def test_a_reduction_that_asks_nothing_is_not_believed(monkeypatch: pytest.MonkeyPatch, start: int) -> None:
    assert [*believed(range(start, start + 10), monkeypatch)]


MERGED: dict[str, Callable[[State], Hashable]] = {
    "histories": lambda state: state._replace(history=None),  # type: ignore[arg-type]
    "who did what": lambda state: (sorted(state.locals), sorted(state.sends), len(state.network)),
    "packets in flight": lambda state: (state.locals, len(state.network), state[2:]),
}
"""Faults of a search that takes states for one: by what it tells them apart."""


@pytest.mark.long(but=("histories",))
@pytest.mark.parametrize("merged", MERGED)
def test_a_search_that_merges_too_much_is_seen(merged: str) -> None:
    rejected = 0
    for each in drawn(range(0, 4)):
        system = System(protocol_in(each.text), each.workload)
        visited = Visited()
        visited.take(system, _merging(system, lambda state: repr(MERGED[merged](state))), ())
        if visited.states < each.expected.states:
            search = Searched(each.text, each.workload, frozenset({"at_most_once"}), each.expected, visited)
            with pytest.raises(Rejected, match="not in the set"):
                checked(search.files(["no_creation"] if each.delivers else ["fault"]))
            rejected += 1
    assert rejected


def _merging(system: System, told_apart: Callable[[State], Hashable]) -> list[State]:
    """The states that a search visits which takes those for one that are not told apart."""
    found = {told_apart(system.initial()): system.initial()}
    frontier = [system.initial()]
    while frontier:
        state = frontier.pop()
        for action in system.enabled(state):
            after = system.apply(state, action).state
            if told_apart(after) not in found:
                found[told_apart(after)] = after
                frontier.append(after)
    return list(found.values())
