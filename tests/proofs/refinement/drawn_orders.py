"""Drawn links about several messages: numbers that say in which order one receiver, or several, deliver them.

A message goes to one process, to a set, or to all others. Numbers count the messages of a sender, or of a channel. What
is usual is right most of the time, and something else stands in the place of some parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import NamedTuple, TypeVar

from thence.dsl import ir
from thence.proofs.refinement.premises import premises

T = TypeVar("T")

NETWORKS = (
    "reliable, reordering", "reliable, reordering", "reliable, reordering", "reliable, fifo", "lossy, reordering",
    "reliable, duplicating, reordering", "lossy, duplicating, reordering",
)  # fmt: skip

OTHER = (0.0, 0.05, 0.12)
"""How often something else stands in the place of what is usual."""


class Receivers(NamedTuple):
    """How a machine and a protocol speak of the receivers of a message.

    Attributes:
        parameters: those of `deliver`.
        here: the receiver, in the transition `deliver`.
        gets: that a message goes to a process, by their names.
        delivered: that it is delivered there.
        last: the number of the last message, in the machine, and its parameters.
        out: the same in the protocol, its type, and the entry for the message m.
        mine: that the message m goes to this process.
    """

    delivery: str
    parameters: str
    here: str
    gets: str
    delivered: str
    last: str
    of_last: str
    out: str
    entry: str
    mine: str


_SEVERAL = ("m, p", "p", "to({m}, {p})", "delivered({m}, {p})", "last(src(m))", "p: process", "nat", "out",
            "self in m.dsts")  # fmt: skip

RECEIVERS = (
    Receivers("unicast", "m", "dst(m)", "dst({m}) = {p}", "delivered({m})", "last(src(m), dst(m))",
              "p: process, q: process", "map process to nat", "out[m.dst]", "m.dst = self"),
    Receivers("multicast", *_SEVERAL),
    Receivers("broadcast", *_SEVERAL),
)  # fmt: skip


class Order(NamedTuple):
    """When a message may be delivered: in the machine, and in the protocol for m with number n, or for a kept x."""

    guard: str
    fresh: str
    kept: str


ORDERS = (
    Order("number(m) = had({here}, src(m)) + 1", "n = had[m.src] + 1", "held[x] = had[x.src] + 1"),
    Order("had({here}, src(m)) < number(m)", "had[m.src] < n", "had[x.src] < held[x]"),
    Order("not {delivered}", "m not in got", "x not in got"),
)


@dataclass(frozen=True, slots=True)
class DrawnOrder:
    """The text without the invariants of the link, and what may be one of them, by name."""

    text: str
    invariants: dict[str, str]

    def with_facts(self, names: Iterable[str]) -> str:
        lines = [f"  invariant {name}: {self.invariants[name]}" for name in names]
        return "\n".join([self.text, *lines, "  expect proved", ""])


def drawn_order(seed: int) -> DrawnOrder:
    """A machine that orders messages, a protocol that may do so, and a link between them."""
    chance = Random(f"several messages {seed}")
    draw = _Draw(chance, chance.choice(RECEIVERS), chance.choice(ORDERS), chance.choice(OTHER))
    network = chance.choice(NETWORKS)
    text = [*draw.machine(), *draw.protocol(network), *draw.link()]
    return DrawnOrder("\n".join(text), dict(draw.facts(network)))


@dataclass(frozen=True, slots=True)
class _Draw:
    chance: Random
    to: Receivers
    order: Order
    other: float

    def usual(self, usual: T, *others: T) -> T:
        """What is usual, mostly."""
        return self.chance.choice(others) if self.chance.random() < self.other else usual

    @property
    def is_unicast(self) -> bool:
        return self.to.delivery == "unicast"

    def delivery(self) -> list[str]:
        return [] if self.is_unicast else [f"  delivery {self.to.delivery}"]

    def machine(self) -> list[str]:
        to, delivered = self.to, self.to.delivered.format(m="m", p="p")
        guards = ["sent(m)", *([] if self.is_unicast else ["to(m, p)"])]
        guards.append(self.usual(self.order, *ORDERS).guard.format(here=to.here, delivered=delivered))
        if self.usual(False, True):
            guards.pop(self.chance.randrange(len(guards)))
        variables = ", ".join(each.split(":")[0] for each in to.of_last.split(", "))
        is_its_own = "p = src(m) and q = dst(m)" if self.is_unicast else "p = src(m)"
        counted = f"forall {variables}: last({variables}) := if {is_its_own} then last({variables}) + 1"
        gets = to.gets.format(m="m", p="p")
        others = "" if self.is_unicast else ", p"
        channel = " and dst(a) = dst(b)" if self.is_unicast else ""
        return [
            "machine watch:", *self.delivery(), "  function number(m: message): nat",
            f"  function last({to.of_last}): nat", "  function had(p: process, k: process): nat",
            "  transition causal_send(m):", f"    number(m) := {to.last} + 1", f"    {counted} else last({variables})",
            f"  transition deliver({to.parameters}):", *(f"    require {guard}" for guard in guards),
            f"    forall x, k: had(x, k) := if x = {to.here} and k = src(m) then number(m) else had(x, k)",
            "  invariant numbered: forall m. sent(m) implies 1 <= number(m)",
            f"  invariant rising: forall a, b. before(a, b){channel} implies number(a) < number(b)",
            f"  invariant not_above: forall m. sent(m) implies number(m) <= {to.last}",
            f"  invariant counted: forall m{others}. {delivered} implies number(m) <= had({to.here}, src(m))",
            f"  invariant without_gaps: forall m, p. sent(m) and {gets} and number(m) <= had(p, src(m))"
            f" implies {delivered}",
            f"  invariant had_below: forall p, k. had(p, k) <= {'last(k, p)' if self.is_unicast else 'last(k)'}",
            f"  prove {', '.join(PROPERTIES)}",
        ]  # fmt: skip

    def protocol(self, network: str) -> list[str]:
        return [
            "protocol drawn:", *self.delivery(), f"  network {network}", "  message MSG(m: message, n: nat) carries m",
            "  state:", f"    out: {self.to.out}", "    had: map process to nat", "    got: set of message",
            "    held: map message to nat",
            "  on causal_send(m):", *(f"    {line}" for line in self.sending()),
            "  on receive MSG(m, n) from j:", *(f"    {line}" for line in self.receiving()),
            f"  property {', '.join(PROPERTIES)}",
        ]  # fmt: skip

    def sending(self) -> list[str]:
        entry = self.to.entry
        count = self.usual(f"{entry} := {entry} + 1", "pass")
        sent = f"send MSG(m, {entry})"
        if self.is_unicast:
            send = self.usual(f"{sent} to m.dst", f"{sent} to m.src")
        else:
            send = self.usual(f"for p in m.dsts: {sent} to p", f"for p in process: {sent} to p")
        lines = self.usual([count, send], [send, count])
        return lines + self.usual([], [send])

    def receiving(self) -> list[str]:
        had = self.usual("had[m.src] := n", "had[m.src] := had[m.src] + 1", "pass")
        acts = ["deliver m", had, self.usual("got.add(m)", "pass")]
        if self.chance.random() < 0.5:
            acts.append(acts.pop(0))  # the application hears of it last
        if self.order is not ORDERS[2] and self.chance.random() < 0.4:
            of_x = [each.replace("m", "x").replace(":= n", ":= held[x]") for each in acts]
            return [
                self.usual("held[m] := n", "if m not in got: held[m] := n"),
                f"while exists x in held. {self.order.kept}:", "  for x in held:", f"    if {self.order.kept}:",
                *(f"      {each}" for each in [self.usual("held.remove(x)", "pass"), *of_x]),
            ]  # fmt: skip
        fresh = self.usual(self.order, *ORDERS).fresh
        asked = f"{fresh} and {self.to.mine}" if self.chance.random() < 0.6 else fresh
        taken = [f"if {asked}:", *(f"  {each}" for each in acts)]
        if self.to.delivery != "broadcast" or self.chance.random() < 0.6:
            return taken
        passed_on = ["if m not in got and m.src != self:", "  for p in process: if p != self: send MSG(m, n) to p"]
        return [*passed_on, *taken]

    def link(self) -> list[str]:
        at = "" if self.is_unicast else ", self"
        return [
            "conforms drawn to watch:", "  causal_send(m) is causal_send(m)", f"  deliver m is deliver(m{at})",
        ]  # fmt: skip

    def facts(self, network: str) -> Iterator[tuple[str, str]]:
        """What may be true of both sides, also inside a step."""
        at_p, at_q = (self.to.gets.format(m="m", p=each) for each in "pq")
        done_p, done_q = (self.to.delivered.format(m="m", p=each) for each in "pq")
        flying, held = "forall MSG(m, n) from p to q in flight. ", "forall p: process. forall m in held@p. "
        got = "forall p: process. forall m in got@p. "
        yield "flying_sent", f"{flying}sent(m)"
        yield "flying_from", f"{flying}src(m) = p"
        yield "flying_to", f"{flying}{at_q}"
        yield "flying_number", f"{flying}n = number(m)"
        yield "flying_new", f"{flying}not {done_q}"
        yield "held_sent", f"{held}sent(m)"
        yield "held_here", f"{held}{at_p}"
        yield "held_number", f"{held}held@p[m] = number(m)"
        yield "held_new", f"{held}not {done_p}"
        yield "same_had", "forall p: process, k: process. had@p[k] = had(p, k)"
        yield "got_done", f"{got}{done_p}"
        yield "got_sent", f"{got}sent(m)"
        yield "got_here", f"{got}{at_p}"
        yield "apart", f"{flying}m not in held@q"
        if self.is_unicast:
            yield "same_last", "forall p: process, q: process. out@p[q] = last(p, q)"
            yield "done_got", "forall m: message. delivered(m) implies m in got@(dst(m))"
            yield "one", "forall m: message. (count MSG(x, n) in flight. x = m) <= 1"
        else:
            yield "same_last", "forall p: process. out@p = last(p)"
            yield "done_got", "forall p: process, m: message. delivered(m, p) implies m in got@p"
            one = "count MSG(x, n) from a to b in flight. x = m and b = q"
            yield "one", f"forall m: message, q: process. ({one}) <= 1"
        if "fifo" in network:
            yield "in_order", f"{flying}forall MSG(x, k) in flight ahead. k < n"
            yield "after_had", f"{flying}had@q[p] < n"


PROPERTIES = ("at_most_once", "no_creation", "fifo", "causal")


def workloads(link: ir.Link) -> list[ir.Workload]:
    """Small scopes of the systems that the link is about, see NOTE(premises), with one fault where there are any.

    Where its proof says so, nobody sends inside a delivery.
    """
    taken = premises(link)
    own, several = taken.systems.self_sends, taken.systems.several
    both = (False,) if taken.between_steps else (False, True)
    found = [
        replace(workload, sending=ir.Finite(reactive=reactive))
        for reactive in both
        for workload in _SYSTEMS[link.protocol.delivery](own, several)
    ]
    network = link.protocol.network
    faults = [{"losses": 1}] * network.lossy + [{"duplicates": 1}] * network.duplicating
    return found + [replace(workload, **fault) for fault in faults for workload in found[:2]]


def _unicasts(own: bool | None, several: bool) -> Iterator[ir.Workload]:
    yield ir.Workload(2, (2, 1), ((1,), (0,)))
    yield ir.Workload(3, (2, 1, 0), ((1, 2), (2,), ()))
    if own is not False:
        yield ir.Workload(2, (2, 0), ((0, 1), ()))
        if not several:
            yield ir.Workload(1, (2,), ((0,),))


def _multicasts(own: bool | None, several: bool) -> Iterator[ir.Workload]:
    yield _to_groups((2, 1, 0), ((1, 2), (2,)), ((2,), (0, 2)), ())
    if own is not False:
        yield _to_groups((2, 1), ((0, 1), (1,)), ((0,), (0, 1)))


def _broadcasts(own: bool | None, several: bool) -> Iterator[ir.Workload]:
    if own is not True:
        yield _to_groups((2, 1, 0), ((1, 2),), ((0, 2),), ())
    if own is not False:
        yield _to_groups((2, 1), ((0, 1),), ((0, 1),))


def _to_groups(sends: tuple[int, ...], *groups: tuple[tuple[int, ...], ...]) -> ir.Workload:
    reached = tuple(tuple(sorted({each for group in of_one for each in group})) for of_one in groups)
    return ir.Workload(len(sends), sends, reached, groups=groups)


_SYSTEMS = {"unicast": _unicasts, "multicast": _multicasts, "broadcast": _broadcasts}
