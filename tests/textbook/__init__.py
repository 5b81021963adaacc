"""Right systems as people write them: they keep what a protocol promises, and not the order of its text."""
