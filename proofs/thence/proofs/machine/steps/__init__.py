"""Statements of machines about steps: `stable`, `reachable`, `eventually`, `without deadlock`, `without starvation`.

Begin with `prover`. `statements`, `starvation` and `leads_to` say what is to be proved; `at_rest` and `first` find how.
"""
