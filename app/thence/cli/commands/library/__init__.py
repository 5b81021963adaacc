"""The command that checks everything that files state."""
