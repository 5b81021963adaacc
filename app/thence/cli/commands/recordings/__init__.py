"""The commands about recorded executions."""
