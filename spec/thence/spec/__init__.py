"""Vocabulary: events, executions, happens-before, judgements, traces, verdicts; and the library of `.thence` files."""
