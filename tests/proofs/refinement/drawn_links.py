"""Drawn links in which one step of the protocol is several of the machine: machines, protocols, and what may be true.

Packets bounce, relations of the machine become true and false again within a step, and what the machine's statement
leads to need not be that a message is delivered.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import NamedTuple, TypeAlias, TypeVar

from thence.dsl import ir
from thence.proofs.refinement.premises import premises

T = TypeVar("T")

Part: TypeAlias = tuple[str, ...]
"""Some lines of a handler."""

NETWORKS = (
    "reliable, reordering", "reliable, reordering", "reliable, reordering", "reliable, fifo",
    "reliable, duplicating, reordering", "lossy, reordering", "lossy, duplicating, reordering",
)  # fmt: skip

FAIRNESS = ("receive, resend", "receive", "PING, PONG, resend", "PING, resend")

UNTIMED = ("receive", "PING, PONG", "PING")
"""The same where there is no timer."""

PACKETS = ("PING", "PONG")

TO = ("j", "m.dst", "m.src", "self")

UNLESS_GOT = "if m not in got and m.dst = self:"

DELIVERY = [UNLESS_GOT, "  got.add(m)", "  deliver m"]

NEVER = [UNLESS_GOT.replace("if", "if ok and"), *DELIVERY[1:]]
"""The application would have to say that it is so, and in the scopes it never does."""

BOX = ["box.push(m)", "while box is not empty:", "  if box.first not in got and box.first.dst = self:",
       "    got.add(box.first)", "    deliver box.first", "  box.pop()"]  # fmt: skip

CONDITIONS = ("ok", "not ok", "j = m.src", "m in got", "m not in got", "m.dst = self", "j != self")

FLAGS = ("up", "down", "mark", "unmark")

STATEMENTS = (
    ("delivered(m)", ("deliver(m)",), ("sent(m) and not delivered(m)",)),
    ("delivered(m)", ("mark(m) while not g(m)", "deliver(m)"), ("g(m) and not delivered(m)",)),
    ("delivered(m)", ("up(m) while not f(m)", "deliver(m)"), ("f(m) and not delivered(m)",)),
    ("f(m) or delivered(m)", ("up(m)",), ("sent(m) and not delivered(m)", "f(m) and not delivered(m)")),
    ("f(m) or delivered(m)", ("deliver(m)",), ("sent(m) and not delivered(m)",)),
    ("g(m)", ("mark(m)",), ("sent(m) and not delivered(m)", "g(m) and not delivered(m)")),
    ("g(m) and not f(m) or delivered(m)", ("mark(m) while not g(m)", "down(m) while f(m)"),
     ("sent(m) and not delivered(m)", "g(m) and not delivered(m)")),
    ("g(m) and delivered(m)", ("mark(m) while not g(m)", "deliver(m) while not delivered(m)"),
     ("sent(m) and not delivered(m)",)),
    ("f(m)", ("up(m) while not f(m)",), ("sent(m) and not delivered(m)", "f(m) and not delivered(m)")),
)  # fmt: skip
"""What it leads to, the steps, and guards of `deliver` with which it may be true."""

INVARIANTS = {
    "pings": "forall PING(m) from p to q in flight. sent(m)",
    "pings_to": "forall PING(m) from p to q in flight. dst(m) = q",
    "pings_from": "forall PING(m) from p to q in flight. src(m) = p",
    "pings_new": "forall PING(m) in flight. not delivered(m)",
    "pings_flagged": "forall PING(m) in flight. f(m)",
    "pongs": "forall PONG(m) from p to q in flight. sent(m)",
    "pongs_to": "forall PONG(m) from p to q in flight. dst(m) = q",
    "pongs_back": "forall PONG(m) from p to q in flight. src(m) = q",
    "pongs_done": "forall PONG(m) in flight. delivered(m)",
    "pongs_marked": "forall PONG(m) in flight. g(m)",
    "got_sent": "forall p: process. forall m in got@p. sent(m) and dst(m) = p",
    "got_there": "forall p: process. forall m in got@p. delivered(m)",
    "there_got": "forall m: message. delivered(m) implies m in got@(dst(m))",
    "out_own": "forall p: process. forall m in out@p. sent(m) and src(m) = p",
    "out_kept": "forall m: message. sent(m) and not delivered(m) implies m in out@(src(m))",
    "out_all": "forall m: message. sent(m) implies m in out@(src(m))",
    "in_box": "forall p: process. forall m in box@p. sent(m)",
    "sent_f": "forall m: message. sent(m) implies f(m)",
    "sent_g": "forall m: message. sent(m) implies g(m)",
    "done_f": "forall m: message. delivered(m) implies f(m)",
    "done_g": "forall m: message. delivered(m) implies g(m)",
    "f_g": "forall m: message. f(m) implies g(m)",
    "never_ok": "forall p: process. not ok@p",
    "one_each": "forall m: message. (count PING(x) in flight. x = m) + (count PONG(x) in flight. x = m) <= 1",
    "one_ping": "forall m: message. (count PING(x) in flight. x = m) <= 1",
    "one_pong": "forall m: message. (count PONG(x) in flight. x = m) <= 1",
}
"""What may be true of both sides, also inside a step."""

BETWEEN = {
    "no_f": "forall m: message. not f(m)",
    "no_g": "forall m: message. not g(m)",
    "g_done": "forall m: message. g(m) implies delivered(m)",
    "f_done": "forall m: message. f(m) implies delivered(m)",
    "boxes": "forall p: process. box@p is empty",
    "f_pong": "forall m: message. f(m) implies (exists PONG(x) in flight. x = m)",
    "ping": "forall m: message. sent(m) and not delivered(m) implies (exists PING(x) in flight. x = m)",
    "some": "forall m: message. sent(m) implies (exists PING(x) in flight. x = m) or (exists PONG(x) in flight. x = m)",
    "some_or_done": "forall m: message. sent(m) and not delivered(m)"
    " implies (exists PING(x) in flight. x = m) or (exists PONG(x) in flight. x = m)",
}
"""What may be true between steps."""


ANSWERS = ("pass", "ok := true", "ok := not ok", "if ok: send PING(m) to m.dst", "if not ok: send PONG(m) to m.dst",
           "box.clear()", "box.push(m)", "got.remove(m)", "out.remove(m)",
           "if box is empty: send PING(m) to m.dst")  # fmt: skip
"""What a send may do besides: with something else of the process than a delivery, or with the same."""


@dataclass(frozen=True, slots=True)
class DrawnLink:
    """The text without the invariants of the link; `between` and `inside` of what may be one are added to it.

    `reactive`: the link is about applications that send inside a delivery.
    """

    text: str
    reactive: bool = False

    def answering(self, seed: int) -> DrawnLink:
        """The same about applications that send inside a delivery, where a send does something else besides."""
        more = Random(f"sends inside a delivery {seed}").choice(ANSWERS)
        first = "  on causal_send(m):\n"
        assert self.text.count(first) == 1
        return DrawnLink(self.text.replace(first, f"{first}    {more}\n"), reactive=True)

    def with_facts(self, invariants: tuple[str, ...], between: tuple[str, ...]) -> str:
        """The text of the file with these of `INVARIANTS` and `BETWEEN`."""
        lines = [*(["  reactive sends"] if self.reactive else [])]
        lines += [f"  invariant {name}: {INVARIANTS[name]}" for name in invariants]
        lines += [f"  between steps {name}: {BETWEEN[name]}" for name in between]
        return "\n".join([self.text, *lines, "  eventually delivered by delivery", "  expect proved", ""])


class Manner(NamedTuple):
    """What is usual in a drawn link, and how often something else stands in its place.

    Attributes:
        statement: of `STATEMENTS`.
        pings, pongs: the parts of the two handlers, in some order.
        arrival, departure: the transitions that arrivals and sends of packets are; None: no transition.
        timer: whether what is not acknowledged is sent again.
    """

    statement: int
    pings: tuple[Part, ...]
    pongs: tuple[Part, ...]
    arrival: str | None
    departure: str | None
    timer: bool
    other: float = 0.03


DELIVERED, HELD_BACK, BOXED = tuple(DELIVERY), tuple(NEVER), tuple(BOX)
BACK, AGAIN, FORGOTTEN = ("send PONG(m) to j",), ("send PING(m) to j",), ("out.remove(m)",)

MANNERS = (
    Manner(3, (HELD_BACK, BACK), (HELD_BACK, BACK), "up", "down", False),
    Manner(3, (DELIVERED, BACK), (DELIVERED, BACK), "up", "down", False),
    Manner(5, (HELD_BACK, BACK), (HELD_BACK, BACK), "mark", "down", False),
    Manner(8, (DELIVERED, BACK), (BACK,), "up", "down", False),
    Manner(0, (DELIVERED,), (), None, None, False),
    Manner(0, (DELIVERED, BACK), (), "up", "down", False),
    Manner(0, (DELIVERED, BACK), (FORGOTTEN,), None, None, True),
    Manner(1, (DELIVERED, BACK), (FORGOTTEN,), "mark", None, True),
    Manner(1, (DELIVERED, BACK), (), "mark", "down", False),
    Manner(2, (DELIVERED,), (), "up", None, False),
    Manner(7, (DELIVERED, BACK), (FORGOTTEN,), "mark", "up", True),
    Manner(0, (HELD_BACK, AGAIN), (), None, None, False),
    Manner(0, (), (), "up", "down", False, 0.5),
    Manner(0, (BOXED, BACK), (FORGOTTEN,), "up", "down", False),
)


@dataclass(frozen=True, slots=True)
class _Draw:
    manner: Manner
    chance: Random

    def usual(self, usual: T, *others: T) -> T:
        """What is usual, mostly."""
        return self.chance.choice(others) if others and self.chance.random() < self.manner.other else usual

    def machine(self) -> list[str]:
        goal, steps, guards = self.usual(STATEMENTS[self.manner.statement], *STATEMENTS)
        raising = self.usual("require sent(m)", "pass", "require sent(m) and not f(m)", "require not delivered(m)")
        marking = self.usual("require sent(m)", "pass", "require sent(m) and not g(m)")
        at_send = self.usual("pass", "f(m) := true", "g(m) := true")
        at_delivery = self.usual("pass", "f(m) := false", "f(m) := true", "g(m) := true")
        return [
            "machine watch:", "  relation f(m: message)", "  relation g(m: message)",
            "  transition causal_send(m):", f"    {at_send}",
            "  transition deliver(m):", f"    require {self.chance.choice(guards)}", f"    {at_delivery}",
            "  transition up(m):", f"    {raising}", "    f(m) := true",
            "  transition down(m):", f"    {self.usual('pass', 'require f(m)')}", "    f(m) := false",
            "  transition mark(m):", f"    {marking}", "    g(m) := true",
            "  transition unmark(m):", "    require g(m) and f(m)", f"    g(m) := {self.usual('true', 'false')}",
            f"  eventually delivery(m): sent(m) leads to {goal} by:", *(f"    {each}" for each in steps),
            "  invariant f_of_sent: forall m. f(m) implies sent(m)",
            "  invariant g_of_sent: forall m. g(m) implies sent(m)",
            "  prove at_most_once, no_creation",
        ]  # fmt: skip

    def protocol(self) -> list[str]:
        timer = self.usual(self.manner.timer, True, False)
        network = self.chance.choice(NETWORKS) if timer else self.usual(NETWORKS[0], *NETWORKS)
        first = self.usual(
            "send PING(m) to m.dst", *(f"send {packet}(m) to {to}" for packet in PACKETS for to in TO[1:])
        )
        sent = [*(["out.add(m)"] if timer else []), *([first] if not timer or self.chance.random() < 0.7 else [])]
        again = self.usual("PING", *PACKETS)
        return [
            "protocol drawn:", f"  network {network}", "  message PING(m: message) carries m",
            f"  message PONG(m: message){self.usual('', ' carries m')}",
            "  state:", "    got: set of message", "    out: set of message", "    box: queue of message",
            "    ok: bool",
            "  on causal_send(m):", *(f"    {each}" for each in sent),
            "  on go(): ok := true",
            "  on receive PING(m) from j:", *self.handler(self.manner.pings),
            "  on receive PONG(m) from j:", *self.handler(self.manner.pongs),
            *(["  periodically resend:", f"    for m in out: send {again}(m) to m.dst"] if timer else []),
            "  property at_most_once, no_creation",
            f"  eventually delivered under fair {self.usual(*(FAIRNESS if timer else UNTIMED))}",
        ]  # fmt: skip

    def handler(self, parts: tuple[Part, ...]) -> list[str]:
        """The parts in some order, and other statements between them."""
        found = [self.usual(each, *(self.statement() for _ in range(2))) for each in parts]
        self.chance.shuffle(found)
        while self.chance.random() < self.manner.other:
            found.insert(self.chance.randint(0, len(found)), self.statement())
        return [f"    {line}" for part in found for line in part] or ["    pass"]

    def statement(self) -> Part:
        chance = self.chance
        send = (f"send {chance.choice(PACKETS)}(m) to {chance.choice(TO)}",)
        changed = (chance.choice(("ok := not ok", "out.remove(m)", "out.add(m)")),)
        inner = chance.choice((send, DELIVERED))
        asked = (f"if {chance.choice(CONDITIONS)}:", *(f"  {each}" for each in inner))
        return chance.choice((send, send, send, DELIVERED, HELD_BACK, tuple(BOX), changed, asked))

    def clauses(self) -> list[str]:
        """Of each event, which transition it is."""
        found = ["conforms drawn to watch:", "  causal_send(m) is causal_send(m)", "  deliver m is deliver(m)"]
        for packet in PACKETS:
            for event, usual in ((f"receive {packet}(m) from j", self.manner.arrival),
                                 (f"send {packet}(m) to j", self.manner.departure)):  # fmt: skip
                if usual == self.manner.departure and packet == "PING" and not self.usual(False, True):
                    continue
                said = self.usual(usual, None, *FLAGS, f"{self.chance.choice(FLAGS)}(m) or up")
                if said is not None:
                    when = self.usual("", ", when m in got", ", when ok", ", when m not in got")
                    found.append(f"  {event} is {said}(m){when}")
        return found


def drawn_link(seed: int, attempt: int = 0) -> DrawnLink:
    """A machine with a statement that may be true, a protocol, and a link of which each event is some transition.

    `attempt`: another machine for the same protocol and link.
    """
    chance = Random(f"several events in a step {seed}")
    draw = _Draw(chance.choice(MANNERS), chance)
    rest = [*draw.protocol(), *draw.clauses()]
    return DrawnLink("\n".join([*_Draw(draw.manner, Random(f"machine {seed} {attempt}")).machine(), *rest]))


def workloads(link: ir.Link) -> tuple[ir.Workload, ...]:
    """Small scopes that `delivered` is judged in: one message or two, also to oneself, and one fault where there are
    any. Of a link that is about applications that send inside a delivery, also such scopes."""
    protocol = link.protocol
    one = ir.Workload(2, (1, 0), ((1,), ()))
    found = [
        one,
        ir.Workload(2, (1, 1), ((1,), (0,))),
        ir.Workload(1, (1,), ((0,),)),
        ir.Workload(2, (2, 0), ((0, 1), ())),
    ]
    if protocol.network.lossy:
        found.append(replace(one, losses=1))
    if protocol.network.duplicating:
        found.append(replace(one, duplicates=1))
    if not premises(link).between_steps:
        answering = (found[1], found[3], ir.Workload(2, (2, 1), ((1,), (0,))))
        found += [replace(each, sending=ir.Finite(reactive=True)) for each in answering]
    return tuple(found)
