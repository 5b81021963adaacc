"""The commands that test code: one's own, the library's, planted faults."""
