"""Endpoints on real sockets: what is sent is delivered, in causal order; what arrives and is wrong is counted."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Literal

import pytest

from thence.impl.cbcast import CBCAST
from thence.impl.commands import Command
from thence.impl.cykas import Cykas
from thence.impl.fifo import Fifo
from thence.impl.hybrid_basic import Ack, HybridBasic, Msg
from thence.impl.hybrid_multicast import HybridMulticast
from thence.impl.hybrid_optimal import HybridOptimal
from thence.impl.mf_pipelined import MFPipelined
from thence.impl.rst import RST
from thence.impl.transport import (
    Counters,
    Delivery,
    Disturbance,
    Endpoint,
    Options,
    TransportError,
    bind_tcp,
    bind_udp,
    local_group,
    merged,
)
from thence.impl.transport.codec import Codec
from thence.impl.transport.frame import Frame
from thence.spec.judgement import judge

BAD = Options(timer_ms=10, disturbance=Disturbance(loss=0.15, duplication=0.2, delay_ms=2, seed=5))


def run(work: Callable[[], Coroutine[Any, Any, Any]], limit_s: float = 30.0) -> Any:
    """In an event loop of its own."""
    return asyncio.run(asyncio.wait_for(work(), limit_s))


async def until(condition: Callable[[], bool]) -> None:
    while not condition():
        await asyncio.sleep(0.005)


@pytest.mark.parametrize("carrier", ["udp", "tcp"])
@pytest.mark.parametrize("process_class", [HybridBasic, HybridOptimal, RST, Cykas, MFPipelined])
def test_over_a_bad_network_everything_is_delivered_in_causal_order(
    process_class: Any, carrier: Literal["udp", "tcp"], tmp_path: Path
) -> None:
    count = 15

    async def work() -> list[Counters]:
        async with local_group(process_class, 3, BAD, carrier=carrier, record=tmp_path) as group:
            for number in range(count):
                for endpoint in group:
                    endpoint.send((endpoint.identity + 1 + number % 2) % 3, f"message {number}")
                await asyncio.sleep(0.001)
            for endpoint in group:
                for _ in range(count):
                    await endpoint.receive()
        return [endpoint.counters for endpoint in group]

    counters = run(work)
    assert [(each.sent, each.delivered) for each in counters] == [(count, count)] * 3
    assert [each.malformed + each.misdirected for each in counters] == [0, 0, 0]
    assert sum(each.lost for each in counters) > 0 < sum(each.duplicated for each in counters)
    judgement = judge(merged(sorted(tmp_path.glob("p*.ndjson"))).execution)
    assert judgement.faultless
    assert (judgement.sends, judgement.deliveries) == (3 * count, 3 * count)


def test_five_lines(capsys: pytest.CaptureFixture[str]) -> None:
    async def main() -> None:
        async with local_group(HybridBasic, 3) as (alice, bob, carol):
            alice.send(2, "Let's meet at 3")
            alice.send(1, "Can you join?")
            print((await bob.receive()).message)
            assert await carol.receive() == Delivery(0, "Let's meet at 3")

    run(main)
    assert capsys.readouterr().out == "Can you join?\n"


def test_multicasts_and_broadcasts() -> None:
    async def multicast() -> None:
        async with local_group(HybridMulticast, 3, BAD) as group:
            group[0].multicast({1, 2}, ("a", 1))
            assert [await other.receive() for other in group[1:]] == [Delivery(0, ("a", 1))] * 2
            for refused in (set(), {3}):
                with pytest.raises(ValueError):
                    group[0].multicast(refused, "x")
            with pytest.raises(TransportError, match="multicast protocol: it has no unicast"):
                group[0].send(1, "x")
            assert group[0].counters.sent == 1

    async def broadcast() -> None:
        async with local_group(CBCAST, 3, BAD) as group:
            group[2].broadcast(b"\0")
            assert [await other.receive() for other in group[:2]] == [Delivery(2, b"\0")] * 2

    run(multicast)
    run(broadcast)


@pytest.mark.parametrize("carrier", ["udp", "tcp"])
def test_an_answer_from_inside_a_delivery(carrier: Literal["udp", "tcp"]) -> None:
    async def work() -> list[str]:
        async with local_group(HybridBasic, 2, carrier=carrier) as (one, two):
            two.on_deliver = lambda delivery: two.send(delivery.sender, f"re: {delivery.message}")
            for name in "abc":
                one.send(1, name)
            return [(await one.receive()).message for _ in range(3)]

    assert run(work) == ["re: a", "re: b", "re: c"]


def test_what_the_application_may_not_send_changes_nothing() -> None:
    async def work() -> None:
        async with local_group(RST, 2) as (one, two):
            for destination, message in ((0, "to oneself"), (2, "x"), (1, ["a list"]), (1, "x" * 40_000), ("1", "x")):
                with pytest.raises(ValueError):
                    one.send(destination, message)  # type: ignore[arg-type]
            assert one.counters == Counters()
            one.send(1, None)  # travels with its label, so that it is no control packet
            assert await two.receive() == Delivery(0, None)

    run(work)


def datagrams(endpoint: Endpoint, *frames: bytes) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        for frame in frames:
            stranger.sendto(frame, endpoint.address)


def test_what_arrives_and_is_wrong_is_counted_and_dropped() -> None:
    codec = Codec.of(HybridBasic)

    def body(packet: Any) -> bytes:
        return codec.encode(packet)

    good = Frame(7, 0, 1, body(Msg((0, 1, "good"), 1, 0, False))).to_bytes()
    malformed = [
        b"",
        b"hello",
        good[:-1],
        good[:10] + b"!" + good[11:],
        Frame(7, 0, 1, b"\xff").to_bytes(),
        Frame(7, 0, 1, body("no packet")).to_bytes(),
        Frame(7, 0, 1, body(Msg("no label", 1, 0, False))).to_bytes(),
        Frame(7, 0, 1, body(Msg(("0", 1, "bad label"), 1, 0, False))).to_bytes(),
    ]
    misdirected = [
        Frame(7, 0, 0, body(Ack(1))).to_bytes(),
        Frame(7, 2, 1, body(Ack(1))).to_bytes(),
        Frame(8, 0, 1, body(Ack(1))).to_bytes(),
    ]
    refused = [
        Frame(7, 0, 1, body(Ack(9))).to_bytes(),
        Frame(7, 0, 1, body(Msg((0, 2, "x"), 1, 5, False))).to_bytes(),
        Frame(7, 0, 1, body(Msg((0, 2, "x"), "1", None, False))).to_bytes(),
    ]

    async def work() -> None:
        async with await bind_udp(HybridBasic, 1, 2, options=Options(session=7, timer_ms=60_000)) as endpoint:
            endpoint.connect([("127.0.0.1", 9), endpoint.address])
            counters = endpoint.counters
            datagrams(endpoint, *malformed, *misdirected, *refused)
            await until(lambda: counters.malformed + counters.misdirected + counters.refused >= 14)
            assert (counters.malformed, counters.misdirected, counters.refused) == (8, 3, 3)
            datagrams(endpoint, good, good, good)
            assert await endpoint.receive() == Delivery(0, "good")
            await until(lambda: counters.packets_in == 3)
            assert counters.delivered == 1

    run(work)


def test_on_a_link_a_repeated_body_is_dropped_before_the_protocol_sees_it() -> None:
    from thence.impl.rst import Msg as RSTMsg

    packet = Codec.of(RST).encode(RSTMsg((0, 1, "good"), ((0, 0), (0, 0))))
    data = Frame(0, 0, 1, struct.pack(">BI", 0, 1) + packet).to_bytes()

    async def work() -> None:
        async with await bind_udp(RST, 1, 2) as endpoint:
            endpoint.connect([("127.0.0.1", 9), endpoint.address])
            counters = endpoint.counters
            wrong = (b"\0", b"\2", b"", struct.pack(">BIQ", 1, 5, 0))
            datagrams(endpoint, data, data, *(Frame(0, 0, 1, body).to_bytes() for body in wrong))
            await until(lambda: counters.malformed + counters.repeated >= 5)
            assert (counters.malformed, counters.repeated, counters.refused, counters.delivered) == (4, 1, 0, 1)

    run(work)


def test_a_stream_with_garbage_in_it_is_closed_and_counted() -> None:
    async def work() -> None:
        async with await bind_tcp(HybridBasic, 1, 2) as endpoint:
            endpoint.connect([("127.0.0.1", 9), endpoint.address])
            for garbage in (b"\xff\xff\xff\xff", b"\0\0\0\5abc"):
                reader, writer = await asyncio.open_connection(*endpoint.address)
                writer.write(garbage)
                writer.write_eof()
                assert await reader.read() == b""
                writer.close()
                await writer.wait_closed()
            await until(lambda: endpoint.counters.malformed == 2)
            assert endpoint.counters.delivered == 0

    run(work)


def test_tcp_connects_again_when_the_other_process_is_late_or_was_away() -> None:
    async def work() -> None:
        with socket.socket() as reserved:
            reserved.bind(("127.0.0.1", 0))
            address = reserved.getsockname()
        options = Options(timer_ms=10)
        async with await bind_tcp(HybridBasic, 0, 2, options=options) as one:
            one.connect([one.address, address])
            one.send(1, "early")
            await asyncio.sleep(0.05)
            async with await bind_tcp(HybridBasic, 1, 2, address, options) as two:
                two.connect([one.address, address])
                assert await two.receive() == Delivery(0, "early")
                two.send(0, "thanks")
                assert await one.receive() == Delivery(1, "thanks")

    run(work)


def test_an_endpoint_that_is_closed_or_not_connected_says_so() -> None:
    async def work() -> None:
        endpoint = await bind_udp(Fifo, 0, 2)
        with pytest.raises(TransportError, match="not connected"):
            endpoint.send(1, "x")
        with pytest.raises(ValueError, match="2 addresses, not 1"):
            endpoint.connect([endpoint.address])
        endpoint.connect([endpoint.address] * 2)
        waiting = asyncio.create_task(endpoint.receive())
        await asyncio.sleep(0)
        await endpoint.close()
        with pytest.raises(TransportError, match="closed"):
            await waiting
        with pytest.raises(TransportError, match="closed"):
            endpoint.send(1, "x")
        assert [delivery async for delivery in endpoint] == []

    run(work)


def test_an_implementation_that_breaks_ends_its_endpoint_and_is_named() -> None:
    class Broken(HybridBasic):
        def receive(self, sender: int, packet: Any) -> list[Command]:
            raise KeyError("broken")

    async def work() -> None:
        async with local_group(Broken, 2) as (one, two):
            one.send(1, "x")
            with pytest.raises(TransportError, match="broken"):
                await two.receive()
            with pytest.raises(TransportError, match="broken"):
                two.raise_failure()
            with pytest.raises(TransportError, match="broken"):
                [delivery async for delivery in two]

    run(work)


def test_a_packet_that_no_datagram_holds_ends_the_endpoint_and_tcp_carries_it() -> None:
    count = 300

    async def udp() -> None:
        async with await bind_udp(RST, 0, count) as endpoint:
            endpoint.connect([endpoint.address] * count)
            with pytest.raises(TransportError, match="TCP carries larger ones"):
                endpoint.send(1, "x")
            with pytest.raises(TransportError, match="failed"):
                endpoint.send(1, "x")

    async def tcp() -> None:
        async with await bind_tcp(RST, 0, count) as one, await bind_tcp(RST, 1, count) as two:
            for endpoint in (one, two):
                endpoint.connect([one.address, two.address] * (count // 2))
            one.send(1, "x")
            assert await two.receive() == Delivery(0, "x")

    run(udp)
    run(tcp)


def test_what_cannot_be_an_endpoint() -> None:
    async def work() -> None:
        with pytest.raises(ValueError, match="not one of"):
            await bind_udp(HybridBasic, 2, 2)
        with pytest.raises(ValueError, match="65536"):
            await bind_tcp(HybridBasic, 0, 1 << 17)
        with pytest.raises(OSError):
            await bind_udp(HybridBasic, 0, 2, options=Options(record="/nowhere/at/all"))
        async with await bind_tcp(HybridBasic, 0, 2) as taken:
            with pytest.raises(OSError):
                await bind_tcp(HybridBasic, 0, 2, taken.address)

    run(work)


@pytest.mark.parametrize(
    "wrong",
    [{"session": -1}, {"session": 1 << 32}, {"timer_ms": 0}, {"timer_ms": 1e6}],
)
def test_options_out_of_range(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        Options(**wrong)


@pytest.mark.parametrize("wrong", [{"loss": 1.0}, {"duplication": -0.1}, {"delay_ms": -1}])
def test_disturbances_out_of_range(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        Disturbance(**wrong)
