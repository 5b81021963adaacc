"""The commands that check, run and show a specification."""
