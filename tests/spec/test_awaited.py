"""What a delivery overtakes, counted by vectors and bisection, against counting one by one."""

from __future__ import annotations

from random import Random

import pytest

from thence.spec.awaited import FEW, TRIMMED, Awaited, width_of

PROCESSES = 3 * FEW
SENDS = 3 * TRIMMED * PROCESSES


@pytest.mark.parametrize("order", ["oldest first", "newest first", "any"])
@pytest.mark.parametrize("seed", range(4))
def test_counts_are_those_of_counting_one_by_one(order: str, seed: int) -> None:
    random = Random(seed)
    width = width_of(SENDS)
    counted = Awaited(0, PROCESSES, width)
    sent = [0] * PROCESSES
    coming: list[tuple[int, int]] = []
    never: list[tuple[int, int]] = []
    senders_asked = set()
    for _ in range(SENDS):
        if random.random() < 0.55 or not coming:
            sender = random.randrange(PROCESSES)
            sent[sender] += 1
            comes = random.random() < 0.999
            (counted.sent if comes else counted.lost)(sender, sent[sender])
            (coming if comes else never).append((sender, sent[sender]))
            continue
        place = {"oldest first": 0, "newest first": -1}.get(order, random.randrange(len(coming)))
        sender, number = coming.pop(place)
        counted.delivered(sender, number)
        known = random.randrange(PROCESSES + 1)  # of so many senders everything is within the past
        past = [count if one < known else random.randint(0, count) for one, count in enumerate(sent)]
        late = [one for one in coming if one[1] <= past[one[0]]]
        of_sender = any(one[0] == sender and one[1] < number for one in coming)
        vector = sum(count + (1 << width - 1) << width * one for one, count in enumerate(past))
        assert counted.overtaken(vector, sender, number) == (
            len(late),
            of_sender,
            any(one[1] <= past[one[0]] for one in never),
        )
        senders_asked.add(len({one[0] for one in coming if one[1] > past[one[0]]}) > FEW)
    assert senders_asked == {False, True} or order == "newest first"
