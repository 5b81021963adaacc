"""The one written form of each kind of file in a certificate. A file in any other form is refused before it is used.

Two programs that read one text differently are the way to a false answer. So a file has printable ASCII and newlines
only, and is the same byte for byte when what was read from it is written again. Begin with `expressions`, then
`obligation_form`, `proof_form` and `json_form`. Nothing here knows of statements, solvers or directories.
"""
