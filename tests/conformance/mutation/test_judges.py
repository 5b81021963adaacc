"""What becomes of mutants of protocols, machines and implementations."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from thence.conformance.conform.conform import settings_for
from thence.conformance.mutation import implementation_judge
from thence.conformance.mutation.equality import StepRecord
from thence.conformance.mutation.fate import Fate
from thence.conformance.mutation.implementation_judge import (
    ImplementationBaseline,
    ImplementationJudge,
    implementation_baseline,
    implementation_mutants,
    implementation_text,
    load_mutant,
)
from thence.conformance.mutation.machine_judge import FAST, judge_machine, machine_baseline
from thence.conformance.mutation.mutants import Mutant, meaning, specification_mutants
from thence.conformance.mutation.protocol_judge import MUTANT_STATES, Baseline, baseline, judge_protocol
from thence.conformance.mutation.run import implementation_settings
from thence.conformance.replay.findings import CaseFinding
from thence.conformance.systems.subject import SubjectError, load_subject
from thence.dsl import ir
from thence.dsl.load import Loaded, load, load_bytes
from thence.impl.mf import MF
from thence.proofs.prove import solver_pool
from thence.proofs.solving.solver import SolverPool


@cache
def known(name: str) -> tuple[Loaded, ir.Specification, Baseline]:
    loaded = load(name)
    assert loaded.specification is not None
    return loaded, loaded.specification, baseline(loaded.specification, loaded.specification.protocols[0], 5_000)


def fates(name: str) -> Iterator[tuple[Mutant, Fate]]:
    loaded, specification, found = known(name)
    for mutant in specification_mutants(loaded, specification.protocols[0]):
        changed = meaning(mutant)
        if changed is not None:
            yield mutant, judge_protocol(found, changed.protocols[0])


@pytest.mark.long
def test_a_protocol() -> None:
    """Every mutant of the buffer protocol is killed, or is equal in scope."""
    found = list(fates("mf"))
    outcomes = Counter(fate.outcome for _, fate in found)
    assert outcomes.keys() <= {"killed", "equal"}, [mutant.diff for mutant, fate in found if fate.outcome == "survived"]
    assert outcomes["killed"] >= 10 and outcomes["equal"] >= 1
    for mutant, fate in found:
        assert fate.reason, mutant.title


@pytest.mark.long
def test_the_protocol_itself_is_not_killed() -> None:
    _, specification, found = known("mf")
    assert judge_protocol(found, specification.protocols[0]).outcome == "equal"


@pytest.mark.parametrize("fault", ["posts_at_once", "any_acknowledgement"])
def test_a_fault_that_a_file_states_is_killed(fault: str) -> None:
    _, specification, found = known("mf")
    mutants = [mutant for mutant in specification.mutants if mutant.name == fault]
    if not mutants:
        mutants = [mutant for mutant in specification.mutants if isinstance(mutant.mutated, ir.Protocol)][:1]
    mutated = mutants[0].mutated
    assert isinstance(mutated, ir.Protocol)
    assert judge_protocol(found, mutated).outcome == "killed"


@pytest.fixture(scope="module")
def pool() -> Iterator[SolverPool]:
    with solver_pool(FAST) as opened:
        yield opened


@pytest.mark.long
def test_a_machine(pool: SolverPool) -> None:
    loaded = load("mf")
    assert loaded.specification is not None
    machine = loaded.specification.machines[0]
    found = machine_baseline(pool, loaded.specification, machine)
    assert found.kept >= {"causal", "fifo"} and not found.lost
    outcomes: Counter[str] = Counter()
    for mutant in specification_mutants(loaded, machine)[::4]:
        changed = meaning(mutant)
        if changed is not None:
            fate = judge_machine(pool, found, next(one for one in changed.machines if one.name == machine.name))
            outcomes[fate.outcome] += 1
            assert fate.outcome in ("killed", "equal"), f"{mutant.diff}\n{fate}"
    assert outcomes["killed"] >= 5


@cache
def implementation() -> ImplementationBaseline:
    system = "thence.impl.mf:MF"
    _, specification, _ = known("mf")
    load_subject(system, 3)
    return implementation_baseline(system, specification.protocols[0], settings_for(specification.protocols[0]))


def mutants_of_the_implementation() -> list[Mutant]:
    found = implementation()
    system = f"{found.module}:{found.name}"
    return implementation_mutants(system, implementation_text(system))


def test_an_implementation() -> None:
    judge = ImplementationJudge(implementation())
    outcomes: Counter[str] = Counter()
    for mutant in mutants_of_the_implementation():
        fate = judge.fate(mutant, cases=300)
        outcomes[fate.outcome] += 1
        assert fate.outcome in ("killed", "equal"), f"{mutant.diff}\n{fate}"
    assert outcomes["killed"] >= 10 and outcomes["equal"] >= 1


def test_an_implementation_without_a_fault_is_equal() -> None:
    found = implementation()
    original = next(iter(mutants_of_the_implementation()))
    same = Mutant(0, "implementation", original.subject, original.edit, found.text, found.text, original.file)
    assert ImplementationJudge(found).fate(same, cases=100).outcome == "equal"


@pytest.mark.long(but=("class MF: pass\\n-killed", "raise SystemExit(0)\\n-refused"))
@pytest.mark.parametrize(
    ("text", "outcome"),
    [("while True:\n    pass\n", "refused"), ("class MF: pass\n", "killed"), ("raise SystemExit(0)\n", "refused"),
     ("class MF:\n    def __init__(self, i, n): pass\n    def causal_send(self, d, m):\n        while True: pass\n"
      "    def receive(self, s, p): return []\n", "killed")],
)  # fmt: skip
def test_code_that_hangs_exits_or_is_nothing(text: str, outcome: str) -> None:
    found = implementation()
    original = next(iter(mutants_of_the_implementation()))
    mutant = Mutant(1, "implementation", original.subject, original.edit, found.text, text, original.file)
    assert ImplementationJudge(found).fate(mutant, cases=4).outcome == outcome


def test_a_mutant_leaves_the_module_alone() -> None:
    import thence.impl.mf

    found = implementation()
    changed = load_mutant(found.module, found.name, found.text.replace("class MF", "class Other\n\nclass MF", 0))
    assert changed is not thence.impl.mf.MF
    assert load_subject("thence.impl.mf:MF").make_process is thence.impl.mf.MF


def test_an_implementation_that_fails_by_itself_is_not_mutated() -> None:
    rst = load("rst").specification
    assert rst is not None
    with pytest.raises(SubjectError, match="fails without a fault"):
        implementation_baseline("thence.impl.mf:MF", rst.protocols[0], settings_for(rst.protocols[0]))


def test_an_implementation_on_links_of_an_overlay() -> None:
    """A mutant that takes all others for its neighbors: a fault on links only, where nothing is equal in scopes."""
    system = "thence.impl.dijkstra_scholten:DijkstraScholten"
    protocol = load_protocol("dijkstra_scholten")
    load_subject(system, 3)
    links = ((0, 1), (1, 0), (1, 2), (2, 1))
    text = implementation_text(system)
    deaf = text.replace("if neighbors is None else neighbors", "if processes else set()")
    assert deaf != text
    edit = implementation_mutants(system, text)[0].edit
    for given, changed, outcome in (((), deaf, "equal"), (links, deaf, "killed"), (links, text, "survived")):
        known = implementation_baseline(system, protocol, implementation_settings(protocol, given))
        mutant = Mutant(0, "implementation", system, edit, text, changed, "dijkstra_scholten.py")
        assert ImplementationJudge(known).fate(mutant, cases=60).outcome == outcome, given
    with pytest.raises(SubjectError, match="links are for overlays"):
        implementation_settings(load_protocol("mf"), links)


def load_protocol(name: str) -> ir.Protocol:
    found = load(name).specification
    assert found is not None
    return found.protocols[0]


CAUTIOUS = """\
protocol eager:
  network reliable, reordering
  message MSG(m: message) carries m
  state:
    HELD: queue of message
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j:
    HELD.push(m)
    while HELD is not empty:
      deliver HELD.first
      HELD.pop()
  property no_creation, at_most_once
  eventually delivered under fair receive
