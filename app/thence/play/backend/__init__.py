"""What the player asks for, as JSON values in and JSON values out. Begin with `backend`.

Nothing here reads a file, opens a connection or starts a process: the same room answers in a server and, where the
interpreter of Python runs there, in the browser. Meanings are those of `dsl/run`, verdicts those of `proofs`.
"""
