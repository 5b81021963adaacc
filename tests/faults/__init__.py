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
    client_server,
    cykas,
    cykas_live,
    fifo,
    hybrid_basic,
    hybrid_multicast,
    hybrid_optimal,
    hybrid_remembering,
    ks,
    mf,
    mf_pipelined,
    newtop,
    ricart_agrawala,
    rst,
    rst_hunch,
    rst_mf,
    ses,
    skeen,
    synchronous,
    tree,
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
    "ricart_agrawala": ricart_agrawala.FAULTS,
    "skeen": skeen.FAULTS,
}
"""The same for the textbook's protocols, which have inputs besides sends, or instead of them."""
