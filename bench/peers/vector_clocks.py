"""A recording checked by hand, as one would who has no tool: Raynal, Schiper and Toueg's matrices, with numpy.

Each message carries how many messages everyone had sent to everyone, as far as its sender knew. A delivery is right
where its process has already delivered all that the message knows to be sent to it. The answer is yes, or the number
of the first wrong event: nothing is explained.

python bench/peers/vector_clocks.py FILE
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np


def first_wrong(path: Path) -> int | None:
    """The number of the first delivery that breaks causal order, from 1; None if there is none."""
    with path.open(encoding="utf-8") as file:
        processes = json.loads(next(file))["processes"]
        sent = np.zeros((processes, processes, processes), dtype=np.uint32)
        done = np.zeros((processes, processes), dtype=np.uint32)
        carried: dict[str, tuple[int, np.ndarray]] = {}
        for number, line in enumerate(file, 1):
            event = json.loads(line)
            at, message = event["process"], event["message"]
            if event["event"] == "send":
                carried[message] = (at, sent[at].copy())
                for destination in event["destinations"]:
                    sent[at, at, destination] += 1
            else:
                sender, matrix = carried.pop(message)
                if (done[at] < matrix[:, at]).any():
                    return number
                done[at, sender] += 1
                np.maximum(sent[at], matrix, out=sent[at])
                sent[at, sender, at] = max(sent[at, sender, at], matrix[sender, at] + 1)
    return None


if __name__ == "__main__":
    found = first_wrong(Path(sys.argv[1]))
    print("causal" if found is None else f"event {found} breaks causal order")
    sys.exit(found is not None)
