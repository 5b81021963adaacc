"""Links that nobody wrote: native code finds what the interpreter does, of random protocols with random machines.

States of protocol and machine, transitions, depth, and whether the machine refuses an event, or the two disagree, and
after how many steps. Most of the machines refuse something sooner or later; the search goes on there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import TypeAlias

import pytest
from tests.proofs.test_random_protocols import Draw

from thence.dsl import ir
from thence.dsl.ir.properties import LINK
from thence.dsl.load import load
from thence.dsl.run.identity_reuse import system_of
from thence.dsl.run.scoped import bare
from thence.proofs.explore.exploration import Exploration, ExplorationRequest, Method, Resources
from thence.proofs.explore.interpreted import Interpretation
from thence.proofs.links.following import followed
from thence.proofs.links.link_run import LinkRun
from thence.proofs.native.crosscheck import different_states
from thence.proofs.native.engine import NativeEngine, Sample, why_not
from thence.proofs.scopes.link import LinkCheck, check_link

CAPACITY = Sample(256, 64, 8).capacity

MOST_STATES = 1_200

GUARDS = {
    "m": ("not held(m)", "held(m)", "much(src(m)) < 2", "not marked(src(m))", "forall o. hb(o, m) implies held(o)",
          "forall o. before(o, m) implies not held(o)", "not (exists o. held(o) and o != m)", "not over()"),
    "p": ("not marked(p)", "marked(p)", "much(p) < 2", "forall o. past(p, o) implies not held(o)",
          "exists o. sent(o) and src(o) = p", "forall z. z = p or much(z) < 2"),
}  # fmt: skip
UPDATES = {
    "m": ("held(m) := true", "held(m) := false", "forall z: marked(z) := marked(z) or z = src(m)",
          "forall o: held(o) := held(o) or hb(o, m)",
          "forall o: held(o) := o = m", "over() := true"),
    "p": ("marked(p) := true", "marked(p) := false", "much(p) := much(p) + 1", "much(p) := 0",
          "forall z: marked(z) := not marked(z)",
          "forall o: held(o) := held(o) and not past(p, o)"),
}  # fmt: skip
FIRST = (
    "forall o: held(o) := exists z. z != src(o)", "forall z: much(z) := if exists q. q != z then 1 else 2",
    "forall z: marked(z) := not (exists q. q != z)", "over() := true",
)  # fmt: skip
CLAUSES = (
    "send MSG(m, x) to j is post(m, j)", "send MSG(m, x) to j is post(m, self), once",
    "receive MSG(m, x) from j is post(m, self) or post(m, j)", "receive MSG(m, x) from j is post(m, any), when f",
    "receive MSG(m, x) from j is add(self, x)", "send ACK() to j is note(self, j)",
    "receive ACK() from j is note(self, j) or add(self, 1)", "receive ACK() from j is post(any, self)",
    "receive ACK() from j is post(any, any), when n > 0 or S is empty", "send CTL(q) to j is note(q, j), once",
    "receive CTL(q) from j is note(q, self), when q != self", "send NOTE(m) to j is post(m, j)",
    "receive NOTE(m) from j is post(m, j), when m in H", "receive CTL(q) from j is add(self, n)",
)  # fmt: skip
OF_TIMERS = ("note(self, self)", "add(self, 1), when not f", "add(self, n)")
INVARIANTS = (
    "forall p: process. much(p) < 3", "forall p: process. f@p implies not marked(p) or much(p) < 2",
    "forall p: process. forall m in H@p. held(m) or n@p = 0", "forall p: process. n@p <= much(p) + 1",
    "forall MSG(a, x) in flight. not held(a) or x < 2", "forall p, q: process. p in S@q implies not marked(p)",
)  # fmt: skip

Specify: TypeAlias = Callable[[str], ir.Specification]


def machine(random: Random, protocol: ir.Protocol) -> list[str]:
    """A machine for what the protocol does."""
    single = protocol.delivery == "unicast"
    at = "m: message" if single else "m: message, p: process"

    def body(*parameters: str) -> list[str]:
        about = [name for name in parameters if name in GUARDS]
        lines = [f"    require {random.choice(GUARDS[name])}" for name in about if random.random() < 0.15]
        changed: dict[str, str] = {}
        for name in about:
            for _ in range(random.randint(0, 2)):
                update = random.choice(UPDATES[name])
                changed.setdefault(update.split("(")[0].split()[-1], update)
        return [*lines, *(f"    {each}" for each in changed.values())] or ["    pass"]

    lines = [
        "machine watch:", f"  delivery {protocol.delivery}", "  relation marked(p: process)",
        "  relation held(m: message)", "  relation over()",
        "  function much(p: process): nat",
        "  transition causal_send(m: message):", *body("m"),
        f"  transition deliver({at}):", *body("m", *["p"] * (not single)),
        "  transition post(m: message, p: process):", *body("m", "p"),
        "  transition note(p: process, q: process):", *body("p"),
        "  transition add(p: process, x: nat):", "    require much(p) < 4", "    much(p) := much(p) + x",
        "  transition calm(p: process):", "    require much(p) > 2", "    much(p) := 1",
        "    over() := true",
        "  transition mark(m: message, p: process):", "    held(m) := true", "    marked(p) := true",
        "  prove no_creation",
    ]  # fmt: skip
    chosen = [each for each in FIRST if random.random() < 0.2]
    if chosen:
        lines[6:6] = ["  initial:", *(f"    {each}" for each in chosen)]
    conforms = ["conforms drawn to watch:", "  causal_send(m) is causal_send(m)"]
    conforms.append(f"  deliver m is deliver({'m' if single else 'm, self'}){random.choice(('', '', ', once'))}")
    chosen = random.sample(CLAUSES, random.randint(1, 4))
    kinds = Counter(clause.split("(")[0] for clause in chosen)
    conforms += [f"  {clause}" for clause in chosen if kinds[clause.split("(")[0]] == 1]
    timers = [handler for handler in protocol.handlers if handler.event == "periodically"]
    if timers and random.random() < 0.6:
        conforms.append(f"  periodically is {random.choice(OF_TIMERS)}")
    if any(handler.kind == "ask" for handler in protocol.inputs) and random.random() < 0.6:
        conforms.append("  ask(q, x) is add(q, x)")
    if random.random() < 0.3:
        conforms.append("  internal calm")
    if random.random() < 0.4:
        conforms.append(f"  invariant agreed: {random.choice(INVARIANTS)}")
    return [*lines, *conforms]


def explored(link: ir.Link, workload: ir.Workload) -> tuple[Exploration, Exploration, list[str]] | None:
    """By the interpreter and by native code, to the end; None where that is far. The states that differ."""
    follow = LinkRun(link, system_of(bare(link.protocol), workload))
    request = ExplorationRequest(followed(follow), frozenset({LINK}), limit=MOST_STATES)
    assert why_not(request.system) is None
    interpretation = Interpretation(request)
    expected = interpretation.run()
    if interpretation.limited:
        return None
    engine = NativeEngine(replace(request, limit=None, resources=Resources(threads=1)))
    found = engine.run(CAPACITY)
    states = different_states(set(interpretation.origins), engine) if expected.complete else []
    return expected, found, states


def facts(found: Exploration) -> tuple[object, ...]:
    lengths = {name: len(violation.steps) for name, violation in found.violations.items()}
    if not found.complete:
        return found.complete, found.why_incomplete
    return found.states, found.transitions, found.depth, lengths, found.undecided


@pytest.mark.long(but=("0",))
@pytest.mark.parametrize("start", range(0, 24, 8))
def test_random_links(specify: Specify, start: int) -> None:
    met: Counter[str] = Counter()
    for seed in range(start, start + 8):
        draw = Draw(seed)
        text = draw.text()
        (protocol,) = specify(text).protocols
        specification = specify("\n".join([text, *machine(Random(seed), protocol), ""]))
        both = explored(specification.links[0], draw.workload(protocol))
        if both is None:
            continue
        expected, found, differences = both
        assert facts(found) == facts(expected), seed
        assert not differences, seed
        met["compared"] += 1
        met["refuted"] += LINK in expected.violations
    assert met["compared"] > 1
    assert met["refuted"] < met["compared"]


def outcome(found: LinkCheck) -> tuple[object, ...]:
    """Where it is refuted, engines may stop after different numbers of states of the same depth."""
    if found.refuted is None:
        return found.states, found.transitions, found.depth, found.complete, found.why_incomplete
    return type(found.refuted), len(found.steps)


@pytest.mark.long(but=("fifo",))
@pytest.mark.parametrize("name", ["fifo", "cbcast"])
def test_links_and_mutants_of_the_library(name: str) -> None:
    """Each of the scopes of a link, for the protocol and all mutants of it in the file."""
    specification = load(name).specification
    assert specification is not None
    for link in specification.links:
        mutants = [each.mutated for each in specification.mutants if each.subject == link.protocol.name]
        for scope in link.scopes:
            for protocol in (link.protocol, *mutants):
                assert isinstance(protocol, ir.Protocol)
                ways = [check_link(link, protocol, scope.workload, method=Method(engine)) for engine in ENGINES]
                assert outcome(ways[0]) == outcome(ways[1]), (scope.name, protocol.name)


ENGINES = ("interpreted", "native")
