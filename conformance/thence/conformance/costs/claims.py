"""Table 1 of Almeida's paper, as printed, with explanations of measures that differ from it.

Source: Paulo Sérgio Almeida, "Space-Optimal, Computation-Optimal, Topology-Agnostic, Throughput-Scalable Causal
Delivery through Hybrid Buffering", Table 1 with its notes. The column of the paper itself is about its algorithms 1-3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

Cell: TypeAlias = Literal[
    "network", "message", "process", "sender", "receiver", "optimal", "non-causal", "scalable", "in transit",
    "liveness", "control",
]  # fmt: skip

CELLS: Final[Mapping[Cell, str]] = {
    "network": "network: failures, order",
    "message": "space: message",
    "process": "space: process",
    "sender": "computation: sender",
    "receiver": "computation: receiver",
    "optimal": "latency: optimal",
    "non-causal": "latency: non-causal",
    "scalable": "throughput: scalable",
    "in transit": "throughput: in transit",
    "liveness": "liveness",
    "control": "extra control messages",
}
"""The rows of the table, in its order."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A cell of the table.

    Attributes:
        text: as printed.
        reached: exponents that the claim says are reached, by `measure/parameter`; 0 for all others of the measure.
        within: exponents that the claim allows: in- and out-degree, for one, are less than n.
    """

    text: str
    reached: Mapping[str, float] = field(default_factory=dict)
    within: Mapping[str, float] = field(default_factory=dict)


_CONSTANT: Final = Claim("O(1)")
_UNACKED: Final = ("process/u", "process/u over o", "process/p")
_HYBRID: Final[Mapping[Cell, Claim]] = {
    "network": Claim("any, any"),
    "message": _CONSTANT,
    "process": Claim(
        "O(i+o+b+p+u)",
        {f"process/{each}": 1 for each in ("i", "o", "b", "u", "u over o", "p")},
    ),
    "sender": _CONSTANT,
    "receiver": _CONSTANT,
    "optimal": Claim("no"),
    "non-causal": Claim("sender O(r)"),
    "scalable": Claim("yes"),
    "in transit": Claim("unlimited"),
    "liveness": Claim("yes"),
    "control": Claim("ACK, PERMIT"),
}

CLAIMS: Final[Mapping[str, Mapping[Cell, Claim]]] = {
    "rst": {
        "network": Claim("reliable, any"),
        "message": Claim("O(n^2)", {"message/n": 2}),
        "process": Claim("O(n^2 b)", {"process/n": 2, "process/b": 1}),
        "sender": _CONSTANT,
        "receiver": Claim("O(n^2)", {"receiver/n": 2}, {"receiver/i": 1}),
        "optimal": Claim("yes"),
        "non-causal": Claim("no 0"),
        "scalable": Claim("yes"),
        "in transit": Claim("unlimited"),
        "liveness": Claim("yes"),
        "control": Claim("no"),
    },
    "ks": {
        "network": Claim("reliable, FIFO"),
        "message": Claim("O(n^2)", {"message/n": 2}),
        "process": Claim(
            "O(n^2 b)", {"process/n": 2, "process/b": 1}, {"process/i": 1, "process/o": 1, "process/u over o": 1}
        ),
        "sender": Claim("O(n^2)", {"sender/n": 2}, {"sender/o": 1}),
        "receiver": Claim("O(n^2)", {"receiver/n": 2}, {"receiver/i": 1}),
        "optimal": Claim("yes"),
        "non-causal": Claim("no 0"),
        "scalable": Claim("yes"),
        "in transit": Claim("unlimited"),
        "liveness": Claim("yes"),
        "control": Claim("no"),
    },
    "newtop": {
        "network": Claim("reliable, FIFO"),
        "message": _CONSTANT,
        "process": Claim("O(n+b)", {"process/n": 1, "process/b": 1}, dict.fromkeys(_UNACKED, 1)),
        "sender": _CONSTANT,
        "receiver": Claim("O(n)", {"receiver/n": 1}),
        "optimal": Claim("no"),
        "non-causal": Claim("receiver unbounded"),
        "scalable": Claim("yes"),
        "in transit": Claim("unlimited"),
        "liveness": Claim("no"),
        "control": Claim("no"),
    },
    "mf": {
        "network": Claim("any, any"),
        "message": _CONSTANT,
        # All but one of the messages that are causal-sent at once are buffered.
        "process": Claim("O(b)", {"process/u": 1, "process/u over o": 1}, {"process/b": 1}),
        "sender": _CONSTANT,
        "receiver": _CONSTANT,
        "optimal": Claim("no"),
        "non-causal": Claim("sender O(br)"),
        "scalable": Claim("no"),
        "in transit": Claim("1"),
        "liveness": Claim("yes"),
        "control": Claim("ACK"),
    },
    "cykas": {
        "network": Claim("reliable, any"),
        "message": _CONSTANT,
        "process": Claim(
            "O(no+b)", {"process/n": 1, "process/u over o": 2, "process/b": 1, "process/u": 1}, {"process/o": 1}
        ),
        "sender": Claim("O(no)", {"sender/n": 1, "sender/o": 1}),
        "receiver": _CONSTANT,
        "optimal": Claim("no"),
        "non-causal": Claim("sender unbounded"),
        "scalable": Claim("no"),
        "in transit": Claim("1/receiver"),
        "liveness": Claim("no"),
        "control": Claim("ACK, YCT"),
    },
    "hybrid_basic": _HYBRID,
    "hybrid_optimal": _HYBRID,
    "hybrid_multicast": _HYBRID,
}
"""The columns of the table. Systems that are not here are not in it."""

_NO_WORST_CASE: Final = (
    "a bound for the worst case, which this workload does not reach: on a ring, what is known of others is mostly "
    "redundant and forgotten (the paper: O(n^k) with k closer to 1 than 2 in practice, and always at least n)"
)
_CHECKS: Final = (
    "our implementation compares each arrival with all that waits from its sender, to tell a second copy; the paper "
    "has no such check, and assumes a network without copies"
)

EXPLANATIONS: Final[Mapping[tuple[str, Cell], str]] = {
    ("rst", "sender"): (
        "the n references to shared rows that are attached, and the copy of the one row that changes; a note of the "
        "table leaves the attaching out"
    ),
    ("rst", "receiver"): _CHECKS,
    ("ks", "network"): (
        "our implementation delivers in causal order on channels that reorder as well: a message's log names what came "
        "before it from the same sender"
    ),
    ("ks", "message"): _NO_WORST_CASE,
    ("ks", "process"): _NO_WORST_CASE,
    ("ks", "sender"): _NO_WORST_CASE,
    ("ks", "receiver"): f"{_NO_WORST_CASE}; over b: {_CHECKS}",
    ("newtop", "sender"): (
        "a broadcast is n - 1 packets here, and the sender looks for the lowest of n clocks; the paper counts a "
        "broadcast as one step"
    ),
    ("mf", "network"): (
        "MF as published, and as implemented here, has no retransmission: a lost message or acknowledgement stops its "
        "sender for good. The table does not say what it takes to be added"
    ),
    ("cykas", "process"): (
        "only receivers with an eager message whose YCT is due take space: o sets of up to o processes each, so o^2, "
        "which is no more than no; queues of all others are empty, and n alone costs nothing"
    ),
}
"""Why a measure differs from the table."""

NOTES: Final[Mapping[str, str]] = {
    "tree": "messages go by way of other processes, which costs operations there, and time; latencies here are those "
    "beyond one hop. The shipped default tree is a line",
    "client_server": "causal at the server (process 0) only, which the triangle is about; messages to other clients "
    "are delivered as they arrive",
    "fifo": "a negative control: latency and liveness are those of a system that does not wait for causes",
    "synchronous": "a negative control: while a message is unacknowledged, the application cannot send the next",
    "newtop": "with null messages, whenever the network is quiet, it is delivered; without, a silent process stops it. "
    "Messages wait at their sender and at their receivers: what grows with o, u and p is b",
    "mf": "of messages sent at once, all but one are buffered: what grows with o and u is b",
    "mf_pipelined": "messages behind one to another receiver are buffered: what grows with o and u is b",
    "hybrid_multicast": "driven with one receiver a message",
    "ks": "driven with one receiver a message",
}
"""Notes on columns."""
