"""Reference implementations of the published protocols, without input and output of their own."""
