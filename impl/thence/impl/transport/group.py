"""Endpoints, alone or as a group in one program."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from thence.impl.transport.carriers import Address, Carrier, Datagrams, Streams
from thence.impl.transport.endpoint import Endpoint, Options

LOOPBACK: Address = ("127.0.0.1", 0)
"""A port of this machine, chosen by the operating system."""


async def bind_udp(
    process_class: Any, identity: int, processes: int, address: Address = LOOPBACK, options: Options | None = None
) -> Endpoint:
    """Process `identity` of `processes`, at a UDP port. Raises OSError, and ValueError as `Endpoint` does."""
    return await _bind(process_class, identity, processes, await Datagrams.bind(address), options)


async def bind_tcp(
    process_class: Any, identity: int, processes: int, address: Address = LOOPBACK, options: Options | None = None
) -> Endpoint:
    """Process `identity` of `processes`, at a TCP port. Raises OSError, and ValueError as `Endpoint` does."""
    return await _bind(process_class, identity, processes, await Streams.bind(address), options)


async def _bind(
    process_class: Any, identity: int, processes: int, carrier: Carrier, options: Options | None
) -> Endpoint:
    try:
        return Endpoint(process_class, identity, processes, carrier, options)
    except BaseException:
        await carrier.close()
        raise


@asynccontextmanager
async def local_group(
    process_class: Any,
    processes: int,
    options: Options | None = None,
    *,
    carrier: Literal["udp", "tcp"] = "udp",
    record: str | Path | None = None,
) -> AsyncIterator[tuple[Endpoint, ...]]:
    """All processes of a group, on ports of this machine, in this program.

    With `record`, each writes its events into that folder: p0.ndjson, p1.ndjson and so on. A disturbance is each
    process's own.
    """
    options = options or Options()
    bind = bind_udp if carrier == "udp" else bind_tcp
    async with AsyncExitStack() as stack:
        group = []
        for identity in range(processes):
            own = replace(options, record=None if record is None else Path(record) / f"p{identity}.ndjson")
            if options.disturbance is not None:
                seed = options.disturbance.seed * processes + identity
                own = replace(own, disturbance=replace(options.disturbance, seed=seed))
            group.append(await stack.enter_async_context(await bind(process_class, identity, processes, LOOPBACK, own)))
        addresses = [endpoint.address for endpoint in group]
        for endpoint in group:
            endpoint.connect(addresses)
        yield tuple(group)
