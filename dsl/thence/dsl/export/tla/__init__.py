"""Export to TLA+, in a form that TLC runs."""
