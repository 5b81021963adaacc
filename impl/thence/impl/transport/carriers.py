"""What carries frames from process to process: datagrams (UDP) or streams (TCP) on real sockets, with asyncio.

A carrier promises nothing: a frame may be lost (a datagram, or what was on its way when a stream broke), come twice or
out of order (datagrams). Addresses are `(host, port)`; port 0 lets the operating system choose one.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final, Protocol, TypeAlias, cast

Address: TypeAlias = tuple[str, int]

LARGEST_DATAGRAM_BYTES: Final = 65_507
LARGEST_FRAME_BYTES: Final = 1 << 26
QUEUED_FRAMES: Final = 10_000
"""Frames that wait for a stream; beyond it the oldest are dropped."""

RETRY_S: Final = (0.02, 1.0)
"""The first and the longest pause before another attempt to connect."""


class Carrier(Protocol):
    """Frames to and from the processes at the other addresses."""

    @property
    def address(self) -> Address:
        """Where this process is reached."""
        ...

    @property
    def largest_frame(self) -> int:
        """In bytes."""
        ...

    def start(self, addresses: Sequence[Address], arrived: Callable[[bytes], None], broken: Callable[[], None]) -> None:
        """From now on, frames go to these addresses; `arrived` is called with each that comes, and `broken` for what
        comes and cannot be told to be one."""
        ...

    def transmit(self, destination: int, frame: bytes) -> None:
        """Send a frame to the process at that place among the addresses."""
        ...

    async def close(self) -> None:
        """Give back the sockets."""
        ...


class Datagrams(asyncio.DatagramProtocol):
    """UDP: each frame is one datagram."""

    largest_frame: Final = LARGEST_DATAGRAM_BYTES

    def __init__(self) -> None:
        self._transport: asyncio.DatagramTransport | None = None
        self._closed = asyncio.get_running_loop().create_future()
        self._addresses: Sequence[Address] = ()
        self._arrived: Callable[[bytes], None] | None = None

    @staticmethod
    async def bind(address: Address) -> Datagrams:
        """A socket at that address. Raises OSError if it cannot be had."""
        loop = asyncio.get_running_loop()
        _, protocol = await loop.create_datagram_endpoint(Datagrams, local_addr=address)
        return protocol

    @property
    def address(self) -> Address:
        assert self._transport is not None
        host, port = self._transport.get_extra_info("sockname")[:2]
        return host, port

    def start(self, addresses: Sequence[Address], arrived: Callable[[bytes], None], broken: Callable[[], None]) -> None:
        self._addresses, self._arrived = addresses, arrived

    def transmit(self, destination: int, frame: bytes) -> None:
        assert self._transport is not None
        if not self._transport.is_closing():
            self._transport.sendto(frame, self._addresses[destination])

    async def close(self) -> None:
        if self._transport is not None:
            self._transport.close()
            await self._closed

    # --- called by asyncio -------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: Any) -> None:
        if self._arrived is not None:
            self._arrived(data)

    def error_received(self, exc: Exception) -> None:
        """A datagram did not get through, say because nobody listens there yet: it counts as lost."""

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._closed.done():
            self._closed.set_result(None)


class Streams:
    """TCP: a stream for each destination, frames behind their lengths (four bytes). A broken stream is opened again."""

    largest_frame: Final = LARGEST_FRAME_BYTES

    def __init__(self, server: asyncio.Server) -> None:
        self._server = server
        self._addresses: Sequence[Address] = ()
        self._arrived: Callable[[bytes], None] | None = None
        self._broken: Callable[[], None] | None = None
        self._queues: dict[int, _Outgoing] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    @staticmethod
    async def bind(address: Address) -> Streams:
        """A listening socket at that address. Raises OSError if it cannot be had."""

        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await streams._read(reader, writer)

        server = await asyncio.start_server(accept, *address)
        streams = Streams(server)
        return streams

    @property
    def address(self) -> Address:
        host, port = self._server.sockets[0].getsockname()[:2]
        return host, port

    def start(self, addresses: Sequence[Address], arrived: Callable[[bytes], None], broken: Callable[[], None]) -> None:
        self._addresses, self._arrived, self._broken = addresses, arrived, broken

    def transmit(self, destination: int, frame: bytes) -> None:
        outgoing = self._queues.get(destination)
        if outgoing is None:
            outgoing = self._queues[destination] = _Outgoing()
            self._keep(asyncio.get_running_loop().create_task(outgoing.run(self._addresses[destination])))
        outgoing.put(frame)

    async def close(self) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _read(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._keep(task)
        try:
            while head := await reader.readexactly(4):
                size = int.from_bytes(head, "big")
                if size > LARGEST_FRAME_BYTES:
                    if self._broken is not None:
                        self._broken()
                    return
                frame = await reader.readexactly(size)
                if self._arrived is not None:
                    self._arrived(frame)
        except asyncio.IncompleteReadError as cut_off:
            if cut_off.partial and self._broken is not None:
                self._broken()
        except (ConnectionError, asyncio.CancelledError):
            return  # the sender opens another stream, or the endpoint closes
        finally:
            writer.close()


class _Outgoing:
    """The frames to one destination, and the stream there."""

    __slots__ = ("_frames", "_wake")

    def __init__(self) -> None:
        self._frames: deque[bytes] = deque(maxlen=QUEUED_FRAMES)
        self._wake = asyncio.Event()

    def put(self, frame: bytes) -> None:
        self._frames.append(frame)
        self._wake.set()

    async def run(self, address: Address) -> None:
        """Connects, writes what there is, and connects again if the stream breaks."""
        pause_s, longest_s = RETRY_S
        while True:
            try:
                _, writer = await asyncio.open_connection(*address)
            except OSError:
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, longest_s)
                continue
            pause_s = RETRY_S[0]
            try:
                with suppress(ConnectionError):
                    await self._write(writer)
            finally:
                writer.close()
                with suppress(ConnectionError):
                    await writer.wait_closed()

    async def _write(self, writer: asyncio.StreamWriter) -> None:
        while True:
            while self._frames:
                frame = self._frames.popleft()
                writer.write(len(frame).to_bytes(4, "big") + frame)
            await writer.drain()
            self._wake.clear()
            await self._wake.wait()
