"""Planted faults: implementations that are wrong in one way each, to see whether the harness bites.

From the folder `tests`, each is named like any implementation: `thence conform mf --impl faults.mf:NoAckWait`.
Every class has

- `FAULT`: the class of fault (those of the mutants seen in the wild, and the papers' own slips), and
- `FINDINGS`: the kinds of finding that it can give, the first one being the one to expect,
- `NEEDS`: what the network or the application must do beyond reordering for the fault to show
  (`loss`, `duplication`, `reactive`), or must not do (`fifo`: reorder); mostly nothing.
"""

from __future__ import annotations

from . import (
    cbcast,
    chandy_lamport,
    client_server,
    cops,
    cykas,
    cykas_live,
    dijkstra_scholten,
    fifo,
    hybrid_basic,
    hybrid_multicast,
    hybrid_optimal,
    hybrid_remembering,
    ks,
    lamport_mutex,
    mf,
    mf_pipelined,
    newtop,
    pc_broadcast,
    ricart_agrawala,
    rst,
    rst_hunch,
    rst_mf,
    ses,
    skeen,
    synchronous,
    tree,
    two_phase_commit,
)

FAULTS: dict[str, list[type]] = {
    "mf": mf.FAULTS,
    "rst": rst.FAULTS,
    "cykas": cykas.FAULTS,
    "cykas_live": cykas_live.FAULTS,
    "hybrid_basic": hybrid_basic.FAULTS,
    "hybrid_optimal": hybrid_optimal.FAULTS,
    "hybrid_remembering": hybrid_remembering.FAULTS,
    "hybrid_multicast": hybrid_multicast.FAULTS,
    "cbcast": cbcast.FAULTS,
    "newtop": newtop.FAULTS,
    "ks": ks.FAULTS,
    "fifo": fifo.FAULTS,
    "client_server": client_server.FAULTS,
    "ses": ses.FAULTS,
    "synchronous": synchronous.FAULTS,
    "tree": tree.FAULTS,
    "rst_mf": rst_mf.FAULTS,
    "rst_hunch": rst_hunch.FAULTS,
    "mf_pipelined": mf_pipelined.FAULTS,
}
"""The faulty classes by the protocol that they claim to implement."""

TEXTBOOK: dict[str, list[type]] = {
    "chandy_lamport": chandy_lamport.FAULTS,
    "cops": cops.FAULTS,
    "lamport_mutex": lamport_mutex.FAULTS,
    "ricart_agrawala": ricart_agrawala.FAULTS,
    "two_phase_commit": two_phase_commit.FAULTS,
    "pc_broadcast": pc_broadcast.FAULTS,
    "skeen": skeen.FAULTS,
    "dijkstra_scholten": dijkstra_scholten.FAULTS,
}
"""The same for the textbook's protocols, which have inputs besides sends, or instead of them."""
