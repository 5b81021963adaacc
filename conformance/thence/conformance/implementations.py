"""The shipped implementations, by the library protocol that they implement."""

from __future__ import annotations

from importlib import import_module

SYSTEMS = {
    "mf": "thence.impl.mf:MF",
    "rst": "thence.impl.rst:RST",
    "cykas": "thence.impl.cykas:Cykas",
    "cykas_live": "thence.impl.cykas_live:CykasLive",
    "hybrid_basic": "thence.impl.hybrid_basic:HybridBasic",
    "hybrid_optimal": "thence.impl.hybrid_optimal:HybridOptimal",
    "hybrid_remembering": "thence.impl.hybrid_remembering:HybridRemembering",
    "hybrid_multicast": "thence.impl.hybrid_multicast:HybridMulticast",
    "cbcast": "thence.impl.cbcast:CBCAST",
    "newtop": "thence.impl.newtop:Newtop",
    "ses": "thence.impl.ses:SES",
    "rst_mf": "thence.impl.rst_mf:RSTMF",
    "rst_hunch": "thence.impl.rst_hunch:RSTHunch",
    "mf_pipelined": "thence.impl.mf_pipelined:MFPipelined",
    "ks": "thence.impl.ks:KS",
    "fifo": "thence.impl.fifo:Fifo",
    "client_server": "thence.impl.client_server:ClientServer",
    "synchronous": "thence.impl.synchronous:Synchronous",
    "tree": "thence.impl.tree:Tree",
}
"""Systems of causal delivery, as papers have them: what studies compare."""

TEXTBOOK = {
    "chandy_lamport": "thence.impl.chandy_lamport:ChandyLamport",
    "cops": "thence.impl.cops:COPS",
    "ricart_agrawala": "thence.impl.ricart_agrawala:RicartAgrawala",
    "lamport_mutex": "thence.impl.lamport_mutex:LamportMutex",
    "two_phase_commit": "thence.impl.two_phase_commit:TwoPhaseCommit",
    "pc_broadcast": "thence.impl.pc_broadcast:PCBroadcast",
    "skeen": "thence.impl.skeen:Skeen",
    "dijkstra_scholten": "thence.impl.dijkstra_scholten:DijkstraScholten",
}
"""Other protocols, as textbooks have them: the examples of how to write one's own."""

SHIPPED = SYSTEMS | TEXTBOOK


def broadcasts(system: str) -> bool:
    """Whether the shipped implementation of a system has only messages to the whole group."""
    module, _, name = SHIPPED[system].partition(":")
    return getattr(getattr(import_module(module), name), "delivery", "unicast") == "broadcast"
