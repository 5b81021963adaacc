"""Runs without detours: what is left reaches the goal, and without any step or two, or a few in a row, it does not."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from random import Random

import pytest

from thence.dsl import ir
from thence.dsl.load import load_bytes
from thence.proofs.machine.goals import Falsification, TransitionRun
from thence.proofs.machine.smallest_run import ROUND, SHORT, smallest, without_detours
from thence.proofs.machine.transitions import actions, initial

TEXT = """machine doors:
  delivery off
  sort room
  relation open(r: room)
  relation key(r: room)
  relation seen(r: room)
  transition unlock(r: room): key(r) := true
  transition turn(r: room):
    require key(r)
    open(r) := not open(r)
  transition look(r: room):
    require open(r) and not seen(r)
    seen(r) := true
    open(r) := false
  invariant seldom: forall a, b. seen(a) and seen(b) implies a = b
"""


Steps = list[tuple[str, int]]


def walked(steps: Steps) -> tuple[Steps, set[int]]:
    """The doors in plain Python: the steps that are enabled when they come, and the rooms that are seen in the end."""
    key, opened, seen, done = set[int](), set[int](), set[int](), Steps()
    for name, room in steps:
        if name == "unlock":
            key.add(room)
        elif name == "turn" and room in key:
            opened ^= {room}
        elif name == "look" and room in opened - seen:
            seen.add(room)
            opened.remove(room)
        else:
            continue
        done.append((name, room))
    return done, seen


def is_way(steps: Steps) -> bool:
    done, seen = walked(steps)
    return done == steps and len(seen) > 1


def drawn(seed: int) -> tuple[ir.Machine, TransitionRun, Steps]:
    """The machine, a run of it that sees both rooms, and its steps."""
    specification = load_bytes(Path("doors.thence"), TEXT.encode()).specification
    assert specification is not None
    (machine,) = specification.machines
    by_name, random = {action.name: action for action in actions(machine)}, Random(seed)
    names = random.choices(["unlock", "turn", "turn", "look"], k=12)
    steps, seen = walked([(name, random.randrange(2)) for name in names])
    while len(seen) < 2:
        more = [(random.choice(["unlock", "turn", "look"]), random.randrange(2))]
        steps, seen = walked([*steps, *more])
    run = TransitionRun(initial(machine, {"room": 2}, {}), tuple((by_name[name], (room,)) for name, room in steps))
    return machine, run, steps


@pytest.mark.parametrize("seed", range(12))
def test_nothing_can_be_left_out(seed: int) -> None:
    machine, run, steps = drawn(seed)
    (seldom,) = machine.invariants
    short = [(action.name, room) for action, (room,) in without_detours(machine, Falsification(seldom), run).steps]
    assert is_way(short) and set(short) <= set(steps)
    numbers = range(len(short))
    assert len(short) <= SHORT
    rounds = [numbers[first : first + length] for length in range(3, ROUND + 1) for first in numbers[: 1 - length]]
    for gone in (*combinations(numbers, 1), *combinations(numbers, 2), *rounds):
        assert not is_way([step for at, step in enumerate(short) if at not in gone])


def over_after(looks: int) -> Callable[[], bool]:
    left = iter(range(looks))
    return lambda: next(left, None) is None


@pytest.mark.parametrize("seed", range(6))
def test_a_run_that_there_is_no_time_for_is_still_one(seed: int) -> None:
    """The sooner the time is over, the longer it may be; at once, nothing is left out."""
    machine, run, steps = drawn(seed)
    goal = Falsification(machine.invariants[0])
    lengths = []
    for looks in (0, 5, 20, 10_000):
        shorter = without_detours(machine, goal, run, over_after(looks))
        done = [(action.name, room) for action, (room,) in shorter.steps]
        assert is_way(done)
        lengths.append(len(done))
    assert lengths[0] == len(steps) and lengths == sorted(lengths, reverse=True)
    assert smallest(machine, goal, run, lambda: True) == run
