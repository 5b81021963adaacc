"""Almeida's SPS-optimal algorithm, with a memory for permits: no timer is needed where nothing is lost.

Source: Paulo Sérgio Almeida, "Space-Optimal, Computation-Optimal, Topology-Agnostic, Throughput-Scalable Causal
Delivery through Hybrid Buffering", section 5.6, Algorithm 2, in the form of `hybrid_optimal`, whose listing holds here.
The variant is ours. A permit for message n of k says that what k causal-sent before n, to others than this process, is
delivered. That stays true, so a permit may come before its message; and it holds for the earlier messages of k to this
process as well.

Listing, in our own words (labels: ours, in the place of lines 81 and 89 of Algorithm 2; process i):

    A message r of k that asks for a permit is delivered
      R.1   if the latest permit of k is for r or a later message, r misses none
      R.2   otherwise it does, as in Algorithm 2, and is the last of k's that do
    A permit for message n arrives from k
      R.3   it is the latest permit of k, unless a later one has come
      R.4   as long as the first of k's messages that miss a permit is n or an earlier one
      R.5   take that one out; its permit has come, as in Algorithm 2

Symbols:

    here
    _lp        the id in the latest permit that has come from each process; 0 where none has
    _missing   for each process, the ids of its messages whose permits are missing, in order

Channels: may lose, duplicate and reorder.

Departures: those of `hybrid_optimal`, and the listing above. A process keeps one number more for each
process that a permit has come from, and the ids of its missing permits a second time.
"""

from __future__ import annotations

from collections import defaultdict, deque

from thence.impl.commands import Command
from thence.impl.hybrid_basic import Per, require_id
from thence.impl.hybrid_optimal import HybridOptimal


class HybridRemembering(HybridOptimal):
    """One process of the variant. See the module for the algorithm and `CausalProcess` for the interface."""

    def __init__(self, identity: int, processes: int) -> None:
        HybridOptimal.__init__(self, identity, processes)
        self._lp: defaultdict[int, int] = defaultdict(int)
        self._missing: defaultdict[int, deque[int]] = defaultdict(deque)

    def _await_permit(self, permit: Per) -> None:
        if self._lp[permit.sender] < permit.mid:  # R.1
            self._missing[permit.sender].append(permit.mid)  # R.2
            HybridOptimal._await_permit(self, permit)

    def _receive_permit(self, sender: int, mid: int) -> list[Command]:
        require_id(mid)
        self._lp[sender] = max(self._lp[sender], mid)  # R.3
        missing = self._missing[sender]
        commands: list[Command] = []
        while missing and missing[0] <= mid:  # R.4
            commands += self._take_permit(Per(sender, missing.popleft()))  # R.5
        return commands
