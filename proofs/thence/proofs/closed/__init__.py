"""Explorations that can be cited: a set of states that no step leaves, and a checker that shares no code with searches.

Begin with `claim` (what is claimed), then `check` (whether it is so). `written` is the form of states outside memory,
`renamed` a state under other names of processes, `emitted` makes the files, `reading` takes them in.
Knows nothing of any search: an import rule says so.
"""
