"""The tally of rows as a campaign keeps them."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from thence.conformance.cases.tally import Count, Tally, kind_of

_SUMS = ("failures", "errors", "vacuous")


def tally_rows(table: pa.Table) -> Tally:
    """The tally of rows in the schema of `case.SCHEMA`."""
    digest = 0
    kinds: dict[str, int] = {}
    for number in table.column("digest").to_pylist():
        digest ^= number
    findings = table.column("findings")
    failing = pc.greater(pc.list_value_length(findings), 0)
    for found in findings.filter(failing).to_pylist():
        for kind in {kind_of(finding) for finding in found}:
            kinds[kind] = kinds.get(kind, 0) + 1
    counted = pa.table({
        "system": table.column("system"), "group": table.column("group"),
        "failures": pc.cast(failing, pa.int64()), "errors": pc.cast(pc.is_valid(table.column("error")), pa.int64()),
        "vacuous": pc.cast(table.column("vacuous"), pa.int64()),
    }).group_by(["system", "group"]).aggregate([([], "count_all"), *((name, "sum") for name in _SUMS)])  # fmt: skip
    cells = {
        (row["system"], row["group"]): Count(row["count_all"], *(row[f"{name}_sum"] for name in _SUMS))
        for row in counted.to_pylist()
    }
    return Tally(
        events=sum(table.column("events").to_pylist()),
        digest=digest % 2**64,
        kinds=dict(sorted(kinds.items())),
        cells=dict(sorted(cells.items())),
    )