scope two of eager:
  processes 2
  sends 2, 0
scenario one of eager:
  processes P, Q
  P sends a to Q
  Q receives MSG(a) from P
  assert delivered(a) and HELD@Q is empty
"""


def of_text(text: str, was: str, now: str, states: int = MUTANT_STATES) -> Fate:
    found = load_bytes(Path("eager.thence"), text.encode()).specification
    changed = load_bytes(Path("eager.thence"), text.replace(was, now).encode()).specification
    assert found is not None and changed is not None
    return judge_protocol(baseline(found, found.protocols[0]), changed.protocols[0], states)


def test_what_withholds_a_message_that_nothing_is_missing_for_is_killed() -> None:
    """Delivery comes with the next step of the process, so that nothing is stuck in the end."""
    timer = "  periodically:\n    while HELD is not empty:\n      deliver HELD.first\n      HELD.pop()\n"
    timed = CAUTIOUS[: CAUTIOUS.index("scenario")].replace("  property", f"{timer}  property")
    timed = timed.replace("fair receive", "fair receive, periodically")
    once = "    HELD.push(m)\n    while HELD is not empty:", "    HELD.push(m)\n    if HELD.size > 1:"
    fate = of_text(timed, *once)
    assert fate.outcome == "killed" and "prompt" in fate.reason


def test_what_a_scenario_says_is_not_so_is_killed() -> None:
    fate = of_text(
        CAUTIOUS,
        "      deliver HELD.first\n      HELD.pop()",
        "      deliver HELD.first\n      HELD.pop()\n    HELD.push(m)",
    )
    assert fate == Fate("killed", "scenario one is refuted, line 21")


def test_what_has_more_states_than_are_interpreted_is_searched_by_native_code() -> None:
    counted = CAUTIOUS.replace("  on causal", "    SEEN: nat\n  on causal").replace(
        "      HELD.pop()\n", "      HELD.pop()\n      SEEN := SEEN + 1\n"
    )
    counted = counted.replace("  property", "  invariant few: forall p: process. SEEN@p < 9\n  property", 1)
    edits = {"survived": ("SEEN := SEEN + 1", "SEEN := 1"), "killed": ("SEEN := SEEN + 1", "SEEN := SEEN - 1")}
    for outcome, edit in edits.items():
        assert of_text(counted, *edit).outcome == of_text(counted, *edit, states=1).outcome == outcome


def test_an_application_that_has_to_wait_for_ever_is_judged() -> None:
    loaded = load("synchronous")
    assert loaded.specification is not None
    protocol = loaded.specification.protocols[0]
    found = baseline(loaded.specification, protocol, 300)
    never = [one for one in specification_mutants(loaded, protocol) if "send.unblock" in one.diff]
    assert len(never) >= 2
    for mutant in never[:2]:
        changed = meaning(mutant)
        assert changed is not None and judge_protocol(found, changed.protocols[0]).outcome == "killed"


@pytest.mark.long
def test_a_machine_that_keeps_everything_but_reaches_less(pool: SolverPool) -> None:
    """The guards of happens-before: a mutant that lets fewer histories through is proved, and shows less."""
    loaded = load("happens_before")
    assert loaded.specification is not None
    machine = loaded.specification.machines[0]
    found = machine_baseline(pool, loaded.specification, machine)
    assert "no_history_is_kept_out" in found.shown and not found.lost
    stricter = next(
        one for one in specification_mutants(loaded, machine) if "+    require forall x. (closed(x, m))" in one.diff
    )
    changed = meaning(stricter)
    assert changed is not None
    fate = judge_machine(pool, found, changed.machines[0])
    assert fate.outcome == "killed" and "no_history_is_kept_out" in fate.reason


def test_a_machine_is_equal_to_itself_in_other_words(pool: SolverPool) -> None:
    loaded = load("synchronous")
    assert loaded.specification is not None
    machine = loaded.specification.machines[0]
    found = machine_baseline(pool, loaded.specification, replace(machine, prove=()))
    mutant = next(iter(specification_mutants(loaded, machine)))
    text = mutant.original.replace("require sent(m) and not delivered(m)", "require not delivered(m) and sent(m)")
    changed = meaning(replace(mutant, text=text))
    assert changed is not None
    assert judge_machine(pool, found, replace(changed.machines[0], prove=())).outcome == "equal"


LOCK = """\
machine lock:
  delivery off
  relation held(p: process)
  relation wanted(p: process)
  def free(p): forall q. q = p or not held(q)
  transition want(p: process):
    require free(p)
    wanted(p) := true
  transition take(p: process):
    require wanted(p) and free(p)
    held(p) := true
  transition look(p: process):
    require wanted(p)
  invariant alone: forall p. held(p) implies free(p)
