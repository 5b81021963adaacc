"""The network of the harness: packets in flight, and its faults.

Packets are opaque. The harness owns them from the moment that a process hands them over until they arrive.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache
from typing import Any, Final, Literal, TypeAlias, get_args

from thence.conformance.cases.inputs import InputChoices, inputs_from_json, inputs_to_json
from thence.dsl.ir import PERIODICALLY
from thence.dsl.ir.topology import Edges, fault_of_links, overlay
from thence.impl.commands import Delivery

Channel: TypeAlias = tuple[int, int]
"""(source, destination)."""

Destination: TypeAlias = int | tuple[int, ...] | None
"""The destination of a causal send in a schedule: a process; a set of processes, ascending; None for all."""

PER_MILLE: Final = 1_000
"""A position among the packets in flight is a fraction, in thousandths, which fits any number of them."""


MOST_PROCESSES: Final = 256
"""Most processes of a case. The metadata of some protocols grow with the cube of their number."""

Claim: TypeAlias = Literal["started", "conforming", "causal", "fifo", "delivered", "once", "prompt", "total_order"]
"""A claim about a system.

`started`: its processes begin, answer every request, and come to an end. `conforming`: it does what its protocol does.
`causal`, `fifo`, `total_order`: the order of deliveries. `delivered`: every message is delivered. `once`: no message is
delivered twice, or where nobody sent it. `prompt`: no message is kept back that nothing is missing for.
"""

CLAIMS: Final[tuple[Claim, ...]] = get_args(Claim)

PROMISES: Final = CLAIMS[1:]
"""The claims that are fields of `Settings`. That a system starts is always claimed."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The abilities of network and application, and the promises of the system.

    Attributes:
        processes: their number.
        channels: `reordering`: any packet in flight may arrive next; `fifo`: only the oldest of each channel.
        duplication: a packet may arrive twice.
        loss: a packet may vanish.
        self_sends: a process may causal-send to itself; with broadcast, each of its messages goes to itself too.
        delivery: a message goes to one process, to a set of processes, or to all.
        conforming, causal, fifo, delivered, once, prompt, total_order: what is claimed of the system, see `Claim`. What
            is not claimed is looked at all the same, but for `total_order`, and nothing fails for it. A system with a
            total order may withhold messages that causal delivery alone would let it deliver.
        timers: the names of the system's timers; `periodically` is the one that has none.
        inputs: what applications do besides sending.
        sends: whether applications send messages at all.
        links: the links of an overlay, in ascending order; none where each process has a link to each other one.

    Raises:
        ValueError: a value is out of range.
    """

    processes: int = 3
    channels: Literal["fifo", "reordering"] = "reordering"
    duplication: bool = False
    loss: bool = False
    self_sends: bool = False
    delivery: Delivery = "unicast"
    conforming: bool = True
    causal: bool = True
    fifo: bool = True
    delivered: bool = True
    once: bool = True
    prompt: bool = False
    total_order: bool = False
    timers: tuple[str, ...] = (PERIODICALLY,)
    inputs: tuple[InputChoices, ...] = ()
    sends: bool = True
    links: Edges = ()

    def __post_init__(self) -> None:
        if not isinstance(self.processes, int) or isinstance(self.processes, bool) or self.processes < 1:
            raise ValueError(f"the number of processes is {self.processes!r}; at least one is needed")
        if self.processes > MOST_PROCESSES:
            raise ValueError(f"the number of processes is {self.processes:,}; {MOST_PROCESSES} is the most")
        if self.channels not in ("fifo", "reordering"):
            raise ValueError(f"channels are fifo or reordering, not {self.channels!r}")
        if self.delivery not in get_args(Delivery):
            raise ValueError(f"delivery is {', '.join(get_args(Delivery))}, not {self.delivery!r}")
        for name in ("duplication", "loss", "self_sends", *PROMISES):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{name} is true or false, not {getattr(self, name)!r}")
        if not self.timers or not all(isinstance(timer, str) for timer in self.timers):
            raise ValueError(f"timers are one or more names, not {self.timers!r}")
        if not isinstance(self.sends, bool):
            raise ValueError(f"sends is true or false, not {self.sends!r}")
        if any(not 0 <= end < self.processes for link in self.links for end in link):
            raise ValueError(f"links are between the processes 0 to {self.processes - 1}, not {self.links!r}")
        if fault := fault_of_links(self.links):
            raise ValueError(f"these are no links: {fault}")
        if self.processes == 1 and not self.self_sends and self.sends:
            raise ValueError("a single process has nobody to send to; allow self_sends or take more processes")

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods that a class must have, with which its application is driven."""
        return (*(("causal_send",) if self.sends else ()), *(each.method for each in self.inputs))

    def neighbors(self, process: int) -> frozenset[int]:
        """The processes that this one has a link to."""
        return overlay(self.links, self.processes)[process]

    def offers(self, name: str, arguments: tuple[int, ...]) -> bool:
        """Whether the application can have the input, with as many arguments, of which those that are processes are
        there."""
        return any(
            each.name == name
            and len(each.choices[0]) == len(arguments)
            and all(arguments[place] < self.processes for place in each.processes)
            for each in self.inputs
        )

    def allows(self, process: int, destination: int) -> bool:
        """Whether `process` may causal-send to `destination`."""
        if not self.sends:
            return False
        inside = 0 <= process < self.processes and 0 <= destination < self.processes
        return inside and (process != destination or self.self_sends)

    def destinations(self, process: int, destination: Destination) -> tuple[int, ...]:
        """The processes, ascending, that a message of `process` goes to; none if it may not be sent like that.

        With multicast, one process stands for a set of one, and None for all that are allowed. With broadcast, a
        message always goes to all.
        """
        count = self.processes
        if not 0 <= process < count or not self.sends:
            return ()
        if self.delivery == "broadcast" or (destination is None and self.delivery == "multicast"):
            return tuple([one for one in range(count) if one != process or self.self_sends])
        if isinstance(destination, int):
            inside = 0 <= destination < count and (process != destination or self.self_sends)
            return (destination,) if inside else ()
        if destination is None or self.delivery == "unicast" or not destination:
            return ()
        wanted = _ascending(destination)
        inside = wanted[0] >= 0 and wanted[-1] < count
        return wanted if inside and (self.self_sends or process not in wanted) else ()

    def claims(self, claim: Claim) -> bool:
        """Whether this is claimed of the system."""
        return claim == "started" or bool(getattr(self, claim))

    def claiming(self, claims: Collection[Claim]) -> Settings:
        """The same settings with these claims, and that it starts, and no others."""
        changes: dict[str, Any] = {name: name in claims for name in PROMISES}
        return replace(self, **changes)

    def to_json(self) -> dict[str, Any]:
        """All settings as JSON values; `timers` only where some have names, `inputs` and `sends` only of applications
        that do more than send, `links` only of overlays."""
        values = asdict(self)
        if links := values.pop("links"):
            values["links"] = [list(link) for link in links]
        timers, inputs, sends = list(values.pop("timers")), values.pop("inputs"), values.pop("sends")
        if timers != [PERIODICALLY]:
            values["timers"] = timers
        if inputs or not sends:
            values |= {"inputs": inputs_to_json(self.inputs), "sends": sends}
        return values

    @staticmethod
    def from_json(value: object) -> Settings:
        """Settings as `to_json` wrote them; fields that are left out have their defaults.

        Raises:
            ValueError: `value` is anything else.
        """
        names = {field.name for field in fields(Settings)}
        if not isinstance(value, Mapping) or not set(value) <= names:
            raise ValueError(f"settings are an object with {', '.join(sorted(names))}")
        timers = value.get("timers", [PERIODICALLY])
        if not isinstance(timers, list):
            raise ValueError(f"timers are a list of names, not {timers!r}")
        inputs = inputs_from_json(value.get("inputs", {}))
        links = _links_from_json(value.get("links", []))
        return Settings(**{**value, "timers": tuple(timers), "inputs": inputs, "links": links})


