"""The compiled explorer: the interpreter's local steps as tables, the product of processes searched by native code."""
