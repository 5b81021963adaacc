"""Random protocols for the tests of liveness: with echoes, gates, flags and timers, in the smallest scopes."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

from tests.proofs.random_overlays import drawn_links, with_overlay

from thence.dsl import ir
from thence.dsl.load import load_bytes

RECEIVES = ("receive", "receive", "receive, periodically", "receive, causal_send", "MSG", "MSG, GO", "PING, TRY, GO")

AFTERWARDS = (
    "flag := not flag",
    "flag := true",
    "if kept is not empty:\n      deliver kept.first\n      kept.pop()",
    "if flag:\n      while kept is not empty:\n        deliver kept.first\n        kept.pop()",
    "if kept is not empty:\n      send MSG(kept.first) to self\n      kept.pop()",
)

TO_THE_SENDER = ("send PING() to j", "send GO(flag) to j", "send GO(not flag) to j", "if flag: send PING() to j")

WITH_THE_MESSAGE = (
    "deliver m",
    "deliver m",
    "kept.push(m)",
    "if flag: deliver m\n    else: kept.push(m)",
    "if flag: deliver m\n    else: send MSG(m) to self",
    "if flag: send MSG(m) to j\n    else: send TRY(m) to j",
    "if self = m.dst: deliver m\n    else: send MSG(m) to m.dst",
)

WITH_THE_FLAG = (
    "if f = flag:\n      if kept is not empty:\n        deliver kept.first\n        kept.pop()",
    "flag := f",
    "flag := not f",
    "if f: send GO(flag) to j",
)

TIMERS = (
    "flag := not flag",
    "for p in process:\n      if p != self: send GO(flag) to p",
    "for p in process:\n      if p != self: send PING() to p",
    "if kept is not empty:\n      deliver kept.first\n      kept.pop()",
    "if kept is not empty:\n      send MSG(kept.first) to kept.first.dst\n      kept.pop()",
)

AT_FIRST = ("send MSG(m) to m.dst", "send TRY(m) to m.dst", "kept.push(m)")

AND_THEN = ("send PING() to m.dst", "send GO(flag) to m.dst")


INPUTS = (
    "flag := not flag",
    "flag := true",
    "for p in process: send GO(flag) to p",
    "send PING() to self",
    *AFTERWARDS[2:],
)


def with_input(text: str, draw: random.Random) -> str:
    """The text with an input of the application, which may be fair."""
    guard = draw.choice(("", "", " when flag", " when not flag", " when kept is not empty"))
    handler = f"  on poke(){guard}:\n    {draw.choice(INPUTS)}\n"
    fair = ", poke" if draw.random() < 0.6 else ""
    return text.replace("  eventually delivered", f"{handler}  eventually delivered").rstrip() + f"{fair}\n"


def random_text(draw: random.Random) -> str:
    """The text of a protocol. Every handler is free of faults; the states need not be finitely many."""

    def some(most: int, *choices: tuple[str, ...]) -> str:
        lines = [draw.choice(draw.choice(choices)) for _ in range(draw.randint(0, most))]
        return "\n    ".join(lines or ["if flag: flag := true"])

    weakly = draw.choice(("", "", "", "weakly "))
    timers = draw.choice((("",), ("",), ("", " slow"), (" slow", " fast"))) if draw.random() < 0.45 else ()
    timer = "".join(f"  periodically{name}:\n    {some(2, TIMERS)}\n" for name in timers)
    named = [name for name in timers if name and draw.random() < 0.4]
    return f"""
protocol p:
  network reliable, {draw.choice(("reordering", "fifo"))}
  message MSG(m: message) carries m
  message TRY(m: message)
  message PING()
  message GO(f: bool)
  state:
    flag: bool
    kept: queue of message
  on causal_send(m):
    {draw.choice(AT_FIRST)}
    {some(1, AND_THEN, AFTERWARDS[:2])}
  on receive MSG(m) from j:
    {draw.choice(WITH_THE_MESSAGE)}
    {some(1, TO_THE_SENDER, AFTERWARDS)}
  on receive TRY(m) from j:
    {draw.choice(WITH_THE_MESSAGE[2:])}
    {some(1, TO_THE_SENDER)}
  on receive PING() from j:
    {some(1, TO_THE_SENDER, AFTERWARDS)}
  on receive GO(f) from j:
    {some(2, WITH_THE_FLAG, AFTERWARDS)}
{timer}  eventually delivered under {weakly}fair {draw.choice(RECEIVES)}{"".join(f",{name}" for name in named)}
"""


def on_overlay(text: str, workload: ir.Workload, seed: int) -> tuple[str, ir.Workload]:
    """Now and then the same on an overlay whose links need not lead everywhere; packets go to neighbors only."""
    if seed % 4 != 1:
        return text, workload
    return with_overlay(text, seed, guarded=1), replace(workload, links=drawn_links(seed, workload.processes))


def random_system(seed: int) -> tuple[ir.Protocol, ir.Workload]:
    """A random protocol and a scope of it."""
    draw = random.Random(seed)
    text = random_text(draw)
    workload = random_workload(draw)
    text, workload = on_overlay(text, workload, seed)
    return _loaded(text), workload


def random_protocol(draw: random.Random) -> ir.Protocol:
    """A random protocol."""
    return _loaded(random_text(draw))


def _loaded(text: str) -> ir.Protocol:
    loaded = load_bytes(Path("random.thence"), text.encode())
    assert loaded.specification is not None, (text, [each.message for each in loaded.diagnostics])
    return loaded.specification.protocols[0]


def random_workload(draw: random.Random) -> ir.Workload:
    """A scope of two processes and one or two messages."""
    return ir.Workload(
        2,
        draw.choice(((1, 0), (1, 0), (1, 1), (2, 0))),
        ((1,), (0,)),
        ticks=draw.choice((None, None, None, 0, 1)),
        losses=draw.choice((0, 0, 0, 1)),
        duplicates=draw.choice((0, 0, 0, 1)),
    )
