"""The commands that prove, and those that look for what cannot be proved."""
