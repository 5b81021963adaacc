"""Runners for the campaign tests. Workers import this module by name."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from thence.conformance.campaign import SeedOutcome


def walk(params: Mapping[str, Any]) -> Callable[[int], SeedOutcome]:
    """A random walk; it fails when it climbs above `limit`. `pause_s` makes cases slow."""
    steps, limit, pause_s = int(params["steps"]), int(params["limit"]), float(params.get("pause_s", 0))

    def case(seed: int) -> SeedOutcome:
        generator = random.Random(seed)
        moves = [generator.choice((-1, 1)) for _ in range(steps)]
        height = digest = 0
        highest = 0
        for move in moves:
            height += move
            highest = max(highest, height)
            digest = (digest * 31 + height) % 2**64
        time.sleep(pause_s)
        failed = highest > limit
        return SeedOutcome(
            seed=seed,
            events=steps,
            findings=(f"above: reached {highest}",) if failed else (),
            operations_json=str(moves) if failed else None,
            digest=digest,
            group="even" if seed % 2 == 0 else "odd",
        )

    return case


def troubled(params: Mapping[str, Any]) -> Callable[[int], SeedOutcome]:
    """A runner with a fault: `how` says which, at the seed `at`."""
    how, at = params["how"], params["at"]

    def case(seed: int) -> SeedOutcome:
        if seed == at:
            if how == "raise":
                raise RuntimeError("the case\nfell over")
            if how == "exit":
                raise SystemExit(3)
            if how == "hang":
                time.sleep(60)
            if how == "die":
                os._exit(7)
            if how == "other seed":
                return SeedOutcome(seed=seed + 1, events=1)
            if how == "bad findings":
                return SeedOutcome(seed=seed, events=1, findings=["a list"])  # type: ignore[arg-type]
        return SeedOutcome(seed=seed, events=1, digest=seed)

    return case


class Mute:
    """A system in which nothing is ever sent or delivered."""

    def __init__(self, identity: int, processes: int) -> None:
        pass

    def causal_send(self, destination: int, message: str) -> list[Any]:
        return []

    def receive(self, sender: int, packet: Any) -> list[Any]:
        return []


def counted(params: Mapping[str, Any]) -> Callable[[int], SeedOutcome]:
    """Leaves a file in the directory `built` each time that it is built in a process."""
    Path(params["built"], f"{os.getpid()}-{time.monotonic_ns()}").touch()
    return lambda seed: SeedOutcome(seed=seed, events=1, digest=seed)


def refusing(params: Mapping[str, Any]) -> Callable[[int], SeedOutcome]:
    """Takes no parameters at all."""
    raise ValueError(f"unknown system {params.get('system')!r}")


def useless(_params: Mapping[str, Any]) -> int:
    """Makes no function."""
    return 1


NOT_A_FUNCTION = 1
