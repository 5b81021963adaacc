"""What systems cost, counted: sizes, operations, steps of latency; held against Table 1 of Almeida's paper."""
