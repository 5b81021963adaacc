"""An endpoint: one process of a protocol on a real network.

It carries out what the implementation says (`thence.impl.commands`): encodes packets and sends them, hands over those
that arrive, fires the timer, and gives the application what is delivered. Protocols that need reliable or FIFO channels
get them from a link (`link`); those that tolerate loss run on the bare network.

What arrives and is damaged, meant for somebody else, a repetition or against the protocol is counted and dropped.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Sequence, Set
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, TypeAlias

from thence.impl.commands import Command, Deliver, ProtocolError, Send
from thence.impl.transport.carriers import Address, Carrier
from thence.impl.transport.codec import Codec, DecodeError
from thence.impl.transport.disturbance import Disturbance, Disturbed
from thence.impl.transport.frame import MOST_PROCESSES, OVERHEAD_BYTES, Frame, FrameError
from thence.impl.transport.link import LinkError, ReceivingEnd, SendingEnd
from thence.impl.transport.recorder import Recorder

Channels: TypeAlias = Literal["lossy", "reordering", "fifo"]
"""What a protocol works over: channels that lose, duplicate and reorder; reliable ones; reliable ones in FIFO order."""

LARGEST_MESSAGE_BYTES: Final = 32_768
"""Encoded; what else a packet carries comes on top."""

REPEATED_FRAMES: Final = 64
"""What a link sends again to one process each time that the timer fires."""


class TransportError(Exception):
    """The endpoint cannot go on: it is closed, its implementation broke, or a packet is too large for its carrier."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message for the application, and the process that sent it."""

    sender: int
    message: Any


@dataclass(slots=True)
class Counters:
    """What an endpoint has done and seen.

    Attributes:
        sent, delivered: messages of the application.
        packets_out, packets_in: of the protocol, without repetitions by a link.
        malformed: damaged, truncated, or not a packet of the protocol.
        misdirected: meant for another process or another session, or from a process that there is not.
        repeated: bodies that a link had received before.
        refused: packets that the implementation rejected, with a ProtocolError.
        retransmitted: bodies that a link sent again.
        lost, duplicated: frames, by the disturbance.
    """

    sent: int = 0
    delivered: int = 0
    packets_out: int = 0
    packets_in: int = 0
    malformed: int = 0
    misdirected: int = 0
    repeated: int = 0
    refused: int = 0
    retransmitted: int = 0
    lost: int = 0
    duplicated: int = 0

    def to_json(self) -> dict[str, int]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Options:
    """How an endpoint works.

    Attributes:
        session: processes of one group have the same number, 32 bits; nothing from another session is taken.
        timer_ms: how often the timer of the protocol and of links fires.
        channels: what the protocol works over; by default what its class says (`channels`), and else FIFO channels.
        disturbance: what happens to the frames that leave, for tests and demonstrations.
        record: the file in which the process's events are recorded.

    Raises:
        ValueError: the session is not a 32-bit number, or the timer is not from 1 ms to a minute.
    """

    session: int = 0
    timer_ms: float = 50.0
    channels: Channels | None = None
    disturbance: Disturbance | None = None
    record: str | Path | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.session < 1 << 32:
            raise ValueError(f"a session is a number of 32 bits, not {self.session}")
        if not 1 <= self.timer_ms <= 60_000:
            raise ValueError(f"the timer fires every 1 to 60,000 ms, not {self.timer_ms}")


