"""Recorded executions in the formats that others write, and logs of single processes put together."""
