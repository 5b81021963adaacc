"""Faulty implementations of the tree. Links are FIFO."""

from __future__ import annotations

from collections.abc import Hashable
from typing import ClassVar

from thence.impl.commands import Command, Send
from thence.impl.tree import Msg, Tree


class Shortcut(Tree):
    """Messages go straight to their destinations, by links that the tree does not have. Finding: crash, or causal."""

    FAULT: ClassVar[str] = "not along the tree"
    FINDINGS: ClassVar[tuple[str, ...]] = ("crash", "causal")
    NEEDS: ClassVar[tuple[str, ...]] = ("fifo",)

    def causal_send(self, destination: int, message: Hashable) -> list[Command]:
        return [Send(destination, Msg(message, self._group.identity, destination))]


class ShortcutTaken(Tree):
    """Messages go straight to their destinations, and are taken from anywhere. Finding: causal, never fifo."""

    FAULT: ClassVar[str] = "not along the tree"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ("fifo",)

    def causal_send(self, destination: int, message: Hashable) -> list[Command]:
        return [Send(destination, Msg(message, self._group.identity, destination))]

    def _require_on_its_way(self, sender: int, packet: Msg) -> None:
        return


class NotRouted(Tree):
    """What is for another node is not passed on. Finding: stuck."""

    FAULT: ClassVar[str] = "M-Route left out"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ("fifo",)

    def _route(self, sender: int, packet: Msg) -> list[Command]:
        return []


class NewestFirst(Tree):
    """A node keeps one message that is for another node, and passes it on after the next one. Finding: stuck."""

    FAULT: ClassVar[str] = "FIFO order ignored"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck", "fifo", "causal")
    NEEDS: ClassVar[tuple[str, ...]] = ("fifo",)

    _kept: tuple[Command, ...] = ()

    def _route(self, sender: int, packet: Msg) -> list[Command]:
        kept, self._kept = self._kept, ()
        commands = super()._route(sender, packet)
        if kept:
            return [*commands, *kept]
        self._kept = tuple(commands)
        return []


class SentBack(Tree):
    """What is for another node goes back to where it came from. Finding: crash."""

    FAULT: ClassVar[str] = "routed in the wrong direction"
    FINDINGS: ClassVar[tuple[str, ...]] = ("crash", "stuck")
    NEEDS: ClassVar[tuple[str, ...]] = ("fifo",)

    def _route(self, sender: int, packet: Msg) -> list[Command]:
        return [Send(sender, packet)]


class TwiceOnTheWay(Tree):
    """A node passes on what is for another node twice. Finding: duplicate."""

    FAULT: ClassVar[str] = "passed on twice"
    FINDINGS: ClassVar[tuple[str, ...]] = ("duplicate",)
    NEEDS: ClassVar[tuple[str, ...]] = ("fifo",)

    def _route(self, sender: int, packet: Msg) -> list[Command]:
        return [*super()._route(sender, packet), *super()._route(sender, packet)]


FAULTS: list[type] = [
    Shortcut,
    ShortcutTaken,
    NotRouted,
    NewestFirst,
    SentBack,
    TwiceOnTheWay,
]
