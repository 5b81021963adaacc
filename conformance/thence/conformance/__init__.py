"""Implementations and traces held against the specifications; campaigns, reports, the command line."""
