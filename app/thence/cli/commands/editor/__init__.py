"""The command that serves an editor."""
