"""What the application does besides sending, as actions: made once for a scope, as every state is asked about them."""

from __future__ import annotations

from dataclasses import dataclass

from thence.dsl import ir
from thence.dsl.run.actions import Action


@dataclass(frozen=True, slots=True)
class ApplicationInputs:
    """The inputs of a protocol in a workload.

    Attributes:
        every: each input of each process, with each choice of arguments.
        fair: those of them that the application has again and again where it can.
        limits: how often each process may have an input, by its name.
    """

    every: tuple[Action, ...]
    fair: tuple[Action, ...]
    limits: dict[str, tuple[int, ...]]

    @staticmethod
    def of(protocol: ir.Protocol, workload: ir.Workload) -> ApplicationInputs:
        every = tuple(
            Action("input", process, name=use.name, arguments=arguments)
            for use in workload.inputs
            for process in range(workload.processes)
            for arguments in use.choices
        )
        fair = tuple(action for action in every if action.name in protocol.fair_inputs)
        return ApplicationInputs(every, fair, {use.name: use.limits for use in workload.inputs})
