"""Histories: every reachable state is explained by an execution that leaves exactly it; others are not explained."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from thence.dsl import ir
from thence.dsl.load import load_bytes
from thence.proofs.logic.structure import Structure, evaluate
from thence.proofs.machine import history
from thence.proofs.machine.history import TooManyOrders, happenings, plausible
from thence.proofs.machine.prover import prove_machine
from thence.proofs.machine.transitions import actions, enabled, initial, step, symbols
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import SolverPool
from thence.spec.verdict import Verdict

Specify = Callable[[str], ir.Specification]

UNICAST = """
machine plain:
  transition causal_send(m): pass
  transition deliver(m):
    require sent(m) and not delivered(m)
  prove no_creation
"""
MULTICAST = """
machine plain:
  delivery multicast
  transition causal_send(m): pass
  transition deliver(m, p):
    require sent(m) and to(m, p) and not delivered(m, p)
  prove no_creation
"""
PROCESSES, MESSAGES = 3, 3
HISTORY = ("sent", "delivered", "before", "past", "hb", "delivered_before")


def machine_of(text: str) -> ir.Machine:
    from pathlib import Path

    specification = load_bytes(Path("test.thence"), text.encode()).specification
    assert specification is not None
    return specification.machines[0]


MACHINES = {"unicast": machine_of(UNICAST), "multicast": machine_of(MULTICAST)}


def start(machine: ir.Machine, ends: list[tuple[int, list[int]]]) -> Structure:
    """The initial state in which the messages go from and to these processes."""
    rigid: dict[str, dict[tuple[int, ...], int | bool]] = {"src": {(m,): source for m, (source, _) in enumerate(ends)}}
    if machine.delivery == "unicast":
        rigid["dst"] = {(m,): to[0] for m, (_, to) in enumerate(ends)}
    else:
        rigid["to"] = {(m, p): p in to for m, (_, to) in enumerate(ends) for p in range(PROCESSES)}
    return initial(machine, {"process": PROCESSES, "message": MESSAGES}, rigid)


ENDS = st.lists(
    st.tuples(
        st.integers(0, PROCESSES - 1), st.lists(st.integers(0, PROCESSES - 1), min_size=1, max_size=2, unique=True)
    ),
    min_size=MESSAGES,
    max_size=MESSAGES,
)


def walked(machine: ir.Machine, ends: list[tuple[int, list[int]]], data: st.DataObject) -> Structure:
    """The state after some steps."""
    state = start(machine, ends)
    calls = [
        (action, arguments)
        for action in actions(machine)
        for arguments in (
            [(m,) for m in range(MESSAGES)]
            if len(action.parameters) == 1
            else [(m, p) for m in range(MESSAGES) for p in range(PROCESSES)]
        )
    ]
    for _ in range(data.draw(st.integers(0, 7))):
        possible = [call for call in calls if enabled(*call, state)]
        if not possible:
            break
        state = step(*data.draw(st.sampled_from(possible)), state)
    return state


@pytest.mark.parametrize("delivery", MACHINES)
@given(ends=ENDS, data=st.data())
@settings(derandomize=True, deadline=None, max_examples=60)
def test_a_reachable_history_is_explained_exactly(
    delivery: str, ends: list[tuple[int, list[int]]], data: st.DataObject
) -> None:
    machine = MACHINES[delivery]
    state = walked(machine, ends, data)
    found = happenings(state)
    assert found is not None
    again = start(machine, ends)
    named = {action.name: action for action in actions(machine)}
    for message, process in found:
        if process is None:
            again = step(named["causal_send"], (message,), again)
        else:
            again = step(named["deliver"], (message,) if delivery == "unicast" else (message, process), again)
    assert {name: again.tables[name] for name in HISTORY} == {name: state.tables[name] for name in HISTORY}
    for formula in plausible(machine.delivery):
        assert evaluate(formula.body, state, {}), formula.name


@pytest.mark.parametrize("delivery", MACHINES)
@given(ends=ENDS, data=st.data())
@settings(derandomize=True, deadline=None, max_examples=60)
def test_a_history_with_one_fact_more_or_less_is_explained_only_as_it_is(
    delivery: str, ends: list[tuple[int, list[int]]], data: st.DataObject
) -> None:
    machine = MACHINES[delivery]
    state = walked(machine, ends, data)
    name = data.draw(st.sampled_from(HISTORY))
    table = dict(state.tables[name])
    assume(table)
    key = data.draw(st.sampled_from(sorted(table)))
    changed = state.with_tables({name: {**table, key: not table[key]}})
    found = happenings(changed)
    if found is not None:
        again = start(machine, ends)
        named = {action.name: action for action in actions(machine)}
        for message, process in found:
            arguments = (message,) if process is None or delivery == "unicast" else (message, process)
            again = step(named["causal_send" if process is None else "deliver"], arguments, again)
        assert {each: again.tables[each] for each in HISTORY} == {each: changed.tables[each] for each in HISTORY}


def test_a_past_from_nowhere_is_not_explained() -> None:
    state = start(MACHINES["unicast"], [(0, [1]), (1, [0]), (2, [0])])
    sent = step(actions(MACHINES["unicast"])[0], (0,), state)
    assert happenings(sent) == ((0, None),)
    knows = sent.with_tables({"past": {**sent.tables["past"], (2, 0): True}})
    assert happenings(knows) is None
    assert not all(evaluate(formula.body, knows, {}) for formula in plausible("unicast"))


def test_the_limit_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "LIMIT", 1)
    state = start(MACHINES["unicast"], [(0, [1]), (1, [0]), (2, [0])])
    for message in range(MESSAGES):
        state = step(actions(MACHINES["unicast"])[0], (message,), state)
    with pytest.raises(TooManyOrders):
        happenings(state)


BUFFER = """
machine buffer:
  relation held(m: message)
  transition causal_send(m): pass
  transition hold(m):
    require sent(m)
    held(m) := true
  transition deliver(m):
    require {guard} and not delivered(m)
  invariant {name}: {formula}
  prove no_creation
"""


def test_a_step_that_breaks_an_invariant_is_drawn(specify: Specify, pool: SolverPool) -> None:
    """Nothing says that what is held was sent; the smallest step in which that shows has an execution."""
    text = BUFFER.format(guard="held(m)", name="quiet", formula="forall m. delivered(m) implies held(m) and sent(m)")
    machine = specify(text).machines[0]
    findings, _ = prove_machine(ProofSession(pool), machine)
    lost = findings["quiet"]
    assert lost.verdict is Verdict.UNKNOWN
    shown = lost.facts["counterexample"]
    assert shown["before"].count("held(m1)") == 1
    assert "no execution has this history" not in lost.text
    assert shown["execution"]["events"]
    assert lost.picture.startswith("<svg")
    assert "■" in lost.text or "●" in lost.text


def test_symbols_of_the_history_are_those_of_machines() -> None:
    for machine in MACHINES.values():
        assert set(HISTORY) <= {symbol.name for symbol in symbols(machine)}