"""
"""The invariant, and the guards of two transitions, use one definition."""


def of_machine(pool: SolverPool, text: str, was: str, now: str) -> Fate:
    found, changed = (
        load_bytes(Path("of.thence"), each.encode()).specification for each in (text, text.replace(was, now))
    )
    assert found is not None and changed is not None
    return judge_machine(pool, machine_baseline(pool, found, found.machines[0]), changed.machines[0])


def test_a_fault_in_a_definition_is_one_in_all_transitions_that_use_it(pool: SolverPool) -> None:
    """And not in what is stated: the invariant means what it meant. Before, this was called a defect of Thence."""
    killed = of_machine(pool, LOCK, "q = p or not held(q)", "q = p or wanted(q)")
    assert killed == Fate("killed", "not provable: take keeps alone, a finite countermodel exists")
    equal = of_machine(pool, LOCK, "forall q. q = p or not held(q)", "not exists q. q != p and held(q)")
    assert equal.outcome == "equal" and equal.reason.startswith("want and take do the same")


def test_a_transition_that_changes_nothing_is_judged(pool: SolverPool) -> None:
    """Before, this was called a defect of Thence."""
    assert of_machine(pool, LOCK, "    require wanted(p)\n", "    require held(p)\n").outcome == "equal"


ARRIVES_TWICE = """\
protocol asks:
  network reliable, reordering
  message ASK()
  state: seen: bool
  on ask():
    for j in process:
      if j != self: send ASK() to j
  on receive ASK() from j: seen := true
