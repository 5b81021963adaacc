"""Formulas and handlers without a value in some states: each is judged by itself, in every engine.

Random protocols and formulas with partial terms are held against plain enumeration: each formula is evaluated alone in
each state that the interpreter reaches.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from thence.dsl import ir
from thence.dsl.ir.properties import undefined
from thence.dsl.load import load, load_bytes
from thence.dsl.run.actions import State
from thence.dsl.run.evaluate import Frame, Names, compile_expression
from thence.dsl.run.system import System
from thence.dsl.run.values import Fault
from thence.proofs.bounded.search import search
from thence.proofs.explore.exploration import Engine
from thence.proofs.scopes.scopes import Options, explore_scope
from thence.spec.verdict import Verdict

CASES = Path(__file__).parent / "cases"

STATE = """
  state:
    n: nat
    last: option of process
    q: queue of message
    seen: map process to process
"""
ATOMS = (
    "n@{p} < {k}", "n@{p} - 1 < {k}", "last@{p}.value = {r}", "q@{p}.first.src = {r}", "seen@{p}[{r}] = {p}",
    "last@{p} is none", "{r} in seen@{p}", "q@{p}.size < {k}", "{k} - n@{p} > 0",
)  # fmt: skip
STEPS = (
    "n := n + 1", "n := n - 1", "last := some(m.src)", "last := none", "q.push(m)", "q.pop()", "seen[m.src] := self",
    "if last.value = m.src: n := n + 1", "if q.first = m: q.pop()", "if q is not empty: q.pop()",
    "if seen[m.src] = self: n := n + 1",
)  # fmt: skip


def formula(draw: Random, depth: int = 2) -> str:
    """A formula about processes p and r."""
    if depth == 0 or draw.random() < 0.3:
        return draw.choice(ATOMS).format(p=draw.choice("pr"), r=draw.choice("pr"), k=draw.randint(0, 2))
    one, other = formula(draw, depth - 1), formula(draw, depth - 1)
    return draw.choice(
        (f"({one}) and ({other})", f"({one}) or ({other})", f"({one}) implies ({other})", f"not ({one})")
    )


def closed(draw: Random) -> str:
    body = formula(draw)
    match draw.randint(0, 3):
        case 0:
            return f"forall p: process, r: process. {body}"
        case 1:
            return f"exists p: process, r: process. {body}"
        case 2:
            return f"forall p: process. {only_p(body)}"
        case _:
            return f"not (exists p: process. {only_p(body)})"


def only_p(body: str) -> str:
    """The body about one process, which native code judges with the local steps."""
    return body.replace("@r", "@p").replace("[r]", "[p]").replace("= r", "= p").replace("r in", "p in")


def protocol_text(draw: Random) -> str:
    sends = "\n".join(f"    {draw.choice(STEPS)}" for _ in range(draw.randint(0, 2)))
    takes = "\n".join(f"    {draw.choice(STEPS)}" for _ in range(draw.randint(0, 3)))
    formulas = "\n".join(
        f"  {'reachable' if draw.random() < 0.3 else 'invariant'} f{number}: {closed(draw)}" for number in range(4)
    )
    return (
        "protocol random:\n  network reliable, reordering\n  message MSG(m: message) carries m\n"
        f"{STATE}  on causal_send(m):\n{sends}\n    send MSG(m) to m.dst\n"
        f"  on receive MSG(m) from j:\n{takes}\n    deliver m\n{formulas}\n  property at_most_once\n"
        "  eventually delivered under fair receive\n\nscope s of random:\n  processes 2\n  sends 2, 1\n"
    )


def reached(protocol: ir.Protocol, workload: ir.Workload) -> tuple[System, set[State], bool]:
    """Every state that can be reached, and whether some step is a fault."""
    system = System(protocol, workload)
    seen, frontier, faulty = {system.initial()}, [system.initial()], False
    while frontier:
        state = frontier.pop()
        for action in system.enabled(state):
            outcome = system.apply(state, action)
            faulty |= any(finding.property == "fault" for finding in outcome.findings)
            if outcome.state not in seen:
                seen.add(outcome.state)
                frontier.append(outcome.state)
    return system, seen, faulty


def expected(protocol: ir.Protocol, workload: ir.Workload) -> dict[str, Verdict]:
    """The verdict on each formula, by evaluating it alone in every state."""
    system, states, faulty = reached(protocol, workload)
    positions = {variable.name: at for at, variable in enumerate(protocol.state)}
    found = {"fault": Verdict.REFUTED if faulty else Verdict.HOLDS}
    for invariant in protocol.invariants:
        holds = compile_expression(invariant.body, Names(positions))
        values: set[bool | None] = set()
        for state in states:
            try:
                values.add(bool(holds(Frame(processes=workload.processes, all_states=system.locals_of(state)))))
            except Fault:
                values.add(None)
        if invariant.name not in protocol.witnesses:
            found[invariant.name] = Verdict.HOLDS if values == {True} else Verdict.REFUTED
        elif False in values:
            found[invariant.name] = Verdict.HOLDS
        else:
            found[invariant.name] = Verdict.UNKNOWN if None in values or faulty else Verdict.REFUTED
    return found


def typed(text: str) -> ir.Specification:
    loaded = load_bytes(Path("random.thence"), text.encode())
    assert loaded.specification is not None, (text, [diagnostic.message for diagnostic in loaded.diagnostics])
    return loaded.specification


def compared(seed: int, engine: Engine, reductions: tuple[str, ...] = ()) -> dict[str, Verdict]:
    text = protocol_text(Random(seed))
    specification = typed(text)
    (protocol,), (scope,) = specification.protocols, specification.scopes
    options = Options(engine=engine, reductions=reductions)
    results = explore_scope(protocol, scope.name, scope.workload, options=options)
    found = {str(result.facts["property"]): result.verdict for result in results}
    wanted = expected(protocol, scope.workload)
    assert {name: found[name] for name in wanted} == wanted, text
    if found["fault"] is Verdict.REFUTED:
        assert found["delivered"] in (Verdict.UNKNOWN, Verdict.REFUTED), text
    return found


def test_random_formulas_by_the_interpreter() -> None:
    met = [verdict for seed in range(150) for verdict in compared(seed, "interpreted").values()]
    assert {*met} == {Verdict.HOLDS, Verdict.REFUTED, Verdict.UNKNOWN}


def test_random_formulas_by_native_code() -> None:
    met = [verdict for seed in range(4) for verdict in compared(seed, "native").values()]
    assert {*met} >= {Verdict.HOLDS, Verdict.REFUTED}


@pytest.mark.long
@pytest.mark.parametrize("reductions", [(), ("symmetry",)], ids=["plain", "symmetry"])
def test_many_random_formulas_by_native_code(reductions: tuple[str, ...]) -> None:
    met = [verdict for seed in range(100, 160) for verdict in compared(seed, "native", reductions).values()]
    assert {*met} == {Verdict.HOLDS, Verdict.REFUTED, Verdict.UNKNOWN}


@pytest.mark.parametrize(
    "seed", [0, 1, pytest.param(2, marks=pytest.mark.long), pytest.param(3, marks=pytest.mark.long)]
)
def test_random_formulas_by_bounded_search(seed: int) -> None:
    """What bounded search violates the interpreter violates; what it says holds to the end of all runs holds."""
    specification = typed(protocol_text(Random(seed)))
    (protocol,), (scope,) = specification.protocols, specification.scopes
    wanted = expected(protocol, scope.workload)
    names = [invariant.name for invariant in protocol.invariants if invariant.name not in protocol.witnesses]
    found = search(protocol, scope.workload, (*names, "fault"), 8, timeout_ms=120_000)
    for name in (*names, "fault"):
        if name not in found.undecided and (found.ended or name in found.violations):
            assert (name in found.violations) == (wanted[name] is Verdict.REFUTED), name


# --- the cases that were found ------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["interpreted", "native"])
@pytest.mark.parametrize("processes", [2, 3])
def test_an_invariant_without_a_value_hides_no_other(engine: Engine, processes: int) -> None:
    specification = load(str(CASES / "explore_masked.thence")).specification
    assert specification is not None
    (protocol,) = specification.protocols
    others = tuple(tuple(q for q in range(processes) if q != p) for p in range(processes))
    workload = ir.Workload(processes, (2, *(0,) * (processes - 1)), others)
    results = explore_scope(protocol, None, workload, options=Options(engine=engine))
    verdicts = {result.facts["property"]: result.verdict.value for result in results}
    assert verdicts == {"causal": "refuted", "never_two": "refuted", "someone": "refuted", "fault": "holds"}
    shown = next(result for result in results if result.facts["property"] == "someone")
    assert "invariant someone has no value: value of none" in shown.explanation


FAULTY = """
protocol faulty:
  network reliable, reordering
  message MSG(m: message) carries m
  state:
    last: option of process
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j:
    if last.value = j: pass
    deliver m
  property causal
  eventually delivered under fair receive
  reachable told: exists p: process. last@p is not none