def _links_from_json(value: object) -> Edges:
    """Raises: ValueError."""
    pairs = [tuple(link) if isinstance(link, list) else () for link in value] if isinstance(value, list) else [()]
    if not all(len(link) == 2 and all(type(end) is int for end in link) for link in pairs):
        raise ValueError(f"links are a list of pairs of processes, not {value!r}")
    return tuple(sorted((a, b) for a, b in pairs))


@lru_cache(maxsize=4096)
def _ascending(processes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted(set(processes)))


Flight: TypeAlias = tuple[int, int, Any, int]
"""A packet on its way: (source, destination, packet, number of the same packet in the replay or -1)."""


class Network:
    """The packets in flight, in the order of their sending."""

    __slots__ = ("fifo", "flights")

    def __init__(self, *, fifo: bool) -> None:
        self.fifo = fifo
        self.flights: list[Flight] = []

    def receivable(self) -> list[int]:
        """The indices in `flights` of the packets that may arrive next."""
        if not self.fifo:
            return list(range(len(self.flights)))
        return list(self._heads().values())

    def receivable_except(self, source: int, destination: int) -> list[int]:
        """The same, without the packets of one channel."""
        if not self.fifo:
            return [
                index
                for index, (sender, receiver, _, _) in enumerate(self.flights)
                if sender != source or receiver != destination
            ]
        heads = self._heads()
        heads.pop((source, destination), None)
        return list(heads.values())

    def _heads(self) -> dict[Channel, int]:
        """The index of the oldest packet of each channel."""
        heads: dict[Channel, int] = {}
        for index, flight in enumerate(self.flights):
            channel = flight[:2]
            if channel not in heads:
                heads[channel] = index
        return heads

    def find(self, position: int, channel: Channel | None) -> int:
        """The index of a packet in `flights`; -1 if there is none.

        With a channel, its `position`-th packet, from 0; on FIFO channels only 0 is there. Without one, `position`
        thousandths of the way through the packets that may arrive next.
        """
        flights = self.flights
        if channel is None:
            if not self.fifo:
                return len(flights) * position // PER_MILLE if flights else -1
            heads = self.receivable()
            return heads[len(heads) * position // PER_MILLE] if heads else -1
        if self.fifo and position:
            return -1
        source, destination = channel
        for index, (sender, receiver, _, _) in enumerate(flights):
            if sender == source and receiver == destination:
                if not position:
                    return index
                position -= 1
        return -1

    def place(self, index: int) -> tuple[int, Channel]:
        """The position on its channel, and the channel, of the packet at `index`."""
        flights = self.flights
        source, destination, _, _ = flights[index]
        position = 0
        for sender, receiver, _, _ in flights[:index]:
            if sender == source and receiver == destination:
                position += 1
        return position, (source, destination)