machine noted:
  delivery off
  relation heard(p: process)
  relation asked(p: process)
  transition ask(p: process):
    asked(p) := true
  transition hear(q: process, p: process):
    require asked(p) or heard(q)
    heard(q) := true
    asked(p) := false
  invariant either: forall q. heard(q) or not heard(q)
conforms asks to noted in two:
  ask() is ask(self)
  receive ASK() from j is hear(self, j)
scope two of asks:
  processes 2
  ask 2 per process
"""


def test_a_step_that_changes_nothing_and_is_forbidden_breaks_a_link(pool: SolverPool) -> None:
    """Before, the machine counted as equal: it has the same states, and refuses an event of the protocol."""
    fate = of_machine(pool, ARRIVES_TWICE, "asked(p) or heard(q)", "asked(p)")
    assert fate.outcome == "killed" and fate.reason.startswith("link of asks")


def test_a_definition_of_a_protocol_is_mutated_and_its_invariants_are_not() -> None:
    """Before, the invariant was the mutant's, which satisfies it."""
    used = CAUTIOUS[: CAUTIOUS.index("scenario")].replace("  on causal", "    SEEN: nat\n  on causal")
    used = used.replace("  on causal", "  def small(k: nat): k < 3\n  on causal")
    used = used.replace("    HELD.push(m)\n", "    HELD.push(m)\n    if small(SEEN + 1): SEEN := SEEN + 1\n")
    used = used.replace("  property", "  invariant few: forall p: process. small(SEEN@p)\n  property")
    fate = of_text(used, "k < 3", "k < 4")
    assert fate.outcome == "killed" and fate.reason.startswith("few violated")


def test_what_a_file_says_to_be_refuted_kills_no_mutant() -> None:
    """In a scope that is too large to compare in. Before, random runs in larger workloads killed mutants by it."""
    large = CAUTIOUS[: CAUTIOUS.index("scenario")].replace("  on causal", "    SEEN: nat\n  on causal")
    large = large.replace("    HELD.push(m)\n", "    HELD.push(m)\n    SEEN := SEEN + 1\n")
    large = large.replace("  property", "  invariant few: forall p: process. SEEN@p <= 12\n  property")
    large += "scope many of eager:\n  processes 5\n  sends 5, 5, 5, 5, 0\n  expect refuted few\n"
    found, changed = (
        load_bytes(Path("many.thence"), text.encode()).specification
        for text in (large, large.replace("SEEN + 1", "SEEN + 2"))
    )
    assert found is not None and changed is not None
    assert judge_protocol(baseline(found, found.protocols[0], 500), changed.protocols[0]).outcome == "survived"


