"""The language server: what an editor shows of a `.thence` file.

Begin with `analysis` (what is known of a text), then the room `naming` (which name means what). A feature is one module
that makes plain values of an analysis; `server` hands them to the client. Verdicts are found in a process of their own:
`tasks`, `worker`, `running`. Knows nothing of the command line, which only starts it.
"""