scope s of faulty:
  processes 2
  sends 1, 0
"""


def verdicts(properties: tuple[str, ...], engine: Engine) -> dict[str, str]:
    (protocol,), (scope,) = typed(FAULTY).protocols, typed(FAULTY).scopes
    results = explore_scope(protocol, None, scope.workload, (), properties, Options(engine=engine))
    return {str(result.facts["property"]): result.verdict.value for result in results}


@pytest.mark.parametrize("engine", ["interpreted", "native"])
def test_a_fault_is_the_end_of_a_run(engine: Engine) -> None:
    """No message is ever delivered, since its arrival is a fault: liveness does not hold for it."""
    found = verdicts((), engine)
    assert (found["fault"], found["delivered"], found["told"]) == ("refuted", "unknown", "unknown")
    assert found["causal"] == "unknown", "nothing is ever delivered"
    assert verdicts(("no_creation",), engine) == {"no_creation": "unknown"}, "the fault is not judged beside it"


def test_a_guard_without_a_value_is_a_fault(specify: Callable[[str], ir.Specification]) -> None:
    text = FAULTY.replace("on causal_send(m): send", "on causal_send(m) when last.value = m.dst: send")
    (protocol,), (scope,) = specify(text).protocols, specify(text).scopes
    found = {result.facts["property"]: result.verdict.value for result in explore_scope(protocol, None, scope.workload)}
    assert found["fault"] == "refuted"
    assert "holds" not in found.values()


def test_the_name_of_what_has_no_value() -> None:
    assert undefined("told") == "told has no value"
