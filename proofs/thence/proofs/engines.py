"""Exploration by the engine that suits the scope: the interpreter for small scopes, native code for all others.

NOTE(browser): native code is imported where it is asked for, and only there. The interpreter explores also where
generated code cannot run, such as in a browser.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import assert_never

from thence.dsl import ir
from thence.dsl.ir.observability import judged_in_steps
from thence.dsl.ir.traversal import nodes
from thence.dsl.run.identity_reuse import system_of
from thence.dsl.run.local_steps import LocalStep
from thence.dsl.run.scoped import asked_of
from thence.dsl.run.system import System
from thence.dsl.run.values import Occurrence
from thence.proofs.closed.check import untried
from thence.proofs.explore.exploration import AS_SUITS, Exploration, ExplorationRequest, Method, Progress
from thence.proofs.explore.growth import has_many_before_it
from thence.proofs.explore.interpreted import Interpretation
from thence.proofs.explore.reductions import AUTO, FEW_STATES, REDUCTIONS, named
from thence.proofs.set_order import order_matters

SMALL = 500
"""States that the interpreter visits before code is generated: fewer take longer to compile than to explore."""

FEW = f"there are no more than {FEW_STATES:,} states"
"""Why a small scope is not reduced: there is nothing to gain."""


def explore(
    protocol: ir.Protocol,
    workload: ir.Workload,
    properties: Collection[str],
    *,
    stop_when_refuted: bool = False,
    limit: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    method: Method = AS_SUITS,
) -> Exploration:
    """Visits the reachable states and judges `properties` (built-in names, and names of invariants).

    With `stop_when_refuted`, stops once every property is violated. Stops at `limit` states, and on
    KeyboardInterrupt, with what was covered. Where a search for what may follow from a state comes to the limit, the
    property is undecided.

    Raises:
        EnginesDisagree: by `both`, where they do not find the same.
        ValueError: where native code is asked for and cannot take the scope, or cannot store it so.
    """
    system = system_of(asked_of(protocol, properties), workload)
    assert REDUCTIONS.keys() | {AUTO} >= {*method.reductions}, "there is no such reduction"
    request = ExplorationRequest(
        system, frozenset(properties), stop_when_refuted, limit, progress, method.resources,
        frozenset(named(method.reductions)), method.storage, limit, method.keep,
    )  # fmt: skip
    result, used = _explored(request, method)
    result.never = _never(used)
    if (workload.programs or workload.prompt) and result.complete:
        result.never |= _in_no_run(used, result.never)
    if result.complete:
        result.order_matters = order_matters(used)
    return result


def explored(request: ExplorationRequest, method: Method = AS_SUITS) -> Exploration:
    """Explores what is requested, by the engine of the method. Raises: as `explore`."""
    return _explored(request, method)[0]


def _never(system: System) -> frozenset[str]:
    """What no step of a process does, of all that the search met."""
    delivers, fires = system.steps.delivers(), False
    acted: set[tuple[str, str | None]] = set()
    for _, before, cause, came in system.steps.taken():
        if isinstance(came, LocalStep):
            if isinstance(cause, int):
                acted.add(("receives", system.packet(cause).kind))
            elif isinstance(cause, Occurrence):
                acted.add(("does", cause.name))
            fires = fires or (cause is None and came != (before, ()))
    if delivers:
        acted.add(("delivers", None))
    met = {"delivers": delivers, "fires": fires, "rests": system.rested}
    met |= {f"acts {one.name}": bool(_acts_of(one) & acted) for one in judged_in_steps(system.protocol)}
    idle = () if system.promises is None else system.promises.never_given()
    return frozenset((*(name for name, happened in met.items() if not happened), *(f"gives {name}" for name in idle)))


def _in_no_run(system: System, never: frozenset[str]) -> frozenset[str]:
    """What else no run does, though a process could do it by its state: its program does not let it, say, or it would
    send a message that does not leave promptly.
    """
    asked = {f"acts {formula.name}": formula.name for formula in judged_in_steps(system.protocol)}
    asked = {"delivers": "causal", **asked}
    untold = {what: name for what, name in asked.items() if what not in never}
    nowhere = untried(system, tuple(untold.values()))
    return frozenset(what for what, name in untold.items() if name in nowhere)


def _acts_of(formula: ir.NamedFormula) -> set[tuple[str, str | None]]:
    """The action that the formula is about: its verb, and the packet kind or input."""
    return {(node.verb, node.kind) for node in nodes(formula) if isinstance(node, ir.Acted)}


def _explored(request: ExplorationRequest, method: Method) -> tuple[Exploration, System]:
    """The result, and the system that was explored."""
    system = request.system
    match method.engine:
        case "interpreted":
            return Interpretation(request).run(), system
        case "native":
            from thence.proofs.native.engine import explore_natively

            return explore_natively(request), system
        case "both":
            from thence.proofs.native.crosscheck import explore_with_both

            return explore_with_both(request), system
        case "auto":
            return _explore_as_suits(request, by_name=bool({*method.reductions} - {AUTO}))
        case _:
            assert_never(method.engine)


def _explore_as_suits(request: ExplorationRequest, *, by_name: bool) -> tuple[Exploration, System]:
    """Explores by the engine that suits the scope. `by_name`: a reduction is asked for by its name.

    The interpreter begins. Where states may be reduced, it goes on until it is clear that there are many, and to the
    end of a scope that has few, so that these are counted as they are. A search that may stop before its end has it go
    on in any case: the count would depend on who was asked.

    Where states go to files, a system of its own finds out whether the scope is small: then the numbers in the files
    depend on the search alone, which may be stopped and go on.
    """
    from thence.proofs.native.engine import Sample, explore_natively, seems_symmetric, why_not
    from thence.proofs.native.symmetry import COMPARES, compares_processes

    system, limit = request.system, request.limit
    reason = why_not(system, request.storage)
    if reason is not None:
        result = Interpretation(request).run()
        few = result.complete and result.states <= FEW_STATES and not by_name
        result.refused = dict.fromkeys(request.reductions, FEW if few else reason)
        if not few and "symmetry" in result.refused and compares_processes(system.protocol):
            result.refused["symmetry"] = COMPARES
        return result, system
    if request.storage == "disk":
        system = system_of(system.protocol, system.workload)
    whole = not request.stop_when_refuted and limit is None and request.storage == "exact"
    reducing = request.reductions and not (whole and not seems_symmetric(system))
    small = FEW_STATES if reducing else SMALL
    first = Interpretation(
        replace(request, system=system, limit=min(small, limit or small)), _is_clearly_large if whole else None
    )
    result = first.run()
    over = result.complete or not first.limited or result.states == limit
    if over and not (result.complete and by_name):
        result.refused = dict.fromkeys(request.reductions, FEW)
        return result, system
    try:
        found = explore_natively(request, Sample.of(system, first.origins))
    except KeyboardInterrupt:
        result.why_incomplete = "interrupted"
        return result, system
    except MemoryError:
        result.why_incomplete = "out of memory"
        return result, system
    if found.states < result.states and not found.complete and (not found.reductions or not found.transitions):
        result.why_incomplete, result.seconds = found.why_incomplete, result.seconds + found.seconds
        return result, system
    may_be_small = request.reductions and not by_name and result.states < FEW_STATES
    if may_be_small and found.stands_for is not None and found.stands_for <= FEW_STATES:
        return _as_it_is(request, found)
    return found, request.system


def _is_clearly_large(begun: Interpretation) -> bool:
    return begun.result.states >= SMALL and has_many_before_it(begun.layers, SMALL)


def _as_it_is(request: ExplorationRequest, found: Exploration) -> tuple[Exploration, System]:
    """The result for a scope that seemed large, and has few states; `found` is that of native code."""
    if found.reductions:
        system = system_of(request.system.protocol, request.system.workload)
        again = Interpretation(replace(request, system=system, limit=FEW_STATES))
        result = again.run()
        if again.limited:
            return found, request.system
    else:
        system, result = request.system, found
    result.refused = dict.fromkeys(request.reductions, FEW)
    return result, system
