"""All engines on protocols that nobody wrote: the same verdicts, states, depths and lengths of counterexamples.

A protocol is drawn from a seed: packets to others and to oneself, control packets, echoes, flags, counters, buffers,
sets that are visited in order, timers, loss, duplication, both orders of channels, messages to one, some or all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from itertools import product
from pathlib import Path
from random import Random
from typing import TypeAlias

import pytest
from tests.proofs.crews import Shaky

from thence.dsl import ir
from thence.dsl.check.workloads.defaults import domain
from thence.dsl.ir.constants import values_of
from thence.dsl.ir.traversal import nodes
from thence.dsl.ir.types import NAT
from thence.dsl.run import execute
from thence.dsl.run.identity_reuse import system_of
from thence.dsl.run.scoped import in_scope
from thence.proofs.explore.exploration import STORAGES, Exploration, ExplorationRequest, Resources, Storage
from thence.proofs.explore.interpreted import Interpretation
from thence.proofs.fairness.fairness import is_decided_at_rest
from thence.proofs.native import disk_search, state_files, state_store
from thence.proofs.native.crosscheck import different_states
from thence.proofs.native.engine import NativeEngine, Sample, why_not
from thence.proofs.native.progress_measure import NoMeasure
from thence.proofs.native.spread import search as spread

Specify: TypeAlias = Callable[[str], ir.Specification]

JUDGED = ("causal", "fifo", "csps", "sps", "at_most_once", "no_creation", "total_order", "causally_ordered",
          "delivered", "fault", "deadlock_free")  # fmt: skip

CAPACITY = Sample(256, 64, 8).capacity
"""The same for all, so that code is generated once for all protocols of a shape."""

MOST_STATES = 1_500
"""States up to which the interpreter goes; a larger system is not compared."""

CONDITIONS = (
    "f", "not f", "n > 0", "k = 1", "k < 2", "n != k", "Q is empty", "Q is not empty", "S is empty", "L is none",
    "self in S", "S.size > 1", "M[self] = 0", "H.size > 1", "near(self)", "few(n)", "exists y in S. odd(y)",
    "exists y in S. self < y", "k < most", "self = boss", "boss in S", "n = most",
)  # fmt: skip
DEFINITIONS = {
    "few(x)": "x + k < 3",
    "near(q: process)": "q in S or M[q] > 0",
    "odd(p)": "few(M[p]) and exists q in process. q != p and not near(q)",
}
BY_HAND = {
    "few(n)": "(n + k < 3)",
    "near(self)": "(self in S or M[self] > 0)",
    "exists y in S. odd(y)": "(exists y in S. M[y] + k < 3 "
    "and exists r in process. r != y and not (r in S or M[r] > 0))",
    "near@p(q)": "(q in S@p or M@p[q] > 0)",
}
"""The uses of the definitions, written out."""
STEPS = (
    "f := true", "f := false", "f := not f", "if n < 2: n := n + 1", "if n > 0: n := n - 1", "if k < 2: k := k + 1",
    "k := 0", "S.add(self)", "S.clear()", "L := none", "L := some(self)", "if M[self] < 2: M[self] := M[self] + 1",
    "flush()", "flush()", "hand_over()", "hand_over()", "send ACK() to self", "send ACK() to self", "n := n - 1",
    "k := min(2 * k + n, 2)", "n := min(sum y in S. M[y] + 1, 2)",
    "n := min(2, sum y, w: process. if y = w then k else 0)",
    "if f: var c = k; c := c + n; k := min(c * 2, 2)",
    "if true: var T: set of process = S; ref U = T; U.add(self); n := T.size",
    "for z in S: var T = S; T.remove(z); S := T",
    "for z in process: var c: option of process = L; L := some(z); L := c",
    "for z in S: L := some(z)", "for z in process: send CTL(z) to z", "for z in S: send CTL(self) to z",
    "send ACK() to boss", "send CTL(boss) to self", "S.add(boss)", "L := some(boss)", "if k < most: k := k + 1",
)  # fmt: skip
WITH_SENDER = (
    "send ACK() to j", "send CTL(self) to j", "S.add(j)", "L := some(j)", "if j in S: f := not f",
    "if M[j] < 2: M[j] := M[j] + 1", "if L = some(j): f := true", "send CTL(j) to j",
)  # fmt: skip
WITH_MESSAGE = (
    "deliver m", "deliver m", "deliver m", "if m not in H: deliver m", "H.add(m)", "if Q.size < 3: Q.push(m)",
    "if f: deliver m", "if m.src in S: deliver m", "send NOTE(m) to m.src", "send NOTE(m) to self",
    "if n = 0: deliver m",
)  # fmt: skip
OF_INPUT = ("send CTL(q) to q", "S.add(q)", "if q != self: send ACK() to q", "if x < 2: k := x", "if x = 1: flush()")
OF_TWO = (
    "f@p implies n@q <= 1",
    "p = q or not (p in S@q)",
    "k@p + k@q < 3",
    "p = q or L@p != some(q)",
    "p = q or not near@p(q)",
    "f@p and f@q implies p <= q or k@p = k@q",
    "f@p implies p = boss or n@boss <= most",
)
AT_REST = (*OF_TWO, "Q@p is empty", "not f@p")
OF_ACTIONS = (
    "when p delivers m: f@p or n@p <= 1",
    "when p delivers m: m not in H@p",
    "when p delivers m: forall q: process. q = p or k@q < 2 and not f@q",
    "when p delivers m: forall MSG(a, x) in flight. a.src = m.src",
    "when p delivers m: (count NOTE(...) in flight. true) = 0 and not near@p(m.src)",
    "when p receives MSG(m, x) from j: Q@p.first.src = j",
    "when p receives ACK() from j: exists CTL(q) from y to z in flight. q = p or y = j",
    "when p receives CTL(q) from j: q in S@p or f@j",
    "when p receives CTL(q) from j: q = boss or (forall ACK() from y to z in flight. z = p)",
    "when p receives NOTE(m) from j: forall MSG(a, x) from y to z in flight. exists ACK() in flight ahead. y != p",
)
OF_ONE = ("n@p < 2", "p not in S@p", "Q@p.size < 2", "not f@p or k@p = 0")


@dataclass(slots=True)
class Draw:
    """A protocol and a workload, drawn from a seed."""

    seed: int
    random: Random = field(init=False)
    delivery: ir.Delivery = field(init=False, default="unicast")

    def __post_init__(self) -> None:
        self.random = Random(self.seed)

    def text(self) -> str:
        """The protocol."""
        one = self.random.choice
        deliveries: tuple[ir.Delivery, ...] = ("unicast", "unicast", "multicast", "broadcast")
        self.delivery = self.random.choice(deliveries)
        channels = one(("fifo", "reordering", "reordering"))
        faults = one(("reliable", "reliable", "lossy, duplicating"))
        lines = [
            "protocol drawn:",
            f"  delivery {self.delivery}",
            f"  network {faults}, {channels}",
            f"  constant most: nat = {one(('1', '2'))}",
            f"  role boss: process = {one(('0', '1'))}",
            "  message MSG(m: message, x: nat) carries m",
            "  message ACK()",
            "  message CTL(q: process)",
            "  message NOTE(m: message)",
            "  state:",
            f"    f: bool = {one(('true', 'false', 'false', '(self = boss)'))}",
            f"    n: nat = {one(('0', '0', '1', 'most'))}",
            "    k: nat",
            "    Q: queue of message",
            "    H: set of message",
            "    S: set of process",
            "    M: map process to nat",
            f"    L: option of process{one(('', '', '', ' = some(self)'))}",
            *(f"  def {name}: {body}" for name, body in DEFINITIONS.items()),
            *self._handler("on causal_send(m)", self._sending()),
            *self._handler("on receive MSG(m, x) from j", self._steps(WITH_MESSAGE, WITH_SENDER, least=1)),
            *self._handler("on receive ACK() from j", self._steps(WITH_SENDER, STEPS)),
            *self._handler("on receive CTL(q) from j", self._steps(("if q = self: f := not f", "S.add(q)", *STEPS))),
            *self._handler("on receive NOTE(m) from j", self._steps(WITH_MESSAGE, WITH_SENDER)),
            "  procedure flush():",
            f"    {one(('if', 'while'))} Q is not empty:",
            f"      {self._to_destinations('Q.first', 'n')}",
            "      Q.pop()",
            "  procedure hand_over():",
            f"    {one(('if', 'while'))} Q is not empty:",
            "      let m = Q.first",
            "      Q.pop()",
            f"      {one(('deliver m', 'if self != m.src: deliver m'))}",
        ]
        if self.random.random() < 0.3:
            for head in one((("periodically",), ("periodically",), ("periodically", "periodically fast"))):
                lines += self._handler(head, self._steps(STEPS))
        if self.random.random() < 0.25:
            guard = one(("", "", f" when {one(CONDITIONS)}"))
            lines += self._handler(f"on ask(q: process, x: nat){guard}", self._steps(OF_INPUT, STEPS))
        more = Random(self.seed + 1_000_003)
        if more.random() < 0.2:
            at = next(at for at, line in enumerate(lines) if line == "  on causal_send(m):")
            lines[at] = f"  on causal_send(m) when {more.choice(CONDITIONS)}:"
        acted = more.random() < 0.4
        if self.random.random() < 0.15:
            lines += self._handler("on flip(b: bool)", ["if b: f := not f", *self._steps(STEPS)])
        return "\n".join([
            *lines,
            f"  invariant linked: forall p, q: process. {one(OF_TWO)}",
            f"  invariant own: forall p: process. {one(OF_ONE)}",
            f"  reachable both: {one(('forall p: process. f@p', 'exists p: process. S@p.size > 1'))}",
            *[f"  {more.choice(('invariant', 'invariant', 'reachable'))} acted: {more.choice(OF_ACTIONS)}"] * acted,
            f"  at rest settled: forall p, q: process. {Random(~self.seed).choice(AT_REST)}",
            "  property causal",
            "",
        ])  # fmt: skip

    def _handler(self, head: str, steps: list[str]) -> Iterator[str]:
        yield f"  {head}:"
        for step in steps or ["pass"]:
            yield f"    {step}"

    def _to_destinations(self, message: str, number: str) -> str:
        sent = f"send MSG({message}, {number}) to"
        return f"{sent} {message}.dst" if self.delivery == "unicast" else f"for z in {message}.dsts: {sent} z"

    def _sending(self) -> list[str]:
        kind, number = self.random.random(), self.random.choice(("0", "0", "n"))
        control = [f"send {self.random.choice(('ACK()', 'CTL(self)', 'NOTE(m)'))} to self"]
        if self.delivery == "unicast":
            control.append(f"send {self.random.choice(('ACK()', 'CTL(m.dst)', 'NOTE(m)'))} to m.dst")
        send = self._to_destinations("m", number)
        if kind < 0.5:
            said = [send]
        elif kind < 0.7:
            said = ["Q.push(m)", "flush()"]
        elif kind < 0.85:
            said = [f"if {self.random.choice(CONDITIONS)}: Q.push(m)", "else:", f"  {send}"]
        else:
            said = ["Q.push(m)", f"if {self.random.choice(CONDITIONS)}: flush()"]
        if self.random.random() < 0.4:
            said.insert(0, self.random.choice(control))
        return [*self._steps(STEPS[:10]), *said, *self._steps(STEPS[:14])]

    def _steps(self, usual: tuple[str, ...], more: tuple[str, ...] = (), least: int = 0) -> list[str]:
        found = [self.random.choice(usual) for _ in range(self.random.randint(least, 2))]
        found += [self.random.choice(menu) for menu in (more, STEPS) if more and self.random.random() < 0.5]
        self.random.shuffle(found)
        if found and self.random.random() < 0.3:
            found[0:1] = [f"if {self.random.choice(CONDITIONS)}:", f"  {found[0]}"]
        return found

    def workload(self, protocol: ir.Protocol) -> ir.Workload:
        """Two or three processes, two to four messages."""
        sends = self.random.choice(((1, 1), (2, 1), (2, 0), (1, 1, 0), (1, 1, 1), (2, 1, 0), (1, 0, 1)))
        count, itself = len(sends), self.random.random() < 0.2
        others = tuple(tuple(q for q in range(count) if q != p or itself) for p in range(count))
        if self.random.random() < 0.2 and protocol.delivery == "unicast":
            others = tuple(tuple(self.random.sample(each, max(1, len(each) - 1))) for each in others)
        groups: tuple[tuple[tuple[int, ...], ...], ...] = ()
        if protocol.delivery == "broadcast":
            groups = tuple((each,) for each in others)
        elif protocol.delivery == "multicast":
            groups = tuple((*((one,) for one in each), each) if len(each) > 1 else (each,) for each in others)
        workload = ir.Workload(count, sends, tuple(tuple(sorted(each)) for each in others), groups=groups)
        if protocol.network.lossy:
            workload = replace(workload, duplicates=self.random.choice((0, 1)), losses=self.random.choice((0, 1)))
        if any(handler.event == "periodically" for handler in protocol.handlers) and self.random.random() < 0.7:
            workload = replace(workload, ticks=self.random.choice((1, 1, 2)))
        if "fast" in protocol.timers and self.random.random() < 0.6:
            workload = replace(workload, timers=(("fast", self.random.choice((0, 1, 2))),))
        given = (("most", self.random.choice((0, 2))), ("boss", self.random.randrange(count)))
        chosen = tuple(each for each in given if self.random.random() < 0.3)
        if Random(self.seed + 2_000_003).random() < 0.2:
            workload = replace(workload, sending=ir.Finite(reactive=True))
        return replace(workload, inputs=tuple(self._uses(protocol, count)), constants=chosen)

    def _uses(self, protocol: ir.Protocol, count: int) -> Iterator[ir.InputUse]:
        """How often the application has each input."""
        for handler in protocol.inputs:
            limits = self.random.choice(((1,) * count, (1, *(0,) * (count - 1)), (0, 2, *(0,) * (count - 2))))
            values = ((0,), (0, 1), (1, 2))
            yield ir.InputUse(handler.kind or "", limits, tuple(
                (each.name, self.random.choice(values) if each.type == NAT else domain(str(each.type), count))
                for each in handler.parameters
            ))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Manner:
    """A way to explore natively."""

    reductions: tuple[str, ...] = ()
    storage: Storage = "exact"
    threads: int = 1
    spread: bool = False


MANNERS = (
    *(
        Manner(reductions, storage, threads)
        for reductions, storage, threads in product(((), ("symmetry",)), STORAGES, (1, 2))
    ),
    Manner(storage="disk", spread=True),
    Manner(("symmetry",), storage="disk", spread=True),
)


@dataclass(slots=True)
class Tally:
    """How many protocols were compared, violated something, and were reduced; how often layers were kept, and states in
    files that showed a violation; in how many the application may have to wait, and nobody lacked an identity.
    """

    compared: int = 0
    violating: int = 0
    reduced: int = 0
    by_layers: int = 0
    in_files: int = 0
    guarded: int = 0
    saturated: int = 0


def compare(
    protocol: ir.Protocol,
    workload: ir.Workload,
    tally: Tally,
    most: int = MOST_STATES,
    judged: tuple[str, ...] = JUDGED,
    manners: Sequence[Manner] = MANNERS,
) -> None:
    """Fails where an engine differs from the interpreter."""
    watched = ("total_order", "causally_ordered") if workload.processes == 3 else ("total_order",)
    protocol = replace(protocol, properties=(*protocol.properties, *watched))
    asked = frozenset((*judged, *(formula.name for formula in protocol.formulas)))
    request = ExplorationRequest(system_of(protocol, workload), asked, limit=most)
    tally.guarded += request.system.interpreter.has_guard
    assert why_not(request.system) is None
    interpretation = Interpretation(request)
    expected = interpretation.run()
    if not expected.complete:
        return
    tally.compared += 1
    tally.violating += bool(expected.violations)
    tally.saturated += expected.saturated
    states = set(interpretation.origins)
    for manner in manners:
        memory = 1 << 21 if manner.storage == "disk" else None
        resources = Resources(memory, manner.threads, crew=Shaky() if manner.spread else None)
        apart = manner.storage == "disk" and not is_decided_at_rest(request.system)
        chosen = ExplorationRequest(
            request.system, asked - {"delivered"} if apart else asked, resources=resources,
            reductions=frozenset(manner.reductions), storage=manner.storage,
            limit=None if workload.ends else 20 * most,
        )  # fmt: skip
        try:
            engine = NativeEngine(chosen)
            found = engine.run(CAPACITY)
        except NoMeasure:
            continue
        apart |= manner.storage == "disk" and "delivered" in found.undecided and not expected.undecided
        assert found.complete, manner
        tally.by_layers += manner.storage == "layers"
        tally.in_files += manner.storage == "disk"
        tally.reduced += bool(found.reductions)
        assert_same(expected, found, engine, manner, {"delivered"} if apart else set())
        if manner.storage == "exact":
            assert different_states(states, engine) == [], manner


def assert_same(
    expected: Exploration, found: Exploration, engine: NativeEngine, manner: Manner, apart: set[str]
) -> None:
    """What native code finds is what the interpreter does; under the reduction, up to names. `apart`: not judged."""
    assert engine.refuted == expected.violations.keys() - apart, manner
    assert (found.depth, found.saturated) == (expected.depth, expected.saturated), manner
    if found.reductions:
        assert found.states <= expected.states, manner
    else:
        assert (found.states, found.transitions) == (expected.states, expected.transitions), manner
    if manner.storage != "layers":
        lengths = {name: len(each.steps) for name, each in expected.violations.items() if name not in apart}
        assert {name: len(violation.steps) for name, violation in found.violations.items()} == lengths, manner


def drawn(specify: Specify, seed: int) -> tuple[ir.Protocol, ir.Workload]:
    draw = Draw(seed)
    (protocol,) = specify(draw.text()).protocols
    return protocol, draw.workload(protocol)


@pytest.mark.long(but=("0",), share=4)
@pytest.mark.parametrize("start", range(0, 300, 30))
def test_a_definition_is_what_it_stands_for(specify: Specify, start: int) -> None:
    used = 0
    for seed in range(start, start + 30):
        text = written = Draw(seed).text()
        for use, body in BY_HAND.items():
            written = written.replace(use, body)
        used += written != text
        (protocol,), (expanded,) = specify(text).protocols, specify(written).protocols
        assert without_names(protocol) == without_names(expanded), seed
    assert used


@pytest.mark.long(but=("0",))
@pytest.mark.parametrize("start", range(0, 300, 60))
def test_a_constant_is_its_value(specify: Specify, start: int) -> None:
    """What a scope gives is as if the text had it, and a number as if it stood there."""
    for seed in range(start, start + 60):
        text, draw = Draw(seed).text(), Draw(seed)
        (protocol,) = specify(draw.text()).protocols
        workload = draw.workload(protocol)
        values = values_of(protocol, dict(workload.constants), workload.processes)
        written = text
        for one in protocol.constants:
            line = f"{one.name}: {one.type} = "
            written = written.replace(f"{line}{one.value}", f"{line}{values[one.name]}")
        by_hand = re.sub(r"\bmost\b(?!:)", str(values["most"]), written)
        for other in (written, by_hand):
            (restated,) = specify(other).protocols
            plain = replace(workload, constants=())
            assert without_names(in_scope(restated, plain)) == without_names(in_scope(protocol, workload)), seed


def without_names(protocol: ir.Protocol) -> object:
    """The protocol with the names of bound variables left out."""
    named = {bound.name for bound in nodes(protocol) if isinstance(bound, ir.Bound)}

    def plain(part: object) -> object:
        match part:
            case ir.Local(name=name) | ir.Bound(name=name, domain=None) if name in named:
                return "bound"
            case ir.Bound(domain=domain):
                return ["bound", plain(domain)]
            case tuple():
                return [plain(each) for each in part]
            case _ if is_dataclass(part) and not isinstance(part, type):
                kept = (each.name for each in fields(part) if each.compare)
                return [type(part).__name__, *(plain(getattr(part, name)) for name in kept)]
            case _:
                return part

    return plain(protocol)


def keep_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short loops, few parts of files, small indices."""
    monkeypatch.setattr(execute, "STEP_BUDGET", 200)
    for module in (disk_search, state_files):
        monkeypatch.setattr(module, "PARTS", 4)
    for module in (disk_search, state_store):
        monkeypatch.setattr(module, "FIRST_INDEX", 1 << 10)
    for name, value in (("FEWEST_PARTS", 4), ("PARTS_EACH", 1), ("WORTH_SENDING", 0), ("SMALLEST_PIECE", 16)):
        monkeypatch.setattr(spread, name, value)


@pytest.mark.long(but=("0",), share=2)
@pytest.mark.parametrize("start", range(0, 400, 8))
def test_every_engine_finds_the_same(specify: Specify, monkeypatch: pytest.MonkeyPatch, start: int) -> None:
    keep_small(monkeypatch)
    tally = Tally()
    for seed in range(start, start + 8):
        compare(*drawn(specify, seed), tally)
    assert tally.compared and tally.in_files


@pytest.mark.parametrize("name", ["stale", "stale2", "dead_depth", "closure", "crash_all"])
def test_protocols_that_reductions_were_wrong_about(
    specify: Specify, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Found by drawing, in larger scopes than the drawn ones."""
    monkeypatch.setattr(execute, "STEP_BUDGET", 200)
    specification = specify((Path(__file__).parent / "explored" / f"{name}.thence").read_text(encoding="utf-8"))
    (protocol,), (scope,) = specification.protocols, specification.scopes
    tally = Tally()
    compare(protocol, scope.workload, tally, most=5_000)
    assert tally.compared
