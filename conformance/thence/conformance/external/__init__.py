"""Systems under test in any language: one JSON object a line on standard input and output. See `contract`."""