class Endpoint:
    """One process of `process_class`, reached through a carrier. Made by `bind_udp` and `bind_tcp`.

    Raises:
        ValueError: there is no such process in the group, or the class's packets cannot be told apart.
        OSError: the record cannot be written.
    """

    def __init__(
        self, process_class: Any, identity: int, processes: int, carrier: Carrier, options: Options | None = None
    ) -> None:
        options = options or Options()
        if processes > MOST_PROCESSES:
            raise ValueError(f"a group has at most {MOST_PROCESSES} processes")
        self.identity = identity
        self.processes = processes
        self.counters = Counters()
        self.on_deliver: Callable[[Delivery], None] | None = None
        """Called with each delivery, if set; then `receive` gets nothing."""
        self._process: Any = process_class(identity, processes)
        self._delivery: str = getattr(process_class, "delivery", "unicast")
        self._codec = Codec.of(process_class)
        channels = options.channels or getattr(process_class, "channels", "fifo")
        self._linked = channels != "lossy"
        self._ordered = channels == "fifo"
        self._outgoing: dict[int, SendingEnd] = {}
        self._incoming: dict[int, ReceivingEnd] = {}
        self._carrier = carrier
        self._transmit = carrier.transmit
        self._options = options
        self._disturbed: Disturbed | None = None
        about = {"system": f"{process_class.__module__}:{process_class.__name__}", "channels": channels}
        self._recorder = None if options.record is None else Recorder(options.record, identity, processes, about)
        self._number = 0
        self._pending: deque[Delivery] = deque()
        self._handing_over = False
        self._queue: asyncio.Queue[Delivery | None] = asyncio.Queue()
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False
        self._failure: BaseException | None = None

    @property
    def address(self) -> Address:
        """Where this process is reached."""
        return self._carrier.address

    @property
    def blocked(self) -> bool:
        """Whether nothing can be sent now, for the protocol lets its application wait. Most protocols never do."""
        return bool(getattr(self._process, "blocked", False))

    @property
    def outstanding(self) -> int:
        """Bodies on links that have not been acknowledged; 0 for protocols without links."""
        return sum(link.outstanding for link in self._outgoing.values())

    def connect(self, addresses: Sequence[Address]) -> None:
        """Start: the processes are at these addresses, in the order of their identities.

        Raises:
            ValueError: there is not one address for each process.
        """
        if len(addresses) != self.processes:
            raise ValueError(f"{self.processes} processes have {self.processes} addresses, not {len(addresses)}")
        if self._options.disturbance is not None:
            self._disturbed = self._options.disturbance.start(self._carrier.transmit)
            self._transmit = self._disturbed.send
        self._carrier.start([(host, port) for host, port in addresses], self._arrived, self._broken)
        self._set_timer()

    # --- for the application -----------------------------------------------------------------

    def send(self, destination: int, message: Any) -> None:
        """Send a message to one process. Never blocks.

        Raises:
            ValueError: the implementation refuses it, or it cannot travel (see `codec`) or is too large.
            TransportError: the endpoint is closed or has failed, or the protocol is not for single destinations.
        """
        self._require("unicast")
        self._causal_send(message, (destination,), destination)

    def multicast(self, destinations: Set[int], message: Any) -> None:
        """Send a message to a set of processes. Raises as `send` does."""
        self._require("multicast")
        self._causal_send(message, destinations, destinations)

    def broadcast(self, message: Any) -> None:
        """Send a message to the whole group. Raises as `send` does."""
        self._require("broadcast")
        to_itself = bool(getattr(type(self._process), "delivers_own", False))
        self._causal_send(message, [p for p in range(self.processes) if to_itself or p != self.identity])

    async def receive(self) -> Delivery:
        """The next message that is delivered here. Raises TransportError when the endpoint is closed or has failed."""
        delivery = await self._queue.get()
        if delivery is None:
            self._queue.put_nowait(None)
            raise TransportError(self._reason()) from self._failure
        return delivery

    async def __aiter__(self) -> AsyncIterator[Delivery]:
        """The messages that are delivered here, until the endpoint is closed."""
        while True:
            delivery = await self._queue.get()
            if delivery is None:
                self._queue.put_nowait(None)
                self.raise_failure()
                return
            yield delivery

    def raise_failure(self) -> None:
        """Raise TransportError if the endpoint has failed."""
        if self._failure is not None:
            raise TransportError(self._reason()) from self._failure

    async def close(self) -> None:
        """Stop at once: what has not been acknowledged is not sent again."""
        self._stop()
        await self._carrier.close()

    async def __aenter__(self) -> Endpoint:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    # --- steps -------------------------------------------------------------------------------

    def _require(self, delivery: str) -> None:
        if self._closed:
            raise TransportError(self._reason()) from self._failure
        if self._timer is None:
            raise TransportError("the endpoint is not connected yet")
        if self._delivery != delivery:
            kind = type(self._process).__name__
            raise TransportError(f"{kind} is a {self._delivery} protocol: it has no {delivery} messages")

    def _causal_send(self, message: Any, destinations: Iterable[int], *to: Any) -> None:
        label = (self.identity, self._number + 1, message)
        size = len(self._codec.encode(label))
        if size > LARGEST_MESSAGE_BYTES:
            raise ValueError(f"a message has at most {LARGEST_MESSAGE_BYTES:,} bytes, and this one {size:,}")
        commands = self._process.causal_send(*to, label)
        self._number += 1
        self.counters.sent += 1
        if self._recorder is not None:
            self._recorder.send(_name(label), sorted(destinations))
        try:
            self._carry_out(commands)
        except TransportError as error:
            self._fail(error)
            raise

    def _carry_out(self, commands: Sequence[Command]) -> None:
        for command in commands:
            match command:
                case Send(destination, packet):
                    self._send_packet(destination, packet)
                case Deliver(sender, label):
                    self.counters.delivered += 1
                    if self._recorder is not None:
                        self._recorder.deliver(_name(label))
                    self._pending.append(Delivery(sender, label[2]))
        self._hand_over()

    def _hand_over(self) -> None:
        """Gives the application what has been delivered; what it sends meanwhile is the next step."""
        if self._handing_over:
            return
        self._handing_over = True
        try:
            while self._pending:
                delivery = self._pending.popleft()
                if self.on_deliver is None:
                    self._queue.put_nowait(delivery)
                else:
                    self.on_deliver(delivery)
        finally:
            self._handing_over = False

    def _send_packet(self, destination: int, packet: Any) -> None:
        body = self._codec.encode(packet)
        if self._linked:
            body = self._outgoing.setdefault(destination, SendingEnd()).send(body)
        self.counters.packets_out += 1
        self._send_body(destination, body)

    def _send_body(self, destination: int, body: bytes) -> None:
        if len(body) + OVERHEAD_BYTES > self._carrier.largest_frame:
            raise TransportError(
                f"a packet of {len(body):,} bytes does not fit into a datagram; TCP carries larger ones"
            )
        self._transmit(destination, Frame(self._options.session, self.identity, destination, body).to_bytes())

    def _arrived(self, data: bytes) -> None:
        if self._closed:
            return
        try:
            frame = Frame.from_bytes(data)
        except FrameError:
            self._broken()
            return
        known = frame.sender < self.processes and frame.destination == self.identity
        if not known or frame.session != self._options.session:
            self.counters.misdirected += 1
            return
        try:
            self._take(frame.sender, frame.body)
        except Exception as error:
            # Not what the peer did (that is a ProtocolError), but the implementation or the application: no way on.
            self._fail(error)

    def _broken(self) -> None:
        self.counters.malformed += 1

    def _take(self, sender: int, body: bytes) -> None:
        if not self._linked:
            self._receive(sender, body)
            return
        try:
            if body[:1] == b"\1":
                self._outgoing.setdefault(sender, SendingEnd()).acknowledged(body)
                return
            if body[:1] != b"\0":
                raise LinkError("neither a body nor an acknowledgement")
            link = self._incoming.setdefault(sender, ReceivingEnd(ordered=self._ordered))
            packets = link.receive(body)
        except LinkError:
            self._broken()
            return
        if packets is None:
            self.counters.repeated += 1
        self._send_body(sender, link.acknowledgement())
        for packet in packets or ():
            self._receive(sender, packet)

    def _receive(self, sender: int, body: bytes) -> None:
        try:
            packet = self._codec.decode(body)
        except DecodeError:
            self._broken()
            return
        if not self._codec.is_packet(packet) or not (packet.message is None or _is_label(packet.message)):
            self._broken()
            return
        try:
            commands = self._process.receive(sender, packet)
        except ProtocolError:
            self.counters.refused += 1
            return
        self.counters.packets_in += 1
        if self._recorder is not None and packet.message is not None:
            self._recorder.receive(_name(packet.message), sender)
        self._carry_out(commands)

    def _set_timer(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self._options.timer_ms / 1000, self._tick)

    def _tick(self) -> None:
        self._set_timer()
        try:
            for destination, link in self._outgoing.items():
                for body in link.again(REPEATED_FRAMES):
                    self.counters.retransmitted += 1
                    self._send_body(destination, body)
            if self.outstanding <= REPEATED_FRAMES:  # else a protocol that repeats itself would fill its links
                self._carry_out(self._process.tick())
        except Exception as error:
            self._fail(error)

    # --- the end -----------------------------------------------------------------------------

    def _fail(self, error: BaseException) -> None:
        self._failure = error
        self._stop()

    def _stop(self) -> None:
        if self._closed:
            return
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        if self._disturbed is not None:
            self._disturbed.close()
            self.counters.lost, self.counters.duplicated = self._disturbed.lost, self._disturbed.duplicated
        if self._recorder is not None:
            self._recorder.close()
        self._queue.put_nowait(None)

    def _reason(self) -> str:
        return "the endpoint is closed" if self._failure is None else f"the endpoint has failed: {self._failure}"


def _name(label: tuple[int, int, Any]) -> str:
    """What the trace calls a message."""
    return f"m{label[0]}.{label[1]}"


def _is_label(message: object) -> bool:
    """Whether this is what `Endpoint` makes of an application's message: (its sender, its number, the message)."""
    return isinstance(message, tuple) and len(message) == 3 and type(message[0]) is type(message[1]) is int
