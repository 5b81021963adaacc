"""What a file states about protocols in finite scopes: scopes, links, mutants and scenarios, as results.

Begin with `scopes`; `engines` chooses who explores; `reports` puts results into words, JSON and pictures.
"""
