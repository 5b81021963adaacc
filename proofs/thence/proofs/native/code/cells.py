"""The words through which Python and the generated code talk: one array for the search, one for each thread."""

from __future__ import annotations

from enum import IntEnum

CROWDED = "no identity is free"
"""Noted where a process that sends for ever is kept from sending since each of its identities is in use."""

FINDINGS = (
    "causal", "fifo", "csps", "sps", "at_most_once", "no_creation", "total_order", "causally_ordered", "fault",
    "delivered", "link", CROWDED,
)  # fmt: skip
"""What the generated code notes by itself, apart from invariants of one process: properties, and CROWDED."""

NEVER = (1 << 64) - 1
"""In the place of a state's number: no state shows a violation."""

HOLE = (1 << 32) - 1
"""In the place of a parent: no state has this number."""

ROOT = (1 << 32) - 2
"""The parent of the initial state."""

RING = 64
"""Successors on their way into the store, so that memory has time to answer."""

RECENT_STEPS = 1 << 14
"""Local steps in a thread's own cache, a power of two."""

CHUNK = 64
"""States that a thread takes at a time."""

BLOCK = 64
"""Numbers for new states that a thread takes at a time, so that threads rarely meet."""


class Shared(IntEnum):
    """Cells of the whole search: addresses, unless said otherwise.

    STATES, PARENTS: by number of the state. INDEX: numbers plus one, by hash; SLOTS_MASK: its size minus one. COUNT
    (number): how many states have been numbered; ROOM: from how many on no state is expanded. CURSOR, END
    (numbers): the states to expand; LIST: which ones, or 0 for all from CURSOR. STEPS, STEPS_MASK, OPERATIONS,
    PACKETS: see `tables`. RENAMED_LOCALS, RENAMED_PACKETS: by permutation and number; CLASSES: by local state; see
    `canonical`. PROGRESS...: the measure of progress by local state and packet, the weights (numbers) of sends,
    ticks, duplicates and losses, and the sum at the start; see `sweep_store`.
    """

    STATES = 0
    PARENTS = 1
    INDEX = 2
    SLOTS_MASK = 3
    LIST = 4
    END = 5
    STEPS = 6
    STEPS_MASK = 7
    OPERATIONS = 8
    PACKETS = 9
    RENAMED_LOCALS = 10
    RENAMED_PACKETS = 11
    CLASSES = 12
    ROOM = 14
    COUNT = 16
    CURSOR = 24
    PROGRESS_LOCALS = 32
    PROGRESS_PACKETS = 33
    PROGRESS_START = 34
    PROGRESS_SENDS = 35
    PROGRESS_TICKS = 36
    PROGRESS_DUPLICATES = 37
    PROGRESS_LOSSES = 38


class Sweep(IntEnum):
    """Cells of one pass over the states that are kept, see `sweep_store`."""

    END = 0
    LEVEL = 1
    LIST = 2
    COUNT = 3
    DEPTH = 4
    NEXT = 5


class Pass(IntEnum):
    """Cells of one pass over rows or states, see `disk_store`.

    START, END: the states, by number. MASK: the number of parts minus one. COUNTS, PLACES (addresses): by part. ROWS
    (address): packed states, COUNT of them. OWN (address): the cells of the thread. STRIKES: whether what is met is
    struck out. MET: the state that was met last.
    """

    START = 0
    END = 1
    MASK = 2
    COUNTS = 3
    PLACES = 4
    ROWS = 5
    COUNT = 6
    OWN = 7
    STRIKES = 8
    MET = 9


class Own(IntEnum):
    """Cells of one thread: numbers, unless said otherwise.

    EDGES: transitions of the states that were expanded in full. MISSING: whether the state being expanded asks for
    a step that is not in the table. WANTED (address): the keys asked for, WANTED_COUNT of at most WANTED_ROOM.
    DEFERRED (address): the states that asked, DEFERRED_COUNT. NEXT, LAST: the numbers that it may use, LAST
    excluded. RING_BASE (address), RING_AT: see `store`. RECENT, RECENT_SETTLED (addresses): see `recent`. STEPS
    (address): a cache of local steps, key and entry. OVERFLOW: whether a network was too small. STRAYED: 1 if a
    step was no progress, 2 if there are more levels than can be counted. FOUND...: by property, the least state
    that shows it.
    """

    EDGES = 0
    MISSING = 1
    WANTED = 2
    WANTED_COUNT = 3
    WANTED_ROOM = 4
    DEFERRED = 5
    DEFERRED_COUNT = 6
    NEXT = 7
    RING_BASE = 8
    RING_AT = 9
    OVERFLOW = 10
    LAST = 11
    STRAYED = 12
    RECENT = 13
    RECENT_SETTLED = 14
    STEPS = 15
    FOUND = 16


MOST_INVARIANTS = 40
"""Most invariants that native code judges; their cells are behind those of FINDINGS."""


class Job(IntEnum):
    """Cells of one sifting, see `sifting`."""

    TABLE = 0
    TABLE_MASK = 1
    MASKS = 2
    ROWS = 3
    START = 4
    END = 5
    KNOWN = 6
    KNOWN_COUNT = 7
    QUIET = 8
    REFILL = 9


class Operation(IntEnum):
    """The kind of an operation of a local step, its lowest four bits; see `tables`."""

    END = 0
    DELIVER = 1
    CHECK = 2
    ADD = 3
    FAULT = 4
    BREAK = 5
    REFUSE = 6
    OWE = 7
    ACT = 8
    FOLLOW = 9
    ANSWER = 10


KNOWN = 1 << 61
"""Bit that every entry has: an entry is not 0."""

MORE = 1 << 60
"""Bit of an entry: the step has another alternative, see `Shape.varies`."""

BROKEN = 1 << 60
"""Bit of the entry of a companion's step: there is none."""

FOLLOWS = 1 << 62
"""Bit of the key of a companion's step, which has the number of its state in the upper half, and that of the act."""

REFERS = FOLLOWS | 1 << 31
"""Bits of a key that asks which messages a local state, or a packet (if the lowest bit is set), refers to. Its number
is in the upper half."""

INPUT_BITS = 20
"""Bits of the input in a key where steps have alternatives; behind it stand how many messages the process has sent,
where it may send inside a delivery, and the number of the alternative."""

TOGETHER = 1 << 63
"""Bit of a key that is about the states of several processes at once; see `together`."""

FLIES = 1 << 31
"""Bit of what is given in such a key: the rest is the number of a packet in flight, plus one."""

MOST_PROMISED = 56
"""Most promises, each for some processes, that native code keeps: so many bits has an operation."""

STEP_FACTOR = 0x9E3779B97F4A7C15
"""Multiplies the key of a local step; the upper half places it."""
