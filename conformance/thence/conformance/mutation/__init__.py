"""Mutation: small faults put into a protocol, a machine or an implementation, to see whether anything notices.

A mutant of a file is an edit of its text (`specification_edits`): what it means, the front end says. Mutants of a
protocol are judged by exploration and random runs (`protocol_judge`), of a machine by proof (`machine_judge`), of an
implementation by the harness (`implementation_judge`). `workers` runs them beside each other, each in a process of
its own.
"""
