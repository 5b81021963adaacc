"""Bounded model checking by Z3: runs of up to k steps of a machine, and of a protocol in a scope."""
