"""Certificates: what was proved, with everything that it takes to check it again without trusting who proved it."""
