"""One case run and judged; the sources of guided schedules; the coverage of a case.

Begin with `harness`, then `case` (the run), `judge` and `drain`. Knows nothing of runs of many cases, which are in
`conform`.
"""
