"""`python -m thence.conformance.costs [FOLDER]`: measures all shipped systems, and writes comparison.md."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from thence.conformance.costs.measures import measure
from thence.conformance.implementations import SHIPPED
from thence.pages.comparison import compare, markdown

_HEADING: Final = """\
# What each system costs, beside Table 1

The shipped implementations, counted, beside Table 1 of Paulo Sérgio Almeida, "Space-Optimal, Computation-Optimal,
Topology-Agnostic, Throughput-Scalable Causal Delivery through Hybrid Buffering". `thence compare` measures it again
(`thence compare cykas mf` some of them, `--markdown` in this form, `--json` with every number). Made by
`make comparison`; nothing here depends on a clock, so that it comes out the same on every machine. Time is measured in
`bench/`.

How it is counted:

- **Fields** are integers, identifiers and flags; sets kept as bit masks count their members; the application's
  messages count nothing, and neither do a process's own identity and the shape of a tree. Rows that a state and a
  message share in memory count in both. Bytes are those of the transport's format, without the application's message.
- **Operations** are calls, comparisons, arithmetic, slices and steps of loops, and an operation for each element or
  word that a built-in function walks. The implementation's source is compiled again with a counter in each of these
  places. They include the checks of what arrives, which papers leave out. Sender: causal-sends and the handling of
  acknowledgements, a message. Receiver: all else, a message and process that delivers it.
- **Growth** is the exponent through three sizes, each twice the one before, without the constant part. Each parameter
  is varied alone: n on a ring where each process sends to the next three; i and o, many senders to one and one to
  many; u and p, many messages at once whose acknowledgements are held back; b, many messages that wait for a cause.
  Where an exponent is within 0.35 of the claim it agrees: sizes are small, and lower terms show. *Below* is a bound
  that holds and that the workload does not reach.
- **Latency** is counted in one-way delays beyond the one that a message takes, in workloads in which no cause of a
  message can arrive after it.
- **Liveness**: yes means that none of the workloads (two that send to each other, a silent process, a stream of
  messages to the sender) keeps a message from being delivered. It is a test. What is exhaustive or proved is on [the
  page of statements](statements.md).
- **Network** is what the implementation says it works over. It is not measured here: `thence conform` and `thence
  matrix` hold it against that.

Systems that Table 1 does not have have no claim beside them.

"""


def main(arguments: Sequence[str]) -> int:
    """Writes into docs, or the folder that is named. Exit code 1 if a difference from the paper is not explained."""
    folder = Path(arguments[0] if arguments else "docs")
    folder.mkdir(parents=True, exist_ok=True)
    measured = [measure(name, impl) for name, impl in SHIPPED.items()]
    columns = [(one, compare(one)) for one in measured]
    (folder / "comparison.md").write_text(_HEADING + markdown(columns).rstrip() + "\n", encoding="utf-8")
    return 0 if all(cell.explained for _, cells in columns for cell in cells) else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
