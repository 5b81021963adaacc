"""A protocol as a scope, or a question, changes it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from thence.dsl import ir
from thence.dsl.ir.constants import with_values
from thence.dsl.ir.observability import beyond_states, sees_actions
from thence.dsl.ir.topology import Edges
from thence.dsl.run.causality import WATCHED


def in_scope(protocol: ir.Protocol, workload: ir.Workload) -> ir.Protocol:
    """The protocol with the scope's constants and links, on its network, which may do less than the protocol's own.

    Raises: NoSuchProcess, for a role.
    """
    protocol = with_values(protocol, dict(workload.constants), workload.processes)
    if workload.links:
        protocol = on_links(protocol, workload.links)
    if not workload.fifo or not protocol.network.reordering:
        return protocol
    return replace(protocol, network=replace(protocol.network, reordering=False))


def on_links(protocol: ir.Protocol, links: Edges) -> ir.Protocol:
    """The protocol on an overlay with these links."""
    return replace(protocol, network=replace(protocol.network, links=links))


def asked_of(protocol: ir.Protocol, properties: Iterable[str]) -> ir.Protocol:
    """The protocol as `properties` are asked of it: it claims those that are `WATCHED`, and neither promises others
    nor states others of actions."""
    asked = {*properties}
    protocol = watching(protocol, asked)
    if sees_actions(protocol.invariants):
        stated = tuple(each for each in protocol.invariants if each.name in asked or not sees_actions(each))
        protocol = replace(protocol, invariants=stated)
    promises = tuple(promise for promise in protocol.promises if promise.name in asked)
    return protocol if len(promises) == len(protocol.promises) else replace(protocol, promises=promises)


def bare(protocol: ir.Protocol) -> ir.Protocol:
    """The protocol without anything that it states: only its steps are asked for."""
    return replace(protocol, properties=(), invariants=(), rest=(), witnesses=(), promises=())


def watching(protocol: ir.Protocol, properties: Iterable[str]) -> ir.Protocol:
    """The protocol, claiming those of the `WATCHED` properties that are asked for: the system then judges them."""
    asked = {*properties}
    more = [name for name in WATCHED if name in asked and name not in protocol.properties]
    return replace(protocol, properties=(*protocol.properties, *more)) if more else protocol


def of_processes(protocol: ir.Protocol) -> ir.Protocol:
    """The protocol without the formulas about packets in flight and actions, for whoever sees the processes only."""
    stated = tuple(each for each in protocol.invariants if beyond_states(each) is None)
    gone = {each.name for each in protocol.invariants} - {each.name for each in stated}
    return replace(
        protocol,
        invariants=stated,
        rest=tuple(each for each in protocol.rest if beyond_states(each) is None),
        witnesses=tuple(name for name in protocol.witnesses if name not in gone),
    )
