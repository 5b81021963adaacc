"""Implementations on real sockets: asyncio, UDP and TCP.

    async with local_group(HybridBasic, 3) as (alice, bob, carol):
        alice.send(2, "Let's meet at 3")
        alice.send(1, "Can you join?")
        print(await bob.receive())

or, a process on each machine:

    async with await bind_udp(HybridBasic, 0, 2, ("0.0.0.0", 9000)) as endpoint:
        endpoint.connect([("10.0.0.1", 9000), ("10.0.0.2", 9000)])
"""

from __future__ import annotations

from thence.impl.transport.carriers import Address
from thence.impl.transport.disturbance import Disturbance
from thence.impl.transport.endpoint import Counters, Delivery, Endpoint, Options, TransportError
from thence.impl.transport.group import bind_tcp, bind_udp, local_group
from thence.impl.transport.recorder import LogError, Recorder, merged

__all__ = [
    "Address",
    "Counters",
    "Delivery",
    "Disturbance",
    "Endpoint",
    "LogError",
    "Options",
    "Recorder",
    "TransportError",
    "bind_tcp",
    "bind_udp",
    "local_group",
    "merged",
]
