"""Exploration by the engine that suits the scope: the interpreter for small scopes, native code for all others."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from thence.dsl import ir
from thence.dsl.run.identity_reuse import system_of
from thence.proofs.explore.exploration import (
    THE_MACHINE,
    Engine,
    Exploration,
    ExplorationRequest,
    Progress,
    Resources,
    Storage,
)
from thence.proofs.explore.interpreted import Interpretation
from thence.proofs.explore.reductions import AUTO, REDUCTIONS, named
from thence.proofs.native.crosscheck import explore_with_both
from thence.proofs.native.engine import Sample, explore_natively, why_not

SMALL = 2_000
"""So many states the interpreter visits before code is generated: less takes longer to compile than to explore."""

FEW = f"the interpreter came to an end within {SMALL:,} states"
"""Why a small scope is not reduced: there is nothing to gain, and every state has been visited."""


def explore(
    protocol: ir.Protocol,
    workload: ir.Workload,
    properties: Collection[str],
    *,
    stop_when_refuted: bool = False,
    limit: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    engine: Engine = "auto",
    resources: Resources = THE_MACHINE,
    reductions: Collection[str] = (),
    storage: Storage = "exact",
) -> Exploration:
    """Visits the reachable states and judges `properties` (built-in names, and names of invariants).

    With `stop_when_refuted`, stops once every property is violated. Stops at `limit` states, and on
    KeyboardInterrupt, with what was covered. The engines find the same; `auto` takes native code for all but small
    scopes, and the interpreter where native code cannot take the scope. `both` compares them. `reductions` (names of
    REDUCTIONS, or AUTO, which small scopes do without) are what native code may reduce by, and `storage` (of STORAGES)
    is what it keeps.

    Raises:
        EnginesDisagree: by `both`, where they do not find the same.
        ValueError: where native code is asked for and cannot take the scope, or cannot store it so.
    """
    if "total_order" in properties and "total_order" not in protocol.properties:
        protocol = replace(protocol, properties=(*protocol.properties, "total_order"))  # the system then watches it
    system = system_of(protocol, workload)
    assert REDUCTIONS.keys() | {AUTO} >= {*reductions}, "there is no such reduction"
    request = ExplorationRequest(
        system, frozenset(properties), stop_when_refuted, limit, progress, resources, frozenset(named(reductions)),
        storage,
    )  # fmt: skip
    if engine == "interpreted":
        return Interpretation(request).run()
    if engine == "native":
        return explore_natively(request)
    if engine == "both":
        return explore_with_both(request)
    reason = why_not(system)
    if reason is not None:
        result = Interpretation(request).run()
        result.refused = dict.fromkeys(request.reductions, reason)
        return result
    first = Interpretation(replace(request, limit=min(SMALL, limit or SMALL)))
    result = first.run()
    over = result.complete or not first.limited or result.states == limit
    by_name = {*reductions} - {AUTO}
    if over and not (result.complete and by_name):
        result.refused = dict.fromkeys(request.reductions, FEW)
        return result
    found = explore_natively(request, Sample.of(system, first.origins))
    if found.states < result.states and not found.complete and not found.reductions:
        result.why_incomplete, result.seconds = found.why_incomplete, result.seconds + found.seconds
        return result
    return found
