"""The shipped implementations, by the library protocol that they implement."""

from __future__ import annotations

SHIPPED = {
    "mf": "whence.impl.mf:MF",
    "rst": "whence.impl.rst:RST",
    "cykas": "whence.impl.cykas:Cykas",
    "hybrid_basic": "whence.impl.hybrid_basic:HybridBasic",
    "hybrid_optimal": "whence.impl.hybrid_optimal:HybridOptimal",
    "hybrid_multicast": "whence.impl.hybrid_multicast:HybridMulticast",
    "cbcast": "whence.impl.cbcast:CBCAST",
    "newtop": "whence.impl.newtop:Newtop",
    "ses": "whence.impl.ses:SES",
    "rst_mf": "whence.impl.rst_mf:RSTMF",
    "rst_hunch": "whence.impl.rst_hunch:RSTHunch",
    "mf_pipelined": "whence.impl.mf_pipelined:MFPipelined",
    "ks": "whence.impl.ks:KS",
    "fifo": "whence.impl.fifo:Fifo",
    "client_server": "whence.impl.client_server:ClientServer",
    "synchronous": "whence.impl.synchronous:Synchronous",
    "tree": "whence.impl.tree:Tree",
}