TALKATIVE = """\
from dataclasses import dataclass

from thence.impl.commands import Deliver, Send


@dataclass(frozen=True)
class Packet:
    message: str
    past: tuple
    kind: str = "MSG"


class Talkative:
    def __init__(self, identity, processes):
        self.past = []

    def causal_send(self, destination, message):
        self.past.append(message)
        return [Send(destination, Packet(message, tuple(self.past)))]

    def receive(self, sender, packet):
        self.past.extend(packet.past)
        return [Deliver(sender, packet.message)]
"""
"""Each packet carries whatever its sender has heard of, and nobody reads it."""


def talkative(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> ImplementationBaseline:
    """The baseline of the text in the protocol `eager`."""
    found = load_bytes(Path("eager.thence"), CAUTIOUS.encode()).specification
    assert found is not None
    (folder / "talkative.py").write_text(text)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "talkative", raising=False)
    load_subject("talkative:Talkative", 3)
    monkeypatch.setitem(sys.modules, "talkative", sys.modules["talkative"])
    protocol = found.protocols[0]
    return implementation_baseline("talkative:Talkative", protocol, settings_for(protocol))


def test_nothing_is_compared_where_the_original_has_too_many_states(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each survivor would cost as much as all its cases, many times over, and survive."""
    silent = TALKATIVE.replace("tuple(self.past)", "()").replace("self.past.append(message)", "pass")
    for kept, survived in ((TALKATIVE, "survived"), (silent, "equal")):
        found = talkative(tmp_path, monkeypatch, kept)
        compared = survived == "equal"
        assert bool(found.records) == compared and bool(found.notes) != compared
        system = "talkative:Talkative"
        mutant = next(each for each in implementation_mutants(system, kept) if "-        self.past.extend" in each.diff)
        assert ImplementationJudge(found).fate(mutant, cases=20).outcome == survived
    (why,) = talkative(tmp_path, monkeypatch, TALKATIVE).notes
    assert why.startswith("no mutant is called equal: the states of Talkative in scope 2 processes")


def test_a_mutant_that_differs_in_a_scope_is_not_compared_in_others(monkeypatch: pytest.MonkeyPatch) -> None:
    found = implementation()
    assert len(found.records) > 1
    compared: list[int] = []

    class Unlike:
        def __init__(self, record: StepRecord) -> None:
            compared.append(record.size)

        def likeness(self, *_classes: object) -> str:
            return "different"

    monkeypatch.setattr(implementation_judge, "LocalComparison", Unlike)
    original = next(iter(mutants_of_the_implementation()))
    assert ImplementationJudge(found).fate(replace(original, text=found.text), cases=4).outcome == "survived"
    assert compared == [found.records[0][1].size]


def test_an_implementation_that_fails_seldom_is_not_mutated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own failure would kill every mutant."""
    protocol = load_protocol("mf")
    cases = 0

    class Seldom(MF):
        def causal_send(self, destination: int, message: str) -> Any:
            if cases > 500:
                raise ValueError("a rare fault")
            return super().causal_send(destination, message)

        def __init__(self, identity: int, processes: int) -> None:
            nonlocal cases
            cases += identity == 0
            super().__init__(identity, processes)

    monkeypatch.setattr("thence.impl.mf.MF", Seldom)
    with pytest.raises(SubjectError, match="fails without a fault: crash in case 5"):
        implementation_baseline("thence.impl.mf:MF", protocol, settings_for(protocol))


def test_a_hang_is_a_fate_only_where_it_comes_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A processor that is busy with something else is no fault of a mutant."""
    found = implementation()
    real, stalls = implementation_judge.run_scheduled, [True]

    def run(*arguments: Any, **named: Any) -> Any:
        outcome = real(*arguments, **named)
        return replace(outcome, findings=(CaseFinding("hang", 0, "no end", 0),)) if stalls and stalls.pop() else outcome

    monkeypatch.setattr(implementation_judge, "run_scheduled", run)
    assert ImplementationJudge(found).failure(MF, 5) is None
    assert not stalls
