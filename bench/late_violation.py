"""Recordings with one violation of causal order, at their very end.

python bench/late_violation.py FILE [EVENTS [PROCESSES]]
"""

from __future__ import annotations

import json
import sys
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

EVENTS = 1_000_000
PROCESSES = 32


def late_violation(
    events: int = EVENTS, processes: int = PROCESSES, seed: int = 1, *, broadcast: bool = False
) -> Iterator[dict[str, Any]]:
    """The lines of a recording: everybody sends to everybody, and delivers in the order of sending.

    One message from the beginning is withheld at the last process. Its sender tells another process, and the news
    spreads by random messages to all. At the end the last process delivers a message with that past, then the
    withheld one.
    """
    random = Random(seed)
    last = processes - 1
    waiting = [deque[str]() for _ in range(processes)]
    yield {"format": "thence-trace/1", "processes": processes, "source": "bench/late_violation.py", "seed": seed}
    yield {"event": "send", "process": 0, "message": "first", "destinations": [last]}
    sent, made = 0, 2
    while made < events - 6:
        there = random.randrange(processes - 1)
        if random.random() < 0.5 or not waiting[there]:
            message, sent = f"m{sent}", sent + 1
            if broadcast:
                sender = random.randrange(processes - 1)
                destinations = [one for one in range(processes - 1) if one != sender]
            else:
                sender = (there + random.randrange(1, processes - 1)) % (processes - 1)
                destinations = [there]
            for destination in destinations:
                waiting[destination].append(message)
            yield {"event": "send", "process": sender, "message": message, "destinations": destinations}
        else:
            yield {"event": "deliver", "process": there, "message": waiting[there].popleft()}
        made += 1
    yield {"event": "send", "process": 1, "message": "late", "destinations": [last]}
    yield {"event": "deliver", "process": last, "message": "late"}
    yield {"event": "deliver", "process": last, "message": "first"}


def write_late_violation(path: Path, **wanted: Any) -> None:
    """Writes the recording. Its messages that are still under way in the end are stuck."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in late_violation(**wanted))


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[2:]]
    write_late_violation(Path(sys.argv[1]), **dict(zip(("events", "processes"), numbers, strict=False)))
