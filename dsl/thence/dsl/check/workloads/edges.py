"""Settings of networks that are trees or overlays."""

from __future__ import annotations

from thence.dsl.check.workloads.by_name import Settings, report_process
from thence.dsl.check.workloads.kind import ProtocolKind
from thence.dsl.ir import topology
from thence.dsl.text.reporter import Reporter


def tree_of(settings: Settings, processes: int, reporter: Reporter, kind: ProtocolKind) -> topology.Edges | None:
    """The edges of a tree network, where the scope gives them."""
    if "tree" not in settings:
        return ()
    setting = settings["tree"]
    if not kind.tree:
        reporter.error(
            "E0621", setting.span, "`tree`, but the network of the protocol is not a `tree`",
            "who sends to whom is said by `destinations`",
        )  # fmt: skip
        return None
    edges = tuple((source, target) for source, targets in setting.edges for target in targets)
    for process in (process for edge in edges for process in edge):
        if process >= processes:
            report_process(process, processes, setting.span, reporter)
            return None
    fault = topology.fault_of(edges, processes)
    if fault is not None:
        reporter.error("E0622", setting.span, f"this is not a tree of the {processes} processes: {fault}")
        return None
    return edges


def overlay_of(settings: Settings, processes: int, reporter: Reporter, kind: ProtocolKind) -> topology.Edges | None:
    """The links of an overlay, in ascending order, where the scope gives them."""
    if "links" not in settings:
        return ()
    setting = settings["links"]
    if not kind.overlay:
        reporter.error(
            "E0621", setting.span, "`links`, but the network of the protocol is not an `overlay`",
            "write `network ..., overlay` in the protocol; who sends to whom is said by `destinations`",
        )  # fmt: skip
        return None
    found: list[tuple[int, int]] = []
    for (source, others), mutual in zip(setting.edges, setting.mutual, strict=True):
        for process in (source, *others):
            if process >= processes:
                report_process(process, processes, setting.span, reporter)
                return None
        found += topology.directed(source, others, mutual)
    fault = topology.fault_of_links(tuple(found))
    if fault is not None:
        reporter.error("E0632", setting.span, f"these are not the links of an overlay: {fault}")
        return None
    return tuple(sorted(found))
