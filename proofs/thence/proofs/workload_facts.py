"""The environment of a protocol as JSON values."""

from __future__ import annotations

from typing import Any, assert_never

from thence.dsl import ir
from thence.dsl.check.workloads.kind import kind_of
from thence.dsl.check.workloads.settings import lines_of
from thence.dsl.text.programs import Program


def workload_facts(name: str | None, workload: ir.Workload, protocol: ir.Protocol) -> dict[str, Any]:
    """A scope of the protocol as JSON values. `settings` says everything; the other fields are for convenience."""
    return {
        "name": name,
        "settings": list(lines_of(workload, kind_of(protocol))),
        "processes": workload.processes,
        "sends": list(workload.sends),
        "destinations": [list(chosen) for chosen in workload.destinations],
        **({"groups": [[list(group) for group in chosen] for chosen in workload.groups]} if workload.groups else {}),
        "duplicates": workload.duplicates,
        "losses": workload.losses,
        "ticks": workload.ticks,
        **({"timers": dict(workload.timers)} if workload.timers else {}),
        **({"inputs": {use.name: list(use.limits) for use in workload.inputs}} if workload.inputs else {}),
        **({"constants": dict(workload.constants)} if workload.constants else {}),
        **_sending_facts(workload),
        **({"fifo": True} if workload.fifo else {}),
        **({"tree": [list(edge) for edge in workload.tree]} if workload.tree else {}),
        **({"links": [list(edge) for edge in workload.links]} if workload.links else {}),
    }


def _sending_facts(workload: ir.Workload) -> dict[str, Any]:
    match workload.sending:
        case ir.AnyNumber():
            return {"unbounded": True}
        case ir.ForEver(identities, prompt, capacity):
            bound = {} if capacity is None else {"capacity": capacity}
            return {"endless": list(identities), "prompt": prompt, **bound}
        case ir.Finite(prompt, reactive, programs):
            found: dict[str, Any] = {"endless": [0] * workload.processes, "prompt": True} if prompt else {}
            found |= {"reactive": True} if reactive else {}
            return found | ({"programs": [_steps(program) for program in programs]} if programs else {})
        case _:
            assert_never(workload.sending)


def _steps(program: Program | None) -> list[list[Any]] | None:
    return None if program is None else [[verb, list(others)] for verb, others in program]
