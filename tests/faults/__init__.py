"""Planted faults: implementations that are wrong in one way each, to see whether the harness bites.

From the folder `tests`, each is named like any implementation: `whence conform mf --impl faults.mf:NoAckWait`.
Every class has

- `FAULT`: the class of fault (those of the mutants seen in the wild, and the papers' own slips), and
- `FINDINGS`: the kinds of finding that it can give, the first one being the one to expect,
- `NEEDS`: what the network or the application must do beyond reordering for the fault to show
  (`loss`, `duplication`, `reactive`), mostly nothing.
"""

from __future__ import annotations

from . import cykas, hybrid_basic, hybrid_optimal, mf, rst

FAULTS: dict[str, list[type]] = {
    "mf": mf.FAULTS,
    "rst": rst.FAULTS,
    "cykas": cykas.FAULTS,
    "hybrid_basic": hybrid_basic.FAULTS,
    "hybrid_optimal": hybrid_optimal.FAULTS,
}
"""The faulty classes by the protocol that they claim to implement."""
